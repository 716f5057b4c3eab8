// mangled_size.hpp - how long would a linker name be, written out? Asked before it is.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/demangle.hpp for every name
// Threads:  any
// Memory:   4 KiB of stack, and up to 0.7 KiB for each level of nesting, of which there are 96
//
// A linker name may refer back to its own parts, so each few characters can double its length:
//
//     _Z1f1AI1BS0_ES_IS1_S1_ES_IS2_S2_E...      22 such steps: 100 megabytes
//
// This walks through a name with the grammar of the Itanium C++ ABI and adds up lengths instead of
// writing texts: one pass, no memory. Lengths are estimates, good to a small factor. Rare forms are
// passed over; names that are not understood are believed only when they hardly refer back.

#ifndef ALLOCSCOPE_SYMBOLS_MANGLED_SIZE_HPP
#define ALLOCSCOPE_SYMBOLS_MANGLED_SIZE_HPP

#include <allocscope/config.hpp>
#include <allocscope/symbols/mangled_reader.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class mangled_measure : private mangled_reader {
public:
    explicit mangled_measure(const char* name) : mangled_reader(name) {}

    // The estimated length; more than longest_demangled_name when the name must not be demangled.
    std::size_t run() {
        constexpr std::size_t refused = longest_demangled_name + 1;
        constexpr int harmless_references = 10;
        if (static_cast<std::size_t>(end_ - at_) > longest_mangled_name) return refused;
        int references = 0;
        for (const char* c = at_; c < end_; ++c) references += *c == '_' || *c == 'T' ? 1 : 0;
        at_ += 2;  // _Z
        const std::size_t size = encoding();
        if (is_too_deep_) return refused;
        if (is_unknown_) return references <= harmless_references ? size : refused;
        return size;
    }

private:
    static constexpr std::size_t operator_size = 10;

    std::size_t encoding();
    std::size_t special();
    std::size_t name();
    std::size_t nested_name();
    std::size_t local_name();
    std::size_t unqualified();
    std::size_t template_arguments();
    std::size_t argument();
    std::size_t arguments_until_end();
    std::size_t until_end();
    std::size_t type();
    std::size_t type_with_letter_d();
    std::size_t expression_item();
    std::size_t unresolved_name();
    std::size_t literal();
    std::size_t back_reference();
    std::size_t template_parameter();
};

inline bool is_demanglable(const char* name) {
    return mangled_measure{name}.run() <= longest_demangled_name;
}

// definitions

inline std::size_t mangled_measure::encoding() {
    const level here{*this};
    if (peek() == 'G' || peek() == 'T') return special();
    std::size_t size = name();
    while (peek() != '\0' && peek() != 'E' && peek() != '.') {
        size = sum(size, type() + 2);
        if (peek() == 'Q') give_up();
    }
    return size;
}

inline std::size_t mangled_measure::special() {
    constexpr std::size_t prefix = 32;
    const char first = peek();
    const char second = peek(1);
    skip(2);
    if (first == 'T' && is_one_of(second, "VTIS")) return sum(prefix, type());
    if (first == 'T' && is_one_of(second, "hvc")) {
        int offsets = second == 'c' ? 2 : 1;
        for (; offsets > 0; --offsets) {
            const char kind = second == 'c' ? peek() : second;
            if (second == 'c') skip(1);
            skip_past_underscore();
            if (kind == 'v') skip_past_underscore();
        }
        return sum(prefix, encoding());
    }
    const std::size_t size = sum(prefix, name());
    if (first == 'G' && second == 'R') skip_past_underscore();
    return size;
}

inline std::size_t mangled_measure::name() {
    const level here{*this};
    if (peek() == 'N') return nested_name();
    if (peek() == 'Z') return local_name();
    std::size_t size = 0;
    if (peek() == 'S' && peek(1) != 't') {
        size = back_reference();
    } else {
        if (take("St")) size = 5;
        size = sum(size, unqualified());
        if (peek() == 'I') remember(size);
    }
    if (peek() == 'I') size = sum(size, template_arguments());
    return size;
}

inline std::size_t mangled_measure::nested_name() {
    skip(1);
    while (is_one_of(peek(), "rVKRO")) skip(1);
    std::size_t size = 0;
    while (peek() != '\0' && !take('E')) {
        bool is_new_part = true;
        if (peek() == 'S' && peek(1) != 't') {
            size = back_reference();
            is_new_part = false;
        } else if (peek() == 'S') {
            skip(2);
            size = 5;
            is_new_part = false;
        } else if (peek() == 'T') {
            size = template_parameter();
        } else if (peek() == 'I') {
            size = sum(size, template_arguments());
        } else if (take('M')) {
            is_new_part = false;
        } else if (peek() == 'D' && is_one_of(peek(1), "tT")) {
            size = sum(size, type_with_letter_d());
        } else {
            size = sum(size, unqualified() + 2);
        }
        if (is_new_part && peek() != 'E') remember(size);
    }
    return size;
}

inline std::size_t mangled_measure::local_name() {
    skip(1);
    std::size_t size = encoding();
    if (!take('E')) return give_up();
    if (take('s')) {
        size = sum(size, 16);
    } else {
        if (take('d')) skip_past_underscore();
        size = sum(size, name());
    }
    if (take('_')) {  // one digit, or __ digits _
        if (take('_')) {
            skip_past_underscore();
        } else {
            skip(1);
        }
    }
    return size;
}

inline std::size_t mangled_measure::unqualified() {
    const level here{*this};
    std::size_t size = operator_size;
    take('L');
    if (is_digit(peek())) {
        size = number();
        if (size > static_cast<std::size_t>(end_ - at_)) return give_up();
        skip(size);
        if (size < 32) size = 32;  // a constructor repeats it
    } else if (take("cv")) {
        size = sum(size, type());
    } else if (take("li")) {
        skip(number());
    } else if (take("Ul")) {
        size = sum(size, arguments_until_end());
        skip_past_underscore();
    } else if (take("Ut")) {
        skip_past_underscore();
    } else if (take("DC")) {
        size = sum(size, until_end());
    } else if (peek() == 'C' && peek(1) == 'I') {
        skip(3);
        size = sum(64, type());
    } else if (is_one_of(peek(), "CD")) {
        skip(2);
        size = 64;
    } else if (peek() >= 'a' && peek() <= 'z') {
        skip(2);
    } else {
        return give_up();
    }
    while (take('B')) {
        const std::size_t tag = number();
        skip(tag);
        size = sum(size, tag + 6);
    }
    return size;
}

inline std::size_t mangled_measure::template_arguments() {
    const level here{*this};
    skip(1);
    std::size_t sizes[most_arguments];
    std::size_t count = 0;
    std::size_t total = 2;
    while (peek() != '\0' && !take('E')) {
        const std::size_t size = argument();
        if (count < most_arguments) sizes[count++] = size;
        total = sum(total, size + 2);
    }
    argument_count_ = count;
    for (std::size_t i = 0; i < count; ++i) {
        arguments_[i] = sizes[i];
        if (sizes[i] > widest_argument_) widest_argument_ = sizes[i];
    }
    return total;
}

inline std::size_t mangled_measure::argument() {
    if (peek() == 'L') return literal();
    if (take('X')) return until_end();
    if (take('J')) return arguments_until_end();
    return type();
}

inline std::size_t mangled_measure::arguments_until_end() {
    const level here{*this};
    std::size_t size = 0;
    while (peek() != '\0' && !take('E')) size = sum(size, argument() + 2);
    return size;
}

// Types and expressions, mixed, up to the E that ends the list.
inline std::size_t mangled_measure::until_end() {
    const level here{*this};
    std::size_t size = 0;
    while (peek() != '\0' && !take('E')) size = sum(size, expression_item() + 2);
    return size;
}

inline std::size_t mangled_measure::expression_item() {
    const level here{*this};
    const char first = peek();
    if (first == 'L') return literal();
    if (first == 'X' || first == 'J') return argument();
    if (first == 'I') return template_arguments();
    if (first == '_') return skip(1), 0;
    if (is_digit(first) && depth_ > 1) return name();
    if (first == 'f' && is_one_of(peek(1), "pL")) return skip_past_underscore(), 12;
    if (take("cl") || take("il") || take("cw")) return sum(operator_size, until_end());
    if (take("tl")) return sum(type(), until_end());
    if (take("cv")) {
        const std::size_t size = type();
        return peek() == '_' ? (skip(1), sum(size, until_end())) : size;
    }
    if (take("sr")) return unresolved_name();
    if (take("st") || take("at") || take("ti")) return sum(operator_size, type());
    if (take("on")) return unqualified();
    // Two small letters are an operator, unless they are types: after those, lengths still fit.
    if (first >= 'a' && first <= 'z' && peek(1) >= 'a' && peek(1) <= 'z' && peek(1) != '\0') {
        return skip(2), operator_size;
    }
    if (first == 's' && is_one_of(peek(1), "ZPR")) return skip(2), operator_size;
    if (first >= 'a' && first <= 'z' && is_one_of(peek(1), "SLTEIVNCM")) {
        skip(1);  // aS pL oR and their like; or the last type of a list
        if (peek() != 'E' && is_one_of(first, "apmdrloe") && is_one_of(peek(), "SLIVRN")) skip(1);
        return operator_size;
    }
    return type();
}

// A member of a type that is not known yet. g++ writes the type and the member, clang the names
// of the levels one after the other, an E, and the member.
inline std::size_t mangled_measure::unresolved_name() {
    is_count_vague_ = true;
    std::size_t size = sum(operator_size, type());
    while (is_digit(peek())) size = sum(size, name());
    if (peek() == 'E' && is_digit(peek(1))) {
        skip(1);
        size = sum(size, name());
    }
    return size;
}

inline std::size_t mangled_measure::literal() {
    const level here{*this};
    skip(1);
    if (take("_Z")) {
        const std::size_t size = encoding();
        return take('E') ? size : give_up();
    }
    const std::size_t size = type();
    const char* start = at_;
    while (peek() != '\0' && peek() != 'E') skip(1);
    skip(1);
    return sum(size, static_cast<std::size_t>(at_ - start) + 2);
}

inline std::size_t mangled_measure::type() {
    const level here{*this};
    const char first = peek();
    if (is_one_of(first, "rVK")) {
        while (is_one_of(peek(), "rVK")) skip(1);
        return remember(sum(type(), 9));
    }
    if (is_one_of(first, "PROCG")) return skip(1), remember(sum(type(), 2));
    if (is_one_of(first, "vwbcahstijlmxynofdegz")) return skip(1), 9;
    if (first == 'u') return skip(1), remember(unqualified());
    if (first == 'U') {
        skip(1);
        std::size_t size = unqualified();
        if (peek() == 'I') size = sum(size, template_arguments());
        return remember(sum(size, type()));
    }
    if (first == 'D') return type_with_letter_d();
    if (first == 'F') {
        skip(1);
        take('Y');
        std::size_t size = 4;
        while (peek() != '\0' && !take('E')) {
            if (is_one_of(peek(), "RO") && peek(1) == 'E')
                skip(1);
            else
                size = sum(size, type() + 2);
        }
        return remember(size);
    }
    if (first == 'A') {
        skip(1);
        std::size_t size = 4;
        while (peek() != '\0' && !take('_')) {
            if (is_digit(peek()))
                number();
            else
                size = sum(size, expression_item());
        }
        return remember(sum(size, type()));
    }
    if (first == 'M') {
        skip(1);
        const std::size_t owner = type();
        return remember(sum(owner, type() + 4));
    }
    if (first == 'T' && !is_one_of(peek(1), "sue")) {
        std::size_t size = remember(template_parameter());
        if (peek() == 'I') size = remember(sum(size, template_arguments()));
        return size;
    }
    if (first == 'T') return skip(2), remember(name());
    if (first == 'S' && peek(1) != 't') {
        const std::size_t size = back_reference();
        return peek() == 'I' ? remember(sum(size, template_arguments())) : size;
    }
    if (first == 'S' || first == 'N' || first == 'Z' || is_digit(first)) return remember(name());
    return give_up();
}

inline std::size_t mangled_measure::type_with_letter_d() {
    const level here{*this};
    const char second = peek(1);
    skip(2);
    if (is_one_of(second, "defhisuacn")) return 16;
    if (second == 'p') return remember(type());
    if (second == 't' || second == 'T') return remember(sum(12, until_end()));
    if (second == 'v' || second == 'F') {
        skip_past_underscore();
        return second == 'v' ? remember(sum(type(), 16)) : 16;
    }
    if (second == 'o') return sum(type(), 10);
    if (second == 'O' || second == 'w') {
        const std::size_t size = until_end();
        return sum(size, type());
    }
    return give_up();
}

inline std::size_t mangled_measure::back_reference() {
    skip(1);
    if (is_one_of(peek(), "abs")) return skip(1), 80;
    if (is_one_of(peek(), "iod")) return skip(1), 60;
    std::size_t index = 0;
    for (bool is_first = true; !take('_'); is_first = false) {
        const char c = peek();
        std::size_t digit = 0;
        if (is_digit(c)) {
            digit = static_cast<std::size_t>(c - '0');
        } else if (c >= 'A' && c <= 'Z') {
            digit = static_cast<std::size_t>(c - 'A') + 10;
        } else {
            return give_up();
        }
        skip(1);
        index = is_first ? digit + 1 : (index - 1) * 36 + digit + 1;
        if (index > longest_mangled_name) return give_up();
    }
    return part_size(index);
}

inline std::size_t mangled_measure::template_parameter() {
    skip(1);
    if (peek() == 'L') {
        skip(1);
        skip_past_underscore();
    }
    std::size_t index = is_digit(peek()) ? number() + 1 : 0;
    if (!take('_')) return give_up();
    return index < argument_count_ ? arguments_[index] : widest_argument_;
}

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_MANGLED_SIZE_HPP

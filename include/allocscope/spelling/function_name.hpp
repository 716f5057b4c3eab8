// function_name.hpp - parses a demangled function name into its own qualified name.
//
// Room:     spelling (floor 7), not malloc-safe
// Called:   by everything in source/, types/ and places/ that reads the name of a function; by
//           verdict/ and report/ for the function of a frame
// Threads:  any
// Memory:   one entry for each component, in the given arena; the texts are views of the input
//
// If the function is a template, its demangled name begins with the return type. The name ends with
// parameters, qualifiers and clone marks. The components between them decide whose function it is:
//
//     std::vector<int>* (anonymous namespace)::make<int>(std::map<int, int>&) [clone .isra.0]
//                       |                  |  |   |  |
//                       components[0]         [1]   its arguments
//
// The parser reads once from left to right. It forgets what it has read at everything that can
// occur only in a return type: a space, `*`, `&`, and the bracket of a returned function pointer. A
// `const` at the end of a name comes after the parameters, so one before them belongs to the return
// type, too.

#ifndef ALLOCSCOPE_SPELLING_FUNCTION_NAME_HPP
#define ALLOCSCOPE_SPELLING_FUNCTION_NAME_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct name_component {
    text name;       // "vector", "operator()", "{lambda(int)#1}"
    text arguments;  // "<int, std::allocator<int> >", or empty
};

constexpr name_component no_component{};

struct function_name {
    list<name_component> components;  // empty if the text is not a function's name
    text whole;                       // from the first component to the last

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_known() const noexcept { return !components.empty(); }
    const name_component& last() const noexcept { return components.back(); }
    // The class or namespace that the last one is in, which may have no name here.
    const name_component& outer() const noexcept {
        return components.size() > 1 ? components[components.size() - 2] : no_component;
    }
};

constexpr function_name no_function{};

ALLOCSCOPE_PURE inline bool has_arguments(const function_name& function) noexcept {
    for (const name_component& each : function.components) {
        if (!each.arguments.empty()) return true;
    }
    return false;
}

// Whether two functions of the same name can be instances of one template.
ALLOCSCOPE_PURE inline bool may_share_template(const function_name& a,
                                               const function_name& b) noexcept {
    if (a.components.size() != b.components.size()) return false;
    for (std::size_t i = 0; i < a.components.size(); ++i) {
        if (a.components[i].arguments.empty() != b.components[i].arguments.empty()) return false;
    }
    return true;
}

constexpr text anonymous_namespace = "(anonymous namespace)";
constexpr std::size_t max_name_components = 256;

class function_name_parser {
public:
    function_name_parser(arena& memory, const text& name) : name_(name), components_(memory) {}

    function_name parse() {
        while (at_ < name_.size() && !is_done_ && !is_failed_) step();
        finish_component();
        function_name result;
        if (is_failed_ || components_.empty()) return result;
        result.components = components_;
        result.whole = name_.substr(begin_, end_ - begin_);
        return result;
    }

private:
    void step() {
        const char c = name_[at_];
        if (is_name_character(c) || c == '~') {
            read_word();
        } else if (c == ':') {
            if (!is_next(at_, "::")) return fail();
            finish_component();
            at_ += 2;
        } else if (c == '<') {
            read_angle_brackets();
        } else if (c == '(') {
            read_parentheses();
        } else if (c == '{' || c == '[') {
            const std::size_t behind = skip_brackets(name_, at_);
            if (c == '{') return extend_name(behind);
            if (behind == no_position) return fail();
            at_ = behind;  // an ABI tag says nothing about whose function it is
        } else if (c == '\'') {
            const std::size_t quote = name_.find('\'', at_ + 1);
            extend_name(quote == no_position ? quote : quote + 1);
        } else if (c == ' ') {
            read_space();
        } else if (c == '*' || c == '&') {
            begin_anew(at_ + 1);
        } else if (c == '.' && is_inner_dot()) {
            read_dotted();
        } else if (c == '.' || c == '@' || c == ')') {
            is_done_ = has_name();
            if (!is_done_) fail();
        } else {
            fail();
        }
    }

    ALLOCSCOPE_PURE bool is_next(std::size_t at, const char* wanted) const noexcept {
        return name_.has_at(at, wanted);
    }

    void read_space() {
        if (is_end_mark()) {
            is_done_ = true;
        } else if (is_decltype() && is_next(at_, " (")) {
            ++at_;
        } else {
            begin_anew(at_ + 1);
        }
    }

    ALLOCSCOPE_PURE bool is_decltype() const noexcept {
        return name_begin_ != no_position &&
               name_.substr(name_begin_, name_end_ - name_begin_) == "decltype";
    }

    void read_word() {
        if (!is_operator_word(name_, at_)) return extend_name(skip_word(name_, at_ + 1));
        std::size_t behind = at_ + 8;
        const std::size_t symbol = operator_symbol_length(name_.substr(behind));
        if (symbol != 0) {
            behind += symbol;
            if (name_[behind - 1] == '"' && is_next(behind, " ")) {
                behind = skip_word(name_, behind + 1);
            }
        } else {
            behind = skip_named_operator(behind);
        }
        extend_name(behind);
        // "operator< <int>": the space belongs to the name
        if (!is_failed_ && is_next(at_, " <")) ++at_;
    }

    // What may follow `operator`: " new", " delete[]", " co_await", or the type of a conversion.
    std::size_t skip_named_operator(std::size_t at) const {
        if (is_next(at, " ")) {
            const text rest = name_.substr(at + 1);
            const text word = listed_start(rest, "new[] delete[] new delete co_await");
            const std::size_t behind = word.size();
            const bool ends_here = behind == rest.size() || !is_name_character(rest[behind]);
            if (behind != 0 && ends_here) return at + 1 + behind;
        }
        while (at < name_.size() && (name_[at] != '(' || is_next(at, anonymous_namespace.data()))) {
            const char c = name_[at];
            const char before = name_[at - 1];
            // "operator box<int><int>": the last brackets are those of the template
            if (c == '<' && (before == '>' || before == '*')) break;
            at = c == '<' || c == '{' || c == '(' ? skip_brackets(name_, at) : at + 1;
        }
        return at;  // no_position is also after the end
    }

    void read_angle_brackets() {
        const std::size_t behind = skip_brackets(name_, at_);
        // "<lambda(int)>", as g++ writes it in debug information
        if (behind == no_position || name_begin_ == no_position) return extend_name(behind);
        arguments_ = name_.substr(at_, behind - at_);
        end_ = behind;
        at_ = behind;
    }

    // Behind a dot, Go has the rest of a name: "runtime.cgocall", "main.(*box).grow". C and C++
    // compilers have marks there: "load.part.3", "load.cold".
    ALLOCSCOPE_PURE bool is_inner_dot() const {
        if (name_begin_ == no_position || !arguments_.empty()) return false;
        if (is_next(at_, ".(*")) return true;
        const std::size_t behind = skip_word(name_, at_ + 1);
        const text word = name_.substr(at_ + 1, behind - at_ - 1);
        if (word.empty() || (word[0] >= '0' && word[0] <= '9')) return false;
        return !is_listed(word,
                          "isra part constprop cold lto_priv localalias localentry nonoverlap "
                          "simdclone llvm cfi") &&
               listed_start(word, "avx sse4 arch_ _omp_ __uniq").empty();
    }

    void read_dotted() {
        const bool is_receiver = is_next(at_, ".(*");
        extend_name(is_receiver ? skip_brackets(name_, at_ + 1) : skip_word(name_, at_ + 1));
    }

    void read_parentheses() {
        if (is_next(at_, anonymous_namespace.data()))
            return extend_name(at_ + anonymous_namespace.size());
        if (name_begin_ == no_position) return begin_anew(at_ + 1);  // returns a function pointer
        const std::size_t behind = skip_brackets(name_, at_);
        if (behind == no_position) return fail();
        if (is_decltype()) return begin_anew(behind);
        const std::size_t rest = skip_qualifiers(behind);
        is_done_ = !is_next(rest, "::");
        at_ = rest;  // "::": a lambda or a type inside this function
    }

    std::size_t skip_qualifiers(std::size_t at) const {
        for (;;) {
            const std::size_t word = is_next(at, " ") ? at + 1 : at;
            const text qualifier = listed_start(name_.substr(word), "const volatile && &");
            if (qualifier.empty()) return at;
            at = word + qualifier.size();
        }
    }

    bool is_end_mark() const noexcept {
        const text rest = name_.substr(at_);
        return has_name() && (rest.starts_with(" [clone") || rest.starts_with(" [with ") ||
                              rest.starts_with(" (."));
    }

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool has_name() const noexcept {
        return name_begin_ != no_position || !components_.empty();
    }

    // Extends the component that is being read up to `behind`.
    void extend_name(std::size_t behind) noexcept {
        if (behind == no_position) return fail();
        if (name_begin_ == no_position) name_begin_ = at_;
        if (components_.empty() && begin_ == no_position) begin_ = at_;
        name_end_ = end_ = at_ = behind;
    }

    void finish_component() {
        if (name_begin_ == no_position) return;
        if (components_.size() == max_name_components) return fail();
        components_.push_back({name_.substr(name_begin_, name_end_ - name_begin_), arguments_});
        name_begin_ = no_position;
        arguments_ = {};
    }

    void begin_anew(std::size_t at) noexcept {
        components_.clear();
        name_begin_ = begin_ = no_position;
        arguments_ = {};
        at_ = at;
    }

    void fail() noexcept { is_failed_ = true; }

    text name_;
    std::size_t at_ = 0;
    std::size_t begin_ = no_position;  // of the first component
    std::size_t end_ = 0;              // of the last one and its arguments
    std::size_t name_begin_ = no_position;
    std::size_t name_end_ = 0;
    text arguments_;
    list<name_component> components_;
    bool is_done_ = false;
    bool is_failed_ = false;
};

// The views in the result point into `function`.
inline function_name parse_function_name(arena& memory, text function) {
    function = without_spaces_around(function);
    take_start(function, "non-virtual thunk to ");
    return function_name_parser{memory, function}.parse();
}

// The components without their arguments: "std::vector::push_back" for any vector.
inline text plain_name(arena& memory, const function_name& name) {
    text_out plain{memory};
    for (const name_component& component : name.components) {
        if (!plain.empty()) plain << "::";
        plain << component.name;
    }
    return plain.view();
}

// "app::pool<int>" for that component of "app::pool<int>::make"; it must have arguments.
inline text name_up_to(const function_name& name, const name_component& component) noexcept {
    const char* const begin = name.whole.data();
    return {begin, static_cast<std::size_t>(component.arguments.end() - begin)};
}

// "app::widget::widget" and the like.
ALLOCSCOPE_PURE inline bool is_constructor(const function_name& name) noexcept {
    return name.components.size() > 1 && name.last().name == name.outer().name;
}

// A class's own operator new, as in "app::widget::operator new(unsigned long)".
inline bool is_own_operator_new(const function_name& name) noexcept {
    return name.components.size() > 1 && name.last().name.starts_with("operator new");
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SPELLING_FUNCTION_NAME_HPP

// short_type.hpp - drops default template arguments and inline namespaces that are described.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for the types that rows print
// Threads:  any
// Memory:   of the given arena
//
// Compilers note at each class which of its template arguments are those that the template has by
// default, and which namespaces are inline. pretty_type knows that for the standard library, and
// the inline namespaces of a few others.
//
//     app::bag<int, std::allocator<int>>      app::bag<int>, if that is the default
//     std::vector<app::bag<int, app::pool>>   unchanged
//     app::v2::bag<int>                       app::bag<int>, if v2 is inline

#ifndef ALLOCSCOPE_TYPES_SHORT_TYPE_HPP
#define ALLOCSCOPE_TYPES_SHORT_TYPE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/spelling/default_arguments.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/type_names.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Where the qualified name begins that ends at `end`.
inline std::size_t begin_of_path(const text& type, std::size_t end) noexcept {
    while (end > 0 && (is_name_character(type[end - 1]) || type[end - 1] == ':')) --end;
    return end;
}

// Whether there is a template or a scope that is not the standard library's.
inline bool may_be_shorter(const text& type) noexcept {
    const bool is_plain = type.starts_with("std::") || type.find(':') == no_position;
    if (is_plain && type.find('<') == no_position) return false;  // most are such types
    for (std::size_t at = 0; at != no_position; at = type.find_first_of("<:", at + 1)) {
        const std::size_t begin = begin_of_path(type, at);
        if (begin != at && !type.has_at(begin, "std::")) return true;
    }
    return false;
}

// What `argument`, an argument of the class with the arguments `shown`, is in the class with
// `others`: "pool<int>" is "pool<char>" if an `int` before it is a `char` there. A whole argument
// stays as it is, and so does a number: in matrix<double, 3, 3> the 3 need not mean the other one.
inline text as_argument_of(arena& memory, const text& argument, const list<text>& shown,
                           const list<text>& others, std::size_t before) {
    text_out out{memory};
    std::size_t at = 0;
    while (at < argument.size()) {
        const bool is_digit = argument[at] >= '0' && argument[at] <= '9';
        const bool begins = at != 0 && !is_digit && begin_of_path(argument, at) == at;
        std::size_t found = before;
        std::size_t length = 0;
        for (std::size_t i = 0; begins && i < before; ++i) {
            const text& one = shown[i];
            const std::size_t behind = at + one.size();
            const bool ends = argument.substr(at).starts_with(one) &&
                              (behind == argument.size() || !is_name_character(argument[behind]));
            if (!ends || one.size() <= length) continue;
            found = i;
            length = one.size();
        }
        if (found == before) {
            out << argument[at++];
        } else {
            out << others[found];
            at += length;
        }
    }
    return out.view();
}

// How many of the last arguments of a class are defaults. `path` is its name without arguments.
// g++ does not note it at every class: another one of the same template shows what the default is.
inline std::size_t count_defaults(arena& memory, const text& path, const list<text>& arguments,
                                  const type_names& known) {
    const std::size_t colon = path.rfind(':');
    const text own = path.substr(colon == no_position ? 0 : colon + 1);
    std::size_t most = 0;
    int left = 8;  // of the classes that are compared
    for (const named_type* each = known.all(own); each != nullptr && left > 0; each = each->next) {
        if (each->defaults <= most) continue;
        --left;
        const auto printed = [&](const text& type) {
            return without_unnamed_namespaces(memory, pretty_type(memory, type));
        };
        const bool may_be_other = !each->qualified.empty() && each->qualified != path;
        if (may_be_other && printed(each->qualified) != path) continue;
        const list<text> shown = split_arguments(memory, printed(each->whole).substr(own.size()));
        std::size_t count = 0;
        while (shown.size() == arguments.size() && count < each->defaults &&
               count < arguments.size()) {
            const std::size_t at = arguments.size() - count - 1;
            if (as_argument_of(memory, shown[at], shown, arguments, at) != arguments[at]) break;
            ++count;
        }
        if (count > most) most = count;
    }
    return most;
}

// `type` must be pretty, and without unnamed namespaces.
inline text without_defaults(arena& memory, const text& type, const type_names& known,
                             int depth = 0) {
    if (depth > max_type_depth) return type;
    text_out out{memory};
    std::size_t at = 0;
    while (at < type.size()) {
        const std::size_t begin = begin_of_path(type, at);
        const std::size_t behind = type[at] == '<' && begin != at ? skip_brackets(type, at) : 0;
        if (behind == no_position) return type;
        if (behind == 0) {
            out << type[at++];
            continue;
        }
        list<text> arguments = split_arguments(memory, type.substr(at, behind - at));
        if (!type.has_at(begin, "std::")) {
            std::size_t dropped =
                count_defaults(memory, type.substr(begin, at - begin), arguments, known);
            for (; dropped != 0; --dropped) arguments.pop_back();
        }
        for (text& each : arguments) each = without_defaults(memory, each, known, depth + 1);
        write_list(out, '<', arguments, '>');
        at = behind;
    }
    return out.view();
}

inline text without_inline_namespaces(arena& memory, const text& type, const type_names& known) {
    text_out out{memory};
    std::size_t at = 0;
    while (at < type.size()) {
        const std::size_t behind = skip_word(type, at);
        const bool is_scope = behind != at && type.has_at(behind, "::");
        const std::size_t begin = begin_of_path(type, behind);
        if (is_scope && known.is_inline_namespace(type.substr(begin, behind - begin))) {
            at = behind + 2;
        } else if (behind != at) {
            out << type.substr(at, behind - at);
            at = behind;
        } else {
            out << type[at++];
        }
    }
    return out.view();
}

// `type` must be pretty, and without unnamed namespaces.
inline text short_type(arena& memory, const text& type, const type_names& known) {
    return without_inline_namespaces(memory, without_defaults(memory, type, known), known);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_SHORT_TYPE_HPP

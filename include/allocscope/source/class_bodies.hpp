// class_bodies.hpp - finds the bodies of classes in the source, and reads what they show.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by initialised_member.hpp, declared_variable.hpp, included_files.hpp, local_names.hpp,
//           name_scopes.hpp, path_in_files.hpp, type_spelling.hpp and four files of types/
// Threads:  any
// Memory:   of the given arena
//
//     struct line : base<T> { int n = 1; char text[]; };
//                 searched_bases()       is_in_initialiser()    has_open_end()

#ifndef ALLOCSCOPE_SOURCE_CLASS_BODIES_HPP
#define ALLOCSCOPE_SOURCE_CLASS_BODIES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

enum class block_kind { of_function, of_class, of_namespace };

// What the brace at `open` opens. The head of a class may have brackets in template arguments, as
// in `class call<R(A...)> {`, and behind `alignas`.
ALLOCSCOPE_PURE inline block_kind kind_of_block(const source_outline& file,
                                                std::size_t open) noexcept {
    block_kind kind = block_kind::of_function;
    int depth = 0;  // of template arguments
    for (std::size_t at = open; at-- > 0;) {
        const text token = file.text_at(at);
        if (is_listed(token, "; { }")) break;
        if (token == ">") ++depth;
        if (token == "<") --depth;
        if (is_listed(token, ") ] (")) {
            at = file.partner(at) < at ? file.partner(at) : 0;
            const bool is_of_head = depth > 0 || token == "]" ||
                                    (at != 0 && file.is_any_at(at - 1, "alignas __attribute__"));
            if (at == 0 || !is_of_head) return block_kind::of_function;
        }
        if (is_listed(token, "struct class union enum")) kind = block_kind::of_class;
        if (token == "namespace") return block_kind::of_namespace;
    }
    return kind;
}

// The `{` of the class whose name, perhaps behind its scopes, stands at `at`; 0: no definition.
ALLOCSCOPE_PURE inline std::size_t class_body(const source_outline& file, std::size_t at) {
    const std::size_t first = file.first_in_chain(at, "::");
    if (first == 0 || !file.is_any_at(first - 1, "struct class")) return 0;
    for (std::size_t i = at + 1; i < file.count() && i < at + 256; ++i) {
        if (file.is_any_at(i, "; ( ) =")) return 0;
        if (file.is_at(i, "{")) return file.partner(i) != 0 ? i : 0;
    }
    return 0;
}

// The name of the class whose body opens at `open`; "" if it has none.
inline text class_of_body(const source_outline& file, std::size_t open) noexcept {
    const std::size_t at = file.last_in_chain(file.back_to(open, "struct class ; }") + 1, "::");
    return file.is_word_at(at) ? file.text_at(at) : text{};
}

// The brace of the only class of that name in the file; 0: none or several.
ALLOCSCOPE_PURE inline std::size_t body_of_class(const source_outline& file, const text& name) {
    const std::size_t named = file.class_named(name);
    if (named != 0) return class_body(file, named);
    const name_declaration* const alias = file.last_declared(name);
    if (alias == nullptr || alias->previous != nullptr) return 0;
    if (!file.is_any_at(alias->at + 1, "struct union")) return 0;  // typedef struct part {} name;
    const std::size_t own = alias->at + 2;
    const std::size_t other = file.class_named(file.text_at(own));
    if (other != 0) return class_body(file, other);
    return file.is_at(own, "{") ? own : 0;
}

// Whether the last member of the class whose body opens at a token is `x[]`, `x[0]` or `x[1]`.
ALLOCSCOPE_PURE inline bool has_open_end(const source_outline& file, std::size_t open) {
    bool has_end = false;
    bool is_member = true;
    for (std::size_t at = open + 1; at < file.partner(open); ++at) {
        if (file.is_any_at(at, "( static using typedef friend")) is_member = false;
        const bool ends = file.is_at(at, ";") || (file.is_at(at, "{") && !is_member);
        if (ends && is_member) {
            const std::size_t bound = at - (file.is_any_at(at - 2, "0 1") ? 3 : 2);
            has_end = file.is_at(at - 1, "]") && file.is_at(bound, "[");
        }
        if (ends) is_member = true;
        at = file.end_of_brackets(at);
    }
    return has_end;
}

// The tokens with the names of the bases of the class whose body opens at `body`, but of those that
// depend on a parameter of a template: the names in the class are not looked for there.
inline list<std::size_t> searched_bases(arena& memory, const source_outline& file,
                                        std::size_t body) {
    list<std::size_t> names{memory};
    std::size_t at = file.back_to(body, ": struct class union ; }");
    if (!file.is_at(at, ":")) return names;
    const list<const template_header*> headers = file.headers_at(memory, body + 1);
    bool is_dependent = false;
    std::size_t name = 0;
    for (int depth = 0; ++at <= body;) {
        const text token = file.text_at(at);
        if (depth == 0 && (token == "," || at == body)) {
            if (!is_dependent) names.push_back(name);
            is_dependent = false;
        }
        depth += token == "<" ? 1 : token == ">" ? -1 : token == ">>" ? -2 : 0;
        if (depth == 0 && file.is_word_at(at)) name = at;
        is_dependent = is_dependent || find_parameter(headers, token).header != 0;
    }
    return names;
}

// Whether the token at `at`, in the class body at `open`, is in the initialiser of a member, and
// not in a function, a parameter or another class.
ALLOCSCOPE_PURE inline bool is_in_initialiser(const source_outline& file, std::size_t open,
                                              std::size_t at) {
    bool has_sign = false;
    while (--at > open) {
        const text token = file.text_at(at);
        const text behind = file.text_at(at + 1);
        if (token == ";" || (token == "}" && !is_listed(behind, ", )"))) break;
        if (is_listed(token, ") ] }") && file.partner(at) != 0) {
            at = file.partner(at);
        } else if (token == "(") {
            has_sign = false;  // the sign belongs to a parameter or an argument
        } else if (token == "=") {
            has_sign = !file.is_at(at - 2, "using");
        } else if (token == "{") {
            const text before = file.text_at(at - 1);
            const bool is_of_member =
                is_word(before) && kind_of_block(file, at) == block_kind::of_function &&
                !is_listed(before, "const noexcept override final try else do");
            if (!is_of_member && !is_listed(before, "= ( ,")) return false;
            has_sign = true;
        }
    }
    // A block around it is that of a function, or another class.
    for (; has_sign && at > open; --at) {
        if (file.is_at(at, "{")) return false;
        at = file.begin_of_brackets(at);
    }
    return has_sign;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_CLASS_BODIES_HPP

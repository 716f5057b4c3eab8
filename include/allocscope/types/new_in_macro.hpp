// new_in_macro.hpp - the type of a `new` or `throw` that a macro writes.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by implied_new.hpp, wrapped_request.hpp and type_ladder.hpp, where a call is a use of a
//           macro
// Threads:  any
// Memory:   of the given arena
//
//     #define MAKE(T) new T
//     keep(MAKE(part));            both compilers place the call at MAKE: "part"
//     #define FAIL(x) throw failure(x)
//     FAIL("no such file");        the same with the memory of an exception: "failure"
//
// A macro is expanded only if the file, or the headers of the project that it includes, define it
// once, outside of #if, or if only one of its definitions asks for memory. It may use another one.

#ifndef ALLOCSCOPE_TYPES_NEW_IN_MACRO_HPP
#define ALLOCSCOPE_TYPES_NEW_IN_MACRO_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/local_names.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/new_reader.hpp>
#include <allocscope/source/placed_new.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/source/standard_names.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// What a macro asks with: `new`, `throw`, or a function that hands on the size that it gets to
// malloc.
struct handing_function {
    text name = "new";
    std::size_t argument = 0;  // the number of that with the size, from 1
};

// The macros of a file and of the headers that it includes.
class seen_macros {
public:
    seen_macros(source_cache& sources, const code_frame& frame, const source_outline& file,
                const handing_function& handing = {})
        : files_(included_files(sources, frame, file)), handing_(handing) {}

    ALLOCSCOPE_PURE bool is_macro(const text& name) const noexcept {
        return is_known_in(files_, name, source_outline::macro_name);
    }

    ALLOCSCOPE_INLINE const source_files& files() const noexcept { return files_; }

    bool defines_class(const text& name) const { return class_in_files(files_, name).at != 0; }

    // The definition of a macro where the code asks for memory: the only one, or the only one that
    // asks. Null: it is not certain what the macro stands for.
    const macro_line* definition_of(const text& name) const noexcept {
        const macro_line* last = nullptr;
        const macro_line* asking = nullptr;
        std::size_t count = 0;
        std::size_t count_asking = 0;
        for (const source_outline* each : files_) {
            for (const macro_line& macro : each->macros()) {
                if (macro.name != name) continue;
                last = &macro;
                ++count;
                if (!may_allocate(macro.rest)) continue;
                asking = &macro;
                ++count_asking;
            }
        }
        if (count == 1 && (last->is_certain || last->is_default)) return last;
        return count_asking == 1 ? asking : nullptr;
    }

    ALLOCSCOPE_PURE bool may_allocate(const text& words) const noexcept {
        return words.contains(handing_.name) || words.contains("alloc");
    }

    // A word of a macro, as it is read: as a function of the C library that gets the size there.
    text read_as(const text& word) const noexcept {
        const char* const like[] = {"malloc", "realloc", "reallocarray"};
        const std::size_t number = handing_.argument - 1;  // huge: there is no such function
        return word == handing_.name && number < 3 ? text{like[number]} : word;
    }

private:
    const source_files& files_;
    const handing_function handing_;
};

// The text of the macro at `at`, with its arguments inserted; "" if that is not certain.
inline text expanded_macro(arena& memory, const source_outline& file, std::size_t at,
                           const seen_macros& macros) {
    const macro_line* macro = macros.definition_of(file.text_at(at));
    if (macro == nullptr) return no_text();
    const token_list body = read_tokens(memory, macro->rest);
    list<text> parameters{memory};
    list<text> arguments{memory};
    std::size_t next = 0;
    bool has_pack = false;
    if (macro->rest.starts_with("(")) {
        const std::size_t close = file.partner_if(at + 1, "(");
        if (close == 0) return no_text();
        for (++next; next < body.tokens.size() && spelling_at(body.tokens, next) != ")"; ++next) {
            const text word = spelling_at(body.tokens, next);
            if (is_word(word)) parameters.push_back(word);
            if (word == "." && !has_pack) parameters.push_back("__VA_ARGS__");
            has_pack = has_pack || word == ".";
        }
        ++next;
        const char* begin = nullptr;
        for (std::size_t i = at + 2; i <= close; ++i) {
            const text token = file.text_at(i);
            const bool is_in_pack = has_pack && arguments.size() + 1 == parameters.size();
            if (i == close || (token == "," && !is_in_pack)) {
                const text last = file.text_at(i - 1);
                const char* const end = last.data() + last.size();
                arguments.push_back(
                    begin != nullptr ? text{begin, static_cast<std::size_t>(end - begin)} : text{});
                begin = nullptr;
                continue;
            }
            if (begin == nullptr) begin = token.data();
            if (macros.is_macro(token)) return no_text();
            i = file.end_of_brackets(i);
        }
    }
    text_out made{memory};
    bool is_pasted = true;  // the next word is a part of the one before it: `make_##T`
    for (; next < body.tokens.size(); ++next) {
        const text word = spelling_at(body.tokens, next);
        if (word == "#" && spelling_at(body.tokens, next + 1) == "#" && !is_pasted) {
            is_pasted = true;
            ++next;
            continue;
        }
        if (word == "#") {
            made << " \"\"";  // `#name` is a text
            ++next;
            continue;
        }
        if (macros.is_macro(word) && macros.may_allocate(macro->rest)) {
            const macro_line* const inner = macros.definition_of(word);
            if (inner == nullptr || macros.may_allocate(inner->rest)) return no_text();
        }
        std::size_t i = 0;
        while (i < parameters.size() && parameters[i] != word) ++i;
        if (i < parameters.size() && i >= arguments.size()) {
            if (!has_pack) return no_text();
            continue;
        }
        made << (is_pasted ? "" : " ")
             << (i < parameters.size() ? arguments[i] : macros.read_as(word));
        is_pasted = false;
    }
    return made.view();
}

// Whether the names of types in a macro, and in its arguments, mean the same everywhere: the debug
// information knows them, they are no macros, and the function and its classes declare no others.
inline bool are_known_names(const source_outline& file, std::size_t at, const seen_macros& macros,
                            const source_outline& made, const new_expression& expression,
                            const type_knowledge& knowledge,
                            const list<const template_header*>& headers) {
    for (std::size_t i = expression.type_begin; i < expression.type_end; ++i) {
        const text word = made.text_at(i);
        if (!is_word(word) || is_listed(word, "std const struct union enum static_cast")) continue;
        if (macros.is_macro(word)) return false;
        if (expression.is_of_variable) continue;
        if (is_builtin_word(word)) continue;
        if (find_local_name(file, at, word).what != local_name::kind::none) return false;
        const bool is_of_std =
            i > 1 && is_listed(word, "string wstring") && made.is_at(i - 2, "std");
        if (is_of_std) continue;
        const name_kind kind = knowledge.kind_of(word);
        const bool is_known = kind != name_kind::unknown || file.is_defined(word) ||
                              find_parameter(headers, word).header != 0;
        if (!is_known) return false;
        const bool is_template = kind == name_kind::class_template || file.is_class_template(word);
        const text behind = made.text_at(i + 1);
        if (is_template && behind != "<") return false;
    }
    return true;
}

// The text that the macro at `at` writes, or if that has no `new`, the only macro with one that it
// uses in turn; "" if that is not certain. At most `left` macros use each other.
inline text text_with_new(arena& memory, const source_outline& file, std::size_t at,
                          const seen_macros& macros, int left = 4) {
    text made = expanded_macro(memory, file, at, macros);
    if (made.empty() || macros.may_allocate(made) || left == 0) return left != 0 ? made : text{};
    const source_outline from{memory, made};
    for (std::size_t i = 0; i < from.count(); ++i) {
        if (!macros.is_macro(from.text_at(i))) continue;
        const text inner = text_with_new(memory, from, i, macros, left - 1);
        if (inner.empty()) return no_text();
        if (!macros.may_allocate(inner)) continue;
        if (macros.may_allocate(made)) return no_text();
        made = inner;
    }
    return made;
}

// Whether the code calls the constructor of `type` at the place of the frame.
inline bool is_constructed(arena& memory, const text& type, const code_frame& frame,
                           const type_knowledge& knowledge) {
    const function_name name = parse_function_name(memory, type);
    if (!name.is_known()) return false;
    const text made = knowledge.made_at(frame, name.last().name, memory);
    return is_candidate_for(type, pretty_type(memory, made));
}

// gcc places a call in the arguments of another one at the name of that, `keep(MAKE(part))`. The
// token of the only macro in those arguments; `at` itself if that is none, or if there are others.
inline std::size_t macro_in_call(const source_outline& file, std::size_t at) {
    const std::size_t close = file.partner_if(at + 1, "(");
    std::size_t found = at;
    while (found < close && !has_hidden_new(file, found, found + 1)) ++found;
    const bool is_only = found < close && !has_hidden_new(file, found + 1, close);
    return is_only && requests_in(file, at, close) == 0 ? found : at;
}

// The brace of the function `name` that a macro writes, if that asks for memory; 0: it does not.
inline std::size_t body_in_macro(const source_outline& made, const text& name) {
    std::size_t body = 0;
    for (const new_expression& each : made.expressions()) {
        if (made.is_at(each.function, name)) body = made.partner(each.function + 1) + 1;
    }
    return made.is_at(body, "{") ? body : 0;
}

// Whether a macro stands for `new`, or for `new (place)`, and an operator new `takes_place`.
inline bool stands_for_new(text macro, bool takes_place) {
    macro = without_spaces_around(macro);
    take_start(macro, "::");
    if (!take_start(macro, "new")) return false;
    macro = without_spaces_around(macro);
    return macro.empty() || (takes_place && macro.starts_with("(") && macro.ends_with(")"));
}

// Finds `NEW T` at the place of a frame, where NEW is a macro that stands for `new`; and
// `new (place) T`, if an operator new of the user `takes_place`.
inline bool find_prefixed_new(const code_frame& frame, source_cache& sources, bool takes_place,
                              new_expression& found) {
    const auto [file, at] = token_of(frame, sources);
    if (at == 0 || file->expression_at(at) != nullptr) return false;
    const seen_macros macros{sources, frame, *file};
    std::size_t begin = at;
    for (int left = 64; left != 0 && begin > 0 && !file->is_at(begin, ";"); --left, --begin) {
        const text word = file->text_at(begin);
        const macro_line* const macro =
            macros.is_macro(word) ? macros.definition_of(word) : nullptr;
        const bool is_new = macro != nullptr ? stands_for_new(macro->rest, takes_place)
                                             : word == "new" && takes_place;
        if (!is_new) continue;
        found = {};
        if (!new_reader{*file}.read_new(begin, found, true)) continue;
        found.scope = file->scope_of(begin);
        if (found.begin == at || found.last == at) return true;
    }
    return false;
}

// Whether `own(x)` in the text of a macro makes an object and calls no function.
inline bool is_class_in_macro(const text& own, const seen_macros& macros,
                              const source_outline& made, const new_expression& expression,
                              const type_knowledge& knowledge,
                              const list<const template_header*>& headers) {
    if (is_builtin_word(own) || own == "static_cast") return true;
    if (find_parameter(headers, own).header != 0) return true;
    const bool is_of_std = made.is_at(expression.type_begin, "std");
    if (is_of_std && (is_standard_template(own) || is_standard_class(own))) return true;
    if (is_known_in(macros.files(), own, source_outline::function_name)) return false;
    return macros.defines_class(own) || knowledge.kind_of(own) >= name_kind::type;
}

// The type that an expression in the text of the macro at `at` names; "" if that is not certain.
inline text spelled_in_macro(arena& memory, const source_outline& file, std::size_t at,
                             const code_frame& frame, const seen_macros& macros,
                             const source_outline& made, const new_expression& expression,
                             const function_name& function, const type_knowledge& knowledge) {
    if (!expression.has_type) return no_text();
    const list<const template_header*> headers = file.headers_at(memory, at);
    if (expression.is_of_value && !made.is_at(expression.type_end, "{")) {
        const text own = own_word(made, expression);
        const text type = knowledge.made_at(frame, own, memory);
        if (!type.empty()) return decayed(type);
        const std::size_t given_end = file.is_at(at + 1, "(") ? file.partner(at + 1) : at;
        for (std::size_t i = at; i < given_end; ++i) {
            if (file.is_at(i, own) && find_variable(file, i).at != 0) return no_text();
        }
        if (!is_class_in_macro(own, macros, made, expression, knowledge, headers)) {
            return no_text();
        }
    }
    if (!are_known_names(file, at, macros, made, expression, knowledge, headers)) return no_text();
    type_knowledge believed = knowledge;
    believed.kind = nullptr;
    believed.made = nullptr;  // its tokens have places of their own
    believed.files = &macros.files();
    source_spelling spelling{memory, made, expression, function, believed};
    if (expression.function == 0) spelling.stand_at(file, at, headers);
    const name_scopes place{memory, file, at, function, knowledge};
    return with_path(memory, macros.files(), spelling.spelled(), function, knowledge, place);
}

// What the only `throw` in the macro at the place of a frame throws; "" if that is not certain.
inline text type_thrown_by_macro(arena& memory, const code_frame& frame, source_cache& sources,
                                 const function_name& function, const type_knowledge& knowledge) {
    const auto [file, at] = token_of(frame, sources);
    if (at == 0) return no_text();
    const seen_macros macros{sources, frame, *file, {"throw", 0}};
    // The use of the macro has the semicolon.
    const text written = joined(memory, text_with_new(memory, *file, at, macros), ";");
    const source_outline made{memory, written};
    const std::size_t begin = made.find(0, made.count(), "throw");
    new_expression only;
    if (!new_reader{made}.read_throw(begin, only)) return no_text();
    if (made.count_of(begin + 1, made.count(), "throw") != 0) return no_text();
    return spelled_in_macro(memory, *file, at, frame, macros, made, only, function, knowledge);
}

// The type of the only `new`, or request for bytes, in the macro that is used at `at`; "" if that
// is not certain. `is_all` is set if the macro writes nothing else, so that nothing else can be
// allocated at its place.
inline text type_of_macro(arena& memory, const source_outline& file, std::size_t at,
                          const code_frame& frame, source_cache& sources,
                          const function_name& function, const type_knowledge& knowledge,
                          const handing_function& handing, bool& is_all, bool& is_array) {
    for (int i = 0; i < 2; ++i) {  // MAKE(T), MAKE(T)() and MAKE(T){}
        if (file.is_any_at(at, ") }") && file.partner(at) > 0) at = file.partner(at) - 1;
    }
    if (knowledge.is_c) at = macro_in_call(file, at);
    const bool is_own = file.is_macro(file.text_at(at));
    const bool may_be_macro = is_own || (file.is_word_at(at) && file.is_at(at + 1, "("));
    if (!may_be_macro) return no_text();
    const seen_macros macros{sources, frame, file, handing};
    const text written = text_with_new(memory, file, at, macros);
    if (written.empty()) return no_text();
    // `(part*)ALLOCATE(sizeof(part))` and `part* p = ALLOCATE(sizeof(part))` say what `part` is.
    const bool is_cast = file.are_at(at - 2, "*", ")");
    std::size_t begin = is_cast ? file.partner(at - 1) : at;
    while (file.is_word_at(begin - 1) || file.is_any_at(begin - 1, "* =")) --begin;
    const source_outline made{memory, joined(memory, file.between(begin, at), written)};
    // The macro may write functions. Then only that of the frame can allocate there.
    const std::size_t body = function.is_known() ? body_in_macro(made, function.last().name) : 0;
    const std::size_t end = body != 0 ? made.partner(body) : made.count();
    const new_expression* const found = made.expressions_in(body, end).only();
    if (requests_in(made, body, end) != 1 || found == nullptr) return no_text();
    const new_expression& only = *found;
    const text type =
        spelled_in_macro(memory, file, at, frame, macros, made, only, function, knowledge);
    if (type.empty()) return no_text();
    // What stands around a macro that is used in turn may allocate, too. So this one, or what it is
    // given, must ask itself.
    const macro_line& used = *macros.definition_of(file.text_at(at));
    const std::size_t close = file.is_at(at + 1, "(") ? file.partner(at + 1) : at;
    const bool asks = macros.may_allocate(used.rest) || requests_in(file, at, close) != 0;
    // Whoever defines it otherwise still asks for the size that stands here.
    const bool has_size = only.is_request && file.between(at, close).contains("sizeof");
    is_array = only.is_request || made.is_at(only.type_end, "[");
    is_all = (is_own || is_array) && (used.is_certain || has_size) && asks;
    bool has_other = only.is_request;  // another macro may allocate, too
    if (body != 0) is_all = true;
    for (std::size_t i = body != 0 ? body + 1 : at - begin; i < end; ++i) {
        const text token = made.text_at(i);
        // Behind the type there may also be names and numbers. A call may be that of a macro of
        // another file. A function allocates at a place of its own.
        const bool is_behind = i >= only.type_end;
        const bool may_call = is_word(token) && made.is_any_at(i + 1, is_behind ? "( { <" : "(") &&
                              !is_listed(token, "if while for switch sizeof strdup") &&
                              !file.declares_function(token);
        // A request is cast to the type of a pointer.
        bool is_harmless = only.is_request ? !may_call : is_listed(token, "( ) { } return");
        if (i >= only.begin) is_harmless = !file.has_new_in_default(token);
        if (!is_harmless || (is_behind && may_call)) is_all = false;
        // Hardly any macro has a name with such a letter.
        if (is_word(token) && token.find_first_of(lower_case) == no_position) has_other = true;
    }
    if (!is_all && !has_other) is_all = is_constructed(memory, type, frame, knowledge);
    return type;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_NEW_IN_MACRO_HPP

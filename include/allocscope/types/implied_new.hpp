// implied_new.hpp - finds the `new T` of a call if it is not written at the place of the call.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp, when no `new` stands at the place of a call; called_name.hpp uses
//           its helpers
// Threads:  one cache belongs to one thread
// Memory:   of the arena of read_names
//
//     struct pool : base {                 g++ places the call at `pool` if the compiler wrote the
//         part* first = new part;          constructor, at the using-declaration if the class
//         using base::base;                inherits it, and at the brace before the body if the
//         pool(int n) : base(n) {}         user wrote it
//     };
//     run(1);                              void run(int, part* p = new part): g++ places it at the
//                                          bracket of the call, clang at the function
//     keep(MAKE(part));                    #define MAKE(T) new T: both place it at MAKE
//
// The initialiser of a member is certain if the class has only one with a `new`. The other two are
// candidates: the block must be as large as the type.

#ifndef ALLOCSCOPE_TYPES_IMPLIED_NEW_HPP
#define ALLOCSCOPE_TYPES_IMPLIED_NEW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/implicit_function.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/placed_new.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/new_in_macro.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// --- initialisers of members ---

// The expressions in the member initialisers of the class whose body opens at `open`.
inline list<const new_expression*> member_initialisers(arena& memory, const source_outline& file,
                                                       std::size_t open) {
    list<const new_expression*> found{memory};
    for (const new_expression& each : file.expressions_in(open, file.partner(open))) {
        if (is_in_initialiser(file, open, each.begin)) found.push_back(&each);
    }
    return found;
}

// Whether a default argument of the function `name` is a `new` of the same class as all those in
// the initialisers.
inline bool makes_the_same(const source_outline& file, std::size_t open, const text& name) {
    const new_expression* const other = file.default_of(name);
    if (other == nullptr) return false;
    for (const new_expression& each : file.expressions_in(open, file.partner(open))) {
        const bool is_other = own_word(file, each) != own_word(file, *other);
        if (is_other && is_in_initialiser(file, open, each.begin)) return false;
    }
    return true;
}

// Whether nothing else in the class may ask for memory at the place of its initialisers.
inline bool are_only_initialisers(const source_outline& file, std::size_t open) {
    const std::size_t close = file.partner(open);
    for (std::size_t at = file.back_to(open, "struct class ; }") + 1; at < close; ++at) {
        const text word = file.text_at(at);
        const bool is_of_base = at < open;
        if (file.has_new_in_default(word) && !(is_of_base && makes_the_same(file, open, word))) {
            return false;
        }
        const bool is_hidden = word == "operator" || file.is_macro(word);
        if (is_hidden && is_in_initialiser(file, open, at)) return false;
        const bool is_call = file.is_word_at(at) && file.is_at(at + 1, "(");
        if (!is_call || file.is_any_at(at - 1, "new :: . ->")) continue;
        const bool is_around = file.first_from(at) < file.first_from(file.partner(at + 1));
        // It may be a macro of another file, with a `new` in it.
        const bool is_known = is_around || file.is_defined(word);
        if (!is_known && is_in_initialiser(file, open, at)) return false;
    }
    return true;
}

// Whether the list of initialisers before the brace of a constructor has a `new`.
inline bool has_new_before(const source_outline& file, std::size_t brace) {
    for (std::size_t at = brace; at > 1; --at) {
        const text token = file.text_at(at - 1);
        if (is_listed(token, "; {") || token == "new") return token == "new";
        if (token == "}" && file.partner(at - 1) + 1 == at - 1) continue;  // member{}
        if (token == "}") return file.is_at(at, ",");                      // member{...},
    }
    return true;
}

// `at` is the place of a call in a constructor of the class `name`. The brace of the class, if only
// an initialiser of a member can ask for memory there.
inline found_token class_of_initialisers(source_cache& sources, const code_frame& frame,
                                         const source_outline& file, std::size_t at,
                                         const text& name) {
    const text token = file.text_at(at);
    if (token == name) {
        const bool is_elsewhere = file.is_at(at + 1, "::") || is_defaulted(file, at);
        if (!is_elsewhere && class_body(file, at) == 0) return {};
    } else if (!is_inherited(file, at)) {
        const std::size_t brace = token == "{" ? at : at + 1;
        if (!is_listed(token, ") {") || !file.is_at(brace, "{")) return {};
        if (has_new_before(file, brace)) return {};
    }
    const found_token open = class_of_constructor(sources, frame, file, at, name);
    const bool is_certain = open.at != 0 && are_only_initialisers(*open.file, open.at);
    return is_certain ? open : found_token{};
}

// --- default arguments ---

// The only `new` among the default arguments of functions with this name; null: none or several.
inline const new_expression* default_argument(const source_outline& file, const text& callee) {
    const new_expression* only = file.default_of(callee);
    if (only == nullptr) return nullptr;
    const std::size_t close = file.partner(only->callee + 1);
    for (const new_expression& each : file.expressions_in(only->callee, close)) {
        if (&each != only) return nullptr;
    }
    return has_hidden_new(file, only->callee, close) ? nullptr : only;
}

// The name of what is called at `at`: a function, or the class of a variable. "" if it has no `new`
// in a default argument.
inline text callee_at(const source_outline& file, std::size_t at) {
    at = end_of_callee(file, at);
    const text name = file.text_at(at);
    if (!is_word(name) || file.is_macro(name)) return no_text();
    if (file.has_new_in_default(name)) return name;
    const text before = file.text_at(at - 1);
    return file.has_new_in_default(before) ? before : text{};
}

// --- all of them ---

// Completes the answer that the place of the call gave, which may be none. The initialiser of a
// member gives the frame its line.
inline void add_implied(read_names& names, code_frame& frame, source_cache& sources,
                        const type_knowledge& knowledge, const handing_function& handing,
                        type_answer& answer) {
    if (is_standard_header(frame.file)) return;
    const auto [file, at] = token_of(frame, sources);
    if (at == 0) return;
    arena& scratch = names.scratch();
    const borrowed_memory meanwhile{scratch};
    const new_expression* shown =
        find_new_expression(*file, frame.line, frame.column, knowledge.is_c);
    const function_name& function = names.of(frame.function).parts;
    text type;
    const text callee = callee_at(*file, at);
    if (!callee.empty()) {
        const new_expression* implied = default_argument(*file, callee);
        if (implied == nullptr || !file->headers_around(scratch, implied->scope).empty()) return;
        if (shown != nullptr && !differ_in_size(*file, *shown, *implied, knowledge)) return;
        type = type_of_expression(scratch, *file, *implied, no_function, knowledge);
    } else if (shown == nullptr) {
        bool is_all = false;
        bool is_array = false;
        type = type_of_macro(scratch, *file, at, frame, sources, function, knowledge, handing,
                             is_all, is_array);
        if (!type.empty() && is_all) {
            answer.set_source_text(names.made(type), is_array);
            return;
        }
    }
    if (!type.empty()) {
        answer.candidate = names.made(type);
        return;
    }
    const text own = function.outer().name;
    if (shown != nullptr || own.empty()) return;
    if (!is_constructor(function) && !is_inherited(*file, at)) return;
    const auto known = sources.implied().insert(&file->token(at));
    if (known.is_new) {
        known.value = class_of_initialisers(sources, frame, *file, at, own);
    }
    const found_token owner = known.value;
    if (owner.at == 0) return;
    const list<const new_expression*> all = member_initialisers(scratch, *owner.file, owner.at);
    text_out types{scratch};
    bool is_array = false;
    for (const new_expression* each : all) {
        type = type_of_expression(scratch, *owner.file, *each, function, knowledge);
        is_array = is_array || owner.file->is_at(each->type_end, "[");
        if (type.empty()) return;
        types << (types.empty() ? "<" : ", ") << type;
    }
    if (all.size() == 1) {
        answer.set_source_text(names.made(type), is_array);
        frame.line = static_cast<int>(owner.file->token(all[0]->begin).line);
        if (owner.file != file) frame.file = copy_of(names.memory(), owner.file->path);
    } else if (!all.empty() && !is_array) {  // the size shows which of them it is
        types << '>';
        answer.candidate = names.made(types.view());
    }
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_IMPLIED_NEW_HPP

// called_name.hpp - the name of an inlined function with the template arguments of its class.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp; bare_requests.hpp reads the place of a call with it
// Threads:  one cache belongs to one thread
// Memory:   of the arenas of read_names
//
// With -g1 an inlined function has only its own name. The source of its caller has the rest:
//
//     auto all = box<int>::make(1);        // "make" is "box<int>::make"

#ifndef ALLOCSCOPE_TYPES_CALLED_NAME_HPP
#define ALLOCSCOPE_TYPES_CALLED_NAME_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/declared_variable.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/path_in_files.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/source/type_spelling.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/read_names.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The function's name without scopes and arguments; "" if the text is not a function's name.
inline text own_name_of(const read_name& name) noexcept {
    return name.parts.is_known() ? name.parts.last().name : text{};
}

// The first template argument of the function itself; "" if it has none.
inline text own_argument_of(arena& memory, const read_name& name) {
    return name.parts.is_known() ? first_argument(memory, name.parts.last().arguments) : text{};
}

// Whether the template parameters around a declaration have the same names around a place: a member
// that is defined outside of its class may give them others.
inline bool has_parameters_of(arena& memory, const source_outline& file, std::size_t place,
                              std::size_t declaration) {
    const list<const template_header*> own = file.headers_around(memory, declaration);
    const list<const template_header*> around = file.headers_around(memory, place);
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (i == around.size()) return false;
        const list<text>& names = own[i]->parameters;
        const list<text>& others = around[i]->parameters;
        if (others.size() != names.size()) return false;
        for (std::size_t k = 0; k < names.size(); ++k) {
            if (others[k] != names[k]) return false;
        }
    }
    return true;
}

// The type in the tokens from `begin` to `end`, as it is meant at the place of a call in a
// function; "" if that is not certain. It is not the function that `knowledge` is about.
inline text spelled_at(arena& memory, const function_name& function, const source_outline& file,
                       std::size_t at, std::size_t begin, std::size_t end,
                       const type_knowledge& knowledge) {
    const type_knowledge less = knowledge.elsewhere();
    const std::size_t scope = file.scope_of(at);
    if (!has_parameters_of(memory, file, scope, file.scope_of(begin))) return no_text();
    const type_spelling spelling{memory, file, begin, scope, function, less};
    return spelling.spelled(begin, end);
}

// The token before the brackets of an initialiser: `v{1}` and `v = {1}`.
inline std::size_t before_list(const source_outline& file, std::size_t open) {
    if (open < 2) return 0;
    const bool is_copied = file.are_at(open - 1, "=", "{");
    return is_copied ? open - 2 : open - 1;
}

// The token with the name of the variable whose member function or constructor is called at `at`;
// 0: it is another call. g++ places a call at its last token, clang at the name or the `=`.
inline std::size_t variable_of_call(const source_outline& file, std::size_t at,
                                    const text& function) {
    const text token = file.text_at(at);
    const bool is_at_end = is_listed(token, ") } ]") && file.partner(at) > 1;
    if (token == "]" && function != "operator[]") return 0;
    if (is_at_end) return before_list(file, file.partner(at));
    if (token == "{") return before_list(file, at);
    if (token == "=" && function == "operator=") return at - 1;
    std::size_t member = at;
    if (token == "(" && at > 0) --member;
    if (member < 2 || !file.is_word_at(member)) return 0;
    if (file.is_any_at(member - 1, ". ->")) {
        return file.is_at(member, function) ? member - 2 : 0;
    }
    if (token == "(") return 0;
    // Clang places the call of `[]`, and a copy, at the beginning of `name.member[1].other`.
    const std::size_t last = file.last_in_chain(at, ". ->");
    if (!file.is_at(last + 1, "[")) return last == at || !file.is_at(last + 1, "(") ? last : 0;
    const std::size_t end = file.last_in_chain(file.partner(last + 1), ". ->");
    return function == "operator[]" && !file.is_at(end + 1, "[") ? last : 0;
}

// The tokens of the type of the object whose member function or constructor is called at `at`.
inline declared_variable object_of_call(const source_outline& file, std::size_t at,
                                        const text& function) {
    const std::size_t behind = file.behind_name(at);
    const bool is_object = file.is_at(behind - 1, ">") && file.is_any_at(behind, "( {");
    if (is_object) return {at, at, behind};  // clang: `box<int>(3)`
    const std::size_t name = variable_of_call(file, at, function);
    if (name < 2 || file.is_at(name - 1, "::")) return {};
    if (file.is_any_at(name - 1, ". ->")) return {};  // a member: type_of_member()
    if (file.is_at(name, ">")) return {name, begin_of_type(file, name + 1), name + 1};
    if (!file.is_word_at(name) || file.is_macro(file.text_at(name))) return {};
    const bool is_arrow = file.is_at(name + 1, "->");
    const declared_variable found = find_variable(file, name);
    // `parts(3)` after `using parts = ...;`
    if (!found.is_known() && !is_arrow) return {name, name, name + 1};
    return object_of(file, found, is_arrow);
}

// The class, by its name, that has the member at `name` in a call in the function: that of `v` in
// `v.member`, or that of the function itself; "" if it is not certain.
inline text class_with_member(const source_outline& file, std::size_t name,
                              const function_name& function) {
    const bool is_of_object = file.is_any_at(name - 1, ". ->");
    if (is_of_object && file.is_any_at(name - 3, ". -> ::")) return no_text();
    if (is_of_object && !file.is_at(name - 2, "this")) {
        const declared_variable owner = object_at(file, name - 2);
        return file.is_word_at(owner.end - 1) ? file.text_at(owner.end - 1) : text{};
    }
    const text own = function.outer().name;
    if (is_of_object || own.empty()) return own;
    return find_variable(file, name).at == 0 ? own : text{};
}

// The type of such a member if one of the files of `knowledge` defines the class.
inline text type_of_member(arena& memory, const function_name& function, const source_outline& file,
                           std::size_t name, const type_knowledge& knowledge) {
    const text owner = class_with_member(file, name, function);
    if (owner.empty()) return no_text();
    const source_files& files = *knowledge.files;
    const found_token open = class_in_files(files, owner);
    // Only the arguments of the function's own class are known.
    const bool is_own = !file.is_any_at(name - 1, ". ->") && has_arguments(function);
    if (open.at == 0 || (!is_own && open.file->is_class_template(owner))) return no_text();
    const declared_variable found = object_of(
        *open.file, member_of(*open.file, open.at, file.text_at(name)), file.is_at(name + 1, "->"));
    if (!found.is_known()) return no_text();
    const text written = open.file->between(found.begin, found.end);
    if (has_alias_of_header(files, written, false, knowledge)) return no_text();
    const text type = spelled_elsewhere(memory, *open.file, found.at, found.begin, found.end,
                                        function, knowledge);
    return with_paths(memory, files, type, *open.file, found.begin, found.end, function, knowledge);
}

// The type of the object whose member function or constructor is called at the place of a frame, as
// it is printed; "" if it is not certain. `caller` is the function of the frame.
inline text type_of_object(read_names& names, const code_frame& frame, const function_name& caller,
                           const text& function, source_cache& sources,
                           const type_knowledge& knowledge) {
    const auto [file, at] = token_of(frame, sources);
    if (at == 0) return no_text();
    const declared_variable object = object_of_call(*file, at, function);
    const std::size_t name = variable_of_call(*file, at, function);
    const bool is_object = object.is_known() && object.begin != 0;
    const bool may_be_member =
        name > 1 && file->is_word_at(name) && (!object.is_known() || object.begin == name);
    if (!is_object && !may_be_member) return no_text();
    const source_files& files = included_files(sources, frame, *file);
    type_knowledge more = knowledge.elsewhere();
    more.files = &files;
    text type;
    if (may_be_member) type = type_of_member(names.scratch(), caller, *file, name, more);
    if (type.empty() && is_object) {
        const text written = file->between(object.begin, object.end);
        if (has_alias_of_header(files, written, false, more)) return no_text();
        type = spelled_at(names.scratch(), caller, *file, at, object.begin, object.end, more);
        type =
            with_paths(names.scratch(), files, type, *file, object.begin, object.end, caller, more);
    }
    return names.made(without_integer_aliases(names.scratch(), type));
}

// The name of the class before `::` in `box<int>::make(1)` at the place of a frame; "" if it is
// something else. Clang places the call at its first token, g++ at its last one or at the bracket
// of the call that it is an argument of.
inline text named_class(arena& memory, const code_frame& frame, const function_name& caller,
                        const text& function, source_cache& sources,
                        const type_knowledge& knowledge) {
    const auto [file, at] = token_of(frame, sources);
    if (at == 0) return no_text();
    constexpr std::size_t far_away = 64;
    const text sign = file->text_at(at);
    const std::size_t partner = file->partner(at);
    const std::size_t first = sign == ")" && partner > 0 ? partner - 1 : at;
    const std::size_t end = sign == "(" ? partner : first + far_away;
    std::size_t name = 0;
    for (std::size_t i = first; i < end && i + 1 < file->count(); ++i) {
        const bool is_call = file->is_at(i + 1, "(");
        if (is_call && file->is_at(i, function)) {
            if (name != 0) return no_text();
            name = i;
        }
        if (is_call && sign != "(") break;
    }
    const std::size_t begin =
        name > 2 && file->is_at(name - 1, "::") ? begin_of_type(*file, name + 1) : 0;
    if (begin == 0 || (is_word(sign) && begin != at)) return no_text();
    return spelled_at(memory, caller, *file, at, begin, name - 1, knowledge);
}

// Whether clang's place of a frame is a call `grow(3)`, which may be that of a member of its own
// class.
inline bool is_bare_call(const code_frame& frame, const text& function, source_cache& sources) {
    const auto [file, at] = token_of(frame, sources);
    return at != 0 && file->is_at(at, function) && !file->is_any_at(at - 1, ". -> ::");
}

// The name of an inlined function with the class that its caller writes, `box<int>::make(1)`, or
// that its object or its caller is of, if that has arguments of a template; else the name that it
// has.
inline text called_name(read_names& names, const list<code_frame>& frames, std::size_t called,
                        source_cache& sources, const type_knowledge& knowledge) {
    const code_frame& callee = frames[called];
    const text function = callee.function;
    const bool is_bare = names.of(function).parts.components.size() == 1;
    if (!is_bare || !callee.is_inlined || called + 1 == frames.size()) return function;
    const code_frame& caller = frames[called + 1];
    text calling = caller.function;
    if (!is_standard_header(caller.file)) {
        calling = called_name(names, frames, called + 1, sources, knowledge);
    }
    const function_name& outer = names.of(calling).parts;
    const text own = own_name_of(names.of(function));
    text scope = named_class(names.scratch(), caller, outer, own, sources, knowledge);
    if (scope.empty()) scope = type_of_object(names, caller, outer, own, sources, knowledge);
    const name_component& around = outer.outer();
    const bool may_be_around = !scope.ends_with(">") && !around.arguments.empty();
    if (may_be_around && is_bare_call(caller, own, sources)) scope = name_up_to(outer, around);
    if (!scope.ends_with(">")) return function;
    // A base class that has the function may have other arguments, but not a constructor.
    const text whole = scoped_name(names.memory(), scope, function);
    const function_name& parts = names.of(whole).parts;
    const auto [inner, inside] = token_of(callee, sources);
    // `make<int>(3)` calls a function, although it looks like `box<int>(3)`.
    if (is_constructor(parts)) {
        const bool is_function =
            inside != 0 && inner->declares_function(own) && body_of_class(*inner, own) == 0;
        return is_function ? function : whole;
    }
    if (inside == 0) return function;
    const std::size_t open = body_of_class(*inner, parts.outer().name);
    return open != 0 && open < inside && inside < inner->partner(open) ? whole : function;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_CALLED_NAME_HPP

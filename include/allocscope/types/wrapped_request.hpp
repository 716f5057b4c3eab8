// wrapped_request.hpp - finds the call that says how many bytes a function of the user asks for.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for the frame that asked for the memory
// Threads:  one cache belongs to one thread
// Memory:   of the arena of read_names
//
//     void* grab(size_t n) {
//         void* block = malloc(n);             // the frame that asked; n is its parameter
//         if (block == NULL) abort();
//         return block;
//     }
//     part* first = grab(sizeof(part));        // a part, and the frame that knows it
//     part* second = NEW(part);                // likewise if this macro calls grab
//     part* third = hooks->get(sizeof(part));  // in C, a pointer to grab, or to malloc itself

#ifndef ALLOCSCOPE_TYPES_WRAPPED_REQUEST_HPP
#define ALLOCSCOPE_TYPES_WRAPPED_REQUEST_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/new_reader.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/called_name.hpp>
#include <allocscope/types/handed_on_size.hpp>
#include <allocscope/types/new_in_macro.hpp>
#include <allocscope/types/read_names.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The bracket behind the name of the function that is called at a token, if it is a plain name, or
// a pointer to a function, as members are in C; 0: there is none.
inline std::size_t bracket_of_call(const source_outline& file, std::size_t at, bool is_c) {
    at = end_of_callee(file, at);
    if (is_c) at = file.last_in_chain(at, ". ->");
    ++at;
    if (at < 2 || file.partner_if(at, "(") == 0) return 0;
    const bool is_of_std = file.are_at(at - 3, "std", "::");
    return is_c || is_of_std || !file.is_any_at(at - 2, ". -> ::") ? at : 0;
}

// The number of arguments before the last one of the call whose bracket is at `open`.
inline std::size_t arguments_before_last(const source_outline& file, std::size_t open) {
    std::size_t count = 0;
    for (std::size_t at = open + 1; at < file.partner(open); ++at) {
        if (file.is_at(at, ",")) ++count;
        at = file.end_of_brackets(at);
    }
    return count;
}

// The number of the parameter `name` of the function around a token, from 1; 0: it has none, or the
// code before the token may change it.
inline std::size_t number_of_parameter(const source_outline& file, std::size_t before,
                                       const text& own, const text& name) {
    std::size_t open = before;
    do {
        if (--open < 2) return 0;
    } while (!file.is_at(open - 1, own) || !file.is_at(open, "(") ||
             !file.is_at(file.partner(open) + 1, "{"));
    const std::size_t body = file.partner(open) + 1;
    if (file.partner(body) < before || may_change(file, name, body, before)) return 0;
    std::size_t number = 1;
    for (std::size_t at = open + 1; at < body; ++at) {
        if (file.is_at(at, name) && file.is_any_at(at + 1, ", )")) return number;
        if (file.is_at(at, ",")) ++number;
    }
    return 0;
}

struct wrapped_request {
    std::size_t frame;        // that asked, or that calls the function around it
    bool is_wrapped = false;  // the latter, for what `expression` says
    new_expression expression = {};
    handing_function handing = {};  // which a macro in that frame calls; otherwise nobody
};

// `asking` is the frame that called malloc. A function that is called by another such function must
// have the size as its last argument, as malloc and realloc have.
inline wrapped_request find_wrapped_request(read_names& names, const list<code_frame>& frames,
                                            std::size_t asking, source_cache& sources) {
    text called;
    std::size_t argument = 0;  // the number of that with the size, from 1
    wrapped_request found{asking};
    for (std::size_t i = asking; i < frames.size(); ++i) {
        const code_frame& frame = frames[i];
        if (is_standard_header(frame.file)) break;
        const auto [file, at] = token_of(frame, sources);
        const bool is_c = is_c_source(frame.file);
        const std::size_t open = at != 0 ? bracket_of_call(*file, at, is_c) : 0;
        if (open == 0) break;
        const text name = file->text_at(open - 1);
        const bool is_pointer = file->is_any_at(open - 2, ". ->");
        constexpr const char* hands_on = "malloc realloc calloc reallocarray";
        if (i == asking && !is_pointer && !is_listed(name, hands_on)) break;
        if (i != asking && !is_pointer && name != called) {
            const handing_function handing{called, argument};
            const seen_macros macros{sources, frame, *file, handing};
            if (!macros.is_macro(name)) break;
            // Only a size or a cast says a type; a macro without either leaves it to the function.
            const text made = text_with_new(names.scratch(), *file, open - 1, macros);
            if (!made.contains("sizeof") && !made.contains("* )")) break;
            found.frame = i;
            found.is_wrapped = false;
            found.handing = handing;
            break;
        }
        if (i != asking || is_pointer) {
            // A function further out that hands on its size may say more than `p = grab(n)`.
            new_expression here;
            here.scope = file->scope_of(open);
            const std::size_t begin = file->first_in_chain(open - 1, ". ->");
            const std::size_t before =
                i != asking ? argument - 1 : arguments_before_last(*file, open);
            const bool is_read = new_reader{*file}.read_request(begin, open, before, here);
            if (is_read && (!found.is_wrapped || !here.is_of_variable)) {
                found.frame = i;
                found.is_wrapped = true;
                found.expression = here;
            }
            if (is_read && !here.is_of_variable) break;
        }
        const std::size_t size = file->partner(open) - 1;
        if (!file->is_word_at(size) || !file->is_any_at(size - 1, "( ,")) break;
        called = own_name_of(names.of(frame.function));
        argument = number_of_parameter(*file, at, called, file->text_at(size));
        if (argument == 0) break;
    }
    return found;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_WRAPPED_REQUEST_HPP

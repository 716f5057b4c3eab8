// handed_on_size.hpp - whether an operator new or a memory resource passes on the size that it got.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by type_ladder.hpp, for the operators before the frame that asked for the memory
// Threads:  one cache belongs to one thread
// Memory:   none
//
//     void* operator new(std::size_t size) { return ::operator new(size); }     one object
//     void* operator new(std::size_t) { return pool.take(); }                   perhaps a chunk
//     void* do_allocate(std::size_t bytes, std::size_t alignment) override {
//         return upstream->allocate(bytes, alignment);                          one request
//     }

#ifndef ALLOCSCOPE_TYPES_HANDED_ON_SIZE_HPP
#define ALLOCSCOPE_TYPES_HANDED_ON_SIZE_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/symbols/code_location.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether the code between two tokens may change a variable: `n = 1`, `n += 1`, `++n`, `&n`.
ALLOCSCOPE_PURE inline bool may_change(const source_outline& file, const text& name,
                                       std::size_t from, std::size_t to) noexcept {
    for (; from < to; ++from) {
        if (!file.is_at(from, name)) continue;
        const text behind = file.text_at(from + 1);
        const bool is_doubled = behind == file.text_at(from + 2);
        const bool assigns = file.is_at(from + 2, "=");
        if (behind == "=" && !is_doubled) return true;
        if (is_listed(behind, "+ - * / % | & ^") && (is_doubled || assigns)) return true;
        if (is_listed(behind, "< >") && is_doubled) return true;
        if (file.is_any_at(from - 1, "& + - >") && !file.is_word_at(from - 2)) return true;
    }
    return false;
}

// The first parameter of the nearest definition of an operator new or of do_allocate before a
// token; "" if it may be changed between. A brace or a word follows a definition, but not a call.
inline text size_parameter(const source_outline& file, std::size_t before) noexcept {
    for (std::size_t at = before; at > 1; --at) {
        const bool is_operator = file.are_at(at - 2, "operator", "new");
        if (!is_operator && !file.is_at(at - 1, "do_allocate")) continue;
        const std::size_t open = file.find(at, before, "(");
        const std::size_t close = file.partner(open);
        if (close <= open || close + 1 >= before) continue;
        const text behind = file.text_at(close + 1);
        if (behind != "{" && !is_word(behind)) continue;
        const std::size_t end = file.find(open + 1, close, ",");
        const text name = file.text_at(end - 1);
        return may_change(file, name, close + 1, before) ? text{} : name;
    }
    return no_text();
}

// Whether a class's own operator new, or a memory resource, asks for exactly the size that it got:
// the frame's line has `operator new(n)`, `malloc(n)` or `allocate(n, alignment)` with the name of
// its parameter.
inline bool hands_on_size(const code_frame& frame, source_cache& sources) {
    const source_outline* file = frame.is_nearby ? nullptr : source_of(frame, sources);
    if (file == nullptr) return false;
    const list<source_token>& tokens = file->tokens();
    for (std::size_t at = file->token_from(frame.line, 0);
         at + 2 < tokens.size() && tokens[at].line == frame.line; ++at) {
        const bool is_new = at > 0 && file->are_at(at - 1, "operator", "new");
        if (!is_new && !file->is_any_at(at, "malloc allocate do_allocate")) continue;
        std::size_t open = at + 1;
        if (file->is_at(open, "[")) open += 2;
        if (!file->is_at(open, "(") || !file->is_any_at(open + 2, ") ,")) continue;
        if (file->is_at(open + 1, size_parameter(*file, at - (is_new ? 1 : 0)))) return true;
    }
    return false;
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_HANDED_ON_SIZE_HPP

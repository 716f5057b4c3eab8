// only_new.hpp - moves a call from the declaration of a function to the only `new` that it reaches.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by naming/stack_namer.hpp, for a function whose code is that of another one
// Threads:  one
// Memory:   of the source_cache and of read_names
//
//     static b* make_b() {         // declared here
//         return fill(new b);      // the call is moved here
//     }
//     static c* make_c() {
//         return make<c>();        // to the `new T` in make, which is then the frame's function
//     }
//
// Or to the line of the code, if that is of another instantiation of the same template.

#ifndef ALLOCSCOPE_TYPES_ONLY_NEW_HPP
#define ALLOCSCOPE_TYPES_ONLY_NEW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/declared_variable.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/placed_new.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/types/called_name.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The brace that opens the body of the function `name` that is declared on `line`; 0: not certain.
inline std::size_t body_below(const source_outline& file, int line, const text& name) {
    std::size_t at = file.token_from(line, 0);
    const std::size_t next_line = file.token_from(line + 1, 0);
    while (at < next_line && (!file.is_at(at, name) || !file.is_at(at + 1, "("))) ++at;
    if (at >= next_line || file.partner(at + 1) == 0) return 0;
    for (at = file.partner(at + 1) + 1; at < file.count(); ++at) {
        const text token = file.text_at(at);
        if (token == "{") return at;
        if (is_listed(token, "; } : =")) return 0;  // a constructor may have braces before its body
        if (token == "(" && file.partner(at) != 0) at = file.partner(at);
    }
    return 0;
}

// `frame` is at the declaration of a function, and the code in its place is that of `kept`. If both
// are instantiations of one template, the frame gets the line of `kept`, unless an `if constexpr`
// may have led them to different lines.
inline void stay_in_template(read_names& names, code_frame& frame, const code_frame& kept,
                             source_cache& sources) {
    const read_name& function = names.of(frame.function);
    const read_name& other = names.of(kept.function);
    if (kept.is_nearby || kept.file != frame.file || function.plain != other.plain) return;
    const source_outline* const file = source_of(frame, sources);
    if (file == nullptr) return;
    const std::size_t open = body_below(*file, frame.line, own_name_of(function));
    if (open == 0 || kept.line < file->token(open).line) return;
    if (kept.line > file->token(file->partner(open)).line) return;
    if (file->count_of(open, file->token_from(kept.line, 0), "constexpr") != 0) return;
    frame.line = kept.line;
    frame.column = kept.column;
}

// A frame is moved only if its function has one request for memory: a `new`, a macro with a `new`,
// or a call of a function of the same file that has one.
class only_request {
public:
    ALLOCSCOPE_INLINE only_request(read_names& names, const source_outline& file,
                                   const type_knowledge& knowledge)
        : names_(names), file_(file), knowledge_(knowledge) {}

    // Moves the frame to the only request in the block that opens at `open`. Does nothing if there
    // are others, or none that is certain. `is_own`: the block asks by itself, not by a call.
    void move(code_frame& frame, std::size_t open, bool is_own) {
        std::size_t place = 0;
        std::size_t called = 0;
        for (std::size_t at = open + 1; at < file_.partner(open); ++at) {
            const new_expression* expression = file_.expression_at(at);
            const macro_line* macro = file_.definition_of(file_.text_at(at));
            const bool is_macro = macro != nullptr && macro->rest.contains("new ");
            const bool begins = expression != nullptr && expression->begin == at;
            if (!begins && !is_macro) {
                if (has_hidden_new(file_, at, at + 1)) return;
                read_call(frame, at, called);
                continue;
            }
            if (place != 0) return;
            place = begins ? expression->last : at;
            if (begins) at = expression->is_request ? file_.partner(place) : expression->type_begin;
        }
        const bool is_called = place == 0;
        if (is_called) place = called;
        if (place == 0 || place == unclear || (called != 0 && !is_called && !is_own)) return;
        if (is_called) frame.function = function_;
        const source_token& token = file_.token(place);
        frame.line = token.line;
        frame.column = token.column;
        frame.is_nearby = false;
    }

private:
    static constexpr std::size_t unclear = ~std::size_t{0};

    // If a function with a `new` is called at `at`, sets `found` to the place of the `new` and
    // function_ to the function with its arguments; if several may be meant, `found` to `unclear`.
    void read_call(const code_frame& frame, std::size_t at, std::size_t& found) {
        const text name = file_.text_at(at);
        const bool is_last = is_word(name) && !file_.is_at(at + 1, "::");
        const std::size_t behind = is_last ? file_.behind_name(at) : 0;
        if (behind == 0 || !file_.is_at(behind, "(")) return;
        if (file_.has_new_in_default(name)) found = unclear;
        text whole = name;
        std::size_t begin = 0;
        std::size_t end = file_.count();
        const std::size_t first = file_.is_at(at - 1, "::") ? begin_of_type(file_, at + 1) : 0;
        if (first != 0) {
            const text scope = spelled(frame, at, first, at - 1);
            whole = scoped_name(names_.memory(), scope, name);
            begin = body_of_class(file_, own_name_of(names_.of(scope)));
            if (begin != 0) end = file_.partner(begin);
        }
        std::size_t place = 0;
        for (const new_expression& each : file_.expressions_in(begin, end)) {
            if (is_meant(each, name, at)) place = place != 0 ? unclear : each.last;
        }
        if (place == 0) return;
        const bool is_clear = !whole.starts_with("::") && !file_.is_any_at(at - 1, ". ->");
        found = found == 0 && is_clear ? place : unclear;
        function_ = whole;
        if (behind == at + 1) return;
        const text arguments = spelled(frame, at, at + 2, behind - 1);
        function_ = joined(names_.memory(), whole, "<", arguments, ">");
    }

    text spelled(const code_frame& frame, std::size_t at, std::size_t begin, std::size_t end) {
        const function_name& function = names_.of(frame.function).parts;
        return names_.made(
            spelled_at(names_.scratch(), function, file_, at, begin, end, knowledge_));
    }

    // Whether the function around an expression is one that a call of `name` at `at` may mean: a
    // member of another class has that before it.
    bool is_meant(const new_expression& expression, const text& name, std::size_t at) const {
        if (expression.function == 0 || !file_.is_at(expression.function, name)) return false;
        const std::size_t outer = expression.outer;
        const bool is_around = outer < at && at < file_.partner(outer);
        return is_around || file_.is_at(at - 1, "::") ||
               kind_of_block(file_, outer) != block_kind::of_class;
    }

    read_names& names_;
    const source_outline& file_;
    const type_knowledge& knowledge_;
    text function_;  // which has the request, if the block calls it
};

// Moves a frame that is at the declaration of its function, if the function itself, or what was
// inlined into it, asked for the memory. `knowledge` is about that function;
// `is_own`: the function itself asked.
inline void find_only_new(read_names& names, code_frame& frame, source_cache& sources,
                          const type_knowledge& knowledge, bool is_own) {
    const source_outline* file = source_of(frame, sources);
    if (file == nullptr) return;
    const std::size_t open = body_below(*file, frame.line, own_name_of(names.of(frame.function)));
    if (open != 0) only_request{names, *file, knowledge}.move(frame, open, is_own);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_ONLY_NEW_HPP

// From the text of a source file to the types of its new-expressions: no read beside the text, no
// endless loop, and every position lies in the file.
//
//     input     | line: 1 byte | column: 1 byte | the source text
#ifndef ALLOCSCOPE_TESTS_FUZZ_SOURCE_TEXT_INPUT_HPP
#define ALLOCSCOPE_TESTS_FUZZ_SOURCE_TEXT_INPUT_HPP

#include <allocscope/types/bare_requests.hpp>
#include <allocscope/types/coroutine_frame.hpp>
#include <allocscope/types/handed_on_size.hpp>
#include <allocscope/types/type_from_source.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>

namespace allocscope_tests {

namespace symbolize = allocscope::symbolize;

inline int source_text_input(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    // Of exactly this size, so that a sanitizer sees a byte too many.
    const std::size_t length = size - 2;
    const std::unique_ptr<char[]> bytes{new char[length]};
    std::memcpy(bytes.get(), data + 2, length);
    allocscope::plain::arena memory;
    const symbolize::source_outline file{memory, {bytes.get(), length}};
    const std::size_t tokens = file.tokens().size();
    const symbolize::type_knowledge nothing;
    for (const char* name : {"main", "app::pool<int>::f()", "void f<int, char>(int)"}) {
        const symbolize::function_name function = symbolize::parse_function_name(memory, name);
        for (const symbolize::new_expression& each : file.expressions()) {
            if (each.begin >= tokens || each.last >= tokens || each.reach >= tokens ||
                each.type_end > tokens) {
                __builtin_trap();
            }
            if (!each.has_type) continue;
            const symbolize::source_spelling spelling{memory, file, each, function, nothing};
            static_cast<void>(spelling.spelled());
        }
    }
    const symbolize::new_expression* found = symbolize::find_new_expression(file, data[0], data[1]);
    if (found != nullptr && found->begin >= tokens) __builtin_trap();
    static_cast<void>(symbolize::size_parameter(file, tokens));
    for (std::size_t at = 0; at < tokens; ++at) {
        const std::size_t open = symbolize::body_of(file, at);
        if (open >= tokens) __builtin_trap();
        static_cast<void>(symbolize::is_coroutine_body(file, open));
        if (open != 0 && symbolize::name_of_body(file, open) > open) __builtin_trap();
        const symbolize::declared_variable variable = symbolize::find_variable(file, at);
        const bool is_behind = variable.at > at || variable.begin > variable.at;
        if (is_behind || variable.end > variable.at) __builtin_trap();
        if (symbolize::variable_of_call(file, at, "f") >= tokens) __builtin_trap();
        if (symbolize::object_of_call(file, at, "f").end > tokens) __builtin_trap();
    }
    return 0;
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_FUZZ_SOURCE_TEXT_INPUT_HPP

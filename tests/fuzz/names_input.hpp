// From a name, mangled or not, to what a report prints of it: no read beside it, no endless loop.
#ifndef ALLOCSCOPE_TESTS_FUZZ_NAMES_INPUT_HPP
#define ALLOCSCOPE_TESTS_FUZZ_NAMES_INPUT_HPP

#include <allocscope/places/frame_rule.hpp>
#include <allocscope/spelling/pretty_function.hpp>
#include <allocscope/symbols/demangle.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace allocscope_tests {

namespace symbolize = allocscope::symbolize;
using allocscope::plain::arena;
using symbolize::text;

inline void look_at(text name) {
    arena memory;
    static_cast<void>(symbolize::pretty_type(memory, name));
    static_cast<void>(symbolize::pretty_function(memory, name));
    symbolize::code_frame frame;
    frame.function = name;
    frame.file = name;
    frame.line = 1;
    symbolize::list<symbolize::code_frame> frames{memory};
    frames.push_back(frame);
    symbolize::read_names names{memory};
    symbolize::source_cache sources;
    if (symbolize::type_from_frames(names, frames, 0, sources).name.empty()) __builtin_trap();
    static_cast<void>(symbolize::frame_rule{}.is_library(memory, frame));
    static_cast<void>(symbolize::type_from_vtable(memory, name));
}

inline int names_input(const std::uint8_t* data, std::size_t size) {
    // Of exactly this size, so that a sanitizer sees a byte too many.
    const std::unique_ptr<char[]> bytes{new char[size]};
    std::memcpy(bytes.get(), data, size);
    look_at({bytes.get(), size});
    if (std::memchr(data, 0, size) != nullptr) return 0;
    arena memory;
    const text linkage = allocscope::plain::joined(memory, "_Z", {bytes.get(), size});
    look_at(symbolize::demangled(memory, linkage.data()));
    return 0;
}

}  // namespace allocscope_tests

#endif  // ALLOCSCOPE_TESTS_FUZZ_NAMES_INPUT_HPP

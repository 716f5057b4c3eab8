// code_location.hpp - what is known about a code address: module, symbol, logical frames.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   filled by symbols/symbolizer.hpp, read by everything that names code in reports
// Threads:  plain data
// Memory:   the texts and frames belong to whoever filled it in
//
// One address can belong to several functions at once, because calls are inlined:
//
//     frames[0]  std::allocator<int>::allocate(unsigned long)   new_allocator.h:137   inlined
//     frames[1]  std::vector<int>::reserve(unsigned long)       vector.tcc:80         inlined
//     frames[2]  fill(std::vector<int>&)                        example.cpp:12        really called

#ifndef ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP
#define ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace symbolize {

struct code_frame {
    // Without it g++ writes all members at each place that makes a frame.
    ALLOCSCOPE_NOINLINE code_frame() noexcept {}

    text function;      // demangled; "" when unknown
    text linkage_name;  // the linker's name; "" when the debug information has none
    text file;          // with its directory, as the debug information has it; "" unknown
    int line = 0;       // 0: unknown
    int column = 0;
    std::uint64_t built_ns = 0;  // when the file of its module was written; 0: not known
    bool is_inlined = false;
    // True: the compiler gave the call no line, and this is a line close to it.
    bool is_nearby = false;
    // True: the only known line is the library's, and it is left out because readers would take it
    // for a line of this function.
    bool is_line_withheld = false;
    // True: the compiler made this function (implicit_function.hpp); its line is that of the class.
    bool is_implicit = false;
    bool may_be_implicit = false;
};

// A line and column of a source file.
struct line_and_column {
    std::uint32_t line = 0;
    std::uint32_t column = 0;
};

// A few places in one source file, the most telling first.
class source_places {
public:
    // The array is not copied. There is at least one place.
    source_places(const line_and_column* places, std::size_t count) noexcept
        : begin_(places), count_(count), first_line_(places->line), last_line_(places->line) {
        for (std::size_t i = 1; i < count; ++i) {
            if (places[i].line < first_line_) first_line_ = places[i].line;
            if (places[i].line > last_line_) last_line_ = places[i].line;
        }
    }

    ALLOCSCOPE_PURE std::size_t count() const noexcept { return count_; }

    // The number of the place; count(): it is none of them. Asked for every row of a function.
    std::size_t find(std::uint32_t line, std::uint32_t column) const noexcept {
        if (line < first_line_ || line > last_line_) return count_;
        std::size_t i = 0;
        while (i < count_ && (begin_[i].line != line || begin_[i].column != column)) ++i;
        return i;
    }

private:
    const line_and_column* begin_;
    std::size_t count_;
    std::uint32_t first_line_;
    std::uint32_t last_line_;
};

// The nearest lines before and after a call, in the same function and file, that differ from the
// line of the call; 0: there is none.
struct lines_near_call {
    int before = 0;
    int behind = 0;
    int before_column = 0;  // 0: the code before is that of an inlined call
    // A statement begins at the line before, with the code of an inlined call.
    bool begins_statement = false;
};

struct code_location {
    std::uint64_t address = 0;
    text module;                      // path of the program or library; "" when in none
    std::uint64_t module_offset = 0;  // the linked address, as in addr2line and objdump
    bool is_unloaded = false;         // the module is gone, and so is its file
    bool lacks_files = false;         // there was no descriptor to open a file that may be there
    text symbol;                      // demangled function of .symtab or .dynsym; "" unknown
    std::uint64_t symbol_offset = 0;  // distance from that function's start
    // Innermost first; at least one when a symbol or a line is known.
    list<code_frame> frames;
};

ALLOCSCOPE_HIDDEN inline constexpr const char* names_of_system_libraries[] = {
    "libc.so",      "libc-2",      "libstdc++.so",   "libc++.so",
    "libc++abi.so", "libgcc_s.so", "libm.so",        "libpthread.so",
    "libdl.so",     "librt.so",    "ld-linux",       "liballocscope_preload.so",
    "libgomp.so",   "libomp.so",   "libgfortran.so", "libquadmath.so"};

// Whether a file is a library of the C and C++ implementation, or of a compiler's runtime, or the
// loader, by its name. No row needs a line of these, so their debug information is not read even if
// it is installed.
ALLOCSCOPE_PURE inline bool is_system_library(const text& path) noexcept {
    const text file = file_name_of(path);
    for (const char* name : names_of_system_libraries) {
        if (file.starts_with(name)) return true;
    }
    return false;
}

// Whether a file is a header of libstdc++ or libc++. Everything in such a header belongs to the
// library, even a function whose scope is missing in the debug information.
ALLOCSCOPE_PURE inline bool is_standard_header(const text& file) noexcept {
    // This is asked several times for each frame, and few paths have a '+'.
    return file.find('+') != text::npos && file.contains("/include/c++/");
}

}  // namespace symbolize

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_SYMBOLS_CODE_LOCATION_HPP

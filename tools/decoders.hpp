// decoders.hpp - decompresses debug information with libraries of the system: zstd and xz.
#ifndef ALLOCSCOPE_TOOLS_DECODERS_HPP
#define ALLOCSCOPE_TOOLS_DECODERS_HPP

namespace allocscope_tools {

constexpr const char* zstd_library = "libzstd.so.1";
constexpr const char* xz_library = "liblzma.so.5";

// From now on, sections compressed by zstd, and .gnu_debugdata, are read if the system has these
// libraries. A library is opened at the first such section and stays open. One thread.
void use_decoders();

// Whether the system has the library. Opens it to find out.
bool has_library(const char* name);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_DECODERS_HPP

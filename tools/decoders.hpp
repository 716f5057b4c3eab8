// decoders.hpp - debug information in forms for which a library is needed: zstd and xz.
#ifndef ALLOCSCOPE_TOOLS_DECODERS_HPP
#define ALLOCSCOPE_TOOLS_DECODERS_HPP

namespace allocscope_tools {

constexpr const char* zstd_library = "libzstd.so.1";
constexpr const char* xz_library = "liblzma.so.5";

// From now on sections compressed by zstd and .gnu_debugdata are read where the system has these
// libraries. They are opened when such a section is met first, and stay open. One thread.
void use_decoders();

// Whether the system has the library, which is opened for that.
bool has_library(const char* name);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_DECODERS_HPP

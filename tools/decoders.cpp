#include "decoders.hpp"

#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>

#include <cstddef>
#include <cstdint>

#include <dlfcn.h>

namespace allocscope_tools {

namespace {

using allocscope::detail::arena;
using allocscope::detail::byte_view;
using allocscope::symbolize::object_bytes;
using allocscope::symbolize::readers_of_rare_forms;

// The types of the functions as <zstd.h> and <lzma.h> declare them.
using zstd_decompress = std::size_t(void* to, std::size_t room, const void* from, std::size_t size);
using xz_decode = int(std::uint64_t* most_memory, std::uint32_t flags, const void* allocator,
                      const std::uint8_t* from, std::size_t* at, std::size_t size, std::uint8_t* to,
                      std::size_t* filled, std::size_t room);
constexpr int xz_fine = 0;
constexpr int xz_no_room = 10;

template <class Function>
Function* function_of(const char* library, const char* name) {
    void* opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return opened != nullptr ? reinterpret_cast<Function*>(::dlsym(opened, name)) : nullptr;
}

bool unpack_zstd(byte_view packed, void* out, std::size_t size) {
    const auto decompress = function_of<zstd_decompress>(zstd_library, "ZSTD_decompress");
    return decompress != nullptr && decompress(out, size, packed.data, packed.size) == size;
}

// The unpacked size is at the end of an xz file, in an index that is hard to read. So the room is
// enlarged until everything fits.
const object_bytes* unpack_symbols(arena& memory, byte_view packed) {
    constexpr std::size_t most_bytes = std::size_t{256} << 20;
    const auto decode = function_of<xz_decode>(xz_library, "lzma_stream_buffer_decode");
    if (decode == nullptr) return nullptr;
    for (std::size_t room = packed.size * 8; room <= most_bytes; room *= 4) {
        auto* bytes = static_cast<std::uint8_t*>(memory.allocate(room));
        std::uint64_t most_memory = most_bytes;
        std::size_t at = 0;
        std::size_t filled = 0;
        const int result =
            decode(&most_memory, 0, nullptr, packed.data, &at, packed.size, bytes, &filled, room);
        if (result == xz_no_room) continue;
        if (result != xz_fine) return nullptr;
        const auto* file = memory.make<object_bytes>(memory, byte_view{bytes, filled});
        return file->is_readable() ? file : nullptr;
    }
    return nullptr;
}

}  // namespace

void use_decoders() {
    readers_of_rare_forms.unpack_zstd = unpack_zstd;
    readers_of_rare_forms.unpack_symbols = unpack_symbols;
}

bool has_library(const char* name) {
    return ::dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr;
}

}  // namespace allocscope_tools

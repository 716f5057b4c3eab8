// The symbolizer asked about the test program itself: what it answers is compared with __LINE__.
// compiled: alone (it compares the names of its functions)

#include "fixture_bytes.hpp"

#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/symbolizer.hpp>

#include "../../support/show_text.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

namespace shelf {

struct widget {
    virtual ~widget() = default;
    virtual int count() const { return 1; }
    int number = 0;
};

struct caller {
    std::uint64_t address;
    int line;
};

__attribute__((noinline)) std::uint64_t return_address() {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) - 1;
    __asm__ volatile("" ::: "memory");
    return address;
}

__attribute__((noinline)) caller plain_function() {
    return caller{return_address(), __LINE__};
}

template <class Item>
struct box {
    __attribute__((always_inline)) inline caller inner() const {
        const caller here{return_address(), __LINE__};
        return here;
    }
};

constexpr int inner_line = __LINE__ - 5;
constexpr int outer_line = __LINE__ + 4;

__attribute__((noinline)) caller with_inlined_call() {
    box<std::string*> one;
    const caller here = one.inner();
    return here;
}

// Tells where it was asked for memory from.
template <class Item>
struct telling_allocator {
    using value_type = Item;
    std::uint64_t* asked_from;

    explicit telling_allocator(std::uint64_t* answer) : asked_from(answer) {}
    template <class Other>
    telling_allocator(const telling_allocator<Other>& other) : asked_from(other.asked_from) {}

    __attribute__((noinline)) Item* allocate(std::size_t count) {
        *asked_from = reinterpret_cast<std::uint64_t>(__builtin_return_address(0)) - 1;
        return std::allocator<Item>{}.allocate(count);
    }
    void deallocate(Item* items, std::size_t count) {
        std::allocator<Item>{}.deallocate(items, count);
    }
};

__attribute__((noinline)) caller with_vector() {
    std::uint64_t address = 0;
    telling_allocator<long> allocator{&address};
    const std::vector<long, telling_allocator<long>> items(9, 1L, allocator);
    return caller{address, items.size() == 9 ? __LINE__ - 1 : 0};
}

}  // namespace shelf

namespace {

using allocscope::plain::arena;
using allocscope::plain::text;
using allocscope::symbolize::code_location;
using allocscope::symbolize::symbolizer;

// Lines of this program can only be known when it was built with them.
bool has_debug_information() {
    arena memory;
    const allocscope::symbolize::object_bytes program{memory, "/proc/self/exe"};
    const auto* section = program.find(".debug_info");
    return section != nullptr && (section->flags & allocscope::detail::elf_section_compressed) == 0;
}

class temporary_library {
public:
    temporary_library() {
        REQUIRE(::mkdtemp(folder_) != nullptr);
        path_ = std::string(folder_) + "/library.so";
    }
    ~temporary_library() {
        ::unlink(path_.c_str());
        ::rmdir(folder_);
    }
    temporary_library(const temporary_library&) = delete;
    temporary_library& operator=(const temporary_library&) = delete;

    const std::string& path() const { return path_; }

    // Puts another file in the place, as a package upgrade does; what was there stays mapped.
    void become(const char* fixture_name) const {
        const std::vector<std::uint8_t> bytes = fixture::bytes_of(fixture_name);
        const std::string next = path_ + ".new";
        std::ofstream(next, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()),
                   static_cast<std::streamsize>(bytes.size()));
        REQUIRE(::rename(next.c_str(), path_.c_str()) == 0);
    }

    std::uint64_t load(void*& handle) const {
        handle = ::dlopen(path_.c_str(), RTLD_LAZY | RTLD_LOCAL);
        REQUIRE(handle != nullptr);
        const void* function = ::dlsym(handle, "run_example");
        REQUIRE(function != nullptr);
        return reinterpret_cast<std::uint64_t>(function);
    }

private:
    char folder_[40] = "/tmp/allocscope_library_XXXXXX";
    std::string path_;
};

}  // namespace

TEST_CASE("symbolizer: a call is found at its file and line") {
    if (!has_debug_information()) return;
    arena kept;
    symbolizer names{kept};
    const shelf::caller here = shelf::plain_function();
    const code_location& location = names.resolve(here.address);
    CHECK(location.address == here.address);
    CHECK(location.symbol == "shelf::plain_function()");
    CHECK(location.symbol_offset > 0);
    CHECK(location.module[0] == '/');
    REQUIRE(location.frames.size() == 1);
    CHECK(location.frames[0].function == "shelf::plain_function()");
    CHECK(location.frames[0].linkage_name == "_ZN5shelf14plain_functionEv");
    CHECK(location.frames[0].line == here.line);
    CHECK(location.frames[0].column > 0);
    CHECK(location.frames[0].file.ends_with("/symbolizer_test.cpp"));
    CHECK(location.frames[0].file[0] == '/');
    CHECK_FALSE(location.frames[0].is_inlined);
}

TEST_CASE("symbolizer: an inlined call is a frame of its own with template arguments") {
    if (!has_debug_information()) return;
    arena kept;
    symbolizer names{kept};
    const shelf::caller here = shelf::with_inlined_call();
    const code_location& location = names.resolve(here.address);
    REQUIRE(location.frames.size() == 2);
    CHECK(location.frames[0].is_inlined);
    CHECK(location.frames[0].line == shelf::inner_line);
    CHECK(location.frames[0].function.starts_with("shelf::box<std::"));
    CHECK(location.frames[0].function.contains("*>::inner() const"));
    CHECK(location.frames[1].function == "shelf::with_inlined_call()");
    CHECK(location.frames[1].line == shelf::outer_line);
    CHECK_FALSE(location.frames[1].is_inlined);
}

TEST_CASE("symbolizer: calls inlined through std::vector name the line that made the vector") {
    if (!has_debug_information()) return;
    arena kept;
    symbolizer names{kept};
    const shelf::caller here = shelf::with_vector();
    const code_location& location = names.resolve(here.address);
    REQUIRE_FALSE(location.frames.empty());
    CHECK(location.frames[0].function.contains("shelf::telling_allocator<long>"));
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
    if (location.symbol != "shelf::with_vector()") return;  // the compiler inlined less
    REQUIRE(location.frames.size() >= 3);
    std::size_t of_vector = 0;
    for (const auto& frame : location.frames) {
        const bool is_last = &frame == &location.frames.back();
        CHECK(frame.is_inlined == !is_last);
        if (frame.function.starts_with("std::vector<long, shelf::telling_allocator<long>")) {
            ++of_vector;
        }
    }
    CHECK(of_vector >= 1);
    CHECK(location.frames.back().line == here.line);
#endif
}

TEST_CASE("symbolizer: the same address gives the same object until modules change") {
    arena kept;
    symbolizer names{kept};
    const shelf::caller here = shelf::plain_function();
    const code_location& first = names.resolve(here.address);
    for (std::uint64_t i = 0; i < 2000; ++i) names.resolve(here.address - i);
    CHECK(&names.resolve(here.address) == &first);
    CHECK_FALSE(names.refresh_modules());
    CHECK(&names.resolve(here.address) == &first);
}

TEST_CASE("symbolizer: a vtable's address has its type's name") {
    arena kept;
    symbolizer names{kept};
    const auto item = std::make_unique<shelf::widget>();
    const void* table = nullptr;
    __builtin_memcpy(&table, static_cast<const void*>(item.get()), sizeof table);
    CHECK(names.data_symbol_at(reinterpret_cast<std::uint64_t>(table), kept) ==
          "vtable for shelf::widget");
    CHECK(names.data_symbol_at(reinterpret_cast<std::uint64_t>(item.get()), kept).empty());
    CHECK(names.data_symbol_at(0, kept).empty());
}

TEST_CASE("symbolizer: a function of a shared library has the library's name and its own") {
    arena kept;
    symbolizer names{kept};
    const void* function = ::dlsym(RTLD_DEFAULT, "strtoull");
    REQUIRE(function != nullptr);
    const code_location& location = names.resolve(reinterpret_cast<std::uint64_t>(function));
    CHECK(location.module.contains("libc"));
    CHECK(location.symbol.contains("strtoull"));
    CHECK(location.symbol_offset == 0);
    REQUIRE_FALSE(location.frames.empty());
    CHECK(location.frames.back().function == location.symbol);
}

TEST_CASE("symbolizer: what is no code of any module has no names") {
    arena kept;
    symbolizer names{kept};
    int on_stack = 0;
    for (const std::uint64_t address :
         {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0},
          reinterpret_cast<std::uint64_t>(&on_stack), std::uint64_t{0xffffffffff600000U}}) {
        const code_location& location = names.resolve(address);
        CHECK(location.address == address);
        CHECK(location.module.empty());
        CHECK(location.symbol.empty());
        CHECK(location.frames.empty());
    }
}

TEST_CASE("symbolizer: every loaded module can be asked, files or not") {
    arena kept;
    symbolizer names{kept};
    CHECK(names.modules().size() >= 3);
    bool has_program = false;
    for (const auto& module : names.modules()) {
        CHECK(module.low < module.high);
        CHECK(&names.resolve(module.low) == &names.resolve(module.low));
        names.resolve(module.high - 1);
        has_program = has_program || module.file == "/proc/self/exe";
    }
    CHECK(has_program);
}

TEST_CASE("symbolizer: released debug data is read again when it is needed") {
    if (!has_debug_information()) return;
    arena kept;
    symbolizer names{kept};
    const shelf::caller here = shelf::plain_function();
    const code_location& before = names.resolve(here.address);
    CHECK(names.debug_bytes() > 10000);
    names.release_debug_data();
    CHECK(names.debug_bytes() == 0);
    CHECK(before.frames[0].line == here.line);
    const shelf::caller other = shelf::with_inlined_call();
    CHECK(names.resolve(other.address).frames.size() == 2);
}

TEST_CASE("symbolizer: loading and unloading a library keeps what is known of the others") {
    arena kept;
    symbolizer names{kept};
    const shelf::caller here = shelf::plain_function();
    const code_location& known = names.resolve(here.address);
    // Any library that is not loaded yet will do.
    void* library = nullptr;
    for (const char* candidate : {"libresolv.so.2", "libutil.so.1", "libanl.so.1", "libnsl.so.1"}) {
        if (::dlopen(candidate, RTLD_NOW | RTLD_NOLOAD) != nullptr) continue;
        library = ::dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) break;
    }
    REQUIRE(library != nullptr);
    CHECK(names.refresh_modules());
    CHECK_FALSE(names.refresh_modules());
    const auto inside = names.modules().back();  // the loader appends
    const std::string inside_path = inside.path.data();
    names.resolve(inside.low + 1);
    CHECK(names.resolve(inside.low + 1).module == inside_path.c_str());
    CHECK(&names.resolve(here.address) == &known);
    REQUIRE(::dlclose(library) == 0);
    CHECK(names.refresh_modules());
    CHECK(names.resolve(inside.low + 1).module.empty());
    CHECK(&names.resolve(here.address) == &known);
    if (has_debug_information()) CHECK(known.frames[0].line == here.line);
}

TEST_CASE("symbolizer: a library that was replaced after it was loaded is not believed") {
    const temporary_library library;
    library.become("gcc_dwarf5_o2.so");
    void* handle = nullptr;
    const std::uint64_t address = library.load(handle);
    {
        arena kept;
        symbolizer names{kept};
        const code_location& location = names.resolve(address);
        CHECK(location.module == library.path().c_str());
        CHECK(location.symbol == "run_example");
        REQUIRE_FALSE(location.frames.empty());
        CHECK(location.frames.back().file == "/source/example.cpp");
    }
    library.become("clang_dwarf5_o2.so");
    {
        arena kept;
        symbolizer names{kept};
        const code_location& location = names.resolve(address);
        CHECK(location.module == library.path().c_str());
        CHECK(location.module_offset != 0);
        CHECK(location.symbol.empty());
        CHECK(location.frames.empty());
    }
    ::dlclose(handle);
}

TEST_CASE("symbolizer: another library at the address of one that is gone has its own names") {
    const temporary_library library;
    library.become("gcc_dwarf5_o2.so");
    arena kept;
    symbolizer names{kept};
    void* handle = nullptr;
    const std::uint64_t first = library.load(handle);
    names.refresh_modules();
    CHECK(names.resolve(first).symbol == "run_example");
    REQUIRE(::dlclose(handle) == 0);
    library.become("clang_dwarf4_o2.so");
    const std::uint64_t second = library.load(handle);
    CHECK(names.refresh_modules());
    CHECK(names.resolve(second).symbol == "run_example");
    CHECK(names.resolve(second).symbol_offset == 0);
    const code_location& before = names.resolve(first);
    const bool is_renamed = before.symbol != "run_example" || before.symbol_offset != 0;
    CHECK((first == second || is_renamed));
    ::dlclose(handle);
}

TEST_CASE("symbolizer: a FIFO in the place of a file does not block") {
    char folder[] = "/tmp/allocscope_fifo_XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    const std::string path = std::string(folder) + "/library.so";
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    arena kept;
    allocscope::symbolize::kept_texts texts{kept};
    allocscope::symbolize::debug_object object{texts, path.c_str()};
    CHECK_FALSE(object.is_readable());
    ::unlink(path.c_str());
    ::rmdir(folder);
}

// Small files of both compilers, in both DWARF versions, compared with what another symbolizer
// said about every instruction in them (recorded in tests/fixtures/elf/*.expected).

#include "fixture_bytes.hpp"

#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include "../../support/show_text.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace {

using allocscope::plain::arena;
using allocscope::plain::text;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::code_location;
using allocscope::symbolize::debug_object;
using allocscope::symbolize::kept_texts;
using allocscope::symbolize::object_bytes;
using allocscope::symbolize::symbol_kind;

struct expected_frame {
    std::string linkage_name;
    std::string place;  // file:line:column
};
struct expected_location {
    std::uint64_t address;
    std::vector<expected_frame> frames;
};

std::vector<expected_location> expected_of(const std::string& name) {
    std::vector<expected_location> all;
    std::ifstream file(fixture::path_of(name + ".expected"));
    std::string line;
    while (std::getline(file, line)) {
        if (line.compare(0, 2, "0x") == 0) {
            all.push_back(expected_location{std::strtoull(line.c_str(), nullptr, 16), {}});
        } else if (!line.empty() && !all.empty()) {
            expected_frame frame;
            frame.linkage_name = line;
            std::getline(file, frame.place);
            all.back().frames.push_back(frame);
        }
    }
    return all;
}

std::string place_of(const code_frame& frame) {
    std::ostringstream place;
    place << (frame.file.empty() ? "??" : frame.file.data()) << ':' << frame.line << ':'
          << frame.column;
    return place.str();
}

// Where the other symbolizer has no line, we have one close by in the same file.
bool places_agree(const code_frame& frame, const std::string& other) {
    const std::size_t end_of_file = other.find(":0:");
    if (end_of_file == std::string::npos) return !frame.is_nearby && place_of(frame) == other;
    const bool is_in_file = frame.file == other.substr(0, end_of_file).c_str();
    return is_in_file && frame.is_nearby && frame.line > 0 && frame.column == 0;
}

// Functions that other files cannot see have no linker name in g++'s debug information: the other
// symbolizer prints their bare name, we print it with what encloses it.
bool names_agree(const code_frame& frame, const std::string& other) {
    if (frame.linkage_name == other.c_str()) return true;
    arena scratch;
    if (allocscope::symbolize::demangled(scratch, other.c_str()) == frame.function) return true;
    return frame.function.ends_with(other.c_str());
}

// What a test needs to ask a file.
struct opened {
    arena kept;
    kept_texts texts{kept};
    std::string path;
    debug_object object;

    explicit opened(const std::string& fixture_name)
        : path(fixture::path_of(fixture_name)), object(texts, path.c_str()) {}
};

void compare_with_recorded(const std::string& name) {
    CAPTURE(name);
    opened file{name + ".so"};
    debug_object& object = file.object;
    REQUIRE(object.is_readable());
    const std::vector<expected_location> all = expected_of(name);
    REQUIRE(all.size() > 40);
    std::size_t inlined = 0;
    for (const expected_location& expected : all) {
        CAPTURE(expected.address);
        if (expected.frames.back().linkage_name == "??") continue;  // filling between functions
        code_location location;
        object.resolve(expected.address, location);
        REQUIRE(location.frames.size() == expected.frames.size());
        for (std::size_t i = 0; i < location.frames.size(); ++i) {
            const code_frame& frame = location.frames[i];
            CHECK_MESSAGE(places_agree(frame, expected.frames[i].place), place_of(frame),
                          " is not ", expected.frames[i].place);
            CHECK_MESSAGE(names_agree(frame, expected.frames[i].linkage_name), frame.function,
                          " is not ", expected.frames[i].linkage_name);
            CHECK(frame.is_inlined == (i + 1 != location.frames.size()));
            inlined += frame.is_inlined ? 1U : 0U;
        }
    }
    CHECK(inlined > 10);
}

code_location first_inlined(debug_object& object, const std::string& name) {
    for (const expected_location& expected : expected_of(name)) {
        code_location location;
        object.resolve(expected.address, location);
        if (location.frames.size() >= 3) return location;
    }
    return code_location{};
}

std::uint64_t address_of(const std::string& recorded, const std::string& linkage_name) {
    for (const expected_location& expected : expected_of(recorded)) {
        if (expected.frames.back().linkage_name == linkage_name) return expected.address;
    }
    return 0;
}

}  // namespace

TEST_CASE("debug_object: g++ DWARF 5 frames equal the recorded ones") {
    compare_with_recorded("gcc_dwarf5_o2");
    compare_with_recorded("gcc_dwarf5_o0");
}

TEST_CASE("debug_object: g++ DWARF 4 frames equal the recorded ones") {
    compare_with_recorded("gcc_dwarf4_o2");
}

TEST_CASE("debug_object: clang DWARF 5 frames equal the recorded ones") {
    compare_with_recorded("clang_dwarf5_o2");
    compare_with_recorded("clang_dwarf5_sections");
}

TEST_CASE("debug_object: clang DWARF 4 frames equal the recorded ones") {
    compare_with_recorded("clang_dwarf4_o2");
}

TEST_CASE("debug_object: an inlined member of a class template has its template arguments") {
    for (const char* name : {"gcc_dwarf5_o2", "clang_dwarf5_o2"}) {
        CAPTURE(name);
        opened file{std::string(name) + ".so"};
        debug_object& object = file.object;
        const code_location location = first_inlined(object, name);
        REQUIRE(location.frames.size() == 3);
        const text innermost = location.frames[0].function;
        CHECK(innermost.starts_with("shop::(anonymous namespace)::shelf<"));
        CHECK(innermost.contains(">::take"));
        CHECK(location.frames[1].function == "shop::both(shop::cart&, int)");
        CHECK(location.frames[2].function == "shop::cart::total(int)");
        CHECK(location.symbol == "shop::cart::total(int)");
    }
}

TEST_CASE("debug_object: data symbols are found by any address inside them") {
    opened file{"gcc_dwarf5_o2.so"};
    debug_object& object = file.object;
    std::size_t found = 0;
    for (std::uint64_t address = 0; address < 0x8000; ++address) {
        if (object.symbol_at(symbol_kind::data, address, file.kept) == "vtable for shop::cart")
            ++found;
    }
    CHECK(found == 40);
}

TEST_CASE("debug_object: without debug information the symbol is the one frame") {
    opened file{"gcc_no_debug.so"};
    debug_object& object = file.object;
    bool is_found = false;
    for (std::uint64_t address = 0; address < 0x1000; ++address) {
        code_location location;
        object.resolve(address, location);
        if (location.symbol != "shop::cart::total(int)") continue;
        is_found = true;
        REQUIRE(location.frames.size() == 1);
        CHECK(location.frames[0].function == "shop::cart::total(int)");
        CHECK(location.frames[0].linkage_name == "_ZN4shop4cart5totalEi");
        CHECK(location.frames[0].file.empty());
        CHECK(location.frames[0].line == 0);
    }
    CHECK(is_found);
}

TEST_CASE("debug_object: the types of a unit are known with their scopes") {
    for (const char* name : {"gcc_dwarf5_o2", "gcc_dwarf4_o2", "clang_dwarf5_o2"}) {
        CAPTURE(name);
        opened file{std::string{name} + ".so"};
        const std::uint64_t total = address_of(name, "_ZN4shop4cart5totalEi");
        REQUIRE(total != 0);
        const allocscope::symbolize::type_names* types = file.object.types_at(total);
        REQUIRE(types != nullptr);
        CHECK(types->qualified("cart", "shop::load") == "shop::cart");
        CHECK(types->qualified("cart", "main") == "");
        CHECK(types->qualified("shelf", "shop::load") == "shop::(anonymous namespace)::shelf");
        CHECK(types->qualified("shop", "main") == "shop");
        CHECK(types->has("local"));
        CHECK(types->qualified("local", "shop::load") == "");  // in a function
        CHECK_FALSE(types->has("total"));
        CHECK_FALSE(types->has("shelf<int>"));
        CHECK(types->qualified("nothing", "shop::load") == "");
        CHECK(types->only("cart") == "shop::cart");
        CHECK(types->only("local") == "");
        CHECK(types->only("nothing") == "");
        CHECK(file.object.types_at(~std::uint64_t{0}) == nullptr);
    }
}

TEST_CASE("debug_object: compressed sections are unpacked") {
    opened file{"gcc_compressed.so"};
    debug_object& object = file.object;
    bool is_found = false;
    for (std::uint64_t address = 0; address < 0x1000; ++address) {
        code_location location;
        object.resolve(address, location);
        if (location.symbol != "shop::cart::total(int)") continue;
        is_found = true;
        REQUIRE(!location.frames.empty());
        CHECK(location.frames.back().file == "/source/example.cpp");
        CHECK(location.frames.back().line > 0);
    }
    CHECK(is_found);
}

TEST_CASE("debug_object: a compressed section that claims to be huge gets no memory") {
    std::vector<std::uint8_t> bytes = fixture::bytes_of("gcc_compressed.so");
    const std::uint64_t claimed = std::uint64_t{900} << 20;
    {
        arena memory;
        const object_bytes object{memory, fixture::view_of(bytes)};
        const std::uint64_t length_at = object.find(".debug_info")->offset + 8;
        std::memcpy(bytes.data() + length_at, &claimed, sizeof claimed);
    }
    arena kept;
    kept_texts texts{kept};
    debug_object object{texts, fixture::view_of(bytes)};
    code_location location;
    object.resolve(0x400, location);
    CHECK(object.bytes_in_memory() < std::size_t{16} << 20);
    // Neither does one that would be more than everything may be together.
    arena memory;
    const object_bytes whole{memory, fixture::view_of(bytes)};
    CHECK(whole.read(memory, whole.find(".debug_abbrev")).size > 0x1d6);
    CHECK(whole.read(memory, whole.find(".debug_abbrev"), 0x1d6).size == 0);
}

TEST_CASE("debug_object: debug information split into another file leaves the lines") {
    opened file{"gcc_split.so"};
    debug_object& object = file.object;
    bool is_found = false;
    for (std::uint64_t address = 0; address < 0x1000; ++address) {
        code_location location;
        object.resolve(address, location);
        if (location.symbol != "shop::cart::total(int)") continue;
        REQUIRE(location.frames.size() == 1);
        CHECK(location.frames[0].file == "/source/example.cpp");
        CHECK(location.frames[0].line != 0);
        is_found = true;
    }
    CHECK(is_found);
}

TEST_CASE("debug_object: a file with another build id than the module is not believed") {
    const std::string path = fixture::path_of("gcc_dwarf5_o2.so");
    const std::uint64_t address = address_of("gcc_dwarf5_o2", "_ZN4shop4cart5totalEi");
    arena kept;
    kept_texts texts{kept};
    allocscope::symbolize::expected_file expected;
    allocscope::detail::build_id& own = expected.id;
    own = allocscope::symbolize::object_bytes{kept, path.c_str()}.id();
    REQUIRE(own.known());

    debug_object same{texts, path.c_str(), expected};
    code_location named;
    same.resolve(address, named);
    CHECK_FALSE(named.frames.empty());

    own.bytes[0] = static_cast<std::uint8_t>(own.bytes[0] ^ 1);
    debug_object replaced{texts, path.c_str(), expected};
    code_location nameless;
    replaced.resolve(address, nameless);
    CHECK(nameless.frames.empty());
    CHECK(nameless.symbol.empty());
    CHECK(replaced.symbol_at(symbol_kind::data, address, kept).empty());
    CHECK(replaced.symbol_at(symbol_kind::function, address, kept).empty());

    debug_object without_id{texts, path.c_str(), allocscope::symbolize::expected_file{}};
    code_location trusted;
    without_id.resolve(address, trusted);
    CHECK_FALSE(trusted.frames.empty());
}

TEST_CASE("debug_object: release gives the memory back and the next question reads again") {
    opened file{"gcc_dwarf5_o2.so"};
    debug_object& object = file.object;
    const std::uint64_t address = address_of("gcc_dwarf5_o2", "_ZN4shop4cart5totalEi");
    code_location before;
    object.resolve(address, before);
    CHECK(object.bytes_in_memory() > 1000);
    object.release();
    CHECK(object.bytes_in_memory() == 0);
    code_location after;
    object.resolve(address, after);
    REQUIRE(before.frames.size() == after.frames.size());
    CHECK(after.frames.back().line == before.frames.back().line);
}

TEST_CASE("debug_object: a file in memory says the same as the file on disk") {
    const std::vector<std::uint8_t> bytes = fixture::bytes_of("clang_dwarf5_o2.so");
    opened disk{"clang_dwarf5_o2.so"};
    debug_object& from_disk = disk.object;
    debug_object from_memory{disk.texts, fixture::view_of(bytes)};
    for (const expected_location& expected : expected_of("clang_dwarf5_o2")) {
        code_location one;
        code_location two;
        from_memory.resolve(expected.address, one);
        from_disk.resolve(expected.address, two);
        REQUIRE(one.frames.size() == two.frames.size());
        if (!one.frames.empty()) CHECK(one.frames[0].line == two.frames[0].line);
    }
}

TEST_CASE("debug_object: what is no file, or no ELF file, says nothing") {
    for (const char* path : {"", "/", "/dev/null", "/no/such/file", "/proc/self/maps"}) {
        CAPTURE(path);
        arena kept;
        kept_texts texts{kept};
        debug_object object{texts, path};
        CHECK_FALSE(object.is_readable());
        code_location location;
        object.resolve(0x1000, location);
        CHECK(location.frames.empty());
    }
}

TEST_CASE(
    "debug_object: a file that is cut and written again meanwhile says the truth or nothing") {
    const std::string original = fixture::path_of("gcc_dwarf5_o2.so");
    const std::uint64_t address = address_of("gcc_dwarf5_o2", "_ZN4shop4cart5totalEi");
    std::ifstream in{original, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    REQUIRE(bytes.size() > 4096);
    char path[] = "/tmp/allocscope_cut_XXXXXX";
    const int descriptor = ::mkstemp(path);
    REQUIRE(descriptor >= 0);
    const auto write_all = [&] {
        return ::pwrite(descriptor, bytes.data(), bytes.size(), 0) ==
               static_cast<ssize_t>(bytes.size());
    };
    REQUIRE(write_all());
    std::atomic<bool> is_over{false};
    std::atomic<unsigned> cuts{0};
    std::thread cutter{[&] {
        for (unsigned n = 1; !is_over.load(); ++n) {
            const auto length = static_cast<off_t>(n * 7919 % bytes.size());
            if (::ftruncate(descriptor, length) != 0 || !write_all()) return;
            cuts.fetch_add(1);
            for (int i = 0; i < 20; ++i) ::sched_yield();
        }
    }};
    unsigned named = 0;
    for (unsigned round = 0; round < 400 || cuts.load() < 200; ++round) {
        arena kept;
        kept_texts texts{kept};
        debug_object object{texts, path};
        code_location location;
        object.resolve(address, location);
        if (location.symbol.empty()) continue;
        ++named;
        CHECK(location.symbol == "shop::cart::total(int)");
        for (const code_frame& frame : location.frames) {
            CHECK((frame.file.empty() || frame.file == "/source/example.cpp"));
        }
    }
    is_over = true;
    cutter.join();
    REQUIRE(write_all());
    arena kept;
    kept_texts texts{kept};
    debug_object object{texts, path};
    code_location location;
    object.resolve(address, location);
    CHECK(location.symbol == "shop::cart::total(int)");
    MESSAGE(named, " of the questions were answered, ", cuts.load(), " cuts");
    ::close(descriptor);
    ::unlink(path);
}

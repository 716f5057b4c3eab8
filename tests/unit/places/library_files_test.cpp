#include <allocscope/places/library_files.hpp>

#include <doctest/doctest.h>

#include <string>

#include "support/show_text.hpp"

using allocscope::plain::arena;

namespace {

bool is_library_file(const char* file, const char* own_folder = "") {
    arena scratch;
    return allocscope::symbolize::is_library_file(scratch, file, own_folder);
}

std::string own_folder_of(const char* file_of_main) {
    arena memory;
    const auto folder = allocscope::symbolize::own_folder_of(memory, file_of_main);
    return {folder.data(), folder.size()};
}

}  // namespace

TEST_CASE("library_files: where packages put headers, and copies of other people's code") {
    for (const char* file :
         {"/usr/include/boost/any.hpp", "/usr/local/include/fmt/format.h",
          "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h", "/lib/x/y.h",
          "/nix/store/abc-json/include/json.hpp", "/opt/vendor_kit/include/kit.h",
          "/usr/include/../include/x.h", "/home/me/shop/third_party/json.hpp",
          "/home/me/shop/build/_deps/json-src/json.hpp", "third_party/json.hpp",
          "../vendor/json.hpp", "/home/me/.conan2/p/x/json.hpp", "/home/me/game/ThirdParty/a.hpp",
          "/home/me/shop/deps/json/json.hpp", "/home/me/vcpkg/installed/x64-linux/include/a.hpp",
          "/home/me/.cache/CPM/json/json.hpp", "/home/me/.local/include/json.hpp",
          "/home/me/venv/lib/python3.11/site-packages/pybind11/include/pybind11/cast.h",
          "/home/me/shop/build/../external/json/json.hpp"}) {
        CAPTURE(std::string{file});
        CHECK(is_library_file(file));
    }
}

TEST_CASE("library_files: everything else is the user's") {
    for (const char* file : {"/home/me/shop/src/cart.cpp", "/home/me/shop/include/shop/cart.hpp",
                             "/usr/src/app/a.cpp", "/opt/shop/src/cart.cpp", "src/cart.cpp",
                             "cart.cpp", "", "/home/me/external.cpp", "/home/me/third_party.hpp",
                             "/home/me/shop/contributors/a.cpp", "/home/me/my_third_party/a.cpp",
                             "/usr/include/../../home/me/a.cpp", "/home/me/usr/include/a.hpp"}) {
        CAPTURE(std::string{file});
        CHECK_FALSE(is_library_file(file));
    }
}

TEST_CASE("library_files: the program's own folder may lie anywhere, and hold copies") {
    const char* own = "/home/me/third_party/shop/";
    CHECK_FALSE(is_library_file("/home/me/third_party/shop/src/cart.cpp", own));
    CHECK(is_library_file("/home/me/third_party/shop/vendor/json.hpp", own));
    CHECK(is_library_file("/home/me/third_party/json.hpp", own));
    CHECK_FALSE(is_library_file("/usr/share/shop/src/cart.cpp", "/usr/share/shop/"));
    CHECK(is_library_file("/usr/share/other/cart.cpp", "/usr/share/shop/"));
}

TEST_CASE("library_files: the own folder is that of main(), or the one around it") {
    CHECK(own_folder_of("/home/me/shop/main.cpp") == "/home/me/shop/");
    CHECK(own_folder_of("/home/me/shop/src/main.cpp") == "/home/me/shop/");
    CHECK(own_folder_of("/home/me/shop/build/../tests/main.cc") == "/home/me/shop/");
    CHECK(own_folder_of("/usr/src/main.cpp") == "/usr/src/");
    CHECK(own_folder_of("/src/main.cpp") == "/src/");
    CHECK(own_folder_of("shop/main.c") == "shop/");
}

TEST_CASE("library_files: a main() in a header, or in no folder, tells nothing") {
    CHECK(own_folder_of("/usr/include/doctest/doctest.h") == "");
    CHECK(own_folder_of("/home/me/shop/third_party/catch.hpp") == "");
    CHECK(own_folder_of("/usr/include/boost/test/impl/unit_test_main.ipp") == "");
    CHECK(own_folder_of("/main.cpp") == "");
    CHECK(own_folder_of("main.cpp") == "");
    CHECK(own_folder_of("") == "");
}

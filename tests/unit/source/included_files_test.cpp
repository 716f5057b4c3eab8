#include <allocscope/source/included_files.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace allocscope::symbolize;

namespace {

namespace fs = std::filesystem;

// A folder with files, for as long as the object lives.
class project {
public:
    project() {
        char name[] = "/tmp/allocscope_project_XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        folder_ = name;
    }
    ~project() { fs::remove_all(folder_); }
    project(const project&) = delete;
    project& operator=(const project&) = delete;

    void write(const std::string& path, const std::string& text) {
        fs::create_directories((folder_ / path).parent_path());
        std::ofstream{folder_ / path} << text;
    }

    fs::path path(const std::string& name) const { return folder_ / name; }

    // The files that one of them includes, with a blank behind each.
    std::string included_by(const std::string& name, std::uint64_t built_ns = 0) {
        std::string found;
        for (const source_outline* each : files_of(name, built_ns)) found += name_of(each) + " ";
        return found;
    }

    // The file with the only definition of a class; "": there is none.
    std::string class_in(const std::string& name, const char* wanted) {
        const found_token open = class_in_files(files_of(name, 0), wanted);
        return open.at != 0 ? name_of(open.file) : "";
    }

private:
    const source_files& files_of(const std::string& name, std::uint64_t built_ns) {
        const std::string whole = path(name);
        code_frame frame;
        frame.file = whole.c_str();
        frame.line = 1;
        frame.built_ns = built_ns;
        const source_outline* file = source_of(frame, sources_);
        REQUIRE(file != nullptr);
        return included_files(sources_, frame, *file);
    }

    std::string name_of(const source_outline* file) const {
        const fs::path whole{file->path.data()};
        return whole.lexically_relative(folder_).string();
    }

    fs::path folder_;
    source_cache sources_;
};

}  // namespace

TEST_CASE("included_files: headers are looked for where projects have them") {
    project one;
    one.write("include/shop/depot.hpp", "#include <vector>\n#include \"parts/shelf.hpp\"\n");
    one.write("include/shop/parts/shelf.hpp", "");
    one.write("src/core/own.hpp", "#include <shop/depot.hpp>\n");
    one.write("src/common/text.hpp", "");
    one.write("top.h", "");
    one.write("vector", "");
    one.write(
        "src/core/depot.cpp",
        "#include \"own.hpp\"\n#include \"common/text.hpp\"\n#include \"../common/text.hpp\"\n"
        "#include <top.h>\n#include <stdio.h>\n#include <vector>\n");
    CHECK(one.included_by("src/core/depot.cpp") ==
          "src/core/depot.cpp src/core/own.hpp src/common/text.hpp top.h "
          "include/shop/depot.hpp include/shop/parts/shelf.hpp ");
    CHECK(one.included_by("src/core/depot.cpp") == one.included_by("src/core/depot.cpp"));
}

TEST_CASE("included_files: the nearest header of that name is meant") {
    project one;
    one.write("config.hpp", "struct far_away {};\n");
    one.write("src/config.hpp", "struct near {};\n");
    one.write("src/a/main.cpp", "#include \"config.hpp\"\n");
    CHECK(one.included_by("src/a/main.cpp") == "src/a/main.cpp src/config.hpp ");
}

TEST_CASE("included_files: a header that was changed after the build is not believed") {
    project one;
    one.write("a.hpp", "");
    one.write("main.cpp", "#include \"a.hpp\"\n");
    CHECK(one.included_by("main.cpp") == "main.cpp a.hpp ");
    CHECK(one.included_by("main.cpp", ~std::uint64_t{0}) == "main.cpp a.hpp ");
    one.write("b.hpp", "");
    one.write("other.cpp", "#include \"b.hpp\"\n");
    const fs::path later = one.path("b.hpp");
    const auto built = fs::last_write_time(one.path("other.cpp"));
    fs::last_write_time(later, built + std::chrono::hours{1});
    const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    CHECK(one.included_by("other.cpp", static_cast<std::uint64_t>(now.count()) + 1000000000U) ==
          "other.cpp ");
}

TEST_CASE("included_files: headers leave room for the files of frames") {
    project one;
    for (int file = 0; file < 20; ++file) {  // with more headers than files are read
        std::string includes;
        for (int i = 0; i < 60; ++i) {
            const std::string name = std::to_string(file) + "_" + std::to_string(i) + ".hpp";
            one.write(name, "");
            includes += "#include \"" + name + "\"\n";
        }
        one.write(std::to_string(file) + ".cpp", includes);
        CHECK(one.included_by(std::to_string(file) + ".cpp").size() > 5);
    }
    for (int i = 0; i < 100; ++i) {
        const std::string name = "other_" + std::to_string(i) + ".cpp";
        one.write(name, "");
        CHECK(one.included_by(name) == name + " ");
    }
}

TEST_CASE("included_files: the only definition of a class") {
    project one;
    one.write("a.hpp", "class part { int n; };\nclass other {};\n");
    one.write("b.hpp", "namespace b { class other {}; }\nclass part;\n");
    one.write("main.cpp", "#include \"a.hpp\"\n#include \"b.hpp\"\n");
    CHECK(one.class_in("main.cpp", "part") == "a.hpp");
    CHECK(one.class_in("main.cpp", "other").empty());
    CHECK(one.class_in("main.cpp", "third").empty());
}

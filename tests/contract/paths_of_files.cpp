// A path may be text, a std::string or a std::filesystem::path, wherever a file is written or read.
// compiled: above the line

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

namespace {

int failures = 0;

// Each call must make the file anew.
template <class Write>
void expect_file(const char* what, const Write& write) {
    const char* const name = "paths_of_files.out";
    const auto expect_made = [&](const auto& path, const char* kind) {
        std::filesystem::remove(name);
        write(path);
        if (std::filesystem::exists(name)) return;
        std::printf("%s made no file of a %s\n", what, kind);
        ++failures;
    };
    expect_made(name, "text");
    expect_made(std::string{name}, "std::string");
    expect_made(std::filesystem::path{name}, "std::filesystem::path");
    std::filesystem::remove(name);
}

std::string rows_of(const allocscope::snapshot& rows) {
    std::ostringstream text;
    text << rows;
    return text.str();
}

// With the reason in a string instead of an exception.
void expect_no_error(bool is_done, const std::string& error) {
    if (is_done && error.empty()) return;
    std::printf("refused: %s\n", error.c_str());
    ++failures;
}

}  // namespace

int main() {
    allocscope::scope window{"paths"};
    const auto kept = std::make_unique<int>(5);
    const allocscope::snapshot rows = window.stats();
    using namespace allocscope;
    expect_file("write_text", [&](const auto& path) { write_text(rows, path); });
    expect_file("write_json", [&](const auto& path) { write_json(rows, path); });
    expect_file("write_csv", [&](const auto& path) { write_csv(rows, path); });
    expect_file("write_html", [&](const auto& path) { write_html(rows, path); });
    expect_file("write_pprof", [&](const auto& path) { write_pprof(rows, path); });
    expect_file("write_folded", [&](const auto& path) { write_folded(rows, path); });
    expect_file("write_speedscope", [&](const auto& path) { write_speedscope(rows, path); });
    expect_file("write_dhat", [&](const auto& path) { write_dhat(rows, path); });
    expect_file("write_heaptrack", [&](const auto& path) { write_heaptrack(rows, path); });
    expect_file("write_massif", [&](const auto& path) { write_massif(rows, path); });
    expect_file("write_callgrind", [&](const auto& path) { write_callgrind(rows, path); });
    expect_file("save", [&](const auto& path) {
        rows.save(path);
        snapshot loaded;
        std::string error;
        expect_no_error(load_snapshot(path, loaded, error), error);
        expect_no_error(write_text(rows, path, error), error);
        rows.save(path);
        if (rows_of(loaded) == rows_of(rows) && rows_of(load_snapshot(path)) == rows_of(rows))
            return;
        std::printf("another snapshot was loaded\n");
        ++failures;
    });
    const std::filesystem::path chosen{"paths_of_files.json"};
    write(rows, chosen);
    if (!std::filesystem::remove(chosen)) ++failures;
    return failures == 0 ? 0 : 1;
}

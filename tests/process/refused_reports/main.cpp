// Danger: malloc or the kernel refuses memory at any one moment while a report is written, and a
// function that promises an error throws, ends the process, or leaves half a file. One call after
// another is refused.
// not with: tsan (it sees nothing where there is one thread)
// compiled: above the line

#include "../../support/escape.hpp"
#include "../../support/process_test.hpp"
#include "../../support/refused_memory.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/report.hpp>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace allocscope_test;
using allocscope::snapshot;

namespace {

constexpr const char* path = "refused_reports.out";
constexpr const char* old_contents = "what was there before\n";
constexpr const char* saved = "refused_reports.allocscope";

std::string contents(const char* file) {
    std::string read;
    char piece[4096];
    std::FILE* opened = std::fopen(file, "rb");
    if (opened == nullptr) return read;
    for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, opened)) != 0;) {
        read.append(piece, got);
    }
    std::fclose(opened);
    return read;
}

void put_old_contents() {
    std::FILE* opened = std::fopen(path, "wb");
    std::fputs(old_contents, opened);
    std::fclose(opened);
}

struct writer {
    const char* name;
    bool (*write)(const snapshot& rows, std::string& error);
};

bool to_descriptor(const snapshot& rows, std::string& error) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool is_written = allocscope::write_text(rows, file, error);
    close(file);
    return is_written;
}

// With a path, so that the file is whole or as it was; a descriptor gets a text at once, too.
const writer writers[] = {
    {"text", [](const snapshot& rows,
                std::string& error) { return allocscope::write_text(rows, path, error); }},
    {"text to a descriptor", to_descriptor},
    {"json", [](const snapshot& rows,
                std::string& error) { return allocscope::write_json(rows, path, error); }},
    {"html", [](const snapshot& rows,
                std::string& error) { return allocscope::write_html(rows, path, error); }},
    {"csv", [](const snapshot& rows,
               std::string& error) { return allocscope::write_csv(rows, path, error); }},
    {"folded", [](const snapshot& rows,
                  std::string& error) { return allocscope::write_folded(rows, path, error); }},
    {"pprof", [](const snapshot& rows,
                 std::string& error) { return allocscope::write_pprof(rows, path, error); }},
    {"dhat", [](const snapshot& rows,
                std::string& error) { return allocscope::write_dhat(rows, path, error); }},
    {"speedscope",
     [](const snapshot& rows, std::string& error) {
         return allocscope::write_speedscope(rows, path, error);
     }},
    {"massif", [](const snapshot& rows,
                  std::string& error) { return allocscope::write_massif(rows, path, error); }},
    {"heaptrack",
     [](const snapshot& rows, std::string& error) {
         return allocscope::write_heaptrack(rows, path, error);
     }},
    {"callgrind",
     [](const snapshot& rows, std::string& error) {
         return allocscope::write_callgrind(rows, path, error);
     }},
    // These always fail, and need memory to say why.
    {"a folder that is not there",
     [](const snapshot& rows, std::string& error) {
         return allocscope::write_json(rows, "not_there/report.json", error);
     }},
    {"a text where no folder is",
     [](const snapshot& rows, std::string& error) {
         return allocscope::write_text(rows, "not_there/report.txt", error);
     }},
    {"an ending of no format",
     [](const snapshot& rows, std::string& error) {
         return allocscope::write(rows, "report.of_no_known_format", error);
     }},
    {"load",
     [](const snapshot&, std::string& error) {
         snapshot loaded;
         const bool is_loaded = allocscope::load_snapshot(saved, loaded, error);
         return is_loaded && loaded.live_objects() != 0;
     }},
    {"load what is not there",
     [](const snapshot&, std::string& error) {
         snapshot loaded;
         return allocscope::load_snapshot("not_there.allocscope", loaded, error);
     }},
};

// Writes with one or more calls refused. Returns true when that many were not made.
bool is_through(const writer& tried, const snapshot& rows, refusal way, unsigned before,
                const std::string& whole) {
    put_old_contents();
    drop_kept_pages();
    bool is_written = false;
    bool has_thrown = false;
    std::string error;
    calls = 0;
    calls_before = before;
    refused = way;
    try {
        is_written = tried.write(rows, error);
    } catch (...) {
        has_thrown = true;
    }
    refused = refusal::none;
    ALLOCSCOPE_EXPECT(!has_thrown);
    ALLOCSCOPE_EXPECT_EQUAL(error.empty(), is_written);
    const std::string now = contents(path);
    ALLOCSCOPE_EXPECT(now == whole || (!is_written && (now == old_contents || now.empty())));
    if (failed_expectations.load() != 0) {
        std::fprintf(stderr, "%s, call %u refused, way %d: %s%s\n", tried.name, before,
                     static_cast<int>(way), has_thrown ? "thrown, " : "", error.c_str());
    }
    return calls <= before;
}

void refuse_each(const writer& tried, const snapshot& rows) {
    put_old_contents();
    std::string error;
    tried.write(rows, error);
    const std::string whole = contents(path);
    for (const refusal way : {refusal::of_one, refusal::of_all_from}) {
        for (unsigned before = 0; !is_through(tried, rows, way, before, whole); ++before) {
            if (failed_expectations.load() > 5) return;
        }
    }
}

struct node {
    std::vector<std::string> names;
    node* next = nullptr;
};

}  // namespace

int main() {
    watchdog();
    allocscope::options wanted;
    wanted.details = true;
    allocscope::scope window{"refused", wanted};
    const snapshot before_all = window.stats();
    node* first = nullptr;
    for (int i = 0; i < 20; ++i) {
        first = opaque(new node{{"a name that needs memory of its own", "b"}, first});
    }
    const snapshot rows = window.stats();
    rows.save(saved);
    // Its stacks are matched with those of another snapshot while they are written.
    const snapshot difference = rows.difference_from(before_all);
    for (const writer& tried : writers) {
        refuse_each(tried, rows);
        refuse_each(tried, difference);
    }
    while (first != nullptr) {
        node* const next = first->next;
        delete first;
        first = next;
    }
    unlink(path);
    unlink(saved);
    return verdict();
}

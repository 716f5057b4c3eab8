// Danger: objects outlive the plugin that allocated them, and another plugin comes to its address.
// Its return addresses are the old ones: whoever names them by what is loaded now charges the old
// objects to the new plugin, or to the host.
//
// The plugins are one code with two names. Each part is run with and without build ids, and with
// and without a report while the plugin is loaded.
// about: stacks

#include "../../support/process_test.hpp"

#include <allocscope/allocscope.hpp>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace allocscope_test;

namespace {

const std::string folder = ALLOCSCOPE_PLUGIN_FOLDER "/";
void* objects[16];
std::uintptr_t last_base = 0;

// The objects stay alive.
__attribute__((noinline)) void allocate_in(const std::string& path, int count,
                                           const allocscope::scope* window = nullptr) {
    void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!ALLOCSCOPE_EXPECT(plugin != nullptr)) return;
    last_base = static_cast<link_map*>(plugin)->l_addr;
    reinterpret_cast<void (*)(int, void**)>(::dlsym(plugin, "make_objects"))(count, objects);
    if (window != nullptr) window->stats();
    ::dlclose(plugin);
}

std::uint64_t objects_at(const allocscope::snapshot& seen, const char* file, int line,
                         const char* type) {
    std::uint64_t sum = 0;
    for (const allocscope::snapshot::row& row : seen) {
        const bool is_wanted = std::strcmp(row.file, file) == 0 && row.line == line &&
                               (type == nullptr || std::strcmp(row.type, type) == 0);
        if (is_wanted) sum += row.objects;
    }
    return sum;
}

void expect_rows(const allocscope::snapshot& seen, std::uint64_t alpha, std::uint64_t beta) {
    // The two files lie in one directory, which rows leave out.
    const bool has_alpha =
        ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, "alpha_source.cpp", 101, "alpha_type"), alpha);
    const bool has_beta =
        ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, "beta__source.cpp", 101, "beta__type"), beta);
    if (has_alpha && has_beta) return;
    for (const allocscope::snapshot::row& row : seen) {
        std::printf("  %llu %s:%d:%s %s\n", static_cast<unsigned long long>(row.objects), row.file,
                    row.line, row.type, row.function);
    }
}

// Returns whether the second plugin came to the place of the first one. What the report maps in
// between may lie there.
bool one_after_the_other(const std::string& kind, bool has_early_report) {
    const allocscope::scope window{"one after the other"};
    const allocscope::scope* early = has_early_report ? &window : nullptr;
    allocate_in(folder + "plugin_alpha" + kind, 5, early);
    const std::uintptr_t first_base = last_base;
    expect_rows(window.stats(), 5, 0);
    allocate_in(folder + "plugin_beta_" + kind, 3, early);
    const bool are_at_one_place = last_base == first_base;
    expect_rows(window.stats(), 5, 3);
    return are_at_one_place;
}

void one_at_the_place_of_the_other(const std::string& kind, bool has_early_report) {
    bool are_at_one_place = false;
    for (int round = 0; round < 8 && !are_at_one_place; ++round) {
        are_at_one_place = one_after_the_other(kind, has_early_report);
    }
    // What a sanitizer maps lies there each time.
    if (!is_sanitized) ALLOCSCOPE_EXPECT(are_at_one_place);
}

// The first report comes when all is over. Each call comes from the same stack.
void in_turns(const std::string& kind, bool has_early_report) {
    const allocscope::scope window{"in turns"};
    const allocscope::scope* early = has_early_report ? &window : nullptr;
    int at_same_place = 0;
    for (int round = 0; round < 12; ++round) {
        const std::uintptr_t before = last_base;
        allocate_in(folder + (round % 2 == 0 ? "plugin_alpha" : "plugin_beta_") + kind, 2, early);
        if (last_base == before) ++at_same_place;
    }
    ALLOCSCOPE_EXPECT(at_same_place > 8);
    expect_rows(window.stats(), 12, 12);
}

void copy_file(const std::string& from, const std::string& to) {
    ::unlink(to.c_str());
    const int in = ::open(from.c_str(), O_RDONLY);
    const int out = ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0700);
    struct stat facts = {};
    ::fstat(in, &facts);
    ALLOCSCOPE_EXPECT(::sendfile(out, in, nullptr, static_cast<std::size_t>(facts.st_size)) ==
                      facts.st_size);
    ::close(in);
    ::close(out);
}

enum class what_happens { removed, replaced };
// Nothing is left to read names from: the row says which module it was.
void without_its_file(const std::string& kind, what_happens then) {
    const std::string path = folder + "vanishing.so";
    const allocscope::scope window{"without its file"};
    copy_file(folder + "plugin_gamma" + kind, path);
    allocate_in(path, 4);
    if (then == what_happens::replaced) copy_file(folder + "plugin_beta_" + kind, path);
    if (then == what_happens::removed) ::unlink(path.c_str());
    const allocscope::snapshot seen = window.stats();
    const bool is_so =
        ALLOCSCOPE_EXPECT_EQUAL(objects_at(seen, "vanishing.so (unloaded)", 0, "?"), 4U);
    for (const allocscope::snapshot::row& row : seen) {
        const bool is_it = std::strcmp(row.file, "vanishing.so (unloaded)") == 0;
        ALLOCSCOPE_EXPECT(!is_it || (row.offset > 0 && row.offset < 0x10000));
        if (!is_so) std::printf("  %s:%d:%s\n", row.file, row.line, row.type);
    }
    if (then == what_happens::replaced) return;
    // Its file comes back.
    copy_file(folder + "plugin_gamma" + kind, path);
    allocate_in(path, 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_at(window.stats(), "gamma_source.cpp", 101, "gamma_type"), 6U);
    ::unlink(path.c_str());
}

// What a report said while the file was there, later reports say too.
void known_before(const std::string& kind) {
    const std::string path = folder + "vanishing.so";
    const allocscope::scope window{"known before"};
    copy_file(folder + "plugin_alpha" + kind, path);
    allocate_in(path, 4, &window);
    ::unlink(path.c_str());
    expect_rows(window.stats(), 4, 0);
}

// A module whose file is replaced while it runs.
void replaced_while_loaded(const std::string& kind) {
    const std::string path = folder + "changing.so";
    copy_file(folder + "plugin_alpha" + kind, path);
    void* const plugin = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!ALLOCSCOPE_EXPECT(plugin != nullptr)) return;
    copy_file(folder + "plugin_beta_" + kind, path);
    {
        const allocscope::scope window{"replaced while loaded"};
        reinterpret_cast<void (*)(int, void**)>(::dlsym(plugin, "make_objects"))(3, objects);
        const allocscope::snapshot seen = window.stats();
        ALLOCSCOPE_EXPECT_EQUAL(seen.live_objects(), 3U);
        for (const allocscope::snapshot::row& row : seen) {
            ALLOCSCOPE_EXPECT(std::strstr(row.file, "beta_") == nullptr);
            ALLOCSCOPE_EXPECT(std::strstr(row.type, "beta_") == nullptr);
        }
    }
    ::dlclose(plugin);
    ::unlink(path.c_str());
}

}  // namespace

int main() {
    watchdog();
    for (const char* kind : {".so", "_nameless.so"}) {
        for (const bool has_early_report : {false, true}) {
            one_at_the_place_of_the_other(kind, has_early_report);
            in_turns(kind, has_early_report);
        }
        without_its_file(kind, what_happens::replaced);
        without_its_file(kind, what_happens::removed);
        known_before(kind);
        replaced_while_loaded(kind);
    }
    return verdict();
}

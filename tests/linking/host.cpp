// host PLUGIN...: loads each plugin with RTLD_LOCAL; all modules allocate and free each other's
// blocks; every module's window must see the same. Prints what they see, one line each.
#include "plugin_interface.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>

namespace {

constexpr int most_modules = 4;
constexpr int blocks_each[most_modules] = {10, 20, 30, 40};
constexpr unsigned long sizes[most_modules] = {100, 10, 1, 1000};

struct module {
    const char* path = nullptr;
    void* handle = nullptr;
    const plugin_interface* calls = nullptr;
    void* blocks[40] = {};
};

module modules[most_modules];  // number 0 is the host itself
char pool[most_modules][40];   // where the objects of pools lie, one byte apart
int module_count = 1;
char text[16384];
allocscope::scope* host_window = nullptr;

void open_window() {
    alignas(allocscope::scope) static unsigned char place[sizeof(allocscope::scope)];
    host_window = new (place) allocscope::scope{"host"};
}

void close_window() {
    host_window->~scope();
}

void counts(unsigned long long* four_numbers) {
    const allocscope::allocation_counts now = host_window->counts();
    four_numbers[0] = now.allocations;
    four_numbers[1] = now.frees;
    four_numbers[2] = now.bytes_allocated;
    four_numbers[3] = now.bytes_freed;
}

const char* rows() {
    const allocscope::pause_recording not_ours;
    std::ostringstream stream;
    stream << host_window->stats();
    std::strncpy(text, stream.str().c_str(), sizeof text - 1);
    return text;
}

const char* not_recording() {
    std::strncpy(text, host_window->stats().info().not_recording, sizeof text - 1);
    return text;
}

// The asm keeps the call from being a tail call, which would leave no frame of this module.
void* allocate(unsigned long size) {
    void* block = ::operator new(size);
    __asm__ volatile("" : "+r"(block) : : "memory");
    return block;
}

void free_block(void* block) {
    ::operator delete(block);
}

struct pooled {
    char bytes[3];
};

void report(void* object) {
    allocscope::report_allocation<pooled>(object, 3, "host pool");
}

void report_end(void* object) {
    allocscope::report_free(object);
}

const char* reports_refusal() {
    return allocscope::reports_refusal();
}

const void* engine() {
    return allocscope::detail::find_engine();
}

constexpr plugin_interface own_calls = {open_window,   close_window,    counts,     rows,
                                        not_recording, allocate,        free_block, report,
                                        report_end,    reports_refusal, engine};

void print_families() {
    const allocscope::snapshot seen = host_window->stats();
    for (std::size_t i = 0; i < seen.info().family_count; ++i) {
        const allocscope::snapshot::family& each = seen.info().families[i];
        std::printf("family \"%s\": %llu allocations, %llu frees\n", each.name,
                    static_cast<unsigned long long>(each.allocations),
                    static_cast<unsigned long long>(each.frees));
    }
}

void load(const char* path) {
    module& loaded = modules[module_count++];
    loaded.path = path;
    loaded.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (loaded.handle == nullptr) {
        std::printf("%s\n", dlerror());
        std::exit(2);
    }
    void* symbol = dlsym(loaded.handle, "get_plugin");
    const plugin_interface* (*get)() = nullptr;
    std::memcpy(&get, &symbol, sizeof get);
    loaded.calls = get();
}

void print_counts(const char* moment) {
    for (int i = 0; i < module_count; ++i) {
        unsigned long long seen[4] = {};
        modules[i].calls->counts(seen);
        std::printf(
            "%s: window of module %d: %llu allocations, %llu frees, %llu bytes, %llu freed\n",
            moment, i, seen[0], seen[1], seen[2], seen[3]);
    }
}

bool is_mapped(const char* path) {
    const char* slash = std::strrchr(path, '/');
    const char* name = slash == nullptr ? path : slash + 1;
    std::FILE* maps = std::fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    while (std::fgets(line, sizeof line, maps) != nullptr) {
        if (std::strstr(line, name) != nullptr) found = true;
    }
    std::fclose(maps);
    return found;
}

}  // namespace

int main(int argument_count, char** arguments) {
    modules[0].calls = &own_calls;
    for (int i = 1; i < argument_count; ++i) load(arguments[i]);
    for (int i = 0; i < module_count; ++i) modules[i].calls->open_window();
    for (int i = 0; i < module_count; ++i) {
        for (int block = 0; block < blocks_each[i]; ++block) {
            modules[i].blocks[block] = modules[i].calls->allocate(sizes[i]);
        }
    }
    print_counts("full");
    for (int i = 0; i < module_count; ++i) {
        std::printf("module %d not recording: \"%s\"\n", i, modules[i].calls->not_recording());
        std::printf("rows of module %d:\n%send of rows\n", i, modules[i].calls->rows());
    }
    // Everybody frees what its neighbour allocated.
    for (int i = 0; i < module_count; ++i) {
        const plugin_interface* neighbour = modules[(i + 1) % module_count].calls;
        for (int block = 0; block < blocks_each[i]; ++block) {
            neighbour->free(modules[i].blocks[block]);
        }
    }
    print_counts("drained");

    // The same with pools.
    for (int i = 0; i < module_count; ++i) {
        std::printf("module %d reports: \"%s\", to %s\n", i, modules[i].calls->reports_refusal(),
                    modules[i].calls->engine() == modules[0].calls->engine() ? "the one engine"
                                                                             : "another engine");
        for (int k = 0; k < blocks_each[i]; ++k) modules[i].calls->report(pool[i] + k);
    }
    print_counts("reported");
    for (int i = 0; i < module_count; ++i) {
        std::printf("pools of module %d:\n%send of rows\n", i, modules[i].calls->rows());
        const plugin_interface* neighbour = modules[(i + 1) % module_count].calls;
        for (int k = 0; k < blocks_each[i]; ++k) neighbour->report_end(pool[i] + k);
    }
    print_counts("settled");
    print_families();

    // What a plugin allocated outlives the plugin's code.
    void* orphan = modules[module_count - 1].calls->allocate(5000);
    modules[module_count - 1].calls->report(pool[0]);
    for (int i = 1; i < module_count; ++i) modules[i].calls->close_window();
    for (int i = 1; i < module_count; ++i) {
        dlclose(modules[i].handle);
        std::printf("plugin %d is %s\n", i, is_mapped(modules[i].path) ? "mapped" : "unloaded");
    }
    module_count = 1;
    print_counts("unloaded");
    std::printf("rows of what is left:\n%send of rows\n", rows());
    print_families();
    ::operator delete(orphan);
    allocscope::report_free(pool[0]);
    print_counts("end");
    close_window();
    return 0;
}

// A shared library that opens windows of its own. What it prints goes through its own copy of the
// headers; what it counts must be what the whole process does.
#include "plugin_interface.hpp"

#include <allocscope/allocscope.hpp>
#include <allocscope/hooks.hpp>

#include <cstdio>
#include <cstring>
#include <new>
#include <sstream>

namespace {

alignas(allocscope::scope) unsigned char place[sizeof(allocscope::scope)];
allocscope::scope* window = nullptr;
char text[16384];

void keep_text(const char* source) {
    std::strncpy(text, source, sizeof text - 1);
    text[sizeof text - 1] = '\0';
}

void open_window() {
    window = new (place) allocscope::scope{"plugin"};
}

void close_window() {
    window->~scope();
}

void counts(unsigned long long* four_numbers) {
    const allocscope::allocation_counts now = window->counts();
    four_numbers[0] = now.allocations;
    four_numbers[1] = now.frees;
    four_numbers[2] = now.bytes_allocated;
    four_numbers[3] = now.bytes_freed;
}

const char* rows() {
    const allocscope::pause_recording not_ours;
    const allocscope::snapshot alive = window->stats();
    std::ostringstream stream;
    stream << alive;
    keep_text(stream.str().c_str());
    return text;
}

const char* not_recording() {
    keep_text(window->stats().info().not_recording);
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
    allocscope::report_allocation<pooled>(object, 3, "plugin pool");
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

constexpr plugin_interface interface = {open_window,   close_window,    counts,     rows,
                                        not_recording, allocate,        free_block, report,
                                        report_end,    reports_refusal, engine};

}  // namespace

extern "C" __attribute__((visibility("default"))) const plugin_interface* get_plugin() {
    return &interface;
}

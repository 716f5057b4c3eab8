// plugin_interface.hpp - what host.cpp and plugin.cpp say to each other.
//
// Plain C types only: the two may be compiled by different compilers and with different options.

#ifndef ALLOCSCOPE_TESTS_LINKING_PLUGIN_INTERFACE_HPP
#define ALLOCSCOPE_TESTS_LINKING_PLUGIN_INTERFACE_HPP

struct plugin_interface {
    void (*open_window)();
    void (*close_window)();
    // allocations, frees, bytes allocated, bytes freed, as this module's window sees them
    void (*counts)(unsigned long long* four_numbers);
    // The rows of this module's window as text, and why nothing is recorded ("" when it is).
    const char* (*rows)();
    const char* (*not_recording)();
    void* (*allocate)(unsigned long size);
    void (*free)(void* block);
};

extern "C" const plugin_interface* get_plugin();

#endif  // ALLOCSCOPE_TESTS_LINKING_PLUGIN_INTERFACE_HPP

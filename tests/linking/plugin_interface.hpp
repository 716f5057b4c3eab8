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
    // One object of this module's pool, three bytes long; and the end of any module's.
    void (*report)(void* object);
    void (*report_end)(void* object);
    // Why this module's reports are not recorded ("" when they are).
    const char* (*reports_refusal)();
    // Of the one recorder that this module has found.
    const void* (*engine)();
};

extern "C" const plugin_interface* get_plugin();

#endif  // ALLOCSCOPE_TESTS_LINKING_PLUGIN_INTERFACE_HPP

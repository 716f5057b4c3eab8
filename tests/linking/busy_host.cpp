// busy_host PLUGIN: threads allocate through a plugin with hooks of its own, and still run when the
// plugin is closed. When they end, and when the process forks, nothing of the plugin may be gone.
#include "plugin_interface.hpp"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int, char** arguments) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    const plugin_interface* (*get)() = nullptr;
    void* const symbol = dlsym(plugin, "get_plugin");
    std::memcpy(&get, &symbol, sizeof get);
    const plugin_interface calls = *get();
    calls.open_window();
    std::atomic<int> at_work{0};
    std::atomic<bool> is_closed{false};
    std::thread threads[4];
    for (std::thread& each : threads) {
        each = std::thread{[&] {
            for (int i = 0; i < 1000; ++i) calls.free(calls.allocate(30));
            ++at_work;
            while (!is_closed) std::this_thread::yield();
        }};
    }
    while (at_work < 4) std::this_thread::yield();
    unsigned long long seen[4] = {};
    calls.counts(seen);
    calls.close_window();
    dlclose(plugin);
    is_closed = true;
    for (std::thread& each : threads) each.join();
    const pid_t child = fork();
    if (child == 0) _exit(0);
    int status = -1;
    waitpid(child, &status, 0);
    std::printf("%llu allocations, the child ended with %d\n", seen[0], status);
    return 0;
}

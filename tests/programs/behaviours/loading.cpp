// loading.cpp WHAT PLUGIN - libraries that come and go, threads.
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* plugin = nullptr;

int in_plugin(void* library, int number) {
    using function = int (*)(int);
    auto call = reinterpret_cast<function>(::dlsym(library, "work_of_plugin"));
    return call != nullptr ? call(number) : -1;
}

void* hands_over(void* library) {
    using function = void* (*)(void*);
    return reinterpret_cast<function>(::dlsym(library, "exchange"))(std::malloc(50));
}

void opens_and_closes() {
    int sum = 0;
    for (int i = 0; i < 200; ++i) {
        void* library = ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            std::printf("%s\n", ::dlerror());
            return;
        }
        sum += in_plugin(library, i);
        std::free(hands_over(library));
        ::dlclose(library);
    }
    std::printf("%d %d\n", sum, ::dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) == nullptr);
}

void binds_deeply() {
    void* library = ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) return;
    for (int i = 0; i < 100; ++i) std::free(hands_over(library));
    std::printf("%d\n", in_plugin(library, 5));
}

void other_namespace() {
    void* library = ::dlmopen(LM_ID_NEWLM, plugin, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        std::printf("%s\n", ::dlerror());
        return;
    }
    std::printf("%d\n", in_plugin(library, 5));
    std::printf("%d\n", ::dlclose(library));
}

void errors() {
    ::dlopen("/nowhere/libnone.so", RTLD_NOW);
    std::printf("%s\n", ::dlerror());
    ::dlsym(RTLD_DEFAULT, std::string(200, 'n').c_str());
    std::printf("%s\n",
                std::strstr(::dlerror(), "undefined symbol") != nullptr ? "undefined" : "?");
}

void finds_next() {
    // Who is asked for malloc answers: a working one, the same through each handle.
    using function = void* (*)(std::size_t);
    auto first = reinterpret_cast<function>(::dlsym(RTLD_DEFAULT, "malloc"));
    void* block = first(100);
    std::memset(block, 1, 100);
    std::free(block);
    auto* copied = &std::malloc;
    std::free(copied(10));
    std::printf("%d\n", ::dlsym(RTLD_DEFAULT, "no_such_function_anywhere") == nullptr);
}

void many_threads() {
    std::atomic<long> sum{0};
    for (int round = 0; round < 10; ++round) {
        std::vector<std::thread> all;
        for (int i = 0; i < 16; ++i) {
            all.emplace_back([&sum, i] {
                for (int n = 0; n < 300; ++n) {
                    std::string text(static_cast<std::size_t>(n + i), 't');
                    sum += static_cast<long>(text.size());
                }
            });
        }
        for (auto& each : all) each.join();
    }
    std::printf("%ld\n", sum.load());
}

void small_stacks() {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, 16384);
    for (int i = 0; i < 200; ++i) {
        pthread_t thread;
        ::pthread_create(
            &thread, &attributes,
            [](void*) -> void* {
                std::free(std::malloc(100));
                return nullptr;
            },
            nullptr);
        ::pthread_join(thread, nullptr);
    }
    std::printf("200\n");
}

void exits_while_busy() {
    for (int i = 0; i < 8; ++i) {
        std::thread([] {
            for (;;) std::free(std::malloc(100));
        }).detach();
    }
    std::printf("main returns\n");
}

void main_thread_ends() {
    std::thread([] {
        std::vector<std::string> kept(1000, std::string(100, 'w'));
        std::printf("%zu\n", kept.size());
        std::exit(3);
    }).detach();
    ::pthread_exit(nullptr);
}

void cancelled() {
    int ended = 0;
    for (int i = 0; i < 100; ++i) {
        pthread_t thread;
        ::pthread_create(
            &thread, nullptr,
            [](void*) -> void* {
                for (;;) {
                    std::free(std::malloc(100));
                    ::pthread_testcancel();
                }
            },
            nullptr);
        ::pthread_cancel(thread);
        void* value = nullptr;
        ::pthread_join(thread, &value);
        ended += value == PTHREAD_CANCELED;
    }
    std::printf("%d\n", ended);
}

struct {
    const char* name;
    void (*run)();
} const behaviours[] = {
    {"opens_and_closes", opens_and_closes},
    {"binds_deeply", binds_deeply},
    {"other_namespace", other_namespace},
    {"errors", errors},
    {"finds_next", finds_next},
    {"many_threads", many_threads},
    {"small_stacks", small_stacks},
    {"exits_while_busy", exits_while_busy},
    {"main_thread_ends", main_thread_ends},
    {"cancelled", cancelled},
};

}  // namespace

int main(int count, char** arguments) {
    plugin = count > 2 ? arguments[2] : "";
    for (const auto& each : behaviours) {
        if (std::strcmp(each.name, arguments[1]) == 0) {
            each.run();
            return 0;
        }
    }
    return 99;
}

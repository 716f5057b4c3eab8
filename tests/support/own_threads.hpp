// own_threads.hpp - threads whose start and end do not call operator new.
//
// Room:     tests/support
// Called:   by tests that count exactly while threads come and go
// Threads:  start and join from one thread
// Memory:   in place; what pthread_create itself takes comes from malloc's inside
//
//     own_thread worker;
//     worker.start([](void* argument) { work(*static_cast<int*>(argument)); }, &number);
//     worker.join();

#ifndef ALLOCSCOPE_TESTS_SUPPORT_OWN_THREADS_HPP
#define ALLOCSCOPE_TESTS_SUPPORT_OWN_THREADS_HPP

#include <pthread.h>  // pthread_create, pthread_join, pthread_barrier_t
#include <cstdlib>    // abort

namespace allocscope_test {

class own_thread {
public:
    using entry = void (*)(void*);

    void start(entry function, void* argument, std::size_t stack_bytes = 0) {
        function_ = function;
        argument_ = argument;
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        if (stack_bytes != 0) pthread_attr_setstacksize(&attributes, stack_bytes);
        if (pthread_create(&thread_, &attributes, &own_thread::run, this) != 0) std::abort();
        pthread_attr_destroy(&attributes);
    }
    void join() { pthread_join(thread_, nullptr); }
    pthread_t handle() const { return thread_; }

private:
    static void* run(void* self) {
        auto* thread = static_cast<own_thread*>(self);
        thread->function_(thread->argument_);
        return nullptr;
    }

    pthread_t thread_{};
    entry function_ = nullptr;
    void* argument_ = nullptr;
};

// All of `count` threads wait until the last has come.
class meeting_point {
public:
    explicit meeting_point(unsigned count) { pthread_barrier_init(&barrier_, nullptr, count); }
    ~meeting_point() { pthread_barrier_destroy(&barrier_); }
    meeting_point(const meeting_point&) = delete;
    meeting_point& operator=(const meeting_point&) = delete;
    void wait() { pthread_barrier_wait(&barrier_); }

private:
    pthread_barrier_t barrier_;
};

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_SUPPORT_OWN_THREADS_HPP

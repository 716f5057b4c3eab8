// A pool of one's own reports what it hands out: leaks inside the pool have a line and a type.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/10_custom_pool.cpp -o custom_pool
//     ./custom_pool
//
// To operator new the pool is one chunk, whatever becomes of the objects in it. With its reports
// each object is counted, and the head of the report says how much is of which family.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/hooks.hpp>
#include <allocscope/report.hpp>

#include <iostream>
#include <list>
#include <memory_resource>
#include <new>

struct particle {
    float position[3];
    float speed[3];
};

// Slots of one size out of one chunk.
template <class T>
class pool {
public:
    explicit pool(const char* name) : name_(name), chunk_(new slot[capacity]) {
        for (int i = 0; i < capacity; ++i) give_back(chunk_ + i);
    }
    ~pool() { delete[] chunk_; }
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    T* make() {
        slot* const taken = free_;
        free_ = taken->next;
        allocscope::report_allocation<T>(taken, sizeof(T), name_);  // once the memory is ours
        return ::new (static_cast<void*>(taken)) T{};
    }
    void destroy(T* object) {
        object->~T();
        allocscope::report_free(object, name_);  // before somebody else can be given it
        give_back(reinterpret_cast<slot*>(object));
    }

private:
    union slot {
        slot* next;
        alignas(T) unsigned char bytes[sizeof(T)];
    };
    static constexpr int capacity = 256;

    void give_back(slot* freed) {
        freed->next = free_;
        free_ = freed;
    }

    const char* name_;
    slot* chunk_;
    slot* free_ = nullptr;
};

static void explode(pool<particle>& particles) {
    particle* sparks[100];
    for (particle*& spark : sparks) spark = particles.make();
    for (int i = 0; i < 97; ++i) particles.destroy(sparks[i]);  // the bug: three are forgotten
}

int main() {
    allocscope::library_frames("pool");  // rows name who called the pool, not its own lines
    allocscope::scope window{"frame"};
    pool<particle> particles{"particles"};
    explode(particles);

    // The standard library's pools have an adaptor.
    std::pmr::unsynchronized_pool_resource memory;
    allocscope::reported_resource reported{&memory, "events"};
    std::pmr::list<particle> events{&reported};
    events.resize(5);

    // An allocator that carries the type: operator new's memory, counted once.
    std::list<particle, allocscope::allocator<particle>> typed(2);

    allocscope::write_text(window.stats(), std::cout);
}

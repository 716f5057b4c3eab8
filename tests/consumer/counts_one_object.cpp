// A consumer's program without a define_once header: the hooks come from allocscope::operator_new.
#include <allocscope/allocscope.hpp>

#include <new>

int main() {
    allocscope::scope window{"consumer"};
    void* kept = ::operator new(100);
    const allocscope::allocation_counts now = window.counts();
    ::operator delete(kept);
    const bool is_right =
        now.allocations == 1 && now.live_bytes() == 100 && window.counts().live_objects() == 0;
    return is_right ? 0 : 1;
}

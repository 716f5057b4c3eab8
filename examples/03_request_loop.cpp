// A server's slow leak, found by comparing two moments of one long window.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/03_request_loop.cpp -pthread -o request_loop
//     ./request_loop
//
// Each request has a window of its own thread: what did this request cost, what did it leave? Some
// requests leave something, and that proves nothing: the answer in the cache is meant to stay, and
// a later request, perhaps on another thread, will drop it. A leak is what grows for ever. The long
// window shows it: its snapshot after the second half of the work minus the one after the first.
#include <allocscope/allocscope.hpp>
#include <allocscope/define_once/operator_new_delete.hpp>

#include <algorithm>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 4;
constexpr int requests_in_half = 800;

struct answer {
    int request;
    std::string body;
};

struct audit_entry {
    int request;
    audit_entry* previous;
};

// The last 64 answers: full after a moment, never larger.
class answer_cache {
public:
    void keep(std::unique_ptr<answer> fresh) {
        std::lock_guard<std::mutex> lock(mutex_);
        slots_[static_cast<std::size_t>(fresh->request) % 64] = std::move(fresh);
    }

private:
    std::mutex mutex_;
    std::unique_ptr<answer> slots_[64];
};

// The bug: every hundredth request adds an entry, and nobody ever removes one.
class audit_trail {
public:
    void note(int request) {
        std::lock_guard<std::mutex> lock(mutex_);
        newest_ = new audit_entry{request, newest_};
    }

private:
    std::mutex mutex_;
    audit_entry* newest_ = nullptr;
};

struct server {
    answer_cache cache;
    audit_trail audit;
};

void handle(server& with, int request) {
    const std::string text = "GET /item/" + std::to_string(request) + "?session=0123456789";
    auto fresh = std::make_unique<answer>();
    fresh->request = request;
    fresh->body.reserve(200);
    fresh->body = "answer to ";
    fresh->body += text;
    with.cache.keep(std::move(fresh));
    if (request % 100 == 0) with.audit.note(request);
}

struct costs {
    std::uint64_t most_allocations = 0;
    std::uint64_t most_left = 0;
};

// Every thread_count-th request of a half is handled by one thread.
costs work_off(server& with, int first, int end) {
    costs seen;
    allocscope::options only_this_thread;
    only_this_thread.from = allocscope::threads::current;
    only_this_thread.record = allocscope::recording::counters;  // numbers are enough here
    for (int request = first; request < end; request += thread_count) {
        allocscope::scope window{"request", only_this_thread};
        handle(with, request);
        const allocscope::allocation_counts counts = window.counts();
        seen.most_allocations = std::max(seen.most_allocations, counts.allocations);
        seen.most_left = std::max(seen.most_left, counts.live_objects());
    }
    return seen;
}

costs serve(server& with, int first) {
    costs seen[thread_count];
    std::vector<std::thread> threads;
    for (int i = 0; i < thread_count; ++i) {
        threads.emplace_back([&with, &seen, first, i] {
            seen[i] = work_off(with, first + i, first + requests_in_half);
        });
    }
    for (std::thread& thread : threads) thread.join();
    costs most;
    for (const costs& one : seen) {
        most.most_allocations = std::max(most.most_allocations, one.most_allocations);
        most.most_left = std::max(most.most_left, one.most_left);
    }
    return most;
}

}  // namespace

int main() {
    server with;
    allocscope::scope uptime{"uptime"};
    const costs each = serve(with, 0);
    const allocscope::snapshot half = uptime.stats();
    serve(with, requests_in_half);
    const allocscope::snapshot whole = uptime.stats();

    std::cout << "One request allocates " << each.most_allocations << " times at most and leaves "
              << each.most_left << " objects at most.\n";
    std::cout << "\nAlive after " << requests_in_half << " requests:\n" << half;
    std::cout << "\nAdded by " << requests_in_half << " more:\n" << whole.difference_from(half);
}

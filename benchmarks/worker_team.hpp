// worker_team.hpp - the same few threads, started together for each slice.
//
// Threads live as long as the team, so what the library keeps for a thread is warm as it would be
// in a long-running program.
//
//     worker_team team{2};
//     team.run([&](int worker) { loops[worker].run(steps); });
//     team.elapsed_ns();   // from the start of the first to the end of the last: waiting counts
//     team.busy_ns();      // processor time, mean over the threads: what else runs does not count

#ifndef ALLOCSCOPE_BENCHMARKS_WORKER_TEAM_HPP
#define ALLOCSCOPE_BENCHMARKS_WORKER_TEAM_HPP

#include "interleaved_ratio.hpp"

#include <sched.h>  // sched_yield

#include <algorithm>           // min, max
#include <atomic>              // atomic
#include <condition_variable>  // condition_variable
#include <functional>          // function
#include <mutex>               // mutex, unique_lock
#include <numeric>             // accumulate
#include <thread>              // thread
#include <vector>              // vector

namespace benchmarks {

class worker_team {
public:
    explicit worker_team(int size)
        : begins_(static_cast<std::size_t>(size)), ends_(begins_), busy_(begins_) {
        for (int worker = 0; worker < size; ++worker) {
            threads_.emplace_back([this, worker] { serve(worker); });
        }
    }
    worker_team(const worker_team&) = delete;
    worker_team& operator=(const worker_team&) = delete;
    ~worker_team() {
        {
            const std::unique_lock<std::mutex> lock{mutex_};
            is_over_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    // Runs work(worker) on every thread and returns when all have ended.
    void run(const std::function<void(int)>& work) {
        std::unique_lock<std::mutex> lock{mutex_};
        work_ = &work;
        arrived_ = 0;
        finished_ = 0;
        ++round_;
        changed_.notify_all();
        done_.wait(lock, [this] { return finished_ == threads_.size(); });
    }

    double elapsed_ns() const {
        return *std::max_element(ends_.begin(), ends_.end()) -
               *std::min_element(begins_.begin(), begins_.end());
    }
    double busy_ns() const {
        return std::accumulate(busy_.begin(), busy_.end(), 0.0) / static_cast<double>(busy_.size());
    }

private:
    void serve(int worker) {
        const std::size_t index = static_cast<std::size_t>(worker);
        std::uint64_t seen_round = 0;
        for (;;) {
            const std::function<void(int)>* work = nullptr;
            {
                std::unique_lock<std::mutex> lock{mutex_};
                changed_.wait(lock, [&] { return is_over_ || round_ != seen_round; });
                if (is_over_) return;
                seen_round = round_;
                work = work_;
            }
            // It takes a thread some time to wake up; all begin when the last one is there.
            arrived_.fetch_add(1);
            while (arrived_.load() < begins_.size()) sched_yield();
            begins_[index] = wall_ns();
            busy_[index] = timed_on_cpu([&] { (*work)(worker); });
            ends_[index] = wall_ns();
            const std::unique_lock<std::mutex> lock{mutex_};
            if (++finished_ == begins_.size()) done_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::condition_variable done_;
    std::vector<double> begins_;
    std::vector<double> ends_;
    std::vector<double> busy_;
    const std::function<void(int)>* work_ = nullptr;
    std::uint64_t round_ = 0;
    std::atomic<std::size_t> arrived_{0};
    std::size_t finished_ = 0;
    bool is_over_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_WORKER_TEAM_HPP

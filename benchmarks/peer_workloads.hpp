// peer_workloads.hpp - the loops by which heap profilers are compared with each other.
//
//     batched_churn   256 stacks about 20 frames deep, 16 steps on each visit, 1024 blocks alive,
//                     4 places, 8 sizes between 16 and 512 bytes
//     handover        one thread allocates through such stacks, another one frees
//     grow_and_drop   a map, a hash map and a vector of strings grow to millions of live objects,
//                     then all of it is destroyed
//
// All are templates over the policy that allocates (allocation_policies.hpp).

#ifndef ALLOCSCOPE_BENCHMARKS_PEER_WORKLOADS_HPP
#define ALLOCSCOPE_BENCHMARKS_PEER_WORKLOADS_HPP

#include "allocation_policies.hpp"
#include "call_chain.hpp"
#include "churn_loop.hpp"
#include "handover_queue.hpp"
#include "interleaved_ratio.hpp"

#include <cstddef>        // size_t
#include <cstdint>        // uint32_t, uint64_t
#include <functional>     // equal_to, hash, less
#include <map>            // map
#include <memory>         // make_unique
#include <string>         // basic_string
#include <unordered_map>  // unordered_map
#include <utility>        // pair
#include <vector>         // vector

namespace benchmarks {

constexpr std::uint64_t batch_steps = 16;
constexpr std::uint32_t peer_paths = 256;

// Any of four places, chosen by the low bits of `choice`.
template <class Policy>
void* allocate_at_one_of_four(std::uint64_t choice, std::size_t size) {
    switch (choice & 3) {
        case 0:
            return allocate_here<Policy, 0>(size);
        case 1:
            return allocate_here<Policy, 1>(size);
        case 2:
            return allocate_here<Policy, 2>(size);
        default:
            return allocate_here<Policy, 3>(size);
    }
}

// One of 8 sizes at equal distances, smallest and largest included.
inline std::size_t one_of_eight_sizes(std::uint64_t choice, std::size_t smallest,
                                      std::size_t largest) {
    return smallest + (choice & 7) * (largest - smallest) / 7;
}

template <class Policy>
class batched_churn {
public:
    explicit batched_churn(std::uint64_t seed = 1)
        : ring_(1024, nullptr),
          random_(random_seed(seed)),
          path_random_(random_seed(seed + 1000)) {}
    batched_churn(const batched_churn&) = delete;
    batched_churn& operator=(const batched_churn&) = delete;
    ~batched_churn() {
        for (void* block : ring_) Policy::release(block);
    }

    ALLOCSCOPE_BENCHMARK_FRAME void run(std::uint64_t steps) {
        for (std::uint64_t done = 0; done < steps; done += batch_steps) {
            const auto path = static_cast<std::uint32_t>(next_random(path_random_) >> 33);
            call_chain<standard_chain>::descend(&batch, this, path % peer_paths);
        }
    }

private:
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t batch(void* object) {
        batched_churn& self = *static_cast<batched_churn*>(object);
        std::uint64_t sum = 0;
        for (std::uint64_t step = 0; step < batch_steps; ++step) {
            const std::uint64_t random = next_random(self.random_);
            void*& place = self.ring_[random % 1024];
            if (place != nullptr) {
                sum += *static_cast<std::uint64_t*>(place);
                Policy::release(place);
            }
            const std::size_t size = one_of_eight_sizes(random >> 40, 16, 512);
            place = allocate_at_one_of_four<Policy>(random >> 20, size);
            *static_cast<std::uint64_t*>(place) = size;
        }
        return sum;
    }

    std::vector<void*> ring_;
    std::uint64_t random_;
    std::uint64_t path_random_;
};

// Worker 0 allocates, worker 1 frees. With `stacks` 1 it is always the same stack.
template <class Policy>
class handover {
public:
    handover(std::uint32_t stacks, std::size_t smallest, std::size_t largest)
        : stacks_(stacks),
          smallest_(smallest),
          largest_(largest),
          queue_(std::make_unique<handover_queue>()) {}

    ALLOCSCOPE_BENCHMARK_FRAME void run(int worker, std::uint64_t steps) {
        std::uint64_t& random = worker == 0 ? give_path_ : take_path_;
        const leaf_function leaf = worker == 0 ? &give_batch : &take_batch;
        for (std::uint64_t done = 0; done < steps; done += batch_steps) {
            const auto path = static_cast<std::uint32_t>(next_random(random) >> 33);
            call_chain<standard_chain>::descend(leaf, this, path % stacks_);
        }
    }

private:
    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t give_batch(void* object) {
        handover& self = *static_cast<handover*>(object);
        for (std::uint64_t step = 0; step < batch_steps; ++step) {
            const std::uint64_t random = next_random(self.random_);
            const std::size_t size =
                one_of_eight_sizes(random >> 40, self.smallest_, self.largest_);
            void* block = allocate_at_one_of_four<Policy>(random >> 20, size);
            *static_cast<std::uint64_t*>(block) = size;
            self.queue_->give(block);
        }
        return batch_steps;
    }

    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t take_batch(void* object) {
        handover& self = *static_cast<handover*>(object);
        std::uint64_t sum = 0;
        for (std::uint64_t step = 0; step < batch_steps; ++step) {
            void* block = self.queue_->take();
            sum += *static_cast<std::uint64_t*>(block);
            Policy::release(block);
        }
        return sum;
    }

    std::uint32_t stacks_;
    std::size_t smallest_;
    std::size_t largest_;
    std::unique_ptr<handover_queue> queue_;
    alignas(64) std::uint64_t random_ = random_seed(1);
    std::uint64_t give_path_ = random_seed(2);
    alignas(64) std::uint64_t take_path_ = random_seed(3);
};

struct phase_times {
    double grow_ns = 0;
    double drop_ns = 0;
};

template <class Policy>
class grow_and_drop {
public:
    // Five objects are born in each step: two tree or hash nodes, three strings too long to be
    // stored in place.
    phase_times run(std::uint64_t objects) {
        phase_times result;
        steps_left_ = objects / 5;
        const double begin = wall_ns();
        all_ = std::make_unique<containers>();
        std::uint64_t path_random = random_seed(2);
        while (steps_left_ > 0) {
            const auto path = static_cast<std::uint32_t>(next_random(path_random) >> 33);
            call_chain<standard_chain>::descend(&grow, this, path % peer_paths);
        }
        const double grown = wall_ns();
        all_.reset();
        result.grow_ns = grown - begin;
        result.drop_ns = wall_ns() - grown;
        return result;
    }

private:
    using text = std::basic_string<char, std::char_traits<char>, policy_allocator<char, Policy>>;
    using entry = std::pair<const std::uint64_t, text>;

    struct containers {
        std::map<std::uint64_t, text, std::less<>, policy_allocator<entry, Policy>> ordered;
        std::unordered_map<std::uint64_t, text, std::hash<std::uint64_t>,
                           std::equal_to<std::uint64_t>, policy_allocator<entry, Policy>>
            hashed;
        std::vector<text, policy_allocator<text, Policy>> listed;
    };

    ALLOCSCOPE_BENCHMARK_FRAME static std::uint64_t grow(void* object) {
        grow_and_drop& self = *static_cast<grow_and_drop*>(object);
        for (std::uint64_t step = 0; step < batch_steps && self.steps_left_ > 0; ++step) {
            const std::uint64_t random = next_random(self.random_);
            const std::size_t length = 24 + 16 * (random >> 62);
            self.all_->ordered.emplace(random, text(length, 'o'));
            self.all_->hashed.emplace(random, text(length + 8, 'h'));
            self.all_->listed.emplace_back(length + 3, 'l');
            --self.steps_left_;
        }
        return self.steps_left_;
    }

    std::unique_ptr<containers> all_;
    std::uint64_t random_ = random_seed(1);
    std::uint64_t steps_left_ = 0;
};

}  // namespace benchmarks

#endif  // ALLOCSCOPE_BENCHMARKS_PEER_WORKLOADS_HPP

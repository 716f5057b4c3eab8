// model_sites.hpp - places that allocate, each on a line of its own.
//
// Room:     tests/model
// Called:   by the models; a snapshot's rows are told apart by these lines
// Threads:  any
// Memory:   what is asked for
//
// A dozen sites use the plain, array, nothrow and aligned forms in turn, and each is given back
// through its own form of delete. Three more are pools that report. Their objects lie one byte
// apart, and those of the first two at the same addresses.

#ifndef ALLOCSCOPE_TESTS_MODEL_MODEL_SITES_HPP
#define ALLOCSCOPE_TESTS_MODEL_MODEL_SITES_HPP

#include "../support/escape.hpp"

#include <allocscope/hooks.hpp>

#include <atomic>   // atomic
#include <cstddef>  // size_t
#include <new>      // align_val_t, nothrow

namespace allocscope_test {

// Hands out addresses and touches no memory behind them. Any number of threads.
class byte_pool {
public:
    constexpr byte_pool(const char* pool_name, char* bytes) noexcept
        : name(pool_name), bytes_(bytes) {}

    void* take() {
        for (;;) {
            const std::size_t at = next_.fetch_add(1, std::memory_order_relaxed) % byte_count;
            if (!is_taken_[at].exchange(true)) return bytes_ + at;
        }
    }
    void give_back(void* object) { is_taken_[static_cast<char*>(object) - bytes_].store(false); }

    static constexpr std::size_t byte_count = 1 << 16;
    const char* const name;

private:
    char* const bytes_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> is_taken_[byte_count] = {};
};

struct pool_object {};  // the type that rows of the third pool show

inline char pool_bytes[2][byte_pool::byte_count];
inline byte_pool inner_pool{"inner", pool_bytes[0]};
inline byte_pool outer_pool{"outer", pool_bytes[0]};
inline byte_pool typed_pool{"typed", pool_bytes[1]};

template <int Site>
struct model_site;

#define ALLOCSCOPE_TEST_SITE(site, ...)                                     \
    template <>                                                             \
    struct model_site<site> {                                               \
        static constexpr int line = __LINE__;                               \
        __attribute__((noinline)) static void* allocate(std::size_t size) { \
            return opaque(__VA_ARGS__);                                     \
        }                                                                   \
    };

// clang-format off
ALLOCSCOPE_TEST_SITE(0, ::operator new(size))
ALLOCSCOPE_TEST_SITE(1, ::operator new[](size))
ALLOCSCOPE_TEST_SITE(2, ::operator new(size, std::nothrow))
ALLOCSCOPE_TEST_SITE(3, ::operator new(size, std::align_val_t{64}))
ALLOCSCOPE_TEST_SITE(4, ::operator new(size))
ALLOCSCOPE_TEST_SITE(5, ::operator new[](size))
ALLOCSCOPE_TEST_SITE(6, ::operator new[](size, std::nothrow))
ALLOCSCOPE_TEST_SITE(7, ::operator new[](size, std::align_val_t{256}))
ALLOCSCOPE_TEST_SITE(8, ::operator new(size))
ALLOCSCOPE_TEST_SITE(9, ::operator new[](size))
ALLOCSCOPE_TEST_SITE(10, ::operator new(size, std::nothrow))
ALLOCSCOPE_TEST_SITE(11, ::operator new(size, std::align_val_t{32}, std::nothrow))
#define ALLOCSCOPE_TEST_POOL_SITE(site, pool, function)                     \
    template <>                                                             \
    struct model_site<site> {                                               \
        static constexpr int line = __LINE__;                               \
        __attribute__((noinline)) static void* allocate(std::size_t size) { \
            void* const object = pool.take();                               \
            function(object, size, pool.name);                              \
            return opaque(object);                                          \
        }                                                                   \
    };

ALLOCSCOPE_TEST_POOL_SITE(12, inner_pool, allocscope::report_allocation)
ALLOCSCOPE_TEST_POOL_SITE(13, outer_pool, allocscope::report_allocation)
ALLOCSCOPE_TEST_POOL_SITE(14, typed_pool, allocscope::report_allocation<pool_object>)
// clang-format on

#undef ALLOCSCOPE_TEST_POOL_SITE
#undef ALLOCSCOPE_TEST_SITE

constexpr int site_count = 15;
constexpr int first_pool_site = 12;

struct site_entry {
    void* (*allocate)(std::size_t);
    int line;
};

template <int Site>
constexpr site_entry entry_of_site() {
    return {&model_site<Site>::allocate, model_site<Site>::line};
}

constexpr site_entry site_table_of_the_model[site_count] = {
    entry_of_site<0>(),  entry_of_site<1>(),  entry_of_site<2>(),  entry_of_site<3>(),
    entry_of_site<4>(),  entry_of_site<5>(),  entry_of_site<6>(),  entry_of_site<7>(),
    entry_of_site<8>(),  entry_of_site<9>(),  entry_of_site<10>(), entry_of_site<11>(),
    entry_of_site<12>(), entry_of_site<13>(), entry_of_site<14>()};

// The family that the objects of a site are of.
inline const char* family_of_site(int site) {
    constexpr const char* pools[] = {"inner", "outer", "typed"};
    return site < first_pool_site ? "operator new" : pools[site - first_pool_site];
}

inline int line_of_site(int site) {
    return site_table_of_the_model[site].line;
}

// -1 when no site is on that line.
inline int site_of_line(int line) {
    for (int site = 0; site < site_count; ++site) {
        if (line_of_site(site) == line) return site;
    }
    return -1;
}

// Puts `depth` frames between the caller and the site.
__attribute__((noinline)) inline void* site_at_depth(int site, std::size_t size, int depth) {
    void* object = depth == 0 ? site_table_of_the_model[site].allocate(size)
                              : site_at_depth(site, size, depth - 1);
    barrier();
    return object;
}

inline void release_site(int site, void* object, [[maybe_unused]] std::size_t size) {
    object = opaque(object);
    switch (site) {
#if defined(__cpp_sized_deallocation)  // clang 14 has it only with -fsized-deallocation
        case 4:
            ::operator delete(object, size);
            break;
        case 5:
            ::operator delete[](object, size);
            break;
        case 7:
            ::operator delete[](object, size, std::align_val_t{256});
            break;
#else
        case 5:
            ::operator delete[](object);
            break;
        case 7:
            ::operator delete[](object, std::align_val_t{256});
            break;
#endif
        case 0:
            ::operator delete(object);
            break;
        case 1:
            ::operator delete[](object);
            break;
        case 2:
            ::operator delete(object, std::nothrow);
            break;
        case 3:
            ::operator delete (object, std::align_val_t{64});
            break;
        case 6:
            ::operator delete[](object, std::nothrow);
            break;
        case 11:
            ::operator delete (object, std::align_val_t{32}, std::nothrow);
            break;
        case 9:
            ::operator delete[](object);
            break;
        case 12:
            allocscope::report_free(object, inner_pool.name);
            inner_pool.give_back(object);
            break;
        case 13:
            allocscope::report_free(object, outer_pool.name);
            outer_pool.give_back(object);
            break;
        case 14:
            allocscope::report_free(object);
            typed_pool.give_back(object);
            break;
        default:
            ::operator delete(object);
            break;
    }
    barrier();
}

}  // namespace allocscope_test

#endif  // ALLOCSCOPE_TESTS_MODEL_MODEL_SITES_HPP

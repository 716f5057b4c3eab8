// What users may rely on about the public types, held by the compiler: this file has no test that
// runs. Two modules of one process exchange several of these types, so their layout is a promise.
#include <allocscope/allocscope.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace {

using allocscope::allocation_counts;
using allocscope::options;
using allocscope::pause_recording;
using allocscope::scope;
using allocscope::snapshot;

template <class T>
constexpr bool is_plain_value = std::is_trivially_copyable<T>::value&&
    std::is_standard_layout<T>::value&& std::is_trivially_destructible<T>::value;

// Sizes that the cards name.
static_assert(sizeof(allocation_counts) == 48, "allocation_counts: 48 bytes");
static_assert(sizeof(options) == 40, "options: 40 bytes");
static_assert(sizeof(scope) == 72, "scope: 72 bytes");
static_assert(sizeof(snapshot) == sizeof(void*), "snapshot: one pointer");

// What crosses from one module to another is plain data.
static_assert(is_plain_value<allocation_counts>, "handed over by value");
static_assert(is_plain_value<options>, "handed over by reference");
static_assert(is_plain_value<snapshot::row>, "lies in the block of a snapshot");
static_assert(is_plain_value<snapshot::frame>, "lies in the block of a snapshot");
static_assert(is_plain_value<snapshot::age>, "lies in the block of a snapshot");
static_assert(is_plain_value<snapshot::thread_part>, "lies in the block of a snapshot");
static_assert(is_plain_value<snapshot::window_info>, "lies in the block of a snapshot");
static_assert(is_plain_value<allocscope::detail::engine>, "found by every module");
static_assert(offsetof(allocscope::detail::engine, abi_version) == 0,
              "a module that was built with another version reads this first");

// A window is where it is; a snapshot travels.
static_assert(!std::is_copy_constructible<scope>::value, "a copied window would end twice");
static_assert(!std::is_copy_assignable<scope>::value, "a copied window would end twice");
static_assert(!std::is_copy_constructible<pause_recording>::value, "would be taken back twice");
static_assert(std::is_nothrow_default_constructible<snapshot>::value, "");
static_assert(std::is_nothrow_copy_constructible<snapshot>::value, "copies share");
static_assert(std::is_nothrow_move_constructible<snapshot>::value, "");
static_assert(std::is_nothrow_copy_assignable<snapshot>::value, "");
static_assert(std::is_nothrow_move_assignable<snapshot>::value, "");

// Reading numbers never fails and never allocates.
static_assert(noexcept(std::declval<const scope&>().counts()), "");
static_assert(noexcept(std::declval<const allocation_counts&>().live_objects()), "");
static_assert(noexcept(std::declval<const allocation_counts&>().live_bytes()), "");
static_assert(noexcept(std::declval<const snapshot&>().live_objects()), "");
static_assert(noexcept(std::declval<const snapshot&>().begin()), "");
static_assert(
    std::is_same<decltype(std::declval<const snapshot&>().begin()), const snapshot::row*>::value,
    "rows are read-only");

// Defaults, as README and api say.
constexpr options defaults{};
static_assert(defaults.record == allocscope::recording::exact, "");
static_assert(defaults.unwind == allocscope::unwinding::automatic, "");
static_assert(defaults.from == allocscope::threads::all, "");
static_assert(defaults.stack_frames == 24, "");
static_assert(defaults.sample_bytes == 512 * 1024, "");
static_assert(defaults.age_step == 0, "");

}  // namespace

int main() {
    return 0;
}

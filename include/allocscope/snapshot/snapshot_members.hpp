// snapshot_members.hpp - the members of class snapshot.
//
// Room:     snapshot (floor 7), not malloc-safe
// Called:   by snapshot/snapshot.hpp, which includes it at its end, and by code that lays out a
//           snapshot of its own
// Threads:  the reference count is atomic; everything else is only read
// Memory:   none; the block belongs to the engine that made it
//
// Two snapshots have no block of their own: the one that belongs to no window, and the one whose
// memory was refused. Both are constants with a reference count of 0, which never changes.

#ifndef ALLOCSCOPE_SNAPSHOT_SNAPSHOT_MEMBERS_HPP
#define ALLOCSCOPE_SNAPSHOT_SNAPSHOT_MEMBERS_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/snapshot/snapshot.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr snapshot_data constant_snapshot(const char* not_recording) noexcept {
    return {0,
            nullptr,
            nullptr,
            0,
            0,
            0,
            {"",
             recording::exact,
             threads::all,
             0,
             0,
             {},
             0,
             nullptr,
             0,
             false,
             not_recording,
             0,
             0,
             {},
             0,
             false,
             0,
             0,
             nullptr,
             0,
             0,
             0,
             "",
             nullptr,
             0,
             false,
             0,
             nullptr,
             false,
             false,
             false,
             nullptr,
             0,
             0},
            nullptr,
            nullptr};
}

// Hidden: a shared symbol would keep a plugin from being unloaded.
__attribute__((__visibility__("hidden"))) inline constexpr snapshot_data snapshot_of_no_window =
    constant_snapshot("this snapshot comes from no window");
__attribute__((__visibility__("hidden"))) inline constexpr snapshot_data snapshot_without_memory =
    constant_snapshot("memory for the rows of this snapshot was refused");

// The snapshot to return if there was no memory for a block.
inline snapshot refused_snapshot() noexcept {
    return snapshot{
        const_cast<snapshot_data*>(&snapshot_without_memory)};  // count 0: never written
}

inline bool is_counted(const snapshot_data* data) noexcept {
    return data != nullptr && __atomic_load_n(&data->references, __ATOMIC_RELAXED) != 0;
}

// Relaxed is enough: the caller holds a reference, so the block cannot be freed in the meantime.
ALLOCSCOPE_FAST_PATH void add_reference(snapshot_data* data) noexcept {
    if (is_counted(data)) __atomic_add_fetch(&data->references, 1U, __ATOMIC_RELAXED);
}

// Release, so that this owner's reads come before the free; acquire for the last owner, which frees
// the block.
ALLOCSCOPE_FAST_PATH void drop_reference(snapshot_data* data) noexcept {
    if (!is_counted(data)) return;
    if (__atomic_sub_fetch(&data->references, 1U, __ATOMIC_ACQ_REL) == 0) data->release(data);
}

ALLOCSCOPE_FAST_PATH const snapshot_data& data_or_nothing(const snapshot_data* data) noexcept {
    return data != nullptr ? *data : snapshot_of_no_window;
}

// Whether a window was counted, even if there was no memory for its rows.
ALLOCSCOPE_FAST_PATH bool has_totals(const snapshot::window_info& info) noexcept {
    return info.not_recording[0] == '\0' || info.duration_ns != 0 || info.totals.allocations != 0;
}

}  // namespace detail

ALLOCSCOPE_FAST_PATH snapshot::snapshot() noexcept : data_(nullptr) {}

inline snapshot::snapshot(const snapshot& other) noexcept : data_(other.data_) {
    detail::add_reference(data_);
}

inline snapshot::snapshot(snapshot&& other) noexcept : data_(other.data_) {
    other.data_ = nullptr;
}

inline snapshot& snapshot::operator=(const snapshot& other) noexcept {
    detail::add_reference(other.data_);
    detail::drop_reference(data_);
    data_ = other.data_;
    return *this;
}

inline snapshot& snapshot::operator=(snapshot&& other) noexcept {
    if (this == &other) return *this;
    detail::drop_reference(data_);
    data_ = other.data_;
    other.data_ = nullptr;
    return *this;
}

inline snapshot::~snapshot() {
    detail::drop_reference(data_);
}

inline std::size_t snapshot::size() const noexcept {
    return detail::data_or_nothing(data_).row_count;
}

inline const snapshot::row* snapshot::begin() const noexcept {
    return detail::data_or_nothing(data_).rows;
}

inline const snapshot::row* snapshot::end() const noexcept {
    return begin() + size();
}

inline std::uint64_t snapshot::live_objects() const noexcept {
    const detail::snapshot_data& known = detail::data_or_nothing(data_);
    if (known.info.record == recording::counters) return known.info.totals.live_objects();
    return known.live_objects;
}

inline std::uint64_t snapshot::live_bytes() const noexcept {
    const detail::snapshot_data& known = detail::data_or_nothing(data_);
    if (known.info.record == recording::counters) return known.info.totals.live_bytes();
    return known.live_bytes;
}

inline const snapshot::window_info& snapshot::info() const noexcept {
    return detail::data_or_nothing(data_).info;
}

namespace detail {

ALLOCSCOPE_FAST_PATH const stack_table* stacks_of(const snapshot_data* data) {
    const snapshot_data& known = data_or_nothing(data);
    return known.stacks != nullptr ? known.stacks(known) : nullptr;
}

}  // namespace detail

inline bool snapshot::has_stacks() const {
    return detail::stacks_of(data_) != nullptr;
}

inline snapshot::range<snapshot::stack> snapshot::stacks() const {
    const detail::stack_table* known = detail::stacks_of(data_);
    if (known == nullptr) return {*this, nullptr, 0};
    return {*this, known->stacks, known->stack_count};
}

inline snapshot::range<snapshot::module> snapshot::modules() const {
    const detail::stack_table* known = detail::stacks_of(data_);
    if (known == nullptr) return {*this, nullptr, 0};
    return {*this, known->modules, known->module_count};
}

inline snapshot::range<snapshot::thread> snapshot::allocating_threads() const {
    const detail::stack_table* known = detail::stacks_of(data_);
    if (known == nullptr) return {*this, nullptr, 0};
    return {*this, known->threads, known->thread_count};
}

inline snapshot snapshot::difference_from(const snapshot& earlier) const {
    const detail::snapshot_data& later_data = detail::data_or_nothing(data_);
    const detail::snapshot_data& earlier_data = detail::data_or_nothing(earlier.data_);
    // Only an engine's block has the function that makes another block.
    const auto subtract =
        later_data.difference != nullptr ? later_data.difference : earlier_data.difference;
    if (subtract == nullptr) return *this;
    detail::snapshot_data* made = subtract(later_data, earlier_data);
    return made != nullptr ? snapshot{made} : detail::refused_snapshot();
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SNAPSHOT_SNAPSHOT_MEMBERS_HPP

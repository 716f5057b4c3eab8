// check_result.hpp - whether a check held, and if not, a message and the evidence.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   returned by every check; read by tests, guards and integrations/
// Threads:  immutable: any number of threads may read one result; copying shares it
// Memory:   16 bytes; the message and the rows are the engine's and charged to no window
//
//     allocscope::check_result kept = leaks.finish();
//     if (!kept) std::cerr << kept.message() << '\n';

#ifndef ALLOCSCOPE_MEASURE_CHECK_RESULT_HPP
#define ALLOCSCOPE_MEASURE_CHECK_RESULT_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/config.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

class check_result {
public:
    check_result() noexcept;  // has not passed: nothing was checked

    // A check that could not be made has not passed: there were no hooks or no memory, or events
    // were lost that might have broken it.
    bool passed() const noexcept { return data_->has_passed; }
    explicit operator bool() const noexcept { return passed(); }

    // "" when the check passed. Otherwise several lines without a final line end: what was expected
    // and what happened, up to three places with their callers as file:line, and where the rest was
    // saved, if it was.
    const char* message() const noexcept { return data_->message; }

    // The window's numbers at the check.
    allocation_counts counts() const noexcept { return data_->counts; }

    // What caused the failure, by place; empty when the check passed. For a leak check: what is
    // alive and was not expected.
    const snapshot& rows() const noexcept { return rows_; }

    // For a leak check: what function-local statics allocated at their first use. That is no leak
    // and is in no row. 0 if the check passed by the numbers of the window alone.
    std::uint64_t first_use_objects() const noexcept { return data_->first_use_objects; }
    std::uint64_t first_use_bytes() const noexcept { return data_->first_use_bytes; }

    // The file with message and rows; "" when there is none. See docs/how_to/assertions.md.
    const char* saved_to() const noexcept { return data_->saved_to; }

    // For measure/ and the engine: takes over one reference.
    explicit check_result(detail::check_data* data) noexcept;
    const detail::check_data& data() const noexcept { return *data_; }

    check_result(const check_result& other) noexcept;
    check_result& operator=(const check_result& other) noexcept;
    ~check_result();

private:
    detail::check_data* data_;  // never null
    snapshot rows_;
};

// definitions

namespace detail {

inline snapshot rows_of(const check_data& data) noexcept {
    return data.rows != nullptr ? *data.rows : snapshot{};
}

// Wraps what a call of the engine returned, which is null when there was no memory.
inline check_result result_of(check_data* made) noexcept {
    return check_result{made != nullptr ? made : shared_check(check_without_memory)};
}

// What is asked of a check after its finish().
inline check_result result_after_end() noexcept {
    return check_result{shared_check(check_after_its_end)};
}

}  // namespace detail

inline check_result::check_result() noexcept
    : data_(detail::shared_check(detail::check_of_nothing)) {}

inline check_result::check_result(detail::check_data* data) noexcept
    : data_(data), rows_(detail::rows_of(*data)) {}

inline check_result::check_result(const check_result& other) noexcept
    : data_(other.data_), rows_(other.rows_) {
    detail::hold_check(data_);
}

inline check_result& check_result::operator=(const check_result& other) noexcept {
    detail::hold_check(other.data_);
    detail::drop_check(data_);
    data_ = other.data_;
    rows_ = other.rows_;
    return *this;
}

inline check_result::~check_result() {
    detail::drop_check(data_);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_MEASURE_CHECK_RESULT_HPP

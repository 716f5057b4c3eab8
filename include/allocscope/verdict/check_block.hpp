// check_block.hpp - builds the result of a check, and then holds it as one block.
//
// Room:     verdict (floor 11), not malloc-safe
// Called:   by verdict/check_window.hpp, verdict/guard_violation.hpp and verdict/fault_sweep.hpp
// Threads:  one thread builds it; the last owner, on any thread, frees it
// Memory:   pages of its own, freed with the last reference
//
//     head {check_data, rows} | message | path of the evidence
//
//     check_block made{counts};
//     made.message() << "budget: ...";            // it has failed
//     made.keep_rows(rows);
//     return made.finish();

#ifndef ALLOCSCOPE_VERDICT_CHECK_BLOCK_HPP
#define ALLOCSCOPE_VERDICT_CHECK_BLOCK_HPP

#include <allocscope/base/allocation_counts.hpp>
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/check_data.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/verdict/evidence_folder.hpp>

#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

class check_block {
public:
    explicit check_block(const allocation_counts& counts)
        : made_(*memory_.make<head>()), message_(memory_), saved_to_(memory_) {
        set_counts(counts);
    }
    check_block(const check_block&) = delete;
    check_block& operator=(const check_block&) = delete;

    const allocation_counts& counts() const noexcept { return made_.data.counts; }
    ALLOCSCOPE_INLINE void set_counts(const allocation_counts& counts) noexcept {
        made_.data.counts = counts;
    }
    ALLOCSCOPE_INLINE void set_unexpected(std::uint64_t objects, std::uint64_t bytes) noexcept {
        made_.data.unexpected_objects = objects;
        made_.data.unexpected_bytes = bytes;
    }
    ALLOCSCOPE_INLINE void set_first_use(std::uint64_t objects, std::uint64_t bytes) noexcept {
        made_.data.first_use_objects = objects;
        made_.data.first_use_bytes = bytes;
    }
    ALLOCSCOPE_INLINE void keep_rows(const snapshot& rows) noexcept {
        rows_ = rows;
        made_.data.rows = &made_.rows;
    }

    // A check that has a message has failed.
    text_out& message() noexcept { return message_; }

    // Saves the evidence to a file, if the user wants that. The message then says where the file
    // is, or why there is none.
    void save_evidence(const char* name) {
        text_out problem{memory_};
        save_evidence_of(rows_, name, message_.c_str(), saved_to_, problem);
        if (!saved_to_.empty()) message_ << "\n  saved in " << saved_to_.view();
        if (!problem.empty()) message_ << "\n  not saved: " << problem.view();
    }

    // The caller gets one reference.
    check_data* finish() {
        check_data& data = made_.data;
        data.references = 1;
        data.has_passed = message_.empty();
        data.release = &release;
        data.message = message_.c_str();
        data.saved_to = saved_to_.c_str();
        made_.rows = static_cast<snapshot&&>(rows_);
        made_.memory.take(memory_);
        return &data;
    }

private:
    struct head {
        check_data data{};  // first: a pointer to it is a pointer to the block
        snapshot rows;
        arena memory;  // where this head lies
    };

    static void release(check_data* data) {
        head& block = *reinterpret_cast<head*>(data);
        block.rows = snapshot{};
        arena last;
        last.take(block.memory);  // this frees the block
    }

    arena memory_;
    head& made_;  // in memory_; rows_ become its rows last, because nothing destroys these
    text_out message_;
    text_out saved_to_;
    snapshot rows_;
};

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_VERDICT_CHECK_BLOCK_HPP

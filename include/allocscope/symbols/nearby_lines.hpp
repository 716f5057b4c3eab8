// nearby_lines.hpp - the lines of the code around a call whose own line says little.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/debug_object.hpp, for calls without a line and those at a closing brace
// Threads:  one
// Memory:   the paths of the files that it reads are kept
//
// Compilers give some calls no line of their own. clang -O2 writes line 0 where it merged two
// branches, and g++ gives the line of the closing brace to arguments that are made before a call:
//
//     row    line 16      rows.push_back({1, "a text"});
//     row    line 27      }                                     std::string("a text") is here
//     row    line 16      the call of push_back
//
// The rows before and after, in the same function and the same inlined call, show which line was
// compiled there. For a row of code that was inlined into them, the place of that call counts.

#ifndef ALLOCSCOPE_SYMBOLS_NEARBY_LINES_HPP
#define ALLOCSCOPE_SYMBOLS_NEARBY_LINES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/inline_lookup.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/line_lookup.hpp>

#include <climits>  // INT_MAX
#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

inline int as_line(std::uint64_t number) {
    return number > INT_MAX ? 0 : static_cast<int>(number);
}

class nearby_lines {
public:
    // `calls` and `function` belong to the function around the address.
    ALLOCSCOPE_INLINE nearby_lines(const line_table& lines, kept_texts& texts,
                                   const inlined_calls& calls, const address_range& function,
                                   std::uint64_t address) noexcept
        : lines_(lines),
          texts_(texts),
          calls_(calls),
          function_(function),
          rows_(lines.sequence_of(address)),
          at_(rows_.last_before(address)) {}

    // The row of the address; null: none.
    ALLOCSCOPE_INLINE const line_table::row* row() const noexcept { return at_; }

    // The nearest earlier row's line that belongs to the file and differs from `line`, in the code
    // of the inlined call `call` (its number + 1; 0: the function itself). Lines less than `least`
    // do not count. 0: there is none. `facts` gets what else the row says.
    std::uint64_t before(std::size_t call, std::uint64_t line, const text& file,
                         std::uint64_t least = 1, lines_near_call* facts = nullptr) const {
        const line_table::row* at = at_;
        for (std::size_t i = 0; at != nullptr && i < most_rows; ++i, --at) {
            if (rows_.address_of(*at) < function_.low) break;
            const std::uint64_t found = line_at(*at, call, file, facts);
            if (found >= least && found != line) return found;
            if (at == rows_.begin) break;
        }
        return 0;
    }
    std::uint64_t behind(std::size_t call, std::uint64_t line, const text& file) const {
        const line_table::row* at = at_;
        for (std::size_t i = 0; at != nullptr && i < most_rows; ++i) {
            if (++at == rows_.end || rows_.address_of(*at) >= function_.high) break;
            const std::uint64_t found = line_at(*at, call, file);
            if (found != 0 && found != line) return found;
        }
        return 0;
    }

    // The innermost call in `call` that the nearest code behind the address belongs to (its number
    // + 1), if all of it up to there has lines of the library; 0: none. `part` gets that of the
    // first code behind it that is in this one, or is this one, and begins behind the address.
    std::size_t call_behind(std::size_t call, std::size_t& part) const {
        std::size_t first = 0;
        std::size_t around = call;
        const line_table::row* at = at_;
        while (at != nullptr && ++at < rows_.end && rows_.address_of(*at) < function_.high) {
            if (!is_standard_header(lines_.path_of(at->file, texts_))) break;
            const std::size_t innermost = calls_.innermost_at(rows_.address_of(*at));
            if (innermost == call) continue;
            if (!is_inside(innermost, around)) break;
            around = innermost;
            if (first == 0) first = innermost;
            if (!begins_behind(innermost)) continue;
            part = innermost;
            break;
        }
        return first;
    }

    // The outermost call of the library around `inner` that code of the user makes in `call`; 0:
    // there is none.
    std::size_t library_call_around(std::size_t inner, std::size_t call) const {
        std::size_t found = 0;
        for (; inner != call; inner = calls_[inner - 1].parent) {
            if (inner == 0) return 0;
            const text caller = lines_.path_of(calls_[inner - 1].call_file, texts_);
            if (is_standard_header(caller)) {
                found = 0;
            } else if (found == 0) {
                found = inner;
            }
        }
        return found;
    }

    // The innermost call of the library around `inner` that code of the user makes, if that code
    // was inlined in `call` and begins before the address; 0: there is none.
    std::size_t call_of_inlined_user(std::size_t inner, std::size_t call) const {
        for (; inner != call && inner != 0; inner = calls_[inner - 1].parent) {
            if (is_standard_header(lines_.path_of(calls_[inner - 1].call_file, texts_))) continue;
            const std::size_t user = calls_[inner - 1].parent;
            return user != call && !begins_behind(user) ? inner : 0;
        }
        return 0;
    }

    // Whether all code of an inlined call lies behind the address.
    ALLOCSCOPE_PURE bool begins_behind(std::size_t call) const {
        return calls_.begin_of(call, function_.low) > rows_.address_of(*at_);
    }

    // The lines around a frame's call, with its own line left out.
    lines_near_call around(std::size_t call, const code_frame& frame) const {
        const auto line = static_cast<std::uint64_t>(frame.line);
        lines_near_call found;
        found.before = as_line(before(call, line, frame.file, 1, &found));
        if (!frame.is_nearby) found.behind = as_line(behind(call, line, frame.file));
        return found;
    }

    // The same, where the inlined code begins that `here` is about. But its first instructions may
    // have been moved into the statement before, or to the start of the function: then `here`.
    lines_near_call or_else(const lines_near_call& here, std::size_t call,
                            const code_frame& frame) const {
        const lines_near_call begin = around(call, frame);
        const bool is_between = begin.before != 0 && begin.before != begin.behind;
        const bool is_moved = here.behind == 0 || here.behind < here.before;
        return !here.begins_statement && (is_between || is_moved) ? begin : here;
    }

    // A piece of the function's code that has one of the places in a file.
    struct code_piece {
        const line_table::row* row;  // null: there is no more
        std::size_t place;           // the number of its place
        std::uint64_t begin;
        std::uint64_t end;
    };
    // The first piece behind another one, or of the function if that is null.
    code_piece next_piece(const line_table::row* behind, const text& file,
                          const source_places& places) const {
        const line_table::row* at =
            behind != nullptr ? behind + 1 : rows_.last_before(function_.low);
        const line_table::row* const last = rows_.last_before(function_.high - 1);
        for (; at != nullptr && at <= last; ++at) {
            const std::size_t number = places.find(at->line, at->column);
            if (number == places.count() || lines_.path_of(at->file, texts_) != file) continue;
            const std::uint64_t end = at < last ? rows_.address_of(at[1]) : function_.high;
            return {at, number, rows_.address_of(*at), end};
        }
        return {nullptr, 0, 0, 0};
    }

private:
    static constexpr std::size_t most_rows = 256;

    ALLOCSCOPE_PURE bool is_inside(std::size_t inner, std::size_t outer) const {
        while (inner != outer && inner != 0) inner = calls_[inner - 1].parent;
        return inner == outer;
    }

    // Whether no code has the row: it begins a statement of `call`, whose first code is that of a
    // call that was inlined.
    bool begins_statement(const line_table::row& row, std::size_t call, const text& file) const {
        const line_table::row* const next = &row + 1;
        const std::uint64_t at = rows_.address_of(row);
        return next != rows_.end && rows_.address_of(*next) == at &&
               calls_.innermost_at(at - 1) == call && lines_.path_of(row.file, texts_) == file;
    }

    // The line of `call` while the row's code runs: the row's line, or the line of a call inlined
    // there.
    std::uint64_t line_at(const line_table::row& row, std::size_t call, const text& file,
                          lines_near_call* facts = nullptr) const {
        std::uint64_t number = row.file;
        std::uint64_t line = row.line;
        std::size_t i = calls_.innermost_at(rows_.address_of(row));
        const bool begins = i != call && begins_statement(row, call, file);
        if (begins) i = call;
        if (facts != nullptr) facts->before_column = i == call ? as_line(row.column) : 0;
        if (facts != nullptr) facts->begins_statement = begins;
        while (i != call) {
            if (i == 0) return 0;  // the row belongs to a caller of `call`
            const inlined_call& inner = calls_[i - 1];
            number = inner.call_file;
            line = inner.call_line;
            i = inner.parent;
        }
        const text path = lines_.path_of(number, texts_);
        return path.data() == file.data() || path == file ? line : 0;
    }

    const line_table& lines_;
    kept_texts& texts_;
    const inlined_calls& calls_;
    const address_range& function_;
    const line_table::row_range rows_;  // the sequence that holds the address
    const line_table::row* const at_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_NEARBY_LINES_HPP

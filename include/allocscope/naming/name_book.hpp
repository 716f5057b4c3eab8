// name_book.hpp - what the stacks of a process are called, each worked out once.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   when a snapshot is made
// Threads:  one at a time, under the naming lock; snapshots keep the book they point into
// Memory:   a few hundred bytes for each distinct stack, until the last window and the last
//           snapshot that uses it are gone
//
//     stack -> named_stack {path, line, type, function, frames}
//                 found again by the hash of its addresses, compared address by address
//
// A second report of the same places therefore costs no symbol look-up at all, and its rows point
// to the texts and frames kept here.

#ifndef ALLOCSCOPE_NAMING_NAME_BOOK_HPP
#define ALLOCSCOPE_NAMING_NAME_BOOK_HPP

#include <allocscope/config.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/symbolizer.hpp>
#include <allocscope/types/frame_rule.hpp>
#include <allocscope/types/shorten_paths.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <cstddef>        // size_t
#include <cstdint>        // uint32_t, uint64_t, uintptr_t
#include <cstring>        // memcmp
#include <deque>          // deque
#include <string>         // string
#include <unordered_map>  // unordered_multimap
#include <unordered_set>  // unordered_set
#include <vector>         // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// A stack with everything a row says of it. Texts belong to the book.
struct named_stack {
    std::vector<std::uintptr_t> addresses;
    const char* path = "";   // of the user's frame; "" when it has no line
    const char* place = "";  // when there is no line: the function, else the module
    int line = 0;
    const char* type = "?";
    const char* function = "";
    std::uint64_t offset = 0;
    std::vector<snapshot::frame> frames;
    std::size_t user_frame = 0;
    bool is_type_final = false;  // false: a live object's vtable might still tell
    std::uint64_t rule_version = 0;
};

// What the symbol tables say of a stack. `frames` point into `names`.
struct symbol_stack {
    std::vector<symbolize::code_frame> names;
    std::vector<snapshot::frame> frames;
    std::size_t user_frame = 0;
};

class name_book {
public:
    name_book() = default;
    name_book(const name_book&) = delete;
    name_book& operator=(const name_book&) = delete;

    // Before the stacks of a snapshot are asked for: libraries may have come and gone.
    void refresh() {
        if (symbols_.refresh_modules()) by_hash_.clear();
    }

    // After them: the files that were read are not needed until the next new stack.
    void rest() { symbols_.release_debug_data(); }

    // The stack's names, worked out when it is seen for the first time.
    named_stack& find(std::uint64_t hash, const std::uintptr_t* addresses, std::size_t count,
                      const symbolize::frame_rule& rule) {
        if (named_stack* found = known(hash, addresses, count, rule)) return *found;
        stacks_.emplace_back();
        named_stack& made = stacks_.back();
        made.addresses.assign(addresses, addresses + count);
        made.rule_version = rule.version();
        name(made, rule);
        by_hash_.emplace(hash, &made);
        has_new_ = true;
        return made;
    }

    // Whether find() would work out nothing.
    bool knows(std::uint64_t hash, const std::uintptr_t* addresses, std::size_t count,
               const symbolize::frame_rule& rule) const {
        return known(hash, addresses, count, rule) != nullptr;
    }

    // A stack with the names of the symbol tables alone: a frame for each address. Not kept.
    symbol_stack symbols_of(const std::uintptr_t* addresses, std::size_t count,
                            const symbolize::frame_rule& rule) {
        symbol_stack made;
        made.names.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            made.names[i].function = symbols_.function_symbol_at(addresses[i] - 1);
        }
        for (std::size_t i = 0; i < count; ++i) {
            made.frames.push_back(
                {made.names[i].function.c_str(), "", 0, 0, false, addresses[i] - 1, "", 0});
        }
        made.user_frame = symbolize::user_frame(made.names, rule);
        return made;
    }

    // The type as the vtable that a live object of the stack points to has it.
    void settle_type(named_stack& stack, std::uintptr_t first_word) {
        stack.is_type_final = true;
        const std::string symbol = symbols_.data_symbol_at(first_word);
        if (symbol.empty()) return;
        const std::string type = symbolize::type_from_vtable(symbol);
        if (!type.empty()) stack.type = keep(type);
    }

    const char* keep(const std::string& text) { return texts_.insert(text).first->c_str(); }

    bool has_new() const noexcept { return has_new_; }
    void forget_new() noexcept { has_new_ = false; }

    std::size_t stack_count() const noexcept { return stacks_.size(); }
    std::uint32_t references = 1;  // under the naming lock

private:
    using code_frame = symbolize::code_frame;
    using code_location = symbolize::code_location;

    named_stack* known(std::uint64_t hash, const std::uintptr_t* addresses, std::size_t count,
                       const symbolize::frame_rule& rule) const {
        const auto range = by_hash_.equal_range(hash);
        for (auto at = range.first; at != range.second; ++at) {
            named_stack& found = *at->second;
            if (found.rule_version == rule.version() && found.addresses.size() == count &&
                std::memcmp(found.addresses.data(), addresses, count * sizeof(*addresses)) == 0) {
                return &found;
            }
        }
        return nullptr;
    }

    struct whose {
        const code_location* location;
        bool is_outermost;  // of its location: the symbol's offset is this frame's
    };

    void name(named_stack& stack, const symbolize::frame_rule& rule) {
        std::vector<code_frame> frames;
        std::vector<whose> owners;
        for (const std::uintptr_t address : stack.addresses) {
            const code_location& location = symbols_.resolve(address - 1);
            add_frames(location, frames, owners);
        }
        const std::size_t user = place_of(frames, owners, rule);
        stack.user_frame = user;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            stack.frames.push_back(kept_frame(frames[i], *owners[i].location));
        }
        const symbolize::type_answer type = symbolize::name_type(frames, sources_);
        if (type.is_known()) stack.type = keep(type.name);
        stack.is_type_final = type.is_known();
        if (user < frames.size()) place(stack, frames[user], *owners[user].location);
    }

    // The user's frame. Without any name to go by, as in a stripped program, the first frame that
    // is at least not in one of the system's libraries.
    static std::size_t place_of(const std::vector<code_frame>& frames,
                                const std::vector<whose>& owners,
                                const symbolize::frame_rule& rule) {
        const std::size_t user = symbolize::user_frame(frames, rule);
        if (user < frames.size() && !rule.is_library(frames[user])) return user;
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const bool is_nameless = frames[i].function.empty() && frames[i].file.empty();
            if (is_nameless && !is_system_library(owners[i].location->module)) return i;
        }
        return user;
    }

    static bool is_system_library(const std::string& module) {
        if (module.empty()) return true;
        const std::size_t slash = module.rfind('/');
        const std::string name = slash == std::string::npos ? module : module.substr(slash + 1);
        for (const char* start : {"libc.so", "libc-", "libstdc++.so", "libc++.so", "libc++abi.so",
                                  "libgcc_s.so", "libm.so", "libpthread.so", "ld-linux"}) {
            if (name.rfind(start, 0) == 0) return true;
        }
        return false;
    }

    static void add_frames(const code_location& location, std::vector<code_frame>& frames,
                           std::vector<whose>& owners) {
        if (location.frames.empty()) {
            frames.emplace_back();
            owners.push_back({&location, true});
        }
        for (const code_frame& frame : location.frames) {
            frames.push_back(frame);
            owners.push_back({&location, &frame == &location.frames.back()});
        }
    }

    snapshot::frame kept_frame(const code_frame& frame, const code_location& location) {
        return {keep(frame.function),  keep(frame.file),      frame.line,
                frame.column,          frame.is_inlined,      location.address,
                keep(location.module), location.module_offset};
    }

    void place(named_stack& stack, const code_frame& frame, const code_location& location) {
        stack.function = keep(frame.function);
        if (frame.line != 0 && !frame.file.empty()) {
            stack.path = keep(symbolize::tidy_path(frame.file));
            stack.line = frame.line;
        } else if (!location.symbol.empty()) {
            stack.place = keep(location.symbol);
            stack.offset = location.symbol_offset;
        } else {
            const std::size_t slash = location.module.rfind('/');
            stack.place = keep(slash == std::string::npos ? location.module
                                                          : location.module.substr(slash + 1));
            stack.offset = location.module_offset;
        }
    }

    symbolize::symbolizer symbols_;
    symbolize::source_cache sources_;
    std::unordered_set<std::string> texts_;
    std::deque<named_stack> stacks_;  // stay where they are
    std::unordered_multimap<std::uint64_t, named_stack*> by_hash_;
    bool has_new_ = false;
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_NAMING_NAME_BOOK_HPP

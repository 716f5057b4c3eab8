// name_book.hpp - the names of the stacks of a process; each is found once.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/rows_of_window.hpp, naming/stacks_of_window.hpp and verdict/, when something
//           is reported
// Threads:  one at a time, under the naming lock; snapshots keep the book they point into
// Memory:   a few hundred bytes for each distinct stack, until the last window and the last
//           snapshot that uses the book are gone
//
//     stack -> named_stack {path, line, type, function, frames}
//                 found again by the hash of its addresses; then all addresses are compared
//
// A stack consists of its addresses and the modules that contained them (naming/stack_modules.hpp).
// So its names stay valid when a module is unloaded and another one takes its place.
//
// A second report of the same places therefore needs no symbol look-up at all, and its rows point
// to the texts and frames kept here. All texts end with a zero byte.

#ifndef ALLOCSCOPE_NAMING_NAME_BOOK_HPP
#define ALLOCSCOPE_NAMING_NAME_BOOK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/book_texts.hpp>
#include <allocscope/naming/named_stack.hpp>
#include <allocscope/naming/object_types.hpp>
#include <allocscope/naming/stack_index.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/naming/stack_namer.hpp>
#include <allocscope/places/frame_rule.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/symbolizer.hpp>
#include <allocscope/types/type_answer.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The names of a stack in the symbol tables: one frame for each address.
struct symbol_stack {
    list<snapshot::frame> frames;
    std::size_t user_frame = 0;
};

class name_book {
public:
    name_book() = default;
    name_book(const name_book&) = delete;
    name_book& operator=(const name_book&) = delete;

    // Call it before the stacks of a snapshot are looked up: libraries may have come and gone.
    void refresh() {
        met_.refresh();
        if (!symbols_.refresh_modules()) return;
        stacks_.drop_passing();
        names_.rest();
    }

    // Call it afterwards: the files that were read are not needed until the next new stack.
    void rest() {
        names_.rest();
        sizes_.clear();
        symbols_.release_debug_data();
        scratch_.release();
    }

    // The names of the stack. They are found when the stack is seen for the first time.
    named_stack& find(const known_stack& stack, const symbolize::frame_rule& rule) {
        const stack_modules modules{stack, met_};
        const std::size_t version = rule.version();
        if (named_stack* found = stacks_.find(stack, modules.key(), version)) return *found;
        auto* made = kept_.make<named_stack>();
        made->hash = static_cast<std::uint32_t>(stack.hash);
        made->modules = modules.key();
        made->is_lasting = modules.is_certain();
        made->rule_version = static_cast<std::uint32_t>(version);
        made->tag = stack.tag;
        names_.name(*made, stack, modules, rule);
        if (!symbols_.has_all_files()) made->is_lasting = false;
        stacks_.add(*made);
        ++stack_count_;
        has_new_ = true;
        return *made;
    }

    // Stacks with these hashes will be looked up soon, and later.
    ALLOCSCOPE_INLINE void expect(std::uint64_t soon, std::uint64_t later) const noexcept {
        stacks_.expect(soon, later);
    }

    // Whether find() would find the names at once.
    ALLOCSCOPE_INLINE bool knows(const known_stack& stack,
                                 const symbolize::frame_rule& rule) const {
        return stacks_.find(stack, stack_modules{stack, met_}.key(), rule.version()) != nullptr;
    }

    // A stack with only the names of the symbol tables, made in `memory`.
    symbol_stack symbols_of(arena& memory, const known_stack& stack,
                            const symbolize::frame_rule& rule) {
        const stack_modules modules{stack, met_};
        symbol_stack made{list<snapshot::frame>{memory}, 0};
        list<symbolize::code_frame> names{memory};
        for (std::uint32_t i = 0; i < stack.count; ++i) {
            const std::uintptr_t address = stack.addresses[i] - 1;
            symbolize::code_frame name;
            name.function = symbols_.function_symbol_at(address, memory, modules[i]);
            names.push_back(name);
            made.frames.push_back({name.function.data(), "", 0, 0, false, address, "", 0});
        }
        made.user_frame = symbolize::user_frame(memory, names, rule);
        return made;
    }

    // Settles the type with the help of live objects of the stack, and the first word of the first
    // object. `count` is 0 if all are gone, and were as large as the block.
    void settle_type(named_stack& stack, const sample_block* blocks, std::uint32_t count,
                     std::uintptr_t first_word) {
        const borrowed_memory meanwhile{scratch_};
        symbolize::type_answer type = stack_namer::answer_of(stack);
        const bool was_known = type.is_known();
        ask_objects({symbols_, scratch_, sizes_}, stack, blocks, count, first_word, type);
        using told = named_stack::told;
        const bool is_proven = type.is_known() && !was_known;
        stack.told_by_objects = count != 0 || is_proven ? told::all
                                : type.is_known()       ? told::size
                                                        : told::nothing;
        names_.set_type(stack, type);
    }

    // The only copy of an equal text.
    ALLOCSCOPE_INLINE const char* keep(const text& wanted) { return texts_.keep(wanted); }

    // The modules at the time of refresh(): see symbolize::symbolizer.
    template <class Visit>
    ALLOCSCOPE_INLINE void for_each_module(const Visit& visit) {
        symbols_.for_each_module(visit);
    }

    ALLOCSCOPE_INLINE bool has_new() const noexcept { return has_new_; }
    ALLOCSCOPE_INLINE void forget_new() noexcept { has_new_ = false; }

    ALLOCSCOPE_INLINE std::size_t stack_count() const noexcept { return stack_count_; }

private:
    friend name_book* make_book();
    friend void hold_book(name_book& book) noexcept;
    friend void drop_book(name_book& book) noexcept;

    arena home_;  // contains the book itself
    arena kept_;
    arena scratch_;
    symbolize::symbolizer symbols_{kept_};
    known_sizes sizes_;
    book_texts texts_{symbols_.texts(), scratch_};
    met_search met_;
    stack_index stacks_{kept_};
    stack_namer names_{kept_, scratch_, symbols_, texts_};
    std::size_t stack_count_ = 0;
    std::uint32_t references_ = 1;
    bool has_new_ = false;
};

// The book has one reference. Throws std::bad_alloc.
inline name_book* make_book() {
    arena home;
    name_book* made = home.make<name_book>();
    made->home_.take(home);
    return made;
}

ALLOCSCOPE_INLINE void hold_book(name_book& book) noexcept {
    __atomic_add_fetch(&book.references_, 1U, __ATOMIC_RELAXED);
}

// Release, so that this owner's reads come before the end; acquire for the last owner, which frees
// the book.
inline void drop_book(name_book& book) noexcept {
    if (__atomic_sub_fetch(&book.references_, 1U, __ATOMIC_ACQ_REL) != 0) return;
    arena last;
    last.take(book.home_);
    book.~name_book();
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_NAME_BOOK_HPP

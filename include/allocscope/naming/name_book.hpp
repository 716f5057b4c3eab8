// name_book.hpp - what the stacks of a process are called, each worked out once.
//
// Room:     naming (floor 9), not malloc-safe
// Called:   by naming/rows_of_window.hpp and verdict/check_window.hpp, when something is reported
// Threads:  one at a time, under the naming lock; snapshots keep the book they point into
// Memory:   a few hundred bytes for each distinct stack, until the last window and the last
//           snapshot that uses it are gone
//
//     stack -> named_stack {path, line, type, function, frames}
//                 found again by the hash of its addresses, compared address by address
//
// A stack is its addresses and the modules that they were in (naming/stack_modules.hpp). What is
// named so stays, also when a module is unloaded and another one lies there.
//
// A second report of the same places therefore costs no symbol look-up at all, and its rows point
// to the texts and frames kept here. All texts end with a zero byte.

#ifndef ALLOCSCOPE_NAMING_NAME_BOOK_HPP
#define ALLOCSCOPE_NAMING_NAME_BOOK_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/platform/probe_memory.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/symbolizer.hpp>
#include <allocscope/types/closing_brace.hpp>
#include <allocscope/types/coroutine_frame.hpp>
#include <allocscope/types/frame_rule.hpp>
#include <allocscope/types/known_frames.hpp>
#include <allocscope/types/module_rule.hpp>
#include <allocscope/types/pretty_function.hpp>
#include <allocscope/types/shorten_paths.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/type_ladder.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcmp, memcpy

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// A stack with everything a row says of it. Texts belong to the book; equal ones of path, place and
// type are one.
struct named_stack {
    const std::uintptr_t* addresses = nullptr;
    std::size_t address_count = 0;
    std::uint64_t modules = 0;      // stack_modules::key
    list<const met_module*> homes;  // of its frames, each once
    bool is_lasting = false;        // false: good until a module comes or goes
    std::size_t rule_version = 0;
    std::uint32_t tag = 0;
    named_stack* next = nullptr;  // with the same hash
    const char* path = "";        // of the user's frame; "" when it has no line
    const char* place = "";       // when there is no line: the function, else the module
    int line = 0;
    symbolize::type_evidence evidence = symbolize::type_evidence::none;
    bool is_array = false;  // type_answer
    const char* type = no_type;
    const char* scoped_type = no_type;  // as the debug information has it: with unnamed namespaces
    const char* function = "";
    std::uint64_t offset = 0;
    list<snapshot::frame> frames;
    std::size_t user_frame = 0;
    std::size_t maker_frame = 0;  // the innermost function that is not the standard library's
    std::uintptr_t asking = 0;    // address of the frame that wanted the memory; 0: none
    bool is_type_final = false;   // false: a live object might still tell

    static constexpr const char* no_type = "?";
};

// A live object of a stack.
struct sample_block {
    std::uintptr_t address;
    std::uint64_t bytes;

    static constexpr std::uint32_t most = 4;  // that are looked at
};

// What the symbol tables say of a stack: a frame for each address.
struct symbol_stack {
    list<snapshot::frame> frames;
    std::size_t user_frame = 0;
};

class name_book {
public:
    name_book() = default;
    name_book(const name_book&) = delete;
    name_book& operator=(const name_book&) = delete;

    // Before the stacks of a snapshot are asked for: libraries may have come and gone.
    void refresh() {
        if (!symbols_.refresh_modules()) return;
        for (auto& each : by_hash_) {
            named_stack** place = &each.value;
            while (*place != nullptr) {
                if ((*place)->is_lasting) {
                    place = &(*place)->next;
                } else {
                    *place = (*place)->next;
                }
            }
        }
    }

    // After them: the files that were read are not needed until the next new stack.
    void rest() {
        symbols_.release_debug_data();
        sources_.release();
    }

    // The stack's names, worked out when it is seen for the first time.
    named_stack& find(const known_stack& stack, const symbolize::frame_rule& rule) {
        const stack_modules modules{stack};
        if (named_stack* found = known(stack, modules, rule)) return *found;
        auto* made = kept_.make<named_stack>();
        const std::size_t bytes = stack.count * sizeof *stack.addresses;
        auto* copied = static_cast<std::uintptr_t*>(kept_.allocate(bytes));
        if (bytes != 0) std::memcpy(copied, stack.addresses, bytes);
        made->addresses = copied;
        made->address_count = stack.count;
        made->modules = modules.key();
        made->is_lasting = modules.is_certain();
        made->rule_version = rule.version();
        made->tag = stack.tag;
        name(*made, modules, rule);
        named_stack*& first = by_hash_[stack.hash];
        made->next = first;
        first = made;
        ++stack_count_;
        has_new_ = true;
        return *made;
    }

    // Whether find() would work out nothing.
    bool knows(const known_stack& stack, const symbolize::frame_rule& rule) const {
        return known(stack, stack_modules{stack}, rule) != nullptr;
    }

    // A stack with the names of the symbol tables alone, made in `memory`.
    symbol_stack symbols_of(arena& memory, const known_stack& stack,
                            const symbolize::frame_rule& rule) {
        const stack_modules modules{stack};
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

    // The type, now that live objects of the stack are known: they may begin with the address of a
    // vtable, and the debug information tells how large the objects of a class are.
    void settle_type(named_stack& stack, const sample_block* blocks, std::uint32_t count) {
        const std::uint64_t bytes = blocks[0].bytes;
        std::uintptr_t first_word = 0;
        if (bytes >= sizeof first_word &&
            !probe_memory(blocks[0].address, &first_word, sizeof first_word)) {
            return;
        }
        stack.is_type_final = true;
        const borrowed_memory meanwhile{scratch_};
        bool is_certain = true;
        const met_module* home = home_of_data(stack, first_word, is_certain);
        text symbol;
        if (is_certain) symbol = symbols_.data_symbol_at(first_word, scratch_, home);
        if (!symbol.starts_with("vtable for ") || !are_alike(blocks, count, first_word)) {
            symbol = {};
        }
        symbolize::type_answer so_far{stack.scoped_type, stack.evidence, stack.is_array};
        symbolize::known_fits fits;
        if (so_far.is_known() && !so_far.is_array) {
            fits.of_answer = fit_at(stack, stack.asking, so_far.name, bytes);
        }
        if (!symbol.empty()) {
            const text type = symbol.substr(11);
            fits.of_vtable = fit_at(stack, stack.asking, type, bytes);
            // The unit that defines a class's virtual functions describes the class.
            std::uintptr_t functions[4] = {};
            if (fits.of_vtable == symbolize::size_fit::unknown) {
                probe_memory(first_word, functions, sizeof functions);
            }
            for (const std::uintptr_t function : functions) {
                if (fits.of_vtable != symbolize::size_fit::unknown || function == 0) break;
                fits.of_vtable = fit_at(stack, function, type, bytes);
            }
        }
        set_type(stack, symbolize::with_vtable(scratch_, so_far, symbol, fits));
    }

    // The one copy of an equal text.
    const char* keep(text wanted) {
        if (wanted.empty()) return "";
        if (const char* const* known_text = texts_.find(wanted)) return *known_text;
        const text kept = copy_of(kept_, wanted);
        texts_[kept] = kept.data();
        return kept.data();
    }

    // As they were at refresh(): see symbolize::symbolizer.
    template <class Visit>
    void for_each_module(const Visit& visit) {
        symbols_.for_each_module(visit);
    }

    bool has_new() const noexcept { return has_new_; }
    void forget_new() noexcept { has_new_ = false; }

    std::size_t stack_count() const noexcept { return stack_count_; }

private:
    friend name_book* make_book();
    friend void hold_book(name_book& book) noexcept;
    friend void drop_book(name_book& book) noexcept;

    using code_frame = symbolize::code_frame;
    using code_location = symbolize::code_location;

    named_stack* known(const known_stack& stack, const stack_modules& modules,
                       const symbolize::frame_rule& rule) const {
        named_stack* const* first = by_hash_.find(stack.hash);
        for (named_stack* at = first != nullptr ? *first : nullptr; at != nullptr; at = at->next) {
            if (at->rule_version == rule.version() && at->modules == modules.key() &&
                at->tag == stack.tag && at->address_count == stack.count &&
                (stack.count == 0 || std::memcmp(at->addresses, stack.addresses,
                                                 stack.count * sizeof *stack.addresses) == 0)) {
                return at;
            }
        }
        return nullptr;
    }

    // The module that a vtable at the address is in: one that the stack went through, else the only
    // one that was seen there. Null: what is there now.
    static const met_module* home_of_data(const named_stack& stack, std::uintptr_t address,
                                          bool& is_certain) noexcept {
        for (const met_module* home : stack.homes) {
            if (home->holds(address)) return home;
        }
        const met_module* only = nullptr;
        for (std::uint32_t i = 0; i < modules_met.count(); ++i) {
            const met_module* each = modules_met.at(i);
            if (each == nullptr || !each->holds(address)) continue;
            is_certain = only == nullptr || only->tag() == each->tag();
            only = each;
            if (!is_certain) return nullptr;
        }
        return only;
    }

    // What one of them says holds for all.
    static bool are_alike(const sample_block* blocks, std::uint32_t count,
                          std::uintptr_t first_word) noexcept {
        for (std::uint32_t i = 1; i < count; ++i) {
            std::uintptr_t word = 0;
            if (blocks[i].bytes < sizeof word ||
                !probe_memory(blocks[i].address, &word, sizeof word)) {
                continue;
            }
            if (word != first_word || blocks[i].bytes != blocks[0].bytes) return false;
        }
        return true;
    }

    // Whether a block of so many bytes can be one object of the type, as the unit of an address
    // describes it.
    symbolize::size_fit fit_at(const named_stack& stack, std::uintptr_t address, text type,
                               std::uint64_t bytes) {
        bool is_certain = true;
        const met_module* home = home_of_data(stack, address, is_certain);
        const symbolize::type_names* known =
            is_certain && address != 0 ? symbols_.types_at(address, home) : nullptr;
        return known != nullptr ? symbolize::compare_size(scratch_, type, *known, bytes)
                                : symbolize::size_fit::unknown;
    }

    // Where a type is asked for by a name in the source.
    struct asked_place {
        symbolize::symbolizer& symbols;
        std::uint64_t address;
        const met_module* home;

        static const symbolize::type_names* types(void* place) {
            const auto& asked = *static_cast<const asked_place*>(place);
            return asked.symbols.types_at(asked.address, asked.home);
        }
        static symbolize::name_kind kind(void* place, text name) {
            const symbolize::type_names* known = types(place);
            if (known == nullptr || !known->has(name)) return symbolize::name_kind::unknown;
            return known->is_template(name) ? symbolize::name_kind::class_template
                                            : symbolize::name_kind::type;
        }
        static text qualified(void* place, text name, text function) {
            const symbolize::type_names* known = types(place);
            return known != nullptr ? known->qualified(name, function) : text{};
        }
    };

    void set_type(named_stack& stack, const symbolize::type_answer& answer) {
        stack.scoped_type = answer.is_known() ? keep(answer.name) : named_stack::no_type;
        stack.type = answer.is_known()
                         ? keep(symbolize::without_unnamed_namespaces(scratch_, answer.name))
                         : named_stack::no_type;
        stack.evidence = answer.evidence;
        stack.is_array = answer.is_array;
    }

    void name(named_stack& stack, const stack_modules& modules, const symbolize::frame_rule& rule) {
        const borrowed_memory meanwhile{scratch_};
        stack.homes = list<const met_module*>{kept_};
        list<code_frame> frames{scratch_};
        list<const code_location*> owners{scratch_};  // of each frame
        for (std::uint32_t i = 0; i < stack.address_count; ++i) {
            const met_module* home = modules[i];
            if (home != nullptr && (stack.homes.empty() || stack.homes.back() != home)) {
                stack.homes.push_back(home);
            }
            const code_location& location = symbols_.resolve(stack.addresses[i] - 1, home);
            if (location.is_unloaded) stack.is_lasting = false;  // its file may come back
            if (location.frames.empty()) {
                frames.push_back({});
                owners.push_back(&location);
            }
            for (const code_frame& frame : location.frames) {
                frames.push_back(frame);
                owners.push_back(&location);
            }
        }
        find_place(stack, frames, owners, rule);
        const std::size_t asking = symbolize::asking_frame(scratch_, frames);
        text coroutine;
        if (asking < frames.size()) {
            coroutine = symbolize::coroutine_frame(scratch_, frames[asking], sources_);
        }
        if (stack.user_frame < frames.size()) {
            symbolize::leave_closing_brace(scratch_, frames, stack.user_frame, sources_);
        }
        stack.frames = list<snapshot::frame>{kept_};
        stack.frames.reserve(frames.size());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            stack.frames.push_back(kept_frame(frames[i], *owners[i]));
        }
        asked_place place_asked{symbols_, 0, nullptr};
        if (asking < frames.size()) {
            place_asked.address = stack.asking = owners[asking]->address;
            for (const met_module* home : stack.homes) {
                if (home->holds(place_asked.address)) place_asked.home = home;
            }
        }
        symbolize::type_answer type =
            symbolize::type_from_tag(scratch_, process.tags.type_of(stack.tag));
        if (!type.is_known()) {
            type =
                symbolize::name_type(scratch_, frames, sources_,
                                     {&asked_place::kind, &place_asked, &asked_place::qualified});
        }
        if (!type.is_known() && !coroutine.empty()) {
            type = {coroutine, symbolize::type_evidence::source_text, true};
        }
        set_type(stack, type);
        // What the source says may lack its namespaces, and a vtable has them.
        stack.is_type_final =
            type.is_known() && type.evidence != symbolize::type_evidence::source_text;
        if (stack.user_frame < frames.size()) {
            place(stack, frames[stack.user_frame], *owners[stack.user_frame]);
        }
    }

    // See types/module_rule.hpp.
    void find_place(named_stack& stack, const list<code_frame>& frames,
                    const list<const code_location*>& owners, const symbolize::frame_rule& rule) {
        list<symbolize::frame_owner> modules{scratch_};
        modules.reserve(owners.size());
        for (const code_location* owner : owners) {
            const auto known = owners_.insert(owner->module.data());
            if (known.is_new) {
                known.value = symbolize::owner_of(owner->module, owner->is_unloaded,
                                                  symbols_.is_program(owner->module));
            }
            modules.push_back(known.value);
        }
        const symbolize::asked_stack asked{scratch_, frames, modules, rule, known_frames_};
        stack.maker_frame = symbolize::maker_frame(asked);
        stack.user_frame = symbolize::user_frame_by_module(asked, {&name_book::own_folder, this},
                                                           stack.maker_frame);
    }

    // Looked for when a row might be placed in a library, and kept.
    static text own_folder(void* book) {
        auto& self = *static_cast<name_book*>(book);
        if (self.own_folder_ == nullptr) {
            const text file = self.symbols_.file_of_main();
            self.own_folder_ = symbolize::own_folder_of(self.kept_, file).data();
        }
        return self.own_folder_;
    }

    // What was resolved is kept as long as the book.
    snapshot::frame kept_frame(const code_frame& frame, const code_location& location) {
        return {pretty_name(frame.function),
                frame.file.data(),
                frame.line,
                frame.column,
                frame.is_inlined,
                location.address,
                location.module.data(),
                location.module_offset};
    }

    // `function` is a kept text.
    const char* pretty_name(text function) {
        const auto known = functions_.insert(function.data());
        if (known.is_new) known.value = keep(symbolize::pretty_function(scratch_, function));
        return known.value;
    }

    void place(named_stack& stack, const code_frame& frame, const code_location& location) {
        stack.function = pretty_name(frame.function);
        if (frame.line != 0 && !frame.file.empty()) {
            stack.path = keep(symbolize::tidy_path(scratch_, frame.file));
            stack.line = frame.line;
        } else if (!location.symbol.empty()) {
            const text symbol = pretty_name(location.symbol);
            stack.place =
                keep(symbols_.is_program(location.module)
                         ? symbol
                         : joined(scratch_, symbolize::file_name_of(location.module), "!", symbol));
            stack.offset = location.symbol_offset;
        } else {
            stack.place = keep(symbolize::file_name_of(location.module));
            stack.offset = location.module_offset;
        }
    }

    arena home_;  // where the book itself lies
    arena kept_;
    arena scratch_;
    symbolize::symbolizer symbols_{kept_};
    symbolize::source_cache sources_;
    symbolize::known_frames known_frames_{kept_};
    table<text, const char*> texts_{kept_};
    table<const void*, const char*> functions_{kept_};          // pretty, by the kept text
    table<const void*, symbolize::frame_owner> owners_{kept_};  // by the module's path, a kept text
    table<std::uint64_t, named_stack*> by_hash_{kept_};
    const char* own_folder_ = nullptr;  // "": there is none
    std::size_t stack_count_ = 0;
    std::uint32_t references_ = 1;
    bool has_new_ = false;
};

// With one reference. Throws std::bad_alloc.
inline name_book* make_book() {
    arena home;
    name_book* made = home.make<name_book>();
    made->home_.take(home);
    return made;
}

inline void hold_book(name_book& book) noexcept {
    __atomic_add_fetch(&book.references_, 1U, __ATOMIC_RELAXED);
}

// Release, so that this owner's reads come before the end; acquire for the last one, which ends it.
inline void drop_book(name_book& book) noexcept {
    if (__atomic_sub_fetch(&book.references_, 1U, __ATOMIC_ACQ_REL) != 0) return;
    arena last;
    last.take(book.home_);
    book.~name_book();
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_NAME_BOOK_HPP

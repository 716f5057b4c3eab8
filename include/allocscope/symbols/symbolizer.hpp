// symbolizer.hpp - finds module, function, file, line and inlined calls of addresses.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   when a report is made, never from a hook
// Threads:  one at a time
// Memory:   results, in the given arena: one code_location for each address, equal texts once.
//           Until release_debug_data() also the debug sections of the modules that were asked
//           about, and the locations that are not kept
//
// Everything is read in this process from the files of its modules, without a child process or the
// network. A file that was replaced after it was loaded is not believed: see expected_file.
//
//     symbolizer names{kept};
//     const code_location& location = names.resolve(return_address - 1);
//     location.frames[0].file;                      // "/home/me/example.cpp", zero-terminated
//     names.release_debug_data();                   // lasting locations stay valid

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/function_exits.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/module_functions.hpp>
#include <allocscope/symbols/module_list.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/written_link.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <new>      // placement new

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class symbolizer {
public:
    // `kept` must outlive this object.
    explicit symbolizer(arena& kept)
        : kept_(kept), texts_(kept), objects_(kept), gone_(kept), locations_(kept) {
        refresh_modules();
    }
    ALLOCSCOPE_INLINE ~symbolizer() { release_debug_data(); }
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    // How long a location is kept. An address that will hardly be asked for again need not be kept:
    // it is looked up each time.
    enum class lifetime { lasting, until_release };

    // The caller must have subtracted 1 from a return address. `home` is the module whose code was
    // at the address, loaded or not; null: the module that is there now. A lasting result is valid
    // as long as `kept`, another one until release_debug_data(). Without a home, it is valid only
    // until refresh_modules() finds that the module of the address is gone.
    const code_location& resolve(std::uint64_t address, const detail::met_module* home = nullptr,
                                 lifetime wanted = lifetime::lasting) {
        if (wanted == lifetime::until_release) return made_in(passing_memory_, address, home);
        const std::uint64_t key = address | (home != nullptr ? home->number * first_key : 0);
        code_location* const* known = locations_.find(key);
        if (known != nullptr && *known != nullptr) return **known;
        code_location& made = made_in(kept_, address, home);
        // The file of an unloaded module may come back.
        if (!made.is_unloaded) locations_[key] = &made;
        return made;
    }

    // The demangled name of the variable, vtable or typeinfo around an address, as in "vtable for
    // widget"; "" if there is none.
    ALLOCSCOPE_INLINE text data_symbol_at(std::uint64_t address, arena& memory,
                                          const detail::met_module* home = nullptr) {
        return symbol_at(symbol_kind::data, address, memory, home);
    }

    // The demangled function around an address, from the symbol table alone; "" if there is none.
    // It reads no debug information, and knows nothing about inlined calls. Subtract 1 from return
    // addresses.
    ALLOCSCOPE_INLINE text function_symbol_at(std::uint64_t address, arena& memory,
                                              const detail::met_module* home = nullptr) {
        return symbol_at(symbol_kind::function, address, memory, home);
    }

    // Where a function ended with a jump.
    struct jump_place {
        std::uint64_t behind;
        const detail::met_module* home;
    };

    // A function that ends with a call may jump, and is not on the stack then. Finds the jumps from
    // the function that is called before a return address to that of `inner`, or for null to one
    // that allocates, outermost first. None if a function on the way may have left by another jump.
    // Returns whether the call is one by a pointer, which may lead anywhere.
    bool find_jumps(std::uint64_t return_address, const code_location* inner,
                    const detail::met_module* home, list<jump_place>& found) {
        constexpr std::size_t most_jumps = 8;
        code_owner in = owner_of(return_address - 1, home);
        if (in.object == nullptr || !in.object->is_readable()) return false;
        code_target at = in.object->functions().code().called_by(return_address - in.base);
        if (inner != nullptr && begins_at(*inner, in, at)) return false;  // as nearly all calls
        if (at.address == 0) return true;
        // In libstdc++, operator new[] jumps to operator new.
        if (inner != nullptr && is_allocating(inner->symbol)) inner = nullptr;
        const std::uint64_t target = in.base + at.address;
        if (inner == nullptr && target == allocating_) return false;
        while (at.address != 0) {
            const bool is_known =
                !at.is_word && in.object->functions().anywhere_at(at.address).begins_at(at.address);
            if (!is_known) {
                if (!detail::names_another_process()) {
                    const auto link = links_.insert(in.base + at.address);
                    if (link.is_new) link.value = written_link(in.base + at.address, at.is_word);
                    at.address = link.value;
                    home = nullptr;
                    in = owner_of(at.address, home);
                    if (in.object == nullptr || !in.object->is_readable()) break;
                    at = {at.address - in.base, false};
                } else {
                    const link_end end = followed(inner, return_address, home, at);
                    if (end == link_end::sought) return false;
                    if (end == link_end::unknown) break;
                    in = owner_of(home->start, home);
                }
            }
            module_functions& functions = in.object->functions();
            const bool is_sought =
                inner == nullptr ? functions.allocates_at(at.address) : begins_at(*inner, in, at);
            if (is_sought && inner == nullptr && found.empty()) allocating_ = target;
            if (is_sought) return false;
            if (found.size() == most_jumps) break;
            const function_exit& exit = in.object->exits().only_exit(at.address);
            if (exit.behind == 0) break;
            found.push_back({in.base + exit.behind, home});
            if (inner == nullptr && exit.allocates) return false;
            at = exit.target;
        }
        found.clear();
        return false;
    }

    // For a call by a pointer: the address behind the only jump in the module by which the function
    // of `inner` can have been reached then, if only its name leads to that; 0: it is not certain.
    std::uint64_t only_jump_to(std::uint64_t return_address, const code_location& inner,
                               const detail::met_module* home) {
        const code_owner in = owner_of(return_address - 1, home);
        if (in.object == nullptr || !in.object->is_readable() || inner.module != in.path) return 0;
        const std::uint64_t begin = inner.module_offset - inner.symbol_offset;
        const std::uint64_t behind = in.object->exits().only_entry(begin);
        return behind == 0 || in.object->is_exported(begin) ? 0 : in.base + behind;
    }

    // What is known of the module of an address, which then is the linked one; null: nothing. Valid
    // until release_debug_data().
    debug_object* object_at(std::uint64_t& address, const detail::met_module* home) {
        const code_owner owner = owner_of(address, home);
        address -= owner.base;
        return owner.object;
    }

    // What is known of a module of the process that is being reported on; null if its file is gone.
    debug_object* object_of(const detail::met_module& module) {
        const code_owner owner = owner_of(module.start, &module);
        return owner.is_unloaded ? nullptr : owner.object;
    }

    // The function that the call before a return address means, if that is not the one at `callee`
    // but another one with equal code in the same module; null otherwise. The result is the
    // location of `callee`, but with the meant function as its only frame. Valid until
    // release_debug_data().
    const code_location* folded_at(std::uint64_t return_address, const code_location& callee,
                                   const detail::met_module* home) {
        const code_owner owner = owner_of(return_address - 1, home);
        code_frame frame;
        if (owner.object == nullptr ||
            !owner.object->find_folded(return_address - owner.base, callee.module_offset, frame)) {
            return nullptr;
        }
        auto* location = passing_memory_.make<code_location>();
        *location = callee;
        location->symbol = {};
        location->frames = list<code_frame>{passing_memory_};
        location->frames.push_back(frame);
        return location;
    }

    // Where names of functions and files are kept.
    kept_texts& texts() noexcept { return texts_; }

    // Whether the module of a location is the program itself.
    bool is_program(const text& module) const {
        if (detail::names_another_process()) {
            const detail::met_module* program = detail::modules_at_start.at(0);
            return program != nullptr && module == text{program->path};
        }
        return !modules().empty() && module == modules()[0].path;
    }

    // The source file of the program's main(); "" if it is unknown.
    text file_of_main() {
        const detail::met_module* home = nullptr;
        std::uint64_t inside = 0;
        if (detail::names_another_process()) {
            home = detail::modules_at_start.at(0);
            if (home != nullptr) inside = home->start;
        } else if (!modules().empty()) {
            inside = modules()[0].low;
        }
        const code_owner owner = inside != 0 ? owner_of(inside, home) : code_owner{};
        const std::uint64_t begin = owner.object != nullptr ? owner.object->address_of("main") : 0;
        if (begin == 0) return no_text();
        const code_location& location = resolve(owner.base + begin, home);
        return location.frames.empty() ? text{} : location.frames.back().file;
    }

    // Call it before a report: it finds libraries that were loaded or unloaded since the last call,
    // and files that can be opened again. Locations in modules that are still loaded stay valid.
    // Returns true if anything changed.
    bool refresh_modules() {
        if (modules_.is_current()) return false;
        const list<loaded_module> before = modules_.modules();
        modules_.read();
        for (const loaded_module& old : before) {
            if (is_still_there(old)) continue;
            module_object* object = objects_.find(old.low);
            if (object == nullptr || object->reader == nullptr) continue;
            object->is_current = false;
            object->reader->release();
        }
        for (auto& location : locations_) {
            if (location.value == nullptr) continue;
            const bool has_home = location.key >= first_key;
            const bool is_gone = !has_home && !is_still_valid(before, location.key);
            if (is_gone || location.value->lacks_files) location.value = nullptr;
        }
        return true;
    }

    const list<loaded_module>& modules() const { return modules_.modules(); }
    // False: names that were found since refresh_modules() may say less than they could.
    ALLOCSCOPE_INLINE bool has_all_files() const { return modules_.has_all_files(); }

    // Calls visit(path, base, size, build id) for the modules of the process that is being reported
    // on; the program comes first.
    template <class Visit>
    void for_each_module(const Visit& visit) {
        if (!detail::names_another_process()) {
            for (const loaded_module& each : modules()) {
                visit(each.path, each.base, each.high - each.base, each.id);
            }
            return;
        }
        const detail::met_modules* const known[] = {&detail::modules_at_start,
                                                    &detail::modules_met};
        for (const detail::met_modules* met : known) {
            for (std::uint32_t i = 0; i < met->count(); ++i) {
                const detail::met_module* each = met->at(i);
                if (each == nullptr) continue;
                const code_owner owner = gone_owner(*each);
                visit(text{each->path}, std::uint64_t{each->base},
                      std::uint64_t{each->start + each->size - each->base},
                      owner.is_unloaded ? detail::build_id{} : owner.object->build_id());
            }
        }
    }

    // Frees the contents of files. A later resolve() reads again what it needs.
    void release_debug_data() {
        for_each_reader([](debug_object& reader) { reader.release(); });
        links_ = table<std::uint64_t, std::uint64_t>{passing_memory_};
        allocating_ = 0;
        passing_memory_.release();
        texts_.scratch().release();
    }

    std::size_t debug_bytes() const {
        std::size_t total = 0;
        for_each_reader([&](const debug_object& reader) { total += reader.bytes_in_memory(); });
        return total;
    }

private:
    struct module_object {
        debug_object* reader = nullptr;
        bool is_current = false;  // false: its memory may be used for the next one
    };
    using object_table = table<std::uint64_t, module_object>;

    // The module that an address belongs to.
    struct code_owner {
        debug_object* object = nullptr;  // null: it is in no module
        text path;
        std::uint64_t base = 0;
        bool is_unloaded = false;
    };

    template <class Visit>
    void for_each_reader(const Visit& visit) const {
        const object_table* const all[] = {&objects_, &gone_};
        for (const object_table* objects : all) {
            for (const auto& object : *objects) {
                if (object.value.reader != nullptr) visit(*object.value.reader);
            }
        }
    }

    // Where a target leads that is not code of its module, in a process that has ended.
    link_end followed(const code_location* sought, std::uint64_t return_address,
                      const detail::met_module*& home, code_target& target) {
        const auto follow_link = readers_of_rare_forms.follow_link;
        if (home == nullptr) home = detail::modules_at_start.holder_of(return_address - 1);
        return follow_link != nullptr ? follow_link(*this, sought, home, target)
                                      : link_end::unknown;
    }

    ALLOCSCOPE_PURE static bool begins_at(const code_location& location, const code_owner& in,
                                          const code_target& at) noexcept {
        return in.base + at.address == location.address - location.symbol_offset &&
               in.path == location.module;
    }

    // Addresses of user space are below it.
    static constexpr std::uint64_t first_key = std::uint64_t{1} << 48U;

    text symbol_at(symbol_kind kind, std::uint64_t address, arena& memory,
                   const detail::met_module* home) {
        const code_owner owner = owner_of(address, home);
        if (owner.object == nullptr) return no_text();
        return owner.object->symbol_at(kind, address - owner.base, memory);
    }

    code_location& made_in(arena& memory, std::uint64_t address, const detail::met_module* home) {
        auto* location = memory.make<code_location>();
        location->address = address;
        const code_owner owner = owner_of(address, home);
        if (owner.object == nullptr) return *location;
        location->is_unloaded = owner.is_unloaded;
        location->module = texts_.keep(owner.path);
        location->module_offset = address - owner.base;
        owner.object->resolve(location->module_offset, *location, &memory);
        location->lacks_files = !has_all_files();
        return *location;
    }

    code_owner owner_of(std::uint64_t address, const detail::met_module* home) {
        if (home == nullptr && detail::names_another_process()) {
            home = detail::modules_at_start.holder_of(address);
            return home != nullptr ? gone_owner(*home) : code_owner{};
        }
        const loaded_module* now = modules_.find(address);
        const bool is_at_home =
            home == nullptr || (!detail::names_another_process() && now != nullptr &&
                                now->base == home->base && now->fingerprint == home->fingerprint);
        if (!is_at_home) return gone_owner(*home);
        if (now == nullptr) return {};
        return {&object_of(*now), now->path, now->base, false};
    }

    // The names of an unloaded module are still in its file, if that still exists.
    code_owner gone_owner(const detail::met_module& home) {
        module_object& gone = gone_[home.number];
        if (!gone.is_current) {
            expected_file expected;
            expected.fingerprint = home.fingerprint;
            expected.loader_path = home.path;
            expected.is_known_by_id = home.has_build_id;
            make_object(gone, home.path, expected);
        }
        gone.is_current = home.fingerprint != 0 && gone.reader->is_readable();
        if (gone.is_current) return {gone.reader, home.path, home.base, false};
        gone.reader->release();
        const borrowed_memory meanwhile{texts_.scratch()};
        const text path = texts_.keep(joined(texts_.scratch(), home.path, " (unloaded)"));
        return {gone.reader, path, home.base, true};
    }

    debug_object& object_of(const loaded_module& module) {
        module_object& known = objects_[module.low];
        if (!known.is_current) {
            expected_file expected;
            expected.id = module.id;
            expected.inode = module.inode;
            expected.fingerprint = module.fingerprint;
            expected.loader_path = texts_.keep(module.loader_path).data();
            make_object(known, texts_.keep(module.file).data(), expected);
        }
        return *known.reader;
    }

    void make_object(module_object& at, const char* file, const expected_file& expected) {
        void* memory = at.reader != nullptr ? at.reader : kept_.allocate(sizeof(debug_object));
        at.reader = ::new (memory) debug_object{texts_, file, expected};
        at.is_current = true;
    }

    bool is_still_there(const loaded_module& old) const {
        const loaded_module* now = modules_.find(old.low);
        return now != nullptr && now->is_same(old);
    }

    // The location of an address that was in no module stays valid if it is still in none.
    bool is_still_valid(const list<loaded_module>& before, std::uint64_t address) const {
        for (const loaded_module& old : before) {
            if (old.holds(address)) return is_still_there(old);
        }
        return modules_.find(address) == nullptr;
    }

    arena& kept_;
    kept_texts texts_;
    module_list modules_;
    object_table objects_;                            // by lowest address
    object_table gone_;                               // by met_module::number
    table<std::uint64_t, code_location*> locations_;  // null: must be resolved again
    arena passing_memory_;
    table<std::uint64_t, std::uint64_t> links_{passing_memory_};  // what written_link() has said
    std::uint64_t allocating_ = 0;  // what was called last and is, or leads to, an operator new
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

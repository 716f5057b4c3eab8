// symbolizer.hpp - addresses of this process to modules, functions, files, lines, inlined calls.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   when a report is made, never from a hook
// Threads:  one at a time
// Memory:   what it answers, in the given arena: one code_location for each address, equal texts
//           once; the debug sections of the modules asked about, until release_debug_data()
//
// Everything is read in this process from the files of its modules: no child process, no network.
// A file that was replaced since it was loaded (another build id) is not believed.
//
//     symbolizer names{kept};
//     const code_location& location = names.resolve(return_address - 1);
//     location.frames[0].file;                      // "/home/me/example.cpp", zero-ended
//     names.release_debug_data();                   // resolved locations stay

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/kept_texts.hpp>
#include <allocscope/symbols/module_list.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <new>      // placement new

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class symbolizer {
public:
    // `kept` must live longer.
    explicit symbolizer(arena& kept) : kept_(kept), texts_(kept), objects_(kept), locations_(kept) {
        refresh_modules();
    }
    ~symbolizer() { release_debug_data(); }
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    // The caller has subtracted 1 from return addresses. Good as long as `kept`, or until
    // refresh_modules() finds that the address's module is gone.
    const code_location& resolve(std::uint64_t address) {
        code_location** known = locations_.find(address);
        if (known != nullptr && *known != nullptr) return **known;
        auto* location = kept_.make<code_location>();
        location->address = address;
        if (const loaded_module* module = modules_.find(address)) {
            location->module = texts_.keep(module->path);
            location->module_offset = address - module->base;
            object_of(*module).resolve(location->module_offset, *location);
        }
        locations_[address] = location;
        return *location;
    }

    // The demangled name of the variable, vtable or typeinfo around an address, as in
    // "vtable for widget"; "" when there is none.
    text data_symbol_at(std::uint64_t address, arena& memory) {
        const loaded_module* module = modules_.find(address);
        if (module == nullptr) return {};
        return object_of(*module).data_symbol_at(address - module->base, memory);
    }

    // The demangled function around an address by the symbol table alone; "" when there is none.
    // Spares the debug information, and knows nothing of inlined calls. Subtract 1 as above.
    text function_symbol_at(std::uint64_t address, arena& memory) {
        const loaded_module* module = modules_.find(address);
        if (module == nullptr) return {};
        return object_of(*module).function_symbol_at(address - module->base, memory);
    }

    // To be called before a report: looks for libraries loaded and unloaded since. What was
    // resolved in modules that are still there stays. True when anything changed.
    bool refresh_modules() {
        if (modules_.is_current()) return false;
        const list<loaded_module> before = modules_.modules();
        modules_.read();
        for (const loaded_module& old : before) {
            if (is_still_there(old)) continue;
            module_object* object = objects_.find(old.low);
            if (object == nullptr) continue;
            object->is_current = false;
            object->reader->release();
        }
        for (auto& location : locations_) {
            if (!is_still_valid(before, location.key)) location.value = nullptr;
        }
        return true;
    }

    const list<loaded_module>& modules() const { return modules_.modules(); }

    // Gives back what was read of the files. A later resolve() reads again what it needs.
    void release_debug_data() {
        for (const auto& object : objects_) object.value.reader->release();
    }

    std::size_t debug_bytes() const {
        std::size_t total = 0;
        for (const auto& object : objects_) total += object.value.reader->bytes_in_memory();
        return total;
    }

private:
    struct module_object {
        debug_object* reader;
        bool is_current;  // false: its module is gone, and the memory may serve the next one
    };

    debug_object& object_of(const loaded_module& module) {
        const module_object* known = objects_.find(module.low);
        if (known != nullptr && known->is_current) return *known->reader;
        const char* file = texts_.keep(module.file).data();
        void* memory = known != nullptr ? known->reader : kept_.allocate(sizeof(debug_object));
        auto* reader = ::new (memory) debug_object{texts_, file, module.id};
        objects_[module.low] = module_object{reader, true};
        return *reader;
    }

    bool is_still_there(const loaded_module& old) const {
        const loaded_module* now = modules_.find(old.low);
        return now != nullptr && now->is_same(old);
    }

    // An address that was in no module stays valid when it is still in none.
    bool is_still_valid(const list<loaded_module>& before, std::uint64_t address) const {
        for (const loaded_module& old : before) {
            if (old.holds(address)) return is_still_there(old);
        }
        return modules_.find(address) == nullptr;
    }

    arena& kept_;
    kept_texts texts_;
    module_list modules_;
    table<std::uint64_t, module_object> objects_;     // by lowest address
    table<std::uint64_t, code_location*> locations_;  // null: must be resolved anew
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

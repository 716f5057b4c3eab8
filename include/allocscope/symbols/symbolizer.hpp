// symbolizer.hpp - addresses of this process to modules, functions, files, lines, inlined calls.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   when a report is made, never from a hook
// Threads:  one at a time
// Memory:   the debug sections of the modules that were asked about, until release_debug_data();
//           one code_location for each address that was resolved
//
// Everything is read in this process from the files of its modules: no child process, no network.
// A file that was replaced since it was loaded (another build id) is not believed.
//
//     symbolizer names;
//     const code_location& location = names.resolve(return_address - 1);
//     location.frames[0].file;                      // "/home/me/example.cpp"
//     names.release_debug_data();                   // resolved locations stay

#ifndef ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP
#define ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

#include <allocscope/config.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/module_list.hpp>

#include <cstddef>        // size_t
#include <cstdint>        // uint64_t
#include <memory>         // unique_ptr
#include <string>         // string
#include <unordered_map>  // unordered_map
#include <utility>        // move
#include <vector>         // vector

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

class symbolizer {
public:
    symbolizer() { refresh_modules(); }
    symbolizer(const symbolizer&) = delete;
    symbolizer& operator=(const symbolizer&) = delete;

    // The caller has subtracted 1 from return addresses. Good until this object dies, or until
    // refresh_modules() finds that the address's module is gone.
    const code_location& resolve(std::uint64_t address) {
        const auto known = locations_.find(address);
        if (known != locations_.end()) return known->second;
        code_location location;
        location.address = address;
        if (const loaded_module* module = modules_.find(address)) {
            location.module = module->path;
            location.module_offset = address - module->base;
            object_of(*module).resolve(location.module_offset, location);
        }
        return locations_.emplace(address, std::move(location)).first->second;
    }

    // The demangled name of the variable, vtable or typeinfo around an address, as in
    // "vtable for widget"; "" when there is none.
    std::string data_symbol_at(std::uint64_t address) {
        const loaded_module* module = modules_.find(address);
        return module == nullptr ? std::string{}
                                 : object_of(*module).data_symbol_at(address - module->base);
    }

    // The demangled function around an address by the symbol table alone; "" when there is none.
    // Spares the debug information, and knows nothing of inlined calls. Subtract 1 as above.
    std::string function_symbol_at(std::uint64_t address) {
        const loaded_module* module = modules_.find(address);
        return module == nullptr ? std::string{}
                                 : object_of(*module).function_symbol_at(address - module->base);
    }

    // To be called before a report: looks for libraries loaded and unloaded since. What was
    // resolved in modules that are still there stays. True when anything changed.
    bool refresh_modules() {
        if (modules_.is_current()) return false;
        const std::vector<loaded_module> before = modules_.modules();
        modules_.read();
        for (const loaded_module& old : before) {
            if (!is_still_there(old)) objects_.erase(old.low);
        }
        for (auto at = locations_.begin(); at != locations_.end();) {
            at = is_still_valid(before, at->first) ? std::next(at) : locations_.erase(at);
        }
        return true;
    }

    const std::vector<loaded_module>& modules() const { return modules_.modules(); }

    // Gives back what was read of the files. A later resolve() reads again what it needs.
    void release_debug_data() {
        for (auto& object : objects_) object.second->release();
    }

    std::size_t debug_bytes() const {
        std::size_t total = 0;
        for (const auto& object : objects_) total += object.second->bytes_in_memory();
        return total;
    }

private:
    debug_object& object_of(const loaded_module& module) {
        std::unique_ptr<debug_object>& object = objects_[module.low];
        if (object == nullptr) object = std::make_unique<debug_object>(module.file, module.id);
        return *object;
    }

    bool is_still_there(const loaded_module& old) const {
        const loaded_module* now = modules_.find(old.low);
        return now != nullptr && now->is_same(old);
    }

    // An address that was in no module stays valid when it is still in none.
    bool is_still_valid(const std::vector<loaded_module>& before, std::uint64_t address) const {
        for (const loaded_module& old : before) {
            if (old.holds(address)) return is_still_there(old);
        }
        return modules_.find(address) == nullptr;
    }

    module_list modules_;
    std::unordered_map<std::uint64_t, std::unique_ptr<debug_object>> objects_;  // by lowest address
    std::unordered_map<std::uint64_t, code_location> locations_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_SYMBOLIZER_HPP

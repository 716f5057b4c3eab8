// module_list.hpp - the modules of this process: where each lies, and which file it came from.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/symbolizer.hpp
// Threads:  one
// Memory:   a few hundred bytes a module
//
// The loader knows the main program under no name and a library under the name it was opened with.
// /proc/self/maps knows the file of every mapping, also when the program was started by naming it
// to the loader, or from a directory that is no longer the current one.

#ifndef ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP
#define ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

#include <allocscope/binary/build_id.hpp>
#include <allocscope/config.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/platform/loaded_modules.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstdlib>  // strtoull
#include <string>   // string
#include <utility>  // move
#include <vector>   // vector

#include <sys/auxv.h>  // getauxval
#include <unistd.h>    // readlink

ALLOCSCOPE_NAMESPACE_BEGIN

namespace symbolize {

struct loaded_module {
    std::string path;        // what reports show
    std::string file;        // what is opened to read it; "" when there is no file
    std::uint64_t base = 0;  // run-time address minus linked address
    std::uint64_t low = 0, high = 0;
    detail::build_id id;

    bool holds(std::uint64_t address) const { return address >= low && address < high; }
    bool is_same(const loaded_module& other) const {
        return base == other.base && low == other.low && high == other.high && path == other.path &&
               id.equals(other.id);
    }
};

namespace module_list_detail {

inline std::string read_whole(const char* path) {
    constexpr std::size_t largest = std::size_t{64} << 20;
    std::string text;
    const detail::file_reader file{path};
    char buffer[4096];
    while (text.size() < largest) {
        const std::size_t got = file.read_at(text.size(), buffer, sizeof buffer);
        if (got == 0) break;
        text.append(buffer, got);
    }
    return text;
}

// The file of the mapping that holds `address`; "" when there is none.
inline std::string mapped_file_of(const std::string& maps, std::uint64_t address) {
    std::size_t at = 0;
    while (at < maps.size()) {
        std::size_t end = maps.find('\n', at);
        if (end == std::string::npos) end = maps.size();
        char* rest = nullptr;
        const std::uint64_t low = std::strtoull(maps.c_str() + at, &rest, 16);
        const std::uint64_t high = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
        if (address >= low && address < high) {
            const std::size_t slash = maps.find('/', at);
            return slash < end ? maps.substr(slash, end - slash) : std::string{};
        }
        at = end + 1;
    }
    return std::string{};
}

inline std::string own_program() {
    char buffer[4096];
    const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
    return length > 0 ? std::string(buffer, static_cast<std::size_t>(length)) : std::string{};
}

}  // namespace module_list_detail

class module_list {
public:
    const std::vector<loaded_module>& modules() const { return modules_; }

    bool is_current() const {
        return is_read_ && generation_.equals(detail::current_module_generation());
    }

    void read() {
        generation_ = detail::current_module_generation();
        is_read_ = true;
        modules_.clear();
        bool has_main = false;
        detail::visit_loaded_modules([&](const detail::module_facts& facts) {
            const bool is_next_note = !modules_.empty() && modules_.back().low == facts.low;
            if (!is_next_note) {
                loaded_module next;
                next.path = facts.path;
                next.base = facts.base;
                next.low = facts.low;
                next.high = facts.high;
                modules_.push_back(std::move(next));
                has_main = has_main || facts.is_first;
            }
            detail::build_id& id = modules_.back().id;
            if (!id.known()) id = detail::find_build_id(facts.notes);
        });
        find_files(has_main);
    }

    // The module that holds the address; null: none.
    const loaded_module* find(std::uint64_t address) const {
        for (const loaded_module& module : modules_) {
            if (module.holds(address)) return &module;
        }
        return nullptr;
    }

private:
    void find_files(bool has_main) {
        std::string maps;
        for (std::size_t i = 0; i < modules_.size(); ++i) {
            loaded_module& module = modules_[i];
            const bool is_main = has_main && i == 0;
            if (!is_main && !module.path.empty() && module.path[0] == '/') {
                module.file = module.path;
                continue;
            }
            if (maps.empty()) maps = module_list_detail::read_whole("/proc/self/maps");
            const std::string mapped = module_list_detail::mapped_file_of(maps, module.low);
            if (is_main) {
                name_main(module, mapped);
            } else if (!mapped.empty()) {
                module.path = module.file = mapped;
            } else if (module.id.known() && module.path.find('/') != std::string::npos) {
                module.file = module.path;  // the id tells when the current directory has changed
            }
        }
    }

    // /proc/self/exe reaches the running file even when its name now belongs to another one.
    static void name_main(loaded_module& module, const std::string& mapped) {
        const std::string program = module_list_detail::own_program();
        const bool is_own = mapped.empty() || mapped == program;
        module.path = is_own ? program : mapped;
        module.file = is_own ? "/proc/self/exe" : mapped;
        if (!module.path.empty()) return;
        // Without /proc there is still the name that the kernel was asked to run.
        const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
        if (started != nullptr) module.path = module.file = started;
    }

    bool is_read_ = false;
    detail::module_generation generation_;
    std::vector<loaded_module> modules_;
};

}  // namespace symbolize

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

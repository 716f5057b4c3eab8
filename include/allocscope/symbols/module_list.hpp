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

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/platform/loaded_modules.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t
#include <cstdlib>  // strtoull

#include <sys/auxv.h>  // getauxval
#include <unistd.h>    // readlink

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct loaded_module {
    text path;               // what reports show; zero-ended, as the file is
    text file;               // what is opened to read it; "" when there is no file
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

inline void write_whole(text_out& out, const char* path) {
    constexpr std::size_t largest = std::size_t{64} << 20;
    const detail::file_reader file{path};
    char buffer[4096];
    while (out.size() < largest) {
        const std::size_t got = file.read_at(out.size(), buffer, sizeof buffer);
        if (got == 0) break;
        out << text{buffer, got};
    }
}

// The file of the mapping that holds `address`; "" when there is none. Lines end in '\n'.
inline text mapped_file_of(text maps, std::uint64_t address) {
    while (!maps.empty()) {
        const std::size_t end = maps.find('\n');
        const text line = maps.substr(0, end);
        maps.remove_prefix(end == text::npos ? maps.size() : end + 1);
        char* rest = nullptr;
        const std::uint64_t low = std::strtoull(line.data(), &rest, 16);
        const std::uint64_t high = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
        if (address < low || address >= high) continue;
        const std::size_t slash = line.find('/');
        return slash == text::npos ? text{} : line.substr(slash);
    }
    return {};
}

}  // namespace module_list_detail

class module_list {
public:
    const list<loaded_module>& modules() const { return modules_; }

    bool is_current() const {
        return is_read_ && generation_.equals(detail::current_module_generation());
    }

    // What modules() was before stays good until this is called once more.
    void read() {
        is_read_ = false;
        is_second_ = !is_second_;
        arena& memory = memory_[is_second_ ? 1 : 0];
        memory.release();
        modules_ = list<loaded_module>{memory};
        generation_ = detail::current_module_generation();
        bool has_main = false;
        detail::visit_loaded_modules([&](const detail::module_facts& facts) {
            const bool is_next_note = !modules_.empty() && modules_.back().low == facts.low;
            if (!is_next_note) {
                loaded_module next;
                next.path = copy_of(memory, facts.path);
                next.base = facts.base;
                next.low = facts.low;
                next.high = facts.high;
                modules_.push_back(next);
                has_main = has_main || facts.is_first;
            }
            detail::build_id& id = modules_.back().id;
            if (!id.known()) id = detail::find_build_id(facts.notes);
        });
        find_files(memory, has_main);
        is_read_ = true;
    }

    // The module that holds the address; null: none.
    const loaded_module* find(std::uint64_t address) const {
        for (const loaded_module& module : modules_) {
            if (module.holds(address)) return &module;
        }
        return nullptr;
    }

private:
    void find_files(arena& memory, bool has_main) {
        arena scratch;
        text_out maps{scratch};
        for (loaded_module& module : modules_) {
            const bool is_main = has_main && &module == modules_.begin();
            if (!is_main && module.path.starts_with("/")) {
                module.file = module.path;
                continue;
            }
            if (maps.empty()) module_list_detail::write_whole(maps, "/proc/self/maps");
            const text all{maps.c_str(), maps.size()};
            const text mapped = module_list_detail::mapped_file_of(all, module.low);
            if (is_main) {
                name_main(memory, module, mapped);
            } else if (!mapped.empty()) {
                module.path = module.file = copy_of(memory, mapped);
            } else if (module.id.known() && module.path.contains("/")) {
                module.file = module.path;  // the id tells when the current directory has changed
            }
        }
    }

    // /proc/self/exe reaches the running file even when its name now belongs to another one.
    static void name_main(arena& memory, loaded_module& module, text mapped) {
        char buffer[4096];
        const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
        const text program{buffer, length > 0 ? static_cast<std::size_t>(length) : 0};
        const bool is_own = mapped.empty() || mapped == program;
        module.path = copy_of(memory, is_own ? program : mapped);
        module.file = is_own ? text{"/proc/self/exe"} : module.path;
        if (!module.path.empty()) return;
        // Without /proc there is still the name that the kernel was asked to run.
        const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
        if (started != nullptr) module.path = module.file = copy_of(memory, started);
    }

    arena memory_[2];
    bool is_second_ = false;
    bool is_read_ = false;
    detail::module_generation generation_;
    list<loaded_module> modules_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

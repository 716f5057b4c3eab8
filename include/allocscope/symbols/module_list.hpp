// module_list.hpp - the modules of this process: their addresses, and the files they come from.
//
// Room:     symbols (floor 7), not malloc-safe
// Called:   by symbols/symbolizer.hpp
// Threads:  one
// Memory:   a few hundred bytes for each module
//
// The loader has no name for the main program, and knows a library by the name with which it was
// opened. /proc/self/maps has the file of every mapping, even if the program was started as an
// argument of the loader, or from a directory that is no longer the current one.

#ifndef ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP
#define ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/binary/build_id.hpp>
#include <allocscope/binary/module_fingerprint.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/platform/file_reader.hpp>
#include <allocscope/platform/loaded_modules.hpp>
#include <allocscope/symbols/address_ranges.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <cstdlib>  // strtoull

#include <sys/auxv.h>  // getauxval
#include <unistd.h>    // readlink

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

struct loaded_module {
    text path;               // what reports show; zero-terminated, as is `file`
    text file;               // the file to open for reading; "" if there is none
    std::uint64_t base = 0;  // run-time address minus linked address
    std::uint64_t low = 0, high = 0;
    detail::build_id id;
    std::uint64_t fingerprint = 0;  // see binary/module_fingerprint.hpp; 0: there is none
    std::uint64_t inode = 0;        // of the mapped file; looked up if there is no id
    text loader_path;               // zero-terminated

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool holds(std::uint64_t address) const {
        return address >= low && address < high;
    }
    ALLOCSCOPE_INLINE bool is_same(const loaded_module& other) const {
        return base == other.base && low == other.low && high == other.high && path == other.path &&
               fingerprint == other.fingerprint && inode == other.inode;
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

struct mapped_file {
    text path;  // as the kernel writes it, with "\\012" for a line end; "" if there is none
    std::uint64_t inode = 0;
};

// The file of the mapping that holds `address`:
//     7f00-7f10 r--p 00000000 08:01 1234    /usr/lib/x.so
// Lines end in '\n'.
inline mapped_file mapped_file_of(text maps, std::uint64_t address) {
    while (!maps.empty()) {
        const std::size_t end = maps.find('\n');
        const text line = maps.substr(0, end);
        maps.remove_prefix(end == text::npos ? maps.size() : end + 1);
        char* rest = nullptr;
        const std::uint64_t low = std::strtoull(line.data(), &rest, 16);
        const std::uint64_t high = *rest == '-' ? std::strtoull(rest + 1, &rest, 16) : 0;
        if (address < low || address >= high) continue;
        const std::size_t slash = line.find('/');
        if (slash == text::npos) return {};
        std::size_t at = slash;
        while (at > 0 && line[at - 1] == ' ') --at;
        while (at > 0 && line[at - 1] != ' ') --at;
        return {line.substr(slash), std::strtoull(line.data() + at, nullptr, 10)};
    }
    return {};
}

// The path as it is on disk. The file is not found if its name really contains the characters \012.
inline text without_escapes(arena& memory, text path) {
    text_out out{memory};
    while (!path.empty()) {
        const bool is_escape = path.starts_with("\\012");
        out << (is_escape ? text{"\n"} : path.substr(0, 1));
        path.remove_prefix(is_escape ? 4 : 1);
    }
    return copy_of(memory, out.view());
}

}  // namespace module_list_detail

class module_list {
public:
    ALLOCSCOPE_INLINE const list<loaded_module>& modules() const { return modules_; }

    // Whether every file could be opened since read() began. Otherwise what was not found may be
    // there.
    ALLOCSCOPE_INLINE bool has_all_files() const {
        return refused_ == detail::refused_files.load(detail::memory_order::relaxed);
    }

    bool is_current() const {
        if (!is_read_) return false;
        if (!has_all_files() && detail::file_reader{"/proc/self/maps"}.is_open()) return false;
        const detail::module_generation now = detail::current_module_generation();
        // Where the loader can no longer be asked, no module comes or goes any more.
        return !now.is_known || generation_.equals(now);
    }

    // The previous result of modules() stays valid until the next call of this.
    void read() {
        is_read_ = false;
        refused_ = detail::refused_files.load(detail::memory_order::relaxed);
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
                next.path = next.loader_path = copy_of(memory, facts.path);
                next.base = facts.base;
                next.low = facts.low;
                next.high = facts.high;
                if (facts.first_page != nullptr) {
                    next.fingerprint = detail::fingerprint_of(facts.first_page, facts.path);
                }
                modules_.push_back(next);
                has_main = has_main || facts.is_first;
            }
            detail::build_id& id = modules_.back().id;
            if (id.known()) return;
            id = detail::find_build_id(facts.notes);
            if (id.known()) modules_.back().fingerprint = detail::fingerprint_of(id);
        });
        find_files(memory, has_main);
        ranges_ = address_ranges{memory};
        std::size_t number = 0;
        for (const loaded_module& each : modules_) ranges_.add(each.low, each.high, number++);
        ranges_.finish();
        is_read_ = true;
    }

    // The module that holds the address; null: none.
    const loaded_module* find(std::uint64_t address) const {
        const address_range* range = ranges_.find(address);
        return range != nullptr ? &modules_[range->value] : nullptr;
    }

private:
    void find_files(arena& memory, bool has_main) {
        arena scratch;
        text_out maps{scratch};
        for (loaded_module& module : modules_) {
            const bool is_main = has_main && &module == modules_.begin();
            const bool has_path = !is_main && module.path.starts_with("/");
            if (has_path) module.file = module.path;
            if (has_path && module.id.known()) continue;
            if (maps.empty()) module_list_detail::write_whole(maps, "/proc/self/maps");
            const text all{maps.c_str(), maps.size()};
            auto mapped = module_list_detail::mapped_file_of(all, module.low);
            module.inode = mapped.inode;
            if (has_path) continue;
            mapped.path = module_list_detail::without_escapes(memory, mapped.path);
            if (is_main) {
                name_main(memory, module, mapped.path);
            } else if (!mapped.path.empty()) {
                module.path = module.file = mapped.path;
            } else if (module.path.contains("/")) {
                module.file = module.path;  // the id shows whether this is still the file
            }
        }
    }

    // /proc/self/exe opens the running file, even if another file has its name now, or if its path
    // is longer than a path may be.
    static void name_main(arena& memory, loaded_module& module, const text& mapped) {
        const detail::file_reader running{"/proc/self/exe"};
        const bool is_running_file = module.inode == 0 || running.identity().inode == module.inode;
        if (running.is_open() && is_running_file) {
            char buffer[4096];
            const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
            const text program{buffer, length > 0 ? static_cast<std::size_t>(length) : 0};
            module.path = program.empty() ? mapped : copy_of(memory, program);
            module.file = text{"/proc/self/exe"};
        } else {
            module.path = module.file = mapped;
        }
        if (!module.path.empty()) return;
        // Without /proc, there is still the name that the kernel was asked to run.
        const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
        if (started != nullptr) module.path = module.file = copy_of(memory, started);
    }

    arena memory_[2];
    bool is_second_ = false;
    bool is_read_ = false;
    std::uint32_t refused_ = 0;
    detail::module_generation generation_;
    list<loaded_module> modules_;
    address_ranges ranges_;  // value: the number of the module
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SYMBOLS_MODULE_LIST_HPP

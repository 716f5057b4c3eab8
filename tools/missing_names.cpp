#include "missing_names.hpp"

#include <allocscope/symbols/debug_file.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <dirent.h>

#include <fstream>
#include <set>

namespace allocscope_tools {

namespace {

using allocscope::detail::arena;
using allocscope::detail::byte_cursor;
using allocscope::detail::byte_view;
using allocscope::detail::elf_section;
using allocscope::symbolize::debug_file_search;
using allocscope::symbolize::object_bytes;

constexpr const char* package_lists = "/var/lib/dpkg/info/";

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

bool has_line(const std::string& path, const std::string& wanted) {
    std::ifstream list{path};
    std::string line;
    while (std::getline(list, line)) {
        if (line == wanted || "/usr" + line == wanted) return true;
    }
    return false;
}

// Names of files may hold anything.
std::string printable(const std::string& name) {
    arena memory;
    allocscope::detail::text_out out{memory};
    write_printable(out, name.c_str());
    return {out.view().data(), out.size()};
}

// Of Debian's package manager; "" when it does not know the file.
std::string package_of(const std::string& path) {
    if (path.compare(0, 5, "/usr/") != 0 && path.compare(0, 4, "/lib") != 0) return {};
    DIR* folder = ::opendir(package_lists);
    if (folder == nullptr) return {};
    std::string found;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string name = entry->d_name;
        if (name.size() < 6 || name.compare(name.size() - 5, 5, ".list") != 0) continue;
        if (!has_line(package_lists + name, path)) continue;
        found = name.substr(0, name.find_first_of(":", 0));
        if (found.size() == name.size()) found.resize(found.size() - 5);
        break;
    }
    ::closedir(folder);
    return found;
}

// A compressed section begins with the number of the way.
bool is_zstd(arena& memory, const object_bytes& object, const elf_section& section) {
    constexpr std::uint32_t zstd = 2;
    if ((section.flags & allocscope::detail::elf_section_compressed) == 0) return false;
    elf_section raw = section;
    raw.flags &= ~std::uint64_t{allocscope::detail::elf_section_compressed};
    byte_cursor in{object.read(memory, &raw)};
    return in.u32() == zstd && in.ok();
}

std::string remark_on(const std::string& path) {
    arena memory;
    const object_bytes object{memory, path.c_str()};
    if (!object.is_readable()) return "the file cannot be read: it may have gone since";
    if (object.has(".debug_info")) {
        if (is_zstd(memory, object, *object.find(".debug_info"))) {
            return "its debug information is compressed with zstd; objcopy "
                   "--decompress-debug-sections makes it readable";
        }
        if (object.has(".gnu_debugaltlink")) {
            return "a part of its debug information is in a common file that dwz made, which is "
                   "not read";
        }
        return "the code of these rows was compiled without -g";
    }
    if (debug_file_search{memory, object, path.c_str()}.find() != nullptr) {
        return "its debug information does not describe the code of these rows";
    }
    const std::string package = package_of(path);
    if (!package.empty()) return "no debug information; the package " + package + "-dbgsym has it";
    const byte_view link = object.read(memory, object.find(".gnu_debuglink"));
    if (link.size != 0) {
        const auto name = allocscope::detail::text_at(link, 0);
        return "its debug information was put into the file " + std::string{name} +
               ", which is not there or belongs to another build";
    }
    return "no debug information; compile it with -g";
}

}  // namespace

std::string what_could_name_rows(const allocscope::snapshot& rows) {
    constexpr std::size_t most = 10;
    std::set<std::string> modules;
    for (const allocscope::snapshot::row& row : rows) {
        if (row.line != 0 || row.user_frame >= row.frame_count) continue;
        const std::string module = row.frames[row.user_frame].module;
        if (!module.empty() && module[0] == '/') modules.insert(module);
    }
    std::string text;
    std::size_t count = 0;
    for (const std::string& module : modules) {
        if (count++ == most) {
            text += "  and " + std::to_string(modules.size() - most) + " more\n";
            break;
        }
        text += "  " + printable(file_name(module)) + ": " + printable(remark_on(module)) + '\n';
    }
    return text.empty() ? text : "\nwhat could name the rows without a line:\n" + text;
}

}  // namespace allocscope_tools

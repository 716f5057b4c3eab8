#include "missing_names.hpp"

#include "decoders.hpp"
#include "verbs.hpp"

#include <allocscope/symbols/debug_file.hpp>
#include <allocscope/symbols/debug_units.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/package_file.hpp>
#include <allocscope/symbols/supplementary_file.hpp>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>

#include <dirent.h>

namespace allocscope_tools {

namespace {

using allocscope::detail::arena;
using allocscope::detail::byte_cursor;
using allocscope::detail::byte_view;
using allocscope::detail::elf_section;
using allocscope::symbolize::debug_file_search;
using allocscope::symbolize::debug_units;
using allocscope::symbolize::object_bytes;
using allocscope::symbolize::supplement_note;

constexpr const char* who_reads_it =
    ": allocscope run reads it, and so does a program that includes <allocscope/debug_forms.hpp>";
constexpr const char* package_lists = "/var/lib/dpkg/info/";

std::string file_name(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

// /lib is a link to /usr/lib, and so are /bin and /sbin: a package may list one, and the loader
// find the other.
std::string without_usr(const std::string& path) {
    return path.compare(0, 5, "/usr/") == 0 ? path.substr(4) : path;
}

bool lists(const std::string& list_path, const std::string& wanted) {
    std::ifstream list{list_path};
    std::string line;
    while (std::getline(list, line)) {
        if (without_usr(line) == wanted) return true;
    }
    return false;
}

// The Debian package that lists a path; "" if none does.
std::string package_listing(const std::string& path) {
    if (path.compare(0, 5, "/usr/") != 0 && path.compare(0, 4, "/lib") != 0) return {};
    DIR* folder = ::opendir(package_lists);
    if (folder == nullptr) return {};
    std::string found;
    while (const dirent* entry = ::readdir(folder)) {
        const std::string name = entry->d_name;
        if (name.size() < 6 || name.compare(name.size() - 5, 5, ".list") != 0) continue;
        if (!lists(package_lists + name, without_usr(path))) continue;
        found = name.substr(0, name.find_first_of(":", 0));
        if (found.size() == name.size()) found.resize(found.size() - 5);
        break;
    }
    ::closedir(folder);
    return found;
}

// A link such as libblas.so.3 is made when a package is installed, and listed by none.
std::string package_of(const std::string& path) {
    const std::string found = package_listing(path);
    if (!found.empty()) return found;
    const std::unique_ptr<char, decltype(&std::free)> real{::realpath(path.c_str(), nullptr),
                                                           &std::free};
    return real != nullptr && path != real.get() ? package_listing(real.get()) : "";
}

// A compressed section begins with the number of its format.
bool is_zstd(arena& memory, const object_bytes& object, const elf_section& section) {
    constexpr std::uint32_t zstd = 2;
    if ((section.flags & allocscope::detail::elf_section_compressed) == 0) return false;
    elf_section raw = section;
    raw.flags &= ~std::uint64_t{allocscope::detail::elf_section_compressed};
    byte_cursor in{object.read(memory, &raw)};
    return in.u32() == zstd && in.ok();
}

struct debug_files {
    const object_bytes& program;
    const object_bytes& debug;  // the file with its debug information
    bool are_read_always;       // whatever the form of their debug information
};

// About debug information that is in yet another file; "" if all of it was read.
std::string remark_on_supplement(arena& memory, const debug_files& files) {
    const supplement_note note = supplement_noted_in(memory, files.debug);
    if (!note.id.known() || note.is_of_itself) return {};
    const std::string where = "a part of its debug information is in " +
                              std::string{note.path.data()} + ", which dwz made";
    if (find_supplement(memory, files.debug) == nullptr) {
        return where + " and which is not there or belongs to another build";
    }
    return files.are_read_always ? std::string{} : where + who_reads_it;
}

std::string remark_on_split_units(arena& memory, const debug_files& files) {
    // All split units have their addresses in this section, and looking for it is cheap.
    if (!files.debug.has(".debug_addr")) return {};
    if (!debug_units{memory, files.debug}.are_split()) return {};
    if (find_package(memory, files.program, files.debug) == nullptr) {
        return "its debug information is in .dwo files, which are not where it was compiled, and "
               "there is no .dwp file of its name beside it";
    }
    if (files.are_read_always) return {};
    return "its debug information is in a .dwp file" + std::string{who_reads_it};
}

std::string remark_on_form(arena& memory, const debug_files& files) {
    const std::string remark = remark_on_split_units(memory, files);
    return remark.empty() ? remark_on_supplement(memory, files) : remark;
}

std::string remark_on_types(const std::string& path, bool are_read_always) {
    arena memory;
    const object_bytes object{memory, path.c_str()};
    if (!object.is_readable()) return {};
    if (object.has(".debug_info")) return remark_on_form(memory, {object, object, are_read_always});
    const object_bytes* separate = debug_file_search{memory, object, path.c_str()}.find();
    if (separate == nullptr) return {};
    return remark_on_form(memory, {object, *separate, are_read_always});
}

std::string remark_on_lines(const std::string& path, bool are_read_always) {
    arena memory;
    const object_bytes object{memory, path.c_str()};
    if (!object.is_readable()) return "the file cannot be read: it may have been removed since";
    if (object.has(".debug_info")) {
        const bool is_packed = is_zstd(memory, object, *object.find(".debug_info"));
        if (is_packed && !(are_read_always && has_library(zstd_library))) {
            return std::string{
                       "its debug information is compressed with zstd, which allocscope "
                       "run reads where the system has "} +
                   zstd_library + "; objcopy --decompress-debug-sections makes it readable to all";
        }
        const std::string remark = remark_on_split_units(memory, {object, object, are_read_always});
        return remark.empty() ? "the code of these rows was compiled without -g" : remark;
    }
    const object_bytes* separate = debug_file_search{memory, object, path.c_str()}.find();
    if (separate != nullptr) {
        const std::string remark =
            remark_on_split_units(memory, {object, *separate, are_read_always});
        return remark.empty() ? "its debug information does not describe the code of these rows"
                              : remark;
    }
    const bool are_names_read = are_read_always && has_library(xz_library);
    if (object.has(".gnu_debugdata") && !are_names_read) {
        return std::string{
                   "no debug information; allocscope run reads the names of its functions "
                   "where the system has "} +
               xz_library;
    }
    const std::string package = package_of(path);
    if (!package.empty()) {
        // Debian has made one such package by hand.
        const char* const ending = package == "libc6" ? "-dbg" : "-dbgsym";
        return "no debug information; the package " + package + ending + " has it";
    }
    const byte_view link = object.read(memory, object.find(".gnu_debuglink"));
    if (link.size != 0) {
        const auto name = allocscope::detail::text_at(link, 0);
        return "its debug information was put into the file " + std::string{name} +
               ", which is not there or belongs to another build";
    }
    return "no debug information; compile it with -g";
}

// Returns `head` and a line for each file.
template <class Remark>
std::string list_of(const char* head, const std::set<std::string>& modules, const Remark& remark,
                    std::size_t width) {
    constexpr std::size_t most = 10;
    std::string text;
    std::size_t count = 0;
    for (const std::string& module : modules) {
        if (count++ == most) {
            text += "  and " + std::to_string(modules.size() - most) + " more\n";
            break;
        }
        const std::string line =
            "  " + printable(file_name(module)) + ": " + printable(remark(module));
        arena memory;
        allocscope::detail::text_out wrapped{memory};
        allocscope::detail::write_wrapped(wrapped, {line.data(), line.size()}, width, 4);
        text.append(wrapped.view().data(), wrapped.size());
        text += '\n';
    }
    return text.empty() ? text : head + text;
}

}  // namespace

std::string what_could_name_rows(const allocscope::snapshot& rows, int descriptor) {
    const std::size_t width = allocscope::detail::width_for({}, descriptor);
    // Only `allocscope run` sets the command. It also named these rows, and it reads all forms.
    const bool is_read_always = *rows.info().command != '\0';
    const auto for_types = [is_read_always](const std::string& module) {
        return remark_on_types(module, is_read_always);
    };
    const auto for_lines = [is_read_always](const std::string& module) {
        return remark_on_lines(module, is_read_always);
    };
    std::set<std::string> without_line;
    std::set<std::string> without_type;
    for (const allocscope::snapshot::row& row : rows) {
        if (row.user_frame >= row.frame_count) continue;
        const std::string module = row.frames[row.user_frame].module;
        if (module.empty() || module[0] != '/') continue;
        if (row.line == 0) without_line.insert(module);
        if (std::string{"?"} == row.type) without_type.insert(module);
    }
    std::set<std::string> unread;
    for (const std::string& module : without_type) {
        const bool is_named_above = without_line.count(module) != 0;
        if (!is_named_above && !for_types(module).empty()) unread.insert(module);
    }
    return list_of("\nwhat could name the rows without a line:\n", without_line, for_lines, width) +
           list_of("\nwhat could name the types that are not known:\n", unread, for_types, width);
}

}  // namespace allocscope_tools

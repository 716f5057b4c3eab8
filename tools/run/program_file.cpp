#include "program_file.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include <elf.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

bool is_executable(const std::string& path) {
    struct stat about;
    return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

// The program after "#!"; "" if the file is not a script.
std::string interpreter_of(std::istream& file) {
    std::string line;
    std::getline(file, line);
    if (line.compare(0, 2, "#!") != 0) return {};
    std::istringstream words{line.substr(2)};
    std::string interpreter;
    words >> interpreter;
    return interpreter;
}

// Whether one of the names begins like this.
bool has(const std::string& names, const char* name) {
    return names.find(std::string(1, '\0') + name) != std::string::npos;
}

// What the loader reads of a program. If the file cannot be read, the loader will say so.
class program_image {
public:
    explicit program_image(const std::string& path)
        : file_(path, std::ios::binary), header_(read<Elf64_Ehdr>(0)) {
        for (unsigned i = 0; is_for_this_processor() && i < header_.e_phnum && file_; ++i) {
            segments_.push_back(read<Elf64_Phdr>(header_.e_phoff + i * header_.e_phentsize));
        }
    }

    bool is_for_this_processor() const {
        return header_.e_ident[EI_CLASS] == ELFCLASS64 && header_.e_machine == EM_X86_64;
    }

    // True also for glibc's loader itself, which loads the program that it gets as an argument.
    bool has_loader() {
        for (const Elf64_Phdr& each : segments_) {
            if (each.p_type == PT_INTERP) return true;
        }
        return !file_ || has(dynamic_names(), "ld-linux-x86-64.so.2");
    }

    // The path of the loader.
    std::string loader() {
        for (const Elf64_Phdr& each : segments_) {
            if (each.p_type == PT_INTERP) return bytes_at(each.p_vaddr, each.p_filesz);
        }
        return {};
    }

    // The names that other modules can see, and those of the libraries that the program needs, each
    // between two zero bytes.
    std::string dynamic_names() {
        std::uint64_t address = 0;
        std::uint64_t size = 0;
        for (const Elf64_Phdr& each : segments_) {
            if (each.p_type != PT_DYNAMIC) continue;
            for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= each.p_filesz && file_;
                 at += sizeof(Elf64_Dyn)) {
                const auto entry = read<Elf64_Dyn>(each.p_offset + at);
                if (entry.d_tag == DT_NULL) break;
                if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
                if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
            }
        }
        return bytes_at(address, size);
    }

private:
    template <class Value>
    Value read(std::uint64_t offset) {
        Value value = {};
        file_.seekg(static_cast<std::streamoff>(offset));
        file_.read(reinterpret_cast<char*>(&value), sizeof value);
        return value;
    }
    std::string bytes_at(std::uint64_t address, std::uint64_t size) {
        constexpr std::uint64_t most = std::uint64_t{256} << 20U;
        for (const Elf64_Phdr& each : segments_) {
            if (each.p_type != PT_LOAD || address - each.p_vaddr >= each.p_filesz) continue;
            std::string bytes(size < most ? size : most, '\0');
            file_.seekg(static_cast<std::streamoff>(each.p_offset + (address - each.p_vaddr)));
            file_.read(&bytes[0], static_cast<std::streamsize>(bytes.size()));
            return bytes;
        }
        return {};
    }

    std::ifstream file_;
    Elf64_Ehdr header_;
    std::vector<Elf64_Phdr> segments_;
};

// A sanitizer has a malloc of its own, and its library must be the first one.
std::string why_not_by_sanitizer(const std::string& names) {
    const char* const marks[][2] = {
        {"libasan.so", "AddressSanitizer"}, {"__asan_init", "AddressSanitizer"},
        {"libtsan.so", "ThreadSanitizer"},  {"__tsan_init", "ThreadSanitizer"},
        {"__msan_init", "MemorySanitizer"}, {"liblsan.so", "LeakSanitizer"},
        {"__lsan_init", "LeakSanitizer"}};
    for (const auto& mark : marks) {
        if (!has(names, mark[0])) continue;
        return std::string{"is compiled with "} + mark[1] +
               ", which has a malloc of its own. Compile it without";
    }
    return {};
}

std::string why_not_by_privilege(const std::string& path) {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0) return {};
    const bool changes_user = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::getuid();
    const bool changes_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getgid();
    if (changes_user || changes_group) {
        return "runs with raised privileges (set-user-ID or set-group-ID); the loader ignores"
               " LD_PRELOAD for it. Run it as the user it changes to, or record a copy of it";
    }
    const bool has_all_capabilities = ::geteuid() == 0;
    if (!has_all_capabilities && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
        return "runs with raised privileges (file capabilities); the loader ignores LD_PRELOAD for"
               " it. Run it as root, or record a copy of it";
    }
    return {};
}

}  // namespace

std::string find_program(const std::string& command) {
    if (command.find('/') != std::string::npos) return is_executable(command) ? command : "";
    const char* path = ::secure_getenv("PATH");
    std::istringstream folders{path != nullptr ? path : "/bin:/usr/bin"};
    std::string folder;
    while (std::getline(folders, folder, ':')) {
        const std::string file = (folder.empty() ? "." : folder) + "/" + command;
        if (is_executable(file)) return file;
    }
    return {};
}

namespace {

// The program itself, or the interpreter of a script, which may be a script, too: the kernel allows
// five in a row. "": nothing to look at.
std::string program_behind(std::string path) {
    constexpr int most_interpreters = 5;
    for (int i = 0; i <= most_interpreters; ++i) {
        // The kernel will refuse other files. Opening a FIFO would wait for its writer.
        if (!is_executable(path)) return {};
        std::ifstream file{path, std::ios::binary};
        char mark[SELFMAG] = {};
        file.read(mark, SELFMAG);
        if (std::memcmp(mark, ELFMAG, SELFMAG) == 0) return path;
        file.clear();
        file.seekg(0);
        path = interpreter_of(file);
    }
    return {};
}

std::string why_not_in(const std::string& path, bool asks_for_malloc) {
    if (path.empty()) return {};
    const std::string privilege = why_not_by_privilege(path);
    if (!privilege.empty()) return privilege;
    program_image image{path};
    if (!image.is_for_this_processor()) return "is not a program for x86_64";
    if (!image.has_loader()) {
        return "is statically linked, so no library can be loaded into it. Link it dynamically, or"
               " compile it with <allocscope/define_once/operator_new_delete.hpp>";
    }
    // This loader ends a program if it cannot load a library in LD_PRELOAD.
    if (image.loader().find("/ld-musl-") != std::string::npos) {
        return "is linked with musl, and the library to load needs glibc. Link it with glibc";
    }
    return asks_for_malloc ? why_not_by_sanitizer(image.dynamic_names()) : "";
}

}  // namespace

std::string why_not_loadable(const std::string& path) {
    return why_not_in(program_behind(path), false);
}

std::string why_not_preloadable(const std::string& path) {
    return why_not_in(program_behind(path), true);
}

bool is_static(const std::string& path) {
    const std::string file = program_behind(path);
    if (file.empty()) return false;
    program_image image{file};
    return image.is_for_this_processor() && !image.has_loader();
}

}  // namespace allocscope_tools

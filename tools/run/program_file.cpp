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

// What the loader reads of a program. If the file cannot be read, the loader will say so.
class program_image {
public:
    program_image(std::istream& file, const Elf64_Ehdr& header) : file_(file) {
        for (unsigned i = 0; i < header.e_phnum && file_; ++i) {
            segments_.push_back(read<Elf64_Phdr>(header.e_phoff + i * header.e_phentsize));
        }
    }

    bool has_loader() const {
        for (const Elf64_Phdr& each : segments_) {
            if (each.p_type == PT_INTERP) return true;
        }
        return !file_;
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

    std::istream& file_;
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
        if (names.find(std::string(1, '\0') + mark[0]) == std::string::npos) continue;
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

// The interpreter of a script may be a script itself. The kernel allows this many in a row.
constexpr int most_interpreters = 5;

std::string why_not_behind(const std::string& path, bool asks_for_malloc, int interpreters) {
    // The kernel will refuse other files. Opening a FIFO would wait for its writer.
    if (interpreters > most_interpreters || !is_executable(path)) return {};
    std::ifstream file{path, std::ios::binary};
    Elf64_Ehdr header = {};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        file.clear();
        file.seekg(0);
        const std::string interpreter = interpreter_of(file);
        return why_not_behind(interpreter, asks_for_malloc, interpreters + 1);
    }
    const std::string privilege = why_not_by_privilege(path);
    if (!privilege.empty()) return privilege;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
        return "is not a program for x86_64";
    }
    program_image image{file, header};
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
    return why_not_behind(path, false, 0);
}

std::string why_not_preloadable(const std::string& path) {
    return why_not_behind(path, true, 0);
}

}  // namespace allocscope_tools

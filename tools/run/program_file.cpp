#include "program_file.hpp"

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

// The program after "#!"; "" when the file is no script.
std::string interpreter_of(std::istream& file) {
    std::string line;
    std::getline(file, line);
    if (line.compare(0, 2, "#!") != 0) return {};
    std::istringstream words{line.substr(2)};
    std::string interpreter;
    words >> interpreter;
    return interpreter;
}

bool has_loader(std::istream& file, const Elf64_Ehdr& header) {
    for (unsigned i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment = {};
        file.seekg(static_cast<std::streamoff>(header.e_phoff + i * header.e_phentsize));
        file.read(reinterpret_cast<char*>(&segment), sizeof segment);
        if (!file) return true;  // cannot be found out
        if (segment.p_type == PT_INTERP) return true;
    }
    return false;
}

std::string why_not_by_privilege(const std::string& path) {
    struct stat about;
    if (::stat(path.c_str(), &about) != 0 || ::geteuid() == 0) return {};
    const bool changes_user = (about.st_mode & S_ISUID) != 0 && about.st_uid != ::getuid();
    const bool changes_group = (about.st_mode & S_ISGID) != 0 && about.st_gid != ::getgid();
    if (changes_user || changes_group) {
        return "runs with raised privileges (set-user-ID or set-group-ID); the loader ignores"
               " LD_PRELOAD for it. Run it as the user it changes to, or record a copy of it";
    }
    if (::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0) {
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

std::string why_not_preloadable(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    Elf64_Ehdr header = {};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        file.clear();
        file.seekg(0);
        const std::string interpreter = interpreter_of(file);
        return interpreter.empty() || interpreter == path ? "" : why_not_preloadable(interpreter);
    }
    const std::string privilege = why_not_by_privilege(path);
    if (!privilege.empty()) return privilege;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64) {
        return "is not a program for x86_64";
    }
    if (!has_loader(file, header)) {
        return "is statically linked, so no library can be loaded into it. Link it dynamically, or"
               " compile it with <allocscope/define_once/operator_new_delete.hpp>";
    }
    return {};
}

}  // namespace allocscope_tools

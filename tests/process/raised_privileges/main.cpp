// Danger: a program with raised privileges (set-user-id) writes a file where its caller says. Run
// by root it copies itself, makes the copy set-user-id and starts it as nobody. And what a program
// writes after it has given up its privileges is written with those that it has left.

#include "../../support/accounting.hpp"
#include "../../support/escape.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace allocscope_test;

namespace {

constexpr uid_t nobody = 65534;
enum exit_code { saved = 10, not_saved = 11, is_not_secure = 12 };

// A check that fails; whether it left a file.
int fail_a_check(bool is_to_be_secure) {
    if (is_to_be_secure && getauxval(AT_SECURE) == 0) return is_not_secure;
    allocscope::leak_check leaks{"secret"};
    void* left = allocate(5);
    const allocscope::check_result found = leaks.finish();
    release(left);
    ALLOCSCOPE_EXPECT(!found.passed());
    const bool is_told = std::strstr(found.message(), "saved") != nullptr;
    ALLOCSCOPE_EXPECT(!is_to_be_secure || !is_told);
    return found.saved_to()[0] != '\0' ? saved : not_saved;
}

// The window begins as root; the file is nobody's.
int fail_a_check_as_nobody() {
    allocscope::leak_check leaks{"given up"};
    void* left = allocate(5);
    if (setgid(nobody) != 0 || setuid(nobody) != 0) return 99;
    const allocscope::check_result found = leaks.finish();
    release(left);
    struct stat file = {};
    if (stat(found.saved_to(), &file) != 0) return not_saved;
    return file.st_uid == nobody && (file.st_mode & 0777) == 0600 ? saved : 97;
}

bool copy_program(const std::string& to) {
    const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    const int out = open(to.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    char bytes[65536];
    ssize_t got = 0;
    while ((got = read(from, bytes, sizeof bytes)) > 0) {
        if (write(out, bytes, static_cast<std::size_t>(got)) != got) return false;
    }
    close(from);
    close(out);
    return got == 0;
}

int run_as(uid_t user, const std::string& program, const char* mode, const std::string& folder) {
    const pid_t child = fork();
    if (child == 0) {
        setenv("ALLOCSCOPE_EVIDENCE_DIR", folder.c_str(), 1);
        if (user != 0 && (setgid(user) != 0 || setuid(user) != 0)) _exit(99);
        execl(program.c_str(), program.c_str(), mode, static_cast<char*>(nullptr));
        _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool exists(const std::string& path) {
    struct stat found = {};
    return stat(path.c_str(), &found) == 0;
}

}  // namespace

int main(int count, char** arguments) {
    watchdog();
    if (count == 2 && std::strcmp(arguments[1], "drop") == 0) return fail_a_check_as_nobody();
    if (count == 2) return fail_a_check(std::strcmp(arguments[1], "secure") == 0);
    if (geteuid() != 0) {
        std::puts("skipped: only root can make a program set-user-id");
        return 77;
    }
    char folder[] = "/tmp/allocscope-test-XXXXXX";
    if (mkdtemp(folder) == nullptr || chmod(folder, 0755) != 0) return 77;
    const std::string here = folder;
    const std::string program = here + "/program";
    ALLOCSCOPE_EXPECT(copy_program(program));

    // Its own user's folder, which the check makes; then one of somebody else, then everybody's.
    ALLOCSCOPE_EXPECT_EQUAL(run_as(0, program, "plain", here + "/own"), saved);
    ALLOCSCOPE_EXPECT(exists(here + "/own"));
    const std::string others = here + "/others";
    ALLOCSCOPE_EXPECT(mkdir(others.c_str(), 0700) == 0 && chown(others.c_str(), nobody, 0) == 0);
    ALLOCSCOPE_EXPECT_EQUAL(run_as(0, program, "plain", others), not_saved);
    ALLOCSCOPE_EXPECT_EQUAL(run_as(0, program, "drop", others), saved);
    const std::string open_to_all = here + "/open";
    ALLOCSCOPE_EXPECT(mkdir(open_to_all.c_str(), 0700) == 0 &&
                      chmod(open_to_all.c_str(), 0777) == 0);
    ALLOCSCOPE_EXPECT_EQUAL(run_as(0, program, "plain", open_to_all), not_saved);

    ALLOCSCOPE_EXPECT(chmod(program.c_str(), 04755) == 0);
    const int ended = run_as(nobody, program, "secure", here + "/stolen");
    const bool is_stolen = exists(here + "/stolen");
    if (std::system(("rm -rf " + here).c_str()) != 0) return 1;
    if (ended == is_not_secure) {
        std::puts("skipped: set-user-id has no effect in /tmp");
        return verdict() != 0 ? 1 : 77;
    }
    ALLOCSCOPE_EXPECT_EQUAL(ended, not_saved);
    ALLOCSCOPE_EXPECT(!is_stolen);
    return verdict();
}

#include <allocscope/platform/output_file.hpp>

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using allocscope::detail::descriptor_named_by;
using allocscope::detail::output_file;

namespace {

// A folder of its own, removed at the end.
class scratch_folder {
public:
    scratch_folder() {
        const char* base = std::getenv("TMPDIR");
        path_ = std::string{base != nullptr ? base : P_tmpdir} + "/output_file_XXXXXX";
        REQUIRE(::mkdtemp(&path_[0]) != nullptr);
    }
    ~scratch_folder() {
        const std::string command = "rm -rf '" + path_ + "'";
        if (std::system(command.c_str()) != 0) MESSAGE("not removed: " << path_);
    }
    std::string operator/(const std::string& name) const { return path_ + '/' + name; }
    int entry_count() const {
        int count = 0;
        ::DIR* folder = ::opendir(path_.c_str());
        while (const struct dirent* entry = ::readdir(folder)) {
            if (entry->d_name != std::string{"."} && entry->d_name != std::string{".."}) ++count;
        }
        ::closedir(folder);
        return count;
    }

private:
    std::string path_;
};

int put(const std::string& path, const std::string& text) {
    output_file out;
    int error = out.open(path.c_str());
    if (error == 0) error = out.write(text.data(), text.size());
    if (error == 0) error = out.commit();
    return error;
}

std::string contents(const std::string& path) {
    std::string text;
    const int descriptor = ::open(path.c_str(), O_RDONLY);
    if (descriptor < 0) return "(not there)";
    char buffer[256];
    for (;;) {
        const auto got = ::read(descriptor, buffer, sizeof buffer);
        if (got <= 0) break;
        text.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    return text;
}

// The open descriptor of a file whose path begins so; -1 if there is none.
int descriptor_below(const std::string& beginning) {
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        char path[4096] = {};
        const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
        if (::readlink(link.c_str(), path, sizeof path - 1) < 0) continue;
        if (std::string{path}.compare(0, beginning.size(), beginning) == 0) return descriptor;
    }
    return -1;
}

bool is_link(const std::string& path) {
    struct stat found;
    return ::lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode);
}

int open_descriptors() {
    int count = 0;
    for (int i = 0; i < 256; ++i) count += ::fcntl(i, F_GETFD) >= 0 ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("output_file: a new file has the text, mode 0600 whatever the umask, and no company") {
    const scratch_folder folder;
    const int descriptors = open_descriptors();
    const ::mode_t mask = ::umask(0);
    CHECK(put(folder / "a.txt", "hello") == 0);
    ::umask(mask);
    CHECK(contents(folder / "a.txt") == "hello");
    struct stat found;
    REQUIRE(::stat((folder / "a.txt").c_str(), &found) == 0);
    CHECK((found.st_mode & 0777U) == 0600U);
    CHECK(folder.entry_count() == 1);
    CHECK(open_descriptors() == descriptors);
}

TEST_CASE("output_file: without commit the old file stays and nothing new is left behind") {
    const scratch_folder folder;
    const int descriptors = open_descriptors();
    CHECK(put(folder / "a.txt", "old") == 0);
    {
        output_file out;
        REQUIRE(out.open((folder / "a.txt").c_str()) == 0);
        CHECK(out.write("new", 3) == 0);
        CHECK(folder.entry_count() == 2);
        CHECK(contents(folder / "a.txt") == "old");
    }
    CHECK(contents(folder / "a.txt") == "old");
    CHECK(folder.entry_count() == 1);
    CHECK(open_descriptors() == descriptors);
}

TEST_CASE("output_file: a planted link is replaced, what it points to is not touched") {
    const scratch_folder folder;
    CHECK(put(folder / "victim", "precious") == 0);
    REQUIRE(::symlink((folder / "victim").c_str(), (folder / "soft").c_str()) == 0);
    REQUIRE(::link((folder / "victim").c_str(), (folder / "hard").c_str()) == 0);
    REQUIRE(::symlink("nowhere", (folder / "dangling").c_str()) == 0);
    for (const char* name : {"soft", "hard", "dangling"}) {
        CHECK(put(folder / name, "report") == 0);
        CHECK(contents(folder / name) == "report");
        CHECK_FALSE(is_link(folder / name));
    }
    CHECK(contents(folder / "victim") == "precious");
    CHECK(contents(folder / "nowhere") == "(not there)");
}

TEST_CASE("output_file: paths that cannot be are refused with their reason") {
    const scratch_folder folder;
    output_file out;
    CHECK(out.open(nullptr) == EINVAL);
    CHECK(put("", "x") == ENOENT);
    CHECK(put(folder / "", "x") == EISDIR);
    CHECK(put(folder / "new/", "x") == EISDIR);
    CHECK(put(folder / "missing/a.txt", "x") == ENOENT);
    CHECK(put("/", "x") == EISDIR);
    CHECK(put(folder / std::string(300, 'n'), "x") == ENAMETOOLONG);
    CHECK(put(folder / (std::string(5000, 'n') + "/a"), "x") == ENAMETOOLONG);
    CHECK(put(folder / "a.txt", "x") == 0);
    CHECK(put(folder / "a.txt/b", "x") == ENOTDIR);
    CHECK(folder.entry_count() == 1);
}

TEST_CASE("output_file: the longest possible name is possible, and a name without a folder") {
    const scratch_folder folder;
    CHECK(put(folder / std::string(255, 'n'), "x") == 0);
    CHECK(contents(folder / std::string(255, 'n')) == "x");
    char before[4096];
    REQUIRE(::getcwd(before, sizeof before) != nullptr);
    REQUIRE(::chdir((folder / "").c_str()) == 0);
    CHECK(put("b.txt", "here") == 0);
    REQUIRE(::chdir(before) == 0);
    CHECK(contents(folder / "b.txt") == "here");
}

TEST_CASE("output_file: a changed working directory does not move the file") {
    const scratch_folder folder;
    char before[4096];
    REQUIRE(::getcwd(before, sizeof before) != nullptr);
    REQUIRE(::chdir((folder / "").c_str()) == 0);
    output_file out;
    CHECK(out.open("c.txt") == 0);
    REQUIRE(::chdir("/") == 0);
    CHECK(out.write("x", 1) == 0);
    CHECK(out.commit() == 0);
    REQUIRE(::chdir(before) == 0);
    CHECK(contents(folder / "c.txt") == "x");
}

// A network file system may refuse only the close. Here the descriptor is gone by then.
TEST_CASE("output_file: a close that fails leaves the file as it was") {
    const scratch_folder folder;
    const std::string path = folder / "kept";
    REQUIRE(put(path, "old") == 0);
    {
        output_file out;
        REQUIRE(out.open(path.c_str()) == 0);
        REQUIRE(out.write("new", 3) == 0);
        REQUIRE(::close(descriptor_below(folder / ".allocscope-")) == 0);
        CHECK(out.commit() == EBADF);
    }
    CHECK(contents(path) == "old");
    CHECK(folder.entry_count() == 1);
}

TEST_CASE("output_file: devices are written to, not replaced") {
    CHECK(put("/dev/null", "gone") == 0);
    struct stat found;
    REQUIRE(::lstat("/dev/null", &found) == 0);
    CHECK(S_ISCHR(found.st_mode));
    if (::access("/dev/full", W_OK) == 0) CHECK(put("/dev/full", "x") == ENOSPC);
    const scratch_folder folder;
    REQUIRE(::symlink("/dev/null", (folder / "link").c_str()) == 0);
    CHECK(put(folder / "link", "gone") == 0);
    CHECK(is_link(folder / "link"));
}

TEST_CASE("output_file: a FIFO is written to while somebody reads it, and never waited for") {
    const scratch_folder folder;
    const std::string fifo = folder / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    CHECK(put(fifo, "nobody") == ENXIO);
    const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    CHECK(put(fifo, "hello") == 0);
    char got[16] = {};
    CHECK(::read(reader, got, sizeof got) == 5);
    CHECK(std::string{got} == "hello");
    ::close(reader);
    struct stat found;
    REQUIRE(::lstat(fifo.c_str(), &found) == 0);
    CHECK(S_ISFIFO(found.st_mode));
}

TEST_CASE("output_file: a FIFO that belongs to somebody else gets nothing") {
    if (::geteuid() != 0) return;  // only root can make one
    const scratch_folder folder;
    const std::string fifo = folder / "fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
    REQUIRE(::chown(fifo.c_str(), 12345, 12345) == 0);
    const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
    CHECK(put(fifo, "secret") == EACCES);
    ::close(reader);
}

TEST_CASE("output_file: the names of this process's descriptors") {
    CHECK(descriptor_named_by("/dev/stdout") == 1);
    CHECK(descriptor_named_by("/dev/stderr") == 2);
    CHECK(descriptor_named_by("/dev/fd/17") == 17);
    CHECK(descriptor_named_by("/proc/self/fd/0") == 0);
    for (const char* other : {"/dev/fd/", "/dev/fd/1x", "/dev/fd/-1", "/dev/stdout2", "stdout",
                              "/dev/fd/99999999999999999999", "/dev/fd/1/2", ""}) {
        CHECK(descriptor_named_by(other) == -1);
    }
    CHECK(put("/dev/fd/1000000", "x") != 0);
}

TEST_CASE("output_file: a descriptor's name goes on where the descriptor stands") {
    const scratch_folder folder;
    const std::string path = folder / "log";
    const int log = ::open(path.c_str(), O_WRONLY | O_CREAT, 0644);
    REQUIRE(log >= 0);
    CHECK(::write(log, "before ", 7) == 7);
    CHECK(put("/dev/fd/" + std::to_string(log), "report ") == 0);
    CHECK(::write(log, "after", 5) == 5);
    ::close(log);
    CHECK(contents(path) == "before report after");
}

TEST_CASE("output_file: a non-blocking pipe that is full is waited for") {
    int ends[2];
    REQUIRE(::pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
    const std::string text(1000000, 'x');
    std::size_t got = 0;
    std::thread reader{[&] {
        char buffer[4096];
        for (;;) {
            const auto length = ::read(ends[0], buffer, sizeof buffer);
            if (length == 0) break;
            if (length > 0) got += static_cast<std::size_t>(length);
        }
    }};
    CHECK(allocscope::detail::write_all(ends[1], text.data(), text.size()) == 0);
    ::close(ends[1]);
    reader.join();
    ::close(ends[0]);
    CHECK(got == text.size());
}

TEST_CASE("output_file: a bad descriptor is an error") {
    CHECK(allocscope::detail::write_all(-1, "x", 1) == EBADF);
    CHECK(allocscope::detail::write_all(-1, "x", 0) == 0);
}

TEST_CASE(
    "output_file: over the limit of file size: EFBIG, no signal, no file, the mask as before") {
    const scratch_folder folder;
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        const struct rlimit small = {1024, 1024};
        if (::setrlimit(RLIMIT_FSIZE, &small) != 0) ::_exit(10);
        if (put(folder / "big", std::string(5000, 'x')) != EFBIG) ::_exit(11);
        if (folder.entry_count() != 0) ::_exit(12);
        ::sigset_t mask;
        ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
        if (::sigismember(&mask, SIGXFSZ) != 0) ::_exit(13);
        ::sigpending(&mask);
        if (::sigismember(&mask, SIGXFSZ) != 0) ::_exit(14);
        if (put(folder / "small", std::string(1000, 'x')) != 0) ::_exit(15);
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("output_file: what is written to a closed stdout or stderr is not in the file") {
    const scratch_folder folder;
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (int i = 0; i <= 2; ++i) ::close(i);
        output_file out;
        if (out.open((folder / "report").c_str()) != 0) ::_exit(10);
        for (int i = 0; i <= 2; ++i) {
            if (::write(i, "noise", 5) != -1 || errno != EBADF) ::_exit(11);
        }
        if (out.write("text", 4) != 0 || out.commit() != 0) ::_exit(12);
        // All are free again.
        for (int i = 0; i <= 2; ++i) {
            if (::open("/dev/null", O_RDONLY) != i) ::_exit(13);
        }
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK(contents(folder / "report") == "text");
}

TEST_CASE("output_file: many threads writing one path leave one whole file") {
    const scratch_folder folder;
    const std::string path = folder / "shared";
    std::thread writers[4];
    int failures[4] = {};
    for (int i = 0; i < 4; ++i) {
        writers[i] = std::thread{[&, i] {
            const std::string text(5000, static_cast<char>('a' + i));
            for (int round = 0; round < 50; ++round) failures[i] += put(path, text) != 0 ? 1 : 0;
        }};
    }
    for (std::thread& each : writers) each.join();
    for (const int failed : failures) CHECK(failed == 0);
    const std::string text = contents(path);
    CHECK(text.size() == 5000);
    CHECK(text == std::string(5000, text[0]));
    CHECK(folder.entry_count() == 1);
}

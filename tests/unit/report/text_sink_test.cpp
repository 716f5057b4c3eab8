#include <allocscope/report/text_sink.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>

#include <fcntl.h>
#include <unistd.h>

using allocscope::detail::put_report;

static_assert(std::is_base_of<std::runtime_error, allocscope::report_error>::value,
              "whoever catches runtime_error catches a report that could not be written");

TEST_CASE("text_sink: an error names the target and the reason") {
    std::string error = "untouched";
    CHECK_FALSE(put_report("x", "/nonexistent/x", error));
    CHECK(error == "cannot write report to '/nonexistent/x': No such file or directory");
    CHECK_FALSE(put_report("x", "/nonexistent/\x1b[31m", error));
    CHECK(error == "cannot write report to '/nonexistent/\\x1b[31m': No such file or directory");
    CHECK_FALSE(put_report("x", "", error));
    CHECK(error == "cannot write report to '': No such file or directory");
    CHECK_FALSE(put_report("x", "/", error));
    CHECK(error == "cannot write report to '/': Is a directory");
    CHECK_FALSE(put_report("x", 777, error));
    CHECK(error == "cannot write report to descriptor 777: Bad file descriptor");
}

TEST_CASE("text_sink: a target that is none is an error of its own") {
    std::string error;
    CHECK_FALSE(put_report("x", static_cast<const char*>(nullptr), error));
    CHECK(error == "cannot write report to a null path: a path is needed");
    CHECK_FALSE(put_report("x", -1, error));
    CHECK(error == "cannot write report to descriptor -1: a descriptor must not be negative");
    CHECK_FALSE(put_report("x", static_cast<std::FILE*>(nullptr), error));
    CHECK(error == "cannot write report to a null FILE*: an open file is needed");
}

TEST_CASE("text_sink: what went well leaves the message alone") {
    std::string error = "untouched";
    CHECK(put_report("x", "/dev/null", error));
    CHECK(error == "untouched");
}

TEST_CASE("text_sink: a full device is noticed, on a descriptor and through stdio's buffer") {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full < 0) return;  // no such device here
    std::string error;
    CHECK_FALSE(put_report("x", full, error));
    CHECK(error == "cannot write report to descriptor " + std::to_string(full) +
                       ": No space left on device");
    std::FILE* file = ::fdopen(full, "w");
    CHECK_FALSE(put_report("x", file, error));
    CHECK(error == "cannot write report to a FILE*: No space left on device");
    std::fclose(file);
}

TEST_CASE("text_sink: a stdio file has the text at once and stays open") {
    std::FILE* file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::string error;
    std::fputs("before ", file);
    CHECK(put_report("report", file, error));
    char got[32] = {};
    CHECK(::pread(::fileno(file), got, sizeof got - 1, 0) == 13);
    CHECK(got == std::string{"before report"});
    CHECK(std::fputs("after", file) >= 0);
    std::fclose(file);
}

TEST_CASE("text_sink: a file open for reading only is an error") {
    std::FILE* file = std::fopen("/dev/null", "r");
    REQUIRE(file != nullptr);
    std::string error;
    CHECK_FALSE(put_report("x", file, error));
    CHECK(error == "cannot write report to a FILE*: Bad file descriptor");
    std::fclose(file);
}

#include "share.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

int main() {
    const allocscope::scope window{"spdlog"};
    std::ostringstream out;
    auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out);
    auto logger = std::make_shared<spdlog::logger>("a logger with a long name, really", sink);
    logger->set_pattern("[%H:%M:%S] [%n] [thread %t] %v");
    logger->enable_backtrace(4);
    logger->info("a message with {} and {}", 1, std::string(60, 'x'));
    spdlog::register_logger(logger);
    auto named = spdlog::create<spdlog::sinks::basic_file_sink_mt>("another logger", "/dev/null");
    spdlog::init_thread_pool(16, 1);
    auto later = std::make_shared<spdlog::async_logger>("later", sink, spdlog::thread_pool());
    later->warn("{}", 2.5);
    later->flush();
    const std::string text = fmt::format("{:>60} {}", "right", 42);
    const std::string list = fmt::format("{}", std::vector<int>(30, 7));
    fmt::memory_buffer buffer;
    fmt::format_to(std::back_inserter(buffer), "{:600}", "wide");
    const int result = testing::own_lines(window.stats(), __FILE__, 15);
    spdlog::shutdown();
    return result;
}

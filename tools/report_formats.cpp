#include "report_formats.hpp"

namespace allocscope_tools {

const report_format* format_named(const std::string& name) {
    return allocscope::detail::format_named(name.c_str());
}

const report_format* format_of_path(const std::string& path) {
    return allocscope::detail::format_of_path(path.c_str());
}

const report_format* format_of_path(const std::string& path, std::string& error) {
    return allocscope::detail::format_of_path(path.c_str(), error);
}

std::string format_names() {
    return allocscope::detail::format_names();
}

std::string format_endings() {
    return allocscope::detail::format_endings();
}

std::string convert_snapshot(const std::string& in, const std::string& out) {
    std::string error;
    allocscope::convert_snapshot(in.c_str(), out.c_str(), error);
    return error;
}

}  // namespace allocscope_tools

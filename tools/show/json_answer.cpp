#include "json_answer.hpp"

#include <cstdio>

#include <unistd.h>

namespace allocscope_tools {

namespace {

using allocscope::detail::json_writer;

void write_group(json_writer& json, const allocscope::group& each, bool has_details) {
    json.begin('{');
    json.field("name", each.name.c_str());
    json.field("objects", each.objects);
    json.field("bytes", each.bytes);
    json.field("allocations", each.allocations);
    json.field("bytes_allocated", each.bytes_allocated);
    json.field("stacks", each.stacks);
    if (has_details) {
        json.field("peak_objects", each.peak_objects);
        json.field("peak_bytes", each.peak_bytes);
        json.field("temporary", each.temporary);
        json.field("lifetime_us", each.lifetime_us);
    }
    json.end('}');
}

void print_groups(const show_request& asked, const shown_snapshot& shown) {
    const allocscope::snapshot::window_info& info = shown.of.rows.info();
    const allocscope::snapshot_groups groups = groups_of(asked, shown);
    allocscope::detail::arena memory;
    allocscope::detail::text_out text{memory};
    json_writer json{text, info.is_difference};
    json.begin('{');
    allocscope::detail::write_json_head(json, info);
    json.field("by", allocscope::detail::name_of(asked.key));
    json.begin("groups", '[');
    std::size_t written = 0;
    for (const allocscope::group& each : groups) {
        if (is_left_out(asked, each)) continue;
        if (asked.has_rows && written++ == asked.text.rows) break;
        json.line();
        write_group(json, each, info.has_details);
    }
    json.end(']');
    json.end('}');
    json.line();
    std::fwrite(text.view().data(), 1, text.size(), stdout);
}

}  // namespace

std::string print_json(const show_request& asked, const shown_snapshot& shown) {
    if (asked.as == shown_as::groups) {
        print_groups(asked, shown);
        return {};
    }
    std::string error;
    std::fflush(stdout);
    allocscope::detail::try_write(allocscope::detail::write_json_body, shown.of.rows, stdout, error,
                                  allocscope::stack_value::live_bytes, shown.of.source);
    return std::ferror(stdout) != 0 ? std::string{} : error;  // main() says why
}

}  // namespace allocscope_tools

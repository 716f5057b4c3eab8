#include "show_request.hpp"

#include "../missing_names.hpp"
#include "../option_words.hpp"
#include "json_answer.hpp"

#include <allocscope/platform/terminal_width.hpp>
#include <allocscope/report/unplaced_allocations.hpp>

#include <cstdio>
#include <iterator>

namespace allocscope_tools {

namespace {

using allocscope::group_key;
using allocscope::stack_value;
using allocscope::detail::shown_stacks;
using allocscope::detail::sourced_snapshot;
using allocscope::detail::stack_source;
using allocscope::detail::wanted_parts;

constexpr named_value<group_key> group_names[] = {
    {"place", group_key::place},   {"type", group_key::type},     {"function", group_key::function},
    {"file", group_key::file},     {"module", group_key::module}, {"size", group_key::size},
    {"thread", group_key::thread}, {"age", group_key::age}};

constexpr named_value<stack_value> order_names[] = {
    {"bytes", stack_value::live_bytes},          {"objects", stack_value::live_objects},
    {"allocated", stack_value::bytes_allocated}, {"allocations", stack_value::allocations},
    {"peak", stack_value::peak_bytes},           {"temporary", stack_value::temporary}};

constexpr named_value<allocscope::shown_types> types_names[] = {
    {"all", allocscope::shown_types::all},
    {"proven", allocscope::shown_types::proven},
    {"source", allocscope::shown_types::with_source}};

std::string read_types(const std::string& text, show_request& into) {
    return read_named(text, types_names, into.filter.types);
}

void choose(shown_as wanted, show_request& into) {
    into.has_two_tables |= into.as != shown_as::rows && into.as != wanted;
    into.as = wanted;
}

std::string read_by(const std::string& text, show_request& into) {
    choose(shown_as::groups, into);
    return read_named(text, group_names, into.key);
}

std::string read_sort(const std::string& text, show_request& into) {
    into.has_order = true;
    return read_named(text, order_names, into.order);
}

std::string read_rows(const std::string& text, show_request& into) {
    std::uint64_t rows = 0;
    std::string problem = read_amount(text, rows);
    into.text.rows = static_cast<std::size_t>(rows);
    into.has_rows = true;
    return problem;
}

std::string read_format(const std::string& text, show_request& into) {
    constexpr named_value<bool> names[] = {{"text", false}, {"json", true}};
    const std::string problem = read_named(text, names, into.is_json);
    return problem.empty() ? "" : problem + "; allocscope convert writes all other formats";
}

std::string read_frames(const std::string& text, show_request& into) {
    return read_whole(text, 0, 65536, into.text.frames);
}

std::string read_only(const std::string& text, show_request& into) {
    into.frame = text;
    return text.empty() ? "it must be a part of a name" : "";
}

std::string read_type(const std::string& text, show_request& into) {
    into.type = text;
    return text.empty() ? "it must be a part of a type's name" : "";
}

std::string read_module(const std::string& text, show_request& into) {
    into.module = text;
    return text.empty() ? "it must be a part of a file's name" : "";
}

std::string read_thread(const std::string& text, show_request& into) {
    into.thread = text;
    return text.empty() ? "it must be a part of a thread's name, or its number" : "";
}

std::string read_least_bytes(const std::string& text, show_request& into) {
    return read_amount(text, into.filter.least_bytes);
}

std::string read_least_objects(const std::string& text, show_request& into) {
    return read_amount(text, into.filter.least_objects);
}

std::string read_older(const std::string& text, show_request& into) {
    return read_duration(text, into.filter.older_than);
}

std::string read_younger(const std::string& text, show_request& into) {
    return read_duration(text, into.filter.younger_than);
}

std::string read_tree(const std::string&, show_request& into) {
    choose(shown_as::callees, into);
    return {};
}

std::string read_callers(const std::string&, show_request& into) {
    choose(shown_as::callers, into);
    return {};
}

constexpr verb_option<show_request> show_options[] = {
    {"--by", read_by},
    {"--sort", read_sort},
    {"--rows", read_rows},
    {"--frames", read_frames},
    {"--only", read_only},
    {"--type", read_type},
    {"--module", read_module},
    {"--thread", read_thread},
    {"--older", read_older},
    {"--younger", read_younger},
    {"--min-bytes", read_least_bytes},
    {"--min-objects", read_least_objects},
    {"--types", read_types},
    {"--format", read_format},
    {"--tree", read_tree, false},
    {"--callers", read_callers, false},
};

bool chooses_ages(const show_request& asked) {
    return asked.filter.older_than != 0 || asked.filter.younger_than != 0;
}

bool asks_for_ages(const show_request& asked) {
    return chooses_ages(asked) || asked.key == group_key::age;
}

bool chooses_stacks(const show_request& asked) {
    return chooses_ages(asked) || !asked.frame.empty() || !asked.type.empty() ||
           !asked.module.empty() || !asked.thread.empty() || asked.filter.least_bytes != 0 ||
           asked.filter.least_objects != 0 || asked.filter.types != allocscope::shown_types::all;
}

// Filters and sums are computed from stacks.
bool needs_stacks(const show_request& asked) {
    return asked.as != shown_as::rows || chooses_stacks(asked);
}

// How many rows, from the first one, need their frames.
std::size_t framed_rows(const show_request& asked) {
    if (asked.text.frames == 0 || asked.as != shown_as::rows) return 0;
    if (asked.text.sort != allocscope::row_order::objects) return allocscope::detail::every_row;
    return asked.text.rows;  // the file has the rows in this order
}

wanted_parts parts_of_files(const show_request& asked) {
    wanted_parts wanted;  // everything
    if (asked.is_json && asked.as == shown_as::rows && asked.files.size() > 1) return wanted;
    wanted.has_stacks =
        asked.is_json || needs_stacks(asked) || (asked.files.size() > 1 && !asked.is_difference);
    // Which rows of several files will come first is not known yet. Rows of several files are the
    // same row if the paths of their files are equal.
    wanted.has_user_frames = asked.files.size() > 1;
    wanted.framed_rows = chooses_stacks(asked) || wanted.has_user_frames ? 0 : framed_rows(asked);
    return wanted;
}

// Adds a file. Returns "", or why it cannot be read.
std::string load_file(const std::string& file, const wanted_parts& wanted, shown_snapshot& into,
                      sourced_snapshot& made) {
    std::string error;
    const allocscope::detail::loaded_parts* parts = nullptr;
    if (!allocscope::detail::load_snapshot(file.c_str(), made.rows, error, wanted, &parts)) {
        return error;
    }
    into.files.push_back({made.rows, parts});
    if (!wanted.has_stacks || !allocscope::detail::can_be_source(*parts)) return {};
    into.sources.push_back(std::make_unique<stack_source>(allocscope::detail::source_of(*parts)));
    made.source = into.sources.back().get();
    return {};
}

// Returns "", or what the user asked for that the snapshot in this file does not have.
std::string what_is_missing(const show_request& asked, const std::string& file,
                            const sourced_snapshot& of) {
    const bool is_of_details =
        asked.order == stack_value::peak_bytes || asked.order == stack_value::temporary;
    if (needs_stacks(asked) && !of.stacks().are_known()) {
        return file + " has no stacks: its window recorded counters only";
    }
    if (is_of_details && !of.rows.info().has_details) {
        return file +
               " does not know the peak, nor what was temporary; record it with allocscope run"
               " --details, or options::details";
    }
    if (asks_for_ages(asked) && of.rows.info().age_count == 0) {
        return file +
               " does not know how old its objects are; record it with allocscope run --age-step "
               "1s,"
               " or options::age_step";
    }
    if (asked.thread.empty()) return {};
    const shown_stacks stacks = of.stacks();
    std::size_t threads = 0;
    stacks.with_threads(
        [&threads](const allocscope::snapshot::thread*, std::size_t count) { threads = count; });
    if (threads == 0 && stacks.count() != 0) {
        return file + " does not know its threads: it is a difference, or an older allocscope" +
               " saved it";
    }
    return {};
}

// Loads the second file minus the first.
std::string load_difference(const show_request& asked, shown_snapshot& into) {
    if (asks_for_ages(asked)) {
        return "a difference does not know how old objects are; allocscope show shows the ages in"
               " one file";
    }
    const wanted_parts wanted = parts_of_files(asked);
    sourced_snapshot earlier;
    sourced_snapshot later;
    std::string error = load_file(asked.files[0], wanted, into, earlier);
    if (error.empty()) error = load_file(asked.files[1], wanted, into, later);
    // A snapshot of no window is empty, so it lacks nothing that a difference needs.
    using allocscope::detail::is_of_no_window;
    if (error.empty() && !is_of_no_window(earlier.rows)) {
        error = what_is_missing(asked, asked.files[0], earlier);
    }
    if (error.empty() && !is_of_no_window(later.rows)) {
        error = what_is_missing(asked, asked.files[1], later);
    }
    if (!error.empty()) return error;
    if (later.rows.info().moment_count > 1) {
        into.note = "\na difference has no line of what was alive over time; allocscope show " +
                    asked.files[1] + " has one\n";
    }
    into.of = allocscope::detail::difference(later, earlier, parts_of_files(asked).has_stacks);
    return {};
}

}  // namespace

namespace {

// JSON has all rows and all frames, so what cuts a table has no meaning there.
std::string asked_of_json(const show_request& asked) {
    if (!asked.is_json) return {};
    if (asked.as == shown_as::callees || asked.as == shown_as::callers || asked.text.frames != 0) {
        return "--format json has every row with all frames of its stack, and no tree; leave"
               " --tree, --callers and --frames out";
    }
    if (asked.as == shown_as::rows && (asked.has_rows || asked.has_order)) {
        return "--format json has every row, those with most objects first; leave --rows and"
               " --sort out, or sum the rows with --by";
    }
    return {};
}

}  // namespace

std::string read_show_request(const char* verb, const arguments& words, show_request& into) {
    std::string problem = read_words(verb, words, show_options, into, into.files);
    if (!problem.empty()) return problem;
    into.filter.frame = into.frame.c_str();
    into.filter.type = into.type.c_str();
    into.filter.module = into.module.c_str();
    into.filter.thread = into.thread.c_str();
    if (into.is_histogram && (into.as != shown_as::groups || into.text.frames != 0)) {
        return "a histogram has no trees and no stacks; allocscope show and diff have --tree,"
               " --callers and --frames";
    }
    if (into.has_two_tables) {
        return "--by, --tree and --callers are three tables; show one after the other";
    }
    if (into.has_order && into.as == shown_as::rows) {
        if (into.order == stack_value::live_bytes) {
            into.text.sort = allocscope::row_order::bytes;
        } else if (into.order != stack_value::live_objects) {
            into.as = shown_as::groups;  // rows have numbers only of live objects
        }
    }
    if (into.as == shown_as::groups && into.text.frames != 0) {
        return "--frames shows the stack below a row, and sums have none: show --frames without"
               " --by, and with --sort bytes or objects; or the calls, with --tree or --callers";
    }
    return asked_of_json(into);
}

std::string load_merged(const arguments& files, const wanted_parts& wanted, shown_snapshot& into) {
    std::vector<sourced_snapshot> parts(files.size());
    for (std::size_t i = 0; i < files.size(); ++i) {
        std::string error = load_file(files[i], wanted, into, parts[i]);
        if (!error.empty()) return error;
    }
    if (parts.size() == 1) {
        into.of = parts[0];
        return {};
    }
    std::string error;
    if (allocscope::detail::merge(parts, into.of, error)) return {};
    return "the files cannot be merged: " + error;
}

std::string load_what_is_shown(const show_request& asked, shown_snapshot& shown) {
    const bool has_two_sides = asked.is_difference && asked.files.size() == 2;
    std::string error = has_two_sides ? load_difference(asked, shown)
                                      : load_merged(asked.files, parts_of_files(asked), shown);
    if (error.empty() && !has_two_sides) {
        error = what_is_missing(asked, asked.files.back(), shown.of);
    }
    if (!error.empty()) return error;
    if (chooses_stacks(asked) && shown.of.stacks().are_known()) {
        const std::size_t framed =
            asked.is_json ? allocscope::detail::every_row : framed_rows(asked);
        shown.of = allocscope::detail::filtered(shown.of, asked.filter, framed);
    } else if (asked.files.size() > 1 && framed_rows(asked) != 0) {
        lay_out_shown_frames(shown.of.rows, shown.files, asked.text, shown.row_frames);
    }
    return {};
}

allocscope::snapshot_groups groups_of(const show_request& asked, const shown_snapshot& shown) {
    return allocscope::detail::grouping::made(shown.of.stacks(), asked.key, asked.order);
}

// A line for the end of a table of sums; empty if the sums have all that was allocated.
std::string what_no_stack_has(const allocscope::snapshot& rows,
                              const allocscope::detail::stack_numbers& sum) {
    allocscope::detail::arena memory;
    allocscope::detail::text_out line{memory};
    line << '\n';
    if (!allocscope::detail::write_unplaced(line, rows.info(), sum)) return {};
    line << '\n';
    return {line.view().data(), line.size()};
}

std::string print_what_is_shown(const show_request& asked, const shown_snapshot& shown) {
    if (asked.is_json) return print_json(asked, shown);
    const allocscope::snapshot& rows = shown.of.rows;
    if (asked.as == shown_as::rows) {
        std::string error;
        std::fflush(stdout);
        allocscope::write_text(rows, stdout, error, asked.text);
        std::fputs(shown.note.c_str(), stdout);
        std::fputs(what_could_name_rows(rows, 1).c_str(), stdout);
        return {};
    }
    allocscope::text_options text = asked.text;
    if (allocscope::detail::is_terminal(1)) text.width = allocscope::detail::terminal_columns(1);
    const auto from = asked.as == shown_as::callers ? allocscope::tree_from::allocation
                                                    : allocscope::tree_from::main;
    std::string table;
    allocscope::detail::stack_numbers sum;
    if (asked.as == shown_as::groups) {
        const allocscope::snapshot_groups groups = groups_of(asked, shown);
        for (const allocscope::group& each : groups) sum.add(allocscope::detail::numbers_of(each));
        table = allocscope::to_table(groups, text);
    } else {
        const allocscope::detail::shown_stacks stacks = shown.of.stacks();
        stacks.for_each([&sum](const allocscope::snapshot::stack& each) {
            sum.add(allocscope::detail::numbers_of(each));
        });
        table = allocscope::detail::tree_of(stacks, from, asked.order, text);
    }
    table += what_no_stack_has(rows, sum);
    std::fwrite(table.data(), 1, table.size(), stdout);
    return {};
}

}  // namespace allocscope_tools

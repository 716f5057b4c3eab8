// allocscope show FILE, allocscope diff OLD NEW, allocscope histogram FILE [NEW]
#include "../option_words.hpp"
#include "../verbs.hpp"
#include "show_request.hpp"

#include <allocscope/snapshot/loss_sentences.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace allocscope_tools {

namespace {

constexpr const char* sums =
    "  --by KEY         sums by place, type, function, file, module, size, thread or age,\n"
    "                   including what was allocated and is gone\n";

constexpr const char* trees_and_stacks =
    "  --tree           the calls, from main() to those that allocate; --callers: in reverse\n"
    "  --frames N       print N frames of the stack below each row; in a tree, N levels of calls\n";

constexpr const char* what_is_shown =
    "  --sort KEY       bytes or objects alive, allocated (bytes) or allocations; with details\n"
    "                   also peak (bytes) or temporary (allocations)\n"
    "  --rows N         print N rows (50)%s\n"
    "  --only TEXT      stacks with TEXT in the name of a function, file, module or type, or\n"
    "                   with a frame that is printed so: program+0x12f0\n"
    "  --type TEXT      objects with TEXT in the name of their type\n"
    "  --module TEXT    allocations of a program or library with TEXT in its name\n"
    "  --thread TEXT    what the thread with this number, or TEXT in its name, allocated; also a\n"
    "                   name as --by thread prints it\n"
    "  --older TIME     objects that were allocated at least so long ago, such as 10s or 5min, if\n"
    "                   their age is known: see allocscope run --age-step; --younger TIME: less\n"
    "  --min-bytes N    places with at least N bytes, such as 64K\n"
    "  --min-objects N  places with at least N objects\n"
    "  --types WHICH    proven: ? for types that are not proven; source: how each type was found;\n"
    "                   all\n"
    "  --format NAME    text or json (text); json is for other programs, and has every row\n"
    "\n"
    "exit code: 0; 2 when a file could not be read, and stderr says why\n";

int print_help(const char* first, bool is_histogram = false) {
    std::fputs(first, stdout);
    std::fputs(sums, stdout);
    if (!is_histogram) std::fputs(trees_and_stacks, stdout);
    std::printf(what_is_shown, is_histogram ? "" : ", and the rest in one line");
    return exit_fine;
}

// Reads the words and loads the files that they name. Returns false after it has printed what is
// wrong.
bool has_loaded(const char* verb, const char* usage, const arguments& words,
                std::size_t least_files, std::size_t most_files, show_request& asked,
                shown_snapshot& shown) {
    asked.is_difference = most_files == 2;
    std::string error = read_show_request(verb, words, asked);
    if (error.empty() && (asked.files.size() < least_files || asked.files.size() > most_files)) {
        error = wrong_number_of_files(asked.files.size(), usage);
    }
    if (error.empty()) error = load_what_is_shown(asked, shown);
    if (!error.empty()) refuse(verb, error);
    return error.empty();
}

// Prints the losses to stderr. A text report has them in its head, but a table has no head, and
// stdout gets only the table.
void say_losses(const char* verb, const allocscope::snapshot& rows) {
    const auto& info = rows.info();
    for (std::size_t i = 0; i < info.loss_count; ++i) {
        std::fprintf(stderr, "allocscope %s: not recorded: %lld %s\n", verb,
                     static_cast<long long>(info.losses[i].count),
                     printable(allocscope::detail::sentence_of(info.losses[i])).c_str());
    }
}

int print_shown(const char* verb, const show_request& asked, const shown_snapshot& shown) {
    const std::string error = print_what_is_shown(asked, shown);
    if (!error.empty()) return refuse(verb, error);
    if (asked.as != shown_as::rows && !asked.is_json) say_losses(verb, shown.of.rows);
    return exit_fine;
}

// A whole number, with its sign in a difference; "~" before it if it is an estimate.
std::string number_text(std::uint64_t number, const allocscope::snapshot& of) {
    const bool is_sampled = of.info().record == allocscope::recording::sampled;
    return (is_sampled ? "~" : "") + std::to_string(static_cast<std::int64_t>(number));
}

}  // namespace

int show(const arguments& words) {
    if (asks_for_help(words)) {
        return print_help(
            "usage: allocscope show [options] FILE...\n"
            "\n"
            "Prints a saved snapshot: what snapshot::save() or allocscope run --output\n"
            "NAME.allocscope wrote. Several files are merged: their numbers are added up.\n"
            "\n");
    }
    show_request asked;
    shown_snapshot shown;
    constexpr std::size_t any_number = static_cast<std::size_t>(-1);
    if (!has_loaded("show", "show [options] FILE...", words, 1, any_number, asked, shown))
        return exit_bad_input;
    return print_shown("show", asked, shown);
}

int diff(const arguments& words) {
    if (asks_for_help(words)) {
        return print_help(
            "usage: allocscope diff [options] OLD NEW\n"
            "\n"
            "Prints what is new (+) and what is gone (-) in NEW, compared with OLD.\n"
            "\n");
    }
    show_request asked;
    shown_snapshot shown;
    if (!has_loaded("diff", "diff [options] OLD NEW", words, 2, 2, asked, shown))
        return exit_bad_input;
    return print_shown("diff", asked, shown);
}

// The columns are those of Rubinius' histo, with the type in place of the class.
int histogram(const arguments& words) {
    if (asks_for_help(words)) {
        return print_help(
            "usage: allocscope histogram [options] FILE [NEW]\n"
            "\n"
            "Prints how many objects and bytes of each type are alive in a saved snapshot, or how\n"
            "these numbers changed from it to NEW. Numbers are whole, so that programs can read\n"
            "them; ~ marks estimates.\n"
            "\n",
            true);
    }
    show_request asked;
    asked.is_histogram = true;
    asked.as = shown_as::groups;
    asked.key = allocscope::group_key::type;
    shown_snapshot loaded;
    if (!has_loaded("histogram", "histogram [options] FILE [NEW]", words, 1, 2, asked, loaded))
        return exit_bad_input;
    if (!loaded.of.stacks().are_known()) {
        return refuse("histogram",
                      asked.files[0] + " has no types: its window recorded counters only");
    }
    if (asked.is_json) return print_shown("histogram", asked, loaded);
    std::printf("%12s %16s  %s\n", "objects", "bytes", allocscope::detail::name_of(asked.key));
    std::size_t shown = 0;
    const allocscope::snapshot_groups groups = groups_of(asked, loaded);
    for (const allocscope::group& each : groups) {
        if (is_left_out(asked, each)) continue;
        if (shown++ == asked.text.rows) break;
        allocscope::detail::arena memory;
        allocscope::detail::text_out name{memory};
        write_printable(name, each.name.c_str());
        std::printf("%12s %16s  %s\n", number_text(each.objects, loaded.of.rows).c_str(),
                    number_text(each.bytes, loaded.of.rows).c_str(), name.c_str());
    }
    say_losses("histogram", loaded.of.rows);
    return exit_fine;
}

}  // namespace allocscope_tools

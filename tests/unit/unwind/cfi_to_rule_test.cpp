// The rules are compared with what readelf makes of the same bytes: it interprets the programs of
// .eh_frame too, but shares nothing with ours.
// not with: asan (its own library has most of the rows; changed tables are read with it, see
// cfi_machine_test.cpp)

#include <allocscope/unwind/cfi_to_rule.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "elf_file_image.hpp"

#include <unistd.h>

namespace {

using allocscope::detail::find_holding_module;
using allocscope::detail::find_unwind_rule;
using allocscope::detail::holding_module;
using allocscope::detail::rule_from_eh_frame;
using allocscope::detail::rule_kind;
using allocscope::detail::unwind_rule;
using unwind_test::elf_file_image;

std::string text_of(const unwind_rule& rule) {
    const char* const names[] = {"unknown",    "frame_pointer", "from_sp",   "from_bp",
                                 "outermost",  "unsupported",   "realigned", "no_table",
                                 "unsupported"};  // saved_sp: readelf does not say which expression
    std::ostringstream out;
    out << names[static_cast<int>(rule.kind)];
    if (rule.kind == rule_kind::from_sp || rule.kind == rule_kind::from_bp) {
        out << ' ' << rule.cfa_offset;
        if (rule.restores_bp) out << ", bp at " << rule.bp_offset;
    }
    return out.str();
}

using columns = std::map<std::string, std::string>;

std::string column(const columns& row, const char* name) {
    const auto found = row.find(name);
    return found == row.end() ? "u" : found->second;
}

// "c-16" is -16, anything else is not a place below the CFA.
bool below_cfa(const std::string& text, int& offset) {
    return std::sscanf(text.c_str(), "c%d", &offset) == 1;
}

unwind_rule rule_of(const columns& row) {
    unwind_rule rule;
    if (column(row, "ra") == "u") return rule.kind = rule_kind::outermost, rule;
    rule.kind = rule_kind::unsupported;
    int at = 0;
    const std::string bp = column(row, "rbp");
    if (bp == "exp" && column(row, "CFA") == "exp" && column(row, "ra") == "c-8") {
        return rule_kind::realigned;  // readelf does not say which expression
    }
    bool restores = below_cfa(bp, at);
    if (column(row, "ra") != "c-8" || (!restores && bp != "u" && bp != "s")) return rule;
    if (column(row, "rsp") != "u" && column(row, "rsp") != "s") return rule;
    if (restores && (at > -16 || at % 8 != 0)) return rule;
    char from[4] = {};
    int offset = 0;
    if (std::sscanf(column(row, "CFA").c_str(), "%3[a-z]%d", from, &offset) != 2) return rule;
    const bool is_sp = std::string{from} == "rsp";
    if (!is_sp && std::string{from} != "rbp") return rule;
    if (is_sp && (offset < 8 || offset % 8 != 0)) return rule;
    if (!is_sp && offset == 16 && restores && at == -16) {
        return allocscope::detail::frame_pointer_rule;
    }
    if (is_sp && offset + at < 0) {  // below sp: it has been popped
        restores = false;
        at = 0;
    }
    rule.kind = is_sp ? rule_kind::from_sp : rule_kind::from_bp;
    rule.restores_bp = restores;
    rule.bp_offset = static_cast<std::int16_t>(at);
    rule.cfa_offset = offset;
    return rule;
}

// One row for the code [begin, end).
struct expected_row {
    std::uint64_t begin = 0, end = 0;
    bool is_signal_frame = false;
    columns values;
};

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in{line};
    std::vector<std::string> words;
    for (std::string word; in >> word;) {
        const bool is_name_of_number = word[0] == '(' && !words.empty();  // "r2 (rcx)"
        if (!is_name_of_number) words.push_back(word);
    }
    return words;
}

// What readelf says about a file; nothing when there is no readelf.
class readelf_rows {
public:
    explicit readelf_rows(const std::string& path) {
        const std::string command =
            "readelf --wide --debug-dump=frames-interp,no-follow-links '" + path + "' 2>/dev/null";
        std::FILE* output = ::popen(command.c_str(), "r");
        if (output == nullptr) return;
        char line[4096];
        while (std::fgets(line, sizeof line, output) != nullptr && is_eh_frame_) take(line);
        while (std::fgets(line, sizeof line, output) != nullptr) continue;
        ::pclose(output);
        finish();
    }
    const std::vector<expected_row>& rows() const { return rows_; }

private:
    struct common {
        columns values;
        bool is_signal_frame = false;
    };

    void take(const std::string& line) {
        const std::vector<std::string> words = words_of(line);
        if (line.find("Contents of the .debug_frame") == 0) {
            is_eh_frame_ = false;
        } else if (words.size() > 4 && words[3] == "CIE") {
            finish();
            in_common_ = &commons_[words[0]];
            in_common_->is_signal_frame = words[4].find('S') != std::string::npos;
        } else if (words.size() > 5 && words[3] == "FDE") {
            finish();
            const common& of = commons_[words[4].substr(words[4].find('=') + 1)];
            unsigned long long begin = 0;
            unsigned long long end = 0;
            std::sscanf(words[5].c_str(), "pc=%llx..%llx", &begin, &end);
            function_ = {expected_row{begin, end, of.is_signal_frame, of.values}};
        } else if (words.size() > 2 && words[0] == "LOC") {
            titles_ = words;
        } else if (words.size() == titles_.size() && !words.empty() && words[0].size() == 16) {
            columns values;
            for (std::size_t i = 1; i < words.size(); ++i) values[titles_[i]] = words[i];
            if (in_common_ != nullptr) {
                in_common_->values = values;
            } else if (!function_.empty()) {
                const std::uint64_t at = std::strtoull(words[0].c_str(), nullptr, 16);
                expected_row& last = function_.back();
                expected_row next{at, last.end, last.is_signal_frame, values};
                last.end = at;
                if (last.end == last.begin) function_.pop_back();
                function_.push_back(next);
            }
        }
    }

    void finish() {
        for (const expected_row& row : function_) {
            if (row.begin < row.end) rows_.push_back(row);
        }
        function_.clear();
        titles_.clear();
        in_common_ = nullptr;
    }

    bool is_eh_frame_ = true;
    std::map<std::string, common> commons_;
    common* in_common_ = nullptr;
    std::vector<std::string> titles_;
    std::vector<expected_row> function_;
    std::vector<expected_row> rows_;
};

// The return addresses that have this row: from the first instruction's to the last byte's.
std::uint64_t first_pc(const expected_row& row) {
    return row.begin + (row.is_signal_frame ? 0 : 1);
}
std::uint64_t last_pc(const expected_row& row) {
    return row.end - (row.is_signal_frame ? 1 : 0);
}

}  // namespace

TEST_CASE("cfi_to_rule: every row of every loaded file is what readelf says") {
    for (const auto& file : unwind_test::loaded_files()) {
        const elf_file_image on_disk{file.path};
        const std::string path = file.path == "/proc/self/exe"
                                     ? "/proc/" + std::to_string(::getpid()) + "/exe"
                                     : file.path;
        const readelf_rows expected{path};
        if (expected.rows().empty()) {
            MESSAGE("no rows from readelf for " << file.path);
            continue;
        }
        REQUIRE(on_disk.is_whole);
        std::map<rule_kind, unsigned> kinds;
        unsigned differences = 0;
        for (const expected_row& row : expected.rows()) {
            const std::string wanted = text_of(rule_of(row.values));
            for (const std::uint64_t pc : {first_pc(row), last_pc(row)}) {
                const unwind_rule rule = rule_from_eh_frame(on_disk.image, pc);
                const holding_module module = find_holding_module(file.base + pc - 1);
                const std::string live = text_of(find_unwind_rule(file.base + pc, module));
                if (text_of(rule) == wanted && live == wanted) continue;
                if (++differences > 10) continue;
                CAPTURE(pc);
                CAPTURE(live);
                CHECK_MESSAGE(text_of(rule) == wanted, file.path);
                CHECK(live == wanted);
            }
            ++kinds[rule_of(row.values).kind];
        }
        CHECK(differences == 0);
        std::ostringstream counts;
        for (const auto& kind : kinds) {
            counts << ' ' << text_of(unwind_rule{kind.first, false, 0, 0}) << ": " << kind.second;
        }
        MESSAGE(file.path << counts.str());
    }
}

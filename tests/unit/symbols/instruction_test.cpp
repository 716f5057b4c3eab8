// Danger: an instruction whose length is wrong makes a jump of its operand; what a function asked
// for by its last jump is then at the line of its caller.

#include <allocscope/symbols/instruction.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using allocscope::symbolize::instruction;
using allocscope::symbolize::instruction_reader;
using allocscope::symbolize::jump_kind;

namespace {

instruction read(const std::vector<unsigned char>& code) {
    return instruction_reader{allocscope::detail::byte_view{code.data(), code.size()}}.read();
}

// One line of objdump: `  401000:<tab>48 89 e5<tab>mov %rsp,%rbp`.
struct listed {
    std::vector<unsigned char> code;
    std::string text;

    explicit listed(const char* line) {
        const char* const from = std::strchr(line, '\t');
        const char* const to = from != nullptr ? std::strchr(from + 1, '\t') : nullptr;
        if (to == nullptr) return;
        text = to + 1;
        for (const char* at = from + 1; at < to;) {
            char* next = nullptr;
            const unsigned long byte = std::strtoul(at, &next, 16);
            if (next == at || next > to) break;
            code.push_back(static_cast<unsigned char>(byte));
            at = next;
        }
    }

    // The name of the instruction, behind the names of its prefixes.
    bool is_jump() const {
        std::string rest = text;
        for (const char* prefix : {"bnd ", "notrack ", "cs ", "ds ", "data16 ", "repz "}) {
            const std::size_t length = std::strlen(prefix);
            while (rest.compare(0, length, prefix) == 0) rest.erase(0, length);
        }
        return rest[0] == 'j' && rest.compare(0, 5, "jrcxz") != 0 &&
               rest.compare(0, 5, "jecxz") != 0;
    }
};

}  // namespace

TEST_CASE("instruction: as long as objdump says, in this program and in the C libraries") {
    const char* const files[] = {"/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
                                 "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"};
    for (const char* const file : files) {
        const std::string command = std::string("objdump -d -w ") + file;
        std::FILE* const list = ::popen(command.c_str(), "r");
        REQUIRE(list != nullptr);
        unsigned long count = 0;
        unsigned long wrong = 0;
        char line[4096];
        while (std::fgets(line, sizeof line, list) != nullptr) {
            listed each{line};
            if (each.code.empty() || each.text.find("(bad)") != std::string::npos) continue;
            const std::size_t bytes = each.code.size();
            each.code.resize(bytes + instruction::most_bytes, 0x90);
            const instruction found = read(each.code);
            ++count;
            if (found.bytes == bytes && (found.jump != jump_kind::none) == each.is_jump()) continue;
            if (++wrong <= 5) MESSAGE(file << ": " << line << " has " << found.bytes << " bytes");
        }
        ::pclose(list);
        CAPTURE(file);
        CHECK(wrong == 0);
        CHECK(count > 50000);
    }
}

TEST_CASE("instruction: where the opcode of a jump is, and of what kind") {
    const instruction conditional = read({0x3e, 0x0f, 0x85, 1, 2, 3, 4});
    CHECK(conditional.jump == jump_kind::long_jump);
    CHECK(conditional.opcode == 1);
    CHECK(conditional.bytes == 7);
    CHECK(read({0xe9, 1, 2, 3, 4}).jump == jump_kind::long_jump);
    CHECK(read({0xeb, 1}).jump == jump_kind::short_jump);
    CHECK(read({0x74, 1}).jump == jump_kind::short_jump);
    const instruction high = read({0x3e, 0x41, 0xff, 0xe3});
    CHECK(high.jump == jump_kind::indirect);
    CHECK(high.opcode == 2);
    CHECK(read({0xff, 0x25, 1, 2, 3, 4}).jump == jump_kind::indirect);
    CHECK(read({0xff, 0xd0}).jump == jump_kind::none);  // a call
    CHECK(read({0xe8, 1, 2, 3, 4}).jump == jump_kind::none);
}

TEST_CASE("instruction: what is cut off, or no instruction, is not known") {
    const std::vector<unsigned char> whole = {0x66, 0x48, 0x81, 0x84, 0x24, 1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(read(whole).bytes == whole.size());
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        CHECK(read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)}).bytes == 0);
    }
    CHECK(read({0x06}).bytes == 0);
    CHECK(read({0x8f, 0xe8, 0x78, 0x95, 0xc0, 0}).bytes == 0);
    CHECK(read(std::vector<unsigned char>(15, 0x66)).bytes == 0);
}

// The operations one by one, and the tables of hostile files.

#include <allocscope/unwind/cfi_to_rule.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../../support/scale.hpp"
#include "elf_file_image.hpp"
#include "unit/binary/eh_frame_builder.hpp"

namespace {

using allocscope::detail::eh_frame_image;
using allocscope::detail::rule_from_eh_frame;
using allocscope::detail::rule_kind;
using allocscope::detail::unwind_rule;
using eh_frame_test::common_parts;
using eh_frame_test::eh_frame_builder;
using eh_frame_test::program;

constexpr std::uint64_t code = eh_frame_builder::address - 0x1000;
constexpr std::uint64_t length = 0x800;

unwind_rule rule_at(std::uint64_t offset, const program& operations,
                    const common_parts& parts = {}) {
    eh_frame_builder tables;
    tables.add_common(parts);
    tables.add_function(code, length, operations);
    tables.add_end();
    return rule_from_eh_frame(tables.finish(), code + offset);
}

// Of the last row.
unwind_rule rule_of(const program& operations, const common_parts& parts = {}) {
    return rule_at(length, operations, parts);
}

bool is_from_sp(const unwind_rule& rule, int offset) {
    return rule.kind == rule_kind::from_sp && rule.cfa_offset == offset && !rule.restores_bp;
}
bool is_from_sp(const unwind_rule& rule, int offset, int bp) {
    return rule.kind == rule_kind::from_sp && rule.cfa_offset == offset && rule.restores_bp &&
           rule.bp_offset == bp;
}
bool is_unsupported(const unwind_rule& rule) {
    return rule.kind == rule_kind::unsupported;
}

// What every rule promises to the walk, wherever it came from.
bool keeps_promises(const unwind_rule& rule) {
    if (rule.restores_bp && rule.kind != rule_kind::realigned &&
        (rule.bp_offset > -16 || rule.bp_offset % 8 != 0)) {
        return false;
    }
    switch (rule.kind) {
        case rule_kind::from_sp:
            return rule.cfa_offset >= 8 && rule.cfa_offset % 8 == 0 &&
                   rule.cfa_offset + rule.bp_offset >= 0;
        case rule_kind::frame_pointer:
            return rule.cfa_offset == 16 && rule.bp_offset == -16 && rule.restores_bp;
        case rule_kind::from_bp:
            return true;
        case rule_kind::saved_sp:
            return rule.cfa_offset >= 0 && rule.cfa_offset % 8 == 0;
        case rule_kind::realigned:
            return rule.cfa_offset % 8 == 0 && rule.bp_offset % 8 == 0 && rule.restores_bp;
        case rule_kind::no_table:
        case rule_kind::unknown:
        case rule_kind::outermost:
        case rule_kind::unsupported:
            return !rule.restores_bp && rule.cfa_offset == 0;
    }
    return false;
}

}  // namespace

TEST_CASE("cfi_machine: the prologue of a function with a frame pointer") {
    // push %rbp; mov %rsp, %rbp; ... leave; ret
    const program operations = {0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0xc6, 0x0c, 7, 8};
    CHECK(is_from_sp(rule_at(1, operations), 8));
    CHECK(is_from_sp(rule_at(2, operations), 16, -16));
    CHECK(is_from_sp(rule_at(4, operations), 16, -16));
    CHECK(rule_at(5, operations).kind == rule_kind::frame_pointer);
    CHECK(rule_at(20, operations).kind == rule_kind::frame_pointer);
    CHECK(is_from_sp(rule_at(21, operations), 8));
    CHECK(is_from_sp(rule_at(length, operations), 8));
}

TEST_CASE("cfi_machine: the address looked up is the one before the return address") {
    CHECK(rule_at(0, {}).kind == rule_kind::unknown);
    CHECK(is_from_sp(rule_at(1, {}), 8));
    CHECK(is_from_sp(rule_at(length, {}), 8));
    CHECK(rule_at(length + 1, {}).kind == rule_kind::unknown);
    common_parts signal;
    signal.augmentation = "zRS";
    const program operations = {0x41, 0x0e, 16};
    CHECK(is_from_sp(rule_at(0, operations, signal), 8));
    CHECK(is_from_sp(rule_at(1, operations, signal), 16));
    CHECK(is_from_sp(rule_at(length - 1, operations, signal), 16));
}

TEST_CASE("cfi_machine: every way to move on") {
    for (const program& move :
         {program{0x41}, program{0x02, 1}, program{0x03, 1, 0}, program{0x04, 1, 0, 0, 0}}) {
        program operations = move;
        operations.insert(operations.end(), {0x0e, 16});
        CHECK(is_from_sp(rule_at(1, operations), 8));
        CHECK(is_from_sp(rule_at(2, operations), 16));
    }
    common_parts parts;
    parts.code_factor = 4;
    CHECK(is_from_sp(rule_at(4, {0x41, 0x0e, 16}, parts), 8));
    CHECK(is_from_sp(rule_at(5, {0x41, 0x0e, 16}, parts), 16));
    // To an address, written as the pointers are.
    parts = {};
    parts.encoding = 0;
    program operations = {0x01};
    for (unsigned i = 0; i < 8; ++i) {
        operations.push_back(static_cast<int>(((code + 0x100) >> (8 * i)) & 0xff));
    }
    operations.insert(operations.end(), {0x0e, 16});
    CHECK(is_from_sp(rule_at(0x100, operations, parts), 8));
    CHECK(is_from_sp(rule_at(0x101, operations, parts), 16));
    operations[2] -= 2;  // backwards
    CHECK(is_unsupported(rule_at(0x101, operations, parts)));
}

TEST_CASE("cfi_machine: every way to say where the CFA is") {
    CHECK(is_from_sp(rule_of({0x0c, 7, 24}), 24));
    CHECK(is_from_sp(rule_of({0x12, 7, 0x7d}), 24));  // -3 * -8
    CHECK(is_from_sp(rule_of({0x0e, 0x80, 0x01}), 128));
    CHECK(is_from_sp(rule_of({0x13, 0x7e}), 16));
    CHECK(is_unsupported(rule_of({0x0d, 3})));
    CHECK(is_unsupported(rule_of({0x0f, 2, 0x77, 8})));
    CHECK(is_from_sp(rule_of({0x0f, 2, 0x77, 8, 0x0c, 7, 32}), 32));  // no longer in force
    const unwind_rule from_bp = rule_of({0x0c, 6, 24, 0x86, 3});
    CHECK(from_bp.kind == rule_kind::from_bp);
    CHECK(from_bp.cfa_offset == 24);
    CHECK(from_bp.restores_bp);
    CHECK(from_bp.bp_offset == -24);
    CHECK(rule_of({0x0c, 6, 16}).kind == rule_kind::from_bp);
    CHECK_FALSE(rule_of({0x0c, 6, 16}).restores_bp);
    CHECK(is_unsupported(rule_of({0x0e, 0})));  // the caller's sp would not be higher
    CHECK(is_unsupported(rule_of({0x0e, 12})));
    CHECK(is_unsupported(rule_of({0x0e, 0x80, 0x80, 0x80, 0x80, 0x10})));  // 2^32
}

TEST_CASE("cfi_machine: every way to say where rbp is") {
    CHECK(is_from_sp(rule_of({0x0e, 24, 0x86, 2}), 24, -16));
    CHECK(is_from_sp(rule_of({0x0e, 24, 0x05, 6, 3}), 24, -24));
    CHECK(is_from_sp(rule_of({0x0e, 24, 0x11, 6, 2}), 24, -16));
    CHECK(is_from_sp(rule_of({0x86, 2, 0xc6}), 8));
    CHECK(is_from_sp(rule_of({0x86, 2, 0x06, 6}), 8));
    CHECK(is_from_sp(rule_of({0x86, 2, 0x08, 6}), 8));
    CHECK(is_from_sp(rule_of({0x86, 2, 0x07, 6}), 8));
    CHECK(is_unsupported(rule_of({0x09, 6, 0})));
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0})));
    CHECK(is_unsupported(rule_of({0x16, 6, 2, 0x76, 0})));
    CHECK(is_unsupported(rule_of({0x14, 6, 2})));
    CHECK(is_unsupported(rule_of({0x15, 6, 2})));
    CHECK(is_from_sp(rule_of({0x10, 6, 2, 0x76, 0, 0xc6}), 8));  // no longer in force
    CHECK(is_unsupported(rule_of({0x86, 1})));                   // where the return address is
    CHECK(is_unsupported(rule_of({0x11, 6, 0x7e})));             // above the CFA
    CHECK(is_unsupported(rule_of({0x86, 0x81, 0x20})));          // 4097 words below
    common_parts parts;
    parts.data_factor = 8;
    parts.code = {0x0c, 7, 8, 0x2f, 16, 1};
    CHECK(is_from_sp(rule_of({0x0e, 16, 0x2f, 6, 2}, parts), 16, -16));
    // What the common record said is what is restored.
    parts = {};
    parts.code = {0x0c, 7, 8, 0x90, 1, 0x86, 2};
    CHECK(is_from_sp(rule_of({0x08, 6}, parts), 8));
    CHECK(is_from_sp(rule_of({0x0e, 16, 0x08, 6, 0xc6}, parts), 16, -16));
}

TEST_CASE(
    "cfi_machine: behind `pop %rbp` the table still has its word, but the register is right") {
    CHECK(is_from_sp(rule_of({0x86, 2}), 8));
    CHECK(is_from_sp(rule_of({0x0e, 24, 0x86, 4}), 24));
    CHECK(is_from_sp(rule_of({0x0e, 24, 0x86, 3}), 24, -24));
    CHECK(rule_of({0x0c, 6, 16, 0x86, 2}).restores_bp);  // nobody knows where sp is
}

TEST_CASE("cfi_machine: the return address is at CFA - 8, or there is no caller") {
    CHECK(rule_of({0x07, 16}).kind == rule_kind::outermost);
    CHECK(rule_of({0x0f, 2, 0x77, 8, 0x07, 16}).kind == rule_kind::outermost);
    CHECK(is_from_sp(rule_of({0x07, 16, 0xd0}), 8));
    CHECK(is_unsupported(rule_of({0x90, 2})));
    CHECK(is_unsupported(rule_of({0x09, 16, 2})));
    CHECK(is_unsupported(rule_of({0x08, 16})));
}

TEST_CASE("cfi_machine: other registers do not matter, but for sp") {
    CHECK(is_from_sp(rule_of({0x83, 2, 0x8c, 3, 0x07, 3, 0x09, 12, 13, 0x10, 15, 1, 0}), 8));
    CHECK(is_from_sp(rule_of({0x2e, 0x90, 0x01, 0x0e, 16}), 16));
    CHECK(is_from_sp(rule_of({0x08, 7}), 8));
    CHECK(is_unsupported(rule_of({0x07, 7})));
    CHECK(is_unsupported(rule_of({0x16, 7, 1, 0x30})));
}

TEST_CASE("cfi_machine: a function that aligns its stack") {
    // lea 8(%rsp), %r10; and $-32, %rsp; push -8(%r10); push %rbp; mov %rsp, %rbp; push %r10
    const program operations = {0x45, 0x0c, 10,   0,    0x4d, 0x10, 6,    2,
                                0x76, 0,    0x42, 0x0f, 3,    0x76, 0x78, 0x06};
    CHECK(is_from_sp(rule_at(5, operations), 8));
    CHECK(is_unsupported(rule_at(6, operations)));
    CHECK(is_unsupported(rule_at(19, operations)));
    const unwind_rule rule = rule_at(21, operations);
    CHECK(rule.kind == rule_kind::realigned);
    CHECK(rule.cfa_offset == -8);
    CHECK(rule.bp_offset == 0);
    CHECK(rule.restores_bp);
    const program good = {0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x78, 0x06};
    CHECK(rule_of(good).kind == rule_kind::realigned);
    for (const int offset : {0x70, 0x08}) {
        program moved = good;
        moved[8] = offset;
        CHECK(rule_of(moved).cfa_offset == (offset == 8 ? 8 : -16));
    }
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 1, 0x0f, 3, 0x76, 0x78, 0x06})));  // odd
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x76, 0x79, 0x06})));
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x77, 0, 0x0f, 3, 0x76, 0x78, 0x06})));  // sp
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0, 0x0f, 3, 0x77, 0x78, 0x06})));
    CHECK(is_unsupported(rule_of({0x10, 6, 3, 0x76, 0, 6, 0x0f, 3, 0x76, 0x78, 0x06})));
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0, 0x0f, 2, 0x76, 0x78})));
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0, 0x0f, 4, 0x76, 0x78, 0x06, 0x06})));
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0, 0x0f, 0})));
    CHECK(is_unsupported(rule_of({0x0f, 3, 0x76, 0x78, 0x06})));  // nobody says where bp is
    CHECK(is_unsupported(rule_of({0x86, 2, 0x0f, 3, 0x76, 0x78, 0x06})));
    CHECK(is_unsupported(rule_of({0x10, 6, 2, 0x76, 0})));
    CHECK(is_unsupported(rule_of({0x10, 6, 4, 0x76, 0x80, 0x80, 0x04, 0x0f, 3, 0x76, 0x78, 6})));
}

TEST_CASE("cfi_machine: rows are remembered eight deep") {
    program operations;
    for (int i = 0; i < 8; ++i) operations.insert(operations.end(), {0x0e, 16 + 8 * i, 0x0a});
    operations.insert(operations.end(), {0x0c, 3, 99, 0x86, 5});
    for (int i = 7; i >= 0; --i) {
        operations.push_back(0x0b);
        CHECK(is_from_sp(rule_of(operations), 16 + 8 * i));
    }
    operations.push_back(0x0b);  // once too often
    CHECK(is_unsupported(rule_of(operations)));
    CHECK(is_unsupported(rule_of({0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a})));
}

TEST_CASE("cfi_machine: a program that cannot be followed is unsupported") {
    CHECK(is_unsupported(rule_of({0x17, 0, 0, 0})));
    CHECK(is_unsupported(rule_of({0x3f, 0, 0, 0})));
    CHECK(is_unsupported(rule_of({0x0f, 100, 0, 0})));  // an expression longer than the program
    CHECK(is_unsupported(rule_of({0x00, 0x00, 0x04})));
    CHECK(is_unsupported(rule_of({0x2e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                  0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80})));
    common_parts parts;
    parts.code.push_back(0x3f);
    CHECK(is_unsupported(rule_of({}, parts)));
    CHECK(is_from_sp(rule_of(program((1U << 20U) - 16, 0x00)), 8));
    CHECK(is_unsupported(rule_of(program((1U << 20U) + 1, 0x00))));
    // What comes after the row that counts does not matter.
    CHECK(is_from_sp(rule_at(1, {0x41, 0x3f}), 8));
}

TEST_CASE("cfi_machine: tables with changed bytes give rules that keep their promises") {
    eh_frame_builder tables;
    std::vector<std::uint64_t> functions;
    for (unsigned i = 0; i < 12; ++i) {
        if (i % 3 == 0) {
            common_parts parts;
            parts.version = i == 0 ? 1 : i == 3 ? 4 : 3;
            parts.augmentation = i == 6 ? "zPLR" : i == 9 ? "zRS" : "zR";
            parts.encoding = i == 3 ? 0x00 : 0x1b;
            tables.add_common(parts);
        }
        functions.push_back(code + i * 0x40);
        tables.add_function(
            functions.back(), 0x40,
            {0x41, 0x0e, 16,   0x86, 2,    0x43, 0x0d, 6,    0x0a, 0x02, 8,    0x0c, 7,    8,
             0x42, 0x0b, 0x10, 6,    2,    0x76, 0,    0x41, 0x0f, 3,    0x76, 0x78, 0x06, 0x42,
             0x0c, 7,    8,    0xc6, 0x2e, 0x81, 1,    0x04, 1,    0,    0,    0,    0x13, 0x7c});
    }
    tables.add_end();
    const auto index_offset = tables.finish().index_address - eh_frame_builder::address;
    std::mt19937 random{20240501};  // NOLINT: the same every time
    const std::vector<std::uint8_t> good = tables.bytes();
    std::vector<std::uint8_t> bytes = good;
    const std::uint8_t favourites[] = {0x00, 0xff, 0x7f, 0x80, 0x01, 0x1b};
    unsigned kinds[8] = {};
    for (long round = allocscope_test::scaled(450000); round > 0; --round) {
        std::size_t changed[4];
        const std::size_t changes = 1 + random() % 4;
        for (std::size_t i = 0; i < changes; ++i) {
            changed[i] = random() % bytes.size();
            const auto how = random() % 3;
            std::uint8_t& byte = bytes[changed[i]];
            if (how == 0) byte = static_cast<std::uint8_t>(random());
            if (how == 1) byte = favourites[random() % sizeof favourites];
            if (how == 2) byte = static_cast<std::uint8_t>(byte ^ (1U << (random() % 8)));
        }
        // Now and then the segment ends early.
        const std::size_t size = random() % 8 == 0 ? random() % bytes.size() : bytes.size();
        std::vector<std::uint8_t> part;
        if (size != bytes.size()) {
            part.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        }
        eh_frame_image image;
        image.index_address = eh_frame_builder::address + index_offset;
        image.index.bytes = {part.empty() ? bytes.data() : part.data(),
                             part.empty() ? bytes.size() : part.size()};
        image.index.address = eh_frame_builder::address;
        image.frames = image.index;
        const std::uint64_t pc = functions[random() % functions.size()] + random() % 0x42;
        const unwind_rule rule = rule_from_eh_frame(image, pc);
        ++kinds[static_cast<int>(rule.kind)];
        if (!keeps_promises(rule)) FAIL("round " << round << ", pc " << pc);
        for (std::size_t i = 0; i < changes; ++i) bytes[changed[i]] = good[changed[i]];
    }
    // The changes reached all kinds of ends.
    CHECK(kinds[static_cast<int>(rule_kind::unknown)] > 100);
    CHECK(kinds[static_cast<int>(rule_kind::frame_pointer)] > 100);
    CHECK(kinds[static_cast<int>(rule_kind::from_sp)] > 100);
    CHECK(kinds[static_cast<int>(rule_kind::realigned)] > 100);
    CHECK(kinds[static_cast<int>(rule_kind::unsupported)] > 100);
}

TEST_CASE("cfi_machine: the word at sp + n, plus 8, as in OpenSSL's assembler") {
    const unwind_rule plain = rule_of({0x0f, 5, 0x77, 24, 0x06, 0x23, 8});
    CHECK(plain.kind == rule_kind::saved_sp);
    CHECK(plain.cfa_offset == 24);
    CHECK_FALSE(plain.restores_bp);
    const unwind_rule saves = rule_of({0x86, 2, 0x0f, 6, 0x77, 0x88, 1, 0x06, 0x23, 8});
    CHECK(saves.kind == rule_kind::saved_sp);
    CHECK(saves.cfa_offset == 136);
    CHECK(saves.restores_bp);
    CHECK(saves.bp_offset == -16);
    CHECK(is_unsupported(rule_of({0x0f, 5, 0x77, 24, 0x06, 0x23, 16})));   // another number
    CHECK(is_unsupported(rule_of({0x0f, 5, 0x77, 25, 0x06, 0x23, 8})));    // odd
    CHECK(is_unsupported(rule_of({0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8})));  // below sp
    CHECK(is_unsupported(rule_of({0x0f, 5, 0x76, 24, 0x06, 0x23, 8})));    // bp
    CHECK(is_unsupported(rule_of({0x0f, 3, 0x77, 24, 0x06})));             // no number
    CHECK(is_unsupported(rule_of({0x0f, 6, 0x77, 24, 0x06, 0x23, 8, 0x06})));
    CHECK(is_unsupported(rule_of({0x0f, 5, 0x77, 24, 0x23, 0x06, 8})));
    CHECK(is_unsupported(
        rule_of({0x10, 6, 2, 0x76, 0, 0x0f, 5, 0x77, 24, 0x06, 0x23, 8})));  // bp by a register
}

TEST_CASE("cfi_machine: real tables with changed bytes give rules that keep their promises") {
    const unwind_test::elf_file_image file{"/proc/self/exe"};
    REQUIRE(file.is_whole);
    // Copies that end where the segment ends, so that a sanitizer sees every step beyond.
    const auto& from = file.image.frames.bytes;
    std::vector<std::uint8_t> bytes(from.data, from.data + from.size);
    eh_frame_image image = file.image;
    image.frames.bytes.data = bytes.data();
    image.index = image.frames;
    REQUIRE(image.index.holds(image.index_address));
    const auto header = allocscope::detail::read_eh_frame_header(image.index, image.index_address);
    const std::size_t entries = header.table.size / 8;
    REQUIRE(entries > 100);
    std::mt19937 random{7};  // NOLINT: the same every time
    const long rounds = allocscope_test::is_sanitized ? 3000 : 100000;  // there, a millisecond each
    for (long round = 0; round < rounds; ++round) {
        const std::size_t entry = random() % entries;
        std::int32_t pair[2];
        std::memcpy(pair, header.table.data + entry * 8, sizeof pair);
        const auto address_of = [&](std::int32_t offset) {
            return image.index_address + static_cast<std::uint64_t>(std::int64_t{offset});
        };
        const std::size_t record = address_of(pair[1]) - image.frames.address;
        const bool in_table = random() % 8 == 0;
        const std::size_t start =
            in_table ? static_cast<std::size_t>(header.table.data - bytes.data()) + entry * 8
                     : record;
        const std::size_t changed = start + random() % (in_table ? 8 : 48);
        if (changed >= bytes.size()) continue;
        const std::uint8_t good = bytes[changed];
        bytes[changed] = static_cast<std::uint8_t>(random());
        const unwind_rule rule = rule_from_eh_frame(image, address_of(pair[0]) + random() % 64);
        bytes[changed] = good;
        if (!keeps_promises(rule)) FAIL("round " << round);
    }
}

// The assembler writes the instructions.
#include <allocscope/symbols/machine_code.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include <link.h>

using allocscope::plain::arena;
using allocscope::symbolize::code_target;
using allocscope::symbolize::machine_code;
using allocscope::symbolize::object_bytes;

// Never run. A label is the address behind an instruction. clang++ -O0 makes no short jumps.
asm(R"(
        .text
    code_begin:
        call code_end
    behind_call:
        .skip 8, 0x90
        call *some_word(%rip)
    behind_call_of_word:
        .skip 8, 0x90
        call *%rax
    behind_call_of_register:
        .skip 8, 0x90
        .byte 0xeb, code_begin - behind_short_jump
    behind_short_jump:
        .skip 8, 0x90
        .byte 0x74, code_begin - behind_short_condition
    behind_short_condition:
        .skip 8, 0x90
        jmp code_end
    behind_long_jump:
        .skip 8, 0x90
        jne code_end
    behind_long_condition:
        .skip 8, 0x90
        jmp *some_word(%rip)
    behind_jump_to_word:
        .skip 8, 0x90
        jmp *%rax
    behind_jump_to_register:
        .skip 8, 0x90
        jmp *(%rbx)
    behind_jump_to_memory:
        .skip 8, 0x90
        add %rcx, %rax
        jmp *%rax
    behind_jump_to_sum:
        .skip 8, 0x90
        add %rcx, %r11
        notrack jmp *%r11
    behind_jump_to_high_sum:
        .skip 8, 0x90
        add %rcx, %rdx
        jmp *%rax
    behind_jump_beside_sum:
        .skip 1024, 0x90
    code_end:
        ret
        .data
    some_word:
        .quad 0
        .text
)");

extern "C" {
extern const char code_begin, code_end, some_word;
extern const char behind_call, behind_call_of_word, behind_call_of_register, behind_short_jump,
    behind_short_condition, behind_long_jump, behind_long_condition, behind_jump_to_word,
    behind_jump_to_register, behind_jump_to_memory, behind_jump_to_sum, behind_jump_to_high_sum,
    behind_jump_beside_sum;
}

namespace {

// Of the program, which is the first module.
std::uint64_t load_base() {
    std::uint64_t base = 0;
    ::dl_iterate_phdr(
        [](::dl_phdr_info* module, std::size_t, void* out) {
            *static_cast<std::uint64_t*>(out) = module->dlpi_addr;
            return 1;
        },
        &base);
    return base;
}

std::uint64_t linked(const char& at) {
    return reinterpret_cast<std::uintptr_t>(&at) - load_base();
}

struct own_code {
    arena memory;
    object_bytes file{memory, "/proc/self/exe"};
    machine_code code{memory, file};

    // What may end at an address.
    std::string kinds_before(const char& label) const {
        const std::uint64_t behind = linked(label);
        std::string kinds;
        if (code.called_before(behind) != 0) kinds += "call ";
        if (code.long_jump_before(behind) != 0) kinds += "long ";
        if (code.short_jump_before(behind) != 0) kinds += "short ";
        if (code.jump_word_before(behind) != 0) kinds += "word ";
        if (code.is_jump_of_switch(behind - 2)) kinds += "switch ";
        return kinds;
    }
};

}  // namespace

TEST_CASE("machine_code: an instruction is known by the address behind it") {
    const own_code own;
    CHECK(own.kinds_before(behind_call) == "call ");
    CHECK(own.kinds_before(behind_call_of_word).empty());
    CHECK(own.kinds_before(behind_call_of_register).empty());
    CHECK(own.kinds_before(behind_short_jump) == "short ");
    CHECK(own.kinds_before(behind_short_condition) == "short ");
    CHECK(own.kinds_before(behind_long_jump) == "long ");
    CHECK(own.kinds_before(behind_long_condition) == "long ");
    CHECK(own.kinds_before(behind_jump_to_word) == "word ");
    CHECK(own.kinds_before(behind_jump_to_register).empty());
    CHECK(own.kinds_before(behind_jump_to_memory).empty());
    CHECK(own.kinds_before(behind_jump_to_sum) == "switch ");
    CHECK(own.kinds_before(behind_jump_to_high_sum) == "switch ");
    CHECK(own.kinds_before(behind_jump_beside_sum).empty());
    CHECK(own.kinds_before(code_end).empty());
}

TEST_CASE("machine_code: calls and jumps lead forwards and backwards") {
    const own_code own;
    const machine_code& code = own.code;
    CHECK(code.called_before(linked(behind_call)) == linked(code_end));
    CHECK(code.short_jump_before(linked(behind_short_jump)) == linked(code_begin));
    CHECK(code.short_jump_before(linked(behind_short_condition)) == linked(code_begin));
    CHECK(code.long_jump_before(linked(behind_long_jump)) == linked(code_end));
    CHECK(code.long_jump_before(linked(behind_long_condition)) == linked(code_end));
    CHECK(code.jump_word_before(linked(behind_jump_to_word)) == linked(some_word));
}

TEST_CASE("machine_code: a call of a word leads to that word") {
    const own_code own;
    const code_target direct = own.code.called_by(linked(behind_call));
    CHECK(direct.address == linked(code_end));
    CHECK_FALSE(direct.is_word);
    const code_target word = own.code.called_by(linked(behind_call_of_word));
    CHECK(word.address == linked(some_word));
    CHECK(word.is_word);
    CHECK(own.code.called_by(linked(behind_call_of_register)).address == 0);
}

TEST_CASE("machine_code: what is not in .text is no instruction") {
    const own_code own;
    CHECK(own.kinds_before(some_word).empty());
    CHECK(own.code.called_by(0).address == 0);
    CHECK(own.code.called_by(~std::uint64_t{0}).address == 0);
    arena memory;
    const object_bytes none{memory, "/no/such/file"};
    CHECK(machine_code{memory, none}.called_by(linked(behind_call)).address == 0);
}

TEST_CASE("machine_code: a stub is close to the code, but not in it") {
    const own_code own;
    constexpr std::uint64_t far_away = std::uint64_t{1} << 40;
    const std::uint64_t text_begin = own.file.find(".text")->address;
    CHECK_FALSE(own.code.may_be_stub(text_begin));
    CHECK_FALSE(own.code.may_be_stub(linked(code_begin)));
    CHECK(own.code.may_be_stub(text_begin - 1));
    CHECK_FALSE(own.code.may_be_stub(text_begin + far_away));
}

TEST_CASE("machine_code: code calls the same, or does not, or that is not known") {
    const own_code own;
    const machine_code& code = own.code;
    const std::uint64_t call = linked(behind_call);
    CHECK(code.calls_the_same(linked(code_begin), call, call));
    CHECK_FALSE(code.calls_the_same(call, linked(behind_short_condition), call));
    CHECK(code.calls_the_same(call, linked(behind_long_jump), call));  // it jumps there
    CHECK(code.calls_the_same(call, call, linked(behind_call_of_register)));
}

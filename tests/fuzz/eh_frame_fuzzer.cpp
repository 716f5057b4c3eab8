// From the bytes of .eh_frame to a rule: no read beyond the bytes, no endless loop, no rule that
// breaks its promises, whatever the bytes are.
//
//     input     | .eh_frame_hdr: offset, 4 bytes | code: offset, 4 bytes | the segment ... |
//
// Both count from the start of the segment, which lies at a fixed address; code may lie before it.

#include <allocscope/unwind/cfi_to_rule.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace {

using allocscope::detail::byte_view;
using allocscope::detail::eh_frame_header;
using allocscope::detail::eh_frame_image;
using allocscope::detail::rule_kind;
using allocscope::detail::unwind_rule;

constexpr std::uint64_t segment_address = 0x7f0000010000;
constexpr std::size_t head_bytes = 8;

bool keeps_promises(const unwind_rule& rule) {
    if (rule.restores_bp && rule.bp_offset % 8 != 0) return false;
    switch (rule.kind) {
        case rule_kind::from_sp:
            if (rule.cfa_offset < 8 || rule.cfa_offset % 8 != 0) return false;
            return !rule.restores_bp || rule.bp_offset <= -16;
        case rule_kind::saved_sp:
            if (rule.cfa_offset < 0 || rule.cfa_offset % 8 != 0) return false;
            [[fallthrough]];
        case rule_kind::from_bp:
            return !rule.restores_bp || rule.bp_offset <= -16;
        case rule_kind::frame_pointer:
            return rule.leads_like(allocscope::detail::frame_pointer_rule);
        case rule_kind::realigned:
            return rule.restores_bp && rule.cfa_offset % 8 == 0;
        case rule_kind::unknown:
        case rule_kind::outermost:
        case rule_kind::unsupported:
            return !rule.restores_bp && rule.cfa_offset == 0;
        case rule_kind::no_table:
            break;
    }
    return false;  // a table does not say that there is none
}

std::uint64_t signed_number(const std::uint8_t* bytes) {
    std::int32_t number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return static_cast<std::uint64_t>(std::int64_t{number});
}

void check_rule(const eh_frame_image& image, std::uint64_t pc) {
    if (!keeps_promises(allocscope::detail::rule_from_eh_frame(image, pc))) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size <= head_bytes) return 0;
    eh_frame_image image;
    image.index.bytes = byte_view{data, size}.from(head_bytes);
    image.index.address = segment_address;
    image.index_address = segment_address + signed_number(data);
    image.frames = image.index;
    check_rule(image, segment_address + signed_number(data + 4));
    // What the table lists, at both ends and inside.
    const eh_frame_header header =
        allocscope::detail::read_eh_frame_header(image.index, image.index_address);
    for (std::size_t i = 0; i < 4 && (i + 1) * 8 <= header.table.size; ++i) {
        const std::uint64_t code = image.index_address + signed_number(header.table.data + i * 8);
        for (const std::uint64_t offset : {0U, 1U, 5U, 0x20U}) check_rule(image, code + offset);
    }
    return 0;
}

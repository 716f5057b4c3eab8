// strip takes the symbols of a module, but not the records that say how to unwind its stack:
//
//     .eh_frame   | CIE | FDE 0x12a0..0x12f3 | FDE 0x1300..0x13d8 | ...
//
// Compilers write one for each function. A part that they moved away because it is rarely used
// (.text.unlikely) has a record of its own. It counts as a function of its own: a jump leads to it,
// as it does to a function that is called last, so it is not certain to which function it belongs.
// In assembly written by hand, one record may be of several functions. Then they count as one.
#include "function_bounds.hpp"

#include <allocscope/binary/eh_frame.hpp>
#include <allocscope/binary/elf_image.hpp>

namespace allocscope_tools {

function_bounds::function_bounds(const allocscope::symbolize::object_bytes& object) {
    using namespace allocscope::detail;
    const elf_section* const section = object.find(".eh_frame");
    if (section == nullptr) return;
    const elf_section* const index = object.find(".eh_frame_hdr");
    arena meanwhile;
    const mapped_bytes frames{object.read(meanwhile, section), section->address};
    std::uint64_t next = 0;
    for (std::uint64_t at = frames.address; frames.holds(at); at = next) {
        frame_description found;
        next = 0;
        const eh_record kind =
            read_frame_description(frames, at, index != nullptr ? index->address : 0, found, next);
        // What is described as a signal's frame is what the kernel made a handler return to.
        if (kind == eh_record::description && !found.is_signal_frame) {
            functions_.add(found.begin, found.end, 0);
        }
        if (kind == eh_record::end || next <= at) break;
    }
    functions_.finish();
}

}  // namespace allocscope_tools

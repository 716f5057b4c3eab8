// How many frames of a recorded stack a snapshot shows.

#include <allocscope/naming/named_stack.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

using allocscope::snapshot;
using allocscope::detail::named_stack;

namespace {

// Five calls; two others are inlined in the second one, and one in the last.
struct five_calls {
    explicit five_calls(std::uint16_t user_frame) {
        for (const int inlined : {1, 2, 6}) frames[inlined].is_inlined = true;
        stack.frames = frames;
        stack.frame_count = 8;
        stack.user_frame = user_frame;
    }

    snapshot::frame frames[8]{};
    named_stack stack;
};

}  // namespace

TEST_CASE("named_stack: as many calls are shown as the window has, with what is inlined in them") {
    const std::uint16_t shown[] = {1, 4, 5, 6, 8, 8};
    for (std::uint32_t calls = 1; calls <= 6; ++calls) {
        CAPTURE(calls);
        CHECK(five_calls{0}.stack.shown_frames(calls) == shown[calls - 1]);
        CHECK(five_calls{8}.stack.shown_frames(calls) == shown[calls - 1]);  // none is the user's
    }
}

TEST_CASE("named_stack: the stack goes on to the user's frame") {
    CHECK(five_calls{4}.stack.shown_frames(1) == 5);
    CHECK(five_calls{1}.stack.shown_frames(1) == 4);  // with the call that it is inlined in
    CHECK(five_calls{4}.stack.shown_frames(4) == 6);
    CHECK(five_calls{0}.stack.shown_frames(128) == 8);
}

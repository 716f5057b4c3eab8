// Danger: a module is unloaded and another one loaded at its place. What was known about the old
// one's code leads through the new one's frames to nowhere, or to frames of nobody.
//
// Modules that are the same but for the size of one frame take turns at one address; the stacks
// through them are walked by cache and memo, and compared with backtrace(3).

#include "../../support/process_test.hpp"
#include "../../support/update_chain.hpp"
#include "plugin_function.hpp"

#include <allocscope/platform/stack_bounds.hpp>
#include <allocscope/unwind/chain_memo.hpp>
#include <allocscope/unwind/stack_walk.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>

using namespace allocscope_test;
using namespace allocscope::detail;

namespace {

constexpr std::uint32_t most_frames = 24;

struct seen_stacks {
    rule_cache rules;
    chain_memo memo;
    walked_stack walked;
    std::vector<std::uintptr_t> known[chain_memo::entry_count];
    std::size_t known_count = 0;
    int hits = 0, equal = 0, different = 0;
};
seen_stacks seen;

// As record/cohort_lookup.hpp finds a stack.
const std::vector<std::uintptr_t>& find_stack(std::uintptr_t frame) {
    remembered_chain& chain =
        *seen.memo.entry_for(frame, read_stack_word(frame + sizeof(std::uintptr_t)));
    if (chain.counters == nullptr) chain.counters = &seen.known[seen.known_count++];
    auto& known = *static_cast<std::vector<std::uintptr_t>*>(chain.counters);
    if (chain_memo::is_unchanged(chain, frame)) {
        ++seen.hits;
        return known;
    }
    std::uintptr_t frames[walked_stack::most_words];
    if (!update_chain(chain, frame, seen.rules, frames)) {
        stack_walk{current_stack_bounds(frame), seen.rules, seen.walked}.run(frame, most_frames);
        seen.memo.remember(chain, frame, seen.walked);
        for (std::uint32_t i = 0; i < chain.frame_count; ++i) {
            frames[i] = seen.walked.return_addresses[i];
        }
    }
    known.assign(frames, frames + chain.frame_count);
    return known;
}

__attribute__((noinline)) void look_up(void*) {
    const auto& found = find_stack(reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
    void* frames[most_frames + 8];
    void** const last = frames + ::backtrace(frames, most_frames + 8);
    std::vector<std::uintptr_t> expected;
    for (void** each = std::find(frames, last, __builtin_return_address(0)); each != last; ++each) {
        expected.push_back(reinterpret_cast<std::uintptr_t>(*each));
    }
    expected.resize(std::min<std::size_t>(expected.size(), most_frames));
    ++(found == expected && found.size() > 3 ? seen.equal : seen.different);
}

// From several depths, so that one module's stacks lie over another's.
__attribute__((noinline)) void call_at_depth(plugin_function call, int depth) {
    volatile char space[64] = {};
    if (depth != 0) {
        call_at_depth(call, depth - 1);
    } else {
        call(&look_up, nullptr);
    }
    space[0] = space[1];
}

// Where it was loaded.
std::uintptr_t use_module(const std::string& name) {
    void* const module = ::dlopen((ALLOCSCOPE_PLUGIN_FOLDER "/" + name + ".so").c_str(), RTLD_NOW);
    if (!ALLOCSCOPE_EXPECT(module != nullptr)) return 0;
    const auto call = reinterpret_cast<plugin_function>(::dlsym(module, "plugin_call"));
    for (int round = 0; round < 3; ++round) {
        for (int depth = 0; depth < 6; ++depth) call_at_depth(call, depth);
    }
    const std::uintptr_t base = static_cast<link_map*>(module)->l_addr;
    ::dlclose(module);
    return base;
}

}  // namespace

int main() {
    watchdog();
    void* frames[4];
    ::backtrace(frames, 4);  // loads libgcc
    ALLOCSCOPE_EXPECT(seen.memo.prepare(most_frames));
    const std::vector<std::string> names = {"plugin_small", "plugin_large", "plugin_nameless",
                                            "plugin_unnamed"};
    int replaced = 0;
    std::uintptr_t before = 0;
    for (std::size_t round = 0; round < 48; ++round) {
        // Every one after every other.
        const std::uintptr_t base = use_module(names[(round + round / 4 * (1 + round / 16)) % 4]);
        if (base == before) ++replaced;
        before = base;
    }
    std::printf("%d modules at the place of another, %d stacks equal, %d different, %d known\n",
                replaced, seen.equal, seen.different, seen.hits);
    ALLOCSCOPE_EXPECT(replaced > 10);
    ALLOCSCOPE_EXPECT_EQUAL(seen.different, 0);
    ALLOCSCOPE_EXPECT(seen.hits > 100);  // and within one module the memo is of use
    return verdict();
}

// merged_modules.hpp - the modules of several processes as one list with distinct addresses.
//
// Room:     grouping (floor 8), not malloc-safe
// Called:   by grouping/merged_stacks.hpp and derived_stacks.hpp
// Threads:  one at a time
// Memory:   of the arena that is passed in; copies of frames whose addresses change
//
//     merged_modules modules{memory};
//     modules.add(first, count);                   // of each process
//     stack.frames = modules.frames_of(stack.frames, stack.frame_count);
//
// Each process has its libraries at other addresses. In the merged snapshot a library has the
// address from the first process, or one behind all others if that is taken. The addresses of its
// frames change with it. So a call has the same address in all processes, and no address has two
// meanings.

#ifndef ALLOCSCOPE_GROUPING_MERGED_MODULES_HPP
#define ALLOCSCOPE_GROUPING_MERGED_MODULES_HPP

#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

class merged_modules {
public:
    explicit merged_modules(arena& memory)
        : memory_(memory), modules_(memory), by_path_(memory), by_text_(memory), moved_(memory) {}

    void add(const snapshot::module* modules, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) add(modules[i]);
    }

    const list<snapshot::module>& modules() const noexcept { return modules_; }

    // Returns the same frames, or a copy with their addresses in the merged snapshot.
    const snapshot::frame* frames_of(const snapshot::frame* frames, std::size_t count) {
        if (count == 0) return frames;
        const auto known = moved_.insert(frames);
        if (known.is_new) known.value = moved(frames, count);
        return known.value;
    }

private:
    void add(const snapshot::module& module) {
        const auto known = by_path_.insert(module.path);
        if (!known.is_new) {
            snapshot::module& here = modules_[known.value - 1];
            if (module.size > here.size && is_free(here.address, module.size, &here)) {
                here.size = module.size;
                reach(here);
            }
            if (here.build_id[0] == '\0') here.build_id = module.build_id;
            return;
        }
        snapshot::module placed = module;
        if (!is_free(placed.address, placed.size, nullptr)) placed.address = end_;
        modules_.push_back(placed);
        known.value = modules_.size();
        reach(placed);
    }

    void reach(const snapshot::module& module) {
        constexpr std::uint64_t page = 4096;
        const std::uint64_t end = module.address + module.size;
        if (end > end_) end_ = (end + page - 1) / page * page;
    }

    bool is_free(std::uint64_t address, std::uint64_t size, const snapshot::module* but) const {
        for (const snapshot::module& each : modules_) {
            if (&each == but) continue;
            if (address < each.address + each.size && each.address < address + size) return false;
        }
        return true;
    }

    // Null if the module is not in the list. Most frames share the text of their module's path with
    // others.
    const snapshot::module* module_of(const snapshot::frame& frame) {
        const auto known = by_text_.insert(frame.module);
        if (known.is_new) {
            const std::size_t* const number = by_path_.find(frame.module);
            known.value = number != nullptr ? *number : 0;
        }
        return known.value != 0 ? &modules_[known.value - 1] : nullptr;
    }

    std::uint64_t address_of(const snapshot::frame& frame) {
        const snapshot::module* const module = module_of(frame);
        return module != nullptr && frame.address != 0 ? module->address + frame.offset
                                                       : frame.address;
    }

    const snapshot::frame* moved(const snapshot::frame* frames, std::size_t count) {
        bool is_same = true;
        for (std::size_t i = 0; i < count && is_same; ++i) {
            is_same = address_of(frames[i]) == frames[i].address;
        }
        if (is_same) return frames;
        list<snapshot::frame> copy{memory_};
        copy.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            copy.push_back(frames[i]).address = address_of(frames[i]);
        }
        return copy.data();
    }

    arena& memory_;
    list<snapshot::module> modules_;
    table<text, std::size_t> by_path_;         // numbers from 1
    table<const void*, std::size_t> by_text_;  // by the address of the text; 0: none
    table<const void*, const snapshot::frame*> moved_;
    std::uint64_t end_ = 0;  // behind all modules
};

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_GROUPING_MERGED_MODULES_HPP

// function_bounds.hpp - where the functions of a module begin and end, also of a stripped one.
#ifndef ALLOCSCOPE_TOOLS_FUNCTION_BOUNDS_HPP
#define ALLOCSCOPE_TOOLS_FUNCTION_BOUNDS_HPP

#include <allocscope/plain/arena.hpp>
#include <allocscope/symbols/address_ranges.hpp>
#include <allocscope/symbols/object_bytes.hpp>

#include <cstdint>

namespace allocscope_tools {

class function_bounds {
public:
    // Reads .eh_frame. The object is not needed afterwards.
    explicit function_bounds(const allocscope::symbolize::object_bytes& object);
    function_bounds(const function_bounds&) = delete;
    function_bounds& operator=(const function_bounds&) = delete;

    // The function around a linked address; null: it is not known. One thread at a time.
    const allocscope::symbolize::address_range* at(std::uint64_t address) const {
        return functions_.find(address);
    }

private:
    allocscope::detail::arena memory_;
    allocscope::symbolize::address_ranges functions_{memory_};
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_FUNCTION_BOUNDS_HPP

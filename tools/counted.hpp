// counted.hpp - a number with its noun: "1 object", "20,000 objects".
#ifndef ALLOCSCOPE_TOOLS_COUNTED_HPP
#define ALLOCSCOPE_TOOLS_COUNTED_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace allocscope_tools {

inline std::string with_commas(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
    return digits;
}

// The words may go on after the noun: "program was", "programs were".
inline std::string counted(std::uint64_t number, const std::string& one, const std::string& many) {
    return with_commas(number) + ' ' + (number == 1 ? one : many);
}
inline std::string counted(std::uint64_t number, const std::string& one) {
    return counted(number, one, one + 's');
}

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_COUNTED_HPP

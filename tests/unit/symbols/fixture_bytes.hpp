// fixture_bytes.hpp - the files of tests/fixtures/elf/, and where they are.

#ifndef ALLOCSCOPE_TESTS_UNIT_SYMBOLIZE_FIXTURE_BYTES_HPP
#define ALLOCSCOPE_TESTS_UNIT_SYMBOLIZE_FIXTURE_BYTES_HPP

#include <allocscope/base/byte_view.hpp>

#include <cstdint>   // uint8_t
#include <fstream>   // ifstream
#include <iterator>  // istreambuf_iterator
#include <string>    // string
#include <vector>    // vector

namespace fixture {

inline std::string path_of(const std::string& name) {
    const std::string here = __FILE__;
    return here.substr(0, here.rfind("/unit/symbols/")) + "/fixtures/elf/" + name;
}

inline std::vector<std::uint8_t> bytes_of(const std::string& name) {
    std::ifstream file(path_of(name), std::ios::binary);
    return std::vector<std::uint8_t>(std::istreambuf_iterator<char>(file),
                                     std::istreambuf_iterator<char>());
}

inline allocscope::detail::byte_view view_of(const std::vector<std::uint8_t>& bytes) {
    return allocscope::detail::byte_view{bytes.data(), bytes.size()};
}

}  // namespace fixture

#endif  // ALLOCSCOPE_TESTS_UNIT_SYMBOLIZE_FIXTURE_BYTES_HPP

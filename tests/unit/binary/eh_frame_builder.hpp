// Unwind tables made by hand, byte by byte.

#ifndef ALLOCSCOPE_TESTS_UNIT_BINARY_EH_FRAME_BUILDER_HPP
#define ALLOCSCOPE_TESTS_UNIT_BINARY_EH_FRAME_BUILDER_HPP

#include <allocscope/binary/eh_frame_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace eh_frame_test {

namespace detail = allocscope::detail;

using program = std::vector<int>;  // operations and their operands

// What the common record says.
struct common_parts {
    int version = 1;
    std::string augmentation = "zR";
    int encoding = 0x1b;  // relative to the field, 4 bytes, signed
    int code_factor = 1;
    int data_factor = 0x78;  // -8
    int return_address = 16;
    program code = {0x0c, 7, 8, 0x90, 1};  // CFA = sp + 8, return address at CFA - 8
};

// One segment at `address`: .eh_frame from its start on, .eh_frame_hdr after it.
class eh_frame_builder {
public:
    static constexpr std::uint64_t address = 0x7f0000010000;

    // Returns where the record is; what follows counts as its functions.
    std::uint64_t add_common(const common_parts& parts = {}) {
        const std::size_t start = begin_record();
        parts_ = parts;
        common_ = start;
        number(0, 4);
        number(static_cast<std::uint64_t>(parts.version), 1);
        for (const char letter : parts.augmentation)
            bytes_.push_back(static_cast<unsigned char>(letter));
        bytes_.push_back(0);
        if (parts.version == 4) number(8, 2);
        put({parts.code_factor, parts.data_factor, parts.return_address});
        if (has_augmentation()) {
            program data;
            for (const char letter : parts.augmentation.substr(1)) {
                if (letter == 'R') data.push_back(parts.encoding);
                if (letter == 'L') data.push_back(0x1b);
                if (letter == 'P') data.insert(data.end(), {0x9b, 1, 2, 3, 4});
            }
            put({static_cast<int>(data.size())});
            put(data);
        }
        put(parts.code);
        end_record(start);
        return address + start;
    }

    std::uint64_t add_function(std::uint64_t begin, std::uint64_t length, const program& code) {
        const std::size_t start = begin_record();
        number(bytes_.size() - common_, 4);
        pointer(begin, parts_.encoding);
        pointer(length, parts_.encoding & 0x0f);
        if (has_augmentation()) put({0});
        put(code);
        end_record(start);
        table_.emplace_back(begin, address + start);
        return address + start;
    }

    void add_end() { number(0, 4); }

    // The index after it, with a table (sorted as the functions were added) or without.
    detail::eh_frame_image finish(bool has_table = true, int table_encoding = 0x3b) {
        const std::uint64_t at = here();
        put({1, 0x1b, has_table ? 0x03 : 0xff, has_table ? table_encoding : 0xff});
        pointer(address, 0x1b);
        if (has_table) {
            number(table_.size(), 4);
            for (const auto& each : table_) {
                number(each.first - at, 4);
                number(each.second - at, 4);
            }
        }
        detail::eh_frame_image image;
        image.index = view();
        image.index_address = at;
        image.frames = view();
        return image;
    }

    detail::mapped_bytes view() const { return {{bytes_.data(), bytes_.size()}, address}; }
    std::vector<std::uint8_t>& bytes() { return bytes_; }

    void number(std::uint64_t value, unsigned width) {
        for (unsigned i = 0; i < width; ++i) {
            bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
        }
    }

private:
    std::uint64_t here() const { return address + bytes_.size(); }
    bool has_augmentation() const { return parts_.augmentation[0] == 'z'; }

    void put(const program& values) {
        for (const int value : values) bytes_.push_back(static_cast<std::uint8_t>(value));
    }

    void pointer(std::uint64_t value, int encoding) {
        if ((encoding & 0x70) == 0x10) value -= here();
        switch (encoding & 0x0f) {
            case 0x01:
            case 0x09:
                for (int i = 0; i < 9; ++i) {  // long enough for either sign
                    bytes_.push_back(static_cast<std::uint8_t>(value >> (7 * i)) | 0x80U);
                }
                return put({value >> 63U == 0 ? 0 : (encoding & 0x0f) == 0x01 ? 1 : 0x7f});
            case 0x02:
            case 0x0a:
                return number(value, 2);
            case 0x03:
            case 0x0b:
                return number(value, 4);
            default:
                return number(value, 8);
        }
    }

    std::size_t begin_record() {
        number(0, 4);
        return bytes_.size() - 4;
    }
    void end_record(std::size_t start) {
        while (bytes_.size() % 4 != 0) bytes_.push_back(0);
        const std::size_t length = bytes_.size() - start - 4;
        for (unsigned i = 0; i < 4; ++i) {
            bytes_[start + i] = static_cast<std::uint8_t>(length >> (8 * i));
        }
    }

    std::vector<std::uint8_t> bytes_;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> table_;
    common_parts parts_;
    std::size_t common_ = 0;
};

}  // namespace eh_frame_test

#endif  // ALLOCSCOPE_TESTS_UNIT_BINARY_EH_FRAME_BUILDER_HPP

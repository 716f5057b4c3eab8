#include <allocscope/formats/gzip_stream.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "inflated.hpp"

namespace {

using allocscope::plain::text;
namespace detail = allocscope::detail;

std::string packed(const std::vector<std::string>& pieces) {
    std::string result;
    allocscope::plain::arena memory;
    detail::piecewise_text out{memory,
                               [](void* to, const text& piece) {
                                   static_cast<std::string*>(to)->append(piece.data(),
                                                                         piece.size());
                                   return true;
                               },
                               &result};
    detail::gzip_stream zipped{memory, out};
    for (const std::string& piece : pieces) zipped.add(text{piece.data(), piece.size()});
    zipped.finish();
    out.finish();
    return result;
}

std::string unpacked(const std::vector<std::string>& pieces) {
    return allocscope_tests::inflated(packed(pieces));
}

}  // namespace

TEST_CASE("gzip_stream: nothing, a byte, every byte") {
    CHECK(unpacked({}).empty());
    CHECK(unpacked({""}).empty());
    CHECK(unpacked({"x"}) == "x");
    std::string all;
    for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
    CHECK(unpacked({all}) == all);
    CHECK(unpacked({all, all, "end"}) == all + all + "end");
}

TEST_CASE("gzip_stream: every length of a match, at every kind of distance") {
    std::uint32_t dice = 7;
    const auto noise = [&dice](std::size_t length) {
        std::string made;
        for (std::size_t i = 0; i < length; ++i) {
            dice = dice * 1664525U + 1013904223U;
            made += static_cast<char>(dice >> 24U);
        }
        return made;
    };
    for (std::size_t length = 3; length <= 300; ++length) {
        const std::string word = noise(length);
        const std::string text = word + noise(length * 7 % 500) + word + "|";
        CHECK(unpacked({text}) == text);
    }
    for (std::size_t distance = 16; distance <= 40000; distance = distance * 3 / 2) {
        const std::string word = noise(16);
        const std::string text = word + noise(distance - 16) + word + noise(3);
        CHECK(unpacked({text}) == text);
    }
    // The farthest that there is, and one byte farther.
    for (const std::size_t distance : {std::size_t{32768}, std::size_t{32769}}) {
        const std::string word = noise(100);
        const std::string text = word + noise(distance - 100) + word + noise(30);
        CHECK(unpacked({text}) == text);
    }
}

TEST_CASE("gzip_stream: what repeats becomes small") {
    const std::string same(1000000, 'a');
    CHECK(unpacked({same}) == same);
    CHECK(packed({same}).size() < 10000);
    std::string lines;
    for (int i = 0; i < 20000; ++i) lines += "main;load;parse " + std::to_string(i % 100) + "\n";
    CHECK(unpacked({lines}) == lines);
    CHECK(packed({lines}).size() < lines.size() / 5);
}

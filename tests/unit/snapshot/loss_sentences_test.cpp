// What was lost is said in a sentence that agrees with the number before it.
#include <allocscope/snapshot/loss_sentences.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using allocscope::detail::sentence_of;
using allocscope::detail::words_of_losses;

bool has(const std::string& text, const char* part) {
    return text.find(part) != text.npos;
}

}  // namespace

TEST_CASE("loss_sentences: behind the number 1 a sentence speaks of one thing") {
    for (const auto& words : words_of_losses) {
        const std::string one = sentence_of({words.sentence, 1});
        CHECK(one == words.one);
        const std::string noun = one.substr(0, one.find(' '));
        CHECK(std::string{words.sentence}.compare(0, noun.size() + 2, noun + "s ") == 0);
        const std::string event = one.substr(0, one.find(':'));
        for (const char* of_many : {" were ", " are ", " have "}) CHECK(!has(event, of_many));
        for (const char* of_many : {"their ", "they ", "them "}) CHECK(!has(one, of_many));
    }
}

TEST_CASE("loss_sentences: behind other numbers it is the sentence of the snapshot") {
    for (const auto& words : words_of_losses) {
        CHECK(sentence_of({words.sentence, 0}) == words.sentence);
        CHECK(sentence_of({words.sentence, 2}) == words.sentence);
    }
    const char* const foreign = "things of another version";
    CHECK(sentence_of({foreign, 1}) == foreign);
}

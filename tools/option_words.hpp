// option_words.hpp - the words after a verb: options, their values, and files.
#ifndef ALLOCSCOPE_TOOLS_OPTION_WORDS_HPP
#define ALLOCSCOPE_TOOLS_OPTION_WORDS_HPP

#include "verbs.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace allocscope_tools {

// An option of a verb whose request is a `Request`.
template <class Request>
struct verb_option {
    const char* name;
    // Returns "", or what is wrong with the value and how to correct it. An option that takes no
    // value has "1".
    std::string (*read)(const std::string& value, Request& into);
    bool has_value = true;
};

// What is wrong with the word of an option, and how to correct it.
std::string unknown_option(const char* verb, const std::string& word);
std::string needless_value(const std::string& word);
std::string missing_value(const char* verb, const std::string& name);

// The sentence about a value in which `problem` is; "" if there is no problem.
std::string wrong_value(const std::string& name, const std::string& value,
                        const std::string& problem);

// Null if there is no such option.
template <class Request, std::size_t Count>
const verb_option<Request>* find_option(const verb_option<Request> (&options)[Count],
                                        const std::string& name) {
    for (const verb_option<Request>& each : options) {
        if (name == each.name) return &each;
    }
    return nullptr;
}

// Whether the word is an option, as opposed to a file, a command or the end of the options.
inline bool is_option(const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word != "--";
}

// Reads the option words[at], and its value; `at` becomes that of its last word. Returns "", or
// what is wrong and how to correct it.
template <class Request, std::size_t Count>
std::string read_option(const char* verb, const arguments& words, std::size_t& at,
                        const verb_option<Request> (&options)[Count], Request& into) {
    const std::string& word = words[at];
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const verb_option<Request>* const wanted = find_option(options, name);
    if (wanted == nullptr) return unknown_option(verb, word);
    std::string value = "1";
    if (!wanted->has_value) {
        if (equals != std::string::npos) return needless_value(word);
    } else if (equals != std::string::npos) {
        value = word.substr(equals + 1);
    } else if (at + 1 < words.size() && words[at + 1] != "--") {
        value = words[++at];
    } else {
        return missing_value(verb, name);
    }
    return wrong_value(name, value, wanted->read(value, into));
}

// Words that are neither options nor values go into `files`. Returns "", or what is wrong and how
// to correct it.
template <class Request, std::size_t Count>
std::string read_words(const char* verb, const arguments& words,
                       const verb_option<Request> (&options)[Count], Request& into,
                       arguments& files) {
    std::string problem;
    bool takes_options = true;
    for (std::size_t at = 0; problem.empty() && at < words.size(); ++at) {
        if (takes_options && words[at] == "--") {
            takes_options = false;
        } else if (takes_options && is_option(words[at])) {
            problem = read_option(verb, words, at, options, into);
        } else {
            files.push_back(words[at]);
        }
    }
    return problem;
}

// Whether --help is among the options.
inline bool asks_for_help(const arguments& words) {
    for (const std::string& word : words) {
        if (word == "--") return false;
        if (word == "--help" || word == "-h") return true;
    }
    return false;
}

// What is wrong with the number of files, and the words to write instead.
std::string wrong_number_of_files(std::size_t given, const char* usage);

// Reads a whole number, or one such as 64K, 10MiB, 2g or 1T, in units of 1024. Numbers from 2^64 on
// are the largest below: each caller has its own limit, or none. Returns "", or what is wrong.
std::string read_amount(const std::string& text, std::uint64_t& into);

// A word of a list, and what it stands for.
template <class Value>
struct named_value {
    const char* name;
    Value value;
};

// Reads one of these words. Returns "", or what is wrong.
template <class Value, std::size_t Count>
std::string read_named(const std::string& text, const named_value<Value> (&all)[Count],
                       Value& into) {
    std::string names;
    for (std::size_t i = 0; i < Count; ++i) {
        if (text == all[i].name) {
            into = all[i].value;
            return {};
        }
        names += i == 0 ? "" : i + 1 == Count ? " or " : ", ";
        names += all[i].name;
    }
    return "it must be " + names;
}

// Reads a whole number in this range. Returns "", or what is wrong.
std::string read_whole(const std::string& text, std::uint32_t least, std::uint32_t most,
                       std::uint32_t& into);

// Reads a decimal number that is not negative, such as 10, 0.5 or 1e3, and returns where it ends.
// Null if the text begins otherwise, as 0x10, inf and -1 do.
const char* read_decimal(const char* text, double& into);

// Reads a duration above 0 in nanoseconds: seconds, such as 10 or 0.5, or with a unit: 500ms, 10s,
// 5min, 2h, 1d. Returns "", or what is wrong.
std::string read_duration(const std::string& text, std::uint64_t& into);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_OPTION_WORDS_HPP

// verbs.hpp - what the command-line program can do, and what its exit codes mean.
#ifndef ALLOCSCOPE_TOOLS_VERBS_HPP
#define ALLOCSCOPE_TOOLS_VERBS_HPP

#include <string>
#include <vector>

namespace allocscope_tools {

constexpr int exit_fine = 0;
constexpr int exit_worse = 1;      // the answer is bad: more is allocated than before
constexpr int exit_bad_input = 2;  // there is no answer; stderr says why

// A name or message that a terminal can show: each control byte, also a line end, becomes \x1b or
// the like.
std::string printable(const std::string& text);

// Prints "allocscope VERB: message" to stderr. The message may have several lines.
int refuse(const std::string& verb, const std::string& message);

// The words after the verb.
using arguments = std::vector<std::string>;

extern const char* const compare_help;
int compare(const arguments& words);

extern const char* const run_help;
int run(const arguments& words);

int show(const arguments& words);
int diff(const arguments& words);
int histogram(const arguments& words);
int convert(const arguments& words);

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_VERBS_HPP

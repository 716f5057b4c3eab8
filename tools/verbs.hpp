// verbs.hpp - what the command-line program can do, and how its exit codes are meant.
#ifndef ALLOCSCOPE_TOOLS_VERBS_HPP
#define ALLOCSCOPE_TOOLS_VERBS_HPP

#include <string>
#include <vector>

namespace allocscope_tools {

constexpr int exit_fine = 0;
constexpr int exit_worse = 1;      // what was asked for is not so, e.g. more is allocated now
constexpr int exit_bad_input = 2;  // it could not be found out; stderr says why

// A name or message as a terminal may show it: each control byte, a line end too, as \x1b.
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

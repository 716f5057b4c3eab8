// json_reader.hpp - reads the JSON that Google Benchmark writes.
//
// The format is RFC 8259, with the NaN and Infinity of older releases of Google Benchmark. The
// depth is limited, so that no input can use up the stack. Numbers are read by strtod(), because
// this program never leaves the "C" locale.
#ifndef ALLOCSCOPE_TOOLS_JSON_READER_HPP
#define ALLOCSCOPE_TOOLS_JSON_READER_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace allocscope_tools {

struct json_value {
    enum class kind { null, boolean, number, text, list, object };
    kind is = kind::null;
    bool boolean = false;
    double number = 0;
    std::string text;
    std::vector<json_value> list;    // the elements of an array, or the members of an object
    std::vector<std::string> names;  // the names of the members, in the order of the file

    // Returns null if this is not an object or has no such member. If names are equal, the last one
    // counts.
    const json_value* find(const char* name) const {
        for (std::size_t i = names.size(); i > 0; --i) {
            if (names[i - 1] == name) return &list[i - 1];
        }
        return nullptr;
    }
    bool is_text(const char* expected) const { return is == kind::text && text == expected; }
};

class json_reader {
public:
    explicit json_reader(const std::string& text) : text_(text) {}

    // Returns "" if the text is one JSON value; otherwise what is wrong, with line and column.
    std::string read(json_value& into) {
        const bool is_read = read_value(into, 0);
        if (is_read) skip_blanks();
        if (is_read && at_ != text_.size()) refuse("more text follows the end of the value");
        return error_;
    }

private:
    static constexpr int most_depth = 100;

    bool refuse(const std::string& what) {
        if (!error_.empty()) return false;
        std::size_t line = 1;
        std::size_t column = 1;
        for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
            column = text_[i] == '\n' ? 1 : column + 1;
            if (text_[i] == '\n') ++line;
        }
        error_ =
            "line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what;
        return false;
    }

    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip_blanks() {
        while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
    }
    bool skip(const char* word) {
        const std::string expected = word;
        if (text_.compare(at_, expected.size(), expected) != 0) return false;
        at_ += expected.size();
        return true;
    }

    bool read_value(json_value& into, int depth) {
        if (depth > most_depth) return refuse("lists and objects are nested too deeply");
        skip_blanks();
        if (at_ >= text_.size()) return refuse("the text ends here, a value is missing");
        if (peek() == '{') return read_object(into, depth);
        if (peek() == '[') return read_list(into, depth);
        if (peek() == '"') {
            into.is = json_value::kind::text;
            return read_text(into.text);
        }
        if (skip("null")) return true;
        into.boolean = skip("true");
        if (into.boolean || skip("false")) {
            into.is = json_value::kind::boolean;
            return true;
        }
        into.is = json_value::kind::number;
        return read_number(into.number);
    }

    bool read_object(json_value& into, int depth) {
        into.is = json_value::kind::object;
        ++at_;
        skip_blanks();
        if (skip("}")) return true;
        for (;;) {
            skip_blanks();
            std::string name;
            if (peek() != '"') return refuse("a name in quotation marks is missing");
            if (!read_text(name)) return false;
            skip_blanks();
            if (!skip(":")) return refuse("':' is missing");
            into.names.push_back(std::move(name));
            into.list.emplace_back();
            if (!read_value(into.list.back(), depth + 1)) return false;
            skip_blanks();
            if (skip("}")) return true;
            if (!skip(",")) return refuse("',' or '}' is missing");
        }
    }

    bool read_list(json_value& into, int depth) {
        into.is = json_value::kind::list;
        ++at_;
        skip_blanks();
        if (skip("]")) return true;
        for (;;) {
            into.list.emplace_back();
            if (!read_value(into.list.back(), depth + 1)) return false;
            skip_blanks();
            if (skip("]")) return true;
            if (!skip(",")) return refuse("',' or ']' is missing");
        }
    }

    bool read_text(std::string& into) {
        ++at_;
        for (;;) {
            if (at_ >= text_.size()) return refuse("the text ends inside quotation marks");
            const char found = text_[at_];
            if (static_cast<unsigned char>(found) < 0x20) {
                return refuse("a control character inside quotation marks");
            }
            ++at_;
            if (found == '"') return true;
            if (found != '\\') {
                into += found;
            } else if (!read_escape(into)) {
                return false;
            }
        }
    }

    bool read_escape(std::string& into) {
        static constexpr char letters[] = "\"\\/bfnrt";
        static constexpr char meanings[] = "\"\\/\b\f\n\r\t";
        const char letter = peek();
        ++at_;
        for (std::size_t i = 0; i + 1 < sizeof letters; ++i) {
            if (letter != letters[i]) continue;
            into += meanings[i];
            return true;
        }
        std::uint32_t code = 0;
        if (letter != 'u' || !read_four_digits(code)) return refuse("no escape follows the '\\'");
        if (code >= 0xd800 && code < 0xdc00) {
            std::uint32_t second = 0;
            if (!skip("\\u") || !read_four_digits(second) || second < 0xdc00 || second > 0xdfff) {
                return refuse("the other half of a pair of \\u escapes is missing");
            }
            code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
        }
        add_utf8(into, code);
        return true;
    }

    bool read_four_digits(std::uint32_t& code) {
        for (int i = 0; i < 4; ++i, ++at_) {
            const char digit = peek();
            std::uint32_t value = 0;
            if (digit >= '0' && digit <= '9') {
                value = static_cast<std::uint32_t>(digit - '0');
            } else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f') {
                value = static_cast<std::uint32_t>((digit | 0x20) - 'a' + 10);
            } else {
                return false;
            }
            code = code * 16 + value;
        }
        return true;
    }

    static void add_utf8(std::string& into, std::uint32_t code) {
        if (code < 0x80) {
            into += static_cast<char>(code);
            return;
        }
        const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static constexpr std::uint32_t first[] = {0, 0xc0, 0xe0, 0xf0};
        into += static_cast<char>(first[more] | (code >> (6 * more)));
        for (int i = more - 1; i >= 0; --i) {
            into += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
        }
    }

    bool read_number(double& into) {
        if (skip("NaN")) {
            into = std::numeric_limits<double>::quiet_NaN();
            return true;
        }
        const std::size_t start = at_;
        const bool is_negative = skip("-");
        if (skip("Infinity")) {
            into = std::numeric_limits<double>::infinity() * (is_negative ? -1 : 1);
            return true;
        }
        if (!skip_digits()) {
            at_ = start;
            return refuse("this is not a JSON value");
        }
        if (skip(".") && !skip_digits()) return refuse("a digit is missing");
        if (skip("e") || skip("E")) {
            if (!skip("-")) skip("+");
            if (!skip_digits()) return refuse("a digit is missing");
        }
        into = std::strtod(text_.substr(start, at_ - start).c_str(), nullptr);
        return true;
    }

    // Returns false if there is no digit.
    bool skip_digits() {
        const std::size_t start = at_;
        while (peek() >= '0' && peek() <= '9') ++at_;
        return at_ != start;
    }

    const std::string& text_;
    std::size_t at_ = 0;
    std::string error_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_JSON_READER_HPP

// json_writer.hpp - writes JSON member by member: brackets, commas, and valid strings.
//
// Room:     report (floor 10), not malloc-safe
// Called:   by report/json_report.hpp and the writers of JSON in formats/
// Threads:  one
// Memory:   of the text that is written to
//
//     json_writer json{out, false};
//     json.begin('{');
//     json.field("objects", 3);
//     json.end('}');                // {"objects": 3}
//
// The output is RFC 8259 in UTF-8. Text that is not valid UTF-8 or may not be shown is escaped as
// in a text report: \x1b, with the backslash doubled as JSON requires.

#ifndef ALLOCSCOPE_REPORT_JSON_WRITER_HPP
#define ALLOCSCOPE_REPORT_JSON_WRITER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/base/printable_text.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int64_t, uint64_t

ALLOCSCOPE_COOL_BEGIN

namespace detail {

// Whether a character is written unchanged in a string.
inline bool is_plain_in_json(char c) noexcept {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
}

// Writes a string with its quotes. A null pointer is written as the empty text.
inline void write_json_string(text_out& out, const char* shown) {
    out << '"';
    while (shown != nullptr && *shown != '\0') {
        // Almost all of a name is written in one piece.
        std::size_t plain = 0;
        while (is_plain_in_json(shown[plain])) ++plain;
        if (plain != 0) {
            out << text{shown, plain};
            shown += plain;
            continue;
        }
        const std::size_t length = printable_length(shown);
        if (length == 0) {
            char escaped[escaped_byte_length];
            write_escaped_byte(*shown++, escaped);
            out << '\\' << text{escaped, sizeof escaped};
            continue;
        }
        if (*shown == '"' || *shown == '\\') out << '\\';
        out << text{shown, length};
        shown += length;
    }
    out << '"';
}

class json_writer {
public:
    json_writer(text_out& out, bool is_signed) noexcept : out_(out), is_signed_(is_signed) {}

    void begin(char bracket) {
        separate();
        out_ << bracket;
        is_first_ = true;
    }
    // The value of a member.
    void begin(const char* name, char bracket) {
        key(name);
        begin(bracket);
    }

    void end(char bracket) {
        out_ << bracket;
        is_first_ = false;
    }
    void key(const char* name) {
        separate();
        write_json_string(out_, name);
        out_ << ": ";
        is_first_ = true;  // the value needs no comma
    }
    void value(const char* shown) {
        separate();
        write_json_string(out_, shown);
    }
    void value(bool is_true) {
        separate();
        out_ << (is_true ? "true" : "false");
    }
    // The number may be negative in a difference.
    void amount(std::uint64_t number) {
        separate();
        out_ << signed_decimal{number, is_signed_};
    }
    void field(const char* name, const char* shown) {
        key(name);
        value(shown);
    }
    void field(const char* name, std::uint64_t number) {
        key(name);
        amount(number);
    }

    void field(const char* name, bool is_true) {
        key(name);
        value(is_true);
    }
    void line() { out_ << '\n'; }

private:
    void separate() {
        if (!is_first_) out_ << ", ";
        is_first_ = false;
    }

    text_out& out_;
    bool is_signed_;
    bool is_first_ = true;
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_REPORT_JSON_WRITER_HPP

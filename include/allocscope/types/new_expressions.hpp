// new_expressions.hpp - finds every `new T` of a source file, and where compilers place it.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by source_cache.hpp, once for each source file that a report needs; read by everything
//           in types/ that looks at source
// Threads:  read-only once it is built
// Memory:   the tokens of the file and one entry for each new-expression, of the given arena
//
// Compilers place the call of operator new at one of two tokens (measured with g++ 12 and clang 14,
// -O0 and -O2):
//
//     auto* w = new app::widget(1, 2);
//               ^ clang; g++ in templates
//                                   ^ g++: the last token of the expression
//     auto* m = new std::map<int, char>;
//                        ^ g++: a name with template arguments counts as one token, the name
//
// `new (place) T` allocates nothing and is left out, unless the place is std::nothrow or a
// std::align_val_t.
//
// A request for the bytes of objects counts as an expression, too:
//
//     ::operator new(count * sizeof(T))      std::malloc(sizeof(T))
//     ^ clang       ^ g++                    ^ clang    ^ g++

#ifndef ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP
#define ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP
#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/types/name_brackets.hpp>
#include <allocscope/types/pretty_type.hpp>
#include <allocscope/types/source_tokens.hpp>
#include <allocscope/types/template_scopes.hpp>
#include <allocscope/types/written_new.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class source_outline {
public:
    // `source` must live as long as the outline.
    source_outline(arena& memory, text source)
        : list_(read_tokens(memory, source)),
          partners_(matching_brackets(memory, list_.tokens)),
          scopes_(memory, list_.tokens, partners_),
          expressions_(memory),
          ends_(memory),
          names_(memory),
          defaults_(memory),
          classes_(memory),
          blocks_(memory),
          declarations_(memory),
          declared_(memory) {
        for (const macro_line& macro : list_.macros) add_meaning(macro.name, macro_name);
        for (std::size_t at = 0; at < tokens().size();) {
            see(at);
            at = scopes_.see(at);
        }
        sort(ends_,
             [](const expression_end& a, const expression_end& b) { return a.token < b.token; });
    }
    source_outline(const source_outline&) = delete;
    source_outline& operator=(const source_outline&) = delete;

    const list<source_token>& tokens() const noexcept { return list_.tokens; }
    // "" after the last token, and before the first one.
    text text_at(std::size_t at) const noexcept { return spelling_at(list_.tokens, at); }
    // Whether a token is `wanted`, or one of the words in `words`. Not inlined, because unoptimised
    // code has hundreds of these calls.
    bool is_at(std::size_t at, const char* wanted) const noexcept;
    bool is_any_at(std::size_t at, const char* words) const noexcept;
    bool is_word_at(std::size_t at) const noexcept;

    // In the order in which they begin.
    ALLOCSCOPE_INLINE const list<new_expression>& expressions() const noexcept {
        return expressions_;
    }

    // The token that closes the bracket at `at`, or the bracket that the token at `at` closes; 0 if
    // there is none.
    std::size_t partner(std::size_t at) const noexcept { return partners_[at]; }

    ALLOCSCOPE_INLINE list<const template_header*> headers_around(arena& memory,
                                                                  std::size_t scope) const {
        return scopes_.headers_around(memory, scope);
    }

    // The scope of a token in a block.
    ALLOCSCOPE_INLINE std::size_t scope_of(std::size_t at) const noexcept {
        return scopes_.scope_of(at);
    }

    // The number of the first expression that begins at the token or after it.
    std::size_t first_from(std::size_t token) const noexcept {
        return partition_point(expressions_.data(), expressions_.size(),
                               [&](const new_expression& each) { return each.begin < token; });
    }

    // The first expression that begins or ends with the token; null if there is none.
    ALLOCSCOPE_INLINE const new_expression* expression_at(std::size_t token) const noexcept {
        const new_expression* begun = expressions_.begin() + first_from(token);
        const expression_end* ended =
            ends_.begin() +
            partition_point(ends_.data(), ends_.size(),
                            [&](const expression_end& each) { return each.token < token; });
        const new_expression* first =
            ended != ends_.end() && ended->token == token ? &expressions_[ended->number] : nullptr;
        const bool begins = begun != expressions_.end() && begun->begin == token;
        return begins && (first == nullptr || begun < first) ? begun : first;
    }

    bool is_macro(text name) const noexcept { return is_known_as(name, macro_name); }

    // The only definition of a macro; null: the file does not show what it stands for.
    const macro_line* definition_of(text macro) const noexcept {
        const macro_line* only = nullptr;
        for (const macro_line& each : list_.macros) {
            if (each.name != macro) continue;
            if (only != nullptr || !each.is_certain) return nullptr;
            only = &each;
        }
        return only;
    }

    // The last declaration of a name, and the one before it; null: there is none.
    const name_declaration* last_declared(text name) const noexcept {
        const std::uint32_t* found = declared_.find(name);
        return found != nullptr ? &declarations_[*found - 1] : nullptr;
    }
    ALLOCSCOPE_INLINE const name_declaration* declared_before(
        const name_declaration& each) const noexcept {
        return each.previous != 0 ? &declarations_[each.previous - 1] : nullptr;
    }

    // Whether the file defines a type or a namespace with this name.
    ALLOCSCOPE_INLINE bool is_defined(text name) const noexcept {
        return is_known_as(name, defined_name);
    }

    ALLOCSCOPE_INLINE bool is_class_template(text name) const noexcept {
        return is_known_as(name, template_name);
    }

    // Whether `using` or `typedef` declares the name inside a template: it may depend on the
    // parameters.
    ALLOCSCOPE_INLINE bool is_template_alias(text name) const noexcept {
        return is_known_as(name, template_alias_name);
    }

    // Whether the name is an alias for the type of an expression, which may differ each time.
    ALLOCSCOPE_INLINE bool is_alias_of_expression(text name) const noexcept {
        return is_known_as(name, expression_alias_name);
    }

    // Whether a function with this name has a `new` in a default argument: `part(int* p = new
    // int);` Compilers place it at the call, which may be `new part`.
    bool has_new_in_default(text name) const noexcept { return is_known_as(name, defaulting_name); }

    // The only `new` in a default argument of the functions with this name; null: none or several.
    const new_expression* default_of(text name) const noexcept {
        const std::uint32_t* found = defaults_.find(name);
        return found != nullptr && *found != 0 ? &expressions_[*found - 1] : nullptr;
    }

    // The token with the name of the only class with this name that the file defines; 0: none or
    // several.
    ALLOCSCOPE_INLINE std::size_t class_named(text name) const noexcept {
        const std::uint32_t* found = classes_.find(name);
        return found != nullptr ? *found : 0;
    }

    // Whether the file uses this name of the standard library without "std::".
    ALLOCSCOPE_INLINE bool is_standard_name(text name) const noexcept {
        if (is_known_as(name, class_name)) return false;
        if (is_known_as(name, standard_name)) return true;
        // Hardly anybody gives these names to a class of their own.
        return uses_namespace_std_ &&
               is_listed(name,
                         "string wstring vector deque forward_list map multimap multiset "
                         "unordered_map unordered_set unordered_multimap shared_ptr unique_ptr "
                         "ostringstream istringstream stringstream");
    }

    // The token after a name with its scopes and template arguments; 0 if it cannot be read.
    std::size_t behind_name(std::size_t at) const {
        new_expression unused;
        return read_qualified_name(at, unused);
    }

    // Index of the first token at or after a line and column.
    std::size_t token_from(int line, int column) const noexcept {
        return token_behind(tokens(), line, column);
    }

    // The token at a line and column; null: none begins there.
    const source_token* token_at(int line, int column) const noexcept {
        const std::size_t at = token_from(line, column);
        if (at == tokens().size()) return nullptr;
        const source_token& token = tokens()[at];
        return token.line == line && token.column == column ? &token : nullptr;
    }

private:
    // What this file says about a name.
    enum : unsigned {
        macro_name = 1,
        template_alias_name = 2,
        class_name = 4,     // it follows `struct` or `class`
        standard_name = 8,  // a using-declaration takes it from std
        defined_name = 16,  // the file defines a type or a namespace with this name
        expression_alias_name = 32,
        template_name = 64,  // it names a class template
        defaulting_name = 128
    };

    void add_meaning(text name, unsigned meaning) { names_[name] |= meaning; }

    bool is_known_as(text name, unsigned meaning) const noexcept {
        const unsigned* known = names_.find(name);
        return known != nullptr && (*known & meaning) != 0;
    }

    void see(std::size_t at) {
        const text token = text_at(at);
        switch (token.front()) {
            case '{':
                blocks_.push_back(static_cast<std::uint32_t>(at));
                break;
            case '}':
                while (!blocks_.empty() && partners_[at] != 0 && blocks_.back() > partners_[at]) {
                    blocks_.pop_back();
                }
                if (!blocks_.empty()) blocks_.pop_back();
                break;
            case 'm':
            case 'r':
                if (is_listed(token, "malloc realloc")) read_request(at, at + 1);
                break;
            case 'n':
                if (token == "new") read_new(at);
                if (token == "namespace") read_definition(at + 1);
                break;
            case 'u':
                if (token == "using") read_using(at);
                if (token == "union") read_definition(at + 1);
                if (token == "using" || token == "union") declare(text_at(at + 1), at + 1);
                break;
            case 't':
                if (token == "typedef") read_typedef(at);
                break;
            case 's':
            case 'c':
                if (token == "calloc") read_request(at, at + 1);
                if (token == "struct" || token == "class") {
                    declare(text_at(at + 1), at + 1);
                    const std::size_t name = behind_attributes(tokens(), partners_, at + 1);
                    add_meaning(text_at(name), scopes_.is_behind_header()
                                                   ? class_name | template_name
                                                   : class_name);
                    read_definition(name);
                    if (is_any_at(name + 1, "{ : final")) {
                        const auto known = classes_.insert(text_at(name));
                        known.value = known.is_new ? static_cast<std::uint32_t>(name) : 0;
                    }
                }
                break;
            case 'e':
                if (token == "enum") read_definition(at + 1);
                if (token == "enum") declare(text_at(at + 1), at + 1);
                break;
            default:
                break;
        }
    }

    void declare(text name, std::size_t at) {
        if (!is_word(name)) return;
        std::uint32_t& last = declared_[name];
        const std::uint32_t block = blocks_.empty() ? 0 : blocks_.back();
        declarations_.push_back({static_cast<std::uint32_t>(at), block, last});
        last = static_cast<std::uint32_t>(declarations_.size());
    }

    // Reads the definition of a class, an enumeration or a namespace: `name {`, `name : base {`,
    // `name = other;`.
    void read_definition(std::size_t at) {
        if (!is_word_at(at)) return;
        const text behind = text_at(at + 1);
        if (is_listed(behind, "{ : = :: final")) add_meaning(text_at(at), defined_name);
        // `namespace a::b {`
        for (; is_at(at + 1, "::") && is_word_at(at + 2); at += 2) {
            add_meaning(text_at(at + 2), defined_name);
        }
    }

    void read_new(std::size_t at) {
        const text before = text_at(at - 1);
        if (before == "operator") read_request(at - 1, is_at(at + 1, "[") ? at + 3 : at + 1);
        if (before == "operator" || before == "." || before == "->") return;
        new_expression found;
        found.begin = before == "::" ? at - 1 : at;
        std::size_t next = at + 1;
        std::size_t behind = 0;
        if (is_at(next, "(")) {
            const std::size_t close = partners_[next];
            if (close == 0) return;
            const text follows = text_at(close + 1);
            if (is_word(follows) || follows == "::") {
                if (!is_allocating_placement(next, close)) return;
                behind = read_type(close + 1, found);
            } else {  // new (T)
                const std::size_t type_end = read_type(next + 1, found);
                const bool is_whole = type_end == close || is_declarator(type_end, close);
                if (is_whole && !is_at(close - 1, "]")) found.type_end = close;
                found.has_type =
                    found.has_type && is_whole && (follows != "(" || is_no_place(close));
                found.last = close;
                behind = close + 1;
            }
        } else {
            behind = read_type(next, found);
        }
        const text opens = text_at(behind);
        if ((opens == "(" || opens == "{") && partners_[behind] != 0) {
            found.has_initialiser = true;
            found.last = partners_[behind];
        }
        found.scope = scopes_.here();
        if (text_at(found.begin - 1) == "=") see_default(found);
        keep(found);
    }

    // Whether the brackets that close at `close` are those of a type, although `(` follows:
    // `new (int*)(nullptr)`. `new (x)(y)` may be a y at the place x.
    bool is_no_place(std::size_t close) const {
        const text last = text_at(close - 1);
        return is_at(close + 2, ")") || is_listed(last, "* >") || builtin_type{}.take(last);
    }

    // Whether the tokens after the first name of a type make it a pointer to functions, arrays or
    // members: the rest of `int (*)(char)`, `int (*[2])(char)`, `int (*)[3]`, `int box::*`.
    bool is_declarator(std::size_t at, std::size_t close) const {
        const std::size_t inner = is_at(at, "(") ? partners_[at] : 0;
        if (inner == 0) return is_at(close - 1, "*") && is_at(close - 2, "::");
        const std::size_t bound = is_at(inner - 1, "]") ? partners_[inner - 1] : inner;
        return is_at(bound - 1, "*") && partners_[inner + 1] + 1 == close;
    }

    // Reads a call that is given the size of a type, or a multiple of it: as its first argument, as
    // the second of realloc, as the product of both of calloc.
    void read_request(std::size_t begin, std::size_t open) {
        const std::size_t close = is_at(open, "(") ? partners_[open] : 0;
        std::size_t left = is_any_at(open - 1, "calloc realloc") ? 1 : 0;  // commas
        const bool is_product = is_at(open - 1, "calloc");
        new_expression found;
        for (std::size_t at = open + 1; at < close; ++at) {
            const text token = text_at(at);
            if (token == "," && left-- == 0) break;
            if (token == "," || (left != 0 && !is_product)) {
                if (partners_[at] > at) at = partners_[at];
                continue;
            }
            if (token == "sizeof") {
                ++at;
                if (found.has_type || !is_at(at, "(")) return;
                if (read_type(at + 1, found) != partners_[at]) return;
            } else if (!is_name_character(token[0]) && !is_listed(token, "* :: . -> < > ( [ {")) {
                return;
            }
            if (partners_[at] != 0) at = partners_[at];
        }
        if (!found.has_type) return;
        while (is_listed(text_at(begin - 1), ":: std")) --begin;
        if (is_listed(text_at(begin - 1), ". ->")) return;
        found.begin = begin;
        found.last = open;
        found.has_initialiser = true;
        found.is_request = true;
        found.scope = scopes_.here();
        keep(found);
    }

    // Finds out whether the expression is a default argument. `f(p = new part)` is an assignment.
    void see_default(new_expression& found) {
        if (is_any_at(found.begin - 3, "( ,")) return;
        for (std::size_t left = far_away, at = found.begin; left != 0 && at > 1; --left) {
            const text token = text_at(--at);
            if (is_listed(token, "; { }")) return;
            if (token == ")" && partners_[at] != 0) at = partners_[at];
            if (token == "(") {
                add_meaning(text_at(at - 1), defaulting_name);
                found.callee = at - 1;
                return;
            }
        }
    }

    // Finds the function around the expression.
    void see_function(new_expression& found) const {
        for (std::size_t i = blocks_.size(); i > 0 && found.function == 0; --i) {
            std::size_t close = blocks_[i - 1] - std::size_t{1};
            while (is_any_at(close, "const noexcept override final")) --close;
            const std::size_t open = is_at(close, ")") ? partners_[close] : 0;
            if (open == 0 || !is_word_at(open - 1)) continue;
            if (is_any_at(open - 1, "if for while switch catch")) continue;
            found.function = open - 1;
            found.outer = i > 1 ? blocks_[i - 2] : 0;
        }
    }

    void keep(new_expression& found) {
        see_function(found);
        found.reach = found.last;
        if (!expressions_.empty() && expressions_.back().reach > found.reach) {
            found.reach = expressions_.back().reach;
        }
        const auto number = static_cast<std::uint32_t>(expressions_.size());
        if (found.callee != 0) {
            const auto known = defaults_.insert(text_at(found.callee));
            known.value = known.is_new ? number + 1 : 0;
        }
        ends_.push_back({static_cast<std::uint32_t>(found.last), number});
        expressions_.push_back(found);
    }

    bool is_allocating_placement(std::size_t open, std::size_t close) const {
        for (std::size_t i = open + 1; i < close && i < open + 16; ++i) {
            if (is_at(i, "nothrow") || is_at(i, "align_val_t")) return true;
        }
        return false;
    }

    // Reads a type that starts at `at`. Returns the index after the type and its array bounds.
    std::size_t read_type(std::size_t at, new_expression& found) {
        found.type_begin = at;
        found.last = at < tokens().size() ? at : tokens().size() - 1;
        bool has_name = false;
        bool is_builtin = false;
        bool is_readable = true;
        std::size_t value = 0;  // where the bracket of the value opens
        for (;; ++at) {
            const text word = text_at(at);
            if (word == "const" || word == "volatile") {
                found.last = at;
            } else if (!has_name && builtin_type{}.take(word)) {
                is_builtin = true;
                found.last = at;
            } else if (has_name || is_builtin) {
                break;
            } else if (word == "decltype" || word == "auto") {
                has_name = true;
                is_readable = word == "decltype" && is_at(at + 1, "(") &&
                              behind_variable(tokens(), at + 2) == partners_[at + 1];
                found.last = at;
                if (word == "decltype" && is_at(at + 1, "(")) at = partners_[at + 1];
                if (at == 0) return found.last + 1;
                value = found.last + 1;
            } else if (is_listed(word, "struct class union enum typename")) {
                continue;
            } else if (word == "::" || is_word(word)) {
                const std::size_t behind = read_qualified_name(at, found);
                if (behind == 0) return at + 1;
                has_name = true;
                at = behind - 1;
            } else {
                return at;
            }
        }
        for (; is_at(at, "*") || is_at(at, "&") || is_at(at, "const"); ++at) {
            found.last = at;
        }
        found.type_end = at;
        found.has_type = is_readable && !is_at(at, "::");  // decltype(v)::type
        if (value != 0 && !is_readable) read_value(value, found);
        while (is_at(at, "[") && partners_[at] != 0) {
            at = partners_[at];
            found.last = at++;
        }
        return at;
    }

    // Reads the value in the brackets at `open`.
    void read_value(std::size_t open, new_expression& found) const {
        const std::size_t close = is_any_at(open, "( {") ? partners_[open] : 0;
        if (close == 0 || is_any_at(close + 1, "[ * &")) return;
        found.type_begin = open + 1;
        found.type_end = close;
        found.is_of_variable = behind_variable(tokens(), open + 1) == close;
        found.has_type = found.is_of_variable;
        if (found.is_of_variable) return;
        new_expression inner;
        std::size_t at = open + 1;
        while (builtin_type{}.take(text_at(at))) ++at;
        if (at == open + 1) at = read_qualified_name(at, inner);
        if (is_any_at(at, ". ->") && is_word_at(open + 1)) at = behind_variable(tokens(), open + 1);
        const bool has_brackets = is_at(at, "(") || is_at(at, "{");
        if (at == 0 || !has_brackets || partners_[at] + 1 != close) return;
        found.is_of_value = true;
        found.has_type = true;
        found.type_end = at;
    }

    // Returns 0 if the name cannot be read.
    std::size_t read_qualified_name(std::size_t at, new_expression& found) const {
        if (is_at(at, "::")) ++at;
        for (;;) {
            if (!is_word_at(at)) return 0;
            found.last = at++;
            if (is_at(at, "<")) {
                at = skip_angle_tokens(tokens(), partners_, at);
                if (at == 0) return 0;
            }
            if (!is_at(at, "::")) return at;
            ++at;
            if (is_at(at, "template")) ++at;
        }
    }

    // `using namespace std;`, `using std::string;`, and `using X =` in a template.
    void read_using(std::size_t at) {
        const text next = text_at(at + 1);
        const text after = text_at(at + 2);
        const bool is_std = next == "namespace" && after == "std" && is_at(at + 3, ";");
        uses_namespace_std_ = uses_namespace_std_ || is_std;
        if (next == "std" && after == "::" && is_at(at + 4, ";")) {
            add_meaning(text_at(at + 3), standard_name);
        }
        if (after != "=") return;
        add_meaning(next, defined_name);
        if (scopes_.is_in_template()) add_meaning(next, template_alias_name);
        for (std::size_t i = at + 3; i < at + far_away && !is_at(i, ";"); ++i) {
            if (is_at(i, "decltype")) add_meaning(next, expression_alias_name);
        }
    }

    // Remembers `typedef ... X;` and `typedef struct {...} X, *Y;`.
    void read_typedef(std::size_t at) {
        const unsigned meaning =
            defined_name | (scopes_.is_in_template() ? template_alias_name : 0U);
        bool has_body = false;
        std::size_t i = at + 1;
        for (std::size_t left = far_away; i < tokens().size() && left != 0; ++i, --left) {
            if (is_at(i, "{") && partners_[i] > i) {
                i = partners_[i];
                has_body = true;
            }
            const bool is_last = is_at(i, ";");
            if (!is_last && (!has_body || !is_at(i, ","))) continue;
            std::size_t name = i - 1;
            while (is_any_at(name, ") ]") && partners_[name] > at) {  // (*name)(int)
                const std::size_t open = partners_[name];
                name = !is_at(open - 1, ")") && is_at(name, ")") ? name - 1 : open - 1;
            }
            add_meaning(text_at(name), meaning);
            declare(text_at(i - 1), at);
            if (is_last) return;
        }
    }

    static constexpr std::size_t far_away = 64;  // in tokens: a longer declaration is not read

    token_list list_;
    list<std::uint32_t> partners_;
    template_scopes scopes_;
    list<new_expression> expressions_;
    list<expression_end> ends_;  // by their tokens
    table<text, unsigned> names_;
    table<text, std::uint32_t> defaults_;  // by the name of the callee: the expression's number + 1
    table<text, std::uint32_t> classes_;   // by the name: its token in the definition
    list<std::uint32_t> blocks_;           // the braces that are open, while the file is read
    list<name_declaration> declarations_;
    table<text, std::uint32_t> declared_;  // by the name: the number + 1 of its last declaration
    bool uses_namespace_std_ = false;
};

ALLOCSCOPE_NOINLINE bool source_outline::is_at(std::size_t at, const char* wanted) const noexcept {
    return text_at(at) == wanted;
}
ALLOCSCOPE_NOINLINE bool source_outline::is_any_at(std::size_t at,
                                                   const char* words) const noexcept {
    return is_listed(text_at(at), words);
}
ALLOCSCOPE_NOINLINE bool source_outline::is_word_at(std::size_t at) const noexcept {
    return is_word(text_at(at));
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_NEW_EXPRESSIONS_HPP

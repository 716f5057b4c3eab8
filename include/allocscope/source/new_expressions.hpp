// new_expressions.hpp - finds every `new T` of a source file, and what the file says about names.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by source_cache.hpp, once for each source file that a report needs; read by everything
//           in source/, types/ and places/ that looks at it
// Threads:  read-only once it is built
// Memory:   the tokens of the file and one entry for each new-expression, of the given arena

#ifndef ALLOCSCOPE_SOURCE_NEW_EXPRESSIONS_HPP
#define ALLOCSCOPE_SOURCE_NEW_EXPRESSIONS_HPP
#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/sort.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/source/bracketed_tokens.hpp>
#include <allocscope/source/new_reader.hpp>
#include <allocscope/source/source_tokens.hpp>
#include <allocscope/source/template_scopes.hpp>
#include <allocscope/source/written_new.hpp>
#include <allocscope/spelling/name_brackets.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

ALLOCSCOPE_MILD_BEGIN

namespace symbolize {

// The number of the first expression of which `place` is not before the token. `last` has the
// answer before.
ALLOCSCOPE_NOINLINE std::size_t first_not_before(const list<new_expression>& all,
                                                 std::size_t new_expression::*place,
                                                 std::size_t token, std::size_t& last) noexcept {
    return partition_point_near(last, all.data(), all.size(),
                                [=](const new_expression& each) { return each.*place < token; });
}

}  // namespace symbolize

ALLOCSCOPE_MILD_END

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Neighbours in the list of a file.
struct expression_run {
    const new_expression* first;
    const new_expression* behind;

    ALLOCSCOPE_INLINE const new_expression* begin() const noexcept { return first; }
    ALLOCSCOPE_INLINE const new_expression* end() const noexcept { return behind; }
    // Null: there is none, or several.
    const new_expression* only() const noexcept { return behind - first == 1 ? first : nullptr; }
};

class source_outline : public bracketed_tokens {
public:
    // `source` must live as long as the outline.
    source_outline(arena& memory, const text& source)
        : source_outline(memory, read_tokens(memory, source)) {}
    source_outline(const source_outline&) = delete;
    source_outline& operator=(const source_outline&) = delete;

    text path;  // of the file; "": the text is not that of a file

    // What included_files() has found, for a module that was built then.
    mutable const list<const source_outline*>* included = nullptr;
    mutable std::uint64_t included_built_ns = 0;

    // In the order in which they begin.
    ALLOCSCOPE_INLINE const list<new_expression>& expressions() const noexcept {
        return expressions_;
    }

    list<const template_header*> headers_around(arena& memory, std::size_t scope) const {
        return scopes_.headers_around(memory, scope);
    }

    // The same for a token in a block.
    list<const template_header*> headers_at(arena& memory, std::size_t token) const {
        return headers_around(memory, scope_of(token));
    }

    // The scope of a token in a block.
    ALLOCSCOPE_PURE std::size_t scope_of(std::size_t at) const noexcept {
        return scopes_.scope_of(at);
    }

    // The number of the first expression that begins at the token or after it.
    std::size_t first_from(std::size_t token) const noexcept {
        return first_not_before(expressions_, &new_expression::begin, token, last_first_);
    }

    // The expressions that begin in [begin, end).
    expression_run expressions_in(std::size_t begin, std::size_t end) const noexcept {
        const new_expression* const first = expressions_.begin() + first_from(begin);
        const new_expression* const behind = expressions_.begin() + first_from(end);
        return {first, behind > first ? behind : first};
    }

    // The number of the first expression that reaches to the token, or behind it.
    std::size_t first_reaching(std::size_t token) const noexcept {
        return first_not_before(expressions_, &new_expression::reach, token, last_reaching_);
    }

    // The first expression that begins or ends with the token; null if there is none.
    const new_expression* expression_at(std::size_t token) const noexcept {
        const new_expression* each = expressions_.begin() + first_reaching(token);
        for (; each != expressions_.end() && each->begin <= token; ++each) {
            if (each->begin == token || each->last == token) return each;
        }
        return nullptr;
    }

    // What a file says about a name.
    enum : unsigned {
        macro_name = 1,
        template_alias_name = 2,
        class_name = 4,     // it follows `struct` or `class`
        standard_name = 8,  // a using-declaration takes it from std
        defined_name = 16,  // the file defines a type or a namespace with this name
        expression_alias_name = 32,
        template_name = 64,  // it names a class template
        defaulting_name = 128,
        function_name = 256,  // it may declare a function with this name
        number_name = 512     // see number_of()
    };

    ALLOCSCOPE_PURE bool is_known_as(const text& name, unsigned meaning) const noexcept {
        return (known_of(name).meanings & meaning) != 0;
    }

    ALLOCSCOPE_PURE bool is_macro(const text& name) const noexcept {
        return is_known_as(name, macro_name);
    }

    ALLOCSCOPE_INLINE const list<macro_line>& macros() const noexcept { return macros_; }

    // The only definition of a macro; null: the file does not show what it stands for.
    const macro_line* definition_of(const text& macro) const noexcept {
        const macro_line* only = nullptr;
        for (const macro_line& each : macros_) {
            if (each.name != macro) continue;
            if (only != nullptr || !each.is_certain) return nullptr;
            only = &each;
        }
        return only;
    }

    // The headers that are included, but those of the standard library.
    ALLOCSCOPE_INLINE const list<text>& includes() const noexcept { return includes_; }

    // The last declaration of a name; null: there is none.
    const name_declaration* last_declared(const text& name) const noexcept {
        return known_of(name).declaration;
    }

    // Whether the file defines a type or a namespace with this name.
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_defined(const text& name) const noexcept {
        return is_known_as(name, defined_name);
    }

    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_class_template(const text& name) const noexcept {
        return is_known_as(name, template_name);
    }

    // Whether `using` or `typedef` declares the name inside a template: it may depend on the
    // parameters.
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_template_alias(const text& name) const noexcept {
        return is_known_as(name, template_alias_name);
    }

    // Whether the name is an alias for the type of an expression, which may differ each time.
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_alias_of_expression(const text& name) const noexcept {
        return is_known_as(name, expression_alias_name);
    }

    // Whether a function with this name has a `new` in a default argument: `part(int* p = new
    // int);` Compilers place it at the call, which may be `new part`.
    ALLOCSCOPE_PURE bool has_new_in_default(const text& name) const noexcept {
        return is_known_as(name, defaulting_name);
    }

    // Whether the file may declare a function with this name: `part tool(int)`.
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool declares_function(const text& name) const noexcept {
        return is_known_as(name, function_name);
    }

    // The only `new` in a default argument of the functions with this name; null: none or several.
    const new_expression* default_of(const text& name) const noexcept {
        const std::uint32_t number = known_of(name).default_argument;
        return number != 0 && number != several ? &expressions_[number - 1] : nullptr;
    }

    // The token with the name of the only class with this name that the file defines; 0: none or
    // several.
    ALLOCSCOPE_PURE std::size_t class_named(const text& name) const noexcept {
        const std::uint32_t at = known_of(name).class_name;
        return at != several ? at : 0;
    }

    static constexpr std::uint64_t no_number = ~std::uint64_t{0};

    // The number in the only `name = 12;` of the file, or of the only enumerator with that name;
    // no_number: it has another value, or may have one. Null: there is neither.
    const std::uint64_t* number_of(const text& name) const noexcept {
        return is_known_as(name, number_name) ? &known_of(name).number : nullptr;
    }

    // Whether the file uses this name of the standard library without "std::".
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_standard_name(const text& name) const noexcept {
        if (is_known_as(name, class_name)) return false;
        if (is_known_as(name, standard_name)) return true;
        // Hardly anybody gives these names to a class of their own.
        return uses_namespace_std_ &&
               is_listed(
                   name,
                   "string wstring vector deque forward_list map multimap multiset bitset tuple "
                   "priority_queue unordered_map unordered_set unordered_multimap shared_ptr "
                   "unique_ptr ostringstream istringstream stringstream runtime_error "
                   "logic_error invalid_argument out_of_range domain_error length_error "
                   "range_error overflow_error underflow_error mt19937");
    }

    // The token after a name with its scopes and template arguments; 0 if it cannot be read.
    std::size_t behind_name(std::size_t at) const {
        new_expression read;
        return new_reader{*this}.read_qualified_name(at, read);
    }

    // Index of the first token at or after a line and column.
    ALLOCSCOPE_PURE std::size_t token_from(int line, int column) const noexcept {
        return token_behind(tokens(), line, column, last_token_);
    }

    // The token at a line and column; count(): none begins there.
    std::size_t token_at(int line, int column) const noexcept {
        const std::size_t at = token_from(line, column);
        const std::size_t none = count();
        if (at == none) return none;
        const source_token& found = token(at);
        return found.line == line && found.column == column ? at : none;
    }

private:
    source_outline(arena& memory, const token_list& read)
        : bracketed_tokens(memory, read.tokens),
          macros_(read.macros),
          includes_(read.includes),
          scopes_(memory, *this),
          expressions_(memory),
          names_(memory),
          blocks_(memory) {
        for (const macro_line& macro : macros_) add_meaning(macro.name, macro_name);
        for (std::size_t at = 0; at < count();) {
            see(at);
            at = scopes_.see(at);
        }
    }

    static constexpr std::uint32_t several = ~std::uint32_t{0};

    struct known_name {
        unsigned meanings = 0;
        // Each is 0 if there is none.
        std::uint32_t class_name = 0;        // the token in the definition of the only class
        std::uint32_t default_argument = 0;  // the number + 1 of the only expression in one
        const name_declaration* declaration = nullptr;  // the last one
        std::uint64_t number = 0;
    };

    const known_name& known_of(const text& name) const noexcept {
        const known_name* const known = names_.find(name);
        return known != nullptr ? *known : unknown_;
    }

    known_name& known(const text& name) { return names_[name]; }

    void add_meaning(const text& name, unsigned meaning) { known(name).meanings |= meaning; }

    static void add_only(std::uint32_t& only, std::size_t added) noexcept {
        only = only == 0 ? static_cast<std::uint32_t>(added) : several;
    }

    void see(std::size_t at) {
        const text token = text_at(at);
        switch (token.front()) {
            case '(':
                see_parenthesis(at);
                break;
            case '{':
                blocks_.push_back(static_cast<std::uint32_t>(at));
                break;
            case '}':
                while (!blocks_.empty() && partner(at) != 0 && blocks_.back() > partner(at)) {
                    blocks_.pop_back();
                }
                if (!blocks_.empty()) blocks_.pop_back();
                break;
            case '=':
                see_assignment(at);
                break;
            case 'a':
            case 'p':
                if (token.size() < 13) break;
                [[fallthrough]];
            case 'm':
            case 'r':
                if (is_listed(token, "malloc realloc aligned_alloc posix_memalign reallocarray")) {
                    see_request(at, at + 1);
                }
                break;
            case 'n':
                if (token == "new") see_new(at);
                if (token == "namespace") read_definition(at + 1);
                if (token == "namespace" && is_at(at + 2, "=")) declare(text_at(at + 1), at);
                break;
            case 'u':
                if (token == "using") read_using(at);
                if (token == "union") read_type(at + 1);
                break;
            case 't':
                if (token == "typedef") read_typedef(at);
                break;
            case 's':
            case 'c':
                if (token == "calloc") see_request(at, at + 1);
                if (is_listed(token, "struct class")) {
                    std::size_t name = at + 1;
                    const bool is_template = scopes_.is_behind_header();
                    add_meaning(text_at(name), class_name);
                    read_type(name);
                    name = last_in_chain(name, "::");
                    if (is_template) add_meaning(text_at(name), template_name);
                    if (is_any_at(name + 1, "{ : final")) {
                        add_only(known(text_at(name)).class_name, name);
                    }
                }
                break;
            case 'e':
                if (token == "enum") {
                    read_type(at + 1);
                    read_enumerators(at + 1);
                }
                break;
            default:
                break;
        }
    }

    void see_parenthesis(std::size_t at) {
        const text name = text_at(at - 1);
        const text before = text_at(at - 2);
        if (!is_word(before) && !is_listed(before, "* & >")) return;
        if (is_listed(before, "new return else throw explicit constexpr inline virtual")) return;
        add_meaning(name, function_name);
    }

    void see_assignment(std::size_t at) {
        if (!is_word_at(at - 1) || at < behind_enumerators_) return;
        add_number(text_at(at - 1), is_at(at + 2, ";") ? value_of(text_at(at + 1)) : no_number);
    }

    void add_number(const text& name, std::uint64_t number) {
        known_name& facts = known(name);
        facts.number = (facts.meanings & number_name) == 0 ? number : no_number;
        facts.meanings |= number_name;
    }

    static std::uint64_t value_of(const text& digits) noexcept {
        if (digits.empty() || digits.size() > 18) return no_number;
        if (digits[0] == '0' && digits.size() > 1) return no_number;
        std::uint64_t value = 0;
        for (const char digit : digits) {
            if (digit < '0' || digit > '9') return no_number;
            value = value * 10 + static_cast<std::uint64_t>(digit - '0');
        }
        return value;
    }

    // Those of `enum speed : int { slow, fast = 3, faster }`. The names of an `enum class` are not
    // used alone.
    void read_enumerators(std::size_t at) {
        if (is_any_at(at, "struct class")) return;
        while (is_word_at(at) || is_any_at(at, ": ::")) ++at;
        if (!is_at(at, "{") || partner(at) < at) return;
        behind_enumerators_ = partner(at);
        // Lines of the preprocessor may leave some of them out.
        const bool are_all = !between(at, behind_enumerators_).contains("#");
        std::uint64_t number = are_all ? 0 : no_number;
        while (++at < behind_enumerators_) {
            const text name = text_at(at++);
            if (!is_any_at(at, ", }")) {
                const bool is_value = are_all && is_at(at, "=") && is_any_at(at + 2, ", }");
                number = is_value ? value_of(text_at(at + 1)) : no_number;
            }
            add_number(name, number);
            if (number != no_number) ++number;
            while (at < behind_enumerators_ && !is_at(at, ",")) at = end_of_brackets(at) + 1;
        }
    }

    void declare(const text& name, std::size_t at) {
        if (!is_word(name)) return;
        const name_declaration*& last = known(name).declaration;
        const std::uint32_t block = blocks_.empty() ? 0 : blocks_.back();
        const name_declaration added{static_cast<std::uint32_t>(at), block, last};
        last = blocks_.memory().make<name_declaration>(added);
    }

    // `class name* p` and `new class name;` only use the name.
    void read_type(std::size_t at) {
        const bool is_use = is_any_at(at - 2, "new (");
        if (is_any_at(at + 1, "{ : ; final <") && !is_use) declare(text_at(at), at);
        read_definition(at);
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

    void see_new(std::size_t at) {
        const text before = text_at(at - 1);
        if (before == "operator") see_request(at - 1, is_at(at + 1, "[") ? at + 3 : at + 1);
        if (is_listed(before, "operator . ->")) return;
        new_expression found;
        if (!new_reader{*this}.read_new(at, found)) return;
        if (is_at(found.begin - 1, "=")) see_default(found);
        keep(found);
    }

    void see_request(std::size_t begin, std::size_t open) {
        new_expression found;
        if (new_reader{*this}.read_request(begin, open, found)) keep(found);
    }

    // Finds out whether the expression is a default argument. `f(p = new part)` is an assignment.
    void see_default(new_expression& found) {
        if (is_any_at(found.begin - 3, "( ,")) return;
        for (std::size_t left = far_away, at = found.begin; left != 0 && at > 1; --left) {
            const text token = text_at(--at);
            if (is_listed(token, "; { }")) return;
            if (token == ")" && partner(at) != 0) at = partner(at);
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
            const std::size_t close =
                back_over(blocks_[i - 1], "const noexcept override final") - 1;
            const std::size_t open = partner_if(close, ")");
            if (open == 0 || !is_word_at(open - 1)) continue;
            if (is_any_at(open - 1, "if for while switch catch")) continue;
            found.function = open - 1;
            found.outer = i > 1 ? blocks_[i - 2] : 0;
        }
    }

    void keep(new_expression& found) {
        see_function(found);
        found.scope = scopes_.here();
        found.reach = found.last;
        if (!expressions_.empty() && expressions_.back().reach > found.reach) {
            found.reach = expressions_.back().reach;
        }
        expressions_.push_back(found);
        if (found.callee != 0) {
            add_only(known(text_at(found.callee)).default_argument, expressions_.size());
        }
    }

    // `using namespace std;`, `using std::string;`, and `using X =` in a template.
    void read_using(std::size_t at) {
        const text next = text_at(at + 1);
        const text after = text_at(at + 2);
        const bool is_std = are_at(at + 1, "namespace", "std") && is_at(at + 3, ";");
        uses_namespace_std_ = uses_namespace_std_ || is_std;
        for (std::size_t i = at; is_at(i + 1, "std") && is_any_at(i + 4, ", ;"); i += 4) {
            add_meaning(text_at(i + 3), standard_name);
        }
        if (after != "=") return declare_used(at);
        declare(next, at + 1);
        add_meaning(next, defined_name);
        if (scopes_.is_in_template()) add_meaning(next, template_alias_name);
        for (std::size_t i = at + 3; i < at + far_away && !is_at(i, ";"); ++i) {
            if (is_at(i, "decltype")) add_meaning(next, expression_alias_name);
        }
    }

    // `using net::list;` declares `list`; `using namespace net;` is kept as `namespace`.
    void declare_used(std::size_t at) {
        std::size_t last = find(at + 2, at + 1 + far_away, ", ;") - 1;
        const bool is_of_constructors = text_at(last) == text_at(last - 2);  // base::base
        if (is_at(at + 1, "namespace")) last = at + 1;
        if (!is_of_constructors) declare(text_at(last), at);
    }

    // Remembers `typedef ... X;` and `typedef struct {...} X, *Y;`.
    void read_typedef(std::size_t at) {
        const unsigned meaning =
            defined_name | (scopes_.is_in_template() ? template_alias_name : 0U);
        bool has_body = false;
        std::size_t i = at + 1;
        for (std::size_t left = far_away; i < count() && left != 0; ++i, --left) {
            if (is_at(i, "{") && partner(i) > i) {
                i = partner(i);
                has_body = true;
            }
            const bool is_last = is_at(i, ";");
            if (!is_last && (!has_body || !is_at(i, ","))) continue;
            std::size_t name = i - 1;
            while (is_any_at(name, ") ]") && partner(name) > at) {  // (*name)(int), name(int)
                const std::size_t open = partner(name);
                const bool is_around = is_at(name, ")") && name + 1 != i && !is_at(open - 1, ")");
                name = is_around ? name - 1 : open - 1;
            }
            add_meaning(text_at(name), meaning);
            declare(text_at(name), at);
            if (is_last) return;
        }
    }

    static constexpr std::size_t far_away = 64;  // in tokens: a longer declaration is not read

    list<macro_line> macros_;
    list<text> includes_;
    template_scopes scopes_;
    list<new_expression> expressions_;
    table<text, known_name> names_;
    known_name unknown_;                  // what is known of any other name
    list<std::uint32_t> blocks_;          // the braces that are open, while the file is read
    std::size_t behind_enumerators_ = 0;  // of the last enumeration that was seen
    bool uses_namespace_std_ = false;

    // Answers of partition_point_near().
    mutable std::size_t last_token_ = 0;
    mutable std::size_t last_first_ = 0;
    mutable std::size_t last_reaching_ = 0;
};

// The last token in the name of the function that is called at `at`.
inline std::size_t end_of_callee(const source_outline& file, std::size_t at) {
    if (file.is_at(at, ")")) at = file.partner(at);
    if (at > 0 && file.is_at(at, "(")) --at;
    if (file.is_at(at, "::")) ++at;
    return file.last_in_chain(at, "::");  // clang: the first
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_NEW_EXPRESSIONS_HPP

// type_from_source.hpp - the T of the `new T` at a frame's file, line and column.
//
// Room:     types (floor 8), not malloc-safe
// Called:   by type_ladder.hpp, for the direct caller of operator new
// Threads:  one cache belongs to one thread
// Memory:   of the arena of read_names
//
// The column decides which of several expressions on a line is meant. If it does not decide, the
// answer is "", never the most likely type. A template parameter is replaced by the argument in the
// name of the frame's function:
//
//     template <class T> T* make() { return new T; }     frame: widget* make<widget>()   "widget"
//     keep(new int[3], MAKE(long));                      g++ places it at the bracket: ""

#ifndef ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP
#define ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP
#include <allocscope/base/compiler.hpp>
#include <allocscope/config.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/entry_types.hpp>
#include <allocscope/types/declared_variable.hpp>
#include <allocscope/types/default_arguments.hpp>
#include <allocscope/types/function_name.hpp>
#include <allocscope/types/local_names.hpp>
#include <allocscope/types/name_brackets.hpp>
#include <allocscope/types/new_expressions.hpp>
#include <allocscope/types/placed_new.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/source_cache.hpp>
#include <allocscope/types/source_of_frame.hpp>
#include <allocscope/types/type_knowledge.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The type of a literal without a suffix, or with f; "": another one.
inline text type_of_literal(text token) noexcept {
    if (token[0] == '\'') return token.size() == 3 || token[1] == '\\' ? "char" : "";  // 'ab'
    if (token[0] == '"') return "const char*";
    const std::size_t end = token.find_first_not_of("0123456789.");
    if (end == 0 || token.size() > 9) return {};  // or too large for an int
    const bool is_real = token.contains(".");
    if (end == no_position) return is_real ? "double" : "int";
    return is_real && token.ends_with("f") ? "float" : "";
}

// Spells the type of a new-expression. Template parameters are replaced by the arguments in the
// name of the frame's function.
class source_spelling {
public:
    source_spelling(arena& memory, const source_outline& file, const new_expression& expression,
                    const function_name& name, const type_knowledge& knowledge,
                    bool is_at_begin = false)
        : memory_(memory),
          knowledge_(knowledge),
          file_(file),
          expression_(expression),
          name_(name),
          headers_(file.headers_around(memory, expression.scope)),
          instantiated_(memory),
          is_at_begin_(is_at_begin) {
        for (std::size_t i = 0; i < name.components.size(); ++i) {
            const name_component& component = name.components[i];
            const bool is_generic_lambda = i > 0 && component.name == "operator()" &&
                                           (name.components[i - 1].name[0] == '{' ||
                                            name.components[i - 1].name.starts_with("$_"));
            if (!component.arguments.empty() && !is_generic_lambda) instantiated_.push_back(i);
        }
    }

    // The type, with the blanks and the order of words as in the source; "" if it is not certain.
    text spelled() const {
        const text type = expression_.has_type ? written() : text{};
        return type.empty() && !shares_place() ? of_auto_pointer() : type;
    }

    text written() const {
        const text own = own_name();
        if (expression_.is_request && !is_certain_request()) return {};
        if (expression_.is_of_variable) {
            return decayed(type_of_value(expression_.type_begin, expression_.type_end, 0));
        }
        if (expression_.is_of_value) {
            const bool is_member = file_.is_any_at(expression_.type_end - 2, ". ->");
            const bool is_type = is_certain_type(own) || is_standard_class(own);
            if (is_member || !is_type) return of_call(own);
        }
        text_out type{memory_};
        if (!write(type, expression_.type_begin, expression_.type_end, 0)) return of_values();
        return is_doubtful(own) || is_unresolved(type.view()) ? text{} : type.view();
    }

    // The type of `f(x)` or `static_cast<T>(x)` in `new auto(...)`.
    text of_call(text own) const {
        if (own == "static_cast") {
            text_out cast{memory_};
            const bool is_read =
                write(cast, expression_.type_begin + 2, expression_.type_end - 1, 0);
            return is_read && !is_unresolved(cast.view()) ? decayed(cast.view()) : text{};
        }
        const text type = made_by_call(own);
        return decayed(type.empty() ? made_by_call("operator()") : type);
    }

    // Whether the type is printed as a member of a template, `traits<part>::type`, or as an alias
    // of the standard library, `std::invoke_result_t<F>`, which stand for another type.
    bool is_unresolved(text written) const {
        if (!written.contains(">")) return false;
        const text type = pretty_type(memory_, written);
        const std::size_t begin = type.starts_with("const ") ? 6 : 0;
        const std::size_t open = type.find('<');
        const bool is_standard = type.substr(begin).starts_with("std::");
        if (is_standard && open != no_position && type.substr(0, open).ends_with("_t")) return true;
        const std::size_t at = type.rfind('>');
        if (at == no_position || !type.substr(at + 1).starts_with("::")) return false;
        const text member = type.substr(at + 3);
        const text own = member.substr(0, member.find_first_of(" *&["));
        return file_.class_named(own) == 0 && knowledge_.bytes != nullptr &&
               knowledge_.bytes(knowledge_.context, own) == 0;
    }

    // The compiler has deduced the type of p in `auto* p = new box{1};`.
    text of_auto_pointer() const {
        const std::size_t name = expression_.begin > 3 ? expression_.begin - 2 : 0;
        std::size_t before = name;
        while (before > 0 && file_.is_any_at(before - 1, "* const")) --before;
        const bool is_auto = before > 0 && file_.is_at(before - 1, "auto");
        if (!is_auto || !file_.is_at(name + 1, "=") || !file_.is_at(expression_.last + 1, ";")) {
            return {};
        }
        text type = decayed(described(file_.text_at(name), asked_name::variable));
        if (!type.ends_with("*")) return {};
        type.remove_suffix(1);
        return type;
    }

    // The same for tokens of a declaration before the place.
    text spelled(std::size_t begin, std::size_t end) const {
        text_out type{memory_};
        return write(type, begin, end, 1) ? type.view() : text{};
    }

    // For `new app::box(x)` of a class template: "app::box<int>" if the constructor of that class
    // is called for it. Or else "app::box<", or "app::box<int" for `app::box(int())`. For `new Ts`
    // of a pack: "<int, part>". "" for other expressions, such as an aggregate in braces.
    text deduced() const {
        const std::size_t open = expression_.type_end;
        const text pack = of_pack();
        if (!pack.empty()) return joined(memory_, "<", pack, ">");
        if (!expression_.has_initialiser || !file_.is_any_at(open, "( {")) return {};
        if (expression_.is_of_value || expression_.is_of_variable) return {};
        text_out path{memory_};
        for (std::size_t i = expression_.type_begin; i < open; ++i) {
            const text word = file_.text_at(i);
            const bool is_name = is_word(word) && !is_parameter(word) && !file_.is_macro(word);
            if (!is_name && word != "::") return {};
            path << word;
        }
        const std::size_t last = open - 1;
        const text own = file_.text_at(last);
        const bool is_local =
            find_local_name(file_, expression_.begin, own).what != local_name::kind::none;
        if (is_local || !is_bare_template(last, open, own)) return {};
        const text built = made_by_call(own);
        if (!built.empty() || file_.is_at(open, "{")) return built;
        path << '<';
        const std::size_t close = file_.partner(open);
        std::size_t end = close;  // of the type in `T()` or `T{}`
        if (file_.is_any_at(close - 1, ") }")) end = file_.partner(close - 1);
        text_out first{memory_};
        text argument;
        int depth = 0;  // of angle brackets
        for (std::size_t i = open + 1; i < end; ++i) {
            const text token = file_.text_at(i);
            if (token == "<") ++depth;
            if (token == ">") --depth;
            if (is_listed(token, "( { .") || (token == "," && depth == 0)) return path.view();
            if (is_word(token) && depth == 0) argument = token;
        }
        if (end == close || !is_certain_type(argument) || argument == own ||
            !write(first, open + 1, end, 1)) {
            return path.view();
        }
        path << pretty_type(memory_, first.view());
        return path.view();
    }

    // The class whose constructor is called for the expression, whatever its type is called; "" if
    // that is not certain.
    ALLOCSCOPE_INLINE text constructed() const {
        return expression_.is_request || expression_.is_of_value ? text{} : made_by_call({});
    }

    ALLOCSCOPE_INLINE bool shares_place() const { return file_.has_new_in_default(own_name()); }

private:
    static bool is_plain_word(text word) noexcept {
        constexpr text plain_words =
            "std const volatile bool void float wchar_t char8_t char16_t char32_t struct class "
            "union enum typename true false";
        return is_listed(word, plain_words) || builtin_type{}.take(word);
    }

    // The types of the pack in `new Ts`; "" if it is something else.
    text of_pack() const {
        if (expression_.type_end != expression_.type_begin + 1) return {};
        const text word = file_.text_at(expression_.type_begin);
        return is_parameter(word) ? meaning_of(word, false, true) : text{};
    }

    // What the code of the frame's function makes at a token by a call of `own`; "" if that is not
    // certain.
    text made_at(std::size_t token, text own) const {
        if (knowledge_.made == nullptr) return {};
        const source_token& place = file_.tokens()[token];
        return knowledge_.made(knowledge_.context, own, place.line, place.column, memory_);
    }

    // The class whose constructor is called for the expression, or what the function returns that
    // is called in `new auto(f(x))`. The places are those at which compilers put the call: the last
    // token or the `new`; the name, with its scopes or without; the bracket behind it.
    text made_by_call(text own) const {
        const std::size_t open = expression_.type_end;
        const std::size_t places[] = {expression_.last, expression_.begin, expression_.type_begin,
                                      open - 1, open};
        constexpr std::size_t of_any_class = 3;  // brackets may belong to arguments
        text type;
        for (std::size_t i = 0; i < (own.empty() ? of_any_class : 5U) && type.empty(); ++i) {
            type = made_at(places[i], own);
        }
        return type;
    }

    // The last name before the template arguments.
    text own_name() const {
        text own;
        for (std::size_t i = expression_.type_begin; i < expression_.type_end; ++i) {
            if (file_.is_at(i, "<")) break;
            if (file_.is_word_at(i)) own = file_.text_at(i);
        }
        return own;
    }

    // Whether `word(...)` makes an object. It might be a call of a function.
    bool is_certain_type(text word) const {
        return builtin_type{}.take(word) || is_parameter(word) || is_type_or_namespace(word);
    }

    bool is_standard_class(text own) const {
        return file_.is_at(expression_.type_begin, "std") &&
               (is_standard_template(own) || is_listed(own, "string wstring"));
    }

    // Whether the block may be that of a `new` in a default argument, and its size would not show
    // it. Outside of templates only clang places a call at the `new` itself, and never one of a
    // default argument.
    bool is_doubtful(text own) const {
        const bool is_in_template = !headers_.empty() || has_arguments(name_);
        if (is_at_begin_ && !is_in_template) return false;
        return file_.has_new_in_default(own) &&
               (knowledge_.bytes == nullptr || knowledge_.bytes(knowledge_.context, own) == 0);
    }

    // The name in `sizeof(name)` may be a variable. `static_cast<name*>(` or `name* p =` shows that
    // it is a type.
    bool is_certain_request() const {
        const text name = file_.text_at(expression_.type_begin);
        const bool is_one_word = expression_.type_end == expression_.type_begin + 1;
        if (!is_one_word || builtin_type{}.take(name) || is_parameter(name)) return true;
        std::size_t at = expression_.begin;
        for (int left = 12; left != 0 && at > 0; --left, --at) {
            if (file_.is_at(at, "*") && file_.text_at(at - 1) == name) return true;
        }
        return false;
    }

    // Writes the type in the tokens. Returns false if it is not certain.
    bool write(text_out& type, std::size_t begin, std::size_t end, int depth) const {
        bool is_of_library = false;  // the name that is being read
        for (std::size_t i = begin; i < end; ++i) {
            text word = file_.text_at(i);
            if (word == "template") continue;
            if (word == "[" && file_.is_at(i - 1, "*") && file_.is_at(i - 2, "(")) {
                i = file_.partner(i);  // `new (int (*[2])(char))` makes pointers
                continue;
            }
            if (word == "decltype") {
                const std::size_t close = file_.partner(i + 1);
                if (behind_variable(file_.tokens(), i + 2) != close) return false;
                word = type_of_value(i + 2, close, depth);
                if (word.empty()) return false;
                i = close;
            } else if (is_word(word)) {
                const bool is_inner = i > begin && file_.is_at(i - 1, "::");
                const text known = is_inner ? text{} : of_template(i, begin, end, depth);
                const bool is_pack =
                    i + 3 < end && file_.is_at(i + 1, ".") && !is_inner && is_parameter(word);
                if (is_pack) {
                    word = meaning_of(word, false, true);
                    i += 3;
                } else if (!known.empty()) {
                    word = known;
                    is_of_library = false;
                } else if (!is_inner) {
                    const std::size_t outer = class_around(i, begin, depth);
                    const bool has_arguments = i + 1 < end && file_.is_at(i + 1, "<");
                    word = outer != 0 ? inner_class(outer, word) : meaning_of(word, has_arguments);
                    is_of_library = word == "std" || word.starts_with("std::");
                } else if (!is_of_library && !is_type_or_namespace(word)) {
                    return false;
                }
                if (word.empty() || (known.empty() && is_bare_template(i, end, word))) return false;
            }
            if (!type.empty() && is_name_character(type.back()) && is_name_character(word[0])) {
                type << ' ';
            }
            type << word;
        }
        return !type.empty();
    }

    text described(text name, asked_name wanted) const {
        if (name.empty() || knowledge_.meaning == nullptr || file_.is_macro(name)) return {};
        return knowledge_.meaning(knowledge_.context, name, wanted, memory_);
    }

    // std::pair(1, x) is a pair of the types of its arguments. The same is true of std::tuple, and
    // of std::optional.
    text of_values() const {
        const std::size_t name = expression_.type_begin + 2;
        const std::size_t open = expression_.type_end;
        const bool is_one = open == name + 1 && file_.is_at(name - 2, "std") &&
                            file_.is_any_at(name, "pair tuple optional");
        const std::size_t close = is_one && file_.is_any_at(open, "( {") ? file_.partner(open) : 0;
        text_out type{memory_};
        type << "std::" << file_.text_at(name) << '<';
        std::size_t count = 0;
        for (std::size_t at = open + 1; at < close; ++at, ++count) {
            const std::size_t behind = behind_variable(file_.tokens(), at);
            if (behind != close && !file_.is_at(behind, ",")) return {};
            const text value = decayed(type_of_value(at, behind, 0));
            // These take the place of a value, or are copied.
            const bool is_other = value.contains("std::allocator_arg_t") ||
                                  (count == 0 && value.starts_with("std::optional<"));
            if (value.empty() || is_other) return {};
            type << (count == 0 ? "" : ", ") << value;
            at = behind;
        }
        type << '>';
        const bool is_optional = file_.is_at(name, "optional");
        const bool is_whole = is_optional ? count == 1 : count > 1;
        return is_whole ? type.view() : text{};  // a tuple of one may be made of a pair
    }

    // The type of `v`, `*v`, `&v`, `v.member` or `v->member`, as `decltype` has it.
    text type_of_value(std::size_t begin, std::size_t end, int depth) const {
        if (file_.is_at(begin, "*")) {
            text type = decayed(type_of_value(begin + 1, end, depth));
            if (!type.ends_with("*")) return {};
            type.remove_suffix(1);
            return joined(memory_, type, "&");
        }
        const bool is_pointer = file_.is_at(begin, "&");
        if (!is_pointer && begin + 1 == end) return type_of_variable(begin, depth);
        if (is_pointer && begin + 2 != end) return {};  // a member of what may be const
        text_out path{memory_};
        for (std::size_t i = is_pointer ? begin + 1 : begin; i < end; ++i) {
            if (file_.is_macro(file_.text_at(i))) return {};
            path << file_.text_at(i);
        }
        text type = described(path.view(), asked_name::variable);
        if (type.empty() || !is_pointer) return type;
        while (type.ends_with("&")) type.remove_suffix(1);
        return joined(memory_, type, "*");
    }

    // The type of the variable that is named at `at`, from the debug information or else from the
    // source.
    text type_of_variable(std::size_t at, int depth) const {
        const text literal = type_of_literal(file_.text_at(at));
        if (!literal.empty()) return literal;
        const text known = described(file_.text_at(at), asked_name::variable);
        if (!known.empty() || file_.is_macro(file_.text_at(at))) return known;
        const declared_variable found = find_variable(file_, at);
        if (!found.is_known()) return {};
        if (file_.is_at(found.begin, "auto")) return argument_for_auto(found);
        text_out type{memory_};
        return write(type, found.begin, found.end, depth + 1) ? type.view() : text{};
    }

    // The type of a parameter, of a lambda or a function, that is declared `auto` and nothing else.
    text argument_for_auto(const declared_variable& parameter) const {
        const bool is_plain = parameter.end == parameter.begin + 1 && parameter.at == parameter.end;
        if (!is_plain || name_.components.empty()) return {};
        std::size_t before = 0;
        std::size_t open = parameter.begin;
        while (--open > 0 && !file_.is_at(open, "(")) {
            if (file_.is_at(open, "auto")) ++before;
            if (file_.is_any_at(open, "; { }")) return {};
        }
        std::size_t count = before;
        for (std::size_t i = parameter.begin; i < file_.partner(open); ++i) {
            if (file_.is_at(i, "auto")) ++count;
        }
        // If the place is in another lambda or a class inside this one, the function is the inner
        // one's.
        for (std::size_t i = file_.partner(open); i < expression_.begin; ++i) {
            const bool is_lambda = file_.is_at(i, "]") && file_.is_any_at(i + 1, "( {");
            if (is_lambda || file_.is_any_at(i, "struct class union")) return {};
        }
        const list<text> arguments = split_arguments(memory_, name_.last().arguments);
        const text own = name_.last().name == "operator()" ? text{"]"} : name_.last().name;
        const bool is_own = open > 0 && file_.text_at(open - 1) == own;
        return is_own && arguments.size() == count ? arguments[before] : text{};
    }

    // The innermost header with this parameter; null: there is none.
    const template_header* header_of(text word) const {
        for (std::size_t i = headers_.size(); i > 0; --i) {
            for (const text parameter : headers_[i - 1]->parameters) {
                if (parameter == word) return headers_[i - 1];
            }
        }
        return nullptr;
    }

    bool is_parameter(text word) const { return header_of(word) != nullptr; }

    // What the name at `at` stands for in this instantiation of a template; "" if that is not
    // certain, or does not depend on the template. `at` may move past members after the name.
    text of_template(std::size_t& at, std::size_t begin, std::size_t end, int depth) const {
        const text word = file_.text_at(at);
        const bool has_arguments = at + 1 < end && file_.is_at(at + 1, "<");
        if (has_arguments || is_plain_word(word) || file_.is_macro(word)) return {};
        const bool is_in_template = !headers_.empty() || !instantiated_.empty();
        const local_name local =
            find_local_name(file_, depth == 0 ? expression_.begin : begin, word);
        if (local.what == local_name::kind::alias) {
            constexpr int most_aliases = 8;  // of aliases in a row
            text_out type{memory_};
            const bool is_wanted = is_in_template || local.is_of_function;
            if (is_wanted && depth < most_aliases &&
                write(type, local.begin, local.end, depth + 1)) {
                return type.view();
            }
        }
        const bool is_local = local.what != local_name::kind::none && local.is_of_function;
        return is_in_template && !is_local ? described_path(at, end) : text{};
    }

    // The same as of_template(), but from the debug information. That has other parameters than the
    // source if the template is a partial specialisation.
    text described_path(std::size_t& at, std::size_t end) const {
        std::size_t last = at;
        text_out path{memory_};
        path << file_.text_at(at);
        while (last + 2 < end && file_.is_at(last + 1, "::") && file_.is_word_at(last + 2)) {
            last += 2;
            path << "::" << file_.text_at(last);
        }
        if (last + 1 < end && file_.is_at(last + 1, "<")) return {};
        asked_name wanted = asked_name::type;
        if (const template_header* header = header_of(file_.text_at(at))) {
            if (!header->shows_arguments) return {};
            if (last == at && !meaning_of(file_.text_at(at), false).empty()) return {};
            wanted = asked_name::parameter;
        }
        const text meaning = described(path.view(), wanted);
        if (!meaning.empty()) at = last;
        return meaning;
    }

    text meaning_of(text word, bool has_arguments, bool is_expanded = false) const {
        if (is_plain_word(word)) return word;
        if (file_.is_macro(word)) return {};
        for (std::size_t i = headers_.size(); i > 0; --i) {
            const list<text>& parameters = headers_[i - 1]->parameters;
            for (std::size_t p = 0; p < parameters.size(); ++p) {
                if (parameters[p] == word) return argument(i - 1, p, is_expanded);
            }
        }
        // Inside a template that the function's name does not show, any name may be a parameter.
        if (!instantiated_.empty() && headers_.empty()) return {};
        if (!headers_.empty() && file_.is_template_alias(word)) return {};
        if (file_.is_alias_of_expression(word)) return {};
        if (file_.is_standard_name(word)) return joined(memory_, "std::", word);
        return has_arguments ? qualified_type(word) : own_class(word);
    }

    // Argument `index` with which the header's template was instantiated. If `is_expanded`, the
    // parameter is a pack, and all its arguments are wanted.
    text argument(std::size_t header, std::size_t index, bool is_expanded) const {
        if (headers_.size() != instantiated_.size()) return {};
        if (!headers_[header]->shows_arguments) return {};
        const list<text> arguments =
            split_arguments(memory_, name_.components[instantiated_[header]].arguments);
        const std::size_t count = headers_[header]->parameters.size();
        const bool has_pack = headers_[header]->has_pack;
        const std::size_t pack = has_pack ? headers_[header]->pack : count;
        const bool is_pack = index == pack;
        if (is_pack != is_expanded || index >= arguments.size() || index > pack) return {};
        if (is_pack && pack + 1 != count) return {};
        if (!has_pack && arguments.size() != count) return {};
        text_out all{memory_};
        for (std::size_t i = index; i < (is_pack ? arguments.size() : index + 1); ++i) {
            if (i != index) all << ", ";
            all << arguments[i];
        }
        return all.view();
    }

    // The class that a member names without arguments: `pool` in a member of app::pool<int> is
    // app::pool<int>.
    text own_class(text word) const {
        for (const std::size_t i : instantiated_) {
            const name_component& component = name_.components[i];
            if (component.name == word && i + 1 < name_.components.size()) {
                return name_up_to(component);
            }
        }
        return qualified_type(word);
    }

    text qualified_type(text word) const {
        return is_type_or_namespace(word) ? qualified(word) : text{};
    }

    // The name with the scopes in which it is found. A name that no scope around the function has
    // is made visible by a `using`, or by a base class. But debug information may leave out a class
    // that this file declares outside of all scopes.
    text qualified(text word) const {
        if (knowledge_.qualified == nullptr) return word;
        text whole = knowledge_.qualified(knowledge_.context, word, plain_name(memory_, name_));
        if (whole.empty() && knowledge_.only != nullptr && !is_declared_globally(word)) {
            whole = knowledge_.only(knowledge_.context, word);
        }
        return whole.empty() ? word : whole;
    }

    bool is_declared_globally(text word) const {
        for (const name_declaration* each = file_.last_declared(word); each != nullptr;
             each = file_.declared_before(*each)) {
            // `using word::name` declares another name.
            if (each->block == 0 && !file_.is_at(each->at + 1, "::")) return true;
        }
        return false;
    }

    // False for a name that may be a macro from another file.
    bool is_type_or_namespace(text word) const {
        return file_.is_defined(word) || knowledge_.kind == nullptr ||
               knowledge_.kind(knowledge_.context, word) != name_kind::unknown;
    }

    // The debug information may lack these templates, or have another type with such a name.
    static ALLOCSCOPE_INLINE bool is_standard_template(text word) noexcept {
        return find_default_rule(word) != nullptr ||
               is_listed(word,
                         "pair tuple array optional variant function shared_ptr weak_ptr complex "
                         "valarray atomic lock_guard unique_lock scoped_lock");
    }

    // The brace of the class around the class that the name at `at` means, if that lies in the
    // template, so that each instantiation has another one; 0: it does not.
    std::size_t class_around(std::size_t at, std::size_t begin, int depth) const {
        if (headers_.empty() && instantiated_.empty()) return 0;
        const text word = file_.text_at(at);
        if (is_parameter(word)) return 0;
        for (const std::size_t i : instantiated_) {
            if (name_.components[i].name == word) return 0;
        }
        const local_name local =
            find_local_name(file_, depth == 0 ? expression_.begin : begin, word);
        return local.what == local_name::kind::other && !local.is_of_function ? local.block : 0;
    }

    // `slot` in a member of ring<int>, whose body opens at `outer`, is ring<int>::slot.
    text inner_class(std::size_t outer, text word) const {
        for (const std::size_t i : instantiated_) {
            const name_component& component = name_.components[i];
            const bool is_class = i + 1 < name_.components.size();
            if (!is_class || body_of_class(file_, component.name) != outer) continue;
            return joined(memory_, name_up_to(component), "::", word);
        }
        return {};
    }

    text name_up_to(const name_component& component) const {
        const char* begin = name_.whole.data();
        return text{begin, static_cast<std::size_t>(component.arguments.end() - begin)};
    }

    // Whether the name at `at` is a class template without arguments, as in `new box(3)`: the
    // compiler deduces them. `meaning` is what the word at `at` stands for.
    bool is_bare_template(std::size_t at, std::size_t end, text meaning) const {
        const text behind = at + 1 < end ? file_.text_at(at + 1) : text{};
        if (behind == "<" || behind == "::" || meaning.ends_with(">")) return false;
        const text word = file_.text_at(at);
        const bool is_replaced = meaning != word && !meaning.ends_with(word);
        if (is_replaced || file_.is_class_template(word)) return !is_replaced;
        const bool is_of_library =
            meaning.starts_with("std::") || (at > 1 && file_.is_any_at(at - 2, "std pmr"));
        if (is_of_library && is_standard_template(word)) return true;
        return knowledge_.kind != nullptr &&
               knowledge_.kind(knowledge_.context, word) == name_kind::class_template;
    }

    arena& memory_;
    type_knowledge knowledge_;
    const source_outline& file_;
    const new_expression& expression_;
    const function_name& name_;
    list<const template_header*> headers_;  // outermost first
    list<std::size_t> instantiated_;        // the components of the name that have arguments
    bool is_at_begin_;  // the call is placed at the `new`, not at the last token
};

// What the source says about a `new` besides its type.
struct source_notes {
    bool is_array = false;      // `new T[n]`
    bool shares_place = false;  // with a `new` in a default argument
    text deduced = {};          // if the type is not certain: type_answer::candidate
};

// The type of the `new` at the frame's line and column; "" if that is not certain. The frame must
// be the direct caller of operator new.
inline text type_from_source(read_names& names, const code_frame& frame, source_cache& sources,
                             const type_knowledge& knowledge = {}, source_notes* notes = nullptr) {
    if (is_standard_header(frame.file) || frame.is_nearby) return {};
    const function_name& function = names.of(frame.function).parts;
    // Without a column, the initialiser of a member would be confused with an expression on the
    // line of the constructor.
    if (frame.column <= 0 && is_constructor(function)) return {};
    const source_outline* file = source_of(frame, sources);
    if (file == nullptr) return {};
    const new_expression* expression = find_new_expression(*file, frame.line, frame.column);
    if (expression == nullptr) return {};
    const borrowed_memory meanwhile{names.scratch()};
    const source_token& first = file->tokens()[expression->begin];
    const bool is_at_begin =
        frame.column > 0 && first.line == frame.line && first.column == frame.column;
    const source_spelling spelling{names.scratch(), *file,     *expression,
                                   function,        knowledge, is_at_begin};
    const text type = spelling.spelled();
    if (notes != nullptr) {
        const std::size_t behind = expression->type_end;
        notes->is_array = expression->is_request || file->text_at(behind) == "[";
        notes->shares_place = spelling.shares_place();
        text deduced = type.empty() ? spelling.deduced() : text{};
        if (type.empty() && deduced.empty()) deduced = spelling.constructed();
        notes->deduced =
            deduced.ends_with(">") ? names.made(deduced) : copy_of(names.memory(), deduced);
    }
    return names.made(type);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

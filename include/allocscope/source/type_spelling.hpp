// type_spelling.hpp - the type that tokens of the source stand for in a frame's function.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_from_source.hpp and called_name.hpp
// Threads:  any, but the arena belongs to one
// Memory:   of the arena that it is made with
//
// A template parameter, and what depends on one, stands for another type in each instantiation. The
// arguments are taken from the name of the function, or else from the debug information:
//
//     template <class T> T* make() { return new pair_of<T>; }   in make<widget>: pair_of<widget>
//
// What is not certain has no spelling.

#ifndef ALLOCSCOPE_SOURCE_TYPE_SPELLING_HPP
#define ALLOCSCOPE_SOURCE_TYPE_SPELLING_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/class_size.hpp>
#include <allocscope/source/declared_variable.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/local_names.hpp>
#include <allocscope/source/name_scopes.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/standard_names.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/entry_types.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Spells types that are named in one place of the source.
class type_spelling : protected name_scopes {
public:
    // `at` is the first token of the expression that the types are named in, `scope` is around it,
    // `name` that of the function.
    type_spelling(arena& memory, const source_outline& file, std::size_t at, std::size_t scope,
                  const function_name& name, const type_knowledge& knowledge)
        : name_scopes(memory, file, at, name, knowledge),
          headers_(file.headers_around(memory, scope)),
          instantiated_(memory) {
        for (std::size_t i = 0; i < name.components.size(); ++i) {
            const name_component& component = name.components[i];
            // With -g1, clang names a lambda without what is around it.
            const text outer = i > 0 ? name.components[i - 1].name : text{"{"};
            const bool is_generic_lambda =
                component.name == "operator()" && (outer[0] == '{' || outer.starts_with("$_"));
            if (!component.arguments.empty() && !is_generic_lambda) instantiated_.push_back(i);
        }
    }

    // For text that the macro at `use` of a file writes, inside of these templates.
    void stand_at(const source_outline& file, std::size_t use,
                  const list<const template_header*>& headers) {
        headers_ = headers;
        user_ = &file;
        use_ = use;
    }

    // The type in tokens of a declaration before that place; "" if it is not certain.
    text spelled(std::size_t begin, std::size_t end, int depth = 1) const {
        text_out type{memory_};
        return write(type, begin, end, depth) ? type.view() : text{};
    }

    // Writes the type in the tokens. Returns false if it is not certain.
    bool write(text_out& type, std::size_t begin, std::size_t end, int depth) const {
        bool is_of_library = false;  // the name that is being read
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t first = i;
            text word = file_.text_at(i);
            if (word == "template") continue;
            if (word == "[" && file_.are_at(i - 2, "(", "*")) {
                i = file_.partner(i);  // `new (int (*[2])(char))` makes pointers
                continue;
            }
            if (word == "decltype") {
                const std::size_t close = file_.partner(i + 1);
                if (behind_variable(file_.tokens(), i + 2) != close) return false;
                word = type_of_value(i + 2, close, depth);
                const bool is_whole = i == begin && close + 1 == end;
                if (word.empty() || (!is_whole && may_be_captured(word))) return false;
                i = close;
            } else if (is_word(word)) {
                const bool is_inner = i > begin && file_.is_any_at(i - 1, ":: template");
                const bool is_argument =
                    file_.is_any_at(i - 1, "< ,") && file_.is_any_at(i + 1, "> ,");
                const text known = is_inner ? text{} : of_template(i, begin, end, depth);
                if (i == end) return false;
                std::size_t dots = i + 1;
                while (file_.is_any_at(dots, "* & const")) ++dots;
                const bool is_pack =
                    dots + 2 < end && file_.is_at(dots, ".") && !is_inner && is_parameter(word);
                if (is_pack) {
                    const text mark = file_.between(i + 1, dots);
                    word = meaning_of(word, false, &mark);
                    i = dots + 2;
                } else if (!known.empty()) {
                    word = known;
                    is_of_library = false;
                } else if (!is_inner) {
                    const std::size_t outer = class_around(i, begin, depth);
                    const bool has_arguments = i + 1 < end && file_.is_at(i + 1, "<");
                    word = outer != 0 ? inner_class(outer, word) : meaning_of(word, has_arguments);
                    if (is_argument) word = number_or(word, file_.text_at(i));
                    is_of_library = word == "std" || word.starts_with("std::");
                } else if (!is_of_library && !is_type_or_namespace(word) &&
                           !is_value_of_type(i, end)) {
                    return false;
                } else if ((depth > 0 || i + 1 != end) && type.view().ends_with(">::") &&
                           !is_known_member(word)) {
                    return false;
                }
                // A class template may be an argument, of a parameter that is a template.
                const bool may_be_bare = !known.empty() || is_argument;
                if (word.empty() || (!may_be_bare && is_bare_template(i, end, word))) return false;
            }
            if (is_declarator(word) && !is_argument_at(first, i, begin, end)) return false;
            const bool is_behind_const = first > begin && file_.is_at(first - 1, "const");
            if (word.ends_with("&") && word.size() > 1) {
                // `const` does not reach through a reference, and a reference to one is one.
                if (is_behind_const) type.cut(type.size() - 5);
                std::size_t signs = 0;
                for (; i + 1 < end && file_.is_any_at(i + 1, "& const"); ++i) {
                    if (file_.is_at(i + 1, "&")) ++signs;
                }
                if (signs == 1 && word.ends_with("&&")) word.remove_suffix(1);
            }
            const bool is_pointer = word.size() > 1 && word.ends_with("*");
            if (is_pointer && is_behind_const) {
                type.cut(type.size() - 5);  // the pointer is constant, not what it points to
                word = joined(memory_, word, " const");
            }
            if (!type.empty() && is_name_character(type.back()) && is_name_character(word[0])) {
                type << ' ';
            }
            type << word;
        }
        return !type.empty();
    }

    // The number that the only constant with that name in the file has; `meaning` if it has none.
    text number_or(const text& meaning, const text& name) const {
        if (is_parameter(name) || is_described(name)) return meaning;
        const std::uint64_t* const number = file_.number_of(name);
        if (number == nullptr) return meaning;
        if (*number == source_outline::no_number) return no_text();
        text_out digits{memory_};
        digits << decimal{*number};
        return digits.view();
    }

    text described(const text& name, asked_name wanted) const {
        const bool is_named = !name.empty() || wanted == asked_name::result;
        if (!is_named || file_.is_macro(name)) return no_text();
        return knowledge_.meaning_of(name, wanted, memory_);
    }

    // The type of `v`, `*v`, `v[0]`, `&v`, `v.member` or `v->member`, as `decltype` has it.
    text type_of_value(std::size_t begin, std::size_t end, int depth) const {
        if (file_.is_at(begin, "(") && file_.partner(begin) + 1 == end) {
            ++begin;
            --end;
        }
        const bool is_element = file_.is_at(end - 1, "]");
        if (is_element || file_.is_at(begin, "*")) {
            const std::size_t first = is_element ? begin : begin + 1;
            const std::size_t last = is_element ? file_.partner(end - 1) : end;
            text type = decayed(type_of_value(first, last, depth));
            if (type.empty() && is_in_sizeof(file_, begin)) {  // perhaps of a pointer to an array
                type = type_of_path(first, last, asked_name::element);
                const bool is_asked = type.empty() && first + 1 == last;
                const declared_variable row =
                    is_asked ? row_before(file_, first) : declared_variable{};
                return row.is_known() ? spelled(row.begin, row.end) : type;
            }
            if (!take_end(type, "*")) return no_text();
            return joined(memory_, type, "&");
        }
        const std::size_t argument = argument_of_use(begin, end);
        if (argument != 0) {
            return type_spelling{memory_, *user_, use_, user_->scope_of(use_), name_, knowledge_}
                .type_of_value(argument, argument + end - begin, depth);
        }
        const bool is_pointer = file_.is_at(begin, "&");
        if (!is_pointer && begin + 1 == end) return type_of_variable(begin, depth);
        if (is_pointer && begin + 2 != end) return no_text();  // a member of what may be const
        text type = type_of_path(is_pointer ? begin + 1 : begin, end, asked_name::variable);
        if (type.empty() && !is_pointer && begin + 3 == end) {
            type = type_of_member(end - 1, depth);
        }
        if (type.empty() || !is_pointer) return type;
        return joined(memory_, without_reference(type), "*");
    }

    // The type of `v.member` or `v->member`, whose class the file has, or one of the others; `name`
    // is the token with the name of the member.
    text type_of_member(std::size_t name, int depth) const {
        const text owner = class_of_owner(file_, name);
        if (owner.empty()) return no_text();
        const found_token body = class_named(owner);
        if (body.at == 0 || body.file->is_class_template(owner)) return no_text();
        const declared_variable member = member_of(*body.file, body.at, file_.text_at(name));
        if (body.file == &file_) return type_of_declared(member, depth);
        return type_spelling{memory_, *body.file, member.begin, body.file->scope_of(member.at),
                             name_,   knowledge_}
            .type_of_declared(member, depth);
    }

    // What the debug information has for a variable or a member of one. `(&v)->member` is asked for
    // as `v.member`, and `(*v).member` as `v->member`.
    text type_of_path(std::size_t begin, std::size_t end, asked_name wanted) const {
        text_out path{memory_};
        for (std::size_t i = begin; i < end; ++i) {
            text token = file_.text_at(i);
            if (file_.is_macro(token) || (token == "*" && i != begin + 1)) return no_text();
            if (is_listed(token, ". ->") && file_.is_at(i - 1, ")")) {
                const bool is_target = file_.is_at(begin + 1, "*");
                if (is_target && token == "->") return no_text();
                if (is_target) token = "->";
                if (file_.is_at(begin + 1, "&")) token = ".";
            }
            if (!is_listed(token, "( ) & *")) path << token;
        }
        return described(path.view(), wanted);
    }

    // What a name stands for; "" if that is not certain. With `mark`, all arguments of a pack, each
    // followed by the mark: that in `Ts*...` is "*".
    text meaning_of(const text& word, bool has_arguments, const text* mark = nullptr) const {
        if (is_plain_word(word)) return word;
        if (file_.is_macro(word)) return no_text();
        const found_parameter parameter = find_parameter(headers_, word);
        if (parameter.header != 0) return argument(parameter.header - 1, parameter.number, mark);
        // Inside a template that the function's name does not show, any name may be a parameter.
        if (!instantiated_.empty() && headers_.empty()) return no_text();
        if (!headers_.empty() && file_.is_template_alias(word)) return no_text();
        if (file_.is_alias_of_expression(word)) return no_text();
        if (is_standard_name(word)) return joined(memory_, "std::", word);
        return has_arguments ? qualified_type(word) : own_class(word);
    }

    ALLOCSCOPE_PURE bool is_parameter(const text& word) const {
        return find_parameter(headers_, word).header != 0;
    }

    ALLOCSCOPE_INLINE bool has_template_around() const noexcept { return !headers_.empty(); }

    // Whether the argument `traits<part>::name` is a class. It may be an alias, of which compilers
    // write what it stands for.
    bool is_known_member(const text& name) const {
        if (is_listed(name, "iterator const_iterator")) return true;
        const found_token found = class_named(name);
        const name_declaration* last = found.at != 0 ? found.file->last_declared(name) : nullptr;
        return last != nullptr && kind_of_block(*found.file, last->block) == block_kind::of_class;
    }

    // Whether the name at `at` ends an argument such as `mode::fast`: a value that a type has.
    bool is_value_of_type(std::size_t at, std::size_t end) const {
        return at + 1 < end && file_.is_any_at(at + 1, "> ,") &&
               is_described(file_.text_at(at - 2));
    }

    // False for a name that may be a macro from another file, or a parameter that a macro declares.
    bool is_type_or_namespace(const text& word) const {
        return is_described(word, is_in_template() ? name_kind::type : name_kind::undescribed);
    }

    // Whether the name at `at` is a class template without arguments, as in `new box(3)`: the
    // compiler deduces them. Or a function, as in `new text<size()>`: the compiler calls it.
    // `meaning` is what the word at `at` stands for.
    bool is_bare_template(std::size_t at, std::size_t end, const text& meaning) const {
        const text behind = at + 1 < end ? file_.text_at(at + 1) : text{};
        if (behind == "<" || meaning.ends_with(">")) return false;
        const text word = file_.text_at(at);
        if (behind == "(" && file_.declares_function(word)) return !is_plain_word(word);
        if (behind == "::") return file_.is_class_template(word);
        const bool is_replaced = meaning != word && !meaning.ends_with(word);
        if (is_replaced || file_.is_class_template(word)) return !is_replaced;
        const bool is_of_library =
            meaning.starts_with("std::") || (at > 1 && file_.is_any_at(at - 2, "std pmr"));
        const name_kind kind = knowledge_.kind_of(word);
        if (is_of_library && !is_standard_class(word)) {
            if (kind < name_kind::type || is_standard_template(word)) return true;
        }
        return kind == name_kind::class_template;
    }

private:
    // Whether the tokens from `first` to `last` are a whole type, or a whole argument.
    ALLOCSCOPE_PURE bool is_argument_at(std::size_t first, std::size_t last, std::size_t begin,
                                        std::size_t end) const {
        return (first == begin || file_.is_any_at(first - 1, "< ,")) &&
               (last + 1 >= end || file_.is_any_at(last + 1, "> ,"));
    }

    // Whether a variable with that type may be a copy in a lambda, where the debug information has
    // it as constant: `decltype(v)` is the type of what was copied.
    bool may_be_captured(const text& type) const {
        const bool is_constant = type.ends_with("const") || type.starts_with("const ");
        return is_constant && type.find_first_of("*&") == no_position && name_.is_known() &&
               name_.last().name == "operator()";
    }

    bool is_in_template() const noexcept { return !headers_.empty() || !instantiated_.empty(); }

    ALLOCSCOPE_PURE static bool is_plain_word(const text& word) noexcept {
        return is_listed(word,
                         "std const volatile void struct class union enum typename true false") ||
               is_number_type(word);
    }

    // Where the arguments of the macro have these words; 0: nowhere, or the macro itself declares
    // the first of them.
    std::size_t argument_of_use(std::size_t begin, std::size_t end) const {
        if (user_ == nullptr || find_variable(file_, begin).at != 0) return 0;
        for (std::size_t at = use_ + 2; at < user_->partner(use_ + 1); ++at) {
            std::size_t same = 0;
            while (begin + same < end && file_.is_at(begin + same, user_->text_at(at + same))) {
                ++same;
            }
            if (begin + same == end) return at;
        }
        return 0;
    }

    // The type of the variable that is named at `at`, from the debug information or else from the
    // source.
    text type_of_variable(std::size_t at, int depth) const {
        const text literal = type_of_literal(file_.text_at(at));
        if (!literal.empty()) return literal;
        const text known = described(file_.text_at(at), asked_name::variable);
        if (!known.empty() || file_.is_macro(file_.text_at(at))) return known;
        return type_of_declared(find_variable(file_, at), depth);
    }

    text type_of_declared(const declared_variable& found, int depth) const {
        if (!found.is_known()) return no_text();
        if (file_.count_of(found.begin, found.end, "auto") != 0) return argument_for_auto(found);
        return spelled(found.begin, found.end, depth + 1);
    }

    // The type of a parameter, of a lambda or a function, that is declared `auto` and nothing else.
    text argument_for_auto(const declared_variable& parameter) const {
        const bool is_plain = parameter.end == parameter.begin + 1 && parameter.at == parameter.end;
        if (!is_plain || name_.components.empty()) return no_text();
        std::size_t before = 0;
        std::size_t open = parameter.begin;
        while (--open > 0 && !file_.is_at(open, "(")) {
            if (file_.is_at(open, "auto")) ++before;
            if (file_.is_any_at(open, "; { }")) return no_text();
        }
        const std::size_t count =
            before + file_.count_of(parameter.begin, file_.partner(open), "auto");
        // If the place is in another lambda or a class inside this one, the function is the inner
        // one's.
        for (std::size_t i = file_.partner(open); i < place_; ++i) {
            const bool is_lambda = file_.is_at(i, "]") && file_.is_any_at(i + 1, "( {");
            if (is_lambda || file_.is_any_at(i, "struct class union")) return no_text();
        }
        const list<text> arguments = split_arguments(memory_, name_.last().arguments);
        const text own = name_.last().name == "operator()" ? text{"]"} : name_.last().name;
        const bool is_own = open > 0 && file_.is_at(open - 1, own);
        return is_own && arguments.size() == count ? arguments[before] : text{};
    }

    // The innermost header with this parameter; null: there is none.
    const template_header* header_of(const text& word) const {
        const std::size_t found = find_parameter(headers_, word).header;
        return found != 0 ? headers_[found - 1] : nullptr;
    }

    // What the name at `at` stands for in this instantiation of a template; "" if that is not
    // certain, or does not depend on the template. `at` may move past members after the name, and
    // to `end` if the name is an alias that cannot be read.
    text of_template(std::size_t& at, std::size_t begin, std::size_t end, int depth) const {
        const text word = file_.text_at(at);
        const bool has_arguments = at + 1 < end && file_.is_at(at + 1, "<");
        if (has_arguments || is_plain_word(word) || file_.is_macro(word)) return no_text();
        // Nothing in a template may have the name of its parameter.
        local_name local;
        if (!is_parameter(word)) {
            local = find_local_name(file_, depth == 0 ? place_ : begin, word);
        }
        // The compiler's name of box<alias> shows what the alias stands for.
        const bool is_replaced = is_in_template() || depth > 0 || at > begin;
        if (local.what == local_name::kind::none) local = of_own_class(word);
        const bool is_outside = local.what == local_name::kind::none && !is_parameter(word);
        if (is_outside && (depth > 0 || (at > begin && !qualified_type(word).empty()))) {
            local = alias_in_namespace(file_, begin, word);
        }
        if (local.what == local_name::kind::alias) {
            constexpr int most_aliases = 8;  // of aliases in a row
            text_out type{memory_};
            const bool is_wanted = is_replaced || local.is_of_function;
            const bool is_read =
                is_wanted && depth < most_aliases &&
                write(type, local.begin, local.end, depth + 1) &&
                (!local.has_more() || write(type, local.end + 1, local.behind, depth + 1));
            // `new row` makes the elements of `typedef int row[3]`.
            const bool is_all = depth == 0 && at == begin && at + 1 == end;
            if (is_read) return is_all ? element_of_array(type.view()) : type.view();
            if (local.is_of_function) at = end;
        }
        const bool is_local = local.what != local_name::kind::none && local.is_of_function;
        const text known = is_replaced && !is_local ? described_path(at, end) : text{};
        if (known.empty() && is_replaced && local.what == local_name::kind::alias) at = end;
        return known;
    }

    // The same as of_template(), but from the debug information. That has other parameters than the
    // source if the template is a partial specialisation.
    text described_path(std::size_t& at, std::size_t end) const {
        const text first = file_.text_at(at);
        std::size_t last = at;
        text_out path{memory_};
        path << first;
        while (last + 2 < end && file_.is_at(last + 1, "::") && file_.is_word_at(last + 2)) {
            last += 2;
            path << "::" << file_.text_at(last);
        }
        if (last + 1 < end && file_.is_at(last + 1, "<")) return no_text();
        asked_name wanted = asked_name::type;
        if (const template_header* header = header_of(first)) {
            if (!header->shows_arguments) return no_text();
            if (last == at && !meaning_of(first, false).empty()) return no_text();
            wanted = asked_name::parameter;
        }
        const text meaning = described(path.view(), wanted);
        if (!meaning.empty()) at = last;
        return meaning;
    }

    // Argument `index` with which the header's template was instantiated; see meaning_of().
    text argument(std::size_t header, std::size_t index, const text* mark) const {
        // With -g1, clang names an inlined function without the classes around it.
        const std::size_t unseen = headers_.size() - instantiated_.size();
        if (unseen != 0 && (name_.components.size() != 1 || header < unseen)) return no_text();
        list<text> arguments =
            split_arguments(memory_, name_.components[instantiated_[header - unseen]].arguments);
        const template_header& own = *headers_[header];
        if (!own.shows_arguments) {
            return mark == nullptr ? of_specialisation(own, own.parameters[index], arguments)
                                   : text{};
        }
        for (std::size_t i = own.invented; i > 0 && !arguments.empty(); --i) arguments.pop_back();
        const std::size_t count = own.parameters.size();
        const bool is_pack = own.packs == 1 && index == own.pack;
        const bool has_all = own.packs == 1 ? arguments.size() + 1 >= count
                                            : own.packs == 0 && arguments.size() == count;
        const bool is_one = is_pack && mark == nullptr && member_ != no_position;
        if ((is_pack != (mark != nullptr) && !is_one) || !has_all) return no_text();
        // A pack takes what the other parameters leave.
        const std::size_t behind = arguments.size() - (count - index - 1);
        if (is_one) return index + member_ < behind ? arguments[index + member_] : text{};
        const std::size_t first = own.packs == 1 && index > own.pack ? behind - 1 : index;
        text_out all{memory_};
        for (std::size_t i = first; i < (is_pack ? behind : first + 1); ++i) {
            if (i != first) all << ", ";
            all << arguments[i] << (mark != nullptr ? *mark : text{});
        }
        return all.view();
    }

    // What a parameter of the partial specialisation `box<T, U*>` stands for, if it is an argument
    // there, or a pointer to it is.
    text of_specialisation(const template_header& own, const text& parameter,
                           const list<text>& arguments) const {
        const source_outline& file = user_ != nullptr ? *user_ : file_;
        const std::size_t open = own.packs == 0 ? own.specialised : 0;
        const char* const begin = file.text_at(open).data();
        const std::size_t behind = open != 0 ? file.behind_angles(open) : 0;
        const char* const end = behind != 0 ? file.text_at(behind - 1).data() + 1 : begin;
        const list<text> written =
            split_arguments(memory_, {begin, static_cast<std::size_t>(end - begin)});
        for (std::size_t i = 0; i < written.size() && i < arguments.size(); ++i) {
            text one = written[i];
            text type = arguments[i];
            if (one.ends_with("*") && type.ends_with("*")) {
                one.remove_suffix(1);
                type.remove_suffix(1);
            }
            if (without_spaces_around(one) == parameter) return type;
        }
        return no_text();
    }

    // What the class declares whose member, defined outside of it, the function is.
    local_name of_own_class(const text& word) const {
        if (is_in_template()) return {};
        const std::size_t open = body_of_class(file_, name_.outer().name);
        if (open == 0) return {};
        const local_name found = find_local_name(file_, open, word);
        return found.block == open ? found : local_name{};
    }

    // The class that a member names without arguments: `pool` in a member of app::pool<int> is
    // app::pool<int>.
    text own_class(const text& word) const {
        for (const std::size_t i : instantiated_) {
            const name_component& component = name_.components[i];
            if (component.name == word && i + 1 < name_.components.size()) {
                return name_up_to(name_, component);
            }
        }
        return qualified_type(word);
    }

    text qualified_type(const text& word) const {
        return is_type_or_namespace(word) ? qualified(word) : text{};
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
        const local_name local = find_local_name(file_, depth == 0 ? place_ : begin, word);
        const bool is_seen = local.what != local_name::kind::none;
        if (is_seen && (local.what != local_name::kind::other || local.is_of_function)) return 0;
        const std::size_t block = is_seen ? local.block : block_in_own_class(word);
        if (block == 0) return 0;
        return file_.headers_at(memory_, block + 1).empty() ? 0 : block;
    }

    // For a member that is defined outside of its class: the brace of the class, if that declares
    // a class of this name; otherwise 0. With -g1 the name of an inlined member shows no class;
    // then it may be any.
    std::size_t block_in_own_class(const text& word) const {
        for (const name_declaration* each = file_.last_declared(word); each != nullptr;
             each = each->previous) {
            if (!file_.is_any_at(each->at - 1, "struct class union enum")) continue;
            const bool is_any =
                instantiated_.empty() && kind_of_block(file_, each->block) == block_kind::of_class;
            if (is_any) return each->block;
            for (const std::size_t i : instantiated_) {
                const std::size_t open = body_of_class(file_, name_.components[i].name);
                if (open != 0 && each->block == open) return open;
            }
        }
        return 0;
    }

    list<const template_header*> headers_;  // outermost first
    list<std::size_t> instantiated_;        // the components of the name that have arguments
    const source_outline* user_ = nullptr;  // the file with the macro at use_; null: no macro
    std::size_t use_ = 0;

protected:
    mutable std::size_t member_ = no_position;  // the one that a pack stands for; else: all
};

// The type in tokens of a declaration at `at` of another file, as the function sees it; "" if it is
// not certain.
inline text spelled_elsewhere(arena& memory, const source_outline& file, std::size_t at,
                              std::size_t begin, std::size_t end, const function_name& function,
                              const type_knowledge& knowledge) {
    const type_spelling spelling{memory, file, begin, file.scope_of(at), function, knowledge};
    return spelling.spelled(begin, end);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_TYPE_SPELLING_HPP

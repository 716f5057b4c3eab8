// type_from_source.hpp - the T of the `new T` at a frame's file, line and column.
//
// Room:     types (floor 9), not malloc-safe
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
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/declared_variable.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/local_names.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/path_in_files.hpp>
#include <allocscope/source/placed_new.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/source/standard_names.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/source/type_spelling.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/name_brackets.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/entry_types.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/thrown_value.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Spells the type of a new-expression.
class source_spelling : private type_spelling {
public:
    source_spelling(arena& memory, const source_outline& file, const new_expression& expression,
                    const function_name& name, const type_knowledge& knowledge,
                    bool is_at_begin = false)
        : type_spelling(memory, file, expression.begin, expression.scope, name, knowledge),
          expression_(expression),
          is_at_begin_(is_at_begin) {}

    using type_spelling::has_template_around;
    using type_spelling::is_parameter;
    using type_spelling::stand_at;

    ALLOCSCOPE_INLINE bool is_at_begin() const noexcept { return is_at_begin_; }
    ALLOCSCOPE_INLINE const name_scopes& scopes() const noexcept { return *this; }

    // The type, with the blanks and the order of words as in the source; "" if it is not certain.
    text spelled() const {
        text type = expression_.has_type ? written() : text{};
        if (expression_.has_more && !ends_with_array(type)) type = {};
        return named(type.empty() && !shares_place() ? of_pointer() : type);
    }

    // Whether the file, or a header of the project, defines the class with an array at its end,
    // which stands for as many as there is memory for.
    bool ends_with_array(const text& type) const {
        text own = type.substr(type.rfind(' ') + 1);
        own = own.substr(own.rfind(':') + 1);
        const found_token open = class_named(own);
        return open.at != 0 && has_open_end(*open.file, open.at);
    }

    text written() const {
        const text own = own_word(file_, expression_);
        if (expression_.is_request && is_handed_out()) return no_text();
        if (expression_.is_of_variable) {
            text type = decayed(type_of_value(expression_.type_begin, expression_.type_end, 0));
            if (!file_.is_at(expression_.type_end, "=")) return type;
            if (!take_end(type, "*")) return no_text();  // of p = malloc(n)
            const bool is_byte = bytes_of_plain_type(type) == 1 && !type.ends_with("_t");
            const bool is_plain = is_byte || is_listed(type, "float double");
            return is_plain ? type : text{};
        }
        if (expression_.is_request && !is_certain_request()) return no_text();
        if (expression_.is_of_value) {
            const text made = of_call(own);
            if (!made.empty() || !is_class_of_value(own)) return made;
        }
        // What is made from a value has the type that an alias stands for.
        const int depth = expression_.is_of_value ? 1 : 0;
        const text type =
            type_spelling::spelled(expression_.type_begin, expression_.type_end, depth);
        return type.empty() || is_doubtful(own) || is_unresolved(type) ? text{} : type;
    }

    // The type of `f(x)` or `static_cast<T>(x)` in `new auto(...)`.
    text of_call(const text& own) const {
        if (own == "static_cast") {
            const text cast =
                type_spelling::spelled(expression_.type_begin + 2, expression_.type_end - 1, 0);
            return is_unresolved(cast) ? text{} : decayed(cast);
        }
        const text type = made_by_call(own);
        return decayed(type.empty() ? made_by_call("operator()") : type);
    }

    // Whether `own(x)` makes an object. It might be a call of a function, or of a variable, whose
    // name a class has in another scope.
    bool is_class_of_value(const text& own) const {
        const std::size_t name = expression_.type_begin;
        if (file_.is_any_at(expression_.type_end - 2, ". ->")) return false;
        if (is_builtin_word(own) || is_parameter(own)) return true;
        if (is_of_standard_library(own) || file_.is_at(name, "typename")) return true;
        if (file_.is_at(expression_.type_end, "{")) return is_type_or_namespace(own);
        const bool is_scoped = name + 1 != expression_.type_end && !file_.is_at(name + 1, "<");
        if (!is_scoped && is_alias_of_type(find_local_name(file_, name, own), own)) return true;
        if (!is_scoped && is_alias_of_type(alias_in_namespace(file_, name, own), own)) return true;
        if (!is_scoped && find_variable(file_, name).at != 0) return false;
        const name_kind kind = knowledge_.kind_of(own);
        if (kind == name_kind::believed) return true;
        if (file_.declares_function(own)) return false;
        if (kind < name_kind::type) return file_.is_defined(own) || is_class_of_header(own);
        return is_class_there(name, expression_.type_end, own);
    }

    // `using shop::tool;` may name a function.
    bool is_alias_of_type(const local_name& found, const text& own) const {
        return found.what == local_name::kind::alias && !file_.is_at(found.end - 1, own);
    }

    // Whether the type is printed as a member of a template, `traits<part>::type`, which stands for
    // another type, or has an expression.
    bool is_unresolved(const text& written) const {
        if (!written.contains(">")) return false;
        // Of what may be an alias of a pointer
        if (written.contains("remove_pointer") && !written.contains("*")) return true;
        const text type = pretty_type(memory_, written);
        if (needs_compiler(type)) return true;
        const std::size_t begin = type.starts_with("const ") ? 6 : 0;
        const std::size_t at = type.rfind('>');
        if (at == no_position || !type.has_at(at + 1, "::")) return false;
        const text path = type.substr(begin, type.find_first_of("*&[", at + 1) - begin);
        const function_name name = parse_function_name(memory_, path);
        if (name.components.size() < 2) return true;
        const text own = name.last().name;
        const text outer = name.outer().name;
        const local_name local = find_local_name(file_, expression_.begin, own);
        const bool is_local = local.what == local_name::kind::other && local.is_of_function;
        if (is_local && outer == name_.last().name) return false;
        bool is_class = false;
        for (const name_declaration* each = file_.last_declared(own); each != nullptr;
             each = each->previous) {
            if (class_of_body(file_, each->block) != outer) continue;
            if (!file_.is_any_at(each->at - 1, "struct class union enum")) return true;
            is_class = true;
        }
        if (is_class) return false;
        return body_of_class(file_, outer) != 0 ||
               (knowledge_.are_classes != nullptr &&
                !knowledge_.are_known_classes(plain_name(memory_, name)));
    }

    // Whether headers show that `own(x)` makes an object.
    bool is_class_of_header(const text& own) const {
        const source_files* const files = knowledge_.files;
        return files != nullptr && !is_known_in(*files, own, source_outline::function_name) &&
               class_in_files(*files, own).at != 0;
    }

    // "" for a type that clang names after its place: "box<(lambda at /home/main.cpp:3:9)>".
    static text named(const text& type) noexcept {
        return type.contains("(lambda at ") ? text{} : type;
    }

    // The compiler has deduced the type of p in `auto* p = new box{1};`. In `return new box{1};` it
    // is that which the function returns, unless that is a class, which may be a base class.
    text of_pointer() const {
        const std::size_t end =
            expression_.has_initialiser ? expression_.last + 1 : expression_.type_end;
        if (!file_.is_any_at(end, "; [")) return no_text();
        std::size_t before = expression_.begin - 1;
        const bool is_returned = file_.is_at(before, "return");
        const text name = is_returned ? text{} : file_.text_at(--before);
        before = file_.back_over(before, "* const");
        if (!is_returned && !file_.is_at(before - 1, "auto")) return no_text();
        text type =
            decayed(described(name, is_returned ? asked_name::result : asked_name::variable));
        if (!take_end(type, "*")) return no_text();
        const bool is_certain =
            !is_returned || type.ends_with("*") || is_builtin_word(part_before(type, ' '));
        return is_certain ? type : text{};
    }

    // For `new app::box(x)` of a class template: "app::box<int>" if the constructor of that class
    // is called for it. For `new Ts` of a pack: "<int, part>". "" for other expressions, such as an
    // aggregate in braces.
    text deduced() const {
        const std::size_t open = expression_.type_end;
        const text pack = of_pack();
        if (!pack.empty()) return enclosed(memory_, "<", pack, ">");
        if (!expression_.has_initialiser || !file_.is_any_at(open, "( {")) return no_text();
        if (expression_.is_of_value || expression_.is_of_variable) return no_text();
        for (std::size_t i = expression_.type_begin; i < open; ++i) {
            const text word = file_.text_at(i);
            const bool is_name = is_word(word) && !is_parameter(word) && !file_.is_macro(word);
            if (!is_name && word != "::") return no_text();
        }
        const text own = file_.text_at(open - 1);
        const bool is_local =
            find_local_name(file_, expression_.begin, own).what != local_name::kind::none;
        return is_local || !is_bare_template(open - 1, open, own) ? text{} : made_by_call(own);
    }

    // Whether the debug information does not know a class with that name.
    bool is_undescribed(const text& own) const { return knowledge_.kind_of(own) < name_kind::type; }

    // "app::box<>" for `new app::box<Ts>...`, or that app::box which the code constructs there; ""
    // for other expressions.
    text begun() const {
        const std::size_t end = expression_.type_end;
        const std::size_t open = file_.find(expression_.type_begin, end, "<");
        if (expression_.is_request || file_.is_at(end, "[")) return no_text();
        if (open >= end || file_.behind_angles(open) != end)
            return no_text();  // `new a<b;`: no end
        const text any = joined(memory_, file_.between(expression_.type_begin, open), "<>");
        const text made = made_by_call(own_word(file_, expression_));
        return is_candidate_for(any, made) ? made : any;
    }

    // Whether a `new` in a default argument may have the place of this one.
    bool shares_place() const {
        return file_.has_new_in_default(own_word(file_, expression_)) ||
               file_.has_new_in_default(called_around(file_, expression_));
    }

private:
    // The types of the pack in `new Ts` or `new box<Ts>`; "" if it is something else.
    text of_pack() const {
        const std::size_t end = expression_.type_end;
        if (file_.is_at(end, "[")) return no_text();  // the size is that of several
        const text nothing;
        text all;
        std::size_t behind = expression_.type_begin;
        for (; behind < end && all.empty(); ++behind) {
            const text word = file_.text_at(behind);
            if (is_parameter(word)) all = meaning_of(word, false, &nothing);
        }
        if (file_.is_at(behind, ".")) return no_text();
        if (end == expression_.type_begin + 1 || all.empty()) return all;
        text_out types{memory_};
        const std::size_t count = split_arguments(memory_, enclosed(memory_, "<", all, ">")).size();
        bool are_known = true;
        for (member_ = 0; member_ < count && are_known; ++member_) {
            if (member_ != 0) types << ", ";
            are_known = write(types, expression_.type_begin, end, 0);
        }
        member_ = no_position;
        return are_known ? types.view() : text{};
    }

    // The class of the constructor that is called for the expression, or what the function returns
    // that is called in `new auto(f(x))`; `own` is its name. The places are those at which
    // compilers put the call: the last token or the `new`; the name, with its scopes or without;
    // the bracket behind it. "" if that is not certain.
    text made_by_call(const text& own) const {
        const std::size_t open = expression_.type_end;
        const std::size_t tokens[] = {expression_.last, expression_.begin, expression_.type_begin,
                                      open - 1, open};
        line_and_column places[5];
        for (int i = 0; i < 5; ++i) {
            const source_token& token = file_.token(tokens[i]);
            places[i] = {static_cast<std::uint32_t>(token.line),
                         static_cast<std::uint32_t>(token.column)};
        }
        return named(knowledge_.made_by(own, {places, 5}, memory_));
    }

    // With -g1 nobody knows what a namespace around the function has.
    bool is_of_standard_library(const text& own) const {
        const bool is_seen = knowledge_.kind_of(own) != name_kind::undescribed;
        const bool is_of_std =
            file_.is_at(expression_.type_begin, "std") || (is_seen && is_standard_name(own));
        return is_of_std && (is_standard_template(own) || is_standard_class(own));
    }

    // Whether the block may be that of a `new` in a default argument, and its size would not show
    // it. Outside of templates only clang places a call at the `new` itself, and never one of a
    // default argument.
    bool is_doubtful(const text& own) const {
        // A default argument is evaluated by the caller, not by the function that has it.
        const bool is_default = expression_.callee != 0 && name_.is_known();
        if (is_default && file_.is_at(expression_.callee, name_.last().name)) return true;
        const bool is_in_template = has_template_around() || has_arguments(name_);
        const bool is_array = file_.is_at(expression_.type_end, "[");
        if (is_at_begin_ && !is_in_template && !is_array) return false;
        return may_be_default_of(own) || may_be_default_of(called_around(file_, expression_));
    }

    bool may_be_default_of(text function) const {
        if (!file_.has_new_in_default(function)) return false;
        const new_expression* other = file_.default_of(function);
        return other == nullptr || !differ_in_size(file_, expression_, *other, knowledge_);
    }

    // The name in `sizeof(name)` may be a variable, if it is none of the C library's.
    // `static_cast<name*>(` or `name* p =` shows that it is a type, or the debug information if the
    // file has one class with that name, or C an alias, and the function sees no variable.
    bool is_certain_request() const {
        const text name = file_.text_at(expression_.type_begin);
        const bool is_one_word = expression_.type_end == expression_.type_begin + 1;
        if (!is_one_word || is_number_type(name) || is_parameter(name)) return true;
        std::size_t at = expression_.begin;
        for (int left = 12; left != 0 && at > 0; --left, --at) {
            if (file_.is_at(at, "*") && file_.is_at(at - 1, name)) return true;
        }
        const bool is_alias = knowledge_.is_c && knowledge_.bytes_of(name) == 0;
        const name_kind kind = knowledge_.kind_of(name);
        return (is_alias || body_of_class(file_, name) != 0) &&
               (kind == name_kind::type || (kind == name_kind::undescribed && !knowledge_.is_c) ||
                (knowledge_.is_c &&
                 (file_.last_declared(name) != nullptr || is_in_header(name)))) &&
               find_variable(file_, expression_.type_begin).at == 0 && !is_for_others(name);
    }

    // Whether these are characters only for the allocator that asks for them:
    //     void* get(size_t n) { char* p = malloc(n); ... return p; }
    bool is_handed_out() const {
        std::size_t result = expression_.function;
        if (expression_.type_begin > expression_.begin || result == 0) return false;
        const std::size_t end = file_.find(file_.partner(result + 1), file_.count(), "{ ;");
        result = file_.first_in_chain(result, "::");
        if (!file_.are_at(result - 2, "void", "*")) return false;
        const std::size_t kept = file_.back_to(expression_.begin, "= ; { }");
        const text name = file_.text_at(kept - 1);
        bool is_returned = false;
        for (std::size_t at = expression_.begin; at < file_.partner(end); ++at) {
            is_returned = file_.is_at(at, "return") || (is_returned && !file_.is_at(at, ";"));
            if (!is_returned || !file_.is_at(at, name)) continue;
            return !file_.is_any_at(at - 2, "strcpy strncpy strcat");  // of a text
        }
        return false;
    }

    // Whether the next statements of the block make an object of another class, which may have the
    // same size, in that memory: `new (memory) other`.
    bool is_for_others(const text& name) const {
        constexpr std::size_t most_tokens = 64;
        const std::size_t sign = file_.back_to(expression_.begin, "= ; { }");
        const text kept = file_.is_at(sign, "=") ? file_.text_at(sign - 1) : text{};
        std::size_t at = expression_.type_end;
        for (const std::size_t end = at + most_tokens; at < end; ++at) {
            if (file_.is_at(at, "}") && file_.partner(at) < expression_.begin) break;
            if (!file_.are_at(at, "new", "(")) continue;
            const std::size_t type = file_.partner(at + 1) + 1;
            bool is_there = kept.empty();
            for (std::size_t i = at; i < type; ++i) is_there = is_there || file_.is_at(i, kept);
            if (is_there && file_.is_word_at(type) && !file_.is_at(type, name)) return true;
        }
        return false;
    }

    const new_expression& expression_;
    bool is_at_begin_;  // the call is placed at the `new`, not at the last token
};

// The type of an expression at another place than that of the frame; "" if it is not certain.
inline text type_of_expression(arena& memory, const source_outline& file,
                               const new_expression& expression, const function_name& name,
                               const type_knowledge& knowledge) {
    return source_spelling{memory, file, expression, name, knowledge}.spelled();
}

// What the source says about a `new` besides its type.
struct source_notes {
    bool is_thrown = false;                   // asked: the memory is that of an exception
    const new_expression* wrapped = nullptr;  // asked: that of a wrapped_request
    bool is_array = false;      // `new T[n]`, or an exception, which the runtime adds something to
    bool shares_place = false;  // with a `new` in a default argument
    text deduced = {};          // if the type is not certain: type_answer::candidate
};

// What a name stands for if it is an alias in a class around the function, whose definition the
// file or a header that it includes has; "" if it is not.
inline text type_of_class_alias(read_names& names, const source_files& files,
                                const function_name& function, const source_outline& file,
                                std::size_t at, const type_knowledge& knowledge) {
    const text name = file.text_at(at);
    if (find_local_name(file, at, name).what != local_name::kind::none) return no_text();
    for (std::size_t i = function.components.size(); i > 1; --i) {
        const found_token open = class_in_files(files, function.components[i - 2].name);
        if (open.at == 0) continue;
        const local_name found = find_local_name(*open.file, open.at, name);
        if (found.what == local_name::kind::none || found.block != open.at) continue;
        if (found.what != local_name::kind::alias || found.has_more()) return no_text();
        return spelled_elsewhere(names.scratch(), *open.file, found.at, found.begin, found.end,
                                 function, knowledge);
    }
    return no_text();
}

// The type that the source of a frame spells, or "", corrected by the headers of the project: they
// say what the debug information does not describe.
inline text as_headers_say(read_names& names, const code_frame& frame, const source_outline& file,
                           source_cache& sources, const type_knowledge& knowledge,
                           const source_spelling& spelling, const new_expression& expression,
                           text type) {
    const function_name& function = names.of(frame.function).parts;
    const text own = own_word(file, expression);
    const bool is_undescribed = spelling.is_undescribed(own);
    const bool is_settled = !is_undescribed || type.starts_with("std::");
    const bool is_one_word = expression.type_end == expression.type_begin + 1;
    const bool is_argument = is_one_word && spelling.is_parameter(own);
    if (!type.empty() && (is_argument || (is_settled && !type.ends_with(">")))) return type;
    const source_files& files = included_files(sources, frame, file);
    if (is_one_word && (type.empty() || (type == own && is_undescribed))) {
        const text aliased =
            type_of_class_alias(names, files, function, file, expression.type_begin, knowledge);
        if (!aliased.empty()) type = aliased;
    }
    const bool has_arguments = type.ends_with(">");
    const bool is_in_template = spelling.has_template_around();
    if (has_arguments && has_alias_of_header(files, type, is_in_template, knowledge)) {
        return no_text();
    }
    // A class of a header may be a template whose arguments the compiler deduces.
    const bool is_bare = type.ends_with(own) && is_undescribed;
    if (is_bare && is_known_in(files, own, source_outline::template_name)) return no_text();
    type = with_path(names.scratch(), files, type, function, knowledge, spelling.scopes());
    return with_paths(names.scratch(), files, type, file, expression.type_begin,
                      expression.type_end, function, knowledge);
}

// The type of the `new` at the frame's line and column; "" if that is not certain. The frame must
// be the direct caller of operator new.
inline text type_from_source(read_names& names, const code_frame& frame, source_cache& sources,
                             const type_knowledge& knowledge = {}, source_notes* notes = nullptr) {
    if (is_standard_header(frame.file) || frame.is_nearby) return no_text();
    const function_name& function = names.of(frame.function).parts;
    // Without a column, the initialiser of a member would be confused with an expression on the
    // line of the constructor.
    const bool is_thrown = notes != nullptr && notes->is_thrown;
    if (frame.column <= 0 && (is_thrown || is_constructor(function))) return no_text();
    const source_outline* file = source_of(frame, sources);
    if (file == nullptr) return no_text();
    new_expression thrown;
    if (is_thrown && !find_thrown(*file, frame.line, frame.column, thrown)) return no_text();
    const new_expression* expression = notes != nullptr ? notes->wrapped : nullptr;
    if (is_thrown) expression = &thrown;
    if (expression == nullptr) {
        expression = find_new_expression(*file, frame.line, frame.column, knowledge.is_c);
    }
    if (expression == nullptr) return no_text();
    const borrowed_memory meanwhile{names.scratch()};
    const source_token& begin = file->token(expression->begin);
    const bool is_at_begin =
        frame.column > 0 && begin.line == frame.line && begin.column == frame.column;
    const text own = own_word(*file, *expression);
    type_knowledge more = knowledge;
    if (expression->has_more || knowledge.kind_of(own) < name_kind::type) {
        more.files = &included_files(sources, frame, *file);
    }
    const source_spelling spelling{names.scratch(), *file, *expression,
                                   function,        more,  is_at_begin};
    text type = spelling.spelled();
    type = as_headers_say(names, frame, *file, sources, knowledge, spelling, *expression, type);
    if (notes != nullptr) {
        const std::size_t behind = expression->type_end;
        notes->is_array = is_thrown || expression->is_request || file->is_at(behind, "[");
        notes->shares_place = spelling.shares_place();
        const bool is_asked = type.empty() && !notes->shares_place;
        text deduced = is_asked ? spelling.deduced() : text{};
        const bool is_class = deduced.ends_with(">") && !deduced.starts_with("<");
        if (is_class && spelling.is_undescribed(own)) type = deduced;
        if (is_asked && deduced.empty()) deduced = spelling.begun();
        notes->deduced = copy_of(names.memory(), deduced);
    }
    return names.made(type);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_FROM_SOURCE_HPP

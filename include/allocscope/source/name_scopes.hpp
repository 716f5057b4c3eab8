// name_scopes.hpp - the namespaces, classes and functions in which a name in the source is found.
//
// Room:     source (floor 8), not malloc-safe
// Called:   by type_spelling.hpp
// Threads:  any, but the arena belongs to one
// Memory:   of the arena that it is made with
//
//     namespace app { struct widget {}; void run() { new widget; } }      widget: app::widget
//
// The source says what a `using` and the function itself declare; the debug information says which
// scope around the function has a type of that name.

#ifndef ALLOCSCOPE_SOURCE_NAME_SCOPES_HPP
#define ALLOCSCOPE_SOURCE_NAME_SCOPES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/source/class_bodies.hpp>
#include <allocscope/source/included_files.hpp>
#include <allocscope/source/local_names.hpp>
#include <allocscope/source/new_expressions.hpp>
#include <allocscope/source/type_knowledge.hpp>
#include <allocscope/spelling/function_name.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

class name_scopes {
public:
    // The names are read at the token `at`, in the function `name`. All that is given must stay
    // valid.
    name_scopes(arena& memory, const source_outline& file, std::size_t at,
                const function_name& name, const type_knowledge& knowledge)
        : memory_(memory), knowledge_(knowledge), file_(file), place_(at), name_(name) {}

    // The name with the scopes in which it is found. "" if a base class may have another type with
    // that name.
    text qualified(const text& word) const {
        const text local = in_function(word);
        if (!local.empty()) return local;
        const std::size_t base = base_that_declares(word);
        if (base != 0) return path_of(base, word);
        const name_declaration* const nearest = declaration_around(word);
        const text first = nearest != nullptr ? file_.text_at(nearest->at) : text{};
        if (first == "namespace") return path_behind(nearest->at + 3);
        const text function = plain_name(memory_, name_);
        text whole = knowledge_.qualified_in(word, function);
        // The debug information may lack the class, or the innermost one of that name, or have it
        // in no scope of the function.
        const bool is_described = knowledge_.kind_of(word) >= name_kind::type;
        if (whole.empty() || !is_described || is_declared_again(word)) {
            const text declared = declared_path(word, function);
            if (declared.size() > whole.size()) return declared;
        }
        const text member = whole.empty() ? in_own_template(word) : text{};
        if (!member.empty()) return member;
        if (whole.empty() && first == "using") return path_behind(nearest->at + 1);
        if (whole.empty() && is_declared_again(word) && may_inherit(word, function)) {
            return no_text();
        }
        if (whole.empty()) {
            if (nearest == nullptr) whole = made_visible(word);
            // `part* desk::first = new box<item>;` means what desk calls item.
            const bool initialises = function.starts_with("__static_init") ||
                                     function.starts_with("__cxx_global_var_init");
            if (whole.empty() && nearest == nullptr && is_described && initialises) {
                return no_text();
            }
        } else if (knowledge_.only_of(word, function).empty() && may_inherit(whole, function)) {
            return no_text();
        }
        return whole.empty() ? word : whole;
    }

    // Whether the place is in that scope, "app::pool::", or sees it by `using namespace`.
    bool is_inside(const text& scope) const {
        bool is_seen = plain_name(memory_, name_).starts_with(scope) ||
                       name_.whole.starts_with(scope) || scopes_around_place().starts_with(scope);
        for (const name_declaration* each = file_.last_declared("namespace");
             each != nullptr && !is_seen; each = each->previous) {
            if (!is_around(*each)) continue;
            // What is named may be in a namespace around the directive.
            const text used = joined(memory_, path_behind(each->at + 2), "::");
            for (std::size_t block = each->block; !is_seen; block = block_around(block)) {
                is_seen = path_of(block, used) == scope;
                if (block == 0) break;
            }
        }
        return is_seen;
    }

    // The namespaces and classes around the place, each followed by "::".
    text scopes_around_place() const {
        std::size_t block = block_around(place_);
        while (block != 0 && kind_of_block(file_, block) == block_kind::of_function) {
            const std::size_t body = class_of_member(block);
            block = body != 0 ? body : block_around(block);
        }
        return path_of(block, {});
    }

    // The path of what a declaration of the file names, and the scope that sees it, which is around
    // an inline namespace. "" if it may depend on a template.
    text path_of_declared(const name_declaration& each, const text& word, text& scope) const {
        std::size_t seen_in = each.block;
        while (seen_in != 0 && is_inline_namespace(seen_in)) seen_in = block_around(seen_in);
        scope = path_of(seen_in, {});
        return path_of(each.block, word);
    }

    // Whether the file defines the name, or the debug information describes it.
    bool is_described(const text& word, name_kind least = name_kind::type) const {
        return file_.is_defined(word) || knowledge_.kind_of(word) >= least || is_in_header(word);
    }
    // The brace of the only class with that name in the file, or else in the others.
    found_token class_named(const text& own) const {
        const std::size_t open = body_of_class(file_, own);
        if (open != 0 || knowledge_.files == nullptr) return {&file_, open};
        return class_in_files(*knowledge_.files, own);
    }
    bool is_in_header(const text& word) const {
        const source_files* const files = knowledge_.files;
        return files != nullptr && !is_known_in(*files, word, source_outline::macro_name) &&
               is_known_in(*files, word, source_outline::defined_name);
    }

    // Whether the name means std's, and no type of that name in a scope around the function.
    bool is_standard_name(const text& word) const {
        return file_.is_standard_name(word) && seen_by_function(word).empty();
    }

    // Whether the path in the tokens, whose last name is `own`, is that of a class, as seen from
    // the function.
    bool is_class_there(std::size_t begin, std::size_t end, const text& own) const {
        text_out names{memory_};
        for (std::size_t i = begin; i < end && !file_.is_at(i, "<"); ++i) {
            if (i != begin || !file_.is_at(i, "::")) names << file_.text_at(i);
        }
        const text path = names.view();
        if (path == own) {
            const bool is_local =
                find_local_name(file_, place_, own).what != local_name::kind::none;
            return is_local || !seen_by_function(own).empty();
        }
        if (knowledge_.qualified_in(own, path) == path) return true;
        return !knowledge_.only_of(own).empty();  // `path` has an alias, or no inline namespace
    }

    // `slot` in a member of ring<int>, whose body opens at `outer`, is ring<int>::slot. "" if the
    // function is a member of no such instance.
    text inner_class(std::size_t outer, const text& word) const {
        const text own = class_of_body(file_, outer);
        for (std::size_t i = 0; i + 1 < name_.components.size(); ++i) {
            const name_component& component = name_.components[i];
            if (component.arguments.empty() || component.name != own) continue;
            return scoped_name(memory_, name_up_to(name_, component), word);
        }
        return no_text();
    }

protected:
    // The name with the scopes around the function in which the debug information has it.
    text seen_by_function(const text& word) const {
        return knowledge_.qualified_in(word, plain_name(memory_, name_));
    }

    arena& memory_;
    const type_knowledge& knowledge_;
    const source_outline& file_;
    const std::size_t place_;
    const function_name& name_;

private:
    // The class `local` that the function app::run itself declares is app::run::local. Around a
    // lambda or a class, another function declares it: only its own name is certain. "" if none
    // does.
    text in_function(const text& word) const {
        const local_name found = find_local_name(file_, place_, word);
        if (found.what != local_name::kind::other || !found.is_of_function) return no_text();
        const bool is_own = name_.is_known() && name_.last().name != "operator()" &&
                            class_around_place() <= found.block;
        return is_own ? scoped_name(memory_, name_.whole, word) : word;
    }

    // The class `node` of app::chain<T> is app::chain<int>::node in a member of app::chain<int>. ""
    // if the debug information describes none.
    text in_own_template(const text& word) const {
        for (std::size_t i = name_.components.size(); i > 0; --i) {
            const name_component& component = name_.components[i - 1];
            if (component.arguments.empty()) continue;
            const text path = name_up_to(name_, component);
            const text plain = plain_name(memory_, parse_function_name(memory_, path));
            if (knowledge_.are_known_classes(scoped_name(memory_, plain, word))) {
                return scoped_name(memory_, path, word);
            }
        }
        return no_text();
    }

    // A name that no scope around the function has is made visible by a `using`, or by a base
    // class; or the function has no scopes, because it initialises a variable.
    text made_visible(const text& word) const {
        const text only = knowledge_.only_of(word);
        text found = only;
        for (const name_declaration* each = file_.last_declared("namespace");
             each != nullptr && only.empty(); each = each->previous) {
            const text scope = joined(memory_, path_behind(each->at + 2), "::");
            const text whole = knowledge_.qualified_in(word, scope);
            if (!whole.starts_with(scope) || whole == found || !is_around(*each)) continue;
            if (!found.empty()) return no_text();
            found = whole;
        }
        return found;
    }

    // The path of the class that the file declares in the innermost scope around the function or
    // the place, or takes there from another one: `using inner::item;`. "" if that is not certain.
    text declared_path(const text& word, text function) const {
        const bool is_bare = name_.components.size() < 2;  // with -g1, of an inlined function
        if (is_bare) function = scopes_around_place();
        const name_declaration* innermost = nullptr;
        text found;
        for (const name_declaration* each = file_.last_declared(word); each != nullptr;
             each = each->previous) {
            const bool is_late = each->at > place_ && file_.is_at(each->at, "using");
            if (is_late || file_.is_at(each->at - 2, "friend")) continue;
            text scope;
            const text path = path_of_declared(*each, word, scope);
            const bool is_inside = !scope.empty() && function.starts_with(scope);
            if (!is_inside && !is_around(*each)) {
                // The function may be a member of that class, defined outside of it.
                const bool is_of_class = kind_of_block(file_, each->block) == block_kind::of_class;
                if (is_bare && is_of_class && class_around_place() == 0) return no_text();
                continue;
            }
            if (path.empty()) return no_text();
            if (path.size() < found.size()) continue;
            const bool is_other = path != found || !is_class_at(each->at);
            if (path.size() == found.size() && is_other) return no_text();
            found = path;
            innermost = each;
        }
        if (innermost == nullptr || may_inherit(found, function)) return no_text();
        return file_.is_at(innermost->at, "using") ? path_of_used(*innermost, word) : found;
    }

    ALLOCSCOPE_PURE bool is_class_at(std::size_t at) const {
        return file_.is_any_at(at - 1, "struct class union enum");
    }

    // The path of the class that `using inner::item;` takes, if the file or the debug information
    // has it in a scope around that.
    text path_of_used(const name_declaration& used, const text& word) const {
        const text written = path_behind(used.at + 1);
        for (std::size_t block = used.block;; block = block_around(block)) {
            const text path = written.empty() ? text{} : path_of(block, written);
            if (path.empty()) return no_text();
            const text scope = path.substr(0, path.size() - word.size());
            if (knowledge_.qualified_in(word, scope) == path) return path;
            for (const name_declaration* each = file_.last_declared(word); each != nullptr;
                 each = each->previous) {
                if (is_class_at(each->at) && path_of(each->block, word) == path) return path;
            }
            if (block == 0) return no_text();
        }
    }

    // The path of a name in the block at `block`; "" if it may depend on a template.
    text path_of(std::size_t block, text name) const {
        if (!file_.headers_at(memory_, block + 1).empty()) return no_text();
        for (; block != 0; block = block_around(block)) {
            const block_kind kind = kind_of_block(file_, block);
            text scope;
            if (kind == block_kind::of_class) scope = class_of_body(file_, block);
            if (kind == block_kind::of_namespace) {
                const std::size_t begin = file_.back_to(block, "namespace") + 1;
                scope = begin == block ? anonymous_namespace : path_behind(begin);
                // `inline namespace PART_VERSION`: only the compiler knows what the macro is.
                const bool is_macro = scope.find_first_of(lower_case) == no_position;
                if (is_macro && is_inline_namespace(block)) continue;
            }
            if (scope.empty()) return no_text();
            name = scoped_name(memory_, scope, name);
        }
        return name;
    }

    ALLOCSCOPE_PURE bool is_inline_namespace(std::size_t block) const {
        while (file_.is_word_at(block - 1) && !file_.is_at(block, "inline")) --block;
        return file_.are_at(block, "inline", "namespace");
    }

    // The brace of the block around a token; 0: there is none.
    std::size_t block_around(std::size_t at) const {
        while (at > 1) {
            if (file_.is_at(--at, "{")) return at;
            if (file_.is_at(at, "}")) at = file_.partner(at);
        }
        return 0;
    }

    // The path in the tokens from `at` on; "" if it may depend on a template.
    text path_behind(std::size_t at) const {
        text_out path{memory_};
        if (file_.is_at(at, "typename")) return no_text();
        for (; file_.is_word_at(at) || file_.is_at(at, "::"); ++at) path << file_.text_at(at);
        if (file_.is_at(at, "<")) return no_text();
        return path.view();
    }

    // The brace of the base class that declares what the name means in a member of a class around
    // the place; 0: the file shows none.
    std::size_t base_that_declares(const text& word) const {
        const name_declaration* each = file_.last_declared(word);
        while (each != nullptr && kind_of_block(file_, each->block) != block_kind::of_class) {
            each = each->previous;
        }
        if (each == nullptr) return 0;  // true for most
        for (std::size_t block = block_around(place_ + 1); block != 0;
             block = block_around(block)) {
            const block_kind kind = kind_of_block(file_, block);
            if (kind == block_kind::of_namespace) return 0;
            const std::size_t body = kind == block_kind::of_class ? block : class_of_member(block);
            if (body == 0) continue;
            if (is_declared_in(word, body)) return 0;
            const std::size_t base = declaring_base(word, body);
            if (base != 0) return base;
        }
        return 0;
    }

    std::size_t declaring_base(const text& word, std::size_t body) const {
        for (const std::size_t at : searched_bases(memory_, file_, body)) {
            const std::size_t base = body_of_base(at, body);
            if (base == 0) continue;
            if (is_declared_in(word, base)) return base;
            const std::size_t deeper = declaring_base(word, base);
            if (deeper != 0) return deeper;
        }
        return 0;
    }

    // The brace of the base that the token at `at` names for the class whose body opens at `body`;
    // 0: the file does not show it.
    std::size_t body_of_base(std::size_t at, std::size_t body) const {
        const std::size_t base =
            file_.is_at(at - 1, "::") ? 0 : body_of_class(file_, file_.text_at(at));
        const std::size_t around = block_around(base);
        const bool is_visible = around == 0 || file_.partner(around) > body;
        return base < body && is_visible ? base : 0;
    }

    ALLOCSCOPE_PURE bool is_declared_in(const text& word, std::size_t block) const {
        for (const name_declaration* each = file_.last_declared(word); each != nullptr;
             each = each->previous) {
            if (each->block == block) return true;
        }
        return false;
    }

    // For the block of `void pool::run() {`: the brace of the class pool.
    std::size_t class_of_member(std::size_t block) const {
        const std::size_t close = file_.back_over(block, "const noexcept override final &") - 1;
        const std::size_t open = file_.partner_if(close, ")");
        if (open == 0 || !file_.is_at(open - 2, "::")) return 0;
        return body_of_class(file_, file_.text_at(open - 3));
    }

    // Whether the function is a member of a class that may have inherited another type than
    // `whole`, which is found outside of the class.
    bool may_inherit(const text& whole, const text& function) const {
        const std::size_t count = name_.components.size();
        const std::size_t scope = count < 2 ? 0 : function.size() - name_.last().name.size();
        if (scope != 0 && whole.starts_with(function.substr(0, scope))) return false;
        std::size_t body = class_around_place();
        if (body == 0) {
            if (count < 2) return false;
            const text own = name_.outer().name;
            body = body_of_class(file_, own);
            if (body == 0) return knowledge_.bytes_of(own) != 0;  // else: a namespace
        }
        return may_be_in_base(whole.substr(whole.rfind(':') + 1), body);
    }

    // Whether a base of the class whose body opens at `body` may have a type with that name. It has
    // none if the file shows what all bases declare.
    bool may_be_in_base(const text& word, std::size_t body) const {
        for (const std::size_t at : searched_bases(memory_, file_, body)) {
            const std::size_t base = file_.is_at(at + 1, "<") ? 0 : body_of_base(at, body);
            if (base == 0 || may_be_in_base(word, base)) return true;
            if (is_declared_in(word, base)) return true;
        }
        return false;
    }

    // The brace of the class around the place; 0: none is.
    ALLOCSCOPE_PURE std::size_t class_around_place() const {
        std::size_t block = block_around(place_ + 1);
        while (block != 0 && kind_of_block(file_, block) != block_kind::of_class) {
            block = block_around(block);
        }
        return block;
    }

    // Whether several scopes of the file declare the name.
    ALLOCSCOPE_PURE bool is_declared_again(const text& word) const {
        const name_declaration* const last = file_.last_declared(word);
        return last != nullptr && last->previous != nullptr;
    }

    ALLOCSCOPE_PURE bool is_around(const name_declaration& each) const {
        return each.block == 0 || (each.block < place_ && file_.partner(each.block) > place_);
    }

    // The last declaration in a scope around the place, but not a `using` behind it; null: there is
    // none.
    const name_declaration* declaration_around(const text& word) const {
        for (const name_declaration* each = file_.last_declared(word); each != nullptr;
             each = each->previous) {
            const bool is_late = each->at > place_ && file_.is_at(each->at, "using");
            if (is_around(*each) && !is_late) return each;
        }
        return nullptr;
    }
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SOURCE_NAME_SCOPES_HPP

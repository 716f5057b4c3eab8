// pretty_function.hpp - spells a function the way people write it, from a demangled name.
//
// Room:     spelling (floor 7), not malloc-safe
// Called:   by naming/book_texts.hpp, once for each function, and by coroutine_frame.hpp
// Threads:  any
// Memory:   of the given arena
//
//     app::box<int>* app::make<int>(unsigned long)         ->  app::make<int>(unsigned long)
//     main::{lambda(int)#1}::operator()(int) const         ->  main::{lambda}
//     app::load[abi:cxx11](char const*) [clone .isra.0]    ->  app::load(const char*)
//     app::work(app::work(int)::_ZN3app4workEi.Frame*)     ->  app::work(int)
//
// g++ and clang++ number lambdas in different ways, and only clang++ always has the parameters of
// the functions around them. So numbers and parameters are left out.

#ifndef ALLOCSCOPE_SPELLING_PRETTY_FUNCTION_HPP
#define ALLOCSCOPE_SPELLING_PRETTY_FUNCTION_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/pretty_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// Whether a component is a lambda, as g++, clang++ and LLVM's demangler write it.
inline bool is_lambda(const text& component) noexcept {
    return !listed_start(component, "{lambda <lambda 'lambda $_").empty();
}

// The qualifiers at the beginning: " const &" for " const & [clone .cold]".
ALLOCSCOPE_INLINE text leading_qualifiers(const text& behind) noexcept {
    const std::size_t mark = behind.find_first_not_of("&aceilnostv ");
    return behind.substr(0, mark != no_position && mark != 0 ? mark - 1 : mark);
}

// Returns the function unchanged if its name is not understood. The result lives in the arena or is
// a view of the input.
inline text pretty_function(arena& memory, const text& function) {
    const function_name name = parse_function_name(memory, function);
    if (!name.is_known()) return function;
    text_out spelled{memory};
    text qualifiers;
    bool is_in_lambda = false;
    for (const name_component& component : name.components) {
        if (is_in_lambda && is_listed(component.name, "operator() _FUN __invoke")) continue;
        is_in_lambda = is_lambda(component.name);
        if (!spelled.empty()) spelled << "::";
        spelled << (is_in_lambda ? text{"{lambda}"} : component.name);
        if (component.name.ends_with("<") && !component.arguments.empty()) {
            spelled << ' ';  // operator< <int>
        }
        spelled << component.arguments;
    }
    if (!is_in_lambda) {  // parameters and qualifiers
        text behind = function.substr(static_cast<std::size_t>(name.whole.end() - function.data()));
        if (behind.starts_with("[abi:")) behind.remove_prefix(skip_brackets(behind, 0));
        // g++ names the body of a coroutine f(f(int)::_Z1fi.Frame*).
        const std::size_t frame = behind.find(".Frame*)");
        const std::size_t outer = frame != no_position ? behind.rfind("::_Z") : frame;
        if (outer != no_position) return pretty_function(memory, behind.substr(1, outer - 1));
        const std::size_t close = behind.starts_with("(") ? skip_brackets(behind, 0) : no_position;
        if (close != no_position) {
            spelled << behind.substr(0, close);
            qualifiers = leading_qualifiers(behind.substr(close));
        }
    }
    const text pretty = pretty_type(memory, spelled.view());
    return qualifiers.empty() ? pretty : joined(memory, pretty, qualifiers);
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_SPELLING_PRETTY_FUNCTION_HPP

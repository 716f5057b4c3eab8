// read_names.hpp - parses the names of functions, each only once.
//
// Room:     types (floor 9), not malloc-safe
// Called:   by everything in types/ that names a type, for the innermost frames of each stack;
//           naming/stack_namer.hpp keeps it
// Threads:  one
// Memory:   some hundred bytes for each function, of the given arena
//
// A hundred thousand places are in a few thousand functions, and most of these reach operator new
// through the same few functions of the library. Texts are compared by their addresses: equal texts
// must be one copy, as in kept_texts, and must live as long as this object.
//
//     read_names names{memory};
//     const read_name& name = names.of(frame.function);
//     name.plain;                                          // "std::vector::push_back"
//     names.alone(frame.function, frame.line > 0).name;    // what it allocates by operator new

#ifndef ALLOCSCOPE_TYPES_READ_NAMES_HPP
#define ALLOCSCOPE_TYPES_READ_NAMES_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/spelling/function_name.hpp>
#include <allocscope/spelling/pretty_type.hpp>
#include <allocscope/types/library_calls.hpp>
#include <allocscope/types/type_answer.hpp>
#include <allocscope/types/wrapped_type.hpp>

#include <cstddef>  // size_t

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The printed form of a type that a demangler spelled.
inline text printed_type(arena& memory, const text& type) {
    return unwrapped_type(memory, pretty_type(memory, type));
}

// The same as an answer. "" gives no answer.
inline type_answer printed_answer(arena& memory, const text& type, type_evidence evidence) {
    type_answer answer;
    if (type.empty()) return answer;
    answer.name = printed_type(memory, type);
    answer.evidence = evidence;
    return answer;
}

// Whether a function reports an allocation of another function.
inline bool is_reporting_frame(const text& plain) noexcept {
    return plain.starts_with("allocscope::") &&
           (plain.ends_with("::report_allocation") || plain.ends_with("::report_resize") ||
            plain.ends_with("::report_birth") || plain.ends_with("::report_new_size") ||
            plain.ends_with("::reported_resource::do_allocate"));
}

// Whether a function is a part of our operators. If a program with them runs under `allocscope
// run`, they call malloc and so stand on its stacks.
inline bool is_operator_frame(const text& plain) noexcept {
    return plain.starts_with("allocscope::") && plain.contains("detail::") &&
           is_listed(plain.substr(plain.rfind(':') + 1),
                     "obtain obtain_aligned allocate_aligned allocate_with_handler plain_block "
                     "plain_block_or_throw plain_aligned_block sampled_block watched_block "
                     "watched_block_or_throw recorded_block new_block new_aligned_block "
                     "block_or_null aligned_block_or_null new_block_or_null "
                     "new_aligned_block_or_null");
}

// Whether a function only passes a request for memory on. Then its caller asked for the memory.
inline bool is_forwarding_frame(const text& plain) noexcept {
    return plain.starts_with("operator new") || is_operator_frame(plain) ||
           plain.ends_with("::__libcpp_operator_new") || plain.ends_with("::__libcpp_allocate") ||
           plain.ends_with("newdel_res_t::do_allocate") ||
           plain.ends_with("__new_delete_memory_resource_imp::do_allocate") ||
           plain == "std::pmr::memory_resource::allocate" || plain == "__cxa_allocate_exception" ||
           plain == "std::pmr::polymorphic_allocator::allocate_bytes" || is_reporting_frame(plain);
}

struct read_name {
    text whole;  // as the demangler spelled it
    function_name parts;
    text plain;                     // its own qualified name without template arguments
    library_call call;              // if it is a function of the standard library
    bool is_own_allocator = false;  // a class's own operator new, or a memory resource of the user
    bool is_forwarding = false;
};

class read_names {
public:
    explicit read_names(arena& memory) noexcept : memory_(memory), names_(memory), types_(memory) {}
    read_names(const read_names&) = delete;
    read_names& operator=(const read_names&) = delete;

    const read_name& of(const text& function) { return entry_of(function).name; }

    // What the name of the function says, if it is the direct caller of operator new.
    const type_answer& alone(const text& function, bool has_line) {
        entry& known = entry_of(function);
        if (!known.is_answered[has_line]) {
            known.is_answered[has_line] = true;
            known.answers[has_line] = answer_of(known.name, has_line);
        }
        return known.answers[has_line];
    }

    // The printed form of a type in a source file. It is kept, because few types are looked up.
    text made(const text& type) {
        if (const text* known = types_.find(type)) return *known;
        const text asked = copy_of(memory_, type);
        return types_[asked] = without_const(printed_type(memory_, asked));
    }

    ALLOCSCOPE_INLINE arena& memory() const noexcept { return memory_; }
    // Memory that callers may borrow.
    ALLOCSCOPE_INLINE arena& scratch() noexcept { return scratch_; }

    // Call it before its memory is released.
    void clear() noexcept {
        names_.forget();
        types_.forget();
        scratch_.release();
    }

private:
    struct entry {
        read_name name;
        type_answer answers[2];  // for a frame without a line, and for one with a line
        bool is_answered[2] = {};
    };

    entry& entry_of(const text& function) {
        const auto known = names_.insert(function.data());
        if (known.is_new || known.value->name.whole.size() != function.size()) {
            known.value = memory_.make<entry>();
            read(function, known.value->name);
        }
        return *known.value;
    }

    void read(const text& function, read_name& into) {
        into.whole = function;
        into.parts = parse_function_name(memory_, function);
        into.plain = plain_name(memory_, into.parts);
        into.call = as_library_call(memory_, into.parts);
        into.is_forwarding = is_forwarding_frame(into.plain);
        const bool is_own_resource = !into.is_forwarding && !into.plain.starts_with("std::") &&
                                     into.plain.ends_with("::do_allocate");
        into.is_own_allocator = is_own_resource || is_own_operator_new(into.parts);
        into.is_forwarding = into.is_forwarding || into.is_own_allocator;
    }

    type_answer answer_of(const read_name& name, bool has_line) {
        const library_call& call = name.call;
        if (call.function.empty()) {
            // A function of the program that has such a name has a line.
            const text made = has_line ? text{} : listed_meaning(c_functions, name.whole);
            return made.empty() ? type_answer{} : type_answer{made, type_evidence::make_frame};
        }
        text type = type_of_allocator_call(call);
        if (!type.empty()) return printed_answer(memory_, type, type_evidence::allocator_frame);
        type = type_of_character_buffer(call);
        if (type.empty()) type = type_of_compiled_function(name.plain, false);
        if (type.empty() && has_line) type = type_of_container_call(memory_, call);
        if (!type.empty() || !has_line) {
            return printed_answer(memory_, type, type_evidence::make_frame);
        }
        // These also evaluate the default arguments of the constructor, which may allocate.
        const bool makes_object =
            is_listed(call.function, "make_unique make_unique_for_overwrite _S_create") &&
            !call.function_first.ends_with("]");
        return printed_answer(
            memory_, type_of_make_call(memory_, call),
            makes_object ? type_evidence::made_object : type_evidence::make_frame);
    }

    arena& memory_;
    arena scratch_;
    table<const void*, entry*> names_;  // by the address of the name
    table<text, text> types_;
};

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_READ_NAMES_HPP

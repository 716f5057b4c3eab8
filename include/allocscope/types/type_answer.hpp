// type_answer.hpp - the type of a stack's objects, and how it was found.
//
// Room:     types (floor 9), not malloc-safe
// Called:   made by types/type_ladder.hpp and read_names.hpp, read by naming/
// Threads:  plain data
// Memory:   the name belongs to whoever found it

#ifndef ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP
#define ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/plain/text.hpp>

ALLOCSCOPE_COLD_BEGIN

namespace symbolize {

// The rungs of the ladder; docs/types_and_places.md explains them.
enum class type_evidence : unsigned char {
    none,             // not known: the name is "?"
    tag,              // the code that allocated says so: allocscope::allocator<T> and similar
    allocator_frame,  // std::allocator<T>::allocate called operator new
    make_frame,       // a function did that names what it allocates
    made_object,      // std::make_unique<T> or std::any did, for one T if the block is as large
    vtable,           // a live object points to the vtable of T, and is as large as a T
    source_text,      // the source has `new T` at that line and column
    constructor,      // the code calls a constructor of T there, and the block is as large as a T
    unsized_vtable    // the same as vtable, but the size of a T is unknown
};

// The word in snapshot::row::type_source.
inline const char* word_of(type_evidence evidence) noexcept {
    switch (evidence) {
        case type_evidence::tag:
            return "report";
        case type_evidence::allocator_frame:
            return "allocator";
        case type_evidence::make_frame:
        case type_evidence::made_object:
            return "make_function";
        case type_evidence::vtable:
            return "vtable";
        case type_evidence::source_text:
            return "source";
        case type_evidence::constructor:
            return "constructor";
        case type_evidence::unsized_vtable:
            return "unsized_vtable";
        case type_evidence::none:
            break;
    }
    return "";
}

struct type_answer {
    // Without these g++ writes all members at each place that makes one.
    ALLOCSCOPE_NOINLINE type_answer() noexcept {}
    ALLOCSCOPE_NOINLINE type_answer(const text& type, type_evidence how,
                                    bool of_array = false) noexcept
        : name(type), evidence(how), is_array(of_array) {}

    text name = "?";
    type_evidence evidence = type_evidence::none;
    bool is_array = false;  // the source says so: the block may be larger than one object
    // The answer if there is no name, or the name is refuted, and the block is as large as such an
    // object: "app::part". "app::box<>" means a class made from that template, if a vtable says
    // which. "<int, app::part>" is one of these, and "(app::part, app::whole)" one of these whose
    // constructor is called; "[app::failure]" likewise, as an exception. path_components may also
    // be a text. "": there is no candidate.
    text candidate = {};

    // The source says it.
    void set_source_text(const text& type, bool of_array) noexcept {
        *this = {type, type_evidence::source_text, of_array};
    }

    ALLOCSCOPE_PURE bool is_known() const noexcept { return evidence != type_evidence::none; }

    // Whether a live object may tell more: by its vtable or its size.
    ALLOCSCOPE_PURE ALLOCSCOPE_INLINE bool is_open() const noexcept {
        return evidence == type_evidence::none || evidence == type_evidence::source_text ||
               evidence == type_evidence::made_object;
    }
};

// Whether a candidate, which may lack scopes, means the class `type`.
ALLOCSCOPE_PURE inline bool is_candidate_for(text candidate, text type) noexcept {
    if (candidate.ends_with("<>")) {
        candidate.remove_suffix(1);
        type = type.substr(0, type.find('<') + 1);
    }
    if (candidate.empty() || !type.ends_with(candidate)) return false;
    return type.size() == candidate.size() || type[type.size() - candidate.size() - 1] == ':';
}

}  // namespace symbolize

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_TYPES_TYPE_ANSWER_HPP

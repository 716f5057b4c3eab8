// Danger: `new node` and std::make_unique<node>() are one type with two names in a report; or, with
// the wrong scope put in front, two types get one name.
// about: stacks

#include "../../support/process_test.hpp"
#include "../../support/rows_by_type.hpp"

#include <allocscope/allocscope.hpp>

#include <array>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>

#include "chain.hpp"
#include "entry.hpp"

using namespace allocscope_test;

static short number_of_file = 3;
// The debug information describes what these point to.
static other::link* volatile last_link;
static shop::number_of_parts volatile last_number;
static size_of_text volatile last_size;
static shop::leaf* volatile last_leaf;
__attribute__((noinline)) static std::unique_ptr<short> copy_of_number() {
    return std::unique_ptr<short>{new auto(number_of_file)};
}

namespace shop {

struct node {
    long number = 0;
};

struct twice {
    long number = 0;
};

namespace {
struct session {
    long number = 0;
};
}  // namespace

__attribute__((noinline)) std::unique_ptr<session> session_by_hand() {
    return std::unique_ptr<session>{new session};
}
__attribute__((noinline)) std::unique_ptr<session> session_by_function() {
    return std::make_unique<session>();
}

__attribute__((noinline)) std::unique_ptr<node> by_hand() {
    return std::unique_ptr<node>{new node};
}
__attribute__((noinline)) std::unique_ptr<node> by_function() {
    return std::make_unique<node>();
}

}  // namespace shop

namespace other {

struct twice {
    long number = 0;
};

}  // namespace other

namespace shop {

__attribute__((noinline)) std::unique_ptr<twice> ambiguous(std::unique_ptr<other::twice>& more) {
    more = std::make_unique<other::twice>();
    return std::unique_ptr<twice>{new twice};
}

__attribute__((noinline)) std::unique_ptr<entry> entry_by_hand() {
    return std::unique_ptr<entry>{new entry};
}

// A lambda makes one of a class that its function declares, although the namespace has another.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
__attribute__((noinline)) void* made_by_lambda() {
    struct entry {
        double numbers[3];
    };
    const auto make = []() -> void* { return new entry; };
    return make();
}
// The source does not show that this function declares a class of that name.
#define ALLOCSCOPE_CLASS_OF_THREE(name) \
    struct name {                       \
        double numbers[3];              \
    }
__attribute__((noinline)) void* made_of_macro() {
    ALLOCSCOPE_CLASS_OF_THREE(leaf);
    static leaf* volatile made;
    made = new leaf;
    return made;
}
#pragma GCC diagnostic pop

__attribute__((noinline)) void shelf::fill() {
    parts_.reset(new parts());
}

__attribute__((noinline)) void* box_by_hand() {
    return new box<number_of_parts>;
}
__attribute__((noinline)) void* box_of_size() {
    return new box<size_of_text>;
}

}  // namespace shop

namespace other {

template <class T>
struct tree {
    struct entry {
        T numbers[2] = {};
    };
    __attribute__((noinline)) static std::unique_ptr<entry> make() {
        return std::make_unique<entry>();
    }
};

}  // namespace other

__attribute__((noinline)) std::unique_ptr<long> with_local_entry() {
    struct entry {
        long number = 7;
    };
    const entry local;
    return std::make_unique<long>(local.number);
}

namespace {

struct owner {
    long number = 3;
    shop::node* node = new shop::node;  // at this line, whatever the compiler says
};
constexpr int line_of_initialiser = __LINE__ - 2;

}  // namespace

// What the inline namespace has is in the one around it, too.
namespace stock {
inline namespace v2 {
template <class T>
struct crate {
    T content;
};
using small = crate<char>;
}  // namespace v2
}  // namespace stock
static stock::small last_crate;
__attribute__((noinline)) static void* crates() {
    last_crate.content = 'c';
    return new std::array<stock::small, 3>;
}

// The base might have a `sheet`, too; but the debug information has only those around the function.
namespace shop {
struct sheet {
    long number;
};
namespace desk {
struct sheet {
    double numbers[3];
};
struct clerk : std::array<int, 3> {
    void* make() const;
};
__attribute__((noinline)) void* clerk::make() const {
    return new sheet;
}
}  // namespace desk
}  // namespace shop
static shop::sheet* volatile last_sheet;
static shop::desk::sheet* volatile last_sheet_of_desk;

int main() {
    watchdog();
    const allocscope::scope window{"types"};
    const std::unique_ptr<shop::node> a = shop::by_hand();
    const std::unique_ptr<shop::node> b = shop::by_function();
    std::unique_ptr<other::twice> c;
    const std::unique_ptr<shop::twice> d = shop::ambiguous(c);
    const auto e = shop::session_by_hand();
    const auto f = shop::session_by_function();
    const auto g = shop::entry_by_hand();
    const auto h = other::tree<long>::make();
    const auto i = with_local_entry();
    const auto j = copy_of_number();
    void* const k = shop::made_by_lambda();
    void* const l = shop::made_of_macro();
    void* const m = shop::box_by_hand();
    void* const n = shop::box_of_size();
    void* const p = crates();
    void* const q = shop::desk::clerk{}.make();
    last_sheet = nullptr;
    last_sheet_of_desk = nullptr;
    shop::shelf o;
    o.fill();
    last_link = nullptr;
    last_leaf = nullptr;
    last_number = 1;
    last_size = 1;
    other::chain<char> small;  // its classes have other sizes than those of the next one
    small.grow('a');
    other::chain<double> large;
    large.grow(2);
    const allocscope::snapshot seen = window.stats();
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::node"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "other::twice"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::twice"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::session"), 2);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::entry"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::desk::sheet"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "shop::leaf"), 0);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "other::tree<long>::entry"), 1);
    ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, "short"), 1);
    for (const char* type :
         {"other::chain<char>::link", "other::chain<double>::link",
          "other::chain<char>::slots<char>", "other::chain<double>::slots<double>", "box<long>",
          "box<short>", "std::array<long, 5>", "std::array<stock::crate<char>, 3>"}) {
        std::printf("%s\n", type);
        ALLOCSCOPE_EXPECT_EQUAL(objects_of_type(seen, type), 1);
    }
    ::operator delete(k);
    ::operator delete(l);
    ::operator delete(m);
    ::operator delete(n);
    ::operator delete(p);
    ::operator delete(q);
    small.clear();
    large.clear();
    const allocscope::scope another{"initialiser"};
    const owner owning;
    for (const allocscope::snapshot::row& row : another.stats()) {
        ALLOCSCOPE_EXPECT_EQUAL(row.line, line_of_initialiser);
        ALLOCSCOPE_EXPECT(std::strcmp(row.type, "shop::node") == 0);
    }
    delete owning.node;
    return verdict();
}

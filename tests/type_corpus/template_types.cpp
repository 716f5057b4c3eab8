// What `new` makes in a template, or by a name that a `using` or a base class makes visible: by the
// row, and by the compiler itself, whose typeid() has the type. One line each, which prints
// `line<TAB>objects<TAB>row's type<TAB>compiler's`. Where the row says something else, it stands
// behind the line: template_types.py compares.
#include <allocscope/allocscope.hpp>

#include <cxxabi.h>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace app {
struct plain {
    long a, b, c;
};
enum class colour : char { red };
template <class T, class U = int>
struct box {
    T first;
    U second;
};
struct traits {
    using value = plain;
    struct inner {
        short a[9];
    };
    using again = value;
};
}  // namespace app

namespace post {
struct parcel {
    int a[11];
};
struct same {
    int a[13];
};
struct counter {
    struct stamp {
        short a[17];
    };
};
namespace mail {
struct letter {
    long a[5];
};
}  // namespace mail
struct twin {
    int a[19];
};
}  // namespace post

namespace pigeon {
struct twin {
    int a[19];
};
}  // namespace pigeon

struct same {
    int a[13];
};

namespace {
struct hidden {
    int a[7];
};

std::map<int, std::string> expected;
void* volatile sink;

template <class T>
__attribute__((noinline)) void made(T* object, int line = __builtin_LINE()) {
    sink = const_cast<void*>(static_cast<const volatile void*>(object));
    const allocscope::pause_recording pause;
    char* name = abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr);
    expected[line] = name;
    std::free(name);
}

// clang-format off
// Each function allocates on the line that it is defined on.
template <class T> void parameter() { made(new T); }
template <class T> void array() { made(new T[3]); }
template <class T> void pointer() { made(new T*); }
template <class T> void wrapped() { made(new app::box<T>); }
template <class T, class U = T, int N = 3> void defaulted() { made(new app::box<U, T>); }
template <class... Ts> void pack() { made(new app::box<Ts...>); }
template <class... Ts> void elements() { (made(new Ts), ...); }
template <class... Ts, class U> void behind_pack(U*) { made(new app::box<U>); }
template <class T> void local_alias() { using U = app::box<T*>; made(new U); }
template <class T>
void alias_of_variable(T v) { using U = decltype(v); made(new U(v)); }  // row: lambdas::{lambda}
template <class T> void of_variable(T v) { made(new decltype(v)(v)); }
template <class T>
void of_static() { static T* one; made(new decltype(one)); }  // row: ? at -O2
template <class T> void member() { made(new typename T::value); }  // row: app::traits::value
template <class T>
void through_alias() { using U = T; made(new typename U::value); }  // row: app::traits::value
template <class T> void member_class() { made(new typename T::inner); }
template <class T>
void member_alias() { made(new typename T::again); }  // row: app::traits::again
template <template <class, class> class B> void of_template() { made(new B<int, char>); }

template <class K, class V> struct node {
    using mapped = V;
    typedef K key;
    using both = std::pair<K, V>;
    using link = node*;
    K k; V v;
    struct inner { K k[3]; };
    static void self() { made(new node); }
    static void written_out() { made(new node<K, V>); }
    static void other_way_round() { made(new node<V, K>); }
    static void of_mapped() { made(new mapped); }
    static void of_key() { made(new key); }
    static void of_both() { made(new both); }
    static void of_link() { made(new link); }
    static void of_inner() { made(new inner); }
    static void hides_mapped() { using mapped = short; made(new mapped); }
    static void hides_key() { typedef long double key; made(new key); }
    static mapped* hides_described() { using mapped = decltype(1.5F);
        made(new mapped); return {}; }  // row: ?
    static void in_lambda() { [] { made(new mapped); }(); }
    static void outside();
    template <class T> static void in_member(T) { made(new app::box<T, V>); }
    template <class T>
    struct deeper { static void make() { made(new app::box<mapped, T>); } };
};
template <class A, class B> void node<A, B>::outside() { made(new app::box<B, A>); }

// The debug information names the parameters of the primary template.
template <class T> struct part { static void make() { made(new T); } };
template <class T>
struct part<T*> { using of = T; static void make() { made(new T); }
    static void alias() { made(new of); } };
template <> struct part<long> { using T = char; static void make() { made(new T); } };

template <class T> struct base { using value = T; };
template <class T> struct derived : base<T> {
    using typename base<T>::value;
    static void make() { made(new value); } };  // row: ? at clang++

using namespace post;
using post::mail::letter;
struct window_of : counter { void make() { made(new stamp); } };
void visible() {
    made(new parcel);
    made(new letter);
    made(new mail::letter);
    made(new twin);
    made(new pigeon::twin);
    made(new ::same);
    made(new post::same);
}

void lambdas() {
    auto closure = [] { return 1; };
    auto generic = [](auto v) { made(new decltype(v)(v)); };
    auto aliased = [](auto v) { using T = decltype(v); made(new T(v)); };
    auto with_parameter = [](auto v) { made(new app::box<decltype(v)>{v, 1}); };
    generic(3); aliased(app::plain{}); with_parameter(hidden{});
    alias_of_variable(closure);
}
// clang-format on

void make_all() {
    parameter<app::plain>();
    array<hidden>();
    pointer<app::colour>();
    wrapped<app::box<int, char>>();
    defaulted<app::plain>();
    pack<int, app::plain>();
    elements<short>();
    behind_pack<int, char>(static_cast<app::plain*>(nullptr));
    local_alias<hidden>();
    of_variable(app::colour::red);
    of_static<app::plain>();
    member<app::traits>();
    through_alias<app::traits>();
    member_class<app::traits>();
    member_alias<app::traits>();
    of_template<app::box>();
    using numbers = node<int, app::plain>;
    numbers::self();
    numbers::written_out();
    numbers::other_way_round();
    numbers::of_mapped();
    numbers::of_key();
    numbers::of_both();
    numbers::of_link();
    numbers::of_inner();
    numbers::hides_mapped();
    numbers::hides_key();
    numbers::hides_described();
    numbers::in_lambda();
    numbers::outside();
    numbers::in_member('c');
    numbers::deeper<unsigned>::make();
    part<app::plain*>::make();
    part<app::plain*>::alias();
    part<long>::make();
    part<short>::make();
    derived<app::plain>::make();
    lambdas();
    window_of{}.make();
    visible();
}
}  // namespace

int main() {
    const allocscope::scope window{"templates"};
    make_all();
    for (const auto& row : window.stats()) {
        std::printf("%d\t%llu\t%s\t%s\n", row.line, static_cast<unsigned long long>(row.objects),
                    row.type, expected[row.line].c_str());
    }
    std::fflush(stdout);
    std::_Exit(0);
}

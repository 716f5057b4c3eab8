"""The expressions of the corpus of types: what allocates, and what stands in the block.

Each is one line of C++ that defines a function `f@()`. `$T` is an element type, `@` the number of
the line. Behind it stand the types that rows of the line may and must show; one of several
of which any is right is written `a | b`, and `?` where no type is right. Elsewhere `?` is allowed
and counted.
"""

# As a report spells it, and whether it has virtual functions.
ELEMENTS = ["int", "app::plain", "app::shape", "hidden",
            "hidden_shape", "app::box<int>", "std::string",
            "app::outer::nested"]


PRELUDE = r"""
#include <allocscope/allocscope.hpp>

#include <any>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <forward_list>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <valarray>
#include <vector>

namespace app {
struct plain { long a = 1, b = 2, c = 3; };
struct shape { virtual ~shape(); long a = 1; };
inline shape::~shape() = default;
template <class T> struct box { T value{}; long more = 3; };
struct outer { struct nested { long a = 1, b = 2; }; };
template <class T> struct holder { T value; long more[9] = {}; holder(T v) : value(v) {} };
}  // namespace app

namespace {
struct hidden { long a = 1, b = 2, c = 3, d = 4; };
struct hidden_shape { virtual ~hidden_shape() {} long a = 1, b = 2; };

void* volatile sink;
template <class T> __attribute__((always_inline)) inline void keep(T* object) {
    sink = const_cast<void*>(static_cast<const volatile void*>(object));
    asm volatile("" : : "r"(object) : "memory");
}
// Keeps what the value has allocated.
template <class T> __attribute__((always_inline)) inline void hold(T&& value) {
    using kept = std::decay_t<T>;
    alignas(kept) static unsigned char storage[sizeof(kept)];
    keep(::new (static_cast<void*>(storage)) kept(std::move(value)));
}
}  // namespace

#define MAKE_NEW(T) new T
#define MAKE_SOME(T, n) (new T[n])
"""

F = "__attribute__((noinline)) void f@() "
LARGE = "std::array<long, 12> large{}; "

# (source of the line, types, C++ standard where it is not 17)
SHAPES = [
    # new
    (F + "{ keep(new $T); }", ["$T"]),
    (F + "{ keep(new $T()); }", ["$T"]),
    (F + "{ keep(new $T{}); }", ["$T"]),
    (F + "{ keep(new $T[5]); }", ["$T"]),
    (F + "{ keep(new (std::nothrow) $T); }", ["$T"]),
    (F + "{ keep(::new $T); }", ["$T"]),
    (F + "{ keep(new const $T{}); }", ["$T"]),
    (F + "{ keep(new $T*[3]); }", ["$T*"]),
    (F + "{ std::unique_ptr<$T> p(new $T); hold(std::move(p)); }", ["$T"]),
    (F + "{ std::shared_ptr<$T> p(new $T); hold(std::move(p)); }",
     ["$T", "std::shared_ptr<$T> control block"]),
    (F + "{ keep(sink != nullptr ? new $T : nullptr); }", ["$T"]),
    (F + "{ auto make = [] { return new $T; }; keep(make()); }", ["$T"]),
    (F + "{ keep(new std::pair<int, $T>); }", ["std::pair<int, $T>"]),
    (F + "{ keep(new std::vector<$T>); }", ["std::vector<$T>"]),
    (F + "{ keep(new std::tuple<$T, long, char>); }", ["std::tuple<$T, long, char>"]),
    (F + "{ keep(new std::array<$T, 3>); }", ["std::array<$T, 3>"]),
    (F + "{ struct local { $T value; char more[3]; }; keep(new local); }",
     ["local | f@::local"]),
    ("struct with_list@ { $T* p; long q; with_list@() : p(new $T), q(3) {} }; " + F +
     "{ static with_list@ one; keep(&one); }", ["$T"]),
    ("struct with_member@ { $T* p = new $T; long q = 3; }; " + F +
     "{ static with_member@ one; keep(&one); }", ["$T"]),
    ("struct with_default@ { $T* p; char q[40]; with_default@($T* given = new $T) : p(given) {} };"
     " " + F + "{ keep(new with_default@); }", ["$T", "with_default@"]),
    (F + "{ static $T* one = new $T; keep(one); }", ["$T"]),
    (F + "{ thread_local $T* one = new $T; keep(one); }", ["$T"]),
    ("struct cloned@ { virtual ~cloned@() {} virtual cloned@* clone() const { return new "
     "cloned@(*this); } $T value; }; " + F + "{ static cloned@ one; keep(one.clone()); }",
     ["cloned@"]),
    # templates
    ("template <class U> U* make@() { return new U; } " + F + "{ keep(make@<$T>()); }", ["$T"]),
    ("template <class U> struct maker@ { static U* make() { return new U(); } }; " + F +
     "{ keep(maker@<$T>::make()); }", ["$T"]),
    ("template <class U> struct self@ { U value; long n; static self@* make() { return new self@; }"
     " }; " + F + "{ keep(self@<$T>::make()); }", ["self@<$T>"]),
    ("template <class U> struct dependent@ { using type = U; static type* make() "
     "{ return new type; } }; " + F + "{ keep(dependent@<$T>::make()); }", ["$T"]),
    ("template <class U> auto first@(U v) { using T = decltype(v); return new std::pair<T, T>(); } "
     + F + "{ keep(first@($T())); }", ["std::pair<$T, $T>"]),
    (F + "{ auto make = [](auto v) { return new decltype(v)(v); }; keep(make($T())); }", ["$T"]),
    (F + "{ auto make = [](auto v) { using T = decltype(v); return new T(); }; keep(make($T())); }",
     ["$T"]),
    (F + "{ keep(new app::holder($T())); }", ["app::holder<$T>"]),
    (F + "{ keep(new app::holder<$T>($T())); }", ["app::holder<$T>"]),
    # names that are no types
    (F + "{ keep(MAKE_NEW($T)); }", ["$T"]),
    (F + "{ using alias = $T; keep(new alias); }", ["$T | alias"]),
    (F + "{ keep(new auto($T())); }", ["$T"]),
    (F + "{ static $T one; keep(new decltype(one)); }", ["$T"]),
    # what begins with an object is not that object
    (F + "{ void* chunk = ::operator new(4096); ::new (chunk) $T; keep(chunk); }",
     ["? | begins with $T"]),
    (F + "{ struct wrapped@ { $T first; long n; }; keep(new auto(wrapped@())); }",
     ["wrapped@ | f@::wrapped@"]),
    (F + "{ struct four@ { std::array<$T, 4> all; }; keep(new decltype(four@())()); }",
     ["four@ | f@::four@"]),
    (F + "{ static std::pmr::monotonic_buffer_resource pool(1024); static std::pmr::vector<$T> "
     "v(&pool); v.resize(2); keep(&v); }", ["std::pmr::monotonic_buffer_resource buffer"]),
    ("struct derived@ : app::shape { $T more[2]; }; " + F + "{ auto* raw = static_cast<derived@*>("
     "::operator new(sizeof(derived@))); ::new (raw) derived@; raw->~derived@(); keep(raw); }",
     ["derived@ | ? | begins with derived@ | begins with app::shape"]),
    # a class's own operator new
    ("struct own@ { $T value; long n; static void* operator new(std::size_t n) { return "
     "::operator new(n); } }; " + F + "{ keep(new own@); }", ["own@"]),
    # functions of the library
    (F + "{ hold(std::make_unique<$T>()); }", ["$T"]),
    (F + "{ hold(std::make_unique<$T[]>(3)); }", ["$T"]),
    (F + "{ hold(std::make_shared<$T>()); }", ["$T"]),
    (F + "{ hold(std::allocate_shared<$T>(std::allocator<$T>())); }", ["$T"]),
    (F + "{ std::vector<$T> v(4); hold(std::move(v)); }", ["$T"]),
    (F + "{ std::vector<$T> v; v.resize(3); hold(std::move(v)); }", ["$T"]),
    (F + "{ std::vector<$T> v; v.reserve(9); hold(std::move(v)); }", ["$T"]),
    (F + "{ std::vector<$T> v; v.push_back($T()); hold(std::move(v)); }", ["$T"]),
    (F + "{ std::vector<std::vector<$T>> v(2, std::vector<$T>(3)); hold(std::move(v)); }",
     ["std::vector<$T>", "$T"]),
    (F + "{ std::list<$T> l(2); hold(std::move(l)); }", ["$T"]),
    (F + "{ std::forward_list<$T> l(2); hold(std::move(l)); }", ["$T"]),
    (F + "{ std::map<int, $T> m; m[3]; hold(std::move(m)); }", ["std::pair<const int, $T>"]),
    (F + "{ std::multimap<int, $T> m; m.emplace(3, $T()); hold(std::move(m)); }",
     ["std::pair<const int, $T>"]),
    (F + "{ std::unordered_map<int, $T> m; m[3]; hold(std::move(m)); }",
     ["std::pair<const int, $T>", "hash buckets"]),
    (F + "{ std::set<$T*> s; s.insert(nullptr); hold(std::move(s)); }", ["$T*"]),
    (F + "{ static std::deque<$T> d(2); keep(&d); }", ["$T", "$T*"]),
    (F + "{ static std::queue<$T> q; q.push($T()); keep(&q); }", ["$T", "$T*"]),
    (F + "{ static std::stack<$T, std::vector<$T>> s; s.push($T()); keep(&s); }", ["$T"]),
    (F + "{ static std::pmr::vector<$T> v(2); keep(&v); }", ["$T"]),
    (F + "{ " + LARGE + "hold(std::any(std::pair<$T, decltype(large)>())); }",
     ["std::pair<$T, std::array<long, 12>>"]),
    (F + "{ " + LARGE + "$T one{}; hold(std::function<void()>([one, large] { keep(&one); "
     "keep(&large); })); }", ["f@::{lambda}"]),
    (F + "{ hold(std::make_unique<std::pair<$T, $T*>>()); }", ["std::pair<$T, $T*>"]),
    (F + "{ std::promise<$T> p; hold(std::move(p)); }",
     ["std::future state", "std::future<$T> result"]),
]

POOL = ("template <class U> struct pool@ { using value_type = U; pool@() = default; "
        "template <class V> pool@(const pool@<V>&) {} "
        "U* allocate(std::size_t n) { return static_cast<U*>(::operator new(n * sizeof(U))); } "
        "void deallocate(U* p, std::size_t) { ::operator delete(p); } "
        "bool operator==(const pool@&) const { return true; } "
        "bool operator!=(const pool@&) const { return false; } }; ")

# Without an element type.
SINGLE = [
    (F + "{ std::string s(200, 'x'); hold(std::move(s)); }", ["char"]),
    (F + "{ std::wstring s(200, L'x'); hold(std::move(s)); }", ["wchar_t"]),
    (F + "{ static std::stringstream s; s << \"a text that is too long to stand in the object "
     "itself\"; keep(&s); }", ["char"]),
    (F + "{ static std::valarray<double> v(9); keep(&v); }", ["double"]),
    (F + "{ std::vector<bool> v(900); hold(std::move(v)); }", ["unsigned long"]),
    (F + "{ static std::filesystem::path p(\"/one/two/three\"); keep(&p); }",
     ["std::filesystem::path components"]),
    (F + "{ static std::filesystem::path p(\"/one/a_name_of_many_letters\"); static auto q = p; "
     "keep(&p); keep(&q); }", ["char", "std::filesystem::path components"]),
    (F + "{ std::unordered_set<int> s; s.insert(3); hold(std::move(s)); }",
     ["int", "hash buckets"]),
    (F + "{ auto a = std::async(std::launch::deferred, [] { return 3; }); hold(std::move(a)); }",
     ["std::future state", "std::future<int> result"]),
    # memory for objects that are made later
    (POOL + F + "{ std::vector<app::plain, pool@<app::plain>> v(3); hold(std::move(v)); }",
     ["app::plain"]),
    (POOL + F + "{ std::map<int, hidden, std::less<>, pool@<std::pair<const int, hidden>>> m; m[3];"
     " hold(std::move(m)); }", ["std::pair<const int, hidden>"]),
    (POOL + F + "{ hold(std::allocate_shared<app::plain>(pool@<app::plain>())); }",
     ["app::plain"]),
    ("struct node@ { node@* next; long n; }; " + F + "{ auto* raw = static_cast<node@*>(::operator "
     "new(sizeof(node@))); keep(::new (raw) node@); }", ["node@"]),
    (F + "{ keep(::operator new(sizeof(long) + 3 * sizeof(app::plain))); }", ["?"]),
    ("struct shape@ { long n; }; " + F + "{ long shape@ = 3; keep(::operator new(2 * "
     "sizeof(shape@))); }", ["?"]),
    # what a person writes
    (F + "{ std::vector<std::function<void(int)>> v(2); hold(std::move(v)); }",
     ["std::function<void(int)>"]),
    (F + "{ keep(new std::function<void(int)>()); }", ["std::function<void(int)>"]),
    (F + "{ using run = void (*)(int); keep(new run[3]); }", ["void (*)(int)"]),
    ("template <class U> auto copy@(U&& u) { return new std::decay_t<U>(u); } " + F +
     "{ static app::plain one; keep(copy@(one)); }", ["app::plain"]),
    (F + "{ auto copy = [](auto& u) { return new std::decay_t<decltype(u)>(u); }; static "
     "hidden one; keep(copy(one)); }", ["hidden"]),
    # macros
    (F + "{ keep(MAKE_SOME(std::string, 4)); }", ["std::string"]),
    (F + "{ keep(MAKE_NEW(app::plain)()); }", ["app::plain"]),
    # classes in classes
    ("struct base@ { virtual ~base@() {} long a = 1; }; struct left@ : virtual base@ { long l; }; "
     "struct right@ : virtual base@ { long r; }; struct both@ : left@, right@ {}; " + F +
     "{ std::unique_ptr<base@> p = std::make_unique<both@>(); hold(std::move(p)); }", ["both@"]),
    ("template <class D> struct twin@ { D* twin() const { return new D(static_cast<const D&>(*this)"
     "); } }; struct one@ : twin@<one@> { long n[7]; }; " + F + "{ static one@ one; "
     "keep(one.twin()); }", ["one@"]),
    ("struct shared@ : std::enable_shared_from_this<shared@> { long n[3]; }; " + F +
     "{ hold(std::make_shared<shared@>()); }", ["shared@"]),
    ("template <class U> struct chain@ { struct link { U value; link* next; }; link* first = "
     "nullptr; void add() { first = new link{U(), first}; } }; " + F + "{ static chain@<hidden> "
     "all; all.add(); keep(&all); }", ["chain@<hidden>::link"]),
    (F + "{ std::map<int, std::map<long, hidden>> m; m[1][2]; hold(std::move(m)); }",
     ["std::pair<const int, std::map<long, hidden>>", "std::pair<const long, hidden>"]),
]

COROUTINE_PRELUDE = r"""
#include <coroutine>

struct task {
    struct promise_type {
        task get_return_object() { keep(this); return {}; }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(int) { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
"""

COROUTINES = [
    (F.replace("void", "task") + "{ co_return; }", ["frame of f@()"]),
    (F.replace("void", "task") + "{ co_await std::suspend_always{}; }", ["frame of f@()"]),
    (F.replace("void", "task") + "{ for (int i = 0; i < 9; ++i) { co_yield i; } }",
     ["frame of f@()"]),
    ("struct c@ { task run(int n) { keep(&n); co_return; } }; " + F + "{ c@().run(3); }",
     ["frame of c@::run()"]),
    (F + "{ auto run = [](int n) -> task { keep(&n); co_return; }; run(3); }",
     ["frame of f@::{lambda}()"]),
    ("template <class U> task run@(U u) { keep(&u); co_await std::suspend_always{}; } " + F +
     "{ run@(app::plain()); }", ["frame of run@<app::plain>()"]),
    # A function with a coroutine inside is none.
    (F + "{ auto run = []() -> task { co_return; }; keep(&run); keep(new app::plain{}); }",
     ["app::plain"]),
    # With -O2 g++ folds the functions that allocate for classes of one size and forgets that they
    # were inlined. The type is known with -O0.
    (F + "{ static std::deque<std::string> d(2); keep(&d); }", ["std::string | ?", "std::string*"]),
    (F + "{ static std::deque<hidden> d(2); keep(&d); }", ["hidden | ?", "hidden*"]),
    (F + "{ std::vector<hidden> v; v.push_back(hidden()); hold(std::move(v)); }", ["hidden | ?"]),
    (F + "{ auto fill = [](std::vector<hidden>& v) { v.resize(3); }; std::vector<hidden> v; "
     "fill(v); hold(std::move(v)); }", ["hidden | ?"]),
    (F + "{ static std::pmr::polymorphic_allocator<> a; keep(a.new_object<hidden>()); }",
     ["hidden"]),
]


RARE_PRELUDE = r"""
#define MAKE_ROW(T, n) new T[n]
#define ROWS_OF(v, n) ::operator new((n) * sizeof(*(v)->rows))
#define KEEP_NEW(...) keep(new __VA_ARGS__)
typedef int four[2][2];
typedef void (*callback)(int);
#define MAKER(T, name) T* make_##name() { return new T; }
// All calls have the place of the macro, also that of the constructor of the base class.
#define DERIVED(name) struct name##_base { long n[3]; name##_base() : n{1} {} }; \
    struct name : name##_base { name() {} }; \
    template <class T> struct name##_of { using type = name; }; \
    template <class T> name* make_##name() { return new typename name##_of<T>::type(); }
template <class T> struct crate { T value; long more = 3; crate(T v) : value(v) {} };
template <class T> struct stored { using type = app::holder<T>; };
enum class mode { fast, safe };
template <mode M, class T> struct policy { T values[4]; };
struct resource : std::pmr::memory_resource {
    std::size_t total = 0;
    void* do_allocate(std::size_t size, std::size_t alignment) override {
        total += size;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void* block, std::size_t, std::size_t) override { ::operator delete(block); }
    bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
};
resource counted;
struct source {
    app::plain one;
    __attribute__((noinline)) app::plain copy() const { return one; }
    __attribute__((noinline)) const app::plain& get() const { return one; }
};
__attribute__((noinline)) app::plain some_plain() { return {}; }
__attribute__((noinline)) hidden some_hidden(int) { return {}; }
"""

# Ways to write a `new` that few people use. All of them must be right.
RARE = [
    ("DERIVED(derived@) " + F + "{ keep(make_derived@<int>()); }", ["derived@"]),
    (F + "{ keep(new auto(3.5)); }", ["double"]),
    (F + "{ keep(new auto(3.5f)); }", ["float"]),
    (F + "{ keep(new auto(42)); }", ["int"]),
    (F + "{ keep(new auto('c')); }", ["char"]),
    (F + "{ keep(new auto(\"text\")); }", ["const char*"]),
    (F + "{ keep(new (void (*)(int))); }", ["void (*)(int)"]),
    (F + "{ keep(new (void (*[2])(int))); }", ["void (*)(int)"]),
    (F + "{ keep(new (long (app::plain::*)(int))); }", ["long (app::plain::*)(int)"]),
    (F + "{ keep(new (long app::plain::*)(nullptr)); }", ["long app::plain::*"]),
    (F + "{ keep(new long app::plain::*(nullptr)); }", ["long app::plain::*"]),
    (F + "{ keep(new (int*)(nullptr)); }", ["int*"]),
    (F + "{ auto* c = new std::conditional_t<(sizeof(int) > 2), hidden, int>; keep(c); }",
     ["hidden"]),
    ("template <class T> struct of@ { using type = T; }; template <class T> "
     "typename of@<T>::type* g@() { using made = typename of@<T>::type; return new made[3]; } " +
     F + "{ keep(g@<long>()); }", ["long"]),
    (F + "{ std::filesystem::path p = \"/usr\"; p = p / \"share\"; hold(std::move(p)); }",
     ["std::filesystem::path components"]),
    (F + "{ keep(new (unsigned char)(7)); }", ["unsigned char"]),
    (F + "{ keep(new policy<mode::fast, long>()); }", ["policy<mode::fast, long>"]),
    (F + "{ keep(new app::box<policy<mode::safe, char>>[3]); }",
     ["app::box<policy<mode::safe, char>>"]),
    ("struct node@ { long n[3]; }; " + F + "{ node@ one{}; keep(&one); "
     "void* raw = ::operator new(3 * sizeof(node@)); keep(raw); }", ["node@"]),
    ("struct filled@ { long* p = new long[3]; filled@() = default; filled@(int) : p(nullptr) {} };"
     " " + F + "{ static filled@ one; keep(&one); }", ["long"]),
    (F + "{ static std::pmr::vector<app::plain> v(&counted); v.resize(3); keep(&v); }",
     ["app::plain"]),
    (F + "{ static std::pmr::map<int, long> m(&counted); m[3] = 4; keep(&m); }",
     ["std::pair<const int, long>"]),
    ("template <class T> void g@(T one) { auto made = [large = std::array<T, 9>{}, one] { return "
     "large[0] + one; }; hold(std::function<T()>(made)); } " + F + "{ g@(3L); }",
     ["g@<long>::{lambda} | {lambda}"]),
    (F + "{ auto outer = [](long n) { auto inner = [n, large = std::array<long, 9>{}] { return "
     "large[0] + n; }; return std::function<long()>(inner); }; hold(outer(3)); }",
     ["f@::{lambda}::{lambda} | {lambda}"]),
    (F + "{ keep(new (app::plain)()); }", ["app::plain"]),
    (F + "{ keep(new (std::pair<int, char>)(1, 'c')); }", ["std::pair<int, char>"]),
    (F + "{ keep(new four); }", ["four"]),
    (F + "{ keep(new callback[3]); }", ["callback"]),
    (F + "{ keep(MAKE_ROW(int, 3)); }", ["int"]),
    (F + "{ keep(MAKE_ROW(app::plain, 3)); }", ["app::plain"]),
    ("struct table@ { app::plain* rows; }; " + F + "{ table@ t{}; auto* p = ROWS_OF(&t, 3); "
     "keep(p); }", ["app::plain"]),
    (F + "{ keep(MAKE_NEW(app::plain){}); }", ["app::plain"]),
    (F + "{ KEEP_NEW(app::plain); }", ["app::plain"]),
    (F + "{ KEEP_NEW(std::pair<int, char>(1, 'c')); }", ["std::pair<int, char>"]),
    # `auto` and decltype of an expression
    (F + "{ static int one = 1; keep(new auto(&one)); }", ["int*"]),
    (F + "{ static const app::plain one{}; keep(new auto(&one)); }", ["const app::plain*"]),
    (F + "{ static app::plain one; app::plain& same = one; keep(new auto(&same)); }",
     ["app::plain*"]),
    (F + "{ static app::plain one; app::plain* p = &one; keep(new auto(*p)); }", ["app::plain"]),
    (F + "{ static hidden one; const hidden* p = &one; keep(new auto(*p)); }", ["hidden"]),
    (F + "{ static hidden one; keep(new auto{one}); }", ["hidden"]),
    (F + "{ static hidden one; keep(new auto(one.d)); }", ["long"]),
    (F + "{ static app::box<app::plain> one; keep(new auto(one.value)); }", ["app::plain"]),
    (F + "{ static app::box<app::plain> one; auto& same = one; keep(new auto(same.value.c)); }",
     ["long"]),
    (F + "{ static app::box<short> one; auto* p = &one; keep(new auto(p->value)); }", ["short"]),
    (F + "{ static app::box<short> one; keep(new decltype(one.value)(3)); }", ["short"]),
    (F + "{ static app::box<short> one; keep(new std::vector<decltype(one.value)>); }",
     ["std::vector<short>"]),
    ("struct self@ { long n; self@* copy() const { return new auto(*this); } }; " + F +
     "{ static self@ one; keep(one.copy()); }", ["self@"]),
    (F + "{ static app::plain one; keep(new std::remove_reference_t<decltype(one)>); }",
     ["app::plain"]),
    (F + "{ static app::plain one; app::plain* p = &one; "
     "keep(new std::remove_reference_t<decltype(*p)>); }", ["app::plain"]),
    (F + "{ static app::plain* p; keep(new std::remove_pointer_t<decltype(p)>); }",
     ["app::plain"]),
    (F + "{ auto copy = [](const auto* u) { return new auto(*u); }; static hidden one; "
     "keep(copy(&one)); }", ["hidden"]),
    # The compiler deduces the arguments of a template.
    (F + "{ keep(new std::pair(1, 2.0)); }", ["std::pair<int, double>"]),
    (F + "{ static hidden one; keep(new std::pair{one, 'c'}); }", ["std::pair<hidden, char>"]),
    (F + "{ static hidden one; keep(new std::tuple(&one, one.d, \"text\")); }",
     ["std::tuple<hidden*, long, const char*>"]),
    (F + "{ static const app::plain one; const auto& same = one; keep(new std::optional(same)); }",
     ["std::optional<app::plain>"]),
    ("template <class U> void pair@(U v) { keep(new std::pair(v, 3)); } " + F + "{ pair@('c'); }",
     ["std::pair<char, int>"]),
    # Several classes of one template are as large as the block: the constructor shows which it is.
    (F + "{ keep(new crate(3)); }", ["crate<int>"]),
    (F + "{ keep(new crate('c')); }", ["crate<char>"]),
    (F + "{ void* p = new crate{3.5}; keep(p); }", ["crate<double>"]),
    (F + "{ static long one; keep(new crate(&one)); }", ["crate<long*>"]),
    ("template <class U> auto crate@(U v) { return new crate(v); } " + F +
     "{ keep(crate@('c')); keep(crate@(2u)); }", ["crate<char>", "crate<unsigned int>"]),
    (F + "{ auto make = [](auto v) { return new crate(v); }; keep(make(2.5f)); }",
     ["crate<float>"]),
    ("template <class U> auto store@(U v) { return new typename stored<U>::type(v); } " + F +
     "{ keep(store@(3L)); }", ["app::holder<long>"]),
    # A function that another instantiation of itself has inlined, by way of mid@: both have calls
    # at the same place.
    ("template <class U> void into@(U v); inline void mid@(); template <class U> "
     "__attribute__((always_inline)) inline void into@(U v) { keep(new crate(v)); "
     "if constexpr (sizeof(U) > 1) mid@(); } __attribute__((always_inline)) inline void mid@() { "
     "into@('c'); } " + F + "{ into@(3); }", ["crate<int>", "crate<char>"]),
    # What a function returns
    (F + "{ keep(new auto(some_plain())); }", ["app::plain"]),
    (F + "{ keep(new auto(some_hidden(3))); }", ["hidden"]),
    (F + "{ static source one; keep(new auto(one.copy())); }", ["app::plain"]),
    (F + "{ static source one; auto* p = &one; keep(new auto(p->get())); }", ["app::plain"]),
    (F + "{ keep(new auto(static_cast<short>(3))); }", ["short"]),
    # One of the types of a pack
    ("template <class... U> void each@() { (keep(new U), ...); } " + F +
     "{ each@<app::plain, char, hidden>(); }", ["app::plain", "char", "hidden"]),
    ("MAKER(app::plain, m@) " + F + "{ keep(make_m@()); }", ["app::plain"]),
    # The compiler has deduced the type of a variable.
    ("inline app::plain plain@() { return {}; } " + F +
     "{ auto* p = new auto(plain@()); keep(p); }", ["app::plain"]),
    (F + "{ auto p = new std::tuple{'c', 2.0}; keep(p); }", ["std::tuple<char, double>"]),
    (F + "{ auto* const p = new auto(3L + 4); keep(p); }", ["long"]),
    (F + "{ static const auto p = new app::holder{'c'}; keep(p); }", ["app::holder<char>"]),
    (F + "{ keep(MAKE_ROW(float, 3)); }", ["float"]),
    # Several members with a `new` of their own: the size shows which it is.
    ("struct desk@ { app::plain* one = new app::plain; std::string* two = new std::string(\"x\"); "
     "std::map<int, char>* three = new std::map<int, char>; }; " + F +
     "{ static desk@ one; keep(&one); }", ["app::plain", "std::string", "std::map<int, char>"]),
    # The `new` of a constructor's list, and a `return` in the next function
    ("struct disk@ { app::plain* p; hidden* q = nullptr; disk@() : p(new app::plain) {} "
     "__attribute__((noinline)) static disk@* make() { return new disk@(); } "
     "__attribute__((noinline)) static long* other() { return new long(3); } }; " + F +
     "{ keep(disk@::make()); keep(disk@::other()); }", ["app::plain", "disk@", "long"]),
    # The class of a specialisation
    ("template <class U> struct plan@; template <> struct plan@<int> { struct step { int n[4]; }; "
     "static step* make() { return new step{}; } }; template <> struct plan@<char> { struct step { "
     "long n[4]; }; static step* make() { return new step(); } }; " + F +
     "{ keep(plan@<int>::make()); keep(plan@<char>::make()); }",
     ["plan@<int>::step", "plan@<char>::step"]),
    # Packs: with a mark before the dots, and before another parameter
    ("template <class... U> struct view@ { std::tuple<U*...>* make() { return "
     "new std::tuple<U*...>[2]; } }; " + F + "{ static view@<app::plain, char> one; "
     "keep(one.make()); }", ["std::tuple<app::plain*, char*>"]),
    ("template <class... U, class G> void each@(G give) { (give(new U()), ...); } " + F +
     "{ each@<app::plain, char>([](auto* p) { keep(p); }); }", ["app::plain", "char"]),
    ("template <class... U, class G> G* last@(G give) { return new G(give); } " + F +
     "{ keep(last@<app::plain, char>(hidden{})); }", ["hidden"]),
]

# Copies by functions that the compiler made, or was told to make.
RARE_PRELUDE += r"""
struct person { std::string name; std::vector<int> marks; };
struct ruled {
    std::string name;
    ruled() = default;
    ruled(const ruled&) = default;
    ruled& operator=(const ruled&) = default;
};
namespace { struct unseen { std::string name; }; }
template <class T> struct wrapped { T value; };
struct queue_owner { std::deque<long> jobs; };
struct inheriting : std::vector<long> {
    using vector::vector;
};
std::string long_text() { return std::string(100, 'x'); }
person some_person{long_text(), {1, 2, 3}};
ruled some_ruled;
unseen some_unseen{long_text()};
wrapped<person> some_wrapped{some_person};
auto some_closure = [text = long_text()] { return text.size(); };
int named = (some_ruled.name = long_text(), 0);
"""

COPIES = [
    (F + "{ keep(new inheriting(30)); keep(new inheriting{1, 2}); }", ["inheriting", "long"]),
    (F + "{ keep(new person(some_person)); }", ["person", "char", "int"]),
    (F + "{ static person one; keep(&(one = some_person)); }", ["char", "int"]),
    (F + "{ keep(new std::vector<person>(3, some_person)); }",
     ["std::vector<person>", "person", "char", "int"]),
    (F + "{ static std::optional<person> one; keep(&(one = some_person)); }", ["char", "int"]),
    (F + "{ keep(new ruled(some_ruled)); }", ["ruled", "char"]),
    (F + "{ static ruled one; keep(&(one = some_ruled)); }", ["char"]),
    (F + "{ keep(new unseen(some_unseen)); }", ["unseen", "char"]),
    (F + "{ static unseen one; keep(&(one = some_unseen)); }", ["char"]),
    (F + "{ keep(new wrapped<person>(some_wrapped)); }", ["wrapped<person>", "char", "int"]),
    (F + "{ keep(new std::function<std::size_t()>(some_closure)); }",
     ["std::function<std::size_t()>", "some_closure::{lambda} | {lambda}", "char"]),
    (F + "{ keep(new queue_owner); }", ["queue_owner", "long", "long*"]),
]


def numbered(lines):
    return [(source.replace("@", str(number)), [each.replace("@", str(number)) for each in types])
            for number, (source, types) in enumerate(lines)]


def every_line():
    lines = []
    for source, types in SHAPES:
        for element in ELEMENTS:
            lines.append((source.replace("$T", element),
                          [each.replace("$T", element) for each in types]))
    return lines + SINGLE


def corpus():
    """[(line of source, [types of its rows])]"""
    return numbered(every_line())


def part_of_corpus(which, parts):
    """One of so many parts of the corpus, in which each shape has other elements than in the next
    one."""
    return numbered([line for number, line in enumerate(every_line())
                     if (number + number // len(ELEMENTS)) % parts == which])


def coroutines():
    return numbered(COROUTINES)


def rare():
    return numbered(RARE + COPIES)


def source_text(expressions, more=""):
    """The program, and the number of the line of the first expression."""
    text = PRELUDE.lstrip("\n") + more + "\n"
    first = text.count("\n") + 1
    text += "".join(source + "\n" for source, _ in expressions)
    text += "\nint main() {\n"
    text += '    const allocscope::scope window{"corpus"};\n'
    text += "".join(f"    f{number}();\n" for number in range(len(expressions)))
    text += """    for (const auto& row : window.stats()) {
        std::printf("%llu\\t%s\\t%d\\t%s\\t%s\\n", static_cast<unsigned long long>(row.objects),
                    row.file, row.line, row.type, row.type_source);
    }
    std::fflush(stdout);
    std::_Exit(0);
}
"""
    return text, first

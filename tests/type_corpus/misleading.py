"""misleading.py COMPILER FLAGS... -- OBJECTS...

Lines whose types are easily mistaken: variables that hide others, containers in containers, classes
that inherit what allocates. No row may have a type that is not written beside its line; `?` may
stand anywhere, but not too often. With -g, and with -g1, where the source has to tell more.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

PRELUDE = r"""
#include <allocscope/allocscope.hpp>
#include <vector>
#include <map>
#include <set>
#include <list>
#include <deque>
#include <queue>
#include <stack>
#include <forward_list>
#include <unordered_map>
#include <unordered_set>
#include <memory>
#include <string>
#include <any>
#include <functional>
#include <utility>
#include <tuple>
#include <optional>
#include <cstdio>
#include <cstdlib>
void* volatile sink;
template <class T> __attribute__((always_inline)) inline void keep(T* object) {
    sink = (void*)object;
    asm volatile("" : : "r"(object) : "memory");
}
template <class T> __attribute__((always_inline)) inline void hold(T&& value) {
    using kept = std::decay_t<T>;
    alignas(kept) static unsigned char storage[sizeof(kept)];
    keep(::new (static_cast<void*>(storage)) kept(std::move(value)));
}
namespace { struct hid { long a[5]; int b = 1; }; struct hid2 { long a[5]; int b = 2; }; }
struct pl { long a[3]; };
struct pl2 { long a[3]; };
struct withv { std::vector<short> v; withv() : v(7) {} };
struct baseb { std::vector<long> v; };
template <class T> struct mk { static T* make() { return new T(); } };
template <class T> struct mkp : mk<T*> {};
template <class T> struct mk2 {
    static T* make(int) { return new T(); }
    static T* both() { return make(1); }
};
std::vector<char> v;
#define VEC std::vector<int>
#define NEWX(T) new T
#define ROWS_OF(v) ::operator new(4 * sizeof(*(v)->rows))
#define NEWY(T) new T()
#define NEWV(value) new auto(value)
#define CLASS(T) struct T { long n[3]; explicit T(long first); }; T::T(long first) : n{first} {}
"""

# A line, and the types that its rows may have. `F` begins the function of the line, `@` is its
# number.
LINES = [
    ("F { std::vector<hid> v; { std::vector<int> v; v.resize(3); "
     "hold(std::move(v)); } }", ["int"]),
    ("F { std::vector<int> v; { std::vector<hid> v; v.resize(3); "
     "hold(std::move(v)); } }", ["hid"]),
    ("F { std::vector<hid> v; auto g = [](std::vector<int>& v) { v.resize(9); }; "
     "static std::vector<int> w; g(w); keep(&w); }", ["int"]),
    ("F { std::vector<hid> v; auto g = [](auto& v) { v.resize(9); }; static "
     "std::vector<int> w; g(w); keep(&w); }", ["int"]),
    ("F { std::vector<withv> v(1); hold(std::move(v)); }", ["short", "withv"]),
    ("F { std::map<int, std::vector<hid>> m; m[3].resize(4); hold(std::move(m)); }",
     ["hid", "std::pair<const int, std::vector<hid>>"]),
    ("F { std::map<int, withv> m; m[3]; hold(std::move(m)); }",
     ["short", "std::pair<const int, withv>"]),
    ("F { std::list<std::list<hid>> l(1); l.front().push_back(hid()); "
     "hold(std::move(l)); }", ["hid", "std::list<hid>"]),
    ("F { std::list<std::list<hid>> a(1); a.front().push_back(hid()); static "
     "std::list<std::list<hid>> l; l = a; keep(&l); }", ["hid", "std::list<hid>"]),
    ("F { std::vector<std::vector<hid>> a(1, std::vector<hid>(2)); static "
     "std::vector<std::vector<hid>> l; l.push_back(a[0]); keep(&l); "
     "hold(std::move(a)); }", ["hid", "std::vector<hid>"]),
    ("F { std::vector<std::vector<hid>> a(1, std::vector<hid>(2)); static "
     "std::vector<std::vector<hid>> l; l.insert(l.end(), 3, a[0]); keep(&l); "
     "hold(std::move(a)); }", ["hid", "std::vector<hid>"]),
    ("F { std::vector<std::list<hid>> a(1, std::list<hid>(2)); hold(std::move(a)); }",
     ["hid", "std::list<hid>"]),
    ("F { std::list<std::vector<hid>> a(1, std::vector<hid>(2)); "
     "hold(std::move(a)); }", ["hid", "std::vector<hid>"]),
    ("F { std::deque<std::vector<hid>> a(1, std::vector<hid>(2)); "
     "hold(std::move(a)); }", ["hid", "std::vector<hid>", "std::vector<hid>*"]),
    ("F { static std::stack<std::vector<hid>, std::vector<std::vector<hid>>> s; "
     "s.push(std::vector<hid>(3)); keep(&s); }", ["hid", "std::vector<hid>"]),
    ("F { static std::priority_queue<int, std::vector<int>, std::greater<int>> s; "
     "s.push(3); keep(&s); }", ["int"]),
    ("struct D@ : baseb { void go() { v.resize(20); } }; F { static D@ d; d.go(); "
     "keep(&d); }", ["long"]),
    ("struct E@ { std::vector<pl> v; void go(); }; inline void E@::go() { "
     "v.resize(20); } F { static E@ d; d.go(); keep(&d); }", ["pl"]),
    ("F { static baseb b; b.v.reserve(8); keep(&b); }", ["long"]),
    ("F { static baseb b; auto& v = b.v; v.reserve(8); keep(&b); }", ["long"]),
    ("F { static VEC v; v.reserve(8); keep(&v); }", ["int"]),
    ("F { using hid = int; static std::vector<hid> v; v.reserve(8); keep(&v); }", ["hid", "int"]),
    ("F { struct hid { char c[77]; }; static std::vector<hid> v; v.reserve(8); "
     "keep(&v); }", ["f@::hid", "hid"]),
    ("F { keep(mkp<hid>::make()); }", ["hid*"]),
    ("F { keep(mkp<pl>::make()); }", ["pl*"]),
    ("F { keep(mk<hid>::make()); keep(mk<hid2>::make()); }", ["hid", "hid2"]),
    ("F { keep(mk2<hid>::both()); }", ["hid"]),
    ("F { keep(mk2<mk2<hid>>::make(2)); }", ["mk2<hid>"]),
    ("F { keep(NEWX(hid)); keep(NEWY(hid2)); }", ["hid", "hid2"]),
    ("F { using hid = short; keep(NEWX(hid)); }", ["hid", "short"]),
    ("F { auto g = [](auto v) { auto h = [](auto w) { return new decltype(w)(w); }; "
     "keep(h(1)); return new decltype(v)(v); }; keep(g(hid())); }", ["hid", "int"]),
    ("F { auto g = [](auto v) { auto h = [v](auto) { return new decltype(v)(v); }; "
     "return h(1); }; keep(g(hid())); }", ["hid"]),
    ("F { auto g = [](auto v, int, auto w) { keep(new decltype(w)(w)); return new "
     "decltype(v)(v); }; keep(g(hid(), 1, 'c')); }", ["char", "hid"]),
    ("F { auto g = [](auto& v) { return new std::decay_t<decltype(v)>(v); }; hid x{}; "
     "keep(g(x)); }", ["hid", "std::decay_t<hid&>"]),
    ("F { int one = 1; { static hid one; keep(new decltype(one)); } keep(&one); }", ["hid"]),
    ("F { const hid* one = nullptr; keep(new decltype(one)); }", ["const hid*", "hid*"]),
    ("F { static unsigned long one; keep(new decltype(one)); keep(&one); }", ["unsigned long"]),
    ("F { static std::unordered_map<int, hid> m; m.emplace(1, hid()); m.insert({2, "
     "hid()}); keep(&m); }", ["hash buckets", "std::pair<const int, hid>"]),
    ("F { static std::unordered_set<hid*> m; m.insert(nullptr); keep(&m); }",
     ["hash buckets", "hid*"]),
    ("F { static std::unordered_map<std::string, std::vector<hid>> m; m[\"a string "
     "that is long enough to allocate\"].push_back(hid()); keep(&m); }",
     ["char", "hash buckets", "hid", "std::pair<const std::string, std::vector<hid>>"]),
    ("F { hold(std::make_shared<std::vector<hid>>(4)); }", ["hid", "std::vector<hid>"]),
    ("F { hold(std::make_unique<withv>()); }", ["short", "withv"]),
    ("F { hold(std::make_unique<std::vector<hid>>(4)); }", ["hid", "std::vector<hid>"]),
    ("F { static std::any a; a = hid(); keep(&a); }", ["hid"]),
    ("F { static std::any a; a.emplace<hid>(); keep(&a); }", ["hid"]),
    ("F { static std::any a; a.emplace<std::vector<hid>>(3); keep(&a); }",
     ["hid", "std::vector<hid>"]),
    ("F { hold(std::any(std::in_place_type<hid>)); }", ["hid"]),
    ("F { static std::function<void()> g; hid h{}; g = [h] { keep(&h); }; auto c = "
     "g; keep(&g); hold(std::move(c)); }", ["f@::{lambda}"]),
    ("F { std::tuple<std::vector<hid>, std::vector<int>> t(std::vector<hid>(3), "
     "std::vector<int>(4)); hold(std::move(t)); }", ["hid", "int"]),
    ("F { auto p = std::make_pair(std::vector<hid>(3), std::vector<int>(4)); auto q "
     "= p; hold(std::move(q)); hold(std::move(p)); }", ["hid", "int"]),
    ("F { std::vector<int> a(3); std::vector<hid> b(4); hold(std::move(a)); "
     "hold(std::move(b)); }", ["hid", "int"]),
    ("F { static std::vector<int> a; static std::vector<hid> b; a.push_back(1); "
     "b.push_back(hid()); keep(&a); keep(&b); }", ["hid", "int"]),
    ("F { static std::vector<hid*> a; static std::vector<hid2*> b; "
     "a.push_back(nullptr); b.push_back(nullptr); keep(&a); keep(&b); }", ["hid*", "hid2*"]),
    ("F { static std::vector<std::unique_ptr<hid>> a; "
     "a.push_back(std::make_unique<hid>()); a.emplace_back(new hid); keep(&a); }",
     ["hid", "std::unique_ptr<hid>"]),
    ("F { std::vector<int> w{1,2,3}; static std::vector<hid> v(w.size()); keep(&v); "
     "hold(std::move(w)); }", ["hid", "int"]),
    ("F { std::vector<int> w{1,2,3}; static std::vector<std::vector<int>> v{w, w}; "
     "keep(&v); hold(std::move(w)); }", ["int", "std::vector<int>"]),
    ("F { std::vector<hid> w(3); static std::vector<hid> v(w); keep(&v); "
     "hold(std::move(w)); }", ["hid"]),
    ("F { std::vector<std::string> w(3, std::string(99, 'c')); static "
     "std::vector<std::string> v(w.begin(), w.end()); keep(&v); hold(std::move(w)); "
     "}", ["char", "std::string"]),
    ("F { static std::map<int, std::map<int, hid>> m; m[1][2]; keep(&m); }",
     ["std::pair<const int, hid>", "std::pair<const int, std::map<int, hid>>"]),
    ("F { static std::map<int, std::map<int, hid>> m; m[1]; auto n = m; "
     "hold(std::move(n)); keep(&m); }",
     ["std::pair<const int, hid>", "std::pair<const int, std::map<int, hid>>"]),
    ("F { std::map<int, std::vector<hid>> m; m.emplace(1, std::vector<hid>(2)); "
     "auto n = m; hold(std::move(n)); hold(std::move(m)); }",
     ["hid", "std::pair<const int, std::vector<hid>>"]),
    ("F { static std::deque<hid> d; for (int i = 0; i < 99; ++i) "
     "d.push_back(hid()); keep(&d); }", ["hid", "hid*"]),
    ("F { static std::list<hid> d; static std::list<hid2> v; v.push_back(hid2()); "
     "for (auto& v : d) keep(&v); d.push_front(hid()); keep(&d); }", ["hid", "hid2"]),
    ("F { static std::forward_list<std::vector<hid>> d; "
     "d.push_front(std::vector<hid>(3)); keep(&d); }", ["hid", "std::vector<hid>"]),
    ("F { static std::optional<std::vector<hid>> d; d.emplace(4); d->reserve(30); "
     "keep(&d); }", ["hid"]),
    ("F { static std::vector<hid> d[2]; d[1].reserve(4); keep(&d); }", ["hid"]),
    ("F { static std::vector<std::vector<hid>> d(2); d[1].reserve(4); keep(&d); }",
     ["hid", "std::vector<hid>"]),
    ("F { static std::map<int, int> d; static std::vector<hid> e; d[1], "
     "e.reserve(4); keep(&d); keep(&e); }", ["hid", "std::pair<const int, int>"]),
    ("F { static std::vector<bool> b(700); static std::vector<bool> c; "
     "c.push_back(true); keep(&b); keep(&c); }", ["unsigned long"]),
    ("F { std::vector<hid> a(2), b(3); hold(std::move(a)); hold(std::move(b)); }", ["hid"]),
    ("F { std::vector<hid> a(2); std::vector<int> b(3); auto c = sink ? "
     "std::vector<int>(b) : std::vector<int>(4); hold(std::move(a)); "
     "hold(std::move(b)); hold(std::move(c)); }", ["hid", "int"]),
    ("template <class K, class V> void g@(std::map<K, V>& m) { m[K()]; } F { static "
     "std::map<int, hid> m; g@(m); keep(&m); }", ["std::pair<const int, hid>"]),
    ("template <class K> struct h@ { std::vector<K> v; void add() { v.reserve(8); } "
     "}; F { static h@<hid> m; m.add(); keep(&m); }", ["hid"]),
    ("template <class K> struct i@ { template <class U> static void add() { static "
     "std::vector<std::pair<K, U>> v; v.reserve(8); keep(&v); } }; F { "
     "i@<hid>::template add<int>(); i@<int>::add<hid>(); }",
     ["std::pair<hid, int>", "std::pair<int, hid>"]),
    ("F { static std::map<int, std::map<long, hid>> m; m[1][2]; keep(&m); }",
     ["std::pair<const int, std::map<long, hid>>", "std::pair<const long, hid>"]),
    ("struct j@ { std::map<short, pl> m; }; F { static std::map<int, j@> m; m[1].m[2]; keep(&m); }",
     ["std::pair<const int, j@>", "std::pair<const short, pl>"]),
    # Which member, and whose?
    ("struct in@ { double a; }; struct hold@ { long a; in@* p; in@* operator->() { return p; } }; F"
     " { in@ in{1}; hold@ h{1, &in}; keep(new auto(h->a)); }", ["double"]),
    ("struct in@ { double a; }; struct deep@ : in@ { long c; }; F { deep@ a{}; "
     "keep(new auto(a.a)); }", ["double"]),
    ("struct at@ { hid* p; hid& operator*() { return *p; } }; F { hid h; at@ a{&h}; "
     "keep(new auto(*a)); }", ["hid"]),
    ("F { static hid h; static hid* a[3] = {&h}; keep(new auto(*a)); }", ["hid*"]),
    ("F { static hid h; const hid& a = h; keep(new auto(&a)); }", ["const hid*"]),
    ("F { static hid* h; hid** a = &h; keep(new auto(*a)); }", ["hid*"]),
    ("F { static long* p; keep(p); { auto* p = new auto(hid()); keep(p); } }", ["hid"]),
    ("F { auto* p = new auto(hid2()), *q = new hid2; keep(p); keep(q); }", ["hid2"]),
    # Which arguments does the compiler deduce?
    ("F { static std::optional<hid> o; keep(new std::optional(o)); }", ["std::optional<hid>"]),
    ("F { static std::pair<hid, int> p; keep(new std::tuple(p)); }", ["std::tuple<hid, int>"]),
    ("F { static hid a[2]; keep(new std::pair(a, 1)); }", ["std::pair<hid*, int>"]),
    # Which of the constructors and functions that are called there makes the object?
    ("struct text@ { std::string value; }; template <class T> struct pick@ { using type = text@; };"
     " template <class T> void g@() { keep(new typename pick@<T>::type{\"x\"}); } F { g@<int>(); }",
     ["text@", "pick@<int>::type"]),
    ("struct text@ { std::string value; text@(std::string v) : value(std::move(v)) {} }; "
     "template <class T> struct pick@ { using type = text@; }; template <class T> void g@(T v) { "
     "keep(new typename pick@<T>::type(v)); } F { g@(\"x\"); }", ["text@"]),
    ("struct a@ { long x[3]; }; struct b@ { long y[3]; }; __attribute__((noinline)) a@ one@(b@) { "
     "return {}; } __attribute__((noinline)) b@ two@() { return {}; } F { "
     "keep(new auto(one@(two@()))); }", ["a@"]),
    ("struct a@ { long x[3]; }; struct b@ { long y[3]; }; __attribute__((noinline)) a@ same@(b@) { "
     "return {}; } __attribute__((noinline)) b@ same@(int) { return {}; } F { "
     "keep(new auto(same@(same@(1)))); }", ["a@"]),
    ("struct a@ { long x[3]; a@() : x{1} {} }; struct b@ : a@ { using a@::a@; }; template <class "
     "T> struct pick@ { using type = b@; }; template <class T> void g@() { "
     "keep(new typename pick@<T>::type()); } F { g@<int>(); }", ["b@"]),
    ("struct a@ { long x[3]; a@(int v) : x{v} {} }; struct b@ : a@ { using a@::a@; }; template "
     "<class T> struct pick@ { using type = b@; }; template <class T> void g@() { "
     "keep(new typename pick@<T>::type(4)); } F { g@<int>(); }", ["b@"]),
    ("struct a@ { std::vector<int> v; }; template <class T> struct pick@ { using type = a@; }; "
     "template <class T> void g@(const std::vector<int>& v) { "
     "keep(new typename pick@<T>::type{v}); } F { static std::vector<int> v; g@<int>(v); }",
     ["a@"]),
    ("struct a@ { long x[2]; a@() : x{1} {} }; struct b@ { long y[2]; b@(long v, const a@& a = "
     "a@()) : y{v, a.x[0]} {} }; template <class T> struct pick@ { using type = b@; }; "
     "template <class T> void g@() { keep(new typename pick@<T>::type(3)); } F { g@<int>(); }",
     ["b@"]),
    ("template <class... U> void each@() { (keep(new U), ...); } F { each@<pl, pl2>(); }", []),
    # Functions and variables that are named as classes of other scopes
    ("struct tool@ { long v; }; namespace shop@ { __attribute__((noinline)) pl tool@(int n) { "
     "return {{n}}; } } F { tool@ t; keep(&t); keep(new auto(shop@::tool@(3))); }", ["pl"]),
    ("namespace o@ { struct tube@ { long v; }; } F { o@::tube@ t; keep(&t); "
     "auto tube@ = [](int n) { return pl{{n}}; }; keep(new auto(tube@(3))); }", ["pl"]),
    ("namespace shop@ { __attribute__((noinline)) pl thread(int n) { return {{n}}; } } "
     "using shop@::thread; F { keep(new auto(thread(3))); }", ["pl"]),
    ("namespace shop@ { __attribute__((noinline)) pl pair(int n) { return {{n}}; } } "
     "F { using shop@::pair; keep(new auto(pair(3))); }", ["pl"]),
    ("namespace shop@ { struct tool@ { long v; explicit tool@(long n) : v{n} {} }; } "
     "using shop@::tool@; F { keep(new auto(tool@(4))); }", ["shop@::tool@"]),
    ("struct tool@ { long v; }; namespace shop@ { __attribute__((noinline)) pl tool@(int n) { "
     "return {{n}}; } } F { tool@ t; keep(&t); keep(NEWV(shop@::tool@(3))); }", ["pl"]),
    ("namespace o@ { struct tube@ { long v; }; } F { o@::tube@ t; keep(&t); "
     "auto tube@ = [](int n) { return pl{{n}}; }; keep(NEWV(tube@(3))); }", ["pl"]),
    ("__attribute__((noinline)) pl& only@() { static pl p; return p; } "
     "F { keep(NEWV(only@())); }", ["pl"]),
    ("namespace shop@ { struct tool@ { long v; explicit tool@(long n) : v{n} {} }; } "
     "F { keep(NEWV(shop@::tool@(3))); }", ["shop@::tool@"]),
    ("F { keep(NEWV(static_cast<short>(4))); }", ["short"]),
    ("F { keep(NEWV(std::vector<hid>(4))); }", ["std::vector<hid>", "hid"]),
    ("template <class T> void g@() { keep(NEWV(T(4))); } F { g@<short>(); }", ["short"]),
    # A member that a macro reads
    ("struct a@ { pl* rows; }; struct b@ { pl2* rows; a@ a; a@* operator->() { return &a; } }; "
     "F { static b@ v; auto* p = ROWS_OF(v); keep(p); }", ["pl"]),
    ("struct a@ { pl* rows; }; F { static a@ v; { pl2* rows = nullptr; keep(rows); } "
     "auto* p = ROWS_OF(&v); keep(p); }", ["pl"]),
    # A `new` in a default argument, of the constructor or of that of a base
    ("struct p@ { long a = 0, b = 0; }; struct k@ { p@* p; long n = 0; k@(p@* q = new p@) : p(q) "
     "{ sink = p; } }; F { sink = new k@(); }", ["p@", "k@"]),
    ("struct p@ { long a = 0, b = 0, c = 0, d = 0, e = 0; }; struct k@ { p@* p; long n = 0; "
     "k@(p@* q = new p@) : p(q) { sink = p; } }; F { sink = new k@[2]; }", []),
    ("struct k@ { long* p; long n; k@(int i, long* q = new long[2]) : p(q), n(i) { sink = p; } }; "
     "F { sink = new k@(3); }", ["k@"]),
    ("struct p@ { int a = 0, b = 0; }; struct q@ { int c = 0, d = 0; }; struct k@ { p@* a; "
     "k@(p@* q = new p@) : a(q) {} }; struct l@ : k@ { q@* b = new q@; }; F { auto* v = new l@; "
     "sink = v; sink = v->a; sink = v->b; }", ["l@", "q@"]),
    ("struct n@ { int a[4]; }; namespace q@ { struct n@ { int b[4]; }; } using namespace q@; "
     "template <class n@> void m@() { sink = new n@; } F { m@<::n@>(); }", ["n@"]),
    # Names that a class inherits, and namesakes elsewhere
    ("struct n@ { int a[4]; }; struct p@ { int b[4]; }; struct k@ { using n@ = p@; void go() { "
     "sink = new n@; } }; F { k@().go(); }", ["p@", "k@::n@"]),
    ("struct n@ { int a[4]; }; struct p@ { int b[4]; }; struct k@ { using n@ = p@; void go(); }; "
     "void k@::go() { sink = new n@; } F { k@().go(); }", ["p@", "k@::n@"]),
    ("struct p@ { int b[4]; }; namespace q@ { struct n@ { int a[4]; }; void see(n@*) {} namespace "
     "r { using n@ = ::p@; void go() { sink = new n@; } } } F { q@::r::go(); q@::see(nullptr); }",
     ["p@", "q@::r::n@"]),
    ("struct n@ { int a[4]; }; struct k@ { struct n@ { long b[2]; }; }; struct l@ : k@ { void go() "
     "{ sink = new n@; } }; F { l@().go(); n@* p = nullptr; sink = p; }", ["k@::n@"]),
    ("struct n@ { int a[4]; }; struct p@ { int b[4]; }; struct k@ { using n@ = p@; }; struct l@ : "
     "k@ { struct m { void go() { sink = new n@; } }; }; F { l@::m().go(); n@* p = nullptr; sink = "
     "p; }", ["p@", "k@::n@"]),
    ("struct n@ { int a[4]; }; struct k@ { struct n@ { long b[2]; }; }; struct j@ : k@ {}; class "
     "l@ : public j@ { public: void go(); }; void l@::go() { sink = new n@; } F { l@().go(); n@* p "
     "= nullptr; sink = p; }", ["k@::n@"]),
    ("namespace n@ { struct wid { long v; }; struct base { struct wid { long w; }; }; "
     "struct der : base { wid* make() { return new wid; } }; } F { static n@::der d; n@::wid w; "
     "keep(&w); keep(d.make()); }", ["n@::base::wid", "wid"]),
    ("namespace n@ { struct wid { long v; }; struct base { using wid = pl; }; "
     "struct mid : base {}; struct der : public mid { wid* make() { return new wid; } }; } "
     "F { static n@::der d; n@::wid w; keep(&w); keep(d.make()); }",
     ["pl", "n@::base::wid", "wid"]),
    ("namespace l@ { struct base { using wid = pl; }; } namespace n@ { struct wid { long v; }; "
     "using l@::base; struct der : base { wid* make() { return new wid; } }; } F { "
     "static n@::der d; n@::wid w; keep(&w); keep(d.make()); }", ["pl", "l@::base::wid", "wid"]),
    ("template <class T> struct ho@ { struct item { T w; }; }; template <class T> struct us@ : "
     "ho@<T> { auto* make() { return new typename us@::item; } }; F { static us@<long> h; "
     "keep(h.make()); }", ["ho@<long>::item"]),
    ("namespace m@ { template <class T> struct li { T* head; }; } namespace k@ { "
     "template <class T> using li = std::vector<T>; __attribute__((noinline)) void g() { "
     "keep(new li<pl>(3)); } } F { m@::li<int> l{}; keep(&l); k@::g(); }",
     ["pl", "std::vector<pl>", "li<pl>", "k@::li<pl>"]),
    # Whose arguments are they?
    ("struct d@ { template <class T> struct part { T v; }; }; template <class D> struct use@ { "
     "template <class T> void* as() { return new typename D::template part<T>(); } "
     "template <class T> operator std::pair<T, void*>() { "
     "return {T(), new typename D::template part<T>()}; } }; F { use@<d@> u; "
     "keep(u.template as<short>()); std::pair<int, void*> p = u; keep(p.second); }",
     ["d@::part<short>", "d@::part<int>"]),
    ("template <class T> struct wide@ { template <class U> U* get() { return new U(); } }; F { "
     "wide@<hid2> w; keep(w.template get<hid>()); keep(w.template get<pl>()); }", ["hid", "pl"]),
    ("template <class T> void* some@(T) { auto g = [](auto x) { keep(new decltype(x)(x)); "
     "return new T(); }; return g(3L); } F { keep(some@(pl{})); }", ["pl", "long"]),
    ("template <class T> T* fresh@() { return new T(); } F { keep(fresh@<hid>()); "
     "keep(fresh@<pl>()); }", ["hid", "pl"]),
    # What is not said by the size or by the name alone
    ("struct a@ { long v; }; struct b@ { long v[3]; }; template <class... T> void all@(int n) { "
     "int i = 0; ((i++ == 0 ? keep(new T[n]) : void()), ...); } F { all@<a@, b@>(3); }", ["a@"]),
    ("using pointer@ = pl*; F { keep(new std::remove_pointer_t<pointer@>); }", ["pl"]),
    ("F { static pl w; keep(new std::reference_wrapper(w)); }", ["std::reference_wrapper<pl>"]),
    ("F { pl x{}; keep(&x); for (float x : {1.f}) keep(new auto(x)); }", ["float"]),
    ("static char wide@ = 'x'; F { keep(new auto(wide@)); }", ["char"]),
    ("static double n@ = 1; struct b@ { long n@ = 2; void* f() { return new auto(n@); } }; "
     "F { b@ x; keep(x.f()); }", ["long"]),
    ("static double n@ = 1; struct b@ { long n@ = 2; }; struct d@ : b@ { "
     "void* f() { return new auto(n@); } }; F { d@ x; keep(x.f()); }", ["long"]),
    ("struct lake@ { long a; }; namespace n@ { struct lake@ { long a; }; } "
     "namespace n@ { void* g() { return new lake@; } } F { keep(n@::g()); }", ["n@::lake@"]),
    ("struct lake@ { long a; }; namespace n@ { struct lake@ { long a; }; } "
     "namespace n@ { void* g() { return new ::lake@; } } F { keep(n@::g()); }", ["lake@"]),
    ("struct lake@ { long a; }; static lake@ first@; namespace n@ { struct lake@ { long a; }; } "
     "namespace n@ { void* g() { return new lake@; } } F { keep(&first@); keep(n@::g()); }",
     ["n@::lake@"]),
    ("F { const char* s = \"abc\"; keep(new auto(s)); }", ["const char*"]),
    # g++ -O2 makes one call of two.
    ("F { void* p; if (sink) p = new pl; else p = new pl2; keep(p); }", ["pl"]),
    ("F { keep(sink ? static_cast<void*>(new pl) : static_cast<void*>(new pl2)); }", ["pl"]),
    ("F { void* p; switch (reinterpret_cast<long>(sink)) { case 0: p = new pl2; break; "
     "default: p = new pl; } keep(p); }", ["pl"]),
    ("F { struct head { long n[2]; }; keep(::operator new(sizeof(head) + 4 * sizeof(pl))); }", []),
    ("F { pl* hid = nullptr; keep(::operator new(2 * sizeof(hid))); keep(hid); }", []),
    ("F { auto* hid = (pl*)((char*)::operator new(sizeof(pl) + 8) + 8); keep(hid); }", []),
    ("F { auto* hid = (pl*)(char*)::operator new(24); keep(hid); }", []),
    ("F { pl hid[3]; keep(&hid); keep(::operator new(sizeof(hid))); }", []),
    ("struct k@ { std::vector<char> hid; void go() { keep(::operator new(5 * sizeof(hid))); } }; F "
     "{ static k@ k; k.go(); }", []),
    # A class that the file does not define, and a function with the name of its namespace
    ("namespace q@ { CLASS(made@) } void* g@() { return new auto(q@::made@(3)); } F { "
     "keep(g@()); }", ["q@::made@"]),
    ("namespace q@ { pl q@(int) { return pl(); } } void* g@() { return new auto(q@::q@(3)); } F { "
     "keep(g@()); }", ["pl"]),
    # Members whose classes are equally large
    ("struct twins@ { pl* a = new pl; pl2* b = new pl2; }; F { static twins@ t; keep(&t); }",
     ["pl", "pl2"]),
    ("struct row@ { int* a = new int[2]; long* b = new long; }; F { static row@ t; keep(&t); }",
     ["int", "long"]),
    # A template does not look into a base class that depends on its arguments.
    ("namespace n@ { struct item { long v; }; template <class T> struct holder { struct item { "
     "T w; }; }; template <class T> struct user : holder<T> { n@::item* make() { "
     "return new item; } }; } F { static n@::user<long> h; n@::holder<long>::item w; keep(&w); "
     "keep(h.make()); }",
     ["item", "n@::item"]),
    # What a specialisation calls `type` is no class of that name.
    ("template <class T> struct s@; template <> struct s@<int> { struct type { int n; }; }; "
     "template <> struct s@<char> { using type = pl; }; template <class T> void g@() { "
     "keep(new typename s@<T>::type); } F { s@<int>::type one{}; keep(&one); g@<char>(); }",
     ["pl"]),
    ("using q@ = pl; F { typedef struct { char c[2]; } q@, *qp@; qp@ p = new q@; keep(p); }",
     ["f@::q@"]),
    # What stands in the parentheses is a call, or a template with arguments of its own
    ("F { keep(new std::unique_ptr(std::make_unique<pl>())); }", ["std::unique_ptr<pl>", "pl"]),
    ("template <class T> struct c@ { long n = 0; c@(T) {} c@(T*) {} }; template <class T> "
     "struct d@ { T v; }; F { keep(new c@(d@<int>())); }", ["c@<d@<int>>"]),
    # Which constructor or guide is meant
    ("template <class T> struct c@ { long n; c@(T v) : n(v) {} }; c@(char) -> c@<int>; "
     "F { keep(new c@(char())); }", ["c@<int>"]),
    ("template <class T> struct c@ { long n; c@(T v) : n(v) {} c@(T* v) : n(*v) {} }; "
     "using char@ = int*; F { keep(new c@(3 > 2 ? char() : char(1))); }", ["c@<char>"]),
    ("template <class T> struct c@ { long n = 0; c@(T) {} }; using own@ = c@<char>; "
     "F { own@ one('c'); keep(&one); keep(new c@(own@('c'))); }", ["c@<char>"]),
    ("template <class T> struct c@ { T v; c@(T w) : v(w) {} }; template <class T> struct d@ { "
     "T* v; d@(T w) : v(new T(w)) {} d@(c@<T> w) : v(new T(w.v)) {} }; using ci@ = c@<short>; "
     "F { keep(new d@(ci@(short()))); }", ["d@<short>", "short"]),
    ("namespace n@ { using string = pl; template <class T> struct c@ { T v; c@(T w) : v(w) {} }; "
     "void* m() { return new c@(string()); } } F { keep(n@::m()); }", ["c@<pl>", "n@::c@<pl>"]),
    # Two packs: the second argument belongs to the first one.
    ("template <class... A, class T, class... B> void p@(T v, std::tuple<A...>*, B...) { "
     "keep(new T(v)); } F { p@<int, char>(pl{}, (std::tuple<int, char>*)nullptr, 3L); }", ["pl"]),
    ("namespace n@ { struct wstring { int i; }; } F { using std::wstring; "
     "keep(new wstring(30, L'x')); keep(new n@::wstring); }",
     ["std::wstring", "wchar_t", "n@::wstring"]),
    ("namespace a@ { struct u@ { int i; }; } namespace b@ { struct u@ { char c[40]; }; } "
     "F { using b@::u@; keep(new u@); }", ["b@::u@"]),
    ("template <class T> struct a@ { struct in { T t; }; }; struct in { long l; }; "
     "template <class T> struct b@ : a@<T> { using typename a@<T>::in; "
     "auto* make() { return new in; } }; F { keep(b@<char>().make()); }", ["a@<char>::in"]),
    ("template <int N> struct a@ { char b[N]; template <int M> a@<N + M>* more() { "
     "return new a@<N + M>; } }; F { keep(a@<3>().more<4>()); }", ["a@<7>"]),
    ("template <class T> struct a@ { T b[2]; }; template <class T> struct b@ { auto* make() { "
     "return new a@<char[sizeof(T)]>; } }; F { keep(b@<long>().make()); }", ["a@<char[8]>"]),
    ("template <class T> auto* m@(T) { using U = std::decay_t<T>; "
     "return new std::vector<std::decay_t<U>>; } F { keep(m@(3)); }", ["std::vector<int>"]),
    ("struct c@ { int x; static void* operator new(std::size_t n) { "
     "return ::operator new(n * 8); } static void operator delete(void*) {} }; "
     "F { keep(new c@); }", []),
    ("struct it@ { long v; }; template <class T> struct a@ { struct it@ { T w; }; }; "
     "template <class T> struct b@ : a@<T> { auto* make() { return new typename b@::it@; } }; "
     "F { keep(b@<char>().make()); }", ["a@<char>::it@"]),
    ("F { auto l = [n = 3] { (void)n; }; keep(new auto(std::move(l))); }", ["f@::{lambda}"]),
    ("using al@ = std::vector<int>; struct c@ { al@ a; std::vector<char> b; }; "
     "F { static c@ one{{1, 2}, {}}; keep(new c@(one)); }", ["int", "c@"]),
    # The brackets in the head of a class are not those of a function.
    ("template <class T> struct c@; template <class R, class... A> struct c@<R(A...)> { "
     "template <class F> struct in@ { F f; }; struct flat@ { long n[3]; }; "
     "template <class F> void* make(F f) { keep(new flat@); return new in@<F>{f}; } }; "
     "F { keep(c@<int(char)>().make(3)); }", ["c@<int(char)>::in@<int>", "c@<int(char)>::flat@"]),
    ("template <class T> struct c@; template <class T> struct alignas(8) c@<T*> { struct in@ { "
     "T n[3]; }; void* make() { return new in@; } }; F { keep(c@<long*>().make()); }",
     ["c@<long*>::in@"]),
    ("F { struct in@ { long n[3]; }; auto make = [](bool n) -> std::vector<int> { "
     "struct in@ { long n[4]; }; keep(new in@); return {}; }; make(true); keep(new in@); }",
     ["f@::in@", "in@", "f@::{lambda}::in@"]),
    # Which of several classes with a name a scope around the place sees
    ("namespace n@ { inline namespace two { struct in@ { int i; }; } namespace one { struct in@ { "
     "char c[9]; }; } void* m() { return new in@; } } F { keep(n@::m()); static n@::one::in@ one; "
     "keep(&one); }", ["n@::in@", "n@::two::in@"]),
    ("namespace n@ { namespace two { struct in@ { int i; }; } using two::in@; struct h { "
     "in@* p = new in@{3}; }; } struct in@ { char c[9]; }; F { static n@::h one; keep(one.p); "
     "static in@ two; keep(&two); }", ["n@::two::in@"]),
    ("struct c@ { std::vector<int> a[2]; std::vector<char> b; }; "
     "F { static c@ one; one.a[1].push_back(1); keep(new c@(one)); }", ["int", "c@"]),
    # clang places the copy of an element at the container.
    ("struct k@ { std::vector<hid> v; k@(std::vector<hid> a) : v(std::move(a)) {} }; void* "
     "g@(std::vector<std::vector<hid>>& l) { auto* k = new k@(l[0]); keep(k); return new "
     "k@(l.front()); } F { std::vector<std::vector<hid>> l(1, std::vector<hid>(2)); "
     "keep(g@(l)); }", ["hid", "k@"]),
    ("struct c@ { std::map<int, std::vector<hid>> m; std::vector<char> v; }; F { static c@ c; "
     "c.m[3].resize(2); static std::map<int, c@> all; all[3].m[4]; keep(&c); keep(&all); }",
     ["hid", "std::pair<const int, std::vector<hid>>", "std::pair<const int, c@>"]),
    # A member of another object, or of a base class, may be of another instance.
    ("template <class T> struct b@ { T* p; void grow(int n) { p = new T[n]; } }; "
     "template <class T> struct c@ : b@<T*> { b@<short> other; void add(int n) { this->grow(n); "
     "other.grow(n); } }; F { static c@<hid> c; c.add(3); keep(&c); }", ["hid*", "short"]),
    ("template <class T> struct c@ { T* p; std::vector<T> v; c@(int n) : v(n) { grow(n); } "
     "void grow(int n) { p = new T[n]; } }; F { static c@<hid> c(3); keep(&c); }", ["hid"]),
]

MAIN = r"""
    for (const auto& row : window.stats()) {
        std::printf("%d\t%s\n", row.line, row.type);
    }
    std::fflush(stdout);
    std::_Exit(0);
}
"""


def program(lines):
    """Its text, and the number of the first line."""
    text = PRELUDE.lstrip("\n")
    first = text.count("\n") + 1
    text += "".join(source + "\n" for source, _ in lines)
    text += 'int main() {\n    const allocscope::scope window{"misleading"};\n'
    text += "".join(f"    f{number}();\n" for number in range(len(lines)))
    return text + MAIN.lstrip("\n"), first


def main():
    compiler, *rest = sys.argv[1:]
    at = rest.index("--")
    function = "__attribute__((noinline)) void f@() "
    lines = [(re.sub(r"\bF (?={)", function, source, count=1).replace("@", str(number)),
              [each.replace("@", str(number)) for each in types])
             for number, (source, types) in enumerate(LINES)]
    text, first = program(lines)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "misleading.cpp"
        source.write_text(text, encoding="utf-8")
        limits = (("-O0", "-g1", 66), ("-O2", "-g1", 87), ("-O0", "-g", 41), ("-O2", "-g", 46))
        for level, form, most_unknown in limits:
            built = pathlib.Path(folder) / "program"
            subprocess.run([compiler, *rest[:at], level, form, "-w", source, *rest[at + 1:],
                            "-pthread", "-o", built], check=True, timeout=900)
            rows = subprocess.run([built], check=True, timeout=600, capture_output=True,
                                  text=True).stdout.splitlines()
            unknown = 0
            for row in rows:
                number, type_ = row.split("\t")
                at_line = int(number) - first
                if type_ == "?" or type_.startswith("begins with "):
                    unknown += 1
                elif 0 <= at_line < len(lines) and type_ not in lines[at_line][1]:
                    problems.append(f"{level} {form}: {type_}, expected one of "
                                    f"{lines[at_line][1]}: {lines[at_line][0]}")
            if len(rows) < len(lines) or unknown > most_unknown:
                problems.append(f"{level} {form}: {len(rows)} rows, {unknown} of them `?`")
            print(f"{level} {form}: {len(rows)} rows, {unknown} of them `?`, none wrong")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()

// Compiled by odd_lines.py with both compilers and several levels of optimisation. Prints each
// row's line, type and number of objects.

#include <allocscope/allocscope.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#if defined(__cpp_impl_coroutine)
    #include <coroutine>
#endif

struct employee {
    int id;
    std::string name;
};
struct department {
    int id;
    std::string name;
    std::vector<int> rooms;
};

int merged = 0;

std::string title_of(int number) {
    return "the title of a person " + std::to_string(number);  // line: title char
}

// clang merges the two branches, and the call has line 0.
__attribute__((noinline)) long* either(bool is_first) {
    if (is_first) {
        ++merged;            // line: either long
        return new long(1);  // line: either long
    }
    return new long(1);  // line: either long
}

struct results {
    std::unique_ptr<short> first;
    std::vector<float> weights;
};
// g++ places what `return {...}` makes at the brace behind it.
__attribute__((noinline)) results measured(std::unique_ptr<long>& last) {
    last.reset(new long(3));  // line: reset long
    ++merged;
    return {std::make_unique<short>(short{1}), {1.0F, 2.0F}};  // line: result short, float
}

struct holder {
    std::unique_ptr<char16_t> first;
    int number;
};
holder* volatile held = nullptr;
__attribute__((noinline)) void hold_two() {
    held = new holder{std::make_unique<char16_t>(), 1};  // line: held holder, char16_t
    held = new holder{std::make_unique<char16_t>(), 2};  // line: again holder, char16_t
}

struct allocates_at_its_end {
    ~allocates_at_its_end() { kept = std::make_unique<short[]>(9); }  // line: destructor short
    static std::unique_ptr<short[]> kept;
};
std::unique_ptr<short[]> allocates_at_its_end::kept;

// The compiler makes the destructors of classes that have a log.
namespace kit {
template <class T>
struct log {
    log() = default;
    log(const log&) = delete;
    log& operator=(const log&) = delete;
    ~log() { kept = std::make_unique<T[]>(9); }
    static std::unique_ptr<T[]> kept;
};
template <class T>
std::unique_ptr<T[]> log<T>::kept;
}  // namespace kit

struct has_log {
    kit::log<float> own;
};
struct has_virtual_log {
    virtual ~has_virtual_log() = default;
    kit::log<double> own;
};

#if defined(__cpp_impl_coroutine)
struct task {
    struct promise_type {
        task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<> handle;
};
task work(int number) {  // line: coroutine frame of work()
    co_await std::suspend_always{};
    merged += number;
}
std::suspend_always note(const std::string& text) {
    merged += text.empty();
    return {};
}
task list_notes(int number) {  // line: coroutine frame of list_notes()
    for (int i = 0; i < number; ++i)
        co_await note("a note that is longer than sso " + std::to_string(i));  // line: loop char
}
#endif

// A function whose only statement makes all of it.
__attribute__((noinline)) std::array<std::unique_ptr<float>, 2> both(float number) {
    return {std::make_unique<float>(number), std::make_unique<float>(2)};  // line: only float
}

// g++ places the text of the new object at the brace, behind the `new`.
struct address {
    std::string street;
    int number;
};
__attribute__((noinline)) address* moved(std::vector<long>& numbers) {
    auto* made = new address{"a street with a rather long name", 3};  // line: new address, char
    numbers.push_back(made->number);
    return made;
}

// The initialisers of the members of aggregates run in the statement that has the braces.
struct crate {
    std::string label;
    std::unique_ptr<float[]> cells = std::make_unique<float[]>(7);  // line: crates float
};
__attribute__((noinline)) std::size_t stack_crates(std::vector<crate>& to) {
    crate made[2]{{"first"}, {"second"}};  // line: crates float
    std::vector<crate*> order;
    for (crate& each : made) order.push_back(&each);
    for (crate* each : order) to.push_back(std::move(*each));
    return order.size();
}
__attribute__((noinline)) department* copied_department(const department& from) {
    auto made = std::unique_ptr<department>(new department{2, from.name, {}});  // line: copy char
    for (const int each : from.rooms) made->rooms.push_back(each + 1);          // line: rooms int
    return made.release();
}

// g++ moves the code that copies long texts behind that of the second statement.
class notebook {
public:
    __attribute__((noinline)) void add(const std::string& text) {
        notes_.push_back(employee{1, text});  // line: far employee, char
        by_name_[text.substr(0, 20)].push_back(&notes_.back());
    }

private:
    std::list<employee> notes_;
    std::map<std::string, std::vector<employee*>> by_name_;
};

// g++ places what the function makes of the lambda at the lambda's last line.
__attribute__((noinline)) std::function<long(long)> counting(const std::string& text) {
    return [copy = text](long more) -> long {  // line: returned counting::{lambda}, char
        return static_cast<long>(copy.size()) + more;
    };
}

// The last token closes an initialiser, although there is a statement between its braces.
using counter = std::function<long(long)>;
__attribute__((noinline)) counter braced(const std::string& text) {
    // clang-format off
    return counter{[copy = text + "!"](long more) {  // line: braced braced::{lambda}, char
        return static_cast<long>(copy.size()) + more;
    }};
    // clang-format on
}

template <class F>
__attribute__((noinline)) std::vector<int> call_and_keep(F call, department made,
                                                         std::vector<department>& to) {
    call(made.id);
    to.push_back(std::move(made));
    return {};
}

// g++ places what a capture makes at the brace of the function, in front of the lambda's last line.
__attribute__((noinline)) std::function<long(long)> capturing() {
    std::function<long(long)> made = [text = std::string(40, 't')](long n) {  // line: made char
        ++merged;
        return static_cast<long>(text.size()) + n;
    };
    merged += made ? 1 : 0;
    return made;
}

// g++ places what the initialiser of a variable allocates at its last token.
struct job {
    std::string name;
    std::function<void()> run;
};
__attribute__((noinline)) job named(std::string name, std::function<void()> run) {
    return {std::move(name), std::move(run)};
}
__attribute__((noinline)) void declare_in_lines(std::vector<job>& jobs,
                                                std::vector<std::unique_ptr<employee>>& staff) {
    auto made = std::make_unique<employee>(  // line: initialiser employee
        employee{
            1,
            "a name with more than 15 letters",
        });
    std::string text(40, 't');
    text += 'e';
    auto work = named("short", [text] {  // line: captured char, declare_in_lines::{lambda}
        ++merged;
        merged += text.empty();
    });
    jobs.push_back(std::move(work));
    staff.push_back(std::move(made));
}

// The bracket of `operator[]` does not begin a lambda.
struct crew {
    std::vector<employee> all;
    __attribute__((noinline)) const employee& operator[](const std::string& name) {
        all.push_back({1, name});  // line: subscript char
        ++merged;
        return all.back();
    }
};

template <class F>
long sum_of(F call, int number) {
    return call(number) + number;
}

int main(int argc, char**) {
    std::vector<employee> a, b, c;
    std::vector<department> d;
    std::vector<std::function<void()>> f;
    a.reserve(9);
    b.reserve(9);
    c.reserve(9);
    d.reserve(9);
    f.reserve(9);
    std::vector<long> numbers;
    numbers.reserve(9);
    std::vector<employee> e;
    e.reserve(9);
    crew s;
    s.all.reserve(9);
    const std::string copied(50, 'c');
    std::vector<job> jobs;
    jobs.reserve(9);
    std::vector<std::unique_ptr<employee>> staff;
    staff.reserve(9);
    std::vector<crate> crates;
    crates.reserve(9);
    const department first{1, copied, {1, 2, 3}};
    allocscope::library_frames("kit::");
    const allocscope::scope window{"odd lines"};
    a.push_back({1, "a literal that is longer than sso"});      // line: literal char
    b.push_back({2, title_of(2)});                              // the string is title_of's
    c.push_back(employee{3, copied});                           // line: employee char
    d.push_back({4, copied, {1, 2, 3}});                        // line: department char, int
    f.push_back([copied] { merged += copied.empty(); });        // line: lambda char, *
    const employee local{6, copied};                            // line: local char
    auto up = std::make_unique<employee>(employee{7, copied});  // line: unique char, employee
    const std::pair<int, std::string> pair{8, copied};          // line: pair char
    const std::unique_ptr<long> one{either(argc > 1)};
    { const allocates_at_its_end last{}; }
    { const has_log last{}; }          // line: log float
    { const has_virtual_log last{}; }  // line: defaulted double
    const auto pointers = both(3);
    const auto counted = counting(copied);
    const auto captured = capturing();
    const auto enclosed = braced(copied);
    std::unique_ptr<long> last;
    const results now = measured(last);
    hold_two();
    // clang-format off
    const std::vector<int> none = call_and_keep([](int number) {
        ++merged;
        merged += number;
    }, department{5, "short", {1, 2, 3}}, d);  // line: behind int
    // clang-format on
    notebook notes;
    notes.add(copied);
    declare_in_lines(jobs, staff);
    const std::unique_ptr<address> home{moved(numbers)};
    stack_crates(crates);
    const std::unique_ptr<department> second{copied_department(first)};
    const auto add = [&](int id) {
        e.push_back({id, copied});  // line: closure char
    };
    add(9);
    std::for_each(numbers.begin(), numbers.end(), [&](long id) {
        e.push_back({static_cast<int>(id), copied});  // line: argument char
        ++merged;
    });
    sum_of(
        [&](int id) -> long {
            e.push_back({id, copied});  // line: inner char
            return ++merged;
        },
        s[copied].id);
#if defined(__cpp_impl_coroutine)
    const task waiting = work(argc);
    const task noting = list_notes(argc);
    noting.handle.resume();
#endif
    const allocscope::snapshot seen = window.stats();
    for (const allocscope::snapshot::row& row : seen) {
        std::printf("%d %s %llu\n", row.line, row.type,
                    static_cast<unsigned long long>(row.objects));
    }
#if defined(__cpp_impl_coroutine)
    waiting.handle.destroy();
    noting.handle.destroy();
#endif
    return local.id + pair.first + up->id - 21 + static_cast<int>(none.size());
}

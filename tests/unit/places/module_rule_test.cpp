#include <allocscope/places/module_rule.hpp>

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

using allocscope::plain::arena;
using allocscope::symbolize::code_frame;
using allocscope::symbolize::frame_owner;
using allocscope::symbolize::frame_rule;
using allocscope::symbolize::list;
using allocscope::symbolize::text;

namespace {

constexpr const char* program = "/home/me/shop/build/shop";
constexpr const char* library = "/usr/lib/x86_64-linux-gnu/libyaml-cpp.so.0.7";
constexpr const char* c_library = "/usr/lib/x86_64-linux-gnu/libc.so.6";

struct stack_frame {
    const char* function;
    const char* file;
    const char* module;
    bool is_unloaded = false;
    bool is_line_withheld = false;
    bool is_implicit = false;
    bool hands_on = false;
    bool is_library = false;
};

struct answer {
    std::size_t user;
    std::size_t maker;
};

class rule_in_use {
public:
    frame_rule names;
    const char* own_folder = "";
    int asked_for_folder = 0;
    std::size_t asking_frame = 0;

    answer place(const std::vector<stack_frame>& stack) {
        arena memory;
        list<code_frame> frames{memory};
        list<frame_owner> owners{memory};
        for (const stack_frame& each : stack) {
            code_frame frame;
            frame.function = each.function;
            frame.file = each.file;
            frame.line = frame.file.empty() ? 0 : 7;
            frame.is_line_withheld = each.is_line_withheld;
            frame.is_implicit = each.is_implicit;
            frames.push_back(frame);
            owners.push_back(allocscope::symbolize::owner_of(each.module, each.is_unloaded,
                                                             text{each.module} == program));
            owners.back().hands_on = each.hands_on;
            owners.back().is_library = each.is_library;
        }
        allocscope::symbolize::known_frames known{memory};
        allocscope::symbolize::source_cache sources;
        const allocscope::symbolize::asked_stack asked{memory, frames,  owners,      names,
                                                       known,  sources, asking_frame};
        const std::size_t maker = allocscope::symbolize::maker_frame(asked);
        return {allocscope::symbolize::user_frame_by_module(asked, {&folder, this}, maker), maker};
    }

private:
    static text folder(void* self) {
        ++static_cast<rule_in_use*>(self)->asked_for_folder;
        return static_cast<rule_in_use*>(self)->own_folder;
    }
};

std::size_t place(const std::vector<stack_frame>& stack) {
    return rule_in_use{}.place(stack).user;
}

const stack_frame allocate = {"std::__new_allocator<int>::allocate(unsigned long, void const*)",
                              "/usr/include/c++/12/bits/new_allocator.h", program};
const stack_frame json = {"nlohmann::basic_json<int>::push_back(int)",
                          "/usr/include/nlohmann/json.hpp", program};
const stack_frame yaml = {"YAML::Node::Node()", "", library};
const stack_frame load = {"shop::load()", "/home/me/shop/src/load.cpp", program};
const stack_frame main_frame = {"main", "/home/me/shop/src/main.cpp", program};

}  // namespace

TEST_CASE("module_rule: a library's header or module gives way to a line of the user's") {
    CHECK(place({allocate, json, load, main_frame}) == 2);
    CHECK(place({yaml, load, main_frame}) == 1);
    CHECK(place({{"", "", "/home/me/libs/libprivate.so"}, yaml, load}) == 2);
    stack_frame with_lines = yaml;
    with_lines.file = "./src/node.cpp";  // by a package with debug information
    CHECK(place({with_lines, load, main_frame}) == 1);
    stack_frame copied = json;
    copied.file = "/home/me/shop/third_party/json.hpp";
    CHECK(place({copied, main_frame}) == 1);
}

TEST_CASE("module_rule: a callback of the user's is nearer than the call of the library") {
    CHECK(place({allocate, load, json, yaml, main_frame}) == 1);
}

TEST_CASE("module_rule: a library of the user's that has lines is the user's") {
    CHECK(place({{"mine::grow()", "/home/me/mine/a.cpp", "/home/me/mine/libmine.so"}, load}) == 0);
    CHECK(place({{"mine::grow()", "/home/me/mine/a.cpp", "/usr/local/lib/libmine.so"}, load}) == 0);
}

TEST_CASE("module_rule: without a line of the user's the innermost function stays") {
    stack_frame bare_load = load;
    bare_load.file = "";
    stack_frame bare_main = main_frame;
    bare_main.file = "";
    CHECK(place({allocate, json, bare_load, bare_main}) == 1);
    CHECK(place({yaml, bare_load, bare_main}) == 0);
    CHECK(place({{"malloc", "", c_library}, bare_load, bare_main}) == 1);
    CHECK(place({{"", "", library}, {"", "", program}}) == 0);
    CHECK(place({{"fopen", "", c_library}, {"", "", c_library}}) == 0);
    CHECK(place({}) == 0);
}

TEST_CASE("module_rule: a function without a name is nearer than main()") {
    const stack_frame nameless = {"", "", program};
    stack_frame bare_main = main_frame;
    bare_main.file = "";
    CHECK(place({{"malloc", "", c_library}, nameless, nameless, bare_main, nameless}) == 1);
    CHECK(place({{"setlocale", "", c_library}, bare_main, nameless}) == 1);
    CHECK(place({nameless, yaml, nameless, bare_main}) == 1);
    CHECK(place({nameless, main_frame}) == 1);
}

TEST_CASE("module_rule: the runtimes of OpenMP and Fortran are no modules of the user's") {
    const stack_frame nameless = {"", "", program};
    for (const char* runtime : {"libgomp.so.1", "libomp.so.5", "libgfortran.so.5"}) {
        CHECK(place({{"GOMP_parallel", "", runtime}, nameless}) == 1);
    }
}

TEST_CASE("module_rule: a function whose line is kept back is nearer than its caller") {
    stack_frame split = load;
    split.file = "";
    CHECK(place({split, main_frame}) == 1);
    split.is_line_withheld = true;
    CHECK(place({split, main_frame}) == 0);
}

TEST_CASE("module_rule: interpreters come last, and what was unloaded is taken for the user's") {
    const stack_frame python = {"PyObject_Call", "/build/python/call.c", "/usr/bin/python3.11"};
    const stack_frame extension = {"numpy_new", "", "/usr/lib/python3/dist-packages/numpy.so"};
    CHECK(place({python, extension, python}) == 1);
    CHECK(place({python, load}) == 1);
    CHECK(place({python, {"malloc", "", c_library}}) == 0);
    CHECK(place({{"", "", "/home/me/plugin.so (unloaded)", true}, load}) == 0);
    CHECK(place({load, {"", "", "/home/me/plugin.so (unloaded)", true}}) == 0);
}

TEST_CASE("module_rule: a program whose name begins like that of an interpreter is the user's") {
    using allocscope::symbolize::kind_of_module;
    using allocscope::symbolize::module_kind;
    for (const char* runtime : {"/usr/bin/python3",
                                "/usr/bin/python3.11",
                                "/usr/lib/libpython3.11.so.1.0",
                                "perl",
                                "/usr/bin/perl5.36-x86_64-linux-gnu",
                                "/usr/lib/libperl.so.5.36",
                                "/usr/bin/ruby3.1",
                                "/usr/lib/libruby-3.1.so.3.1",
                                "/usr/bin/lua5.4",
                                "/usr/lib/liblua5.4.so.0",
                                "/usr/bin/luajit-2.1.0-beta3",
                                "/usr/lib/libluajit-5.1.so.2",
                                "/usr/bin/tclsh8.6",
                                "/usr/bin/guile-3.0",
                                "/usr/bin/php8.2",
                                "/usr/sbin/php-fpm8.2",
                                "/usr/bin/nodejs",
                                "/usr/lib/libnode.so.108",
                                "/opt/jdk/bin/java",
                                "/opt/jdk/lib/server/libjvm.so",
                                "/usr/lib/libmonosgen-2.0.so.1"}) {
        CAPTURE(runtime);
        CHECK(kind_of_module(runtime) == module_kind::runtime);
    }
    for (const char* own : {"/home/me/perlin", "/home/me/node_editor", "/home/me/javelin",
                            "/home/me/rubyist", "/home/me/lua-language-server", "/home/me/phpx",
                            "/home/me/libluabridge.so", "/home/me/python3tools"}) {
        CAPTURE(own);
        CHECK(kind_of_module(own) == module_kind::user);
    }
    CHECK(kind_of_module("/lib/x86_64-linux-gnu/libc-2.31.so") == module_kind::system);
    CHECK(kind_of_module("/usr/lib/libc-client.so.2007e") == module_kind::user);
    const stack_frame noise = {"noise()", "/home/me/noise.cpp", "/home/me/perlin"};
    CHECK(place({yaml, noise}) == 1);
}

TEST_CASE("module_rule: what the standard library's callers are called stays known") {
    rule_in_use rule;
    const answer found = rule.place({allocate, json, load, main_frame});
    CHECK(found.maker == 1);
    CHECK(found.user == 2);
}

TEST_CASE("module_rule: a class's operator new and an allocator's allocate are passed over") {
    const stack_frame own_new = {"shop::widget::operator new(unsigned long)",
                                 "/home/me/shop/src/widget.hpp", program};
    const stack_frame own_array_new = {"shop::widget::operator new[](unsigned long)",
                                       "/home/me/shop/src/widget.hpp", program};
    CHECK(place({own_new, load}) == 1);
    CHECK(place({own_array_new, load}) == 1);
    const stack_frame pool = {"shop::pool<int>::allocate(unsigned long)",
                              "/home/me/shop/src/pool.hpp", program};
    const stack_frame traits = {
        "std::allocator_traits<shop::pool<int> >::allocate(shop::pool<int>&, unsigned long)",
        "/usr/include/c++/12/bits/alloc_traits.h", program};
    CHECK(place({pool, traits, load}) == 2);
    CHECK(place({pool, load}) == 0);  // called by hand: a function like any other
    CHECK(place({pool}) == 0);
    const stack_frame resource = {"shop::resource::do_allocate(unsigned long, unsigned long)",
                                  "/home/me/shop/src/resource.cpp", program};
    const stack_frame asked = {"std::pmr::memory_resource::allocate(unsigned long, unsigned long)",
                               "/usr/include/c++/12/bits/memory_resource.h", program};
    CHECK(place({resource, asked, load}) == 2);
}

TEST_CASE("module_rule: code below the program's own folder is the user's wherever that is") {
    rule_in_use rule;
    const std::vector<stack_frame> stack = {
        {"shop::load()", "/home/me/third_party/shop/src/load.cpp", program},
        {"main", "/home/me/third_party/shop/src/main.cpp", program}};
    rule.own_folder = "/home/me/third_party/shop/";
    CHECK(rule.place(stack).user == 0);
    CHECK(rule.asked_for_folder > 0);
    rule.asked_for_folder = 0;
    CHECK(rule.place({load, main_frame}).user == 0);
    CHECK(rule.asked_for_folder == 0);  // looking for it takes time
}

TEST_CASE("module_rule: a library can be declared to be the user's") {
    rule_in_use rule;
    CHECK(std::string{rule.names.add("!/usr/include/nlohmann/")} == "");
    CHECK(rule.place({allocate, json, load}).user == 1);
    CHECK(rule.place({allocate, yaml, load}).user == 2);
}

TEST_CASE("module_rule: a constructor that the compiler made is passed over") {
    rule_in_use rule;
    stack_frame copy = {"shop::person::person(shop::person const&)", "/home/me/shop/src/load.cpp",
                        program};
    CHECK(rule.place({allocate, copy, load}).user == 1);
    copy.is_implicit = true;
    CHECK(rule.place({allocate, copy, load}).user == 2);
    CHECK(rule.place({allocate, copy, load}).maker == 1);
    CHECK(rule.place({allocate, copy}).user == 1);
    // As in a test framework without lines, whose main() makes what the user declares.
    const stack_frame base = {"testing::Test::Test()", "", program};
    const stack_frame run = {"testing::run_all()", "", program};
    CHECK(rule.place({allocate, base, copy, copy, run, copy, run}).user == 3);
    CHECK(rule.place({allocate, base, copy, load}).user == 3);
    rule.asking_frame = 1;  // a `new` in the initialiser of a member
    CHECK(rule.place({allocate, copy, load}).user == 1);
}

TEST_CASE("module_rule: a function without a name that only returns what malloc returned") {
    const stack_frame nameless = {"", "", program};
    stack_frame wrapper = nameless;
    wrapper.hands_on = true;
    const stack_frame plain_main = {"main", "", program};
    CHECK(place({wrapper, nameless, nameless}) == 1);
    CHECK(place({wrapper, wrapper, nameless}) == 2);
    const stack_frame copying = {"strdup", "", c_library};
    CHECK(place({copying, wrapper, nameless}) == 2);
    const stack_frame known = {"xmalloc", "", program};
    CHECK(place({known, wrapper, nameless}) == 2);
    CHECK(place({wrapper, plain_main}) == 1);
    CHECK(place({wrapper, nameless, plain_main}) == 1);
    // What it returns need not be the block.
    const stack_frame reading = {"getline", "", c_library};
    CHECK(place({reading, wrapper, nameless}) == 1);
    CHECK(place({nameless, wrapper, nameless}) == 0);
    // The walk ended there.
    CHECK(place({wrapper}) == 0);
    CHECK(place({wrapper, wrapper}) == 0);
}

TEST_CASE("module_rule: a function without a name that was declared to be library code") {
    const stack_frame nameless = {"", "", program};
    stack_frame declared = nameless;
    declared.is_library = true;
    const stack_frame plain_main = {"main", "", program};
    CHECK(place({declared, nameless, nameless}) == 1);
    CHECK(place({declared, declared, nameless}) == 2);
    CHECK(place({nameless, declared, nameless}) == 0);
    CHECK(place({declared, plain_main}) == 1);
    // It need not have returned the block that it allocated.
    stack_frame wrapper = nameless;
    wrapper.hands_on = true;
    CHECK(place({declared, wrapper, nameless}) == 1);
    CHECK(place({declared}) == 0);
}

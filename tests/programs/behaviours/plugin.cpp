// plugin.cpp - a library that allocates when it is loaded, when it is called and when it goes.
#include <cstdlib>
#include <string>
#include <vector>

static std::vector<std::string>& kept() {
    static std::vector<std::string> all;
    return all;
}

static std::vector<std::string> since_load(20, std::string(60, 'p'));

extern "C" int work_of_plugin(int number) {
    kept().push_back(std::string(static_cast<std::size_t>(number % 100 + 30), 'q'));
    return static_cast<int>(kept().size() + since_load.size());
}

// Frees what another module allocated and hands out what that one will free.
extern "C" void* exchange(void* block) {
    std::free(block);
    return std::malloc(70);
}

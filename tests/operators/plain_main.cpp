// A program that allocates and knows nothing of allocscope.
#include <string>

int main() {
    const std::string text(1000, 'x');
    return text.size() == 1000 ? 0 : 1;
}

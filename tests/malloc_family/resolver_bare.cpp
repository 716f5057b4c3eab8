// The program of resolver_that_allocates.cpp without hooks: may a resolver allocate with this C
// library?
extern "C" int picked();

int main() {
    return picked() == 1 ? 0 : 1;
}

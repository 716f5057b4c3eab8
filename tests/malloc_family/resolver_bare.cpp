// The program of resolver_that_allocates.cpp without hooks: does the C library let a resolver allocate?
extern "C" int picked();

int main() {
    return picked() == 1 ? 0 : 1;
}

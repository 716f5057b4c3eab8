// A file without our headers that has a static in a function: the compiler puts calls around its
// initialiser, of functions that the hooks look for.
namespace {

struct counted {
    counted() { *const_cast<volatile int*>(&value) = 7; }
    int value = 0;
};

}  // namespace

int value_of_own_static();

int value_of_own_static() {
    static counted kept;
    return kept.value;
}

// Writes down what operator new does when there is no memory: how often it calls the new_handler
// and how it ends. Built twice, with our operators (WITH_ALLOCSCOPE) and with libstdc++'s; both
// transcripts must be the same. The argument says what is open meanwhile:
//
//     none      no window
//     exact     a window opened before memory became short
//     counters  likewise, totals only
//     late      a window opened after memory became short
#include "operator_pairs.hpp"

#ifdef WITH_ALLOCSCOPE
    #include <allocscope/allocscope.hpp>
#endif

#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>

namespace {

constexpr std::size_t mebibyte = 1024 * 1024;
constexpr std::size_t reserve_size = 256 * mebibyte;
constexpr std::size_t huge = std::numeric_limits<std::size_t>::max() / 2 - mebibyte;

int handler_calls = 0;
void* reserves[6] = {};

struct out_of_patience : std::bad_alloc {};

void free_one_reserve() {
    ++handler_calls;
    for (void*& reserve : reserves) {
        if (reserve == nullptr) continue;
        std::free(reserve);
        reserve = nullptr;
        return;
    }
    throw std::bad_alloc();
}

void fill_reserves() {
    for (void*& reserve : reserves) {
        if (reserve == nullptr) reserve = std::malloc(reserve_size);
        if (reserve == nullptr) std::puts("a reserve could not be filled");
    }
}

void give_up_on_fourth_call() {
    if (++handler_calls == 4) std::set_new_handler(nullptr);
}

void throw_on_third_call() {
    if (++handler_calls == 3) throw out_of_patience();
}

void throw_at_once() {
    ++handler_calls;
    throw std::bad_alloc();
}

void allocate_itself_then_give_up() {
    ++handler_calls;
    ::operator delete(::operator new(100));
    if (handler_calls == 2) std::set_new_handler(throw_on_third_call);
}

const char* attempt(const testing::allocating_form& make, std::size_t size, std::size_t alignment,
                    std::new_handler handler) {
    const char* end = "null";
    handler_calls = 0;
    std::set_new_handler(handler);
    errno = 0;
    try {
        void* block = make.allocate(size, std::align_val_t{alignment});
        if (block != nullptr) {
            end = reinterpret_cast<std::uintptr_t>(block) % 16 == 0 ? "a block" : "crooked";
            for (const auto& unmake : testing::freeing_forms) {
                if (unmake.kind != make.kind) continue;
                unmake.free(block, size, std::align_val_t{alignment});
                break;
            }
        }
    } catch (const out_of_patience&) {
        end = "the handler's own exception";
    } catch (const std::bad_alloc&) {
        end = "bad_alloc";
    }
    std::set_new_handler(nullptr);
    return end;
}

// Sizes that overflow when they are rounded up to the alignment are left out for the aligned forms:
// the operators of libstdc++ 12 then return a block that is too small, ours do not.
void write_down(const char* what, std::size_t size, std::size_t alignment,
                std::new_handler handler) {
    for (const auto& make : testing::allocating_forms) {
        if (size > huge && testing::is_aligned_form(make.kind)) continue;
        fill_reserves();
        const char* end = attempt(make, size, alignment, handler);
        const int error = errno;
        std::printf("%-28s %-32s %d calls, %s, %s\n", what, make.name, handler_calls, end,
                    error == 0 ? "no error" : std::strerror(error));
    }
}

// From now on the process gets 128 MiB and what it gives back. That is room enough for the tables
// of the recorder and too little to change how many reserves a request needs.
void make_memory_short() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    unsigned long pages = 0;
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) std::exit(2);
    std::fclose(file);
    const rlim_t limit = pages * 4096UL + 128 * mebibyte;
    const rlimit both = {limit, limit};
    if (setrlimit(RLIMIT_AS, &both) != 0) std::exit(2);
}

void write_all_down() {
    write_down("enough after three frees", 700 * mebibyte, 64, free_one_reserve);
    write_down("never enough", 4000 * mebibyte, 64, free_one_reserve);
    write_down("impossible size", huge, 64, give_up_on_fourth_call);
    write_down("no handler", huge, 64, nullptr);
    write_down("handler throws its own", huge, 64, throw_on_third_call);
    write_down("handler throws bad_alloc", huge, 64, throw_at_once);
    write_down("handler allocates", huge, 64, allocate_itself_then_give_up);
    write_down("largest size", std::numeric_limits<std::size_t>::max(), 64, throw_on_third_call);
    write_down("size plus alignment wraps", std::numeric_limits<std::size_t>::max() - 4096, 8192,
               throw_on_third_call);
    write_down("size zero", 0, 64, throw_at_once);
    write_down("alignment of one", 24, 1, throw_at_once);
    write_down("alignment of three", 24, 3, throw_at_once);
    write_down("alignment of zero", 24, 0, throw_at_once);
}

}  // namespace

int main(int argument_count, char** arguments) {
    const char* open = argument_count > 1 ? arguments[1] : "none";
    fill_reserves();
    // stdio takes its buffer now, before memory is short.
    static char buffer[BUFSIZ];
    std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
#ifdef WITH_ALLOCSCOPE
    allocscope::options wanted;
    if (std::strcmp(open, "counters") == 0) wanted.record = allocscope::recording::counters;
    if (std::strcmp(open, "none") == 0) {
        make_memory_short();
        write_all_down();
    } else if (std::strcmp(open, "late") == 0) {
        make_memory_short();
        allocscope::scope window{"memory is short", wanted};
        write_all_down();
    } else {
        allocscope::scope window{"memory will be short", wanted};
        ::operator delete(::operator new(100));
        make_memory_short();
        write_all_down();
    }
#else
    (void)open;
    make_memory_short();
    write_all_down();
#endif
    return 0;
}

"""run_programs_test.py PROGRAM COMPILER

Programs under `allocscope run` that differ from others: with a sanitizer, of musl, with little
memory, with a filter of system calls. They find their environment as it is without.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from recorded_programs import WITHOUT_CXX, Recorder, compiled, keeps, totals

PROGRAM, COMPILER = sys.argv[1:3]


def starts_programs_with_sanitizers(recorder, folder):
    """AddressSanitizer ends a program if another library comes first, unless it is told not to."""
    sound = compiled(folder, "sound", "int main() { return 6; }", COMPILER, "-fsanitize=address")
    text = "#include <cstdlib>\nint main() { auto* p = static_cast<char*>(std::malloc(9));" \
           " static_cast<volatile char*>(p)[10] = 1; std::free(p); }"
    unsound = compiled(folder, "unsound", text, COMPILER, "-fsanitize=address")
    for follow in ([], ["--children", "follow"]):
        done = recorder.run(["sh", "-c", f"{sound}; exit $?"], "--summary", *follow, code=6)
        assert "AddressSanitizer" not in done.stderr, done.stderr
        done = recorder.run(["sh", "-c", f"{unsound}; echo $?"], "--summary", *follow)
        assert done.stdout == "1\n" and "heap-buffer-overflow" in done.stderr, done
    text = "#include <cstdlib>\nint main() { std::free(std::malloc(9)); return 5; }"
    of_threads = compiled(folder, "of_threads", text, COMPILER, "-fsanitize=thread")
    done = recorder.run(["sh", "-c", f"{of_threads}; exit $?"], "--summary", "--children", "follow",
                        code=5)
    assert "allocscope: of_threads: " not in done.stderr, done.stderr
    # Each of them is counted, also one that the first process becomes.
    unrecorded = "programs that were not recorded, because they have the malloc of a sanitizer: "
    done = recorder.run(["sh", "-c", f"{of_threads}; {sound}; {of_threads}; exit 0"], "--summary",
                        "--children", "follow")
    assert f"{unrecorded}3\n" in done.stderr, done.stderr
    done = recorder.run(["sh", "-c", f"{of_threads}; exec {of_threads}"], "--summary", code=5)
    assert f"{unrecorded}1\n" in done.stderr, done.stderr
    # clang++ puts the malloc of LeakSanitizer into the program; in that of g++ ours comes first.
    of_leaks = compiled(folder, "of_leaks", text, COMPILER, "-fsanitize=leak")
    done = recorder.run(["sh", "-c", f"{of_leaks}; exit 0"], "--summary", "--children", "follow")
    told = [each for each in done.stderr.splitlines() if unrecorded in each or "of_leaks: " in each]
    assert len(told) == 1, done.stderr


def counts_what_looks_like_the_vector_of_a_thread(recorder, folder):
    """The loader's calloc with parts of 16 bytes has one part for the library, no other has."""
    text = "#include <cstdlib>\nint main() { return std::calloc(20, 16) == nullptr; }"
    program = compiled(folder, "vector", text, COMPILER, *WITHOUT_CXX)
    assert totals(recorder.report([program])) == (1, 0, 320)


def starts_programs_of_musl(recorder, folder):
    """musl's loader ignores what it cannot open, and does not replace $LIB."""
    value = recorder.run(["sh", "-c", "echo $LD_PRELOAD"], "--summary").stdout.strip()
    if not os.path.isdir("/usr/lib/x86_64-linux-gnu"):
        return
    assert value.startswith("/usr/$LIB/../..") and not os.path.exists(value), value
    if not shutil.which("musl-gcc"):
        return
    source = pathlib.Path(folder) / "of_musl.c"
    source.write_text('#include <stdio.h>\nint main(void) { puts("of musl"); return 7; }\n')
    program = source.with_suffix("")
    subprocess.run(["musl-gcc", source, "-o", program], check=True)
    for follow in ([], ["--children", "follow"]):
        done = recorder.run(["sh", "-c", f"{program}; echo $?; /bin/true"], "--summary", *follow)
        assert done.stdout == "of musl\n7\n", done
        assert "symbol not found" not in done.stderr, done
        assert ("allocscope: true: " in done.stderr) == bool(follow), done


def streams_and_environment_stay(recorder):
    done = recorder.run(["cat"], input="through\n")
    assert done.stdout == "through\n"
    show = ["sh", "-c", "env | sort; ls -l /proc/self/fd | wc -l; grep Sig[BCIP]"
            " /proc/self/status"]
    bare = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    under = recorder.run(show, "--output", recorder.folder / "sh.txt").stdout

    def without_preload(text):
        return [line for line in text.splitlines() if not line.startswith("LD_PRELOAD=")]
    assert without_preload(under) == without_preload(bare), (under, bare)
    other = {**os.environ, "LD_PRELOAD": "libpthread.so.0"}
    words = recorder.run(["sh", "-c", "echo $LD_PRELOAD"], "--output",
                         recorder.folder / "sh.txt", env=other).stdout.strip()
    assert words.endswith(":libpthread.so.0"), words


def records_the_command_itself(recorder, program):
    """As the test suite of somebody who tests with allocscope does."""
    inner = recorder.folder / "inner.json"
    for more in ([], ["--children", "follow"]):
        found = recorder.reports([PROGRAM, "run", "--output", inner, "--", program], *more, code=4)
        assert found[0]["window"] == "allocscope", found[0]["window"]
        assert totals(json.loads(inner.read_text())) == (150, 50, 3350)
        inner.unlink()


def takes_few_addresses(recorder, program):
    """A program may limit its address space while it runs, and a core file holds the program's
    memory, not the recording."""
    status = recorder.run(["grep", "VmSize", "/proc/self/status"], "--summary").stdout
    assert int(status.split()[1]) < 200_000, status
    limited = recorder.run(["sh", "-c", f"ulimit -v 600000; exec {program}"], "--summary", code=4)
    assert "150 allocations, 50 frees" in limited.stderr, limited.stderr
    # The command lies under the limit for data, too; the recording is more than that.
    command = f"ulimit -d 100000; exec {recorder.program} run --summary -- {program}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 4 and "150 allocations, 50 frees" in done.stderr, done
    mappings = recorder.run(["cat", "/proc/self/smaps"], "--summary").stdout
    flags = [each for each in re.findall(r"^(2a00\w+)-.*\n(?:\w+: .*\n)*?VmFlags: (.*)$", mappings,
                                         re.MULTILINE)]
    assert flags and all(" dd" in f" {of_mapping}" for _, of_mapping in flags), flags


def takes_few_descriptors(recorder, program):
    """With one descriptor the program can load its libraries, and so it can be recorded."""
    command = f"ulimit -n 4; exec {recorder.program} run --summary -- {program}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=600,
                          check=False)
    assert done.returncode == 4 and "150 allocations, 50 frees" in done.stderr, done


def leaves_data_to_the_program(recorder, folder):
    """Whatever the limit for data is, half of it is the program's, and it lacks nothing."""
    source = r"""
        #include <cstdlib>
        int main() {
            for (int i = 0; i < 4000; ++i) {
                if (malloc(1000) == nullptr) return 5;
            }
            return malloc(500000) == nullptr ? 5 : 4;
        }"""
    program = compiled(folder, "takes_data", source, COMPILER)
    for kibibytes in range(20_000, 72_000, 4_000):
        for record in "exact", "sampled":
            command = f"ulimit -d {kibibytes}; exec {recorder.program} run --summary" \
                      f" --record {record} -- {program}"
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True,
                                  timeout=600, check=False)
            assert done.returncode == 4, (kibibytes, record, done)


def runs_programs_with_filters(recorder, folder):
    """What recording asks the kernel once, it has asked before the program forbids that, as scanelf
    of pax-utils does."""
    source = r"""
        #include <cstddef>
        #include <cstdlib>
        #include <linux/filter.h>
        #include <linux/seccomp.h>
        #include <pthread.h>
        #include <sys/prctl.h>
        #include <sys/syscall.h>
        static void* work(void*) {
            for (int i = 0; i < 100; ++i) free(malloc(10));
            return nullptr;
        }
        static sock_filter forbidden(unsigned call) {
            return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 1, 0);
        }
        int main() {
            sock_filter filter[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                forbidden(SYS_prlimit64), BPF_STMT(BPF_JMP | BPF_JA, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                forbidden(SYS_mremap), BPF_STMT(BPF_JMP | BPF_JA, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
            const sock_fprog all = {sizeof filter / sizeof *filter, filter};
            if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 3;
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) return 3;
            work(nullptr);
            pthread_t other;
            if (pthread_create(&other, nullptr, work, nullptr) != 0) return 3;
            pthread_join(other, nullptr);
            filter[1] = forbidden(SYS_getpid);  // the end of the program makes no call of its own
            if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0) return 3;
        }"""
    program = compiled(folder, "filters", source, COMPILER, *WITHOUT_CXX)
    for record in ("exact", "counters"):
        allocations, frees, _ = totals(recorder.report([program], "--record", record))
        assert allocations >= 200 and frees >= 200, (record, allocations, frees)
    recorder.run([program], "--record", "sampled", "--sample-bytes", "64")


def leaves_names_to_the_program(recorder, folder):
    """C does not reserve these names: a program or a library of it may have functions and variables
    of its own under them, and the C library does not call those. Neither does the preloaded one."""
    functions = ("access", "clock_gettime", "dl_iterate_phdr", "dladdr", "dladdr1", "dlopen",
                 "dlsym", "dlvsym", "execve", "fstat", "getauxval", "getpid", "getrlimit",
                 "madvise", "mallinfo2", "memalign", "mmap", "mprotect", "mremap", "munmap",
                 "pread", "process_vm_readv", "pthread_atfork", "pthread_getcpuclockid",
                 "pthread_key_create", "pthread_key_delete", "pthread_mutex_lock",
                 "pthread_mutex_trylock", "pthread_mutex_unlock", "pthread_self",
                 "pthread_setspecific", "pvalloc", "readlink", "reallocarray", "sched_yield",
                 "sigaltstack", "syscall", "valloc")
    variables = ("close", "open", "prctl", "read", "stat", "write")
    own = ["int calls = 0;"] + [f"""
        extern "C" long own_{name}() __asm__("{name}");
        extern "C" long own_{name}() {{ ++calls; return 7; }}""" for name in functions]
    own += [f"""
        extern "C" long own_{name} __asm__("{name}");
        extern "C" {{ long own_{name} = 5; }}""" for name in variables]
    source = """
        #include <cstdlib>
        #include <sys/wait.h>
        extern "C" int fork();
        extern int calls;
        int main() {
            const int child = fork();
            for (int i = 0; i < 100; ++i) free(malloc(70));
            if (child == 0) return calls;
            int status = 1;
            wait(&status);
            return calls + status;
        }"""
    library = compiled(folder, "libown_names.so", "".join(own), COMPILER, "-shared", "-fPIC",
                       "-nodefaultlibs")
    own += ["""
        extern "C" long own_posix_memalign() __asm__("posix_memalign");
        extern "C" long own_posix_memalign() { return ++calls; }"""]
    for program in (compiled(folder, "own_names", "".join(own) + source, COMPILER, *WITHOUT_CXX),
                    compiled(folder, "names_of_library", source, COMPILER, library, *WITHOUT_CXX)):
        for record in ([], ["--record", "sampled", "--sample-bytes", "64"], ["--memory"]):
            found = recorder.reports([program], "--children", "follow", *record)
            assert len(found) == 2, found
            assert "sampled" in record or \
                all(totals(each) == (100, 100, 7000) for each in found), found


def records_beside_a_free_of_the_program(recorder, folder):
    """It has no malloc. Its frees are noticed when addresses are used again."""
    source = """
        #include <cstdlib>
        extern "C" void __libc_free(void*) noexcept;
        extern "C" void free(void* block) noexcept { __libc_free(block); }
        int main() { for (int i = 0; i < 100; ++i) free(malloc(70)); }"""
    program = compiled(folder, "own_free", source, COMPILER, *WITHOUT_CXX)
    found = recorder.report([program])
    assert totals(found) == (100, 99, 7000) and found["lost"]["record_replaced"] == 99, found


def leaves_names_of_c23_to_libraries(recorder, folder):
    """A library may have a function of its own that is called free_sized, which is nothing to
    malloc. That of an allocator, or of a tool that counts, is what C says."""
    private = """
        static char pool[64];
        extern "C" int free_sized(char* of, char* place) { return of == pool && place == pool + 9; }
        extern "C" int use() { return free_sized(pool, pool + 9); }"""
    library = compiled(folder, "libprivate_names.so", private, COMPILER, "-shared", "-fPIC",
                       "-nodefaultlibs")
    source = f"""
        #include <cstdlib>
        #include <dlfcn.h>
        extern "C" int use();
        int main(int, char** words) {{
        #if OPENS
            const auto use = (int (*)())dlsym(dlopen("{library}", RTLD_NOW), "use");
        #endif
            return use() == 1 ? 0 : 1;
        }}"""
    linked = compiled(folder, "linked", source, COMPILER, "-DOPENS=0", library, *WITHOUT_CXX)
    recorder.run([linked], "--summary")
    recorder.run([compiled(folder, "opens", source, COMPILER, "-DOPENS=1", *WITHOUT_CXX)],
                 "--summary")
    source = """
        #include <cstdlib>
        extern "C" void free_sized(void*, size_t) noexcept __attribute__((weak));
        extern "C" void free_aligned_sized(void*, size_t, size_t) noexcept __attribute__((weak));
        int main() {
            for (int i = 0; i < 100; ++i) {
                free_sized(malloc(70), 70);
                free_aligned_sized(aligned_alloc(64, 128), 64, 128);
            }
        }"""
    tool = """
        #include <dlfcn.h>
        extern "C" void* malloc(unsigned long bytes) {
            static const auto next = (void* (*)(unsigned long))dlsym(RTLD_NEXT, "malloc");
            return next(bytes);
        }
        extern "C" void free_sized(void* block, unsigned long bytes) {
            static const auto next = (void (*)(void*, unsigned long))dlsym(RTLD_NEXT, "free_sized");
            next(block, bytes);
        }"""
    counts = compiled(folder, "counts.so", tool, COMPILER, "-shared", "-fPIC",
                      "-fno-threadsafe-statics", "-nodefaultlibs")
    program = compiled(folder, "frees_with_sizes", source, COMPILER, *WITHOUT_CXX)
    for environment in (os.environ, {**os.environ, "LD_PRELOAD": str(counts)}):
        assert totals(recorder.report([program], env=environment)) == (200, 200, 19800)


def leaves_arithmetic_to_the_program(recorder, folder):
    """A sample is weighed with fractions. The program does not see that a result was not exact, and
    it gets no signal."""
    source = r"""
        #include <cfenv>
        #include <cstdlib>
        int main() {
            feclearexcept(FE_ALL_EXCEPT);
            for (int i = 0; i < 500; ++i) free(malloc(i * 97 % 3000));
            const int seen = fetestexcept(FE_ALL_EXCEPT);
            feenableexcept(FE_ALL_EXCEPT);
            for (int i = 0; i < 500; ++i) free(malloc(i * 97 % 3000));
            return seen;
        }"""
    program = compiled(folder, "fractions", source, COMPILER, "-nodefaultlibs", "-lm", "-lc")
    recorder.run([program], "--record", "sampled", "--sample-bytes", "300")


def takes_calls_with_any_stack(recorder, folder):
    """A stack has to be a multiple of 16 where a function is called. glibc's malloc does not need
    it."""
    source = r"""
        #include <cstdlib>
        static void* call(void* function, size_t first, size_t second) {
            void* result;
            __asm__ volatile(
                "mov %%rsp, %%rbx; and $-16, %%rsp; sub $8, %%rsp; call *%3; mov %%rbx, %%rsp"
                : "=a"(result), "+D"(first), "+S"(second) : "r"(function)
                : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc", "xmm0", "xmm1",
                  "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                  "xmm12", "xmm13", "xmm14", "xmm15");
            return result;
        }
        int main() {
            for (size_t i = 1; i <= 500; ++i) {
                void* block = call((void*)malloc, i, 0);
                block = call((void*)realloc, (size_t)block, 50 * i);
                call((void*)free, (size_t)block, 0);
                call((void*)free, (size_t)call((void*)calloc, 3, i), 0);
            }
        }"""
    program = compiled(folder, "beside", source, COMPILER, "-mno-red-zone", *WITHOUT_CXX)
    for more in ([], ["--record", "counters"], ["--details", "--age-step", "10ms"],
                 ["--children", "follow", "--memory"]):
        assert totals(recorder.report([program], *more))[:2] == (1500, 1500), more
    recorder.run([program], "--record", "sampled", "--sample-bytes", "300")


def main():
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(PROGRAM, folder)
        program = keeps(folder, COMPILER)
        starts_programs_with_sanitizers(recorder, folder)
        counts_what_looks_like_the_vector_of_a_thread(recorder, folder)
        starts_programs_of_musl(recorder, folder)
        streams_and_environment_stay(recorder)
        records_the_command_itself(recorder, program)
        takes_few_addresses(recorder, program)
        takes_few_descriptors(recorder, program)
        leaves_data_to_the_program(recorder, folder)
        runs_programs_with_filters(recorder, folder)
        leaves_names_to_the_program(recorder, folder)
        records_beside_a_free_of_the_program(recorder, folder)
        leaves_names_of_c23_to_libraries(recorder, folder)
        leaves_arithmetic_to_the_program(recorder, folder)
        takes_calls_with_any_stack(recorder, folder)


main()

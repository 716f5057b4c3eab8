"""The loops and the tools that run.py measures: what is started, and with which environment."""
import statistics

# Slow tools get less work, or one of them would take longer than all others together.
FULL, TENTH, FIFTIETH = 0, 1, 2
# Name, its column, threads, and steps for each of the three amounts of work.
LOOPS = {
    "churn": ("churn", 1, (10_000_000, 1_000_000, 200_000)),
    "churn, 2 threads": ("churn", 2, (6_000_000, 600_000, 100_000)),
    "freed by another thread": ("handover", 2, (3_000_000, 300_000, 100_000)),
    "containers": ("containers", 1, (1_000_000, 200_000, 100_000)),
    "large blocks": ("large", 1, (4000, 1000, 500)),
}
PEAK_LOOPS = ("churn", "containers")
JEMALLOC_PROFILE = "prof:true,prof_final:true,prof_prefix:je,lg_prof_sample:"


class Tool:
    """One row. `leaves`: the start of the name of a file that must be there afterwards."""

    def __init__(self, name, package="", work=FULL, program="plain", mode="none", environment=None,
                 command=(), leaves="", allocator=""):
        self.name, self.package, self.work, self.program = name, package, work, program
        self.mode, self.environment, self.command = mode, environment or {}, list(command)
        self.leaves, self.allocator = leaves, allocator
        self.problem = ""
        self.runs = {loop: [] for loop in LOOPS}  # one dictionary for each round

    def all(self, loop, key):
        return [run[key] for run in self.runs[loop] if key in run]

    def median(self, loop, key):
        """None when no round has it."""
        values = self.all(loop, key)
        return statistics.median(values) if values else None

    def peak_ratio(self, loop):
        return self.median(loop, "peak_kib") / self.median(loop, "plain_kib")

    def shown_command(self):
        words = [f"{name}={value}" for name, value in self.environment.items()]
        mode = f"'{self.mode}'" if " " in self.mode else self.mode
        return " ".join([*words, *self.command, f"./{self.program} LOOP THREADS STEPS {mode}"])


def ours(name, mode):
    return Tool(name, program="recorded", mode=mode)


def preloaded(name, package, library, **rest):
    variables = rest.pop("variables", {})
    return Tool(name, package, environment={"LD_PRELOAD": library, **variables}, **rest)


def valgrind(tool, *more, leaves=""):
    return Tool(f"Valgrind {tool}", "valgrind", FIFTIETH, leaves=leaves,
                command=["valgrind", "-q", f"--tool={tool}", *more])


PLAIN = Tool("plain malloc", "libc6")
OURS = [
    ours("allocscope, no window", "off"),
    ours("allocscope, counters", "counters"),
    ours("allocscope, sampled, 512 KiB", "sampled"),
    ours("allocscope, exact, 8 frames", "exact 8"),
    ours("allocscope, exact, 16 frames", "exact 16"),
    ours("allocscope, exact, 24 frames", "exact 24"),
]
JEMALLOC, TCMALLOC = "jemalloc, not profiling", "tcmalloc, not profiling"
PEERS = [
    preloaded(JEMALLOC, "libjemalloc2", "libjemalloc.so.2"),
    preloaded("jemalloc, sampled, 512 KiB", "libjemalloc2", "libjemalloc.so.2", leaves="je",
              allocator=JEMALLOC, variables={"MALLOC_CONF": JEMALLOC_PROFILE + "19"}),
    preloaded("jemalloc, every allocation", "libjemalloc2", "libjemalloc.so.2", leaves="je",
              allocator=JEMALLOC, work=FIFTIETH,
              variables={"MALLOC_CONF": JEMALLOC_PROFILE + "0"}),
    preloaded(TCMALLOC, "libgoogle-perftools4", "libtcmalloc.so.4"),
    preloaded("tcmalloc, sampled, 512 KiB", "libgoogle-perftools4", "libtcmalloc.so.4",
              allocator=TCMALLOC, variables={"TCMALLOC_SAMPLE_PARAMETER": "524288"}),
    preloaded("gperftools heap profiler", "libgoogle-perftools4", "libtcmalloc.so.4", leaves="hp",
              allocator=TCMALLOC, work=FIFTIETH, variables={"HEAPPROFILE": "hp"}),
    Tool("heaptrack", "heaptrack", TENTH, leaves="ht",
         command=["heaptrack", "-o", "ht"]),
    Tool("heaptrack, raw data only", "heaptrack", TENTH, leaves="ht",
         command=["heaptrack", "-r", "-o", "ht"]),
    Tool("LeakSanitizer", "liblsan0", program="leak_sanitizer"),
    valgrind("memcheck"),
    valgrind("massif", "--massif-out-file=massif", leaves="massif"),
    valgrind("dhat", "--dhat-out-file=dhat", leaves="dhat"),
    preloaded("glibc mtrace", "libc6", "libc_malloc_debug.so.0", leaves="mtrace", work=FIFTIETH,
              variables={"MALLOC_TRACE": "mtrace"}),
]
# Who answers the question that a mode of ours answers.
RIVALS = {
    "allocscope, sampled, 512 KiB": ["jemalloc, sampled, 512 KiB", "tcmalloc, sampled, 512 KiB"],
    "allocscope, exact, 24 frames": [peer.name for peer in PEERS if "sampled" not in peer.name
                                     and "not profiling" not in peer.name],
}

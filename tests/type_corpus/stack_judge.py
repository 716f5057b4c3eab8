"""What is true of a stack, read without code of allocscope.

- The frames: llvm-symbolizer, from the module and offset of each return address.
- The type of a `new`, or of a value that is thrown: what clang notes in that function.
- The type of what the library asks for: the name of the innermost function, as in
  std::allocator<T>::allocate.
- The place: the innermost frame that is neither the library's nor made by the compiler.
"""

import collections
import json
import os
import re
import subprocess

import clang_notes
from type_names import plain, qualified, split

LIBRARY_FOLDERS = re.compile(
    r"^/(usr/(include|lib|local/include|share)|lib)/|/include/c\+\+/|/(third[_-]?party|ThirdParty|"
    r"3rd[_-]?party|[vV]endor|vendored|[eE]xternals?|extern|deps|[dD]ependencies|contrib|"
    r"submodules|subprojects|_deps)/")
LIBRARY_NAMES = re.compile(
    r"^(std|__gnu_cxx|__cxxabiv1|__gnu_debug)::|^(_start|__libc_start\w*|main_thread|"
    r"start_thread|clone3?|__cxa_\w+|_dl_\w+|malloc|calloc|realloc|strdup)$|"
    r"(^|::)operator new(\[\])?$")
OF_ALLOCATORS = re.compile(r"(^|::)(do_)?allocate$")  # if the library asks them
ASKING = re.compile(r"(^|::)operator new(\[\])?$|^(malloc|calloc|realloc|aligned_alloc|"
                    r"posix_memalign|memalign|__libc_\w+|std::malloc)$")
SYSTEM = re.compile(r"/(libc|libstdc\+\+|ld-linux[\w-]*|libm|libgcc_s|libpthread)\.so")
OF_C = [("IO_file_doallocate", "char"), ("strdup", "char"), ("strndup", "char"),
        ("asprintf", "char"), ("getcwd", "char"), ("realpath", "char"), ("getdelim", "char"),
        ("tzset", "time zone"), ("fopen", "FILE"), ("fdopen", "FILE"), ("opendir", "DIR")]
SUBJECTS = "src tests test examples example app source unittests unittest samples".split()

# Functions that ask for what the function inside them asks for, with the type in one of the groups.
PASSED_ON = re.compile(
    r"std::allocator_traits<std::allocator<(.*)> ?>::allocate$|std::allocator<(.*)>::allocate$"
    r"|std::(?:_Vector_base|vector)<(.*)>::(?:resize|reserve|shrink_to_fit|\w+_back|_M_\w+)$")


class Symbolizer:
    def __init__(self, program):
        self.program = program
        self.known = {}

    def read(self, addresses):
        by_module = collections.defaultdict(set)
        for module, offset in addresses:
            if (module, offset) not in self.known:
                by_module[module].add(offset)
        for module, offsets in by_module.items():
            if not os.path.exists(module):
                continue
            wanted = sorted(offsets)
            told = subprocess.run(
                [self.program, f"--obj={module}", "--output-style=JSON", "--no-demangle"],
                input="\n".join(hex(each) for each in wanted), check=True, text=True,
                capture_output=True)
            for offset, line in zip(wanted, told.stdout.splitlines()):
                told_of = json.loads(line)
                if isinstance(told_of, list):
                    told_of = told_of[0]
                self.known[module, offset] = told_of.get("Symbol", [])

    def frames(self, module, offset):
        return self.known.get((module, offset)) or [{"FunctionName": "", "FileName": "", "Line": 0}]


def demangled(names):
    names = sorted(names)
    told = subprocess.run(["c++filt"], input="\n".join(names), check=True, text=True,
                          capture_output=True).stdout.splitlines()
    return dict(zip(names, told))


def lambda_free(name):
    return re.sub(r"\d\$_\d+|UlvE\d*_|Ul.*?E\d*_", "L", name)


class Frame:
    def __init__(self, told, module):
        self.mangled = told.get("FunctionName", "")
        self.name = ""
        self.file = os.path.normpath(told["FileName"]) if told.get("FileName") else ""
        self.line = told.get("Line", 0)
        self.column = told.get("Column", 0)
        self.declared = (os.path.normpath(told["StartFileName"]) if told.get("StartFileName")
                         else "", told.get("StartLine", 0))
        self.module = module


class Judge:
    def __init__(self, functions, at_line):
        self.functions = functions
        self.at_line = collections.defaultdict(list)
        for (file, line), news in at_line.items():
            self.at_line[os.path.realpath(file), line] += news
        self.thrown_at = collections.defaultdict(list)
        for function in functions.values():
            for thrown in function.thrown:
                self.thrown_at[os.path.realpath(function.file), thrown[0]].append(thrown)
        self.without_lambdas = collections.defaultdict(list)
        for name, function in functions.items():
            if "$_" in name or "Ul" in name:
                self.without_lambdas[lambda_free(name)] += function.news
        self.sources = {}
        self.frames = {}
        self.root = None

    def find_root(self, frames):
        """The folder of the program's own code."""
        self.root = None
        for frame in frames:
            if frame.name == "main" and re.search(r"\.(c|cc|cpp|cxx)$", frame.file):
                self.root = os.path.dirname(frame.file)
                while os.path.basename(self.root) in SUBJECTS:
                    self.root = os.path.dirname(self.root)
                return

    def is_library(self, frame):
        if LIBRARY_NAMES.search(frame.name) or SYSTEM.search(frame.module):
            return True
        if not frame.file:
            return True
        if self.root and frame.file.startswith(self.root + "/"):
            inside = frame.file[len(self.root):]
            return bool(LIBRARY_FOLDERS.search(inside)) and not inside.startswith("/usr")
        return bool(LIBRARY_FOLDERS.search(frame.file))

    def source_line(self, file, line):
        if file not in self.sources:
            try:
                with open(file, encoding="utf-8", errors="replace") as lines:
                    self.sources[file] = lines.read().splitlines()
            except OSError:
                self.sources[file] = []
        lines = self.sources[file]
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def opened_at(self, frame):
        """If a closing bracket stands at the place: the line on which this was opened."""
        line = frame.line
        text = self.source_line(frame.file, line)
        at = frame.column - 1
        if at < 0 or text[at:at + 1] not in (")", "}", "]"):
            at = len(text) - len(text.lstrip())
            if text[at:at + 1] not in (")", "}", "]"):
                return line
        text = text[:at + 1]
        depth = 0
        while line > 0:
            text = re.sub(r'"(?:[^"\\]|\\.)*"|//.*|'
                          r"'[(){}\[\]]'", "", text)
            for letter in reversed(text):
                depth += (letter in ")}]") - (letter in "({[")
                if depth == 0:
                    return line
            line -= 1
            text = self.source_line(frame.file, line)
        return 0

    def ends_block(self, frame):
        """g++ gives the line of the brace to what makes temporary parts of an expression."""
        return re.fullmatch(r"\s*\}\)*[;,]?\s*", self.source_line(frame.file, frame.line))

    def is_made(self, frame):
        """A copy or assignment that the compiler made."""
        if frame.line != frame.declared[1]:
            return False  # the initialiser of a member
        known = self.functions.get(clang_notes.one_name(frame.mangled))
        if known and known.is_artificial:
            return True
        if re.match(r"\{lambda\}::[~{$]", frame.name):
            return True
        last = re.sub(r"<.*", "", frame.name.rsplit("::", 1)[-1])
        scopes = split(frame.name, "::")
        is_special = last == "operator=" or last.startswith("operator_61") or (
            len(scopes) > 1 and scopes[-1].split("<")[0] == scopes[-2].split("<")[0])
        return is_special and re.search(r"= *default\b|^\s*(struct|class)\b",
                                        self.source_line(*frame.declared))

    def logical(self, stack, symbolizer, names):
        frames = []
        for module, offset, function, is_inlined in stack.frames:
            if is_inlined:
                continue
            if (module, offset) not in self.frames:
                self.frames[module, offset] = self.frames_at(module, offset, function, symbolizer,
                                                             names)
            frames += self.frames[module, offset]
        return frames

    def frames_at(self, module, offset, function, symbolizer, names):
        frames = [Frame(each, module) for each in symbolizer.frames(module, offset)]
        for frame in frames:
            frame.name = qualified(names.get(frame.mangled, frame.mangled))
            if not frame.file and not frame.name:
                frame.name = qualified(function)
        return frames

    def has_place(self, frame):
        """clang gives line 0 to code that it has merged; with -g1 no function has a declaration."""
        if frame.line or not frame.file or frame.mangled.startswith("_GLOBAL__"):
            return frame.line > 0
        return frame.file == frame.declared[0] or not frame.declared[1]

    def place(self, frames):
        """None: no frame has a line that the program's author wrote."""
        own = [frame for frame, outer in zip(frames, [*frames[1:], None])
               if not self.is_made(frame) and self.has_place(frame) and not (
                   OF_ALLOCATORS.search(frame.name) and outer
                   and LIBRARY_NAMES.search(outer.name))]
        mains = [frame for frame in own if frame.name == "main"]
        inner = [frame for frame in own if frame.name != "main"]
        for frame in inner:
            if not self.is_library(frame):
                return frame
        if all(self.is_library(frame) for frame in mains):
            for frame in inner:
                if not LIBRARY_NAMES.search(frame.name) and not SYSTEM.search(frame.module):
                    return frame
        return mains[0] if mains else None

    @staticmethod
    def element(type_):
        """What stands in a block for elements of a type of the library."""
        name = plain(type_)
        if re.match(r"absl::(\w+::)?container_internal::AlignedType<", name):
            return "container slots"
        found = re.match(r"std::(_Rb_tree|_List|_Fwd_list|__detail::_Hash)_node<|boost::"
                         r"(unordered::detail::(ptr_)?node|any::holder|container::dtl::"
                         r"(list|slist|tree)_node)<", name)
        if found:
            return plain(split(name[found.end():-1])[0])
        if name in ("std::__detail::_Hash_node_base*", "boost::unordered::detail::ptr_bucket"):
            return "hash buckets"
        found = re.match(r"boost::detail::sp_counted_impl_(p|pd|pda)<", name)
        if found:
            inner = split(name[found.end():-1])
            if len(inner) > 1 and inner[1].startswith("boost::detail::sp_ms_deleter<"):
                return Judge.element(inner[0][:-1])
            return f"boost::shared_ptr<{plain(inner[0].removesuffix('*'))}> control block"
        found = re.match(r"std::_Sp_counted_(ptr_inplace|ptr|deleter)<", name)
        if found:
            inner = split(name[found.end():-1])[0]
            if found[1] == "ptr_inplace":
                return Judge.element(inner)
            return f"std::shared_ptr<{plain(inner)[:-1]}> control block"
        found = re.match(r"std::__shared_ptr_(emplace|pointer)<", name)  # of libc++
        if found:
            inner = split(name[found.end():-1])[0]
            if found[1] == "emplace":
                return Judge.element(inner)
            return f"std::shared_ptr<{plain(inner)[:-1]}> control block"
        if re.match(r"std::thread::_State_impl<", name):
            return "std::thread state"
        if re.match(r"std::__future_base::(_State_baseV2|\w+_state(_impl)?\b)", name):
            return "std::future state"
        found = re.match(r"std::__future_base::_Result<(.*)>$", name)
        if found:
            return f"std::future<{found[1]}> result"
        return name

    def of_note(self, frame):
        key = clang_notes.one_name(frame.mangled)
        news = []
        if key in self.functions:
            news = self.functions[key].news
        if not news:
            news = self.without_lambdas.get(lambda_free(key), [])
        if not news and frame.file:
            news = self.at_line.get((os.path.realpath(frame.file), frame.line), [])
        if len({each[2][0] for each in news}) > 1:
            here = [each for each in news if each[0] == frame.line]
            news = here or news
        return news

    def types(self, frames, size):
        """The names that are right for the type; none if nothing says what it is."""
        at = 0
        while at < len(frames) and ASKING.search(frames[at].name):
            at += 1
        inside = {frame.name for frame in frames[at:] if "libc.so" in frame.module and
                  not re.search(r"^(__libc_start|call_init|start_thread)", frame.name)} \
            if at < len(frames) and "libc.so" in frames[at].module else set()
        if inside:
            return next(({type_} for name, type_ in OF_C if any(name in each for each in inside)),
                        set()), "libc"
        if at == len(frames):
            return set(), "nothing"
        frame = frames[at]
        found = re.match(r"(?:std::__new_allocator|__gnu_cxx::new_allocator|std::allocator)"
                         r"<(.*)>::allocate$", frame.name)
        if found:
            # g++ or the linker may have kept one of several functions with equal code.
            type_ = found[1]
            for frame in frames[at + 1:]:
                found = PASSED_ON.match(frame.name)
                if not found:
                    break
                type_ = found[1] or found[2] or split(found[3], ", ")[0]
            return {self.element(type_)}, "allocator"
        found = re.match(r"std::(?:__detail::)?(?:__)?get_temporary_buffer<(.*)>$", frame.name)
        if found:
            return {self.element(found[1])}, "buffer"
        found = re.match(r"std::basic_(?:\w*string\w*|filebuf|[io]*fstream)<([\w ]+)", frame.name)
        if found:
            return {plain(found[1])}, "string"
        if frame.name == "__cxa_allocate_exception":
            thrower = frames[at + 1] if at + 1 < len(frames) else None
            known = thrower and self.functions.get(clang_notes.one_name(thrower.mangled))
            thrown = known.thrown if known else self.thrown_at.get(
                (os.path.realpath(thrower.file), thrower.line), []) if thrower else []
            here = [each for each in thrown if each[0] == thrower.line] or thrown
            told = demangled({f"_ZTI{n}" for _, n in here}).values() if here else ()
            return {plain(each.removeprefix("typeinfo for ")) for each in told}, "thrown"
        if "libstdc++" in frame.module:
            return {"char"} if frame.name.startswith("std::string::") else set(), frame.name
        if SYSTEM.search(frame.module):
            return set(), "loader"
        notes = self.of_note(frame)
        names = {self.element(name) for each in notes for name in each[2]}
        is_named = "(" in frame.name or "::" in frame.name or frame.name == "main"
        if notes and is_named and len({self.element(each[2][-1]) for each in notes}) > 1:
            fits = [each for each in notes if size == each[3]]
            fits = fits or [each for each in notes if each[3] and size % each[3] == 0]
            names = {self.element(name) for each in fits or notes for name in each[2]}
        return names, "note" if names else "nothing"

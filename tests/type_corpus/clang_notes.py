"""What clang notes of each call of operator new: function, line and type.

clang++ writes `!heapallocsite` beside a call that a `new` expression makes, with the debug
information of the type: in each instantiation of a template the type that T has there. It is
written into LLVM's text form only, not into a program.
"""

import collections
import dataclasses
import re


@dataclasses.dataclass
class Function:
    file: str
    line: int
    is_artificial: bool
    news: list = dataclasses.field(default_factory=list)  # (line, column, spellings, bytes)
    thrown: list = dataclasses.field(default_factory=list)  # (line, mangled name of the type)


NODE = re.compile(r"(?:distinct )?!(?:(DI\w+)\((.*)\)|\{(.*)\})$")
DEFINED = re.compile(r'define .*?@"?([^"(]+?)"?\(.*!dbg !(\d+)')
NEW = re.compile(r"!dbg !(\d+).*!heapallocsite !(\d+)")
THROWN = re.compile(r'@__cxa_throw\(ptr [^,]*, ptr @"?_ZTI([\w.$]+)"?')
PLACE = re.compile(r"!dbg !(\d+)")


def one_name(function):
    """Constructors have a name for each of two uses, and compilers choose differently. g++ marks
    functions whose parameters it has changed."""
    function = re.sub(r"\.(isra|constprop|part|cold|lto_priv)\b.*", "", function)
    return re.sub(r"C[123](?=[EI]|Ev|[a-zR])", "C0", function)


class Notes:
    def __init__(self, lines):
        self.nodes = {}
        self.functions = {}
        bodies = []
        body = None
        for line in lines:
            if line[0] == "!":
                number, _, node = line.partition(" = ")
                self.nodes[number[1:]] = node
            elif line.startswith("define "):
                found = DEFINED.match(line)
                body = (found[1], found[2], [], []) if found else None
                if body:
                    bodies.append(body)
            elif body and "heapallocsite" in line:
                body[2].append(NEW.search(line).groups())
            elif body and "@__cxa_throw(" in line:
                found = THROWN.search(line)
                pending = found[1] if found else None
                place = PLACE.search(line)
                body[3].append([place[1] if place else None, pending])
            elif body and body[3] and body[3][-1][0] is None:
                place = PLACE.search(line)
                body[3][-1][0] = place[1] if place else None
        self.known = {}
        for name, about, news, thrown in bodies:
            self.functions[one_name(name)] = self.function(about, news, thrown)

    def node(self, number):
        found = NODE.match(self.nodes.get(number, "").rstrip())
        return (found[1], found[2] if found[1] else found[3]) if found else (None, "")

    def fields(self, number):
        kind, text = self.node(number)
        fields = {}
        for part in re.finditer(r'(\w+): ("(?:[^"\\]|\\.)*"|[^,]*(?:\([^)]*\))?[^,]*)', text or ""):
            fields[part[1]] = part[2].strip('"') if part[2].startswith('"') else part[2]
        return kind, fields

    def file_of(self, fields):
        number = fields.get("file", "")[1:]
        if not number:
            return ""
        _, file = self.fields(number)
        name, folder = file["filename"], file.get("directory", "")
        return name if name.startswith("/") else f"{folder}/{name}"

    def function(self, about, news, thrown):
        _, fields = self.fields(about)
        flags = fields.get("flags", "")
        declared = fields.get("declaration", "")[1:]
        if declared:
            _, of = self.fields(declared)
            flags += of.get("flags", "")
        made = Function(self.file_of(fields), int(fields.get("line", "0")),
                        "DIFlagArtificial" in flags)
        for place, type_ in news:
            _, at = self.fields(place)
            made.news.append((int(at.get("line", 0)), int(at.get("column", 0)),
                              self.spellings(type_), self.size(type_)))
        for place, type_ in thrown:
            if place:
                _, at = self.fields(place)
                made.thrown.append((int(at.get("line", 0)), type_))
        return made

    def size(self, number):
        kind, fields = self.fields(number)
        if kind == "DIDerivedType" and "size" not in fields and "baseType" in fields:
            return self.size(fields["baseType"][1:])
        return int(fields.get("size", 0)) // 8

    def spellings(self, number):
        """The type as it is, and as it is called where it has another name."""
        if self.node(number)[0] is None:
            return ["void"]
        found = [self.spelled(number)]
        kind, fields = self.fields(number)
        while kind == "DIDerivedType" and "typedef" in fields["tag"] and "baseType" in fields:
            number = fields["baseType"][1:]
            found.append(self.spelled(number))
            kind, fields = self.fields(number)
        return found

    def spelled(self, number):
        if number not in self.known:
            self.known[number] = "?"  # of itself
            self.known[number] = self.spell(number)
        return self.known[number]

    def scope(self, fields):
        number = fields.get("scope", "")[1:]
        if not number.isdigit():
            return ""
        kind, of = self.fields(number)
        if kind in ("DIFile", "DICompileUnit"):
            return ""
        outer = self.scope(of)
        name = of.get("name", "")
        return f"{outer}{name}::" if name else outer

    def spell(self, number):
        kind, fields = self.fields(number)
        base = fields.get("baseType", "")[1:]
        of = self.spelled(base) if base.isdigit() else "void"
        tag = fields.get("tag", "")
        if kind == "DISubroutineType":
            types = self.node(fields["types"][1:])[1].split(", ")
            names = ["void" if each == "null" else self.spelled(each[1:]) for each in types]
            return f"{names[0]}({', '.join(names[1:])})"
        if "array_type" in tag:
            return f"{of}[]"
        if kind == "DIDerivedType":
            suffix = {"DW_TAG_pointer_type": "*", "DW_TAG_reference_type": "&",
                      "DW_TAG_rvalue_reference_type": "&&"}.get(tag)
            if suffix:
                return re.sub(r"\(", f" ({suffix})(", of, 1) if self.node(base)[0] == \
                    "DISubroutineType" else of + suffix
            if tag == "DW_TAG_const_type":
                return of + " const" if of.endswith("*") else "const " + of
            if tag == "DW_TAG_volatile_type":
                return "volatile " + of
        if "name" not in fields:
            return "{unnamed}" if "identifier" in fields or "elements" in fields else of
        return self.scope(fields) + fields["name"]


def merged(all_notes):
    functions = {}
    initialisers = []  # of variables: each file has one with the name of this one
    for notes in all_notes:
        for name, function in notes.functions.items():
            if name.startswith("__cxx_global_var_init"):
                initialisers.append(function)
                continue
            known = functions.setdefault(name, function)
            if known is not function and len(function.news) > len(known.news):
                functions[name] = function
    at_line = collections.defaultdict(list)
    for function in [*functions.values(), *initialisers]:
        for line, column, spellings, size in function.news:
            at_line[function.file, line].append((line, column, spellings, size))
    return functions, at_line

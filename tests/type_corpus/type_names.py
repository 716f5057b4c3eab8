"""Compares the names that two tools give a type: allocscope, and a compiler or a demangler."""

import functools
import re

CLOSING = {"<": ">", "(": ")", "[": "]"}
# What a name says only to tell versions of a library apart.
VERSIONS = re.compile(r"\b(?:__cxx11|__1|json_abi_\w+|toml11_\w+|v\d+|_V2|_V1|ryu|lts_\d+)::")
LAMBDA = re.compile(r"\(lambda at [^)]*\)|'lambda\d*'|\{lambda(?:\([^{}]*\)#\d+)?\}|<lambda\(.*?\)>"
                    r"|\$_\d+|\{unnamed\}")
DEFAULTS = ("std::allocator", "std::char_traits", "std::less", "std::hash", "std::equal_to",
            "std::default_delete")
WORDS = [("long long unsigned int", "unsigned long long"), ("long unsigned int", "unsigned long"),
         ("short unsigned int", "unsigned short"), ("unsigned int", "unsigned"),
         ("long long int", "long long"), ("long int", "long"), ("short int", "short"),
         ("_Bool", "bool"), (r"decltype\(nullptr\)", "std::nullptr_t")]
ALIASES = {"std::basic_string<char>": "std::string", "std::basic_string<wchar_t>": "std::wstring",
           "std::basic_string_view<char>": "std::string_view",
           "std::basic_ostringstream<char>": "std::ostringstream",
           "std::basic_stringstream<char>": "std::stringstream",
           "std::basic_istringstream<char>": "std::istringstream",
           "std::basic_ofstream<char>": "std::ofstream",
           "std::basic_ifstream<char>": "std::ifstream",
           "std::basic_ostream<char>": "std::ostream", "std::basic_istream<char>": "std::istream",
           "std::basic_stringbuf<char>": "std::stringbuf",
           "std::basic_filebuf<char>": "std::filebuf",
           "std::match_results<__gnu_cxx::__normal_iterator<const char*,std::string>>":
               "std::smatch"}


def end_of(text, at):
    """Behind the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "<([{":
            depth += 1
        elif text[i] in ">)]}" and text[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i + 1
    return len(text)


def split(text, separator=","):
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        if letter in "<([{":
            depth += 1
        elif letter in ">)]}" and text[i - 1:i] != "-":
            depth -= 1
        elif depth == 0 and text.startswith(separator, i):
            parts.append(text[start:i])
            start = i + len(separator)
    return [*parts, text[start:]]


def with_plain_lambdas(text):
    """Lambdas without the names of the functions around them."""
    text = LAMBDA.sub("{lambda}", text)
    at = text.find("{lambda}")
    while at >= 0:
        end = at + len("{lambda}")
        start = at
        if text[end:end + 1] == "(" and text[start - 2:start] == "::":  # 'lambda'(int)
            text = text[:end] + text[end_of(text, end):]
        depth = 0
        while start > 0:
            letter = text[start - 1]
            if letter in ">)]}":
                depth += 1
            elif letter in "<([{":
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and not (letter.isalnum() or letter in "_:~") and \
                    text[:start][-6:] != " const":
                if letter != " " or not re.search(r"\bconst::$", text[start:at]):
                    break
            start -= 1
        text = text[:start] + text[at:]
        at = text.find("{lambda}", start + 1)
    return text


@functools.cache
def plain(name):
    """The name, spelled in one way."""
    name = name.replace("(anonymous namespace)::", "").replace("{anonymous}::", "")
    name = VERSIONS.sub("", with_plain_lambdas(name))
    for long, short in WORDS:
        name = re.sub(rf"\b{long}(?!\w)", short, name)
    return one_type(name.strip())


def one_argument(text):
    text = text.strip()
    number = re.fullmatch(r"(?:\([\w:<>, ]+\))?(-?\d+)[uUlL]*", text)
    if number:
        return number[1]
    letter = re.fullmatch(r"(?:\(char\))?'(.)'", text)
    if letter:
        return str(ord(letter[1]))
    return {"true": "1", "false": "0"}.get(text) or one_type(text)


def one_type(text):
    """const before a name, behind a pointer; no spaces that are not needed; no defaults."""
    text = text.strip()
    suffix = re.search(r"(?:\s*(?:\*|&|\bconst\b|\[\d*\]))+$", text)
    tail = ""
    if suffix and not re.fullmatch(r"const", suffix[0].strip()):
        tail = re.sub(r"\s+", "", suffix[0])
        text = text[:suffix.start()].strip()
        if tail.startswith("const"):
            tail, text = tail[5:], "const " + text
    elif suffix:
        text = "const " + text[:suffix.start()].strip()
    words, out, at = text, "", 0
    qualifiers = set()
    while True:
        found = re.match(r"(const|volatile|struct|class|enum|union|typename)\s+", words)
        if not found:
            break
        if found[1] in ("const", "volatile"):
            qualifiers.add(found[1])
        words = words[found.end():]
    while at < len(words):
        if words[at] == "<" and not words[:at].endswith("operator"):
            end = end_of(words, at)
            arguments = [one_argument(each) for each in split(words[at + 1:end - 1])
                         if each.strip()]
            while arguments and arguments[-1].startswith(DEFAULTS) and len(arguments) > 1:
                arguments.pop()
            out += "<" + ",".join(arguments) + ">"
            at = end
        elif words[at] == "(":
            end = end_of(words, at)
            if words.startswith("::", end) or words.startswith(" const::", end):
                at = words.index("::", end)  # a class in a function
            else:
                inside = words[at + 1:end - 1].strip()
                result = re.match(r"(.*?)([*&\s]*)$", out)  # of a function
                out = ALIASES.get(result[1], result[1]) + result[2].strip()
                out += ("(" + inside + ")" if re.fullmatch(r"[\w:]*\*|&", inside)
                        else "(" + ",".join(one_argument(each) for each in split(inside)) + ")")
                at = end
        else:
            out += words[at]
            at += 1
    out = re.sub(r"\s*(::|\*|&)\s*", r"\1", out.strip())
    out = re.sub(r"\b([\w:]+(?:<.*>)?) const(?=\(&)", r"const \1", out)
    iterator = re.match(r"__gnu_cxx::__normal_iterator<(const )?.*\*,(std::.*)>$", out)
    if iterator:
        out = iterator[2] + ("::const_iterator" if iterator[1] else "::iterator")
    out = re.sub(r"^std::_List_(const_)?iterator<(.*)>$", r"std::list<\2>::\1iterator", out)
    out = re.sub(r"^std::chrono::time_point<std::chrono::(\w+_clock),.*>$",
                 r"std::chrono::\1::time_point", out)
    out = re.sub(r"^nlohmann::basic_json<std::map,std::vector,std::string,bool,long,unsigned long,"
                 r"double,std::allocator,nlohmann::adl_serializer(,std::vector<unsigned char>)?"
                 r"(,void)?>$", "nlohmann::json", out)
    out = re.sub(r"^nlohmann::basic_json<nlohmann::ordered_map,std::vector,std::string,bool,long,"
                 r"unsigned long,double,std::allocator,nlohmann::adl_serializer\b.*>$",
                 "nlohmann::ordered_json", out)
    out = ALIASES.get(out, out)
    return "".join(f"{each} " for each in sorted(qualifiers)) + out + tail


def pieces(name):
    """Of a plain name: what stands before the arguments, these, and what stands behind."""
    at = name.find("<")
    if at < 0:
        return name, None, ""
    end = end_of(name, at)
    inside = name[at + 1:end - 1]
    return name[:at], split(inside) if inside else [], name[end:]


@functools.cache
def is_same(told, true):
    """`told` may lack the last template arguments of a class, and outer scopes."""
    if told == true or true.endswith("::" + told):
        return True
    before, few, behind = pieces(told)
    real, many, rest = pieces(true)
    if many is None or not (before == real or real.endswith("::" + before)):
        return few is None and many is None and before == real
    if few is None:
        few = []
    if len(few) > len(many):
        return False
    return all(is_same(one, other) for one, other in zip(few, many)) and \
        (is_same(behind, rest) if behind or rest else True)


@functools.cache
def qualified(function):
    """Of a demangled function: its name with the scopes, without return type and parameters."""
    name = with_plain_lambdas(function.replace("(anonymous namespace)::", ""))
    name = VERSIONS.sub("", re.sub(r"\[abi:\w+\]", "", name))
    name = re.sub(r"operator(<<=?|>>=?|<=>?|>=?|->\*?|\(\)|<)",
                  lambda found: "operator" + "".join(f"_{ord(each)}" for each in found[1]), name)
    depth, start = 0, 0
    for i, letter in enumerate(name):
        if letter in "<([{":
            if letter == "(" and depth == 0 and i > start:
                end = end_of(name, i)
                if not name.startswith("::", end) and not name.startswith(" const::", end):
                    return name[start:i]
            depth += 1
        elif letter in ">)]}":
            depth -= 1
        elif letter == " " and depth == 0 and not re.search(r"\boperator$", name[:i]) and \
                " operator " not in name[start:i] and "operator " not in name[start:i + 1] and \
                not name.startswith(" const::", i):
            start = i + 1
    return name[start:]

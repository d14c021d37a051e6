#!/usr/bin/env python3
"""Checks the rules of CONTRIBUTING.md that a machine can check.

    tidy.py [--root FOLDER] [--built compile_commands.json]

Each violation is one line, "file:line: what". There is no exception list:
a rule that needs one is the wrong rule. tools/test_tidy.py breaks every rule
once and looks that it is seen.
"""

import argparse
import ast
import collections
import functools
import json
import pathlib
import re
import sys

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 600
COLUMNS_MAX = {
    ".c": 80, ".h": 80, ".proto": 80, ".cmake": 80, ".txt": 80,
    ".sh": 80, ".test": 80, ".py": 88, ".md": 120,
}
TEXT = set(COLUMNS_MAX) | {".json", ".toml", ".in", ".yml"}

# The floors of the house. A room sees itself and the rooms on lower floors.
FLOOR = {
    "base": 0,
    "store": 1, "format": 1,
    "manifest": 2,
    "producer": 3, "consumer": 3, "reclaim": 3, "inspect": 3,
    "api": 4,
}

# Folders of other people's programs: they use the public header only.
OUTSIDE = ("cli", "python", "bench", "examples")

# A library that one file hides from the rest.
OWNED_HEADERS = {
    "curl/": "src/store/s3_http.c",
    "expat.h": "src/store/s3_xml.c",
    "isa-l": "src/base/crc32c.c",
}

# (functions, where they are banned, where not, what to use)
BANNED = [
    ("strcpy strcat sprintf vsprintf gets strncpy strncat", "", "",
     "snprintf, memcpy or lks_buf"),
    ("strtok atoi atol atoll atof", "", "", "a parser that reports errors"),
    ("alloca", "", "", "the heap"),
    ("asctime ctime localtime gmtime", "", "", "the _r form"),
    ("rand srand random srandom drand48", "", "", "lks_env_random"),
    ("getenv secure_getenv", "src/",
     r"src/base/(options|trace|env\w*)\.c|src/store/credentials\w*\.c",
     "an option"),
    ("malloc calloc realloc free strdup strndup asprintf vasprintf "
     "aligned_alloc posix_memalign", "src/", r"src/base/alloc\.c",
     "base/alloc.h"),
    ("printf vprintf puts putchar perror", "src/", "", "the log sink"),
    ("exit _exit quick_exit", "src/", "", "a status"),
    ("time clock clock_gettime gettimeofday sleep usleep nanosleep "
     "clock_nanosleep pthread_create pthread_cond_wait "
     "pthread_cond_timedwait getrandom", "src/", r"src/base/env\w*\.c",
     "base/env.h"),
]

MARKERS = re.compile(r"\b(" + "|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X",
                                        "HA" + "CK")) + r")\b")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+([<"])([^>"\n]+)[>"]', re.M)
COMMENT_OR_TEXT = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
MARKDOWN_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
MARKDOWN_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.S | re.M)

Finding = collections.namedtuple("Finding", "path line what")


class Source:
    """One text file, read once."""

    def __init__(self, root, path):
        self.path = path.relative_to(root).as_posix()
        self.name = path.name
        self.suffix = path.suffix
        self.folder = self.path.rpartition("/")[0]
        data = path.read_bytes()
        self.text = data.decode("utf-8", "surrogateescape")
        self.lines = self.text.split("\n")
        if self.lines[-1] == "":
            self.lines.pop()

    def is_c(self):
        return self.suffix in (".c", ".h")

    @functools.cached_property
    def code(self):
        """Without comments and literals."""
        return COMMENT_OR_TEXT.sub(blank, self.text)

    @functools.cached_property
    def code_with_literals(self):
        def keep(match):
            return blank(match) if match[0][0] == "/" else match[0]
        return COMMENT_OR_TEXT.sub(keep, self.text)

    def room(self):
        """The room whose view of the tree this file has, or None."""
        parts = self.path.split("/")
        if parts[0] == "src":
            return parts[1] if len(parts) > 2 else "api"
        if parts[:2] == ["tests", "unit"] and len(parts) > 3:
            return parts[2]
        if parts[:2] == ["tests", "contract"]:
            return "store"
        if parts[:2] == ["bench", "pacing"]:
            return "producer"  # a model of one room's pure code
        return None


def blank(match):
    """Spaces for a comment or literal, so that line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def check_lines(source):
    limit = COLUMNS_MAX.get(source.suffix)
    for number, line in enumerate(source.lines, 1):
        if limit and len(line) > limit:
            yield number, f"{len(line)} columns, at most {limit}"
        if "\t" in line and source.name != "Makefile":
            yield number, "a tab; indent with spaces"
        if line != line.rstrip():
            yield number, "trailing space"
        if MARKERS.search(line):
            yield number, "an unfinished-work marker; open an issue instead"
    if source.text and not source.text.endswith("\n"):
        yield len(source.lines), "no newline at the end"


def check_file_size(source):
    if source.is_c() or source.suffix == ".py":
        count = len(source.lines)
        if count > FILE_LINES_MAX:
            yield count, f"{count} lines, at most {FILE_LINES_MAX}; split it"


def too_long(name, count):
    return f"{name}: {count} lines, at most {FUNCTION_LINES_MAX}"


def check_c_functions(source):
    """A body opens with { and closes with } in column 0, and nowhere else."""
    if not source.is_c():
        return
    lines = source.code.split("\n")
    opened = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            if opened:
                yield opened, "a function body that does not close in column 0"
            opened = number
        elif line.startswith("}") and opened:
            count = number - opened + 1
            if count > FUNCTION_LINES_MAX:
                yield opened, too_long("function", count)
            opened = None
        elif re.match(r"[A-Za-z_ ].*\)\s*\{", line) and not opened:
            yield number, "the { of a function body belongs in column 0"
    if opened:
        yield opened, "a function body that does not close in column 0"


def check_python_functions(source):
    if source.suffix != ".py":
        return
    try:
        tree = ast.parse(source.text)
    except SyntaxError as error:
        yield error.lineno or 1, f"does not parse: {error.msg}"
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            count = node.end_lineno - node.lineno + 1
            if count > FUNCTION_LINES_MAX:
                yield node.lineno, too_long(node.name, count)


def check_opening_comment(source):
    if source.suffix == ".c" and not source.text.startswith("/*"):
        yield 1, "begins without the comment that says what this file is"


def check_typedefs(source):
    if not source.is_c():
        return
    code = source.code
    for match in re.finditer(r"\btypedef\s+(struct|union|enum)\b([^;{]*)", code):
        if "(" in match.group(2):
            continue  # a function's type
        yield (line_of(code, match.start()),
               f"typedef {match.group(1)}; write the tag")


def check_asserts(source):
    if not source.is_c():
        return
    code = source.code
    for match in re.finditer(r"\bassert\(([^;]*)\);", code):
        depth = 0
        for index, char in enumerate(match.group(1)):
            depth += (char == "(") - (char == ")")
            if depth == 0 and match.group(1)[index:index + 2] == "&&":
                yield (line_of(code, match.start()),
                       "two conditions in one assert; write two asserts")
                break


def check_banned(source):
    if not source.is_c():
        return
    instead_of = {}
    for names, where, except_in, instead in BANNED:
        if not source.path.startswith(where):
            continue
        if not except_in or not re.fullmatch(except_in, source.path):
            instead_of.update(dict.fromkeys(names.split(), instead))
    code = source.code
    for match in re.finditer(r"(?<![\w.>])(\w+)\s*\(", code):
        if match[1] in instead_of:
            yield (line_of(code, match.start()),
                   f"{match[1]}() is banned here; use {instead_of[match[1]]}")
    if source.path.startswith("src/"):
        for match in re.finditer(r"\b(stdout|stderr)\b", code):
            yield (line_of(code, match.start()),
                   f"{match.group(1)}; the library never prints")


def include_from_room(source, room, name):
    """What is wrong with a quoted include in a room, or None."""
    if name == "lakestream.h":
        return None
    if name.endswith(".pb-c.h"):
        return None if room == "format" else "only format/ sees generated code"
    target = name.split("/")[0]
    if "/" not in name or target == "..":
        return f'"{name}": name the room, as in "base/error.h"'
    if source.path.startswith("tests/") and target == "support":
        return None
    if room not in FLOOR:
        return f"room {room} has no floor in tools/tidy.py"
    if target not in FLOOR:
        return f'"{name}": there is no room {target}'
    if target != room and FLOOR[target] >= FLOOR[room]:
        return f'"{name}": {room} may only include lower rooms'
    return None


def check_includes(source, paths):
    if not source.is_c():
        return
    code = source.code_with_literals
    for match in INCLUDE.finditer(code):
        line, name = line_of(code, match.start()), match.group(2)
        for prefix, owner in OWNED_HEADERS.items():
            if name.startswith(prefix) and source.path != owner:
                yield line, f"<{name}> is for {owner} alone"
        if match.group(1) != '"':
            continue
        room = source.room()
        own = f"{source.folder}/{name}" in paths
        if room and own and source.path.startswith("bench/"):
            continue
        if room:
            what = include_from_room(source, room, name)
            if what:
                yield line, what
        elif source.path.split("/")[0] in OUTSIDE:
            if name != "lakestream.h" and not own:
                yield line, f'"{name}": only lakestream.h is public'


def is_data(path):
    return re.match(r"tests/(golden|fuzz/corpus|data)/", path)


def check_unique_names(paths):
    """So that a file name in a log line is an address."""
    first = {}
    for path in sorted(paths):
        name = path.rpartition("/")[2]
        if is_data(path) or name in ("README.md", "CMakeLists.txt",
                                     "__init__.py"):
            continue
        if name in first:
            yield Finding(path, 1, f"same file name as {first[name]}")
        first.setdefault(name, path)


def check_dead_headers(sources):
    included = set()
    for source in sources:
        if source.is_c():
            for match in INCLUDE.finditer(source.code_with_literals):
                included.add(match.group(2).rpartition("/")[2])
    for source in sources:
        if source.suffix == ".h" and source.name not in included:
            yield Finding(source.path, 1, "nobody includes this header")


def check_dead_sources(root, sources, built):
    """`built` is CMake's own account of what it compiles."""
    if built is None:
        return
    compiled = {pathlib.Path(entry["directory"], entry["file"]).resolve()
                for entry in json.loads(built.read_text())}
    for source in sources:
        if source.suffix == ".c" and (root / source.path) not in compiled:
            yield Finding(source.path, 1, "nobody builds this file")


def check_documents(root, sources):
    linked = set()
    for source in sources:
        if source.suffix != ".md":
            continue
        prose = MARKDOWN_CODE.sub(blank, source.text)
        for match in MARKDOWN_LINK.finditer(prose):
            target = match.group(1)
            if re.match(r"[a-z]+:", target):
                continue
            path = (root / source.folder / target).resolve()
            if not path.exists():
                yield Finding(source.path, line_of(prose, match.start()),
                              f"a link to {target}, which is not there")
            elif path != root / source.path:
                linked.add(path)
    for source in sources:
        if source.suffix == ".md" and source.path.startswith("docs/"):
            if root / source.path not in linked:
                yield Finding(source.path, 1, "nobody links this page")


PER_FILE = [check_lines, check_file_size, check_c_functions,
            check_python_functions, check_opening_comment, check_typedefs,
            check_asserts, check_banned]


def find_files(root):
    """All files but the build tree's and the tools' own hidden folders."""
    for path in sorted(root.iterdir()):
        hidden = path.name.startswith(".") and path.name != ".ci"
        if path.is_dir():
            if not hidden and path.name not in ("build", "__pycache__"):
                yield from find_files(path)
        elif path.suffix != ".pyc":
            yield path


def check_tree(root, built=None):
    root = root.resolve()
    files = list(find_files(root))
    paths = {path.relative_to(root).as_posix() for path in files}
    sources = [Source(root, path) for path in files
               if path.suffix in TEXT or path.name == "Makefile"]
    sources = [source for source in sources if not is_data(source.path)]
    findings = []
    for source in sources:
        for check in PER_FILE:
            findings += [Finding(source.path, line, what)
                         for line, what in check(source)]
        findings += [Finding(source.path, line, what)
                     for line, what in check_includes(source, paths)]
    findings += check_unique_names(paths)
    findings += check_dead_headers(sources)
    findings += check_dead_sources(root, sources, built)
    findings += check_documents(root, sources)
    if not any(source.suffix == ".c" for source in sources):
        findings.append(Finding(".", 1, "no C source found: wrong folder?"))
    return sorted(findings)


def main():
    here = pathlib.Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(description="check the house rules")
    parser.add_argument("--root", type=pathlib.Path, default=here.parent)
    parser.add_argument("--built", type=pathlib.Path)
    arguments = parser.parse_args()
    findings = check_tree(arguments.root, arguments.built)
    for finding in findings:
        print(f"{finding.path}:{finding.line}: {finding.what}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Breaks every rule of tidy.py once, in a small tree, and expects its word.

A checker that has stopped checking looks just like a clean tree, so each rule
is seen to fail here, and each near miss is seen to pass.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tidy

OPENING = "/* A file of the test. */\n"

CLEAN = {
    "include/lakestream.h": "/* Public. */\n",
    "src/lakestream.c": OPENING + '#include "producer/commit.h"\n',
    "src/base/bytes.h": "int lks_bytes(void);\n",
    "src/base/bytes.c": OPENING + '#include "base/bytes.h"\n',
    "src/producer/commit.h": '#include "lakestream.h"\n',
    "cli/main.c": OPENING + '#include "lakestream.h"\n',
    "README.md": "[format](docs/format.md)\n",
    "docs/format.md": "The format.\n",
}


def body(count):
    """A function body of that many lines, braces included."""
    return "int f(void)\n{\n" + "    f();\n" * (count - 2) + "}\n"


# (what the rule says, file, its content)
BROKEN = [
    ("columns, at most 80", "src/base/a.c", OPENING + "/* " + "x" * 80 + "*/\n"),
    ("columns, at most 88", "tools/a.py", "# " + "x" * 90 + "\n"),
    ("a tab", "src/base/a.c", OPENING + "\tint a;\n"),
    ("trailing space", "src/base/a.c", OPENING + "int a; \n"),
    ("no newline at the end", "src/base/a.c", OPENING + "int a;"),
    ("unfinished-work", "src/base/a.c", OPENING + "/* TO" + "DO: more */\n"),
    ("601 lines, at most 600", "src/base/a.c", OPENING + "int a;\n" * 600),
    ("function: 71 lines", "src/base/a.c", OPENING + body(71)),
    ("does not close", "src/base/a.c", OPENING + "int f(void)\n{\n    }\n"),
    ("does not close", "src/base/a.c", OPENING + "{\n" + body(5)),
    ("belongs in column 0", "src/base/a.c", OPENING + "int f(void) {\n}\n"),
    ("f: 71 lines", "tools/a.py", "def f():\n" + "    f()\n" * 70),
    ("does not parse", "tools/a.py", "def f(:\n"),
    ("begins without the comment", "src/base/a.c", "int a;\n"),
    ("typedef struct", "src/base/a.c", OPENING + "typedef struct a a_t;\n"),
    ("typedef enum", "src/base/a.c", OPENING + "typedef\nenum a a_t;\n"),
    ("two asserts", "src/base/a.c", OPENING + "assert(a &&\n       b);\n"),
    ("strcpy() is banned", "tests/unit/base/a.c", OPENING + "strcpy(a, b);\n"),
    ("atoi() is banned", "cli/a.c", OPENING + "x = atoi(b);\n"),
    ("getenv() is banned", "src/store/a.c", OPENING + 'getenv("A");\n'),
    ("malloc() is banned", "src/base/a.c", OPENING + "p = malloc (3);\n"),
    ("free() is banned", "src/base/a.c", OPENING + "free(p);\n"),
    ("printf() is banned", "src/base/a.c", OPENING + 'printf("a");\n'),
    ("stderr; the library", "src/base/a.c", OPENING + 'fputs("a", stderr);\n'),
    ("exit() is banned", "src/base/a.c", OPENING + "exit(1);\n"),
    ("time() is banned", "src/base/a.c", OPENING + "t = time(NULL);\n"),
    ("pthread_create() is", "src/base/pool.c", OPENING + "pthread_create(t);\n"),
    ("lower rooms", "src/base/a.c", OPENING + '#include "producer/commit.h"\n'),
    ("lower rooms", "src/store/a.c", OPENING + '#include "format/names.h"\n'),
    ("lower rooms", "src/consumer/a.c", OPENING + '#include "producer/commit.h"\n'),
    ("lower rooms", "tests/unit/base/a.c", OPENING + '#include "store/store.h"\n'),
    ("lower rooms", "tests/contract/a.c", OPENING + '#include "format/names.h"\n'),
    ("lower rooms", "bench/pacing/a.c", OPENING + '#include "reclaim/w.h"\n'),
    ("name the room", "src/base/a.c", OPENING + '#include "bytes.h"\n'),
    ("name the room", "src/base/a.c", OPENING + '#include "../base/bytes.h"\n'),
    ("no room nowhere", "src/base/a.c", OPENING + '#include "nowhere/a.h"\n'),
    ("has no floor", "src/attic/a.c", OPENING + '#include "base/bytes.h"\n'),
    ("only format/ sees", "src/store/a.c", OPENING + '#include "m.pb-c.h"\n'),
    ("only lakestream.h", "cli/a.c", OPENING + '#include "base/bytes.h"\n'),
    ("only lakestream.h", "python/a.c", OPENING + '#include "base/bytes.h"\n'),
    ("s3_http.c alone", "src/store/a.c", OPENING + "#include <curl/curl.h>\n"),
    ("crc32c.c alone", "src/format/a.c", OPENING + "#include <isa-l/crc.h>\n"),
    ("same file name as", "tests/sim/bytes.c", OPENING),
    ("nobody includes", "src/base/a.h", "int lks_a(void);\n"),
    ("nobody links", "docs/a.md", "A page. [itself](a.md)\n"),
    ("which is not there", "docs/format.md", "[gone](gone.md)\n"),
]

# Things that look like a violation and are none.
FINE = [
    ("src/base/a.c", OPENING + "/* strcpy(a) malloc(b) */\n"),
    ("src/base/a.c", OPENING + 'f("strcpy(a) stderr");\n'),
    ("src/base/a.c", OPENING + "ops->free(p);\nops.time(x);\nlks_free(p);\n"),
    ("src/base/a.c", OPENING + "assert(f(a && b));\n"),
    ("src/base/a.c", OPENING + "int a;\n" * 599),
    ("src/base/a.c", OPENING + body(70)),
    ("src/base/a.c", OPENING + "static int a[] = {\n    1,\n};\n"),
    ("src/base/a.c", OPENING + "/*\n{\n*/\nint b;\n"),
    ("src/base/a.c", OPENING + "typedef void lks_fn(void);\n"),
    ("src/base/a.c", OPENING + "typedef enum a lks_fn(struct b *c);\n"),
    ("src/base/alloc.c", OPENING + "p = malloc(3);\n"),
    ("src/base/env_real.c", OPENING + "clock_gettime(a, b);\n"),
    ("src/producer/a.c", OPENING + '#include "base/bytes.h"\n'),
    ("src/format/a.c", OPENING + '#include "format/m.pb-c.h"\n'),
    ("tests/unit/base/a.c", OPENING + '#include "support/bytes.h"\n'),
    ("tests/sim/a.c", OPENING + '#include "producer/commit.h"\n'),
    ("tests/golden/bytes.c", "\t \n"),
    ("build/dev/bytes.c", "\t \n"),
    ("docs/format.md", "`[x](gone.md)` [web](https://example.org/)\n"),
]


def write_tree(root, files):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


class TidyTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.root = pathlib.Path(holder.name).resolve()

    def findings(self, extra, built=None):
        write_tree(self.root, {**CLEAN, **extra})
        return tidy.check_tree(self.root, built)

    def test_a_clean_tree_is_clean(self):
        self.assertEqual(self.findings({}), [])

    def test_an_empty_folder_is_not_clean(self):
        self.assertIn("no C source", tidy.check_tree(self.root)[0].what)

    def test_a_file_that_nobody_builds_is_named(self):
        built = self.root / "build" / "compile_commands.json"
        named = [{"directory": str(self.root), "file": name}
                 for name in CLEAN if name.endswith(".c")]
        write_tree(self.root, {"build/compile_commands.json": json.dumps(named)})
        self.assertEqual(self.findings({}, built), [])
        found = self.findings({"src/base/a.c": OPENING}, built)
        self.assertEqual([finding.path for finding in found], ["src/base/a.c"])
        self.assertIn("nobody builds", found[0].what)

    def test_the_command_prints_one_line_and_fails(self):
        write_tree(self.root, {**CLEAN, "src/base/a.c": OPENING + "int a; \n"})
        ran = subprocess.run(
            [sys.executable, tidy.__file__, "--root", str(self.root)],
            capture_output=True, text=True, check=False)
        self.assertEqual(ran.returncode, 1)
        self.assertEqual(ran.stdout, "src/base/a.c:2: trailing space\n")


def add_case(number, files, expected):
    def broken(self):
        found = self.findings(files)
        self.assertEqual([finding.path for finding in found], list(files))
        self.assertIn(expected, found[0].what)

    def fine(self):
        self.assertEqual(self.findings(files), [])

    word = "broken" if expected else "fine"
    setattr(TidyTest, f"test_{word}_{number:02}", broken if expected else fine)


for index, (what, name, content) in enumerate(BROKEN):
    add_case(index, {name: content}, what)
for index, (name, content) in enumerate(FINE):
    add_case(index, {name: content}, None)

if __name__ == "__main__":
    unittest.main()

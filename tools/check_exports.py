#!/usr/bin/env python3
"""Compares what a shared library exports with what its headers promise.

    check_exports.py liblakestream.so FOLDER
"""

import pathlib
import re
import subprocess
import sys


def promised(folder):
    text = "".join(path.read_text(encoding="utf-8")
                   for path in pathlib.Path(folder).rglob("*.h"))
    text = re.sub(r"/\*.*?\*/|^#[^\n]*", " ", text, flags=re.S | re.M)
    declarations = re.findall(r"\bLKS_API\b([^;{]*)\(", text)
    return {re.findall(r"\w+", part.split("(")[0])[-1]
            for part in declarations}


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library],
                            capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listed.stdout.splitlines()}


def main():
    library, folder = sys.argv[1:]
    said, there = promised(folder), exported(library)
    for name in sorted(said - there):
        print(f"{name}: in the headers, not in the library")
    for name in sorted(there - said):
        print(f"{name}: in the library, not in the headers")
    if not said:
        print(f"{folder}: promises nothing")
    return 0 if said and said == there else 1


if __name__ == "__main__":
    sys.exit(main())

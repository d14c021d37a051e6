#!/usr/bin/env python3
"""Compares what a shared library exports with what its header promises.

    check_exports.py liblakestream.so lakestream.h
"""

import re
import subprocess
import sys


def promised(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|^#[^\n]*", " ", file.read(),
                      flags=re.S | re.M)
    declarations = re.findall(r"\bLKS_API\b([^;{]*)\(", text)
    return {re.findall(r"\w+", part.split("(")[0])[-1]
            for part in declarations}


def exported(library):
    listed = subprocess.run(["nm", "-D", "--defined-only", library],
                            capture_output=True, text=True, check=True)
    return {line.split()[-1] for line in listed.stdout.splitlines()}


def main():
    library, header = sys.argv[1:]
    said, there = promised(header), exported(library)
    for name in sorted(said - there):
        print(f"{name}: in the header, not in the library")
    for name in sorted(there - said):
        print(f"{name}: in the library, not in the header")
    if not said:
        print(f"{header}: promises nothing")
    return 0 if said and said == there else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Makes a mutated copy of a source file: a rule removed, for the simulator.

    mutate.py MUTANT FILE ROOT OUTPUT

MUTANT says what to replace by what in which FILE, a path under ROOT. Each text
to be replaced must stand there exactly once, however it is laid out: a mutation
that no longer matches fails the build, so that none silently becomes the
product itself.
"""

import pathlib
import sys


def read_edits(mutant, wanted):
    """The pairs (text, replacement) that the mutant has for this file."""
    edits = []
    name = kind = None
    parts = {"replace": [], "by": []}
    for line in mutant.read_text().split("\n"):
        if line.startswith("file: "):
            name = line.removeprefix("file: ")
        elif line == "--- end":
            if name == wanted:
                edits.append(tuple("\n".join(part)
                                   for part in parts.values()))
            parts = {"replace": [], "by": []}
            kind = None
        elif line.startswith("--- "):
            kind = line.removeprefix("--- ")
        elif kind:
            parts[kind].append(line)
    return edits


def find_all(text, wanted):
    """Where `wanted` stands, white space aside: pairs of begin and end."""
    places = [i for i, char in enumerate(text) if not char.isspace()]
    bare = "".join(text[i] for i in places)
    wanted = "".join(wanted.split())
    found = []
    begin = bare.find(wanted)
    while begin >= 0:
        found.append((places[begin], places[begin + len(wanted) - 1] + 1))
        begin = bare.find(wanted, begin + 1)
    return found


def main():
    mutant, name, root, output = sys.argv[1:]
    text = (pathlib.Path(root) / name).read_text()
    edits = read_edits(pathlib.Path(mutant), name)
    if not edits:
        sys.exit(f"{mutant}: changes nothing in {name}")
    for old, new in edits:
        found = find_all(text, old)
        if len(found) != 1:
            sys.exit(f"{mutant}: this stands {len(found)} times in {name}, "
                     f"not once:\n{old}")
        begin, end = found[0]
        text = text[:begin] + new.strip() + text[end:]
    output = pathlib.Path(output)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)


if __name__ == "__main__":
    main()

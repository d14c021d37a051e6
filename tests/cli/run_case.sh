#!/bin/bash
# Runs one case: run_case.sh NAME.test
#
# A case is a bash script (or Python, if its name ends in .py). It runs in a
# fresh, empty folder with $LAKESTREAM naming the command line under test and
# $CASES the folder the case lies in, and must exit with 0. If NAME.out or
# NAME.err lies beside it, its stdout or stderr must be exactly that; a case
# that prints times or random ids pipes them through sed first.
#
# To write the expected files anew from what the case prints now:
#     UPDATE=1 LAKESTREAM=build/dev/lakestream tests/cli/run_case.sh NAME.test

set -u

case_path=$(realpath "$1")
base=${case_path%.*}
LAKESTREAM=$(realpath "${LAKESTREAM:?names the command line to test}")
CASES=$(dirname "$case_path")
export LAKESTREAM CASES

# Nothing of the user's own settings may change what a case sees.
for name in $(compgen -e LAKESTREAM_); do
    unset "$name"
done

# In memory where there is enough of it: a case says what it wants of a disk.
parent=${TMPDIR:-/tmp}
if [[ -w /dev/shm ]] &&
    (($(stat -f -c '%a * %S' /dev/shm) >= 1 << 30)); then
    parent=/dev/shm
fi
room=$(mktemp -d "$parent/lakestream-case.XXXXXX")
trap 'rm -rf "$room"' EXIT
mkdir "$room/work"
cd "$room/work" || exit 1

shell=(bash -eu -o pipefail)
if [[ $case_path == *.py ]]; then
    shell=("${PYTHON:-python3}")
fi
"${shell[@]}" "$case_path" >"$room/out" 2>"$room/err" </dev/null
status=$?

failed=0
if [[ $status -ne 0 ]]; then
    echo "exit status $status, expected 0"
    failed=1
fi
for stream in out err; do
    expected=$base.$stream
    if [[ ! -e $expected ]]; then
        continue
    elif [[ ${UPDATE:-} == 1 ]]; then
        cp "$room/$stream" "$expected"
    elif ! diff -u --label "expected std$stream" --label "std$stream" \
        "$expected" "$room/$stream"; then
        failed=1
    fi
done

if [[ $failed -ne 0 ]]; then
    echo "--- stdout"
    tail -n 200 "$room/out"
    echo "--- stderr"
    tail -n 200 "$room/err"
fi
exit $failed

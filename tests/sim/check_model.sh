#!/bin/bash
# Searches docs/model/commit.pml to the end, then with each rule removed:
# check_model.sh MODEL. Needs spin and a C compiler.

set -euo pipefail

model=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# search DEFINES...: prints what spin found; fails on an assertion.
search() {
    spin "$@" -a "$model" >/dev/null
    cc -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c
    ./pan -m100000 >found || true
    if ! grep -q 'errors: ' found; then
        cat found
        exit 1
    fi
    grep -q 'errors: 0' found
}

for setting in -DCLOCK "-DRIVALS -DVERSIONS=3"; do
    # shellcheck disable=SC2086
    if ! search $setting || grep -q 'not completed\|too small' found; then
        cat found
        exit 1
    fi
    awk -v what="$setting" '/states, stored/ { stored = $1 }
        /transitions/ { edges = $1 } /depth reached/ { depth = $6 }
        END { printf "%-24s holds: %d states, %d transitions, depth %d\n",
              what, stored, edges, depth }' found
done

while read -r rule setting; do
    # shellcheck disable=SC2086
    if search "-D$rule" $setting; then
        echo "without the rule, $rule, no assertion fails"
        exit 1
    fi
    echo "-D$rule: $(grep -o 'assertion violated.*' found | head -n 1)"
done <<'END'
EPOCH_ALONE -DRIVALS -DVERSIONS=3
UNFENCED -DRIVALS -DVERSIONS=3
CREATED
UNSURE
FOR_EVER
LISTED
EAGER
END

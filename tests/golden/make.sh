#!/bin/bash
# Makes the streams of tests/golden: LAKESTREAM=lakestream make.sh FOLDER
#
# Inputs are fixed; ids, times and the number of commits differ from run to
# run. The tests make these streams afresh and read them. Once for each version
# of the format they are also kept, for ever, with what the second reader says:
#
#     make.sh new
#     for name in $(ls new); do
#         tar -C new --exclude .tmp --owner 0 --group 0 -czf v1/$name.tar.gz $name
#         reader.py new/$name >v1/$name.steps
#     done

set -euo pipefail

lakestream=$(realpath "${LAKESTREAM:?names the command line}")
export LAKESTREAM_DURABILITY=none
mkdir -p "$1"
cd "$1"

quietly() {
    "$lakestream" "$@" >/dev/null
}

# squares FROM TO: text that can be packed well.
squares() {
    for ((n = $1; n < $2; n++)); do
        echo "$n times $n is $((n * n)). "
    done
}

# slices COUNT FIRST STEP: files s0, s1, ... with so many lines of text.
slices() {
    for ((rank = 0; rank < $1; rank++)); do
        squares 0 $(($2 + rank * $3)) >s$rank
    done
}

# More than one index block; three producers that are opened again and again,
# one of each codec; tables uniform and inline; ended by the last to finish.
quietly init narrow --dp 2 --cp 2 --producers 3
squares 0 430 >first
squares 430 500 >second
for codec in none lz4 zstd; do
    pack=(pack narrow --producer "$codec" --codec "$codec" --seq-len 64)
    quietly "${pack[@]}" first
    quietly "${pack[@]}" first second
    slices 4 3 0
    quietly put narrow --producer "$codec" --codec "$codec" s0 s1 s2 s3
    slices 4 0 9
    quietly put narrow --producer "$codec" --codec "$codec" \
        --offset "by hand" --meta "uneven" s0 s1 s2 s3
done
quietly finish narrow --producer none
quietly finish narrow --producer lz4
quietly finish narrow --producer zstd

# More slices than an inline table holds: tables uniform and footer. Ended by a
# seal, while no producer has finished.
quietly init wide --dp 5 --cp 2
for codec in none lz4 zstd; do
    for step in 0 7; do
        slices 10 12 $step
        quietly put wide --producer "$codec" --codec "$codec" s{0..9}
    done
done
quietly seal wide

# One slice; empty, incompressible, and text; still open.
quietly init solo --dp 1 --cp 1 --max-live-steps 100
: >empty
seq 1 400 | sha256sum | cut -c 1-64 >noise
squares 1 9 >text
quietly put solo --producer a.b_c-D --codec zstd empty
quietly put solo --producer a.b_c-D --codec zstd noise
quietly put solo --producer other --meta "" --offset "" text

# A fork, whose first block has six entries; and one of which a group of two
# ranks has no need of the first steps, but for a pin, and they were reclaimed.
quietly fork narrow forked --step 250
quietly pack forked --producer after --codec lz4 --seq-len 64 second
quietly init lived --dp 2 --cp 1
quietly pack lived --producer p --codec zstd --seq-len 32 second
quietly pin lived kept --step 9
quietly watermark lived --group train --ranks 2 --step 12
quietly watermark lived --group train --ranks 2 --rank 1 --step 15
quietly limit lived --max-live-steps 1000
quietly reclaim lived

# Nothing yet.
quietly init fresh --dp 3 --cp 1
rm s? first second empty noise text

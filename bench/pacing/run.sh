#!/bin/sh
# Compares the pacing policies in the model: tables and plots for
# docs/benchmarks/, in a few minutes. PACING_BENCH is the model's program.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
bench=${PACING_BENCH:-$root/build/release/pacing_bench}
exec "${PYTHON:-python3}" "$here/pacing_grid.py" --bench "$bench" \
    --out "$root/docs/benchmarks" "$@"

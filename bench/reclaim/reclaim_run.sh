#!/bin/sh
# Storage over time with and without reclaiming: tables and plots for
# docs/benchmarks/, in a few minutes. LAKESTREAM is the command line.
#
#     bench/reclaim/reclaim_run.sh [--scale N] [--folder F]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
LAKESTREAM=${LAKESTREAM:-$root/build/release/lakestream}
export LAKESTREAM
exec "${PYTHON:-python3}" "$here/reclaim_curve.py" \
    --out "$root/docs/benchmarks" "$@"

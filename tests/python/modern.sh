#!/bin/bash
# The PyTorch tests on a newer PyTorch than Debian 12's: modern.sh FOLDER
#
# Lays Debian 13 into FOLDER, as root and with debootstrap, some 3 GB; its
# PyTorch is 2.6. Builds the package there as a user does, and runs the tests
# that need PyTorch. FOLDER is kept, so that the next time is short.

set -euo pipefail

root=$(realpath "$(dirname "$0")/../..")
folder=$1
shift

if [[ ! -e $folder/has-torch ]]; then
    debootstrap --variant=minbase --include=python3-torch,python3-numpy \
        trixie "$folder"
    touch "$folder/has-torch"
fi
mkdir -p "$folder/lakestream"
tar -C "$root" --exclude=./build --exclude=./.git -c . |
    tar -C "$folder/lakestream" -x

export DEBIAN_FRONTEND=noninteractive
inside() {
    chroot "$folder" "$@"
}
mountpoint -q "$folder/proc" || mount -t proc proc "$folder/proc"
mountpoint -q "$folder/dev/shm" || mount -t tmpfs tmpfs "$folder/dev/shm"
trap 'umount "$folder/proc" "$folder/dev/shm"' EXIT
inside apt-get -qq update
inside apt-get -qq install -y --no-install-recommends ca-certificates >&2
# What this machine trusts, since pip asks from in there.
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
inside bash /lakestream/tools/install_deps.sh python
inside bash /lakestream/tests/python/install.sh /venv
inside /venv/bin/pip install --quiet --disable-pip-version-check --no-deps \
    torchdata==0.11.0
inside /venv/bin/python -c 'import torch; print("PyTorch", torch.__version__)'
inside /venv/bin/python -m pytest -q -p no:cacheprovider -rs \
    /lakestream/tests/python/test_modern.py \
    /lakestream/tests/python/test_dataset.py \
    /lakestream/tests/python/test_payload.py \
    /lakestream/tests/python/test_memory.py \
    /lakestream/tests/python/test_refusals.py \
    /lakestream/tests/python/test_matrix.py "$@"

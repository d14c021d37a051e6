#!/bin/bash
# Installs what the build needs and this machine lacks: install_deps.sh [more]
#
# Silent and offline when nothing is missing. Debian 12's names, and `python`
# for what the Python package's tests need.

set -euo pipefail

more=()
for name in "$@"; do
    if [[ $name == python ]]; then
        more+=(ca-certificates python3-venv python3-torch python3-numpy
            python3-pil ffmpeg)
    else
        more+=("$name")
    fi
done

packages=(
    gcc libc6-dev cmake ninja-build pkg-config python3-dev
    protobuf-c-compiler libprotobuf-c-dev
    libcurl4-openssl-dev libexpat1-dev
    libisal-dev libzstd-dev liblz4-dev libjansson-dev nettle-dev
    libcmocka-dev spin python3-zstandard python3-lz4
    "${more[@]}"
)

if ! command -v apt-get >/dev/null; then
    echo "install_deps: no apt-get here; the build needs what Debian calls:" \
        "${packages[*]}" >&2
    exit 0
fi

missing=()
for package in "${packages[@]}"; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null ||
        true)
    if [[ $state != installed ]]; then
        missing+=("$package")
    fi
done
if [[ ${#missing[@]} -eq 0 ]]; then
    exit 0
fi

root=()
if [[ $(id -u) -ne 0 ]]; then
    if ! command -v sudo >/dev/null; then
        echo "install_deps: neither root nor sudo; as root, please run:" \
            "apt-get install ${missing[*]}" >&2
        exit 1
    fi
    root=(sudo)
fi

echo "install_deps: installing ${missing[*]}" >&2
apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq
    -o Dpkg::Use-Pty=0)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${missing[@]}" >&2

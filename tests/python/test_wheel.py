"""The wheel: what it needs where it is installed."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What the library is linked to, by docs/decisions, and the system's own.
NEEDED = {"libc", "libm", "libisal", "libcurl", "libexpat", "libnettle",
          "libprotobuf-c", "libjansson", "libzstd", "liblz4", "ld-linux-x86-64"}

USE = """
import shutil, sys
import lakestream as ls
assert not any(map(shutil.which, ("cc", "gcc", "clang", "cmake", "ninja")))
assert ls.__file__.startswith(sys.prefix)
ls.create(sys.argv[1], dp=2)
with ls.Producer(sys.argv[1], "prep-0") as producer:
    producer.append([b"0", b"1"])
    producer.finish()
print([bytes(memoryview(b)) for b in ls.Consumer(sys.argv[1], rank=1)])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps",
         "--disable-pip-version-check", "-w", folder,
         f"--config-settings=build-dir={sys.prefix}/build", ROOT / "python"],
        check=True)
    found, = folder.glob("*.whl")
    return found


def test_its_user_needs_no_compiler(wheel, place, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    alone = {"PATH": str(python.parent), "HOME": str(tmp_path)}
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index",
                    "--no-deps", "--disable-pip-version-check", wheel],
                   check=True, env=alone)
    run = subprocess.run([python, "-c", USE, place + "/s"], env=alone, text=True,
                         capture_output=True, timeout=120)
    assert run.stdout == "[b'1']\n", run.stderr


def test_it_carries_the_library_and_fits_all_later_pythons(wheel, tmp_path):
    assert re.fullmatch(r"pylakestream-[\d.]+-cp311-abi3-linux_\w+\.whl",
                        wheel.name)
    if shutil.which("readelf") is None:
        pytest.skip("no readelf")
    shutil.unpack_archive(wheel, tmp_path, "zip")
    listed = subprocess.run(
        ["readelf", "-d", tmp_path / "lakestream" / "_core.abi3.so"], check=True,
        text=True, capture_output=True, env={**os.environ, "LC_ALL": "C"}).stdout
    needed = re.findall(r"NEEDED.*\[([\w.+-]+?)\.so", listed)
    assert "libc" in needed and set(needed) <= NEEDED

"""The examples do what they say."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(path, *arguments):
    process = subprocess.run(
        [sys.executable, EXAMPLES / path, *arguments], timeout=600,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(process.stdout)
    assert process.returncode == 0, process.stdout
    return process.stdout


@pytest.fixture
def cli():
    if "LAKESTREAM" not in os.environ:
        pytest.skip("LAKESTREAM does not name the command line")
    return os.environ["LAKESTREAM"]


def test_training_goes_on_after_a_sigkill(cli):
    said = run("train/run_train.py", "--cli", cli)
    assert said.count("hashes equal") == 3
    assert "loss equal in each bit" in said


def test_rollouts_know_their_policy():
    said = run("rl/run_rl.py")
    assert "chance of the best arm" in said


def test_pictures_are_learnt_while_a_producer_is_killed():
    pytest.importorskip("PIL")
    if shutil.which("ffmpeg") is None:
        pytest.skip("no ffmpeg")
    said = run("multimodal/run_multimodal.py")
    assert "producer killed, back after" in said

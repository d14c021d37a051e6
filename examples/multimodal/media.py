"""Pictures and clips: made once, then decoded as a preprocessing worker does."""

import pathlib
import random
import subprocess

import numpy
from PIL import Image, ImageDraw

COLOURS = ("red", "green", "blue")
PICTURES, CLIPS = 36, 6
CLIP_SIZE, CLIP_FRAMES = (64, 48), 8


def make_picture(path, colour, seed):
    """A JPEG of its own size, with shapes of one colour before grey noise."""
    chance = random.Random(seed)
    size = chance.randrange(60, 200), chance.randrange(60, 200)
    noise = numpy.random.default_rng(seed).integers(
        90, 160, (size[1], size[0], 3), dtype="uint8")
    picture = Image.fromarray(noise)
    pen = ImageDraw.Draw(picture)
    for _ in range(6):
        x, y = chance.randrange(size[0]), chance.randrange(size[1])
        pen.ellipse([x - 20, y - 20, x + 20, y + 20], fill=colour)
    picture.save(path, quality=85)


def make_clip(path, colour):
    """A short video of a moving pattern under one colour."""
    width, height = CLIP_SIZE
    subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i",
         f"color={colour}:size={width}x{height}:rate=8", "-vf",
         "noise=alls=40:allf=t", "-frames:v", str(CLIP_FRAMES), str(path)],
        check=True)


def make_all(folder):
    """The files in a fixed order; the index modulo 3 is the colour."""
    folder = pathlib.Path(folder)
    for index in range(PICTURES + CLIPS):
        colour = COLOURS[index % len(COLOURS)]
        if index < PICTURES:
            make_picture(folder / f"{index:03}.jpg", colour, index)
        else:
            make_clip(folder / f"{index:03}.avi", colour)


def files_of(folder):
    return sorted(path for path in pathlib.Path(folder).iterdir()
                  if path.suffix in (".jpg", ".avi"))


def decode(path):
    """Frames as one uint8 array [frames, height, width, 3]."""
    if path.suffix == ".jpg":
        with Image.open(path) as picture:
            return numpy.asarray(picture.convert("RGB"))[None]
    width, height = CLIP_SIZE
    raw = subprocess.run(
        ["ffmpeg", "-loglevel", "error", "-i", str(path), "-f", "rawvideo",
         "-pix_fmt", "rgb24", "-"], check=True, capture_output=True).stdout
    return numpy.frombuffer(raw, "uint8").reshape(-1, height, width, 3)

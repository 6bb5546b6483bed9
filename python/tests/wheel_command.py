# SPDX-License-Identifier: Apache-2.0
"""The command of a wheel that is installed in the environment of this interpreter: wheel_command.py FOLDER, which is empty.

It finds its parts, and what it starts in Python runs in the same environment. wheel_test.sh runs it.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

WORK = Path(sys.argv[1])
CARDAN = Path(sys.executable).parent / "cardan"
PARTS = Path(subprocess.check_output([sys.executable, "-c", "import cardan; print(cardan.__file__)"], text=True)).parent / "_command"
ENVIRONMENT = {
    **{name: value for name, value in os.environ.items() if not name.startswith(("CARDAN_", "PYTHON", "LD_"))},
    "CARDAN_RUN_DIR": str(WORK / "run"),
    "PATH": "/usr/bin:/bin",  # another python3, which lacks the package
    "TMPDIR": str(WORK / "tmp"),
}
PUBLISHER = """
import time, cardan
with cardan.Topic("/number", "can_msgs/msg/Frame", depth=16).publisher() as out:
    for id in range(1 << 29):
        out.publish(id=id)
        time.sleep(0.02)
"""
COMPONENT = """
import sys, cardan

class Doubler(cardan.Component):
    def on_start(self, context):
        self.out = context.output(cardan.Topic("/doubled", "can_msgs/msg/Frame", depth=16))
        context.input(cardan.Topic("/number", "can_msgs/msg/Frame", depth=16), self.on_number)

    def on_number(self, number):
        self.out.publish(id=2 * number.id)
        with open("interpreter.txt", "w") as file:
            file.write(sys.prefix)
"""
VIDEO = """
import cv2, numpy
street = cv2.VideoWriter("street.avi", cv2.VideoWriter_fourcc(*"MJPG"), 20, (320, 240))
for number in range(40):
    picture = numpy.full((240, 320, 3), 90, numpy.uint8)
    picture[100:200, 5 * number:5 * number + 40] = 220
    street.write(picture)
street.release()
"""
SYSTEM = {"name": "wheel", "processes": {"one": {"components": {"doubler": {"python": "doubler:Doubler"}}}}}


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(words, cwd=WORK, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def cardan(*words: str, codes: tuple[int, ...] = (0,)) -> str:
    """Its output, standard error after the rest. The time-out only ends what hangs."""
    command = [str(CARDAN), *words]
    run = subprocess.run(
        command, cwd=WORK, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode in codes, f"cardan {' '.join(words)}: exit code {run.returncode}\n{run.stdout}\n{run.stderr}"
    print("ok: cardan", *words)
    return run.stdout + run.stderr


def parts() -> None:
    assert re.fullmatch(r"cardan \d+\.\d+\.\d+\n", cardan("--version"))
    assert "Usage: cardan " in cardan("--help")
    assert cardan("schema", "--path").strip() == str(PARTS / "share/cardan/cardan.schema.json")
    assert '"$schema"' in cardan("schema") and '"$schema"' in cardan("schema", "bridge")
    assert "Cardan works here" in cardan("doctor")
    assert "is not in the Python package" in cardan("bridge", "dds", codes=(1,))
    # SQLite is linked: it looks into the file.
    sqlite3.connect(WORK / "empty.db3").execute("create table t (x)").connection.close()
    assert "empty.db3 has no tables of topics and messages" in cardan("bag", "convert", "empty.db3", "empty.mcap", codes=(2,))


def live() -> None:
    publisher = start(sys.executable, "-c", PUBLISHER)
    try:
        # A recorder waits for its topics; what looks once finds them then.
        cardan("record", "/number", "--output", "drive.mcap", "--seconds", "5", "--min-space", "0", "--no-view")
        assert publisher.poll() is None, publisher.communicate()[1]
        assert "/number" in cardan("topic", "list")
        assert "/number" in cardan("top", "--once")
        cardan("check", "system.json")
        cardan("run", "system.json", "--seconds", "5", "--no-view", "--json", "summary.json")
        assert (WORK / "interpreter.txt").read_text() == sys.prefix
        (WORK / "interpreter.txt").unlink()
        page()
    finally:
        publisher.kill()
        publisher.communicate()


def recorded() -> None:
    info = cardan("bag", "info", "drive.mcap")
    assert "/number" in info and "can_msgs/msg/Frame" in info, info
    cardan("run", "system.json", "--from", "drive.mcap", "--output", "doubled.mcap")
    assert (WORK / "interpreter.txt").read_text() == sys.prefix
    count = "import cardan, sys; print(cardan.Bag(sys.argv[1]).topics[sys.argv[2]].count)"
    counts = [
        int(subprocess.check_output([sys.executable, "-c", count, str(WORK / bag), topic], env=ENVIRONMENT, text=True))
        for bag, topic in (("drive.mcap", "/number"), ("doubled.mcap", "/doubled"))
    ]
    assert counts[0] == counts[1] > 0, counts


def page() -> None:
    viewer = start(str(CARDAN), "view", "--port", "0")
    try:
        assert viewer.stderr is not None
        said = ""
        while not (address := re.search(r"http://[0-9.]+:\d+", said)):
            line = viewer.stderr.readline()
            assert line, said
            said += line
        with urllib.request.urlopen(address[0], timeout=60) as answer:
            assert b"<html" in answer.read()
        print("ok: cardan view", address[0])
    finally:
        viewer.send_signal(signal.SIGINT)
        viewer.communicate(timeout=60)
    assert viewer.returncode == 0, viewer.returncode


def demo() -> None:
    if not (PARTS / "lib/libstreet_components.so").exists():
        print("skipped: cardan demo (the wheel is without the street)")
        return
    cardan("check", str(PARTS / "share/cardan/street.json"))
    said = cardan("demo", "--seconds", "8", "--no-view", "--record", "demo.mcap", "--json", "demo.json", "--picture", "")
    assert json.loads((WORK / "demo.json").read_text()), said
    assert "/street/decision" in cardan("bag", "info", "demo.mcap")
    # A video, which OpenCV for Python decodes: the command itself is without OpenCV.
    subprocess.run([sys.executable, "-c", VIDEO], cwd=WORK, env=ENVIRONMENT, check=True)
    short = ("--seconds", "8", "--no-view", "--record", "", "--picture", "")
    cardan("demo", "--camera", "street.avi", *short, "--json", "video.json")
    video = (WORK / "video.json").read_text()
    assert '"from": "camera"' in video and "drawn" not in video, video
    (WORK / "street.mp4").write_text("words, not pictures")
    assert "street.mp4 is not a video that OpenCV can decode" in cardan("demo", "--camera", "street.mp4", *short, codes=(1,))


def tour() -> None:
    # 3: the recorder lost frames, on a computer that is too slow at the moment.
    assert "That was all; it left no files and no processes." in cardan("tour", "--yes", codes=(0, 3))
    assert not list((WORK / "tmp").iterdir())


for folder in ("run", "tmp"):
    (WORK / folder).mkdir()
(WORK / "doubler.py").write_text(COMPONENT)
(WORK / "system.json").write_text(json.dumps(SYSTEM))
parts()
live()
recorded()
demo()
tour()

# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of `cardan bag`: a separate folder, and the command run in it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CARDAN = sys.argv[1]


class CommandCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cardan-bag-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.environment = {**os.environ, "CARDAN_RUN_DIR": str(self.path / "run")}
        self.environment.pop("CARDAN_DOMAIN", None)

    def run_cardan(self, *words, code=0):
        """Standard output; what it says of trouble is in self.errors."""
        done = subprocess.run([CARDAN, *map(str, words)], env=self.environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, cwd=self.path)
        self.errors = done.stderr
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def json_of(self, *words, code=0):
        return json.loads(self.run_cardan(*words, "--json", code=code))


def main():
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[2:]])

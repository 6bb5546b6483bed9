# SPDX-License-Identifier: Apache-2.0
"""`cardan bench compare` and `report` as a user starts them: command.py PROGRAM, with this interpreter."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from synthetic import result_of, synthetic
from results import to_json

PROGRAM = sys.argv.pop(1)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "before.json").write_text(to_json(result_of(synthetic())))
        (self.folder / "after.json").write_text(to_json(result_of(synthetic(2, shift=40))))
        (self.folder / "wrong.json").write_text("{}")

    def bench(self, *words, **environment):
        """The exit code, what it printed, and its errors."""
        ended = subprocess.run([PROGRAM, "bench", *words], cwd=self.folder, capture_output=True, text=True, check=False,
                               env={**os.environ, "CARDAN_PYTHON": sys.executable, **environment})
        return ended.returncode, ended.stdout, ended.stderr

    def test_compare(self):
        code, out, error = self.bench("compare", "before.json", "after.json", "--json", "changes.json")
        self.assertEqual((code, error), (1, ""))
        self.assertIn("Changed beyond noise", out)
        self.assertEqual(json.loads((self.folder / "changes.json").read_text())["worse"], 1)
        self.assertEqual(self.bench("compare", "after.json", "before.json")[0], 0)
        self.assertEqual(self.bench("compare", "before.json", "after.json", "--threshold", "2")[0], 0)

    def test_wrong_files_and_options_are_2(self):
        for words, cause in ((("before.json", "wrong.json"), "wrong.json: it has no list `measurements`"),
                             (("before.json", "nothing.json"), "nothing.json: No such file or directory"),
                             (("before.json", "before.json", "--threshold", "0.5"), "--threshold 0.5 is out of range"),
                             (("before.json", "before.json", "--json", "no/such/folder"), "cannot write no/such/folder")):
            code, _, error = self.bench("compare", *words)
            self.assertEqual(code, 2, words)
            self.assertTrue(error.startswith(f"cardan bench compare: {cause}"), error)
            self.assertEqual(error.count("\n"), 1, error)
        self.assertEqual(self.bench("report", "wrong.json")[0], 2)

    def test_report_of_what_a_part_wrote(self):
        ended = self.bench("transport", "--peers", "raw,uds", "--sizes", "4K", "--waits", "block", "--scenarios", "1p1s",
                           "--frames", "40", "--runs", "1", "--json", "transport.json")
        self.assertEqual(ended[0], 0, ended)
        code, out, error = self.bench("report", "transport.json", "--out", "page")
        self.assertEqual((code, out), (0, "wrote page/index.html, summary.md and results.json\n"), error)
        self.assertIn("<svg", (self.folder / "page" / "index.html").read_text())
        self.assertEqual(self.bench("compare", "transport.json", "page/results.json")[0], 0)
        self.assertEqual(self.bench("report", "transport.json", "--out", "/proc/nowhere")[0], 1)

    def test_nothing_comes_from_the_working_folder(self):
        for module in ("json", "numpy", "scipy", "matplotlib", "results", "compare", "argparse"):
            (self.folder / f"{module}.py").write_text("open('/proc/self/cwd/taken', 'w')\nraise SystemExit(77)\n")
        (self.folder / "matplotlibrc").write_text("text.usetex: True\n")
        for path in ("", ":", os.environ.get("PYTHONPATH", "") + ":"):
            self.assertEqual(self.bench("compare", "before.json", "before.json", PYTHONPATH=path)[0], 0)
            self.assertEqual(self.bench("report", "before.json", "--out", "page", PYTHONPATH=path)[0], 0)
        self.assertFalse((self.folder / "taken").exists())

    def test_without_the_packages_it_says_what_to_install(self):
        (self.folder / "python").write_text(f"#!/bin/sh\nexec {sys.executable} -I -S \"$@\"\n")
        os.chmod(self.folder / "python", 0o700)
        for command, wanted in (("compare", 2), ("report", 1), ("all", 1)):
            files = () if command == "all" else ("before.json", "after.json")
            code, _, error = self.bench(command, *files, CARDAN_PYTHON=str(self.folder / "python"))
            self.assertEqual(code, wanted)
            self.assertIn("needs Python with NumPy, SciPy and Matplotlib", error)
            self.assertIn("apt-get install python3-numpy python3-scipy python3-matplotlib", error)
            self.assertIn("pip install numpy scipy matplotlib", error)
        self.assertFalse((self.folder / "out" / "report" / "parts" / "transport.json").exists())
        code, _, error = self.bench("compare", "before.json", "after.json", CARDAN_PYTHON="/nowhere/python3")
        self.assertEqual(code, 2)
        self.assertIn("/nowhere/python3 was not found", error)


if __name__ == "__main__":
    unittest.main()

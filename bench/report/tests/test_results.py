# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from synthetic import result_of, synthetic
import results
from results import BenchError, name_of_size, parsed, read_result, result_of as read, to_json


def with_field(name, text):
    """A result with one measurement, in which a field has this JSON text."""
    given = synthetic(runs=1, samples=3).to_json()
    given[name] = "@@"
    return json.dumps({"measurements": [given]}).replace('"@@"', text)


def refusal_of(text):
    """"": it is read."""
    try:
        read(parsed(text if isinstance(text, bytes) else text.encode(), "some.json"), "some.json")
    except BenchError as error:
        assert str(error).startswith("some.json: "), error
        return str(error)
    return ""


class Read(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_written_result_is_read_back(self):
        m = synthetic(runs=3, samples=20, due=60, lost=2, noisy=True, command="cardan bench transport --sizes 640*480*3")
        written = result_of(m)
        written.left_out, written.interrupted = ["no iceoryx"], True
        given = json.loads(to_json(written))
        given["rows"] = [{"peer": "cardan", "deep": [1, [2, [3]]], "samples": ["x"]}]  # what a part adds
        (self.folder / "a.json").write_text(json.dumps(given))
        found = read_result(str(self.folder / "a.json"))
        got = found.measurements[0]
        self.assertEqual((got.identity, got.command, got.due, got.lost, got.noisy),
                         (m.identity, m.command, 60, 2, True))
        self.assertEqual([run.count for run in got.runs], [20, 20, 20])
        self.assertAlmostEqual(got.runs[2].samples[7], m.runs[2].samples[7], delta=1e-4)
        self.assertEqual((found.host["kernel"], found.left_out, found.interrupted), ("Linux 6.1", ["no iceoryx"], True))
        self.assertLess(to_json(written).count("\n"), 20)

    def test_texts_that_are_not_results(self):
        for text in ("", "{", "hello", '{"measurements": [NaN]}', "{} {}", b"\x80\xff", "[" * 100_000,
                     '{"measurements": [], "rows": ' + "[" * 1_000_000 + "]" * 1_000_000 + "}", "9" * 5000):
            self.assertTrue(refusal_of(text), text[:50])
        for text in ("{}", '{"rows": []}', "[]", "3", '{"measurements": 3}', '{"measurements": [3]}',
                     '{"measurements": [[]]}', '{"measurements": [], "failures": 3}'):
            self.assertTrue(refusal_of(text), text)
        self.assertIn("has no `part`", refusal_of('{"measurements": [{}]}'))

    def test_figures(self):
        self.assertEqual(refusal_of(with_field("rate_hz", "30")), "")
        self.assertIn("not the figure", refusal_of(with_field("rate_hz", "1e300")))
        self.assertIn("too large", refusal_of(with_field("rate_hz", "1" + "0" * 400)))
        self.assertIn("`rate_hz` is a text", refusal_of(with_field("rate_hz", '"fast"')))
        self.assertIn("not a count", refusal_of(with_field("readers", "-1")))
        self.assertIn("more was lost than was due", refusal_of(with_field("lost", "7")))
        self.assertIn("`noisy` is a number", refusal_of(with_field("noisy", "1")))
        self.assertIn("`peer` is null", refusal_of(with_field("peer", "null")))
        self.assertIn("has no `peer`", refusal_of(with_field("peer", '""')))
        for samples in ("[1, null]", '[1, "2"]', "[[1]]", "[{}]", "[1e308]", "[1e999]", "[true]", "3", "[1" + "0" * 400 + "]"):
            self.assertTrue(refusal_of(with_field("runs", f'[{{"samples": {samples}}}]')), samples)
        self.assertEqual(refusal_of(with_field("runs", '[{"samples": [-1, 0, 2.5e3]}]')), "")

    def test_control_characters_do_not_reach_the_terminal(self):
        text = with_field("peer", r'"a\u001b[31mb\u009bc\u202ed\ud800"')
        self.assertEqual(read(parsed(text.encode(), "a"), "a").measurements[0].peer, "a?[31mb?c?d?")

    def test_commands_of_others(self):
        self.assertEqual(refusal_of(with_field("command", '"cardan bench record --only pipeline"')), "")
        for command in ("rm -rf /", "cardan bench x; rm y", "cardan bench $(id)", "cardan bench `id`", "cardan bench a|b",
                        r"cardan bench a\nrm b", "cardan bench " + 400 * "a"):
            self.assertIn("not a command", refusal_of(with_field("command", f'"{command}"')), command)

    def test_two_of_one(self):
        self.assertIn("measurement 2 is there twice", refusal_of(to_json(result_of(synthetic(), synthetic(seed=2)))))

    def test_limits(self):
        two = '[{"samples": [1,2,3]}, {"samples": [1,2,3]}]'
        for limit, value, word in (("SAMPLES", 5, "more than 5 samples"), ("RUNS", 1, "at most 1 runs"),
                                   ("SAMPLES_OF_RUN", 2, "2 are allowed"), ("MEASUREMENTS", 0, "more than 0 measurements")):
            with mock.patch.object(results, limit, value):
                self.assertIn(word, refusal_of(with_field("runs", two)))
        self.assertEqual(refusal_of(with_field("runs", two)), "")
        self.assertIn("501 letters", refusal_of(with_field("peer", '"' + "a" * 501 + '"')))
        hosts = {"measurements": [], "host": {str(i): "é" * 2000 for i in range(5000)}}
        host = read(parsed(json.dumps(hosts).encode(), "a"), "a").host
        self.assertEqual((len(host), len(host["0"])), (1000, 500))

    def test_a_huge_file_is_refused_with_bounded_memory(self):
        path = self.folder / "huge.json"
        path.write_text('{"rows": [' + '{"peer": {}, "samples": [[1], 2]},' * 7_000_000 + '0], "measurements": []}')
        ended = subprocess.run([sys.executable, "-B", str(Path(results.__file__).parent), "report", "--out",
                                str(self.folder), "--", str(path)], capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertIn("huge.json: it takes too much memory", ended.stderr)

    def test_paths_that_are_not_files(self):
        os.mkfifo(self.folder / "pipe")
        for path in ("/nowhere/at/all.json", "/dev/zero", "/", str(self.folder / "pipe")):
            with self.assertRaises(BenchError, msg=path):
                read_result(path)
        (self.folder / "long.json").write_text('{"measurements": []}')
        with mock.patch.object(results, "FILE_BYTES", 10), self.assertRaisesRegex(BenchError, "more than 10 bytes"):
            read_result(str(self.folder / "long.json"))

    def test_sizes_are_named_as_papers_name_them(self):
        for size, name in ((0, ""), (128, "128 B"), (1000, "1 kB"), (4096, "4 KiB"), (921_600, "900 KiB"),
                           (1_327_176, "1327176 B"), (4e6, "4 MB"), (4 << 20, "4 MiB")):
            self.assertEqual(name_of_size(size), name)

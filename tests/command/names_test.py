#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of ROS 2's and MCAP's commands that `cardan` has not: each is answered with a command that there is.

    names_test.py CARDAN SOURCES [unittest arguments]
"""
import pathlib
import re
import subprocess
import sys

SOURCES = pathlib.Path(sys.argv.pop(2))

from command_case import CARDAN, CommandCase, main


class Names(CommandCase):
    def table(self):
        text = (SOURCES / "apps/foreign_names.cpp").read_text()
        body = text[text.index("to_array"):text.index("\n});")]
        rows = re.findall(r'\{"(\w*)",\s+"([^"]*)",\s+((?:"[^"]*"\s*)+)\}', body)
        return [(group, words.split(), "".join(re.findall(r'"([^"]*)"', answer))) for group, words, answer in rows]

    def help_of(self, *words):
        done = subprocess.run([CARDAN, *words, "--help"], env=self.environment, capture_output=True, text=True, timeout=120)
        if "this build has no" not in done.stderr:  # `view` is a separate program
            self.assertEqual(done.returncode, 0, f"{words}\n{done.stderr}")
        return done.stdout

    def test_each_name_is_answered_with_a_command_that_there_is(self):
        table = self.table()
        self.assertGreater(len(table), 40)
        self.assertGreater(sum(len(words) for _, words, _ in table), 100)
        known = {}
        for group, words, answer in table:
            before = [group] if group else []
            commands = re.findall(r"`(cardan [^`]*)`", answer)
            self.assertTrue(commands, answer)
            for command in commands:
                if command not in known:
                    words_of_it = command.split()[1:]
                    options = [word for word in words_of_it if word.startswith("--")]
                    text = self.help_of(*[word for word in words_of_it if not word.startswith("--")])
                    for option in options:
                        self.assertIn(option, text, command)
                    known[command] = True
            for word in words:
                self.run_cardan(*before, word, code=2)
                self.assertEqual(self.errors, f"cardan: unknown command 'cardan {' '.join([*before, word])}' — {answer}\n")

    def test_all_commands_of_ros_2_and_mcap_are_known(self):
        """Those that do not exist here have an answer."""
        ros2 = "action bag component control daemon doctor interface launch lifecycle multicast node param pkg run security service topic wtf"
        mcap = "add cat compress convert decompress doctor du filter get info list merge recover sort version"
        inside = {"topic": "bw delay echo find hz info list pub type", "bag": "burst convert info list play record reindex " + mcap, "service": "call find info list type", "param": "delete describe dump get list load set",
                  "component": "list load standalone types unload", "message": "list package packages proto show"}
        for before, names in ([("", ros2), ("", mcap)] + list(inside.items())):
            known = self.run_cardan(*before.split(), "--help")
            for name in names.split():
                if re.search(rf"^  [a-z, ]*\b{name}\b", known, re.M):
                    continue
                self.run_cardan(*before.split(), name, code=2)
                self.assertRegex(self.errors, r"^cardan: unknown command 'cardan [a-z ]+' — .*`cardan ", f"{before} {name}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the command refuses what it does not understand: options and numbers.

    usage_test.py CARDAN [unittest arguments]
"""
from command_case import CommandCase, main


class Usage(CommandCase):
    def test_an_option_that_is_nearly_right_is_named(self):
        for words, wrong, meant in (
            (["bag", "info", "file", "--jsn"], "--jsn", "--json"),
            (["topic", "stats", "--al"], "--al", "--all"),
            (["topic", "echo", "/a", "--cuont=3"], "--cuont", "--count"),
        ):
            self.run_cardan(*words, code=2)
            self.assertEqual(self.errors, f"cardan: unknown option '{wrong}' of 'cardan {words[0]} {words[1]}' — did you mean '{meant}'?\n")
        self.run_cardan("topic", "list", "--nothing-like-it", code=2)
        self.assertIn("--nothing-like-it — see cardan topic list --help", self.errors)

    def test_a_number_that_cannot_be_is_refused_in_few_words(self):
        for value in "0", "x":
            self.run_cardan("topic", "echo", "/a", f"--count={value}", code=2)
            self.assertEqual(self.errors, f"cardan: --count: '{value}' is not a number above 0 — see cardan topic echo --help\n")
        self.run_cardan("bag", "ls", "file", "--start=-1", code=2)
        self.assertIn("--start: '-1' is not a number from 0 on — see cardan bag ls --help", self.errors)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command `cardan` for real: every subcommand, for people and as JSON, with right and with wrong words.

    command_test.py CARDAN PUBLISHER [unittest arguments]
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CARDAN, PUBLISHER = sys.argv[1:3]
FOLDER = tempfile.mkdtemp(prefix="cardan-test-")
ENVIRONMENT = {**os.environ, "CARDAN_RUN_DIR": FOLDER}
ENVIRONMENT.pop("CARDAN_DOMAIN", None)


def run(*words, code=0, timeout=60):
    """Standard output; the command has to end with `code`."""
    done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=timeout)
    if done.returncode != code:
        raise AssertionError(f"cardan {' '.join(words)} ended with {done.returncode}, not {code}\n{done.stdout}\n{done.stderr}")
    run.stderr = done.stderr
    return done.stdout


def as_json(*words, code=0):
    return json.loads(run(*words, code=code))


def start(test, *words, **streams):
    """The command in the background, which does not outlive the test."""
    process = subprocess.Popen([CARDAN, *words], env=ENVIRONMENT, **streams)

    def end():
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()

    test.addCleanup(end)
    return process


class Publisher:
    def __init__(self):
        self.process = subprocess.Popen([PUBLISHER], env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert self.process.stdout.readline() == "ready\n"

    def tell(self, order):
        self.process.stdin.write(order + "\n")
        return self.process.stdout.readline().strip()

    def end(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


class Usage(unittest.TestCase):
    def test_help_and_version(self):
        self.assertRegex(run("--version"), r"^cardan \d+\.\d+\.\d+\n$")
        for words in ([], ["topic"], ["topic", "list"], ["topic", "info"], ["topic", "echo"], ["topic", "stats"],
                      ["component"], ["component", "list"], ["component", "stats"], ["component", "restart"], ["component", "log"], ["param"], ["param", "list"], ["param", "get"], ["param", "set"], ["param", "save"], ["doctor"], ["completion"]):
            text = run(*words, "--help")
            self.assertIn("Examples:", text, words)

    def test_wrong_words_give_2_and_one_line(self):
        for words in ([], ["nonsense"], ["--nonsense"], ["topic"], ["topic", "nonsense"], ["topic", "info"], ["topic", "echo"], ["topic", "echo", "/x", "--count", "0"],
                      ["topic", "echo", "/x", "--once", "--count", "3"], ["topic", "stats"], ["topic", "stats", "/x", "--all"], ["topic", "stats", "/x", "--seconds", "never"],
                      ["doctor", "--nonsense"], ["completion"], ["completion", "csh"], ["component"], ["component", "stats", "--seconds", "never"], ["param"], ["param", "get"], ["param", "set", "a/b"], ["param", "save"], ["component", "restart"], ["component", "log", "a"], ["topic", "list", "--domain", "a/b"]):
            self.assertEqual(run(*words, code=2), "", words)
            self.assertRegex(run.stderr, r"^cardan: .+ — .+\n$", words)

    def test_a_name_after_the_value_of_an_option_is_an_argument(self):
        if "record" in run("--help"):
            run("record", "--exclude", "/a/*", "/nobody", "--seconds", "0.1", "-o", os.path.join(tempfile.mkdtemp(dir=ENVIRONMENT["CARDAN_RUN_DIR"]), "out.mcap"), "--no-view", code=3)
            self.assertIn("/nobody was not recorded", run.stderr)

    def test_nobody_there(self):
        self.assertIn("no topics", run("topic", "list", "--domain", "empty"))
        for words in (["topic", "info", "/nobody"], ["topic", "echo", "/nobody"], ["topic", "echo", "/nobody", "--once"], ["topic", "stats", "/nobody", "--once"]):
            run(*words, code=1)
            self.assertRegex(run.stderr, r"^cardan: nobody publishes '/nobody' in .+ — .+\n$")
        everything = as_json("topic", "stats", "--all", "--once", "--seconds", "0.1", "--json", "--domain", "empty")
        self.assertEqual(everything["topics"], [])

    def test_an_unusable_run_directory(self):
        before = ENVIRONMENT["CARDAN_RUN_DIR"]
        ENVIRONMENT["CARDAN_RUN_DIR"] = "/proc/nowhere"
        try:
            run("topic", "info", "/a", code=1)
            self.assertRegex(run.stderr, r"^cardan: the run directory .+ — .+\n$")
            self.assertEqual(as_json("topic", "list", "--json")["topics"], [])
            self.assertRegex(run.stderr, r"^cardan: nothing runs yet: the run directory .+ — .+\n$")
            report = as_json("doctor", "--json", code=1)
            self.assertFalse(report["ok"])
            failed = [c for c in report["checks"] if c["status"] == "fail"]
            self.assertEqual([c["check"] for c in failed], ["run directory"])
            self.assertTrue(failed[0]["remedy"])
        finally:
            ENVIRONMENT["CARDAN_RUN_DIR"] = before


    def test_a_full_standard_output_is_reported(self):
        for words in ["topic", "list"], ["doctor"], ["doctor", "--json"], ["component", "list"], ["--help"], ["topic", "list", "--help"], ["--version"]:
            with open("/dev/full", "w") as full:
                done = subprocess.run([CARDAN, *words], env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, words)
            self.assertEqual(done.stderr.count("cannot write standard output: No space left on device"), 1, done.stderr)


    def test_a_subcommand_that_is_nearly_right_is_suggested(self):
        for words, meant in ((["chek", "file.json"], "check"), (["topic", "lst"], "list"), (["component", "stat", "--once"], "stats"), (["param", "gett", "a/b"], "get")):
            run(*words, code=2)
            self.assertIn(f"unknown command 'cardan {' '.join(words[:1 + (len(words) > 1 and words[0] != 'chek')])}' — did you mean '{meant}'?", run.stderr)
        run("topic", "nonsense", code=2)
        self.assertIn("there are 'list', 'info', 'type', 'echo', 'stats', 'pub'", run.stderr)

    def test_a_standard_error_that_takes_nothing_ends_nothing(self):
        for words, code in (["topic", "info", "/nobody"], 1), (["run", "--stop", "nobody"], 1), (["check", "/nowhere.json"], 2), (["nonsense"], 2):
            with open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([CARDAN, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=full, timeout=60).returncode, code, words)
            closed = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", CARDAN, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, timeout=60)
            self.assertEqual(closed.returncode, code, words)


class Topics(unittest.TestCase):
    def setUp(self):
        self.publisher = Publisher()
        self.addCleanup(self.publisher.end)

    def test_list(self):
        self.publisher.tell("publish 3")
        self.publisher.tell("subscribe")
        text = run("topic", "list")
        for name in ("/test/image", "/test/own", "/test/wide", "sensor_msgs/msg/Image"):
            self.assertIn(name, text)
        self.assertEqual(run("topic", "list", "--names").split(), ["/test/image", "/test/own", "/test/wide"])
        self.assertIn("command_publisher", run("topic", "list", "--verbose"))
        topics = {t["topic"]: t for t in as_json("topic", "list", "--json")["topics"]}
        self.assertEqual(topics["/test/own"]["subscribers"], 1)
        self.assertEqual(topics["/test/image"]["subscribers"], 0)
        publisher = topics["/test/image"]["publishers"][0]
        self.assertEqual((publisher["pid"], publisher["published"], publisher["depth"]), (self.publisher.process.pid, 3, 1))

    def test_info(self):
        self.publisher.tell("subscribe")
        self.publisher.tell("publish 5")
        self.publisher.tell("take")
        text = run("topic", "info", "/test/own", "--schema")
        for part in ("test_msgs/msg/Own", "command_publisher", "published", "received", "float32 third"):
            self.assertIn(part, text)
        info = as_json("topic", "info", "/test/own", "--json")
        self.assertIn("float32 third", info["schema"])
        subscriber = info["publishers"][0]["subscribers"][0]
        self.assertEqual((subscriber["received"], subscriber["missed"], subscriber["bad"]), (5, 0, 0))
        self.assertGreater(subscriber["latency_us"]["p99"], 0)

    def test_a_name_that_is_nearly_right(self):
        run("topic", "info", "/test/imag", code=1)
        self.assertIn("did you mean /test/image?", run.stderr)
        run("topic", "echo", "test/own", code=1)
        self.assertIn("did you mean /test/own?", run.stderr)

    def test_echo_once(self):
        self.publisher.tell("publish 7")
        text = run("topic", "echo", "/test/own", "--once")
        self.assertIn("number: 7", text)
        self.assertIn('text: "some text"', text)
        self.assertIn("values: 100 elements: 0, 1, 2,", text)
        sample = as_json("topic", "echo", "/test/own", "--once", "--json", "--list", "100")
        self.assertEqual((sample["sequence"], sample["pid"]), (7, self.publisher.process.pid))
        message = sample["message"]
        self.assertEqual((message["number"], message["gear"], message["header"]["stamp"]), (7, 7, 7))
        self.assertEqual(message["values"], list(range(100)))
        self.assertAlmostEqual(message["third"], 7 / 3, 6)
        image = as_json("topic", "echo", "/test/image", "--once", "--json")["message"]
        self.assertEqual((image["height"], image["width"], image["encoding"], image["step"]), (48, 64, "rgb8", 192))
        self.assertEqual((image["data"]["count"], image["data"]["first"][:2]), (48 * 64 * 3, [7, 7]))

    def test_echo_fields(self):
        self.publisher.tell("publish 2")
        self.assertEqual(as_json("topic", "echo", "--once", "--json", "--fields", "header.stamp,number", "/test/own")["message"], {"header.stamp": 2, "number": 2})
        run("topic", "echo", "/test/own", "--once", "--fields", "nothing", code=2)
        self.assertRegex(run.stderr, r"^cardan: the message has no field 'nothing' — .*header, number, third.*\n$")

    def test_echo_of_a_type_that_is_not_known_shows_bytes_and_says_so(self):
        self.publisher.tell("publish 258")
        sample = as_json("topic", "echo", "/test/wide", "--once", "--json")
        self.assertIn("not known", run.stderr)
        self.assertTrue(sample["message"]["undecoded"])
        self.assertEqual(sample["message"]["message_bytes"], 32)
        self.assertTrue(sample["message"]["message_head"].startswith("0201000000000000"))

    def test_echo_count_in_order_and_complete(self):
        self.publisher.tell("run 20")  # slow enough for a busy computer: 8 messages wait
        lines = run("topic", "echo", "/test/own", "--count", "50", "--json", "--fields", "number").splitlines()
        numbers = [json.loads(line)["message"]["number"] for line in lines]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + 50)))

    def test_echo_says_what_it_passed_over(self):
        self.publisher.tell("run 20000")
        lines = run("topic", "echo", "/test/wide", "--count", "20", "--json", code=3).splitlines()
        self.assertEqual(len(lines), 20)
        self.assertIn("skipped", run.stderr)

    def test_echo_ends_with_its_publisher(self):
        self.publisher.tell("publish 1")
        echo = start(self, "topic", "echo", "/test/own", "--count", "5", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(json.loads(echo.stdout.readline())["sequence"], 1)
        self.publisher.tell("publish 1")
        self.publisher.tell("end")
        out, err = echo.communicate(timeout=20)
        self.assertEqual(json.loads(out)["sequence"], 2)
        self.assertIn("has ended", err)
        self.assertEqual(echo.returncode, 1)

    def test_echo_waits_for_a_publisher(self):
        self.publisher.tell("end")
        echo = start(self, "topic", "echo", "/test/own", "--wait", "--once", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertIn("waiting", echo.stderr.readline())
        other = Publisher()
        self.addCleanup(other.end)
        other.tell("publish 4")
        out, _ = echo.communicate(timeout=20)
        self.assertEqual(json.loads(out)["sequence"], 4)

    def test_interrupt_ends_in_order(self):
        self.publisher.tell("run 100")
        for words in (["topic", "echo", "/test/own"], ["topic", "stats", "--all"]):
            command = start(self, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            command.stdout.readline()
            command.send_signal(signal.SIGINT)
            _, err = command.communicate(timeout=20)
            self.assertEqual((command.returncode, err), (0, ""), words)

    def test_stats(self):
        self.publisher.tell("run 100")
        figures = as_json("topic", "stats", "--all", "--once", "--seconds", "1", "--json")
        topics = {t["topic"]: t for t in figures["topics"]}
        self.assertEqual(sorted(topics), ["/test/image", "/test/own", "/test/wide"])
        for topic in topics.values():
            self.assertGreater(topic["rate_hz"], 50)
            self.assertLess(topic["rate_hz"], 150)
            self.assertIsNotNone(topic["jitter_ms"])
            self.assertGreater(topic["longest_gap_ms"], 1)
            self.assertIsNone(topic["latency_us"])
        self.assertGreater(topics["/test/image"]["bytes_per_s"], 50 * 48 * 64 * 3)
        text = run("topic", "stats", "/test/image", "--once", "--seconds", "0.5")
        self.assertIn("/test/image", text)
        self.assertIn("RATE", text)

    def test_stats_of_a_subscriber_that_loses(self):
        self.publisher.tell("subscribe")
        stats = start(self, "topic", "stats", "/test/own", "--once", "--seconds", "1.5", "--json", stdout=subprocess.PIPE, text=True)
        time.sleep(0.7)
        self.publisher.tell("publish 20")  # depth 8: twelve are lost
        self.assertEqual(self.publisher.tell("take"), "took 8")
        out, _ = stats.communicate(timeout=20)
        topic = json.loads(out)["topics"][0]
        self.assertEqual((topic["received"], topic["missed"]), (8, 12))
        self.assertIn(topic["latency_us"]["samples"], range(1, 9))  # of a fast stream every eighth is enough
        self.assertEqual(stats.returncode, 3)

    def test_stats_live_on_a_terminal(self):
        self.publisher.tell("run 100")
        master, slave = pty.openpty()
        stats = start(self, "topic", "stats", "/test/own", "--seconds", "0.2", stdout=slave, stderr=slave)
        os.close(slave)
        seen = b""
        until = time.monotonic() + 20
        while seen.count(b"/test/own") < 3 and time.monotonic() < until:
            if select.select([master], [], [], 0.5)[0]:
                seen += os.read(master, 65536)
        stats.send_signal(signal.SIGINT)
        self.assertEqual(stats.wait(20), 0)
        os.close(master)
        self.assertGreaterEqual(seen.count(b"\x1b[H"), 3)

    def test_looking_disturbs_nobody(self):
        self.publisher.tell("publish 10")
        before = {t["topic"]: t["publishers"][0] for t in as_json("topic", "list", "--json")["topics"]}
        self.assertEqual(self.publisher.tell("status"), "published 10 subscribers 0 0 0")
        lookers = [start(self, "topic", *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for words in (["echo", "/test/image"], ["echo", "/test/own", "--json"], ["stats", "--all"], ["stats", "/test/wide", "--json"])]
        time.sleep(0.5)
        self.publisher.tell("publish 500")
        self.assertEqual(self.publisher.tell("status"), "published 510 subscribers 0 0 0")
        during = {t["topic"]: t["publishers"][0] for t in as_json("topic", "list", "--json")["topics"]}
        for looker in lookers:
            looker.send_signal(signal.SIGINT)
            self.assertIn(looker.wait(20), (0, 3))
        for topic in before:
            for what in ("slots", "wakes", "prewakes", "subscribers"):
                self.assertEqual(before[topic][what], during[topic][what], (topic, what))

    def test_a_stopped_publisher_is_reported_and_not_waited_for_long(self):
        self.publisher.tell("publish 1")
        self.publisher.process.send_signal(signal.SIGSTOP)
        try:
            run("topic", "list")
            self.assertIn("did not answer", run.stderr)
            run("topic", "echo", "/test/own", "--once", code=1)
            self.assertIn("did not answer", run.stderr)
        finally:
            self.publisher.process.send_signal(signal.SIGCONT)
        self.assertIn("/test/own", run("topic", "list"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be another user")
    def test_unreadable_topics_of_another_user_are_reported(self):
        for folder, _, names in os.walk(FOLDER):
            os.chmod(folder, 0o1777)

        def as_other(*words):
            return subprocess.run([CARDAN, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=60, user=12345, group=12345, extra_groups=[])

        try:
            listed = as_other("topic", "list")
        except PermissionError:
            self.skipTest("the program is in a folder that other users do not reach")
        self.assertIn("no topics", listed.stdout)
        self.assertIn("not open to this user: /test/image, /test/own, /test/wide", listed.stderr)
        for words in (["info", "/test/own"], ["stats", "/test/own", "--once"]):
            refused = as_other("topic", *words)
            self.assertEqual((refused.returncode, refused.stdout), (1, ""))
            self.assertRegex(refused.stderr, r"^cardan: '/test/own' is published, but .+ — .+\n$")
        refused = as_other("topic", "echo", "/test/own", "--once")
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, r"nothing that \w+ \(pid \d+\) publishes is for you: .* belong to user \d+")

    def test_leftovers_of_a_killed_publisher_are_not_listed(self):
        killed = Publisher()
        killed.tell("publish 1")
        self.assertEqual(len(as_json("topic", "info", "/test/own", "--json")["publishers"]), 2)
        killed.process.kill()
        killed.process.wait()
        killed.process.stdin.close()
        killed.process.stdout.close()
        self.assertEqual(len(as_json("topic", "info", "/test/own", "--json")["publishers"]), 1)


class Doctor(unittest.TestCase):
    def test_report(self):
        report = as_json("doctor", "--json")
        self.assertTrue(report["ok"])
        checks = {c["check"]: c for c in report["checks"]}
        for name in ("kernel", "/proc", "sealed memory", "one writer a page", "futex", "futex_waitv", "run directory", "descriptors", "inotify", "locked memory",
                     "real-time priority", "memory", "huge pages", "NUMA", "CPUs", "CPU frequency", "clock", "wake-up", "checksum", "io_uring", "processes"):
            self.assertIn(name, checks)
        for c in report["checks"]:
            self.assertIn(c["status"], ("ok", "note", "warn", "fail"))
            self.assertTrue(c["found"], c)
            if c["status"] in ("warn", "fail"):
                self.assertTrue(c["remedy"], c)
        text = run("doctor")
        self.assertNotIn("no part of this version", text)  # the recorder uses io_uring
        self.assertIn("cardan record", next(line for line in text.splitlines() if "io_uring" in line))
        self.assertEqual(len([line for line in text.splitlines() if re.match(r"^(ok  |note|warn|fail)  ", line)]), len(report["checks"]))

    def test_it_finds_missing_parts(self):
        limited = subprocess.run(["sh", "-c", 'ulimit -n 256; exec "$0" doctor --json', CARDAN], env={**ENVIRONMENT, "CARDAN_NO_FUTEX_WAITV": "1", "CARDAN_MEMORY_LIMIT": "1000000"},
                                 capture_output=True, text=True, timeout=60)
        status = {c["check"]: c["status"] for c in json.loads(limited.stdout)["checks"]}
        self.assertEqual((status["descriptors"], status["futex_waitv"], status["memory"]), ("warn", "warn", "warn"))


    def examine(self, **environment):
        found = subprocess.run([CARDAN, "doctor", "--json"], env={**ENVIRONMENT, **environment}, capture_output=True, text=True, timeout=60)
        report = json.loads(found.stdout)
        self.assertEqual(found.returncode, 0 if report["ok"] else 1)
        return {c["check"]: c for c in report["checks"]}

    def test_it_warns_of_a_run_directory_that_others_can_write(self):
        with tempfile.TemporaryDirectory() as folder:
            domain = os.path.join(folder, "default")
            os.mkdir(domain)
            attacks = [(folder, 0o777, -1), (folder, 0o770, -1), (domain, 0o777, -1), (domain, 0o722, -1)]
            if os.geteuid() == 0:
                attacks += [(folder, 0o1777, 12345), (domain, 0o1777, 12345), (domain, 0o755, 12345)]
            for path, mode, owner in attacks:
                os.chmod(folder, 0o1777)
                os.chmod(domain, 0o1777)
                self.assertEqual(self.examine(CARDAN_RUN_DIR=folder, CARDAN_DOMAIN="default")["run directory"]["status"], "ok")
                os.chmod(path, mode)
                os.chown(path, owner, -1)
                check = self.examine(CARDAN_RUN_DIR=folder, CARDAN_DOMAIN="default")["run directory"]
                os.chown(path, os.geteuid(), -1)
                self.assertEqual(check["status"], "fail", (path, mode, owner))
                self.assertIn(path, check["found"])
                self.assertIn(f"user {os.geteuid() if owner == -1 else owner} and has mode {mode:04o}", check["found"])
                self.assertIn(f"install -d -o root -m 1777 {folder} {domain}", check["remedy"])

    def test_it_warns_of_a_policy_that_others_can_write(self):
        with tempfile.TemporaryDirectory() as folder:
            policy = os.path.join(folder, "policy.json")

            def examine(**environment):
                return self.examine(CARDAN_RUN_DIR=folder, **environment).get("policy", {"status": "none"})

            self.assertEqual(examine()["status"], "none")
            self.assertEqual(examine(CARDAN_POLICY=policy)["status"], "warn")
            with open(policy, "w", encoding="utf8") as file:
                file.write('{"topics": []}')
            os.chmod(policy, 0o644)
            self.assertEqual(examine()["status"], "ok")
            self.assertEqual(examine(CARDAN_POLICY=policy)["status"], "ok")
            os.chmod(policy, 0o666)
            check = examine()
            self.assertEqual((check["status"], check["remedy"]), ("warn", f"look at what it says, then: chmod go-w {policy}"))
            os.chmod(policy, 0o644)
            if os.geteuid() == 0:
                os.chown(policy, 12345, -1)
                check = examine()
                self.assertEqual(check["status"], "warn")
                self.assertIn("belongs to user 12345", check["found"])
                self.assertIn(f"chown root {policy}", check["remedy"])
            os.remove(policy)
            os.mkfifo(policy)
            check = examine()
            self.assertEqual(check["status"], "warn")
            self.assertIn("not a regular file", check["found"])
            os.remove(policy)
            with open(policy, "w", encoding="utf8") as file:
                file.write("{")
            os.chmod(policy, 0o644)
            self.assertIn("cannot be read", examine()["found"])


class Completion(unittest.TestCase):
    def options(self, *words):
        return set(re.findall(r"(--[a-z][a-z-]*)", re.sub(r"Examples:.*", "", run(*words, "--help"), flags=re.S)))

    def complete(self, *words):
        """The words that may replace the last one, and what the shell is to look for."""
        return [line.split("\t")[0] for line in run("__complete", *words).splitlines()]

    def test_every_subcommand_and_option_is_offered(self):
        def walk(*path):
            text = run(*path, "--help").split("Examples:")[0]
            below = re.findall(r"^  (\w+) +\S", text.split("Subcommands:")[1], flags=re.M) if "Subcommands:" in text else []
            for name in below:
                self.assertIn(name, self.complete(*path, ""), path)
                walk(*path, name)
            options = self.options(*path)
            self.assertLessEqual(options, set(self.complete(*path, "--")), path)
            return 1 + len(below)
        self.assertGreater(walk(), 10)

    def test_values_are_offered(self):
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh", "fish"])
        self.assertEqual(self.complete("check", ""), [":files"])
        self.assertEqual(self.complete("run", "--reports", ""), [":folders"])
        self.assertEqual(self.complete("topic", "list", "--domain", ""), [])
        if "record" in self.complete(""):
            self.assertEqual(self.complete("record", "--on-full", ""), ["stop", "delete-oldest"])
        for strange in (["nonsense", ""], ["--nonsense", ""], ["topic", "echo", "a", "b", "c", ""], [""], ["-"], ["--"], ["\x1b", ""]):
            self.complete(*strange)
        self.assertNotIn("host", self.complete(""), "it is not for people")

    def test_bash_completes(self):
        publisher = Publisher()
        self.addCleanup(publisher.end)
        folder = os.path.dirname(CARDAN)

        def complete(*words):
            script = f'source <("{CARDAN}" completion bash); COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; [[ ${{COMP_WORDS[-1]}} == . ]] && COMP_WORDS[-1]=""; _cardan; echo "${{COMPREPLY[*]}}"'
            return subprocess.run(["bash", "-c", script], env={**ENVIRONMENT, "PATH": folder + ":" + os.environ["PATH"]}, capture_output=True, text=True, timeout=60).stdout.split()

        self.assertIn("doctor", complete("cardan", "."))
        self.assertEqual(complete("cardan", "topic", "e"), ["echo"])
        self.assertEqual(complete("cardan", "topic", "echo", "/test/i"), ["/test/image"])
        self.assertEqual(complete("cardan", "component", "s"), ["stats"])
        self.assertEqual(complete("cardan", "param", "g"), ["get"])
        self.assertIn("--once", complete("cardan", "component", "stats", "--"))
        self.assertIn("--fields", complete("cardan", "topic", "echo", "--"))
        self.assertEqual(complete("cardan", "topic", "echo", "--domain", "another", "/test/i"), [], "nobody publishes there")

    def test_scripts_are_valid(self):
        for shell, check in (("bash", ["bash", "-n"]), ("zsh", ["zsh", "-n"]), ("fish", ["fish", "-n"])):
            if shutil.which(shell):
                subprocess.run(check, input=run("completion", shell), text=True, check=True)


if __name__ == "__main__":
    try:
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=1)
    finally:
        shutil.rmtree(FOLDER, ignore_errors=True)

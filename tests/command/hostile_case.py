# SPDX-License-Identifier: Apache-2.0
"""The common part of tests of hostile recordings: the cost of a command."""
import os
import resource
import subprocess

from command_case import CARDAN, CommandCase

MIB = 1 << 20
BASE = 100 * MIB  # of the program, and of the Python before it becomes the program


class HostileCase(CommandCase):
    def cost_of(self, *words, code, cpu_s=None, descriptors=None, file_bytes=None):
        """Runs the command; what it said is in self.errors. The most memory it had, and the bytes that it read. With `file_bytes` it ends if a file of its becomes longer."""
        def limit():
            if cpu_s:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
            if descriptors:
                resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
            if file_bytes:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        def read():
            with open("/proc/self/io") as io:
                return int(io.readline().split()[1])  # rchar: with all children that have ended

        before = read()
        with open(self.path / "said", "w+") as said:
            process = subprocess.Popen([CARDAN, *map(str, words)], env=self.environment, stdout=said, stderr=said, stdin=subprocess.DEVNULL, cwd=self.path, preexec_fn=limit)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            self.errors = said.read()
        self.assertEqual(process.returncode, code, f"{words}\n{self.errors[:3000]}")
        return usage.ru_maxrss << 10, read() - before

    def convert(self, path, *words, code, **limits):
        return self.cost_of("bag", "convert", path, self.path / "out.mcap", "--force", *words, code=code, **limits)

    def out_bytes(self):
        out = self.path / "out.mcap"
        return out.stat().st_size if out.exists() else 0

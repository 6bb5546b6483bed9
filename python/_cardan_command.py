# SPDX-License-Identifier: Apache-2.0
"""The command `cardan` of the wheel: becomes the program in cardan/_command.

It is a module next to the package, because a start must not take the time of the package's import.
"""

import os
import signal
import sys


def main() -> None:
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cardan", "_command", "bin", "cardan")
    # Components in Python and `cardan bag export --to rerun` run in this environment, unless the user names another one.
    if sys.executable and not os.environ.get("CARDAN_PYTHON"):
        os.environ["CARDAN_PYTHON"] = sys.executable
    # Python ignores these; the program would inherit that.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execv(command, ["cardan", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"cardan: error: {command} cannot be started: {error.strerror} — install a wheel that `make wheel` made, which has it")

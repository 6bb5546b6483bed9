# SPDX-License-Identifier: Apache-2.0
"""The program of a process of `cardan run` that has components in Python: `cardan host` becomes it.

To start one by hand, as under a debugger: python3 -m cardan.component street.json --process perception
"""

from __future__ import annotations

import argparse
import os
import sys

from cardan import _cardan
from cardan._component import make
from cardan._errors import Error


def _prepare(files: list[str]) -> object:
    """The folders of the files that name components come first, as `python3 module.py` has it."""
    for file in reversed(files):
        folder = os.path.dirname(os.path.abspath(file))
        if folder in sys.path:
            sys.path.remove(folder)
        sys.path.insert(0, folder)
    return make


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m cardan.component", description="Run one process of a configuration file.")
    parser.add_argument("file", help="the configuration")
    parser.add_argument("--process", default="", help="name of the process in the file")
    parser.add_argument("--domain", default="", help="of the topics, instead of the file's or $CARDAN_DOMAIN")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="sets a variable of the file")
    parser.add_argument("--set", action="append", default=[], metavar="COMPONENT/PARAMETER=VALUE")
    parser.add_argument("--log-level", action="append", default=[])
    parser.add_argument("--skip", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--declare", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--one-process", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--ready-fd", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--report-fd", type=int, default=-1, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    try:
        if given.declare:
            return _cardan._declare(
                given.file,
                given.declare[0],
                int(given.declare[1]),
                given.var,
                given.set,
                given.log_level,
                given.one_process,
                _prepare,
            )
        return _cardan._run_host(
            given.file,
            given.process,
            given.domain,
            given.var,
            given.set,
            given.log_level,
            given.skip,
            given.one_process,
            given.ready_fd,
            given.report_fd,
            _prepare,
        )
    except Error as error:
        print(f"cardan: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

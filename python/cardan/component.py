# SPDX-License-Identifier: Apache-2.0
"""The program of a process of `cardan run` that has components in Python: `cardan host` becomes it.

To start one by hand, as under a debugger: python3 -m cardan.component street.json --process perception
`cardan run FILE --from BAG` becomes it too if a component is in Python: python3 -m cardan.component street.json --from drive.mcap
"""

from __future__ import annotations

import argparse
import sys

from cardan import _cardan
from cardan._beside import search_beside
from cardan._component import make, offer
from cardan._errors import Error
from cardan._program import has_a_name


def _prepare(files: list[str]) -> object:
    search_beside(files)
    return make


def _replay(given: argparse.Namespace) -> int:
    from cardan._recorded import record_module

    code: int = record_module()._replay(
        given.plan_fd,
        given.bags,
        given.without,
        given.output,
        given.force,
        given.start,
        given.until,
        given.max_gap,
        given.seconds,
        given.json,
        given.reports,
        given.grace,
        given.command,
        offer,
    )
    return code


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python3 -m cardan.component", description="Run one process of a configuration file.")
    parser.add_argument("file", nargs="?", default="", help="the configuration")
    parser.add_argument("--plan-fd", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--process", default="", help="name of the process in the file")
    parser.add_argument("--domain", default="", help="of the topics, instead of the file's or $CARDAN_DOMAIN")
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE", help="sets a variable of the file")
    parser.add_argument("--set", action="append", default=[], metavar="COMPONENT/PARAMETER=VALUE")
    parser.add_argument("--skip", action="append", default=[], help=argparse.SUPPRESS)
    parser.add_argument("--declare", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--ready-fd", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--report-fd", type=int, default=-1, help=argparse.SUPPRESS)
    replay = parser.add_argument_group("a replay, with the options of `cardan run --from`")
    replay.add_argument("--from", dest="bags", action="append", default=[], metavar="BAG", help="the recording; repeatable")
    replay.add_argument("--without", action="append", default=[], metavar="NAME", help="leave out this component or process")
    replay.add_argument("--output", default="", help="file for what the components publish")
    replay.add_argument("--force", action="store_true", help="replace that file")
    replay.add_argument("--start", default="0", help="seconds after the first message, or a date")
    replay.add_argument("--until", default="", help="seconds after the first message to end at, or a date")
    replay.add_argument("--max-gap", type=float, default=600.0, help="longest time without a message that is not skipped")
    replay.add_argument("--seconds", type=float, default=None, help="of the recording")
    replay.add_argument("--json", default="", help="file for a summary")
    replay.add_argument("--reports", default="out", help="folder of the crash reports")
    replay.add_argument("--grace", type=float, default=5.0, help="seconds that a callback has to end")
    replay.add_argument("--command", default="", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    has_a_name()
    if given.plan_fd < 0 and not given.file:
        parser.error("give the configuration")
    try:
        if given.plan_fd < 0:
            given.plan_fd = _cardan._make_plan(given.file, given.var, given.set, given.domain)
    except Error as error:
        print(f"cardan: error: {error}", file=sys.stderr)
        return 2
    try:
        if given.bags:
            return _replay(given)
        if given.declare:
            return _cardan._declare(given.plan_fd, given.declare[0], int(given.declare[1]), _prepare)
        return _cardan._run_host(given.plan_fd, given.process, given.skip, given.ready_fd, given.report_fd, _prepare)
    except Error as error:
        print(f"cardan: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

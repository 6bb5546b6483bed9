# SPDX-License-Identifier: Apache-2.0
"""The program of `cardan bench compare`, `report` and `all`: compares results of the bench, and draws their report.

    __main__.py check                                         0: this Python has what is needed
    __main__.py compare [--threshold X] [--json FILE] -- BEFORE AFTER
    __main__.py report [--out FOLDER] -- RESULT...
    __main__.py all FOLDER                                    of the parts that FOLDER/state.json names

Their options and exit codes are those of the command (docs/benchmarking.md). Not for users: the command checks options."""
import argparse
import importlib.util
import json
import os
import re
import resource
import sys

MOST_MEMORY = 2 << 30  # a file may come from anyone
MOST_STATE_BYTES = 1 << 20
GREATEST_THRESHOLD = 1000
NEEDS = "numpy", "scipy", "matplotlib"


def compare_files(words):
    from compare import WORSE, compare, to_json, to_table
    from results import BenchError, read_result, write_text
    if not 1 <= words.threshold <= GREATEST_THRESHOLD:
        raise BenchError(f"--threshold {words.threshold:g} is out of range",
                         f"use a factor from 1 to {GREATEST_THRESHOLD}, such as 1.03")
    before, after = read_result(words.before), read_result(words.after)
    comparison = compare(before, after, words.threshold)
    if not comparison.rows:
        raise BenchError("neither file has a measurement", "measure with --json first")
    print(to_table(comparison), end="", flush=True)
    if words.json:
        text = json.dumps(to_json(comparison), indent=1, ensure_ascii=False) + "\n"
        write_text(words.json, text, "give --json a file in a folder that you may write")
    return 1 if comparison.count(WORSE) else 0


def report_files(words):
    from page import write_report
    from results import read_result
    write_report([read_result(path) for path in words.results], words.out)
    print(f"wrote {words.out}/index.html, summary.md and results.json")
    return 0


def join_shared(earlier, result):
    """Adds measurements that an earlier part has too, as the ping-pong of all parts of the transport, to its runs."""
    known = {m.identity: m for one in earlier for m in one.measurements}
    for m in result.measurements:
        if first := known.get(m.identity):
            first.runs += m.runs
            first.noisy |= m.noisy
            for name in ("due", "lost"):
                if getattr(m, name) is not None:
                    setattr(first, name, (getattr(first, name) or 0) + getattr(m, name))
    result.measurements = [m for m in result.measurements if m.identity not in known]


def report_parts(words):
    from page import write_report
    from results import BenchError, clean, content_of, parsed, read_result

    def say(text):
        print(f"cardan bench: {text}", file=sys.stderr)

    code, results, failures = 0, [], []
    state = os.path.join(words.folder, "state.json")
    try:
        parts = [(clean(part["name"]), part["code"] in (0, 3), clean(part["words"]))
                 for part in parsed(content_of(state, MOST_STATE_BYTES), state)["parts"]]
    except (KeyError, TypeError):
        raise BenchError(f"{state}: `cardan bench all` did not write it") from None
    for name, finished, why in parts:
        path = os.path.join(words.folder, "parts", f"{name}.json")
        if not finished:
            failures.append(f"{name}: {why}")
        if not re.fullmatch("[a-z0-9]+", name) or not os.path.exists(path):
            continue
        try:
            result = read_result(path)
        except BenchError as error:
            say(error)
            code = 1
            continue
        result.source = name
        join_shared(results, result)
        results.append(result)
    if not results:
        say("no report was written, because nothing was measured")
        return 1
    results[0].failures += failures
    write_report(results, words.folder)
    say(f"the report is {os.path.join(words.folder, 'index.html')}")
    return code


def parse_words():
    parser = argparse.ArgumentParser(prog="cardan bench", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check")
    compare = commands.add_parser("compare")
    compare.add_argument("--threshold", type=float, default=1.03)
    compare.add_argument("--json", default="")
    compare.add_argument("before")
    compare.add_argument("after")
    report = commands.add_parser("report")
    report.add_argument("--out", default="out/report")
    report.add_argument("results", nargs="+")
    commands.add_parser("all").add_argument("folder")
    return parser.parse_args()


def main():
    words = parse_words()
    if words.command == "check":
        return 0 if sys.version_info >= (3, 10) and all(map(importlib.util.find_spec, NEEDS)) else 1
    not_written, wrong_input = (2, 2) if words.command == "compare" else (1, 2)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = "1"  # nothing here is linear algebra
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY if most == resource.RLIM_INFINITY else min(most, MOST_MEMORY), most))
    try:
        from results import BenchError, WriteError
    except ImportError as error:
        print(f"cardan bench {words.command}: {sys.executable} cannot load NumPy: {error}", file=sys.stderr)
        return not_written
    try:
        return {"compare": compare_files, "report": report_files, "all": report_parts}[words.command](words)
    except BenchError as error:
        print(f"cardan bench {words.command}: {error}", file=sys.stderr)
        return wrong_input
    except (WriteError, ImportError) as error:
        print(f"cardan bench {words.command}: {error}", file=sys.stderr)
    except MemoryError:
        print(f"cardan bench {words.command}: more than {MOST_MEMORY >> 30} GiB of memory are needed", file=sys.stderr)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except KeyboardInterrupt:
        pass
    return not_written


if __name__ == "__main__":
    sys.exit(main())

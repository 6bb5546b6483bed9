#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The order of the folders: which one may include which. docs/architecture.md shows it.

    rooms.py           checks each #include, and whether the page is current (exit code 1: something is wrong)
    rooms.py --write   writes the order into the page
"""
import collections
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architecture.md"
BEGIN = "<!-- scripts/rooms.py --write makes the lines from here … -->"
END = "<!-- … to here -->"
TREES = ["include", "src", "apps", "bench", "demo", "examples", "python", "tests"]

# Top to bottom: a folder, its headers for users (in include/cardan), and what it is. It includes itself and the lines above it, but not one
# with which "=" puts it side by side. A line without a folder is headers that a higher folder defines and a lower one also needs.
# folder/{a,b} are single files (a.hpp, a.cpp); the rest of their folder has its own line.
LIBRARY = """
src/base: clock error log placement realtime detail/{atomic,deadline,duration,fd,forked,function} | memory areas, descriptors, sockets, futexes, clocks, errors, log
src/types: arena fixed_string fixed_vector message message_schema shm_string shm_vector detail/{message_fields,message_type} | shared vectors and strings, CARDAN_MESSAGE
src/transport/protocol | the lock-free protocols, their memory orders, the layout of the pages
: topic endpoint_options observer_report | public types that the inside also uses
src/transport/endpoint: detail/{basis,loaned_slot,sample_block,sample_clock,stop_flag} | hot path (publisher_core and its parts, subscriber_core), helper thread's half (subscriber_helper), waiting, events
src/transport/discovery | run directory, connections (client, server), access rules, shares of other users
src/transport: publisher subscriber sample any_publisher any_subscriber wait_any stop observer detail/{publisher_end,subscriber_end} | publisher, subscriber, observer
src/messages: messages messages/* image point_cloud local_message any_type type_layout cdr cdr_reader cdr_writer eigen pcl transform_math | standard messages, views of OpenCV, PCL and Eigen, CDR, schemas, types known at run time
src/transport/service: service service_options detail/service_end | questions and answers: servers, clients, who may attach to whose stream
src/c: cardan.h | the C interface
src/mcap: mcap/* detail/checksum | MCAP files
src/config: configuration | the configuration file
src/runtime/fusion: fusion_policy detail/{fusion_core,fusion_rule} | sets of inputs
: component_options cycle codec | public types that the executor also uses
src/runtime/executor | ports, channels, groups of threads
: output detail/{declaring,encoded,unset} | public types that the callbacks of services, and transforms, also use
src/runtime/service | services and clients of components, also in a simulation
src/transforms: transforms | where frames are: the tree, its topics, what is refused
src/runtime: component context parameter fusion protobuf service_client simulation | components, and what they declare
src/system/plan | what runs: the configuration, read once, with the changes of the command line; sealed for the processes
src/system/host | inside a process: loads components, answers questions, watchdog
src/system/launcher | outside: starts, watches, restarts
src/trace | the meaning of the events of a trace: where the time of each frame went
src/terminal | what programs write for people: tables, screens, warnings
src/record | how recordings and their topics are named and read
src/record/disk: disk_mode | asynchronous writes, files that are being recorded
src/record/schedule: schedule | when the recorder writes
src/record/chunks | how samples lie in a file that is written as they come
src/record/recorder: recorder recorder_report | from topics to files; `implementation.hpp` draws its parts
src/record/player: player | from files to topics
src/replay | `cardan run FILE --from BAG`, for the command and for Python
src/bridge | rules, topics on their way out and in
src/bridge/dds | ROS 2 and other DDS systems, on Cyclone DDS
= src/bridge/foxglove | Foxglove, Lichtblick and the page of `cardan view`, on Boost.Beast
= src/bridge/zenoh | starts `cardan-zenoh` and passes its reports on
include: cardan | `cardan.hpp`, which includes the parts for users
"""

# A program includes the library, itself, and of the folders above it in this list only those that its line names.
PROGRAMS = """
python/src:
python/bench:
apps/terminal:
apps: apps/terminal
apps/completion: apps/terminal apps
apps/manual: apps/terminal
apps/{program}: apps/terminal apps/completion apps/manual
apps/schema: apps/terminal apps
apps/new: apps/terminal apps apps/schema
apps/protobuf: apps
apps/message: apps/terminal apps
apps/component: apps/terminal apps
apps/param: apps/terminal apps apps/component
apps/graph: apps/terminal apps
apps/doctor: apps/terminal apps
apps/top: apps/terminal apps apps/component
apps/topic: apps/terminal apps apps/protobuf apps/message apps/component
apps/service: apps/terminal apps apps/component apps/message
apps/tf: apps/terminal apps apps/component
apps/trace: apps/terminal apps apps/component
apps/tour: apps/terminal apps
apps/view: apps
apps/bench: apps
apps/bag/{bag,max_chunk}: apps
apps/bag/convert: apps/terminal apps apps/bag
apps/bag/export: apps apps/protobuf
apps/bag: apps/terminal apps apps/protobuf apps/message apps/bag/convert apps/bag/export
apps/record: apps/terminal apps
apps/play: apps/terminal apps apps/bag
apps/bridge: apps/terminal apps
apps/bridge/dds: apps/bridge
apps/bridge/foxglove: apps/terminal apps/bag apps/play apps/bridge
apps/bridge/zenoh: apps/bridge
apps/check: apps/terminal apps apps/bridge
apps/run: apps/terminal apps apps/component apps/bag apps/bridge apps/check
apps/host: apps/terminal apps apps/component
demo/{opencv_picture,picture,seen}:
demo/sensors:
demo/detector: demo
demo/decision: demo demo/sensors demo/detector
demo/processes/{roles}: demo/decision
demo/report/{measurements,note,statistics}: demo/processes
demo/processes/{cpu_seconds,crash,priorities,processes}: demo/report
demo/report: demo demo/sensors demo/detector demo/decision demo/processes
demo: demo/sensors demo/detector demo/decision demo/report
demo/components: demo demo/sensors demo/processes
demo/processes: demo demo/sensors
demo/sockets: demo demo/processes
demo/{demo,entry}: demo/sensors demo/detector demo/processes demo/report demo/sockets
apps/demo: apps/terminal apps apps/bag apps/record apps/run demo
apps/{main}:
bench/{pin,temporary_folder}:
bench/results:
bench/results/all: bench/results
bench/transport bench/transport/peers/{peer}: bench bench/results
bench: bench/transport
bench/transport/peers: bench/results bench/transport
bench/transport/peers/others: bench bench/transport bench/transport/peers
bench/results/{commands}: bench/results/all bench/transport bench/transport/peers
bench/bridge: bench bench/results bench/transport
bench/bridge/v2x: bench bench/results bench/transport bench/bridge
bench/bridge/fastdds: bench bench/bridge/v2x
bench/pipeline: bench bench/results bench/transport bench/transport/peers
bench/pipeline/lidar: demo/sensors bench/pipeline
bench/pipeline/vision: demo demo/sensors demo/detector bench/pipeline
bench/transforms:
bench/record/peers/{fio} bench/record/peers/ros1/{bag_count} bench/record/peers/rosbag2/{message,message_cache}: bench bench/transport
bench/record: bench bench/results bench/transport bench/transport/peers bench/record/peers bench/record/peers/ros1 bench/record/peers/rosbag2
bench/record/peers:
bench/record/peers/ros1: bench bench/transport bench/record
bench/record/peers/rosbag2: bench bench/transport bench/record
bench/runtime/{workload}:
bench/runtime/nodelet: bench bench/transport bench/runtime
bench/runtime: bench bench/results bench/transport bench/runtime/nodelet
bench/{main}: apps bench/results bench/transport bench/transport/peers bench/bridge bench/bridge/v2x bench/pipeline bench/record bench/runtime
examples/component:
examples/composition:
examples/own_message:
examples/quickstart:
examples/service:
tests/support:
tests/bridge: bench/bridge/fastdds
tests/checker:
tests/command:
tests/compile_fail:
tests/fuzz: apps apps/protobuf apps/bag/convert apps/bag/export tests/support
tests/hostile: tests/support
tests/install/consumer:
tests/interop:
tests/kill:
tests/mcap:
tests/record:
tests/runtime: tests/support
tests/stress:
tests/traps: tests/support
tests/ros2/peer:
"""


class Floor:
    def __init__(self, name, text, height, headers, allowed):
        self.name, self.text, self.height = name, text, height
        self.headers = headers  # of the library: of include/cardan, as the line says them
        self.allowed = allowed  # folders of other programs; None: it is in the library
        self.folders = {one.partition("/{")[0] for one in name.split()}
        self.used = set()


def read_order():
    """The floors, from the top, and by folder or file the floor that it belongs to."""
    floors, places, height = [], {}, 0
    for order, of_programs in ((LIBRARY, False), (PROGRAMS, True)):
        for line in order.strip().splitlines():
            beside, line = line.startswith("="), line.lstrip("= ")
            place, _, text = (part.strip() for part in line.partition("|"))
            name, _, words = (part.strip() for part in place.partition(":"))
            height += not beside
            headers = [] if of_programs else [f"include/cardan/{word}" for word in words.split()]
            floors.append(Floor(name, text, height, headers, set(words.split()) if of_programs else None))
            for one in [*name.split(), *headers]:
                folder, _, files = one.rstrip("}").partition("/{")
                for place in [f"{folder}/{file}" for file in files.split(",")] if files else [folder.removesuffix("*")]:
                    if place in places:
                        sys.exit(f"scripts/rooms.py: two lines have {place}")
                    places[place] = floors[-1]
    return floors, places


def room_of(path):
    """The room that a unit test may know as a whole: src/transport, or a program."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "src" else parts[0]


def folder_of(path):
    return path.rpartition("/")[0]


def why_not(path, target, floors, places):
    """Why this file may not include that one; empty: it may."""
    me, it = (next((places[key] for key in (one, one.rpartition(".")[0], folder_of(one), folder_of(one) + "/") if key in places), None)
              for one in (path, target))
    for floor, one in ((me, path), (it, target)):
        if floor is None:
            return f"scripts/rooms.py does not know {one if one.startswith('include') else folder_of(one)}: write it there"
    if me is it:
        return ""
    if re.search(r"_test\.[ch]pp$", path):
        if room_of(path) in (room_of(target), room_of(it.name)) or target.startswith(("tests/support/", "include/cardan/cardan.hpp")):
            return ""
        me = [floor for floor in floors if room_of(floor.name) == room_of(path)][-1]
        return "" if it.height < me.height else f"{me.name} is above {it.name} and may not include it"
    if it.height >= me.height:
        return f"{me.name} is {'above' if it.height > me.height else 'as high as'} {it.name} and may not include it"
    if me.allowed is not None and it.allowed is not None and folder_of(target) not in me.folders:
        if folder_of(target) not in me.allowed:
            return f"the line of {me.name} in scripts/rooms.py does not name {folder_of(target)}"
        me.used.add(folder_of(target))
    return ""


def includes():
    """Pairs of paths, of all sources."""
    for tree in TREES:
        for source in sorted((ROOT / tree).rglob("*")):
            if source.suffix not in (".hpp", ".cpp", ".h", ".c"):
                continue
            path = source.relative_to(ROOT).as_posix()
            for target in re.findall(rf'^\s*#\s*include ["<]((?:cardan|{"|".join(TREES)})/[^">]+)', source.read_text(), re.M):
                yield path, f"include/{target}" if target.startswith("cardan/") else target


def drawing(floors):
    """The part of the page between its two marks."""
    library = [floor for floor in floors if floor.allowed is None]
    width = max(len(floor.name) for floor in library) + 2
    lines = [BEGIN, "```"]
    for floor in library:
        lines.append(f"{floor.name:{width}}{floor.text}")
        if floor.headers:
            names = " ".join(header.removeprefix("include/cardan/") for header in floor.headers)
            lines += textwrap.wrap(f"→ {names}", 120, initial_indent=" " * width, subsequent_indent=" " * (width + 2), break_on_hyphens=False)
    lines += ["```", "", "An arrow shows the headers for users, in `include/cardan`. A program includes the library, and of the programs only these:", "", "| folder | includes |", "|---|---|"]
    for floor in floors:
        if floor.allowed is not None:
            names = " ".join(f"`{name}`" for name in floor.name.split())
            lines.append(f"| {names} | {', '.join(f'`{name}`' for name in sorted(floor.allowed)) or '–'} |")
    return "\n".join([*lines, END])


def main():
    floors, places = read_order()
    wrong = collections.defaultdict(list)
    for path, target in includes():
        if why := why_not(path, target, floors, places):
            wrong[why].append(f"{path} includes {target}")
    for floor in floors:
        for name in sorted((floor.allowed or set()) - floor.used):
            wrong[f"the line of {floor.name} in scripts/rooms.py names {name}, which it does not include"] = []
    page = PAGE.read_text()
    begin, end = page.index(BEGIN), page.index(END) + len(END)
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page[:begin] + drawing(floors) + page[end:])
    elif page[begin:end] != drawing(floors):
        wrong[f"{PAGE.relative_to(ROOT)} is not current: run scripts/rooms.py --write"] = []
    for why, which in wrong.items():
        print("\n".join([*which, f"  → {why} (rule 1)"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

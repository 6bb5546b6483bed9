# SPDX-License-Identifier: Apache-2.0
"""The 416 cases of MCAP's public conformance suite against our three programs.

    conformance.py FOLDER_WITH_PROGRAMS [FOLDER_WITH_CASES]

The suite's files are made here from its description (records times features), by an encoder written from the specification
that shares nothing with ours; that they are the suite's is shown by the digest of all of them. With a second argument the
cases (.mcap and .json side by side) are taken from there. A reader prints what a case's JSON lists, a writer makes its bytes.
"""

import hashlib
import itertools
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

# SHA-256 of "name sha256\n" of each .mcap file of the public suite, sorted by name.
PUBLIC_SUITE = "eabcfbf8e6525dd4022cb979a3d1793443a31f427cc163be4ddb98e295cd8d01"

MAGIC = b"\x89MCAP0\r\n"
FEATURES = ["ch", "mx", "st", "rsh", "rch", "ax", "mdx", "chx", "sum", "pad"]
OPCODES = {"Header": 1, "Footer": 2, "Schema": 3, "Channel": 4, "Message": 5, "Chunk": 6, "MessageIndex": 7, "ChunkIndex": 8,
           "Attachment": 9, "AttachmentIndex": 10, "Statistics": 11, "Metadata": 12, "MetadataIndex": 13, "SummaryOffset": 14,
           "DataEnd": 15}
NEVER_EXTENDED = {"Message", "Chunk", "DataEnd", "Footer"}

# The specification's fields: 1 to 8 bytes of a number, "s" a string, "b" bytes, "B" bytes with a long length, "r" the rest,
# (key, value) a map.
FIELDS = {
    "Header": {"profile": "s", "library": "s"},
    "Footer": {"summary_start": 8, "summary_offset_start": 8, "summary_crc": 4},
    "Schema": {"id": 2, "name": "s", "encoding": "s", "data": "b"},
    "Channel": {"id": 2, "schema_id": 2, "topic": "s", "message_encoding": "s", "metadata": ("s", "s")},
    "Message": {"channel_id": 2, "sequence": 4, "log_time": 8, "publish_time": 8, "data": "r"},
    "Chunk": {"message_start_time": 8, "message_end_time": 8, "uncompressed_size": 8, "uncompressed_crc": 4, "compression": "s",
              "records": "B"},
    "MessageIndex": {"channel_id": 2, "records": (8, 8)},
    "ChunkIndex": {"message_start_time": 8, "message_end_time": 8, "chunk_start_offset": 8, "chunk_length": 8,
                   "message_index_offsets": (2, 8), "message_index_length": 8, "compression": "s", "compressed_size": 8,
                   "uncompressed_size": 8},
    "Attachment": {"log_time": 8, "create_time": 8, "name": "s", "media_type": "s", "data": "B"},
    "AttachmentIndex": {"offset": 8, "length": 8, "log_time": 8, "create_time": 8, "data_size": 8, "name": "s", "media_type": "s"},
    "Statistics": {"message_count": 8, "schema_count": 2, "channel_count": 4, "attachment_count": 4, "metadata_count": 4,
                   "chunk_count": 4, "message_start_time": 8, "message_end_time": 8, "channel_message_counts": (2, 8)},
    "Metadata": {"name": "s", "metadata": ("s", "s")},
    "MetadataIndex": {"offset": 8, "length": 8, "name": "s"},
    "SummaryOffset": {"group_opcode": 1, "group_start": 8, "group_length": 8},
    "DataEnd": {"data_section_crc": 4},
}


def field(kind, value):
    if isinstance(kind, int):
        return value.to_bytes(kind, "little")
    if isinstance(kind, tuple):
        pairs = value.items() if isinstance(value, dict) else value
        body = b"".join(field(kind[0], k) + field(kind[1], v) for k, v in pairs)
        return struct.pack("<I", len(body)) + body
    if kind == "s":
        value = value.encode()
    return {"s": struct.pack("<I", len(value)), "b": struct.pack("<I", len(value)), "B": struct.pack("<Q", len(value)), "r": b""}[kind] + value


def encode(kind, values, pad=False):
    content = b"".join(field(k, values[name]) for name, k in FIELDS[kind].items())
    if kind == "Attachment":
        content += struct.pack("<I", zlib.crc32(content))
    if pad and kind not in NEVER_EXTENDED:
        content += b"\x01\xff\xff"
    return struct.pack("<BQ", OPCODES[kind], len(content)) + content


def in_json(value):
    if isinstance(value, bytes):
        return [str(b) for b in value]
    if isinstance(value, dict):
        return {str(k): in_json(v) for k, v in value.items()}
    return str(value)


def record_json(kind, values):
    return {"type": kind, "fields": [[name, in_json(values[name])] for name in sorted(FIELDS[kind])]}


SCHEMA = ("Schema", {"id": 1, "name": "Example", "encoding": "c", "data": b"\x04\x05\x06"})
CHANNEL = ("Channel", {"id": 1, "schema_id": 1, "topic": "example", "message_encoding": "a", "metadata": {"foo": "bar"}})


def message(sequence, log_time, publish_time):
    return ("Message", {"channel_id": 1, "sequence": sequence, "log_time": log_time, "publish_time": publish_time,
                        "data": b"\x01\x02\x03"})


INPUTS = {
    "NoData": [],
    "OneSchemalessMessage": [("Channel", {**CHANNEL[1], "schema_id": 0, "message_encoding": "text", "metadata": {}}), message(10, 2, 1)],
    "OneMessage": [SCHEMA, CHANNEL, message(10, 2, 1)],
    "OneAttachment": [("Attachment", {"name": "myFile", "media_type": "application/octet-stream", "log_time": 2, "create_time": 1,
                                      "data": b"\x01\x02\x03"})],
    "OneMetadata": [("Metadata", {"name": "myMetadata", "metadata": {"foo": "bar"}})],
    "TenMessages": [SCHEMA, CHANNEL] + [message(i, t, t) for i, t in enumerate([0, 2, 1, 3, 3, 5, 4, 7, 8, 9])],
}


def makes_sense(kinds, f):
    needs = {"ax": "Attachment", "mdx": "Metadata", "rsh": "Schema", "rch": "Channel"}
    if any(feature in f and kind not in kinds for feature, kind in needs.items()):
        return False
    if f & {"ch", "chx", "mx"} and not kinds & {"Message", "Channel", "Schema"}:
        return False
    if "sum" in f and not f & {"chx", "rsh", "rch", "mdx", "ax", "st"}:
        return False
    return "ch" in f or not f & {"chx", "mx"}


def make_case(records, f):
    """The file, and what a streamed reader sees of it."""
    out, seen = bytearray(MAGIC), []
    pad = "pad" in f

    def write(kind, values, shown=True):
        out.extend(data := encode(kind, values, pad))
        if shown:
            seen.append(record_json(kind, values))
        return len(data)

    write("Header", {"profile": "", "library": ""})
    chunk, indexes, attachments, metadata = bytearray(), [], [], []
    for kind, values in records:
        if kind in ("Schema", "Channel", "Message") and "ch" in f:
            if kind == "Message":
                indexes.append((values["log_time"], len(chunk)))
            chunk += encode(kind, values)
            seen.append(record_json(kind, values))
            continue
        offset = len(out)
        length = write(kind, values)
        if kind == "Attachment":
            attachments.append({**values, "offset": offset, "length": length, "data_size": len(values["data"])})
        if kind == "Metadata":
            metadata.append({"offset": offset, "length": length, "name": values["name"]})
    times = [v["log_time"] for k, v in records if k == "Message"]
    span = {"message_start_time": min(times, default=0), "message_end_time": max(times, default=0)}
    chunk_index = None
    if "ch" in f:
        start = len(out)
        length = write("Chunk", {**span, "uncompressed_size": len(chunk), "uncompressed_crc": zlib.crc32(chunk), "compression": "",
                                 "records": bytes(chunk)}, shown=False)
        chunk_index = {**span, "chunk_start_offset": start, "chunk_length": length, "message_index_offsets": {},
                       "message_index_length": 0, "compression": "", "compressed_size": len(chunk), "uncompressed_size": len(chunk)}
        if "mx" in f:
            chunk_index["message_index_offsets"] = {1: len(out)}
            chunk_index["message_index_length"] = write("MessageIndex", {"channel_id": 1, "records": indexes}, shown=False)
    write("DataEnd", {"data_section_crc": zlib.crc32(out)})

    count = lambda kind: sum(k == kind for k, _ in records)  # noqa: E731
    statistics = {**span, "message_count": count("Message"), "schema_count": count("Schema"), "channel_count": count("Channel"),
                  "attachment_count": count("Attachment"), "metadata_count": count("Metadata"), "chunk_count": int("ch" in f),
                  "channel_message_counts": {1: count("Message")} if count("Message") else {}}
    summary_start, groups = len(out), []
    for kind, wanted, all_values in [("Schema", "rsh", [v for k, v in records if k == "Schema"]),
                                     ("Channel", "rch", [v for k, v in records if k == "Channel"]), ("Statistics", "st", [statistics]),
                                     ("MetadataIndex", "mdx", metadata), ("AttachmentIndex", "ax", attachments),
                                     ("ChunkIndex", "chx", [chunk_index] if chunk_index else [])]:
        start = len(out)
        for values in all_values if wanted in f else []:
            write(kind, values)
        if len(out) > start:
            groups.append({"group_opcode": OPCODES[kind], "group_start": start, "group_length": len(out) - start})
    offsets_start = len(out) if "sum" in f else 0
    for group in groups if "sum" in f else []:
        write("SummaryOffset", group)
    footer = {"summary_start": summary_start if groups else 0, "summary_offset_start": offsets_start, "summary_crc": 0}
    footer["summary_crc"] = zlib.crc32(out[summary_start:] + encode("Footer", footer)[:-4])
    write("Footer", footer)
    return bytes(out) + MAGIC, {"records": seen, "meta": {"variant": {"features": sorted(f)}}}


def make_suite(folder):
    for base, records in INPUTS.items():
        kinds = {k for k, _ in records}
        for bits in itertools.product([False, True], repeat=len(FEATURES)):
            f = {feature for feature, bit in zip(FEATURES, bits) if bit}
            if not makes_sense(kinds, f):
                continue
            path = folder / "-".join([base, *sorted(f)])
            data, listing = make_case(records, f)
            path.with_name(path.name + ".mcap").write_bytes(data)
            path.with_name(path.name + ".json").write_text(json.dumps(listing))
    lines = sorted(f"{p.stem} {hashlib.sha256(p.read_bytes()).hexdigest()}\n" for p in folder.glob("*.mcap"))
    return len(lines), hashlib.sha256("".join(lines).encode()).hexdigest()


def indexed_view(records):
    def number(record, name):
        return int(dict(record["fields"])[name])

    def first_of_each(kind):
        found = {}
        for record in (r for r in records if r["type"] == kind):
            found.setdefault(number(record, "id"), record)
        return [found[i] for i in sorted(found)]

    messages = sorted((r for r in records if r["type"] == "Message"), key=lambda r: number(r, "log_time"))
    return {"schemas": first_of_each("Schema"), "channels": first_of_each("Channel"), "messages": messages,
            "statistics": [r for r in records if r["type"] == "Statistics"]}


def check(programs, case):
    """The problems of one case, and the number of its programs."""
    listing = json.loads(case.with_suffix(".json").read_text())
    features = set(listing["meta"]["variant"]["features"])
    run = lambda name, path: subprocess.run([programs / f"mcap_conformance_{name}", path], capture_output=True, timeout=60)  # noqa: E731
    wrong, ran = [], 2
    streamed = run("streamed_read", case)
    if streamed.returncode != 0 or json.loads(streamed.stdout) != {"records": listing["records"]}:
        wrong.append(f"streamed_read {case.name}: {streamed.stderr.decode()}{streamed.stdout.decode()}")
    if {"ch", "chx", "rch", "mx"} <= features and ("rsh" in features or "Schemaless" in case.name):
        ran += 1
        indexed = run("indexed_read", case)
        if indexed.returncode != 0 or json.loads(indexed.stdout) != indexed_view(listing["records"]):
            wrong.append(f"indexed_read {case.name}: {indexed.stderr.decode()}{indexed.stdout.decode()}")
    written = run("write", case.with_suffix(".json"))
    if written.returncode != 0 or written.stdout != case.read_bytes():
        wrong.append(f"write {case.name}: {written.stderr.decode()}{written.stdout.hex()}")
    return wrong, ran


def main():
    programs = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory(prefix="cardan-mcap-") as own:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else own)
        if len(sys.argv) <= 2:
            cases, digest = make_suite(folder)
            if digest != PUBLIC_SUITE:
                sys.exit(f"the {cases} cases made here are not those of the public suite: their digest is {digest}")
        with ThreadPoolExecutor(4) as pool:
            results = list(pool.map(lambda case: check(programs, case), sorted(folder.rglob("*.mcap"))))
    wrong = [w for some, _ in results for w in some]
    print("\n".join(wrong[:20]))
    print(f"{len(results)} cases, {sum(ran for _, ran in results)} runs, {len(wrong)} wrong")
    sys.exit(1 if wrong or not results else 0)


if __name__ == "__main__":
    main()

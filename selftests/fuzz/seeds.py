#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""seeds.py TARGET...: make corpus/TARGET anew: a few small inputs for each fuzzer to begin with.

Frames come from the project's own captures. Of what fuzzers found themselves it takes those
that reach most (libFuzzer's set cover), small ones only.
"""
import argparse
import hashlib
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CAPTURES = HERE.parent / "unit" / "captures"
PARSE_MAX = 160		# headers matter, payloads do not
INPUT_MAX = 256
INPUTS = 16
ALL_LINEAR = b"\xff"
ANOTHER_PORT = b"\x34\xd2\x10\x00\x01"


def frames():
    for path in sorted(CAPTURES.glob("*.pcap")):
        data, at = path.read_bytes(), 24
        while at < len(data):
            size = struct.unpack_from("<I", data, at + 8)[0]
            yield data[at + 16:at + 16 + size]
            at += 16 + size


def l3(frame):
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    return frame[at + 2:]


def by_kind(data, opcode_at):
    """One of each length and opcode."""
    found = {}
    for item in data:
        found.setdefault((len(item), item[opcode_at(item)]), item)
    return list(found.values())


def opcode_in(packet):
    return (packet[0] & 15) * 4 + 8 if packet[0] >> 4 == 4 else 48


def opcode_of(frame):
    return len(frame) - len(l3(frame)) + opcode_in(l3(frame))


def captured(target):
    if target == "fuzz_parse":
        small = by_kind((f for f in frames() if len(f) <= PARSE_MAX), opcode_of)
        return [ALL_LINEAR + frame for frame in small]
    if target == "fuzz_icrc":
        small = by_kind((l3(f) for f in frames() if len(f) <= PARSE_MAX), opcode_in)
        return [ANOTHER_PORT + packet for packet in small]
    return []


def found(programs, target):
    corpus = programs / "corpus" / target
    if not corpus.is_dir():
        return []
    with tempfile.TemporaryDirectory() as small, tempfile.TemporaryDirectory() as best:
        for path in corpus.iterdir():
            if path.stat().st_size <= INPUT_MAX:
                shutil.copy(path, small)
        subprocess.run([programs / target, "-set_cover_merge=1", best, small], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        inputs = [path.read_bytes() for path in pathlib.Path(best).iterdir()]
    # some of each size
    inputs.sort(key=lambda data: (len(data), data))
    return inputs[::max(1, -(-len(inputs) // INPUTS))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("targets", nargs="+")
    args = parser.parse_args()
    for target in args.targets:
        folder = HERE / "corpus" / target
        inputs = captured(target) or found(args.programs, target)
        if not inputs:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for data in inputs:
            (folder / hashlib.sha1(data).hexdigest()[:12]).write_bytes(data)
        print(f"{target}: {len(inputs)} inputs, {sum(map(len, inputs))} bytes")


if __name__ == "__main__":
    sys.exit(main())

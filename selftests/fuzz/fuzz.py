#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fuzz.py TARGET...: run each fuzzer for a while, one after the other.

Prints how far each is, then a table. Inputs that were found interesting, those that crashed
(crash-*, leak-*, timeout-*) and the sum of all executions so far (executions.json) are kept
beside the programs. Fails when anything crashed.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
STATUS = re.compile(r"#(\d+)\s+\w+\s+cov: \d+ ft: \d+ corp: (\d+)")
EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")
PROGRESS_S = 15
MAX_LEN = 1500
TIMEOUT_S = 20


def lines(target, what):
    """The words of its `/* WHAT: ... */` lines."""
    text = (HERE / f"{target}.c").read_text()
    return " ".join(re.findall(rf"^/\* {what}: (.*) \*/$", text, re.M)).split()


def seeds(target):
    folders = [HERE / "corpus" / target] + [ROOT / f for f in lines(target, "SEEDS")]
    return [str(f) for f in folders if f.is_dir()]


def command(programs, target, seconds):
    found = programs / "corpus" / target
    crashes = programs / "crashes" / target
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    words = HERE / f"{target}.dict"
    return [
        str(programs / target), f"-max_total_time={seconds}", f"-max_len={MAX_LEN}",
        f"-timeout={TIMEOUT_S}", "-print_final_stats=1", f"-artifact_prefix={crashes}/",
        *([f"-dict={words}"] if words.exists() else []), str(found), *seeds(target),
    ]


def run(programs, target, seconds):
    """Return: what the table says of it."""
    log = programs / "log" / target
    log.parent.mkdir(parents=True, exist_ok=True)
    begun = said = time.monotonic()
    executions = corpus = 0
    with log.open("w") as out, subprocess.Popen(
            command(programs, target, seconds), stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace") as fuzzer:
        for line in fuzzer.stderr:
            out.write(line)
            status, executed = STATUS.match(line), EXECUTED.match(line)
            if status:
                executions, corpus = int(status[1]), int(status[2])
            if executed:
                executions = int(executed[1])
            now = time.monotonic()
            if status and now - said >= PROGRESS_S:
                said = now
                print(f"# {target}: {now - begun:.0f} s, {executions:,} executions, "
                      f"corpus {corpus}", flush=True)
    return {"target": target, "executions": executions, "corpus": corpus,
            "seconds": time.monotonic() - begun, "crashes": int(fuzzer.returncode != 0)}


def record(programs, result):
    """Add a run to executions.json."""
    path = programs / "executions.json"
    total = json.loads(path.read_text()) if path.exists() else {}
    mine = total.setdefault(result["target"], {"executions": 0, "seconds": 0, "crashes": 0})
    for key, value in mine.items():
        mine[key] = round(value + result[key], 1) if key == "seconds" else value + result[key]
    path.write_text(json.dumps(total, indent=2, sort_keys=True) + "\n")
    return mine["executions"]


def show(results):
    heads = ("target", "executions", "exec/s", "corpus", "crashes", "so far")
    rows = [heads] + [
        (r["target"], f"{r['executions']:,}", f"{r['executions'] / max(r['seconds'], 1):,.0f}",
         str(r["corpus"]), str(r["crashes"]), f"{r['total']:,}") for r in results]
    widths = [max(len(row[i]) for row in rows) for i in range(len(heads))]
    print()
    for row in rows:
        print("  ".join([row[0].ljust(widths[0])] +
                        [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=60, help="for each, 0: without end")
    parser.add_argument("targets", nargs="+")
    args = parser.parse_args()
    results = []
    for target in args.targets:
        print(f"# {target}", flush=True)
        result = run(args.programs, target, args.seconds)
        result["total"] = record(args.programs, result)
        results.append(result)
        if result["crashes"]:
            print(f"# {target}: crashed, see {args.programs}/log/{target}; the input is in "
                  f"{args.programs}/crashes/{target}/", flush=True)
    show(results)
    return int(any(r["crashes"] for r in results))


if __name__ == "__main__":
    sys.exit(main())

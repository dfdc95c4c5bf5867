"""Commands in which each thing asked of disk or memory is refused once, a program of its own.

Into it refused.c is loaded. It reads jobs as JSON, tries the command of each for all n (or one
in `step`) until the n-th is never asked for, and prints what went wrong, and with which n.
"""

from __future__ import annotations

import ctypes
import gc
import itertools
import json
import os
import shutil
import sys
from pathlib import Path

import burstline.formats.intake.reading as intake_reading
import burstline.formats.paraver.reading.trace as paraver_reading
import burstline.formats.paraver.writing.writer as paraver_writing
from command import burstline

MUCH = 1 << 60


def spill_all():
    """Let everything that may wait in files wait there."""
    intake_reading.spool_within = lambda _: 0
    paraver_reading._SHARE_OF_JOURNAL = MUCH
    paraver_writing._COPIES = MUCH


def files(folder):
    """Bytes of all files under a folder, by output: names up to the first dot, but of parts."""
    content = {}
    for path in sorted(folder.rglob("*")):
        name, *_ = path.relative_to(folder).parts
        key = name if name.startswith(".") else name.split(".")[0]
        if path.is_file() or key == name:  # what is left of a part may be an empty folder
            data = path.read_bytes() if path.is_file() else b""
            content.setdefault(key, {})[str(path)] = data
    return content


def sizes(content):
    """Sizes of files, as what is written anew may have another date."""
    return {path: len(data) for path, data in content.items() if data}


def put_back(folder, kept):
    shutil.rmtree(folder)
    shutil.copytree(kept, folder)


def wrong(done, now, before, new, place):
    """What a command did wrong of which something was refused; None where it did right.

    `place` is where it writes, where that was refused, and None where memory was.
    """
    if done.returncode == 0:
        is_whole = all(sizes(now.get(key, {})) == sizes(new[key]) for key in new)
        return None if is_whole else "it ended well without the whole result"
    for key in new:
        is_old = sizes(now.get(key, {})) == sizes(before.get(key, {}))
        if not (is_old or sizes(now[key]) == sizes(new[key])):
            return f"a part stands under the name of the whole: {sizes(now[key])}"
    if left := now.keys() - new.keys():
        return f"left: {sorted(left)}"
    line = done.stderr.splitlines()[-1]
    if place is None:
        is_right = done.returncode == 5 and line.startswith("error: out of memory")
        return None if is_right else "it does not say that memory lacks"
    if done.returncode != 1 or not line.startswith(f"error: {place}/"):
        return "it does not name the output"
    return None if line.endswith("no space left on device") else "it does not say the cause"


def tried(job, control, *, of_disk):
    """How often something is asked for, and what went wrong with which refusal."""
    place, kept = Path(job["place"]), Path(job["kept"])
    sources = {path: path.read_bytes() for path in map(Path, job["sources"])}
    done = burstline(*job["words"])
    new, problems = files(place), [] if done.returncode == 0 else [[0, "it fails", done.stderr]]
    put_back(place, kept)
    before = files(place)
    for number in itertools.count(1, job["step"]):
        control(number, 0)
        done = burstline(*job["words"])
        reached = control(0, 0)
        now = files(place)
        problem = wrong(done, now, before, new, place if of_disk else None)
        if any(path.read_bytes() != data for path, data in sources.items()):
            problem = "the source is not what it was"
        if problem:
            problems.append([number, problem, done.returncode, done.stderr])
        if reached < number:
            break
        if now != before:
            put_back(place, kept)
    return {"tried": number - 1, "problems": problems}


def main():
    """Try the jobs of standard input."""
    jobs, what = json.load(sys.stdin)
    gc.set_threshold(100_000, 20, 20)  # as for other tests
    control = ctypes.CDLL(None).refuse_at
    control.argtypes, control.restype = [ctypes.c_long, ctypes.c_int], ctypes.c_long
    if what == "spills":
        spill_all()
    said = os.dup(1)
    results = {
        name: tried(job, control, of_disk=what != "memory") for name, job in jobs.items()
    }
    os.write(said, json.dumps(results).encode())


if __name__ == "__main__":
    main()

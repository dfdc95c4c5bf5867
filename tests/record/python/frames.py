# ruff: noqa: ARG005, B018, C417, S102, S307, TRY301 -- all ways to run a function
"""Calls MPI from wherever Python runs functions, and keeps the stack of each call.

::

    frames.py FILE [ROUNDS]

Each rank writes FILE.RANK as JSON: of each thread its barriers in their order, of each of them
its frames, innermost first, and of each frame function, file and line.
"""

import asyncio
import ctypes
import functools
import json
import os
import re
import sys
import threading
import traceback
from pathlib import Path

from mpi4py import MPI

comm = MPI.COMM_WORLD
alone = MPI.COMM_SELF
stacks, own = [], threading.local()


def note():
    """Keep the stack of the caller, who calls what it gets in the same line."""
    frames = traceback.extract_stack(sys._getframe(1))
    if not hasattr(own, "stacks"):
        own.stacks = []
        stacks.append(own.stacks)
    own.stacks.append(
        [(frame.name, frame.filename, frame.lineno) for frame in reversed(frames)]
    )
    return alone.Barrier


def here():
    note()()


def compute(steps):
    total = 0.0
    for k in range(steps):
        total += k * 0.5
    return total


class Walker:
    note_at_class = note()()

    def __init__(self):
        note()()

    def __call__(self):
        note()()

    @property
    def size(self):
        note()()
        return 1

    @staticmethod
    def fixed():
        here()

    def __enter__(self):
        here()
        return self

    def __exit__(self, *_):
        here()

    def __del__(self):
        note()()

    def __getattr__(self, name):
        here()
        return name

    def __lt__(self, _):
        here()
        return True


def numbers():
    for k in range(3):
        note()()
        yield k


def delegated():
    yield from numbers()
    here()


async def waited():
    note()()
    await asyncio.sleep(0)
    here()
    return 1


async def produced():
    for k in range(2):
        here()
        yield k


async def together():
    await asyncio.gather(waited(), waited())
    async for _ in produced():
        note()()
    return [k async for k in produced()]


def deep(levels):
    if levels == 0:
        note()()
        return 0
    if levels % 300 == 0:
        here()
    return 1 + deep(levels - 1)


@functools.lru_cache
def cached(number):
    here()
    return number


def by_c():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)

    @compare
    def order(_a, _b):
        note()()
        return 0

    numbers = (ctypes.c_int * 3)(3, 1, 2)
    ctypes.CDLL(None).qsort(numbers, 3, 4, order)


def by_python(round_number):
    sorted([2, 1], key=lambda k: (note()(), k)[1])
    re.sub("a", lambda match: (here(), "b")[1], "aa")
    list(map(lambda k: here(), [1]))
    functools.reduce(lambda a, b: (here(), a)[1], [1, 2])
    max(Walker(), Walker())
    walker = Walker()
    walker()
    walker.fixed()
    walker.size
    walker.missing
    with Walker():
        pass
    del walker
    [here() for _ in range(2)]
    {k: here() for k in range(1)}
    cached(round_number)
    try:
        try:
            here()
            raise ValueError
        except ValueError:
            here()
            raise KeyError from None
        finally:
            here()
    except KeyError:
        here()


def by_text(round_number):
    exec("note()()\n")
    exec(f"\n\nnote()()  # {round_number}\n")
    exec(
        f"def made_{round_number}():\n    note()()\nmade_{round_number}()\n",
        globals(),
    )
    eval("(note()())")
    eval(compile("\n(note()())", f"text {round_number % 7} \u00e4\u4e2d", "eval"))
    for k in range(20):  # addresses of code and texts are used again
        exec(
            "\n" * (k % 5) + f"def same():\n {'0;' * (k % 3)}note()()\nsame()\n",
            globals(),
        )


def forked():
    child = os.fork()
    if child == 0:
        compute(1000)
        os._exit(0)
    os.waitpid(child, 0)
    here()


def in_thread():
    for _ in range(5):
        compute(2000)
        here()
        list(numbers())


def main(rounds):
    for round_number in range(rounds):
        here()
        for _ in numbers():
            compute(1000)
        list(delegated())
        next(delegated())
        asyncio.run(together())
        by_c()
        by_python(round_number)
        by_text(round_number)
        deep(900)
        forked()
        threads = [threading.Thread(target=in_thread) for _ in range(2)]
        for thread in threads:
            thread.start()
        here()
        for thread in threads:
            thread.join()
        compute(20000)
    comm.Barrier()


if __name__ == "__main__":
    main(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    Path(f"{sys.argv[1]}.{comm.rank}").write_text(json.dumps(stacks))
    print("done", comm.rank, sum(map(len, stacks)))

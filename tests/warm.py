"""Programs of Python in processes of their own, forked from one that has imported for them.

Imports are most of what a short command costs. Each program has its folder, environment,
output and end for itself, as a new Python would, and nothing of the process of the tests.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import functools
import gc
import importlib
import json
import multiprocessing
import os
import pkgutil
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from benchmarks.peak import watch

import burstline
from burstline.record.symbols import lookup, resolution

APART = ("burstline.__main__", "burstline.browser.")
"""What is not imported: it runs, or needs a library that hardly any command asks for."""
ALSO = ("email.message", "encodings.ascii", "importlib.readers", "numpy.ma", "pyarrow.acero")
"""Modules of libraries that are imported when they are used."""


class Done(NamedTuple):
    """What a program did; the most memory it had is 0 where nobody looked at it."""

    code: int
    printed: str
    said: str
    peak_bytes: int


def run(words, folder, environment):
    """Run ``burstline WORDS`` in a folder; give its exit code, output, and what it said."""
    return python(("-m", "burstline", *words), folder, environment)[:3]


def python(words, folder, environment, *, is_watched=False, patience_s=120):
    """Run ``python WORDS`` in a folder."""
    with tempfile.TemporaryDirectory() as place:
        printed, said = Path(place, "printed"), Path(place, "said")
        request = list(map(str, words)), str(folder), dict(environment), str(printed), str(said)
        with _LOCK:
            server = _server()
            server.stdin.write(json.dumps([is_watched, request]) + "\n")
            server.stdin.flush()
            process = int(server.stdout.readline())
            timer = threading.Timer(patience_s, os.kill, (process, signal.SIGTERM))
            timer.start()
            try:
                code, peak = map(int, server.stdout.readline().split())
            finally:
                timer.cancel()
                timer.join()
        return Done(code, printed.read_text(), said.read_text(), peak)


_LOCK = threading.Lock()
_FORKS = multiprocessing.get_context("fork")


@functools.cache
def _server():
    path = os.pathsep.join([str(Path(__file__).parent), *map(os.path.abspath, sys.path)])
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    atexit.register(_end, server)
    return server


def _end(server):
    server.stdin.close()
    server.wait()


def _serve():
    """Fork for each line of standard input; tell the process, and later how it ended."""
    os.fsync = os.fstat  # as in the process of the tests
    modules = pkgutil.walk_packages(burstline.__path__, "burstline.")
    for name in (*(module.name for module in modules), *ALSO):
        if not name.startswith(APART):
            importlib.import_module(name)
    _read_programs_in_forks()
    gc.freeze()  # what is imported is never garbage, and shared with forks while not looked at
    for line in sys.stdin:
        is_watched, request = json.loads(line)
        process = os.fork()
        if process == 0:
            _become(*request)
        print(process, flush=True)
        status, peak = watch(process) if is_watched else (os.waitpid(process, 0)[1], 0)
        print(os.waitstatus_to_exitcode(status), peak, flush=True)


def _read_programs_in_forks():
    """Fork what reads programs, too, and have one read the system's libraries for all commands.

    It takes 0.15 s to read the lines of the C library, where they are installed.
    """
    ask, shared = resolution.Child.ask, resolution.Child()

    def ask_one_of_two(own, **request):
        of_system = request.get("module", "").startswith("/usr/lib/")
        return ask(shared if of_system else own, **request)

    resolution.Child._started = forked
    resolution.Child.ask = ask_one_of_two
    shared.ask(name="_Z5startv")


def forked(child):
    """Start a child that reads programs, as a fork of this process, in the place of another."""
    (asked, ask), (answer, answered) = os.pipe(), os.pipe()
    words = asked, ask, answered
    process = _FORKS.Process(target=_read_programs, args=words, daemon=True)
    process.start()
    os.close(asked)
    os.close(answered)
    stdin, stdout = os.fdopen(ask, "wb"), os.fdopen(answer, "rb")

    def communicate():
        process.join()
        for file in (stdin, stdout):
            with contextlib.suppress(OSError):
                file.close()

    child._process = SimpleNamespace(
        stdin=stdin, stdout=stdout, kill=process.kill, communicate=communicate
    )
    weakref.finalize(child, resolution._end, child._process)
    return child._process


def _read_programs(asked, ask, answered):
    os.close(ask)  # so that it ends with who asks
    os.dup2(asked, 0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    faulthandler.disable()  # files that ask for too much memory are expected
    sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(answered, "w")
    sys.argv[1:] = map(str, (resolution._SECONDS, resolution._BYTES))
    lookup.main()


def _become(words, folder, environment, printed, said):
    """Be the program, and never return."""
    code = 1
    try:
        with (
            Path(os.devnull).open("rb") as nothing,
            Path(printed).open("wb") as out,
            Path(said).open("wb") as err,
        ):
            for number, file in enumerate((nothing, out, err)):
                os.dup2(file.fileno(), number)
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        _interpret(*words)
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:  # noqa: BLE001 -- as the interpreter would
        traceback.print_exc()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)


def _interpret(what, *words):
    if what == "-m":
        sys.argv[1:] = words[1:]
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.argv[:] = ["-c", *words[1:]]
        exec(words[0], {"__name__": "__main__"})  # noqa: S102 -- what a test says
    else:
        sys.argv[:] = [what, *words]
        runpy.run_path(what, run_name="__main__")


if __name__ == "__main__":
    _serve()

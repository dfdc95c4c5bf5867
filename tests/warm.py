"""Commands in processes of their own, forked from one that has imported what they need.

Imports are most of what a short command costs. Each command has its folder, environment,
output and end for itself, as a new Python would, and nothing of the process of the tests.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path

IMPORTED = (
    "burstline.answers.fitness",
    "burstline.answers.judged",
    "burstline.answers.waits",
    "burstline.cli.commands.compile",
    "burstline.cli.commands.convert",
    "burstline.cli.commands.record",
    "burstline.cli.commands.structure",
    "burstline.cli.commands.waits",
    "burstline.clocks.correction",
    "burstline.clocks.readings",
    "burstline.formats.choice",
    "burstline.formats.documents",
    "burstline.formats.intake.defects",
    "burstline.formats.paraver.reading.trace",
    "burstline.formats.paraver.writing.writer",
    "burstline.formats.raw.source",
    "burstline.formats.store.folder",
    "burstline.record.building.fitting",
    "burstline.record.building.recorder",
    "burstline.record.launching.checks",
    "burstline.record.launching.session",
    "burstline.record.recording",
    "burstline.record.symbols.resolution",
    "burstline.record.tally",
    "burstline.run.analyses",
    "burstline.show.progress",
    "burstline.show.terminal",
    "burstline.show.views",
    "burstline.show.waits",
    "burstline.structure.detection",
    "burstline.structure.exact.method",
    "burstline.waits.patterns",
    "email.message",
    "numpy.ma",
    "pyarrow.dataset",
    "pyarrow.parquet",
    "rich.table",
)


def run(words, folder, environment, patience_s=120):
    """Run ``burstline WORDS`` in a folder; give its exit code, output, and what it said."""
    with tempfile.TemporaryDirectory() as place:
        printed, said = Path(place, "printed"), Path(place, "said")
        request = list(map(str, words)), str(folder), dict(environment), str(printed), str(said)
        with _LOCK:
            server = _server()
            server.stdin.write(json.dumps(request) + "\n")
            server.stdin.flush()
            process = int(server.stdout.readline())
            timer = threading.Timer(patience_s, os.kill, (process, signal.SIGTERM))
            timer.start()
            try:
                code = int(server.stdout.readline())
            finally:
                timer.cancel()
                timer.join()
        return code, printed.read_text(), said.read_text()


_LOCK = threading.Lock()


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
    for name in IMPORTED:
        __import__(name)
    for line in sys.stdin:
        process = os.fork()
        if process == 0:
            _become(*json.loads(line))
        print(process, flush=True)
        _, status = os.waitpid(process, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become(words, folder, environment, printed, said):
    """Be the command, and never return."""
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
        sys.argv[1:] = words
        from burstline.cli import main

        main()
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


if __name__ == "__main__":
    _serve()

"""``burstline browse`` and ``burstline plot`` as their users see them."""

import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from fcntl import ioctl
from importlib.resources import files

import pytest

from command import burstline
from screens import browsed

PATIENCE_S = 120
LULESH = files("burstline") / "data" / "lulesh_8r.prv.gz"
BROWSE = ["browse", str(LULESH), "--quiet"]
WITHOUT = """
import sys
sys.modules["{module}"] = None
from burstline import cli
cli.main({words})
"""


def without(module, *words):
    """Run the command line where a library is not installed."""
    program = WITHOUT.format(module=module, words=list(map(str, words)))
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command):
        self._end, other = pty.openpty()
        ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self.program = subprocess.Popen(
            command, stdin=other, stdout=other, stderr=other, env=environment, close_fds=True
        )
        os.close(other)
        self.seen = ""

    def wait_for(self, text):
        """Read until a text appears; give up if the program ends or never shows it."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.seen and time.monotonic() < deadline:
            if not self._read() and self.program.poll() is not None:
                break
        assert text in self.seen

    def _read(self):
        if not select.select([self._end], [], [], 0.2)[0]:
            return False
        try:
            read = os.read(self._end, 65536)
        except OSError:
            return False
        self.seen += read.decode(errors="replace")
        return bool(read)

    def press(self, keys):
        os.write(self._end, keys.encode())

    def exit_code(self):
        """Wait for the end, reading on: a full terminal would stop the program."""
        deadline = time.monotonic() + PATIENCE_S
        while self.program.poll() is None and time.monotonic() < deadline:
            self._read()
        self.program.kill()
        self.program.wait()
        os.close(self._end)
        return self.program.returncode


def test_the_browser_shows_the_structure_and_leaves_on_q():
    terminal = Terminal([sys.executable, "-m", "burstline", *BROWSE, "--show-ranks", "0"])

    terminal.wait_for("PSEUDOCODE")
    terminal.wait_for("MPI_Init")
    terminal.press("q")

    assert terminal.exit_code() == 0
    assert "\x1b[?1049l" in terminal.seen  # the screen from before is back


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--show-ranks", "99"], "calls MPI; there are 0..7"),
        (["--counter", "NONE"], "no counter"),
        (["--least", "soon"], "is no time"),
    ],
)
def test_a_view_that_cannot_be_is_an_error_and_not_a_screen(words, message, capsys):
    with pytest.raises(SystemExit) as ended:
        browsed([*BROWSE, *words])

    assert ended.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_without_a_terminal_browse_says_what_to_do_instead():
    run = burstline("browse", LULESH)

    assert run.returncode == 2
    assert "needs a terminal" in run.stderr
    assert "burstline structure" in run.stderr
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("module", "words", "extra"),
    [
        ("textual", ["browse", "x.prv"], "burstline[tui]"),
        ("matplotlib", ["plot", "x.prv", "-o", "x.svg"], "burstline[plot]"),
    ],
)
def test_a_missing_extra_is_named_before_anything_is_read(module, words, extra):
    run = without(module, *words)

    assert run.returncode == 6
    assert extra in run.stderr


def test_a_plot_without_a_file_is_printed_in_characters():
    run = burstline("plot", LULESH)

    assert run.returncode == 0, run.stderr
    assert "repetitions of a call" in run.stdout
    assert "1 loop 1:" in run.stdout
    assert "\x1b" not in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 100


@pytest.mark.parametrize(("name", "begin"), [("a.svg", b"<?xml"), ("a.png", b"\x89PNG")])
def test_a_picture_is_written_once_and_replaced_only_by_force(tmp_path, name, begin):
    path = tmp_path / name

    first = burstline("plot", LULESH, "-o", path, "--method", "seed")
    again = burstline("plot", LULESH, "-o", path)
    forced = burstline("plot", LULESH, "-o", path, "--force")

    assert (first.returncode, again.returncode, forced.returncode) == (0, 2, 0)
    assert "points of 1 loop" in first.stderr
    assert "exists" in again.stderr
    assert path.read_bytes().startswith(begin)


def test_a_picture_has_an_ending_that_means_something(tmp_path):
    run = burstline("plot", LULESH, "-o", tmp_path / "a.pdf")

    assert run.returncode == 2
    assert ".svg or .png" in run.stderr

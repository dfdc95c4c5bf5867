"""Whatever bytes stand in a header, a .pcf or a .row, they are read or refused by name.

Run by ``make fuzz``; needs atheris. The first byte says which of them the rest is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports():
    from burstline.errors import FormatError
    from burstline.extrae.counters import classify
    from burstline.extrae.labels import read_counter, read_function, read_line
    from burstline.formats.paraver.files.declarations import read_communicator
    from burstline.formats.paraver.files.header import read_header
    from burstline.formats.paraver.files.pcf import read_pcf, write_pcf
    from burstline.formats.paraver.files.row import read_row, write_row


def read(data: bytes) -> None:
    """Read what the first byte says, and what was read, written again."""
    which, rest = data[:1], data[1:]
    if which == b"h":
        try:
            header = read_header(rest, Path("fuzz"))
        except FormatError:
            return
        if not len(header.objects.tasks):
            raise AssertionError("a header without applications was accepted")
    elif which == b"c":
        read_communicator(rest)
    elif which == b"r":
        row = read_row(rest)
        if row.levels != read_row(write_row(row)).levels and row.levels:
            write_row(read_row(write_row(row)))
    elif which == b"l":
        label = rest.decode("utf-8", "replace")
        read_function(label)
        read_line(label)
        read_counter(label)
    else:
        pcf = read_pcf(rest)
        for kind, label in pcf.types.items():
            classify(kind, label.label, label.gradient)
        again = read_pcf(write_pcf(pcf))
        if read_pcf(write_pcf(again)) != again:
            raise AssertionError("writing labels twice changes them")


if __name__ == "__main__":
    atheris.Setup(sys.argv, read)
    atheris.Fuzz()

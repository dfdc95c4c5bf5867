"""All that differs between two runs by chance, and what is compared instead."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import re

SOURCE = os.environ.get("PYTHONPATH", "").partition(":")[0]


def normal(name: str, data: bytes, folder: str) -> bytes:
    """Return what is compared of what a command wrote into the file or stream `name`."""
    data = data.replace(folder.encode(), b"<folder>")
    if SOURCE and name in {"stdout", "stderr"}:  # demo names the trace of the package
        data = data.replace(SOURCE.encode(), b"<source>")
    if name.endswith(".otf2"):  # the anchor ends in an identifier drawn for each archive
        data = re.sub(rb"(?s)(burstline\0.{5}).{8}", rb"\1<number>", data, count=1)
    if name.endswith("burstline-store.json"):  # its objects are in the order of a set
        with contextlib.suppress(ValueError):
            data = json.dumps(json.loads(data), sort_keys=True, indent=1).encode()
    return data


class Noon(dt.datetime):
    """A clock that stands still: written traces hold the date."""

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Noon:
        """Return the same moment, whenever it is asked for."""
        return cls(2030, 1, 2, 12, tzinfo=tz)

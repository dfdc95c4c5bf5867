"""Places of a run as a page shows them: an operation, its source line, and who calls it."""

from __future__ import annotations

from typing import Final

from burstline.answers import path_text
from burstline.show.page.html import Html, code, join, tag
from burstline.waits import Waits

_MOST_CALLERS: Final = 3


class WaitPlaces:
    """The call paths of waits, each as markup and as a short text."""

    def __init__(self, waits: Waits) -> None:
        self.waits = waits
        self._rows = waits.profile.call_paths.to_pylist()

    def shown(self, call_path: int) -> Html:
        """A call with its line and callers, the innermost first: or what is computed."""
        name, where, callers = self.parts(call_path)
        if callers is None:
            return join(name)
        source = tag("code", where, class_="dim") if where else None
        around = " ← ".join(callers[:_MOST_CALLERS])
        return join(code(name), " ", source, " ", tag("span", around, class_="dim"))

    def text(self, call_path: int) -> str:
        """The same in a few words: the operation, and where it is called."""
        name, where, callers = self.parts(call_path)
        if where:
            return f"{name} at {where}"
        return f"{name} in {callers[0]}" if callers else name

    def parts(self, call_path: int) -> tuple[str, str, list[str] | None]:
        """The name, the source line, and the callers; None of computing between calls."""
        places, row = self.waits.places, self._rows[call_path]
        if call_path in places.ends or call_path in places.placed:
            return path_text(self.waits, call_path).rpartition(" > ")[2], "", None
        sites = places.place_text(call_path)
        where = sites[0] if sites else ""
        callers: list[str] = []
        parent = row["parent"]
        while parent is not None:
            above = self._rows[parent]
            if above["role"] != "artificial":
                is_call = parent not in places.regions and above["begin_line"] is not None
                line = f" {above['begin_line']}" if is_call and callers else ""
                callers.append(above["function"] + line)
            parent = above["parent"]
        if not where and row["paradigm"] != "mpi" and row["begin_line"] is not None:
            where = f"{row['file']}:{row['begin_line']}"
        if len(callers) > 1 and callers[-1].partition(" ")[0] == "main":
            callers.pop()
        return row["function"].removesuffix(f"@{where}").rstrip(), where, callers

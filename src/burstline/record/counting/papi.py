"""The events that this machine can count, and which of them together, from PAPI's library."""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterable, Sequence
from typing import Final, Self

from burstline.errors import NotEnoughDataError, printable

_OK: Final = 0
_NO_EVENT_SET: Final = -1
_PRESETS: Final = -(1 << 31)
_FIRST: Final = 1
_LONGEST_NAME: Final = 1024
_MOST_PRESETS: Final = 1024
_VERSIONS: Final = [(major, minor) for major in range(5, 10) for minor in range(10)]
_WAY_OUT: Final = (
    "Install PAPI (Debian: libpapi-dev), name it with `papi=FILE`, or record "
    "`counters=cpu,work`, which need no hardware counters"
)


class Papi:
    """A loaded library of PAPI."""

    def __init__(self, path: str | None = None) -> None:
        name = path or ctypes.util.find_library("papi") or "libpapi.so"
        try:
            self._library = ctypes.CDLL(name)
            self._start = self._library.PAPI_library_init
            self._query = self._library.PAPI_query_named_event
            self._create = self._library.PAPI_create_eventset
            self._add = self._library.PAPI_add_named_event
            self._clean = self._library.PAPI_cleanup_eventset
            self._destroy = self._library.PAPI_destroy_eventset
        except (OSError, AttributeError) as error:
            why = printable(str(error), limit=300)
            raise NotEnoughDataError(f"no PAPI: {why}. {_WAY_OUT}") from error
        self.version = self._find_version(name)

    def _find_version(self, path: str) -> str:
        """The version of the library, with which it starts."""
        for major, minor in reversed(_VERSIONS):
            version = major << 24 | minor << 16
            if self._start(version) == version:
                return f"{major}.{minor}"
        raise NotEnoughDataError(f"{path} does not start as a PAPI library. {_WAY_OUT}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutdown = getattr(self._library, "PAPI_shutdown", None)
        if shutdown is not None:
            shutdown()

    def fits(self, events: Sequence[str]) -> bool:
        """Whether events can be counted together."""
        names = [event.encode() for event in events]
        event_set = ctypes.c_int(_NO_EVENT_SET)
        if self._create(ctypes.byref(event_set)) != _OK:
            return False
        try:
            return all(
                self._query(name) == _OK and self._add(event_set, name) == _OK for name in names
            )
        finally:
            self._clean(event_set)
            self._destroy(ctypes.byref(event_set))

    def presets(self) -> Iterable[str]:
        """The names of the preset events that this machine can count."""
        code = ctypes.c_int(_PRESETS)
        name = ctypes.create_string_buffer(_LONGEST_NAME)
        enumerate_next = self._library.PAPI_enum_event
        to_name = self._library.PAPI_event_code_to_name
        has_next = enumerate_next(ctypes.byref(code), _FIRST) == _OK
        for _ in range(_MOST_PRESETS):
            if not has_next:
                return
            if to_name(code, name) == _OK and self._query(name.value) == _OK:
                yield name.value.decode("ascii", errors="replace")
            has_next = enumerate_next(ctypes.byref(code), 0) == _OK

"""Machine code before an address: every return address follows a call.

If most addresses of a run do not in a file, it is not the file that was run.
"""

from __future__ import annotations

from typing import Final

BEFORE: Final = 7
"""Bytes of the longest call instruction."""

_BL, _BLR, _BLR_MASK = 0b100101, 0xD63F0000, 0xFFFFFC1F


def follows_call(machine: str, before: bytes) -> bool | None:
    """Whether `BEFORE` bytes of code end with a call; None on a machine that is not known.

    Machines are named as ELF names them.

    >>> follows_call("EM_X86_64", bytes.fromhex("9090e800100000"))
    True
    >>> follows_call("EM_X86_64", bytes(7))
    False
    """
    if machine == "EM_X86_64":
        return before[2] == 0xE8 or any(
            _is_indirect_call(before[-length:]) for length in range(2, BEFORE + 1)
        )
    if machine == "EM_AARCH64":
        word = int.from_bytes(before[-4:], "little")
        return word >> 26 == _BL or word & _BLR_MASK == _BLR
    return None


def _is_indirect_call(code: bytes) -> bool:
    """Whether all of some x86 code is one ``call r/m``."""
    operand = code[1]
    mode, register = operand >> 6, operand & 7
    if code[0] != 0xFF or operand >> 3 & 7 != 2:
        return False
    if mode == 3:
        return len(code) == 2
    scaled = register == 4
    wide = mode == 2 or (mode == 0 and register == 5)
    if scaled and mode == 0 and len(code) > 2 and code[2] & 7 == 5:
        wide = True
    return len(code) == 2 + scaled + (4 if wide else mode == 1)

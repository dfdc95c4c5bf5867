"""An error names the place and the way out, and has its exit code."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest

from burstline import errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BurstlineError("?"), 1),
        (errors.ParameterError("?"), 2),
        (errors.FormatError(Path("t.prv"), 3, expected="a", found="b"), 3),
        (errors.TruncatedTraceError(Path("t.prv"), 3, expected="a", found="b"), 3),
        (errors.UnsupportedRecordError(Path("t.prv"), 3, expected="a", found="b"), 3),
        (errors.InconsistentTraceError("?"), 4),
        (errors.NotEnoughDataError("?"), 5),
        (errors.MemoryBudgetError(2, 1, way_out="Cut it."), 5),
        (errors.MissingExtraError("ml", "learning"), 6),
    ],
)
def test_every_error_has_its_exit_code(error, code):
    assert error.exit_code == code
    assert isinstance(error, errors.BurstlineError)


def test_errors_name_their_place_and_the_way_out_and_are_what_python_would_raise():
    path = Path("tiny.prv")
    three = errors.FormatError(
        path, 3, expected="15 fields", found="3:1", way_out="Cut the line."
    )
    no_line = errors.FormatError(path, None, expected="text", found="a picture")
    memory = errors.MemoryBudgetError(3 * 10**9, 5 * 10**8, way_out="cut t.prv --to 2s fits.")

    assert str(three) == "tiny.prv:3: expected 15 fields, found '3:1'. Cut the line."
    assert str(no_line) == "tiny.prv: expected text, found 'a picture'"
    for word in ("3.00 GB", "0.50 GB"):
        assert word in str(memory)
    assert str(memory).endswith("cut t.prv --to 2s fits.")
    assert "burstline[cluster]" in str(errors.MissingExtraError("cluster", "--scheduler"))
    assert issubclass(errors.ParameterError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)


def test_what_a_file_held_is_printed_safely():
    error = errors.FormatError(Path("t"), 1, expected="a", found="\x1b[2J\x9b" + "x" * 500)

    assert "\x1b" not in str(error)
    assert "\x9b" not in str(error)
    assert len(str(error)) < 200


def test_what_a_terminal_obeys_or_hides_is_replaced_and_words_of_any_script_stay():
    shown = {
        "tab\tbell\a": "tab\ufffdbell\ufffd", "\x7f\x9f\xa0": "\ufffd\ufffd\xa0",
        "gpj\u202eexe": "gpj\ufffdexe",
        "\u2066a\u2069\u200f\u061c": "\ufffda\ufffd\ufffd\ufffd",
        "MPI_\u200bSend\u2028x\ufeff": "MPI_\ufffdSend\ufffdx\ufffd",
        "a\U000e0041\u3164": "a\ufffd\ufffd", "a\u200db\u200c": "a\ufffdb\ufffd",
        "a\ufe0fb\ufe00": "a\ufffdb\ufffd", "葛\U000e0100\U000e0101": "葛\U000e0100\ufffd",
        "ش\u200d\u200dش": "ش\ufffd\ufffdش",
    }  # fmt: skip
    stay = [
        "plain", "ä€", "حلقة خارجية", "\u0600\u0661 لول", "پیش\u200cفرض", "लू\u200dप", "שלום",
        "👩\u200d🔬 ❤\ufe0f\u200d🔥", "葛\U000e0100城",
    ]  # fmt: skip
    expected = shown | {text: text for text in stay}
    assert {text: errors.printable(text) for text in expected} == expected
    assert errors.printable("abcdef", limit=6) == "abcdef"
    assert errors.printable("abcdefg", limit=6) == "abcde…"


def test_every_character_of_the_database_that_is_a_control_or_has_no_width_is_replaced():
    visible = "؀؁؂؃؄؅۝܏࢐࢑࣢𑂽𑃍"  # signs that Unicode files under format, and fonts draw
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    everything = [chr(code) for code in range(sys.maxunicode + 1)]
    wanted = {c for c in everything if unicodedata.category(c) in unseen} - set(visible)

    assert not [c for c in wanted if errors.printable(c) == c]
    assert not [c for c in visible if errors.printable(c) != c]

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


def test_errors_are_also_what_python_would_raise():
    assert issubclass(errors.ParameterError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)


def test_a_format_error_names_path_line_and_way_out():
    error = errors.FormatError(
        Path("tiny.prv"), 3, expected="15 fields", found="3:1", way_out="Cut the line."
    )

    assert str(error) == "tiny.prv:3: expected 15 fields, found '3:1'. Cut the line."


def test_a_format_error_without_a_line_names_the_path():
    error = errors.FormatError(Path("tiny.prv"), None, expected="text", found="a picture")

    assert str(error) == "tiny.prv: expected text, found 'a picture'"


def test_what_a_file_held_is_printed_safely():
    error = errors.FormatError(Path("t"), 1, expected="a", found="\x1b[2J\x9b" + "x" * 500)

    assert "\x1b" not in str(error)
    assert "\x9b" not in str(error)
    assert len(str(error)) < 200


def test_a_memory_error_says_what_is_needed_and_what_would_fit():
    error = errors.MemoryBudgetError(
        3_000_000_000, 500_000_000, way_out="burstline cut t.prv --to 2s fits."
    )

    assert "3.00 GB" in str(error)
    assert "0.50 GB" in str(error)
    assert str(error).endswith("burstline cut t.prv --to 2s fits.")


def test_a_missing_extra_says_how_to_install_it():
    assert "burstline[cluster]" in str(errors.MissingExtraError("cluster", "--scheduler"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("tab\tbell\a", "tab\ufffdbell\ufffd"),
        ("\x7f\x9f\xa0", "\ufffd\ufffd\xa0"),
        ("ä€", "ä€"),
        ("gpj\u202eexe", "gpj\ufffdexe"),
        ("\u2066a\u2069\u200f\u061c", "\ufffda\ufffd\ufffd\ufffd"),
        ("MPI_\u200bSend\u2028x\ufeff", "MPI_\ufffdSend\ufffdx\ufffd"),
        ("a\U000e0041\u3164", "a\ufffd\ufffd"),
        ("a\u200db\u200c", "a\ufffdb\ufffd"),
        ("a\ufe0fb\ufe00", "a\ufffdb\ufffd"),
        ("葛\U000e0100\U000e0101", "葛\U000e0100\ufffd"),
        ("ش\u200d\u200dش", "ش\ufffd\ufffdش"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_replaced(text, shown):
    assert errors.printable(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "حلقة خارجية", "\u0600\u0661 لول", "پیش\u200cفرض", "लू\u200dप", "שלום",
        "👩\u200d🔬 ❤\ufe0f\u200d🔥", "葛\U000e0100城",
    ],
)  # fmt: skip
def test_words_of_any_script_stay_as_they_are(text):
    assert errors.printable(text) == text


def test_every_character_of_the_database_that_is_a_control_or_has_no_width_is_replaced():
    visible = "؀؁؂؃؄؅۝܏࢐࢑࣢𑂽𑃍"  # signs that Unicode files under format, and fonts draw
    unseen = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    everything = [chr(code) for code in range(sys.maxunicode + 1)]
    wanted = {c for c in everything if unicodedata.category(c) in unseen} - set(visible)

    assert not [c for c in wanted if errors.printable(c) == c]
    assert not [c for c in visible if errors.printable(c) != c]


def test_printable_text_is_cut_to_its_limit():
    assert errors.printable("abcdef", limit=6) == "abcdef"
    assert errors.printable("abcdefg", limit=6) == "abcde…"

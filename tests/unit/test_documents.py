"""What is parsed is measured before: depth, keys, digits, memory, and what is no plain file."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import burstline
from burstline.errors import FormatError, MemoryBudgetError
from burstline.formats import documents

HERE = Path("here")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".".join("a" * 9) + " = 1", "keys of at most 8 parts"),
        ("[" + " . ".join(["a", '"b"', "'c'"] * 3) + "]", "keys of at most 8 parts"),
        ("a = {" + ".".join("a" * 9) + " = 1}", "keys of at most 8 parts"),
        ("a = " + "[" * 17 + "]" * 17, "brackets within at most 16 others"),
        ("a = " + "[{a=" * 9, "brackets within at most 16 others"),
        ("a = " + "[" * 100_000, "brackets within at most 16 others"),
        ("a = " + "7" * 5_000, "numbers of at most 64 digits"),
        ("a = -0x" + "f" * 5_000, "numbers of at most 64 digits"),
        ("a = 1." + "7" * 5_000, "numbers of at most 64 digits"),
        # What looks like the end of a string or a comment, and is none:
        ('a = "\\""\n' + ".".join("a" * 9) + " = 1", "keys of at most 8 parts"),
        ("a = '\\'\n" + ".".join("a" * 9) + " = 1", "keys of at most 8 parts"),
        ('a = """"" \\""""""\n' + ".".join("a" * 9) + " = 1", "keys of at most 8 parts"),
        ("a = '''' '''''\n" + ".".join("a" * 9) + " = 1", "keys of at most 8 parts"),
        ('# "\n' + ".".join("a" * 9) + " = 1", "keys of at most 8 parts"),
        ("a = 1979-02-30", "a TOML file"),
        ("a = ", "a TOML file"),
    ],
)
def test_toml_beyond_a_limit_is_refused_before_it_is_parsed(text, said):
    with pytest.raises(FormatError, match=said) as refused:
        documents.from_toml(text, HERE)
    assert refused.value.path == HERE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 17 + "]" * 17, "brackets within at most 16 others"),
        ('{"a":[' * 100_000, "brackets within at most 16 others"),
        ('["\\"", ' + "[" * 17, "brackets within at most 16 others"),
        ("[Infinity]", "a JSON file.*not finite"),
        ("[NaN]", "a JSON file.*not finite"),
        ("[-1e999]", "a JSON file.*not finite"),
        ("[0." + "1" * 5_000 + "]", "a JSON file.*not finite"),
        ("[" + "7" * 5_000 + "]", "a JSON file.*64 bits"),
        ("[9223372036854775808]", "a JSON file.*64 bits"),
        ("[-9223372036854775809]", "a JSON file.*64 bits"),
        ("[1", "a JSON file"),
    ],
)
def test_json_beyond_a_limit_is_refused(text, said):
    with pytest.raises(FormatError, match=said) as refused:
        documents.from_json(text, HERE)
    assert refused.value.path == HERE


def test_what_stands_in_strings_and_comments_is_not_measured():
    odd = "[" * 50 + "." * 50 + "7" * 100
    text = f'# {odd}\na = "{odd}\\"{odd}"\nb = \'{odd}\'\n'
    text += f'c = """\n{odd}""{odd}\\""""\nd = \'\'\'{odd}\'\'{odd}\'\'\'\'\'\n"{odd}" = 1\n'
    assert documents.from_toml(text, HERE) == tomllib.loads(text)
    assert documents.from_json(json.dumps({odd: odd + '"'}), HERE) == {odd: odd + '"'}


def test_what_a_parser_would_take_is_compared_with_what_is_allowed():
    """A megabyte of the shortest tables takes a hundred in ``tomllib``."""
    text = "\n".join(f"[{number}]" for number in range(100_000))
    with pytest.raises(MemoryBudgetError, match="here"):
        documents.from_toml(text, HERE, memory=90 << 20)
    with pytest.raises(MemoryBudgetError, match="here"):
        documents.from_json("[" + "{}," * 100_000 + "{}]", HERE, memory=7 << 20)


def test_a_small_document_is_read_whatever_is_allowed():
    assert documents.from_json("[1, 2]", HERE, memory=10) == [1, 2]
    assert documents.from_toml("a = 1", HERE, memory=10) == {"a": 1}
    with pytest.raises(MemoryBudgetError, match="more memory"):
        documents.from_json("[" + "{}," * 100_000 + "{}]", HERE, memory=10)


@pytest.mark.parametrize("read", [documents.read_toml, documents.read_json])
def test_a_document_is_a_plain_file_of_limited_size_in_utf_8(tmp_path, read):
    os.mkfifo(pipe := tmp_path / "pipe")
    (long := tmp_path / "long").write_text(" " * 101)
    (latin := tmp_path / "latin").write_bytes(b'"\xe9"')
    for path, said in [
        (pipe, "a pipe"),
        (Path("/dev/zero"), "a device"),
        (long, "at most 100 bytes"),
        (latin, "UTF-8"),
    ]:
        with pytest.raises(FormatError, match=said):
            read(path, 100)


SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text()
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=16,
).filter(lambda value: isinstance(value, list | dict))


@given(VALUES, st.booleans())
def test_a_document_within_the_limits_is_what_it_says(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    depth = max(len(inner) for inner in brackets(value))
    if depth > 16:
        return
    assert documents.from_json(text, HERE) == value


def brackets(value, above=()):
    """Each value's chain of what it stands in, itself included."""
    yield (chain := (*above, value))
    for inner in value.values() if isinstance(value, dict) else value:
        if isinstance(inner, list | dict):
            yield from brackets(inner, chain)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text.replace('"version": 2', '"version": Infinity'),
        lambda text: text.replace('"version": 2', '"version": 1e999'),
        lambda text: text.replace('"version": 2', '"version": ' + "1" * 5_000),
        lambda _: "[" * 100_000,
        lambda text: text.replace("[", "[[[[" * 30, 1),
    ],
)
def test_the_manifest_of_a_store_is_refused_by_name(tmp_path, damage):
    trace = tmp_path / "run.txt"
    trace.write_text("ranks 1\n0 | 0 enter MPI_Barrier | 5 leave\n")
    burstline.write(burstline.read(trace), store := tmp_path / "run.store")
    manifest = store / "burstline-store.json"
    manifest.write_text(damage(manifest.read_text()))
    with pytest.raises(FormatError) as refused:
        burstline.read(store)
    assert refused.value.path == manifest

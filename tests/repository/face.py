"""The face of the package: which names are public, and which names a text uses."""

from __future__ import annotations

import ast
import functools
import re
import textwrap

from repository.source import PACKAGE

BLOCK = re.compile(r"^```(?:python|pycon|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
DOTTED = re.compile(r"(?<![\w./-])burstline(?:\.\w+)+")
FILES = re.compile(r"\.(?:h|so|pyi?|store|prv)$")


@functools.cache
def doors():
    """Every door by its dotted name, and the stub that has its names."""
    stubs = [path for path in sorted(PACKAGE.rglob("*.pyi")) if path.stem != "_core"]
    return {dotted(path): path for path in stubs}


def dotted(path):
    """Name of a module by its path."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def names_behind(door):
    """Names that a door leads to by where they are at home, and those for everybody."""
    homes, public = {}, None
    for node in ast.parse(doors()[door].read_text()).body:
        if isinstance(node, ast.ImportFrom):
            homes |= {
                alias.asname: f"{'.' * node.level}{node.module or ''}" for alias in node.names
            }
        elif isinstance(node, ast.Assign):
            public = ast.literal_eval(node.value)
    return homes, list(homes) if public is None else public


@functools.cache
def face():
    """Every public name, with the package that has it: (package, name)."""
    homes, public = names_behind("burstline")
    names = {("burstline", name) for name in [*public, "__version__"]}
    for package in (name for name in public if homes[name] == "."):
        names |= {(f"burstline.{package}", name) for name in public_in(f"burstline.{package}")}
    return names


def public_in(package):
    """Public names of a package behind a door, or of a module without one."""
    if package in doors():
        return names_behind(package)[1]
    tree = ast.parse((PACKAGE.parent / f"{package.replace('.', '/')}.py").read_text())
    defined = [
        getattr(node, "name", None) or getattr(getattr(node, "target", None), "id", "_")
        for node in tree.body
    ]
    return [name for name in defined if not name.startswith("_")]


def imports_of(code):
    """Names that Python code imports from burstline: (package, name)."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("burstline"):
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                package, _, name = alias.name.rpartition(".")
                if package.startswith("burstline"):
                    yield package, name


def names_in(text):
    """Names below burstline that a text mentions with dots, as its roles and directives do."""
    for found in DOTTED.findall(text):
        if not FILES.search(found):
            yield found


def blocks_of(page):
    """Python code of a page; of a session, what is typed."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        typed = [line[4:] for line in block.splitlines() if line.startswith((">>> ", "... "))]
        code = textwrap.dedent("\n".join(typed) or block)
        if "burstline" in code and not code.startswith("$"):
            yield code


def is_public(name):
    """Whether a dotted name is on the face, or a member of something there."""
    parts = name.split(".")
    if parts[0:2] == ["burstline", "__path__"]:
        return True
    if (".".join(parts[:2]), *parts[2:3]) in face():
        return True
    return ("burstline", parts[1]) in face() and not (
        len(parts) > 2 and names_behind("burstline")[0].get(parts[1]) == "."
    )

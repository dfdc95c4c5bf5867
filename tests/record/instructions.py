"""Work read off the text of LLVM's intermediate representation: the other way to count.

Every block of the text is given a call that counts its executions; what the block holds is
counted by looking at its lines. Shares nothing with the plug-in.
"""

from __future__ import annotations

import re

NAMES = [
    "BB",
    "TOT_INS",
    "LD_INS",
    "SR_INS",
    "BR_INS",
    "FP_INS",
    "SP_OPS",
    "DP_OPS",
    "VEC_INS",
    "VEC_SP",
    "VEC_DP",
    "CALLS",
    "LOOP_ITER",
    "CALLS_MATH",
    "CALLS_MEM",
    "CALLS_OTHER",
]
STATEMENT = re.compile(r"^  (?:%[\w.]+ = )?(?:tail |musttail |notail )?(\w+)(.*)")
FLAGS = re.compile(r"^( (?:nuw|nsw|exact|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc))+")
VECTOR = re.compile(r"<(\d+) x (\w+)\*?>")
FREE = re.compile(r"@llvm\.(dbg|lifetime|assume|experimental\.noalias)")
ARITHMETIC = {"fadd", "fsub", "fmul", "fdiv", "frem"}
CALLED = {"fmuladd": 2, "fma": 2, "sqrt": 1, "vector.reduce.fadd": 1, "vector.reduce.fmul": 1}
MEMORY = re.compile(r"@llvm\.mem(cpy|set|move)")


def blocks_of(text):
    """Give (function, number of its block's first line, its lines) of every block."""
    function, block = None, None
    for number, line in enumerate(text.splitlines()):
        if line.startswith("define"):
            function, block = re.search(r"@([\w.]+)\(", line)[1], (number + 1, [])
        elif line == "}":
            yield function, *block
            function = None
        elif function and re.match(r"^[\w.$-]+:", line):
            if block[1]:
                yield function, *block
            block = (number + 1, [])
        elif function and line.startswith("  ") and not line.startswith("   "):
            block[1].append(line)


def work_of(lines):
    """Count what one execution of a block is, by name."""
    work = dict.fromkeys(NAMES, 0) | {"BB": 1}
    for line in lines:
        found = STATEMENT.match(line)
        if found is None or found[1] == "phi" or FREE.search(line):
            continue
        opcode, rest = found[1], FLAGS.sub("", found[2])
        work["TOT_INS"] += 1
        work["LD_INS"] += opcode == "load"
        work["SR_INS"] += opcode == "store"
        work["BR_INS"] += opcode == "switch" or (opcode == "br" and rest.startswith(" i1"))
        memory = bool(MEMORY.search(rest))
        outside = opcode == "call" and (memory or "@llvm." not in rest)
        work["CALLS"] += outside
        work["CALLS_MEM" if memory else "CALLS_OTHER"] += outside
        work["VEC_INS"] += makes_vector(opcode, rest)
        add_arithmetic(work, opcode, rest)
    return work


def makes_vector(opcode, rest):
    if opcode == "call" and "vector.reduce" in rest:
        return True
    if opcode == "select":
        return bool(re.match(r"[^,]*, <", rest))
    if opcode == "extractelement":
        return False
    kept = rest.partition(" to ")[2] or rest.lstrip()
    return kept.startswith("<") and not re.match(r"<[^>]*>\*", kept)


def add_arithmetic(work, opcode, rest):
    each = opcode in ARITHMETIC
    if opcode == "call":
        name = re.search(r"@llvm\.([a-z.]+?)\.[vf]\d", rest)
        each = CALLED.get(name[1], 0) if name else 0
    if not each:
        return
    vector = VECTOR.search(rest)
    kind = vector[2] if vector else re.search(r"\b(float|double)\b", rest)[1]
    short = "SP" if kind == "float" else "DP"
    work[f"{short}_OPS"] += each * (int(vector[1]) if vector else 1)
    work[f"VEC_{short}" if vector else "FP_INS"] += 1


def with_hits(text):
    """Give the text with a call of ``hit(number)`` in every block, and the blocks in order."""
    lines = text.splitlines()
    blocks = list(blocks_of(text))
    for number, (_, first, _) in reversed(list(enumerate(blocks))):
        place = first
        while " = phi " in lines[place]:
            place += 1
        lines.insert(place, f"  call void @hit(i32 {number})")
    return "\n".join([*lines, "declare void @hit(i32)", ""]), blocks

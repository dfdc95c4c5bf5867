"""Hardware counters: their event types and names, and which other types are none.

The name in the ``.pcf`` identifies a counter: numbers of native ones are hashes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable
from typing import Final

from burstline._core import EventClass
from burstline.extrae import event_types as types
from burstline.extrae.labels import read_counter

_PRESETS = """L1_DCM L1_ICM L2_DCM L2_ICM L3_DCM L3_ICM L1_TCM L2_TCM L3_TCM CA_SNP CA_SHR
CA_CLN CA_INV CA_ITV L3_LDM L3_STM BRU_IDL FXU_IDL FPU_IDL LSU_IDL TLB_DM TLB_IM TLB_TL L1_LDM
L1_STM L2_LDM L2_STM BTAC_M PRF_DM L3_DCH TLB_SD CSR_FAL CSR_SUC CSR_TOT MEM_SCY MEM_RCY
MEM_WCY STL_ICY FUL_ICY STL_CCY FUL_CCY HW_INT BR_UCN BR_CN BR_TKN BR_NTK BR_MSP BR_PRC FMA_INS
TOT_IIS TOT_INS INT_INS FP_INS LD_INS SR_INS BR_INS VEC_INS RES_STL FP_STAL TOT_CYC LST_INS
SYC_INS L1_DCH L2_DCH L1_DCA L2_DCA L3_DCA L1_DCR L2_DCR L3_DCR L1_DCW L2_DCW L3_DCW L1_ICH
L2_ICH L3_ICH L1_ICA L2_ICA L3_ICA L1_ICR L2_ICR L3_ICR L1_ICW L2_ICW L3_ICW L1_TCH L2_TCH
L3_TCH L1_TCA L2_TCA L3_TCA L1_TCR L2_TCR L3_TCR L1_TCW L2_TCW L3_TCW FML_INS FAD_INS FDV_INS
FSQ_INS FNV_INS FP_OPS SP_OPS DP_OPS VEC_SP VEC_DP REF_CYC"""

OVERLAPPED_TYPES: Final = frozenset(
    [*types.RESOURCE_TYPES, *types.HEAP_TYPES, *types.JAVA_TYPES]
)
"""Types in the range of counters which mean something else, if they are not labelled so."""

SET_TYPES: Final = (types.COUNTER_SET, types.OLD_COUNTER_SET)
"""Which counter set is active."""

PRESET_COUNTERS: Final = {
    types.COUNTER_TYPES[index]: f"PAPI_{name}" for index, name in enumerate(_PRESETS.split())
}
"""Names of PAPI's preset counters; their numbers have not changed in 20 years."""

ABSOLUTE_OFFSET: Final = 1_000_000
"""Type of absolute values, less that of differences."""

_TYPE_OF_PRESET: Final = {name: kind for kind, name in PRESET_COUNTERS.items()}
_WORK: Final = "IR_"
_OWN_WORK: Final = (
    "BB", "CALLS", "LOOP_ITER", "FP_SP", "FP_DP", "VEC_SP", "VEC_DP",
    "CALLS_MATH", "CALLS_MEM", "CALLS_OTHER",
)  # fmt: skip
_SET_LABEL = "counter set"
_GRADIENT = 7
_PRESET_LABEL = re.compile(r"(?:Absolute )?PAPI_[A-Z0-9]\w*(?:\W|$)")
_DESCRIBED_LABEL = re.compile(r"(?:Absolute )?[^\s\[(]\S* (?:\[|\(\[?)\S")


def is_label_of_counter(label: str, gradient: int | None = None) -> bool:
    """Whether a label and colour look like a counter's: ``NAME [description]`` or a preset."""
    if _PRESET_LABEL.match(label):
        return True
    return gradient in {None, _GRADIENT} and _DESCRIBED_LABEL.match(label) is not None


def classify(
    type: int,  # noqa: A002 -- the format's word
    label: str | None = None,
    gradient: int | None = None,
) -> EventClass:
    """The class of an event type; ``OTHER`` for an unknown one: its events are punctual."""
    if type in types.KNOWN_TYPES:
        return types.TABLE[type].event_class
    if type == types.OLD_COUNTER_SET and (not label or _SET_LABEL in label):
        return EventClass.COUNTER_SET
    # counters are known by range, and by label where ranges overlap
    is_labelled = label is not None and is_label_of_counter(label, gradient)
    is_counter = is_labelled
    if type not in OVERLAPPED_TYPES:
        is_counter = type in types.COUNTER_TYPES or (is_labelled and gradient == _GRADIENT)
    return EventClass.COUNTER if is_counter else EventClass.OTHER


def counter_name(type: int, label: str | None = None) -> str:  # noqa: A002 -- the format's word
    """The name of a counter: its label's, else the preset's, else one of its type."""
    if label and (name := read_counter(label)):
        return name
    presets = PRESET_COUNTERS
    return presets.get(type) or presets.get(type - ABSOLUTE_OFFSET) or f"counter_{type}"


def counter_types(names: Iterable[str]) -> dict[str, int]:
    """The event type of each counter: the same in every trace, unless two collide."""
    type_of: dict[str, int] = {}
    for name in names:
        kind = _event_type(name)
        while kind in type_of.values():
            kind = types.NATIVE_TYPES.start + (kind + 1) % len(types.NATIVE_TYPES)
        type_of[name] = kind
    return type_of


def _event_type(name: str) -> int:
    if name in _TYPE_OF_PRESET:
        return _TYPE_OF_PRESET[name]
    if name == "cpu":
        return types.CPU_TIME
    if name.startswith(_WORK):
        kin = name.removeprefix(_WORK)
        if (preset := _TYPE_OF_PRESET.get(f"PAPI_{kin}")) is not None:
            return types.WORK_TYPES.start + preset - types.COUNTER_TYPES.start
        if kin in _OWN_WORK:
            return types.WORK_TYPES.start + 1000 + _OWN_WORK.index(kin)
    return types.NATIVE_TYPES.start + zlib.crc32(name.encode()) % len(types.NATIVE_TYPES)

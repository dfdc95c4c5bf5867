"""Columns of tables by the name of the option of a statement that sets them."""

from __future__ import annotations

from typing import Final

CALL_COLUMNS: Final = {
    "comm": "communicator",
    "peer": "peer",
    "tag": "tag",
    "root": "root",
    "sent": "sent_bytes",
    "received": "received_bytes",
}
HALF_COLUMNS: Final = {
    "comm": "communicator",
    "peer": "peer",
    "tag": "tag",
    "bytes": "bytes",
    "request": "request",
}
OTHER_COLUMNS: Final = {
    "name": "name",
    "type": "type",
    "value": "value",
    "text": "text",
    "comm": "communicator",
}
REGION_COLUMNS: Final = {
    "file": "file",
    "begin": "begin_line",
    "end": "end_line",
    "type": "source_type",
    "value": "source_value",
}
ATTRIBUTE: Final = "attribute"
"""The kind of other events that belong to the event that follows."""

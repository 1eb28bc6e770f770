"""Debezium's stand-in for a large value that an update did not touch.

It must never reach a view: the value it stands for is in an older record, which compaction
removes. Tables with such columns need REPLICA IDENTITY FULL; this is the net below that rule.
"""

from base64 import b64encode
from hashlib import md5
from typing import Any
from uuid import UUID

PLACEHOLDER = "__debezium_unavailable_value"

_BYTES = PLACEHOLDER.encode()
_BASE64 = b64encode(_BYTES).decode()
# Java's UUID.nameUUIDFromBytes: the stand-in must look like an element of uuid[].
_UUID = str(UUID(bytes=md5(_BYTES, usedforsecurity=False).digest(), version=3))
_TEXTS = frozenset(
    {
        PLACEHOLDER,  # text, json, jsonb, xml, numeric and every other type written as text
        _BASE64,  # bytea, and types Debezium does not know
        f'{{"{PLACEHOLDER}":"{PLACEHOLDER}"}}',  # hstore
    }
)
_LISTS: tuple[list[Any], ...] = (
    [PLACEHOLDER],  # text[], varchar[], json[] ...
    [_BASE64],  # bytea[]
    [_UUID],  # uuid[]
    list(_BYTES),  # int[], bigint[]: the bytes themselves
)


def is_unavailable(value: Any) -> bool:
    """Whether a column's JSON value is the stand-in, in whatever shape its type gives it."""
    if isinstance(value, str):
        return value in _TEXTS
    return isinstance(value, list) and value in _LISTS

"""Single values that are neither text nor time: JSON value <-> Postgres literal, one pair each.

Every `*_from_json` gives a literal Postgres reads back to the very same value; every `*_to_json`
takes what Postgres prints and gives the JSON value Debezium would have written.
"""

import re
from base64 import b64decode, b64encode
from struct import Struct
from typing import Any

import orjson

_SPECIAL_NUMERICS = {
    "NaN": "NAN",
    "Infinity": "POSITIVE_INFINITY",
    "-Infinity": "NEGATIVE_INFINITY",
}
_SPECIAL_NUMERICS_BACK = {debezium: text for text, debezium in _SPECIAL_NUMERICS.items()}
_REAL = Struct("f")
_SPECIAL_FLOATS = frozenset({"NaN", "Infinity", "-Infinity"})
_TO_ESCAPE = re.compile(r'(["\\])')


def integer_to_json(text: str) -> int:
    """Integers of every size are JSON numbers: read them with a parser that keeps 64 bits."""
    return int(text)


def boolean_from_json(value: bool) -> str:  # noqa: FBT001 - the value itself, not a flag
    """Give true or false."""
    return "true" if value else "false"


def boolean_to_json(text: str) -> bool:
    """Postgres prints t and f, and also true and false after a cast to text."""
    return text in {"t", "true"}


def float_from_json(value: float | str) -> str:
    """Shortest digits that give the same bits back; NaN and the infinities arrive as text."""
    return value if isinstance(value, str) else repr(value)


def real_to_json(text: str) -> float | str:
    """Read a single-precision float, with at least two digits as Java has it: 1.4E-45."""
    if text in _SPECIAL_FLOATS:
        return text
    (exact,) = _REAL.unpack(_REAL.pack(float(text)))
    two_digits = float(f"{exact:.1e}")
    return two_digits if _REAL.pack(two_digits) == _REAL.pack(exact) else float(text)


def float_to_json(text: str) -> float | str:
    """Read a float; the server's default `extra_float_digits` prints all of it."""
    return text if text in _SPECIAL_FLOATS else float(text)


def numeric_from_json(value: str) -> str:
    """All digits as text, with Debezium's own words for the three special values."""
    return _SPECIAL_NUMERICS_BACK.get(value, value)


def numeric_to_json(text: str) -> str:
    """Keep every digit, also trailing zeros."""
    return _SPECIAL_NUMERICS.get(text, text)


def bytes_from_json(value: str) -> str:
    r"""Base64 to `\x00ff`."""
    return "\\x" + b64decode(value, validate=True).hex()


def bytes_to_json(text: str) -> str:
    r"""`\x00ff` to base64; needs the server's default `bytea_output`."""
    return b64encode(bytes.fromhex(text.removeprefix("\\x"))).decode()


def opaque_from_json(value: str) -> str:
    """Unpack a type Debezium does not know: it arrives as its own text, in base64."""
    return b64decode(value, validate=True).decode()


def opaque_to_json(text: str) -> str:
    """Pack the text of a type Debezium does not know."""
    return b64encode(text.encode()).decode()


def bits_from_json(value: bool | str, length: int) -> str:  # noqa: FBT001 - bit(1) is a boolean
    """Base64 of the bits, lowest byte first, zero bytes at the top cut off; bit(1) is a boolean."""
    if isinstance(value, bool):
        return str(int(value))
    return f"{int.from_bytes(b64decode(value, validate=True), 'little'):0{length}b}"


def bits_to_json(text: str, length: int) -> bool | str:
    """Pack the bits, lowest byte first."""
    number = int(text, 2)
    if length == 1:
        return bool(number)
    return b64encode(number.to_bytes((number.bit_length() + 7) // 8, "little")).decode()


def point_from_json(value: dict[str, Any]) -> str:
    """`{"x": 1.5, "y": 2}`; other fields of the object say the same again."""
    return f"({float_from_json(value['x'])},{float_from_json(value['y'])})"


def hstore_from_json(value: str) -> str:
    """Rewrite a JSON object held in text; Postgres orders the pairs itself."""
    pairs = orjson.loads(value).items()
    return ", ".join(f"{_quoted(k)}=>{'NULL' if v is None else _quoted(v)}" for k, v in pairs)


def money_to_json(text: str) -> str:
    """`-$1,234.50` to `-1234.50`, for locales that write money that way."""
    return text.replace("$", "").replace(",", "")


def _quoted(text: str) -> str:
    return '"' + _TO_ESCAPE.sub(r"\\\1", text) + '"'

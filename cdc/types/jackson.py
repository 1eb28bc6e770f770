"""JSON exactly as Kafka Connect's JsonConverter writes it, byte for byte.

Whoever writes a row or a key beside Debezium must give the same bytes: the key's bytes choose the
partition, and two spellings of one key are two rows to Kafka.
"""

import math
import re
from typing import Any

_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\b": "\\b",
    "\t": "\\t",
    "\n": "\\n",
    "\f": "\\f",
    "\r": "\\r",
}
_WORDS = {None: "null", True: "true", False: "false"}
_SPECIAL = re.compile(r'["\\\x00-\x1f\U00010000-\U0010ffff]')
_PLAIN_FROM, _PLAIN_TO = 1e-3, 1e7


def dumps(value: Any) -> bytes:
    """Serialise; objects keep the order of their keys, which is the table's order of columns."""
    return _text(value).encode()


def _text(value: Any) -> str:
    match value:
        case None | bool():
            return _WORDS[value]
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return _string(value)
        case list():
            return "[" + ",".join(map(_text, value)) + "]"
        case dict():
            return "{" + ",".join(f"{_string(k)}:{_text(v)}" for k, v in value.items()) + "}"
    raise TypeError(f"no JSON for {type(value).__name__}")


def _string(text: str) -> str:
    return '"' + _SPECIAL.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in _ESCAPES:
        return _ESCAPES[character]
    # What takes four bytes in UTF-8 is written as the two halves it has in Java.
    halves = character.encode("utf-16-be").hex().upper()
    return "".join(f"\\u{halves[at : at + 4]}" for at in range(0, len(halves), 4))


def _number(value: float) -> str:
    """Write a float as Java's `Double.toString` does from Java 19 on: the shortest digits."""
    if math.isnan(value):
        return '"NaN"'
    if math.isinf(value):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if value == 0:
        return f"{sign}0.0"
    shortest, two_digits = f"{abs(value)!r}", f"{abs(value):.1e}"
    # Java writes at least two digits, and then the two nearest ones: 4.9E-324 where we say 5e-324.
    if float(two_digits) == abs(value):
        shortest = two_digits
    mantissa, _, exponent = shortest.partition("e")
    whole, _, fraction = mantissa.partition(".")
    # digits d1 d2 d3 ... with the point after the first one, times ten to `power`
    power = int(exponent or 0) + len(whole) - 1
    digits = whole + fraction
    power -= len(digits) - len(digits.lstrip("0"))
    digits = digits.strip("0")
    if _PLAIN_FROM <= abs(value) < _PLAIN_TO:
        return sign + _plain(digits, power)
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{power}"


def _plain(digits: str, power: int) -> str:
    if power < 0:
        return "0." + "0" * (-power - 1) + digits
    whole = digits[: power + 1].ljust(power + 1, "0")
    return f"{whole}.{digits[power + 1 :] or '0'}"

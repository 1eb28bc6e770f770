"""Dates and times: Debezium's ISO 8601 strings <-> Postgres literals.

Pure text to text, no datetime objects: Postgres counts years from 4713 BC to 294276 AD, and
Python's own types stop at 1 and 9999. The Postgres side is what the server prints under
`DateStyle=ISO`, `IntervalStyle=postgres` and `TimeZone=UTC`.
"""

import re

_DATE = r"(?P<year>[+-]?\d{4,})-(?P<rest>\d\d-\d\d)"
_ISO_DATE = re.compile(rf"{_DATE}Z?")
_ISO_TIMESTAMP = re.compile(rf"{_DATE}T(?P<time>\d\d:\d\d:\d\d(?:\.\d+)?)Z")
_PG_DATE = re.compile(rf"{_DATE}(?P<bc> BC)?")
_PG_TIMESTAMP = re.compile(rf"{_DATE} (?P<time>\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?(?P<bc> BC)?")

# Debezium has no infinite date or timestamp without zone: it writes these days and instants.
_INFINITE_DATES = {"infinity": "-5877611-06-21Z", "-infinity": "-5877611-06-22Z"}
INFINITE_TIMESTAMPS = {
    "infinity": "+294247-01-10T04:00:25.2Z",
    "-infinity": "-290308-12-21T19:59:27.6Z",
}
# The same two in arrays of dates, and in Debezium's own snapshot.
_INFINITE_ELEMENTS = {"infinity": "+292278994-08-16Z", "-infinity": "+292269055-12-02Z"}
_INFINITE_DATES_BACK = {
    iso: text for days in (_INFINITE_DATES, _INFINITE_ELEMENTS) for text, iso in days.items()
}
_INFINITE_TIMESTAMPS_BACK = {iso: text for text, iso in INFINITE_TIMESTAMPS.items()}

_DIGITS_OF_A_PLAIN_YEAR = 4


def date_from_iso(iso: str) -> str:
    """`-0043-03-15Z` is 15 March 44 BC."""
    if iso in _INFINITE_DATES_BACK:
        return _INFINITE_DATES_BACK[iso]
    found = _matched(_ISO_DATE, iso)
    year, era = _era(int(found["year"]))
    return f"{year}-{found['rest']}{era}"


def date_to_iso(text: str) -> str:
    """Write a date as Debezium does."""
    if text in _INFINITE_DATES:
        return _INFINITE_DATES[text]
    found = _matched(_PG_DATE, text)
    return f"{_iso_year(found)}-{found['rest']}Z"


def date_element_to_iso(text: str) -> str:
    """Write a date in an array as Debezium does: infinity is another day there."""
    return _INFINITE_ELEMENTS.get(text) or date_to_iso(text)


def timestamp_from_iso(iso: str) -> str:
    """`2024-02-29T12:34:56.5Z` of a column without time zone: the Z is decoration."""
    if iso in _INFINITE_TIMESTAMPS_BACK:
        return _INFINITE_TIMESTAMPS_BACK[iso]
    found = _matched(_ISO_TIMESTAMP, iso)
    year, era = _era(int(found["year"]))
    return f"{year}-{found['rest']} {found['time']}{era}"


def timestamp_to_iso(text: str) -> str:
    """Write a timestamp without time zone as Debezium does: no trailing zeros in the fraction."""
    if text in INFINITE_TIMESTAMPS:
        return INFINITE_TIMESTAMPS[text]
    found = _matched(_PG_TIMESTAMP, text)
    return f"{_iso_year(found)}-{found['rest']}T{found['time']}Z"


def timestamptz_from_iso(iso: str) -> str:
    """`2024-02-29T12:34:56.500000Z`, always in UTC; infinity is spelled out."""
    if iso in {"infinity", "-infinity"}:
        return iso
    found = _matched(_ISO_TIMESTAMP, iso)
    year, era = _era(int(found["year"]))
    return f"{year}-{found['rest']} {found['time']}+00{era}"


def timestamptz_to_iso(text: str, precision: int) -> str:
    """Write a timestamptz (printed in UTC) as Debezium does: `precision` digits, zeros and all."""
    if text in {"infinity", "-infinity"}:
        return text
    found = _matched(_PG_TIMESTAMP, text)
    seconds, _, fraction = found["time"].partition(".")
    fraction = f".{fraction:0<{precision}}" if precision else ""
    return f"{_iso_year(found)}-{found['rest']}T{seconds}{fraction}Z"


def time_from_iso(iso: str) -> str:
    """`12:34:56.789Z` of a column without time zone."""
    return iso.removesuffix("Z")


def time_to_iso(text: str) -> str:
    """Write a time without zone as Debezium does."""
    return f"{text}Z"


def _matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.fullmatch(text)
    if found is None:
        raise ValueError(f"not a date or time as expected here: {text!r}")
    return found


def _era(year: int) -> tuple[str, str]:
    # ISO 8601 has a year zero, which is 1 BC.
    return (f"{year:04}", "") if year > 0 else (f"{1 - year:04}", " BC")


def _iso_year(found: re.Match[str]) -> str:
    year = int(found["year"])
    if found["bc"]:
        year = 1 - year
    sign = "-" if year < 0 else "+" if len(str(year)) > _DIGITS_OF_A_PLAIN_YEAR else ""
    return f"{sign}{abs(year):04}"

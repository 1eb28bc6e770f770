"""The codecs alone: literals in, JSON out, and back."""

import math
import re
import struct
from decimal import Decimal

import orjson
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cdc.types.arrays import array_elements, array_literal
from cdc.types.catalog import Kind, PgType
from cdc.types.codecs import CODECS, can_encode, decode, encode
from cdc.types.jackson import dumps

INTEGER = PgType("bigint", "int8")
REAL = PgType("real", "float4")
DOUBLE = PgType("double precision", "float8")
NUMERIC = PgType("numeric", "numeric")
BYTEA = PgType("bytea", "bytea")
DATE = PgType("date", "date")
TIMESTAMP = PgType("timestamp", "timestamp")
TIMESTAMPTZ = PgType("timestamptz", "timestamptz")
TEXTS = PgType("text[]", "_text", Kind.ARRAY, element=PgType("text", "text"))

# Postgres text cannot hold U+0000, and JSON no half of a surrogate pair.
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(st.integers(-(2**63), 2**63 - 1))
def test_integers_of_64_bits_survive(number: int) -> None:
    assert decode(INTEGER, encode(INTEGER, str(number))) == str(number)
    assert dumps(encode(INTEGER, str(number))) == str(number).encode()


@given(st.floats())
def test_double_precision_gives_the_same_bits_back(number: float) -> None:
    literal = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(number), repr(number))
    over_json = orjson.loads(dumps(encode(DOUBLE, literal)))
    back = float(decode(DOUBLE, over_json) or "")
    assert (
        math.isnan(number)
        if math.isnan(back)
        else struct.pack("d", back) == struct.pack("d", number)
    )


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_real_gives_the_same_bits_back(number: float) -> None:
    over_json = orjson.loads(dumps(encode(REAL, repr(number))))
    back = float(decode(REAL, over_json) or "")
    assert struct.pack("f", back) == struct.pack("f", number)


@given(st.decimals(allow_nan=True, allow_infinity=True))
def test_numeric_keeps_every_digit(number: Decimal) -> None:
    assume(not number.is_snan())
    words = {"NaN": "NaN", "-NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity"}
    text = words.get(str(number), f"{number:f}" if number.is_finite() else "")
    assert decode(NUMERIC, encode(NUMERIC, text)) == text


@given(st.binary())
def test_bytea_survives(data: bytes) -> None:
    literal = "\\x" + data.hex()
    assert decode(BYTEA, encode(BYTEA, literal)) == literal


@given(st.integers(1, 70).flatmap(lambda n: st.text("01", min_size=n, max_size=n)))
def test_bit_strings_keep_their_leading_zeros(bits: str) -> None:
    pg_type = PgType(f"bit({len(bits)})", "bit", typmod=len(bits))
    assert decode(pg_type, encode(pg_type, bits)) == bits


@given(st.lists(st.none() | texts))
def test_array_literals_give_their_elements_back(elements: list[str | None]) -> None:
    assert array_elements(array_literal(elements)) == elements


@given(st.lists(st.none() | texts))
def test_text_arrays_survive(elements: list[str | None]) -> None:
    literal = array_literal(elements)
    assert decode(TEXTS, encode(TEXTS, literal)) == literal


@pytest.mark.parametrize("literal", ["{{1,2},{3,4}}", "[0:1]={1,2}", "{1,{2}}", "1,2", '{"a"b}'])
def test_an_array_that_debezium_cannot_carry_is_refused(literal: str) -> None:
    with pytest.raises(ValueError, match="array literal"):
        array_elements(literal)


years = st.integers(1, 294276)
clock = st.times().map(lambda time: time.isoformat())


@given(year=years, month=st.integers(1, 12), day=st.integers(1, 28), bc=st.booleans(), time=clock)
def test_dates_and_timestamps_survive_in_both_eras(
    *, year: int, month: int, day: int, bc: bool, time: str
) -> None:
    era = " BC" if bc else ""
    time = re.sub(r"(\.\d*?)0+$", r"\1", time)
    date = f"{year:04}-{month:02}-{day:02}"
    assert decode(DATE, encode(DATE, date + era)) == date + era
    assert decode(TIMESTAMP, encode(TIMESTAMP, f"{date} {time}{era}")) == f"{date} {time}{era}"
    decoded = decode(TIMESTAMPTZ, encode(TIMESTAMPTZ, f"{date} {time}+00{era}")) or ""
    assert re.sub(r"(\.\d*?)0+\+", r"\1+", decoded).replace(".+", "+") == f"{date} {time}+00{era}"


@pytest.mark.parametrize("pg_type", [DATE, TIMESTAMP, TIMESTAMPTZ])
@pytest.mark.parametrize("text", ["infinity", "-infinity"])
def test_infinite_times_survive(pg_type: PgType, text: str) -> None:
    assert decode(pg_type, encode(pg_type, text)) == text


def test_the_year_before_1_ad_is_1_bc() -> None:
    assert decode(DATE, "0000-12-31Z") == "0001-12-31 BC"
    assert encode(DATE, "0001-12-31 BC") == "0000-12-31Z"


@pytest.mark.parametrize("pg_type", [DATE, TIMESTAMP, TIMESTAMPTZ])
def test_a_time_in_another_spelling_is_refused(pg_type: PgType) -> None:
    with pytest.raises(ValueError, match="not a date or time"):
        decode(pg_type, "yesterday")


def test_null_stays_null_for_every_type() -> None:
    for name in CODECS:
        pg_type = PgType(name, name)
        assert decode(pg_type, None) is None
        assert encode(pg_type, None) is None


def test_a_type_whose_bytes_cannot_be_foreseen_is_not_encoded() -> None:
    hstore = PgType("hstore", "hstore")
    hstores = PgType("hstore[]", "_hstore", Kind.ARRAY, element=hstore)
    assert not can_encode(hstore)
    assert not can_encode(hstores)
    with pytest.raises(ValueError, match="byte for byte"):
        encode(hstore, '"a"=>"1"')


def test_hstore_keeps_quotes_backslashes_and_null() -> None:
    value = orjson.dumps({'a"b': "c\\d", "e": None}).decode()
    literal = '"a\\"b"=>"c\\\\d", "e"=>NULL'
    assert decode(PgType("hstore", "hstore"), value) == literal


def test_an_unknown_type_travels_as_its_own_text() -> None:
    for kind in (Kind.BASE, Kind.COMPOSITE, Kind.MULTIRANGE):
        unknown = PgType("mine", "mine", kind)
        assert decode(unknown, encode(unknown, '(1,"é💩")')) == '(1,"é💩")'


def test_an_enum_is_its_label_whatever_the_type_is_called() -> None:
    assert decode(PgType("bytea", "bytea", Kind.ENUM), "sad") == "sad"

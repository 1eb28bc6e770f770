"""JSON as Kafka Connect writes it, byte for byte."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdc.types.jackson import dumps

texts = st.text(st.characters(exclude_categories=["Cs"]))


# As printed by Java's Double.toString.
@pytest.mark.parametrize(
    ("number", "java"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.0009, "9.0E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (123456789.125, "1.23456789125E8"),
        (-120.5, "-120.5"),
        (5e-324, "4.9E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (float("nan"), '"NaN"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_floats_are_written_as_java_does(number: float, java: str) -> None:
    assert dumps(number) == java.encode()


def test_text_is_escaped_as_jackson_does() -> None:
    written = dumps('a"b\\c/d\b\t\n\f\r\x01\x1f\x7fé💩\u2028')
    assert (
        written == '"a\\"b\\\\c/d\\b\\t\\n\\f\\r\\u0001\\u001F\x7fé\\uD83D\\uDCA9\u2028"'.encode()
    )


def test_an_object_keeps_its_order_and_has_no_spaces() -> None:
    assert dumps({"b": [1, None, True], "a": {"c": "d"}}) == b'{"b":[1,null,true],"a":{"c":"d"}}'


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="set"):
        dumps({"a": {1}})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
)


@given(json_values)
def test_every_value_reads_back_the_same(value: object) -> None:
    assert orjson.loads(dumps(value)) == value

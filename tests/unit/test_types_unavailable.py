"""The stand-in for an untouched large value, in every shape Debezium gives it."""

import pytest

from cdc.types.unavailable import is_unavailable


@pytest.mark.parametrize(
    "value",
    [
        "__debezium_unavailable_value",
        "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==",
        '{"__debezium_unavailable_value":"__debezium_unavailable_value"}',
        ["__debezium_unavailable_value"],
        ["X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="],
        ["b68a35a7-17ad-35b3-af2a-ae46edb4545a"],
        list(b"__debezium_unavailable_value"),
    ],
)
def test_every_shape_of_the_stand_in_is_recognised(value: object) -> None:
    assert is_unavailable(value)


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "a text that mentions __debezium_unavailable_value",
        [],
        ["a", "__debezium_unavailable_value"],
        [95, 95],
        {"x": 1.0, "y": 2.0},
        7,
    ],
)
def test_ordinary_values_are_left_alone(value: object) -> None:
    assert not is_unavailable(value)

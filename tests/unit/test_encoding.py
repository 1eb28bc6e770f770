"""The settings that decide the bytes of a record."""

from connectors.connector import RECORD
from connectors.encoding import VALUE_ENCODING


def test_the_encoding_names_only_transforms_that_exist() -> None:
    named = {key.split(".")[1] for key in VALUE_ENCODING if key.startswith("transforms.")}
    assert named <= set(RECORD["transforms"].split(","))


def test_null_is_never_replaced_by_a_default() -> None:
    places = [key for key in VALUE_ENCODING if key.endswith("replace.null.with.default")]
    assert len(places) == 3
    assert {VALUE_ENCODING[place] for place in places} == {"false"}


def test_no_setting_is_decided_in_two_places() -> None:
    assert VALUE_ENCODING.keys() & RECORD.keys() == set()

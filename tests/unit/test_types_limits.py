"""Which columns are refused or limited, told from the catalog's description alone."""

import pytest

from cdc.types.catalog import Column, Kind, PgType
from cdc.types.limits import constraint_name, unsupported_columns


def column(pg_type: PgType, name: str = "v") -> Column:
    return Column("public", 'odd "table"', name, pg_type)


def array_of(element: PgType) -> PgType:
    return PgType(f"{element.sql}[]", f"_{element.name}", Kind.ARRAY, element=element)


@pytest.mark.parametrize(
    "name", ["int4", "int8", "text", "numeric", "timestamptz", "jsonb", "uuid", "bytea", "bool"]
)
def test_common_types_have_no_limit(name: str) -> None:
    assert unsupported_columns([column(PgType(name, name))]) == []


def test_a_refused_type_has_no_condition_but_another_type() -> None:
    [limit] = unsupported_columns([column(PgType("time with time zone", "timetz"))])
    assert limit.condition is None
    assert limit.fix.startswith('ALTER TABLE "public"."odd ""table""" ALTER COLUMN "v" TYPE text')


@pytest.mark.parametrize(
    ("typmod", "refused"), [(-1, False), ((10 << 16 | 2) + 4, False), ((3 << 16 | 0x7FE) + 4, True)]
)
def test_a_numeric_with_negative_scale_is_refused(typmod: int, *, refused: bool) -> None:
    assert (
        bool(unsupported_columns([column(PgType("numeric", "numeric", typmod=typmod))])) == refused
    )


def test_every_array_is_limited_to_one_dimension() -> None:
    [limit] = unsupported_columns([column(array_of(PgType("integer", "int4")))])
    assert limit.condition == 'array_ndims("v") > 1 OR array_lower("v", 1) <> 1'
    assert limit.fix.endswith(f"CHECK (NOT ({limit.condition}))")


@pytest.mark.parametrize(
    "element",
    [
        PgType("mood", "mood", Kind.ENUM),
        PgType("positive", "int4", domain=True),
        PgType("pair", "pair", Kind.COMPOSITE),
        PgType("ltree", "ltree"),
    ],
)
def test_null_elements_are_kept_out_where_they_stop_the_connector(element: PgType) -> None:
    [limit] = unsupported_columns([column(array_of(element))])
    assert limit.condition is not None
    assert 'num_nulls(VARIADIC "v") > 0' in limit.condition


def test_a_domain_rescues_the_elements_of_an_array() -> None:
    refused = PgType("interval", "interval")
    [limit] = unsupported_columns([column(array_of(refused))])
    assert limit.condition is None
    rescued = PgType("span", "interval", domain=True)
    [limit] = unsupported_columns([column(array_of(rescued))])
    assert limit.condition is not None


def test_limits_of_the_snapshot_can_be_left_out() -> None:
    dates = [column(PgType("date", "date"))]
    assert [limit.snapshot_only for limit in unsupported_columns(dates)] == [True]
    assert unsupported_columns(dates, snapshot=False) == []


def test_a_constraints_name_fits_into_postgres() -> None:
    assert len(constraint_name(column(PgType("time", "time"), "n" * 63))) == 63

"""Every table that cannot be captured is refused by its check, with a command that mends it."""

from typing import Any

import pytest

from connectors.preflight import Outcome, run_checks
from tests.integration.test_preflight import Factory, failure, results


@pytest.mark.parametrize(
    ("make", "check", "word", "fix"),
    [
        ("SELECT 1", "tables", "there is no table public.t", "remove public.t"),
        ('CREATE TABLE "T" (id int PRIMARY KEY)', "tables", "there is no table", "public.T"),
        ("CREATE VIEW t AS SELECT 1 AS id", "tables", "is a view", "remove public.t"),
        ("CREATE MATERIALIZED VIEW t AS SELECT 1 AS id", "tables", "materialized", "remove"),
        ("CREATE SEQUENCE t", "tables", "is a sequence", "remove public.t"),
        (
            """CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA WRAPPER w;
               CREATE FOREIGN TABLE t (id int) SERVER s""",
            "tables",
            "is a foreign table",
            "remove public.t",
        ),
        ("CREATE UNLOGGED TABLE t (id int PRIMARY KEY)", "tables", "unlogged", "SET LOGGED"),
        (
            "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE c () INHERITS (t)",
            "tables",
            "inheritance children",
            "NO INHERIT",
        ),
        ("CREATE TABLE t (id int)", "primary key", "no primary key", "ADD PRIMARY KEY"),
        (
            "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE)",
            "deferrable key",
            "is deferrable",
            'DROP CONSTRAINT "t_pkey", ADD CONSTRAINT "t_pkey" PRIMARY KEY ("id")',
        ),
        (
            "CREATE TABLE t (id int PRIMARY KEY, note text)",
            "replica identity",
            "outside the row (note)",
            'ALTER TABLE "public"."t" REPLICA IDENTITY FULL',
        ),
        (
            "CREATE TABLE t (id int PRIMARY KEY); ALTER TABLE t REPLICA IDENTITY NOTHING",
            "replica identity",
            "NOTHING",
            'ALTER TABLE "public"."t" REPLICA IDENTITY DEFAULT',
        ),
        (
            """CREATE TABLE t (id int PRIMARY KEY, o int NOT NULL UNIQUE);
               ALTER TABLE t REPLICA IDENTITY USING INDEX t_o_key""",
            "replica identity",
            "another index",
            "REPLICA IDENTITY DEFAULT",
        ),
        ("CREATE TABLE t (id float8 PRIMARY KEY)", "key types", "0 and -0", "TYPE text"),
        ("CREATE TABLE t (id numeric PRIMARY KEY)", "key types", "1.0 and 1.00", "numeric(38, 0)"),
        ("CREATE TABLE t (id interval PRIMARY KEY)", "key types", "24 hours", "TYPE text"),
        (
            "CREATE DOMAIN d AS float8; CREATE DOMAIN e AS d; CREATE TABLE t (id e PRIMARY KEY)",
            "key types",
            "0 and -0",
            "TYPE text",
        ),
    ],
)
def test_a_table_that_cannot_be_captured_is_refused(
    *, database: Any, pipeline_factory: Factory, make: str, check: str, word: str, fix: str
) -> None:
    database.execute(make)
    found = failure(pipeline_factory("public.t"), check)
    assert word in found.message
    assert fix in found.fix


@pytest.mark.parametrize("scale", ["numeric(10, 2)", "varchar(10)", "uuid", "char(3)"])
def test_key_types_that_are_exact_pass(
    database: Any, pipeline_factory: Factory, scale: str
) -> None:
    database.execute(f"CREATE DOMAIN d AS {scale}; CREATE TABLE t (id d PRIMARY KEY)")
    outcomes = [r.outcome for r in results(pipeline_factory("public.t"), "key types")]
    assert outcomes == [Outcome.OK]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE t (id int PRIMARY KEY DEFERRABLE)",
        "CREATE TABLE t (id int PRIMARY KEY, note text)",
        "CREATE TABLE t (id numeric PRIMARY KEY)",
        "CREATE UNLOGGED TABLE t (id int PRIMARY KEY)",
        "CREATE TABLE t (name varchar(9))",
    ],
)
def test_the_fix_that_is_named_is_the_fix(
    database: Any, pipeline_factory: Factory, statement: str
) -> None:
    database.execute(statement)
    prepared = pipeline_factory("public.t")
    while found := [r for r in run_checks(*prepared) if r.outcome is Outcome.FAIL]:
        database.execute(found[0].fix)


def test_the_checks_of_a_table_that_is_not_there_are_skipped(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute("CREATE TABLE here (id int PRIMARY KEY)")
    found = results(pipeline_factory("public.here", "public.gone"), "primary key")
    assert [(r.outcome, r.message.split()[0]) for r in found] == [
        (Outcome.SKIP, "public.gone:"),
        (Outcome.OK, "1"),
    ]


def test_each_partition_must_log_whole_rows(database: Any, pipeline_factory: Factory) -> None:
    database.execute(
        """CREATE TABLE t (id int PRIMARY KEY, note text) PARTITION BY RANGE (id);
           CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (10);
           CREATE TABLE t_2 PARTITION OF t FOR VALUES FROM (10) TO (20);
           ALTER TABLE t_1 REPLICA IDENTITY FULL"""
    )
    prepared = pipeline_factory("public.t")
    found = failure(prepared, "replica identity")
    assert found.fix == 'ALTER TABLE "public"."t_2" REPLICA IDENTITY FULL'
    [partitions] = results(prepared, "partitions")
    assert partitions.outcome is Outcome.WARN
    assert "dropped or detached" in partitions.message


def test_a_partition_beside_its_listed_root_is_refused(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute(
        """CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id);
           CREATE TABLE t_1 PARTITION OF t FOR VALUES FROM (0) TO (10)"""
    )
    assert (
        "partition of public.t"
        in failure(pipeline_factory("public.t", "public.t_1"), "tables").message
    )


@pytest.mark.parametrize("kind", ["STORED", "VIRTUAL"])
def test_generated_columns_are_named_because_they_are_not_captured(
    database: Any, pipeline_factory: Factory, kind: str
) -> None:
    database.execute(
        f"CREATE TABLE t (id int PRIMARY KEY, b int GENERATED ALWAYS AS (id * 2) {kind})"
    )
    [found] = results(pipeline_factory("public.t"), "generated columns")
    assert found.outcome is Outcome.WARN
    assert found.message.endswith("not captured: b")


def test_a_column_whose_type_cannot_be_carried_is_refused_with_one_that_can(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY, at timetz)")
    found = failure(pipeline_factory("public.t"), "column types")
    assert "public.t.at is time with time zone: the zone is lost" in found.message
    database.execute(found.fix)
    database.execute("ALTER TABLE t REPLICA IDENTITY FULL")
    [again] = results(pipeline_factory("public.t"), "column types")
    assert again.outcome is Outcome.OK


def test_a_value_that_would_arrive_changed_is_refused_and_a_possible_one_is_named(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY, at time)")
    [found] = results(pipeline_factory("public.t"), "column types")
    assert found.outcome is Outcome.WARN
    database.execute("INSERT INTO t VALUES (1, '24:00')")
    assert (
        "24:00:00 arrives as 00:00:00"
        in failure(pipeline_factory("public.t"), "column types").message
    )
    database.execute("UPDATE t SET at = '23:59'")
    database.execute(found.fix)
    [found] = results(pipeline_factory("public.t"), "column types")
    assert found.outcome is Outcome.OK


def test_a_database_with_a_type_the_connector_cannot_start_on_is_refused(
    database: Any, pipeline_factory: Factory
) -> None:
    database.execute("CREATE TABLE t (id int PRIMARY KEY)")
    database.execute("CREATE TYPE mood AS ENUM ('ok'); CREATE DOMAIN my_mood AS mood")
    found = failure(pipeline_factory("public.t"), "database types")
    assert "my_mood is a domain over the enum" in found.message
    assert "DROP DOMAIN public.my_mood" in found.fix

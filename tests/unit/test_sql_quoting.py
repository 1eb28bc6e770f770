"""Names from files and catalogs are hostile: whatever a table is called, it stays one name."""

import pytest
from psycopg import sql

from cdc.config import Pipeline, Table
from connectors.database import shown, table_identifier
from connectors.publication import _create, _set_tables

HOSTILE = ['x"; DROP TABLE y;--', "a'b", "{}", "%s", "new\nline", "\\", "*", "../../etc", "Größe"]


def table(name: str) -> Table:
    # Past the rules of pipeline.yaml on purpose: they are not the last line of defence.
    return Table.model_construct(name=f"public.{name}", partitions=1, on_truncate="delete")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_table_name_is_one_quoted_identifier(name: str) -> None:
    quoted = table_identifier(table(name)).as_string(None)
    assert quoted == '"public"."' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("name", HOSTILE)
def test_a_publication_statement_cannot_be_broken_out_of(name: str) -> None:
    plain = Pipeline.model_validate(
        {"name": "shop", "source": {"database": "d"}, "tables": ["public.a"]}
    )
    pipeline = plain.model_copy(update={"tables": [table(name)]})
    quoted = '"public"."' + name.replace('"', '""') + '"'
    assert _set_tables(pipeline).as_string(None) == (
        f'ALTER PUBLICATION "shop_cdc" SET TABLE ONLY {quoted}'
    )
    assert f"FOR TABLE ONLY {quoted} WITH (" in _create(pipeline).as_string(None)


def test_a_password_is_cut_out_of_a_statement_that_is_shown() -> None:
    statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(sql.Identifier("r"), "canary")
    assert shown(statement) == "ALTER ROLE \"r\" PASSWORD '…'"

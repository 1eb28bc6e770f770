"""pipeline.yaml: what loads, and how each mistake is reported."""

import pickle
from pathlib import Path

import pytest

from cdc.config import Kafka, OpenSearchSink, Pipeline, Source, Table, load_pipeline
from cdc.config.load import PipelineFileError, parse_pipeline
from cdc.errors import ConfigError

GOOD = """\
name: shop
source:
  database: shop
tables:
  - public.orders
  - name: public.customers
    partitions: 8
    on_truncate: refuse
sinks:
  search: {type: opensearch}
views:
  - {name: orders, table: public.orders, sink: search}
"""
EXTERNAL = """\
name: shop
source: {host: db, database: shop, password: "env:CDC_SOURCE_PASSWORD"}
kafka: {bootstrap_servers: "k1:9092,k2:9092"}
connect: {url: "http://connect:8083", source_password: "${env:CDC_SOURCE_PASSWORD}"}
tables: [public.orders]
"""


def complaints(text: str) -> list[str]:
    """Return each problem as `line: what; advice`."""
    with pytest.raises(PipelineFileError) as caught:
        parse_pipeline(text)
    return [f"{p.line}: {p.what}; {p.advice}" for p in caught.value.problems]


def only(text: str) -> str:
    found = complaints(text)
    assert len(found) == 1, found
    return found[0]


def test_a_small_file_gets_the_documented_defaults() -> None:
    pipeline = parse_pipeline(GOOD)
    assert pipeline.source.user == "cdc_capture"
    assert pipeline.source.sslmode == "prefer"
    assert (pipeline.slot_name, pipeline.publication_name) == ("shop_cdc", "shop_cdc")
    assert pipeline.tables[0] == Table(name="public.orders", partitions=4, on_truncate="delete")
    assert pipeline.tables[1].partitions == 8
    assert isinstance(pipeline.sinks["search"], OpenSearchSink)
    assert pipeline.kafka == Kafka(bootstrap_servers=None, replication_factor=1)


def test_a_table_knows_its_parts_and_its_topic() -> None:
    pipeline = parse_pipeline(GOOD)
    table = Table(name="public.orders")
    assert (table.schema_name, table.table_name) == ("public", "orders")
    assert pipeline.topic_for(table) == "shop.public.orders"


def test_a_topic_has_an_underscore_for_what_kafka_does_not_allow() -> None:
    pipeline = parse_pipeline(GOOD)
    assert pipeline.topic_for(Table(name="public.Order Items/ü")) == "shop.public.Order_Items__"
    assert pipeline.topic_for(Table(name="public.a😀-b")) == "shop.public.a__-b"


def test_a_file_with_every_address_given_loads() -> None:
    assert parse_pipeline(EXTERNAL).connect.source_password == "${env:CDC_SOURCE_PASSWORD}"


def test_an_optional_section_whose_lines_are_commented_out_is_no_mistake() -> None:
    assert parse_pipeline(f"{GOOD}kafka:\n  # replication_factor: 3\nconnect:\n").kafka == Kafka()


def test_models_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        parse_pipeline(GOOD).name = "other"  # type: ignore[misc]


def test_a_pipeline_made_of_models_is_checked_by_the_same_rules() -> None:
    table = Table(name="public.orders")
    source = Source(database="shop")
    assert Pipeline(name="shop", source=source, tables=[table]).tables == [table]
    with pytest.raises(ValueError, match="listed twice"):
        Pipeline(name="shop", source=source, tables=[table, table])


def test_an_unknown_key_is_refused_with_the_nearest_known_one_and_its_place(
    tmp_path: Path,
) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(GOOD + "tabels: []\n")
    with pytest.raises(ConfigError) as caught:
        load_pipeline(file)
    assert caught.value.message == f"unknown key `tabels` at {file}:13; did you mean `tables`?"
    assert "cdc" in caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("partitions: 8", "partitons: 8", "7: unknown key `partitons`; did you mean `partitions`?"),
        ("database: shop", "databse: shop", "3: unknown key `databse`; did you mean `database`?"),
        ("{type: opensearch}", "{type: opensearch, ulr: x}", "did you mean `url`?"),
        ("sink: search}", "sink: search, tabel: x}", "did you mean `table`?"),
        ("name: shop", "name: shop\nzzz: 1", "2: unknown key `zzz`; known keys: connect, kafka"),
    ],
)
def test_unknown_keys_are_refused_at_every_depth(old: str, new: str, told: str) -> None:
    assert any(told in each for each in complaints(GOOD.replace(old, new, 1)))


def test_all_problems_of_a_file_are_reported_at_once() -> None:
    text = (
        GOOD.replace("name: shop", "name: Shop")
        .replace("partitions: 8", "partitions: 0")
        .replace("public.customers", "public.orders")
        .replace("sink: search}", "sink: serach}")
    )
    told = "\n".join(complaints(text + "name: again\n"))
    for part in (
        "1: `name` is not valid",
        "6: table `public.orders` is listed twice",
        "7: `tables[1].partitions` should be greater",
        "12: view `orders` names the unknown sink `serach`; did you mean `search`?",
        "13: key `name` is given twice; the first is in line 1",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("table: public.orders", "table: public.order", "known tables: public.orders, public.cust"),
        ("sink: search}", "sink: zzz}", "names the unknown sink `zzz`; known sinks: search"),
        (
            "views:",
            "views:\n  - {name: orders, table: public.orders, sink: search}",
            "listed twice",
        ),
        ("{type: opensearch}", "{type: opensearhc}", "unknown type of sink in `sinks.search`"),
        ("{type: opensearch}", "{}", "key `type` is missing in `sinks.search`"),
        ("  database: shop", "  database: no", "must be text, not true or false; put quotes"),
        ("- public.orders", "- orders", "`tables[0]` is not valid; write schema.table"),
        ("- public.orders", "- a.b.c", "`tables[0]` is not valid; write schema.table"),
        ("on_truncate: refuse", "on_truncate: ignore", "should be 'delete' or 'refuse'"),
        ("partitions: 8", 'partitions: "8"', "must be a whole number, not text"),
        ("partitions: 8", "partitions: true", "must be a whole number, not true or false"),
        ("  search: {", "  Search: {", "`sinks.Search` is not valid"),
        ("  database: shop", "  database: shop\n  slot: My-Slot", "4: `source.slot` is not valid"),
        ("  database: shop", f"  database: shop\n  slot: {'x' * 64}", "1 to 63 of a-z"),
        ("  database: shop", "  database: shop\n  port: 6543", "no effect without `source.host`"),
        ("  database: shop", "  database: shop\n  host: db", "`source.password` is required"),
        ("  database: shop", "  database: shop\n  admin_user: me", "needs its password"),
        ("  database: shop", "  database: s\n  admin_password: env:X", "belongs to `source.admin_"),
        ("name: shop", "name: 1shop", "a letter first, at most 31"),
        ("name: shop", f"name: {'s' * 32}", "a letter first, at most 31"),
        ("name: shop\n", "", "key `name` is missing; Names everything"),
    ],
)
def test_each_mistake_is_told_with_what_to_do(old: str, new: str, told: str) -> None:
    assert any(told in each for each in complaints(GOOD.replace(old, new, 1)))


@pytest.mark.parametrize(
    ("cut", "told"),
    [
        (', password: "env:CDC_SOURCE_PASSWORD"', "2: `source.password` is required when"),
        (', source_password: "${env:CDC_SOURCE_PASSWORD}"', "4: `connect.source_password` is req"),
        ('bootstrap_servers: "k1:9092,k2:9092"', "`kafka.bootstrap_servers` is required when"),
        ('url: "http://connect:8083", ', "`connect.url` is required when `kafka.bootstrap_"),
    ],
)
def test_addresses_that_leave_a_gap_between_your_programs_and_ours_are_refused(
    cut: str, told: str
) -> None:
    assert cut in EXTERNAL
    assert any(told in each for each in complaints(EXTERNAL.replace(cut, "")))


def test_your_own_connect_cannot_read_the_password_our_postgres_generates() -> None:
    given = 'host: db, database: shop, password: "env:CDC_SOURCE_PASSWORD"'
    text = EXTERNAL.replace(given, "database: shop")
    assert "`source.password` is required when `connect.url` is given" in only(text)


@pytest.mark.parametrize(
    "line",
    [
        "source_password: hunter2",
        "source_password: '${hunter2}'",
        "source_password: env:CDC_SOURCE_PASSWORD",
    ],
)
def test_connects_own_reference_must_be_one(line: str) -> None:
    text = EXTERNAL.replace('source_password: "${env:CDC_SOURCE_PASSWORD}"', line)
    told = only(text)
    assert "never the password itself" in told
    assert "hunter2" not in told


@pytest.mark.parametrize(
    ("url", "valid"),
    [
        ("http://connect:8083", True),
        ("https://connect/path", True),
        ("connect:8083", False),
        ("ftp://connect", False),
        ("http://me:hunter2@connect:8083", False),
    ],
)
def test_an_address_is_an_address_without_a_login(url: str, valid: bool) -> None:  # noqa: FBT001
    text = EXTERNAL.replace("http://connect:8083", url)
    if valid:
        assert parse_pipeline(text).connect.url == url
    else:
        told = only(text)
        assert "4: `connect.url`" in told
        assert "hunter2" not in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("name: [", "not valid YAML"),
        ("a: b: c", "1: not valid YAML"),
        ("\tname: shop", "not valid YAML"),
        ("name: shop\n---\nname: shop\n", "not valid YAML"),
        ("a: &x 1\nb: *x\n", "2: anchors and aliases are not supported"),
        ("a: &x [*x]\n", "1: anchors and aliases are not supported"),
        ("[" * 3000, "nested too deeply"),
        ("name: !!python/object:os.system x", "1: tags are not supported"),
        ("? [a]\n: b\n", "1: a key must be plain text"),
        ("just text", "the file must be keys and values, not text"),
        ("- a\n- b\n", "the file must be keys and values, not a list"),
        ("name: \x00", "not valid YAML"),
    ],
)
def test_what_is_not_a_settings_file_is_refused(text: str, told: str) -> None:
    assert any(told in each for each in complaints(text))


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null\n"])
def test_an_empty_file_points_to_init(text: str) -> None:
    with pytest.raises(ConfigError, match="is empty") as caught:
        parse_pipeline(text)
    assert "cdc init" in caught.value.hint


def test_a_missing_file_points_to_init(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no") as caught:
        load_pipeline(tmp_path / "pipeline.yaml")
    assert caught.value.hint.startswith("cdc init")


def test_a_file_that_cannot_be_read_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read"):
        load_pipeline(tmp_path)
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_pipeline(binary)


def test_a_file_error_survives_a_process_boundary() -> None:
    with pytest.raises(PipelineFileError) as caught:
        parse_pipeline("name: [")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.message, copy.hint) == (caught.value.message, caught.value.hint)

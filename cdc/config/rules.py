"""Rules between the sections of `pipeline.yaml`, over its raw content.

Raw, because a mistake in one section must not hide a mistake between two others: every
function here takes whatever YAML can hold and says only what it is sure of.
"""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from cdc.config.section import Broken, entries, section


def nearest(word: str, known: list[str]) -> str | None:
    """Return the known word most like `word`, if any is alike."""
    return next(iter(get_close_matches(word, known, n=1, cutoff=0.6)), None)


def duplicates(raw: Mapping[str, Any], key: str, what: str) -> Iterator[Broken]:
    """Refuse a name that stands twice in the list under `key`."""
    first: dict[str, int] = {}
    for index, entry in entries(raw, key):
        name = _name(entry)
        if name is None:
            continue
        if name in first:
            where = (key, index) if isinstance(entry, str) else (key, index, "name")
            yield Broken(where, f"{what} `{name}` is listed twice", "remove one")
        first.setdefault(name, index)


def unknown_references(raw: Mapping[str, Any]) -> Iterator[Broken]:
    """Refuse views of a table or in a sink that the file does not declare."""
    tables = [name for _, entry in entries(raw, "tables") if (name := _name(entry))]
    sinks = [name for name in section(raw, "sinks") if isinstance(name, str)]
    for index, view in entries(raw, "views"):
        if not isinstance(view, dict):
            continue
        for key, known in (("table", tables), ("sink", sinks)):
            name = view.get(key)
            if isinstance(name, str) and name not in known:
                what = f"view `{_name(view)}` names the unknown {key} `{name}`"
                yield Broken(("views", index, key), what, _known(key, name, known))


def mixed_stack(raw: Mapping[str, Any]) -> Iterator[Broken]:
    """Refuse addresses that leave one program of ours talking to the wrong one of yours."""
    source, kafka, connect = (section(raw, key) for key in ("source", "kafka", "connect"))
    url, brokers = connect.get("url"), kafka.get("bootstrap_servers")
    if url is not None and connect.get("source_password") is None:
        yield Broken(
            ("connect", "url"),
            "`connect.source_password` is required when `connect.url` is given",
            "add `source_password: ${env:CDC_SOURCE_PASSWORD}`, a reference the worker can resolve",
        )
    if url is None and connect.get("source_password") is not None:
        yield Broken(
            ("connect", "source_password"),
            "`connect.source_password` has no effect without `connect.url`",
            "remove it or add `url:`",
        )
    if url is not None and source.get("host") is None and source.get("password") is None:
        yield Broken(
            ("connect", "url"),
            "`source.password` is required when `connect.url` is given, since that worker cannot "
            "read the one the embedded stack generates",
            "add `password: env:CDC_SOURCE_PASSWORD` under `source:`",
        )
    # A Connect worker writes to the brokers it was started with, and to no others.
    if brokers is not None and url is None:
        yield Broken(
            ("kafka", "bootstrap_servers"),
            "`connect.url` is required when `kafka.bootstrap_servers` is given, since the "
            "embedded Connect writes to the embedded Kafka only",
            "add `url:` under `connect:`",
        )
    if url is not None and brokers is None:
        yield Broken(
            ("connect", "url"),
            "`kafka.bootstrap_servers` is required when `connect.url` is given",
            "name the brokers that this Connect writes to",
        )


def _name(entry: Any) -> str | None:
    name = entry.get("name") if isinstance(entry, dict) else entry
    return name if isinstance(name, str) else None


def _known(key: str, name: str, known: list[str]) -> str:
    if not known:
        return f"the file declares no {key}s"
    like = nearest(name, known)
    listed = f"known {key}s: {', '.join(dict.fromkeys(known))}"
    return f"did you mean `{like}`? ({listed})" if like else listed

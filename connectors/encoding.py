"""How a row is written into the topic: the part of Debezium's settings that decides the bytes.

Decided by experiment, type by type; the table and the reasons are in `cdc/types/README.md`. A
change here changes what every view reads, and makes old and new records of one topic differ.
"""

_JSON = "org.apache.kafka.connect.json.JsonConverter"

VALUE_ENCODING: dict[str, str] = {
    # Text wherever a number would lose something: digits, months, years beyond 64 bits.
    "time.precision.mode": "isostring",
    "decimal.handling.mode": "string",
    "interval.handling.mode": "string",
    "hstore.handling.mode": "json",
    # In JSON this is base64 as well; but the mode `base64` writes null where a large value was not
    # touched by an update, and null is a value.
    "binary.handling.mode": "bytes",
    # A type Debezium does not know travels as its own text instead of being left out.
    "include.unknown.datatypes": "true",
    # The default puts null where a value cannot be converted, and goes on.
    "event.converting.failure.handling.mode": "fail",
    # Values are read as text in these formats. A database or role with other defaults would have
    # intervals arrive as zero, floats rounded and bytes garbled, without an error.
    "driver.options": "-c DateStyle=ISO -c IntervalStyle=postgres -c bytea_output=hex "
    "-c extra_float_digits=1 -c lc_monetary=C",
    "schema.name.adjustment.mode": "none",
    "field.name.adjustment.mode": "none",
    "key.converter": _JSON,
    "key.converter.schemas.enable": "false",
    "key.converter.replace.null.with.default": "false",
    "value.converter": _JSON,
    "value.converter.schemas.enable": "false",
    # The default, in both places, writes a column's DEFAULT where the row holds NULL.
    "value.converter.replace.null.with.default": "false",
    "transforms.unwrap.replace.null.with.default": "false",
}

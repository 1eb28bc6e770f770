"""The starting state of a view and its rebuilding: parallel copy, hand-over to the stream, verify.

Uses `connectors` for the source and a sink's contract for the target, never one concrete sink.
"""

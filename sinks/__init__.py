"""The systems that views live in, one file each: how a batch of changes is written there.

Knows the vocabulary of changes, never Postgres, Kafka Connect or the command line.
"""

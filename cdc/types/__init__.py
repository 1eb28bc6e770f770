"""Postgres values in Debezium's JSON: one codec per type, and what cannot be carried exactly."""

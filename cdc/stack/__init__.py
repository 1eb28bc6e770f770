"""The whole stack as local processes: the same programs as docker-compose.yml, without Docker."""

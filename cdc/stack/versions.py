"""The one place that says which version of each program this project runs and tests.

`docker-compose.yml` names the same ones; a unit test holds the two together.
"""

POSTGRES = "18.6"
KAFKA = "4.3.1"
# 3.6.2.Final loses rows when Connect is killed inside a COPY: its rows share one position, and a
# restart skips what is left of them. This is the first that counts them (`make chaos` proves it).
DEBEZIUM = "3.7.0.Beta1"
OPENSEARCH = "3.8.0"
# The file in the jar is called 6.2.6-v5; the program in it calls itself this.
REDIS = "6.2.11"

# Oldest Java each program starts on.
JAVA_FOR_KAFKA = 17
JAVA_FOR_OPENSEARCH = 21

"""The one place that says which version of each program this project runs and tests.

`docker-compose.yml` names the same ones; a unit test holds the two together.
"""

POSTGRES = "18.6"
KAFKA = "4.3.1"
DEBEZIUM = "3.6.2.Final"
OPENSEARCH = "3.8.0"
# The file in the jar is called 6.2.6-v5; the program in it calls itself this.
REDIS = "6.2.11"

# Oldest Java each program starts on.
JAVA_FOR_KAFKA = 17
JAVA_FOR_OPENSEARCH = 21

"""One log4j configuration for the Java services: readable lines on standard output."""

from pathlib import Path

PROPERTIES = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %p %c{1}: %m%n
rootLogger.level = info
rootLogger.appenderRef.out.ref = out
logger.cleaner.name = org.apache.kafka.storage.internals.log.LogCleaner
logger.cleaner.level = warn
"""


def write_log_settings(home: Path) -> Path:
    """Write the configuration and return where it lies."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / "log4j2.properties"
    path.write_text(PROPERTIES)
    return path

"""Every error this project raises, sorted by what is done about it.

Knows nothing of the rest of the project, so that everything may import it.
"""

from functools import partial


class CdcError(Exception):
    """Something went wrong that we can name; `hint` says what to do about it.

    The command line prints `Error: <message>` and `Try: <hint>` and exits with `exit_code`.
    """

    exit_code = 1

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, tuple[()]]:
        # Errors cross process boundaries (Spark workers), and keyword-only arguments would be lost.
        return partial(type(self), self.message, hint=self.hint), ()


class RetryableError(CdcError):
    """The same call may succeed later: a service is down, busy or restarting."""


class PoisonError(CdcError):
    """One record cannot be applied: park it in the dead-letter topic and go on."""


class FatalError(CdcError):
    """Nothing will get better by itself: stop and show the hint."""


class ConfigError(FatalError):
    """`pipeline.yaml`, an option or the environment is wrong; found before anything was touched."""

    exit_code = 2

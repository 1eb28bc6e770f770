"""Reads `pipeline.yaml` and reports everything that is wrong with it, by file and line."""

from pathlib import Path

from pydantic import ValidationError

from cdc.config.document import Document, Problem, UnreadableError, read_document
from cdc.config.explain import explain
from cdc.config.model import Pipeline
from cdc.errors import ConfigError

START = "cdc init"


class PipelineFileError(ConfigError):
    """The file has problems; `problems` lists them for programs, the message for people."""

    def __init__(
        self, message: str, *, hint: str, path: str = "", problems: tuple[Problem, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.path = path
        self.problems = problems


def load_pipeline(path: Path) -> Pipeline:
    """Read and check the file at `path`. Raises ConfigError with every problem found in it."""
    return parse_pipeline(_read(path), str(path))


def parse_pipeline(text: str, name: str = "pipeline.yaml") -> Pipeline:
    """Check the text of a pipeline file; `name` is what errors call it."""
    try:
        document = read_document(text)
    except UnreadableError as error:
        raise _refusal(name, [error.problem]) from None
    if document.data is None and not document.problems:
        raise PipelineFileError(f"{name} is empty", hint=f"{START} --force", path=name)
    return _validate(document, name)


def _validate(document: Document, name: str) -> Pipeline:
    problems = list(document.problems)
    pipeline = None
    try:
        pipeline = Pipeline.model_validate(document.data)
    except ValidationError as error:
        problems += explain(error, document)
    if pipeline is None or problems:
        # `from None`: pydantic's own report would repeat what stands in the file.
        raise _refusal(name, problems) from None
    return pipeline


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"there is no {path}", hint=f"{START} --file {path}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text", hint="save it as UTF-8") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"cannot read {path}: {reason}", hint=f"ls -l {path}") from None


def _refusal(name: str, problems: list[Problem]) -> PipelineFileError:
    ordered = sorted(problems, key=lambda problem: problem.line or 0)
    lines = [describe(problem, name) for problem in ordered]
    message = lines[0] if len(lines) == 1 else f"{len(lines)} problems in {name}"
    return PipelineFileError(
        "\n  - ".join([message, *lines]) if len(lines) > 1 else message,
        hint=f"correct the file, then `cdc --file {name} config check`",
        path=name,
        problems=tuple(ordered),
    )


def describe(problem: Problem, name: str) -> str:
    """Say one problem in one line: what, where, and what to do."""
    place = f" at {name}:{problem.line}" if problem.line else f" in {name}"
    return problem.what + place + (f"; {problem.advice}" if problem.advice else "")

"""What the compiler of templates made in one run is kept for the next: code of templates, and SQL of other engines.

Both follow from the text of a template alone, and are made in every process anew otherwise: 3 ms of a processor each.
They lie in pytest's cache (``--cache-clear`` removes it; ``-p no:cacheprovider`` neither reads nor writes it), below a
hash of all that decides about them: the compiler, the names of templates, Python, jinja2 and sqlglot. A run that
records what tests use, and one that draws anew, keep nothing.
"""

from __future__ import annotations

import hashlib
import marshal
import secrets
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from types import CodeType

import jinja2
import pytest

from sqlanon.sqltext import compile as compiler
from sqlanon.sqltext import template_names

FOLDER = "compiled-sql"
"""In pytest's cache."""
SUFFIX = ".kept"
FILES = 8
"""More files than these are put into one."""
HEAD = 4
"""Bytes of a record's length."""
RANDOM = {getattr(compiler, name): f"_sqlanon_kept{name.lower()}_" for name in ("_SENTINEL", "_ANY_RUN", "_ANY_NAME")}
"""Names that the compiler draws in every process, and what is kept in their place."""


def inputs() -> str:
    """A hash of all that decides what the compiler makes of a text."""
    found = hashlib.sha256(repr((sys.version, version("jinja2"), version("sqlglot"), template_names())).encode())
    for path in (Path(__file__), *sorted(Path(compiler.__file__).parent.glob("*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()[:32]


class KeptSql:
    """Results of the compiler by hashes of its arguments, which processes of one run share while they run.

    Args:
        folder: where results of these `inputs` lie: one file of each process that made new ones.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[bytes, str | bytes] = {}
        self._read: dict[Path, int] = {}
        self._own = folder / f"{secrets.token_hex(8)}{SUFFIX}"
        folder.mkdir(parents=True, exist_ok=True)
        self.read()

    def recall(self, words: tuple[object, ...], make: Callable[[], str | bytes]) -> str | bytes:
        """A result, made where none of these words is kept; an error is kept by nobody."""
        place = hashlib.sha256(_plain(repr(words)).encode()).digest()
        if place not in self._kept:
            self.read()
        if place not in self._kept:
            self._kept[place] = make()
            self._append(place)
        return self._kept[place]

    def read(self) -> None:
        """Read what other processes have written since the last time."""
        for file in self._folder.glob(f"*{SUFFIX}"):
            if file == self._own:
                continue
            start = self._read.get(file, 0)
            with suppress(FileNotFoundError), file.open("rb") as lines:  # one that was joined with others is gone
                lines.seek(start)
                text = lines.read()
                place = 0
                while len(text) - place >= HEAD and len(text) - place - HEAD >= (size := _size(text, place)):
                    self._kept.update([marshal.loads(text[place + HEAD : place + HEAD + size])])
                    place += HEAD + size
                self._read[file] = start + place

    def join(self) -> None:
        """Put the files of many processes into one, before others start."""
        files = list(self._read)
        if len(files) > FILES:
            for place in self._kept:
                self._append(place)
            for file in files:
                file.unlink(missing_ok=True)

    def _append(self, place: bytes) -> None:
        record = marshal.dumps((place, self._kept[place]))
        # Tests count what is open, so that nothing stays open; a forked process may write to the same file. A run of
        # changed code that begins meanwhile removes the folder: then nothing is kept.
        with suppress(FileNotFoundError), self._own.open("ab", buffering=0) as output:
            output.write(len(record).to_bytes(HEAD) + record)

    def translate(self, name: str, text: str, source_dialect: str, dialect: str) -> str:
        """As the compiler's own."""
        words = ("sql", name, text, source_dialect, dialect)
        return _own(str(self.recall(words, lambda: _plain(_translate(name, text, source_dialect, dialect)))))

    def environment(self, source_dialect: str) -> jinja2.Environment:
        """As the compiler's own; it compiles a text once."""
        environment = _environment(source_dialect)
        environment.compile = self._compiler(environment, source_dialect)  # type: ignore[method-assign]
        return environment

    def _compiler(self, environment: jinja2.Environment, source_dialect: str) -> Callable[..., CodeType]:
        make = type(environment).compile

        def compile_text(source: str, name: str | None = None, filename: str | None = None) -> CodeType:
            words = ("template", source_dialect, source, name, filename)
            kept = self.recall(words, lambda: marshal.dumps(make(environment, source, name, filename)))
            code: CodeType = marshal.loads(bytes(kept))  # type: ignore[arg-type]
            return code

        return compile_text


_translate = compiler._translate
_environment = compiler._environment


def _size(text: bytes, place: int) -> int:
    return int.from_bytes(text[place : place + HEAD])


def _plain(text: str) -> str:
    for drawn, kept in RANDOM.items():
        text = text.replace(drawn, kept)
    return text


def _own(text: str) -> str:
    for drawn, kept in RANDOM.items():
        text = text.replace(kept, drawn)
    return text


def keep_sql(config: pytest.Config) -> None:
    """From here on, what the compiler makes is kept."""
    cache = getattr(config, "cache", None)
    if cache is None or config.getoption("--random") or config.pluginmanager.hasplugin("tests.reach_record"):
        return
    place, wanted = cache.mkdir(FOLDER), inputs()
    for folder in place.iterdir():
        if folder.name != wanted:
            shutil.rmtree(folder, ignore_errors=True)
    kept = KeptSql(place / wanted)
    if not hasattr(config, "workerinput"):
        kept.join()
    compiler._translate = lru_cache(maxsize=4096)(kept.translate)
    compiler._environment = lru_cache(maxsize=8)(kept.environment)

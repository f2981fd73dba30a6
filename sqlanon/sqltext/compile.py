"""From a template to a `Statement`.

It is rendered (jinja2) and, for another engine than its own, checked and compiled (`sqlanon.sqltext.trees`).
"""

from __future__ import annotations

import re
import secrets
from functools import lru_cache
from pathlib import Path

import jinja2

from sqlanon.engines.base import Bind, Statement
from sqlanon.errors import TemplateError
from sqlanon.sqltext.dialects import DIALECTS
from sqlanon.sqltext.find import find_added_template, template_path, template_source
from sqlanon.sqltext.quote import identifier, link_of, literal, respell, scratch_table, table_name

# Random, so that no name a user chose can look like them.
_SENTINEL = f"_sqlanon_bind_{secrets.token_hex(8)}_"
_ANY_RUN = f"_sqlanon_run_{secrets.token_hex(8)}_"
_ANY_NAME = f"_sqlanon_name_{secrets.token_hex(8)}_"
_TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|::|:([^\W\d]\w*)""")
"""A literal, a comment or a quoted name, where no placeholder is, or a placeholder."""
_NAMED = re.compile(rf"""["`]{_ANY_NAME}(\d+)_["`]""")
"""A numbered name, with an engine's quotes."""
_MARKS = {"duckdb": "$", "spark": ":"}
"""First character of a placeholder, where the driver does not have Python's."""
_HEADER = re.compile(r"\A(--[^\n]*\n)(?:--[^\n]*\n)+")
"""The comment at the beginning of a template.

It has its name, which an engine shows among running statements, and notes for readers of the file.
"""


@lru_cache(maxsize=8)
def _environment(source_dialect: str) -> jinja2.Environment:
    """Reads templates written in a dialect; they may extend those of ``sql/core``."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _HEADER.sub(r"\1", template_source(name))),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - SQL, not HTML
    )
    environment.filters["ident"] = identifier
    environment.filters["table"] = table_name
    environment.filters["scratch"] = scratch_table
    environment.filters["literal"] = literal
    environment.filters["link_of"] = link_of
    environment.globals["dialect"] = DIALECTS[source_dialect]
    return environment


@lru_cache(maxsize=512)
def _template(path: str, source_dialect: str) -> jinja2.Template:
    return _read(Path(path).read_text(encoding="utf-8"), source_dialect)


@lru_cache(maxsize=128)
def _read_template(text: str) -> jinja2.Template:
    return _read(text, "duckdb")


def _read(text: str, source_dialect: str) -> jinja2.Template:
    template = _environment(source_dialect).from_string(_HEADER.sub(r"\1", text))
    # Every rendering copies them, which takes long from a chain of maps.
    template.globals = dict(template.globals)
    return template


def _compile(name: str, text: str, source_dialect: str, dialect: str) -> str:
    """Check ``text`` and write it in ``dialect``; placeholders become the driver's, a bare % is doubled for psycopg.

    A text in the engine's own dialect is not parsed: the engine does that, and a run of many columns has thousands of
    texts. Another text is parsed once for all quoted names that it may have: columns and runs differ in little else.
    """
    if source_dialect == dialect:
        return _placeholders(text, dialect)
    nameless, names = _without_names(text)
    spelt = [_finish(respell(quoted, dialect), dialect) for quoted in names]
    return _NAMED.sub(lambda match: spelt[int(match[1])], _translate(name, nameless, source_dialect, dialect))


def _without_names(text: str) -> tuple[str, list[str]]:
    """A text whose quoted names are numbered, and these names with their quotes."""
    numbers: dict[str, int] = {}

    def number_token(token: re.Match[str]) -> str:
        if not token[0].startswith('"'):
            return token[0]
        return f'"{_ANY_NAME}{numbers.setdefault(token[0], len(numbers))}_"'

    return _TOKEN.sub(number_token, text), list(numbers)


@lru_cache(maxsize=4096)
def _translate(name: str, text: str, source_dialect: str, dialect: str) -> str:
    # A parser takes long to import, and on DuckDB nothing needs one but queries.
    from sqlanon.sqltext.trees import translate

    return _finish(translate(name, text, source_dialect, dialect, _SENTINEL), dialect)


@lru_cache(maxsize=4096)
def _placeholders(text: str, dialect: str) -> str:
    """Replace ``:name`` outside of quotes, comments and casts; quotes become the engine's."""

    def write_token(token: re.Match[str]) -> str:
        if token[1]:
            return _SENTINEL + token[1]
        return respell(token[0], dialect)

    return _finish(_TOKEN.sub(write_token, text), dialect)


def _finish(text: str, dialect: str) -> str:
    if dialect in _MARKS:
        return re.sub(_SENTINEL + r"(\w+)", rf"{_MARKS[dialect]}\1", text).strip()
    return re.sub(_SENTINEL + r"(\w+)", r"%(\1)s", text.replace("%", "%%")).strip()


def statement(
    name: str,
    dialect: str,
    binds: dict[str, Bind] | None = None,
    *,
    run: str | None = None,
    **context: object,
) -> Statement:
    """Render template ``name`` for an engine.

    Args:
        name: the template, such as ``table/stage``.
        dialect: the engine's dialect.
        binds: values for the template's ``:name`` placeholders.
        run: the random part of the run's scratch names.
        context: parameters listed in the template's header under ``params``: names, tables, numbers, never cell values.

    Raises:
        TemplateError: the template does not parse, or uses syntax outside the allow-list.
    """
    added = find_added_template(name)
    path, written_dialect = template_path(name, dialect) if added is None else (None, "duckdb")
    try:
        text = (_template(str(path), written_dialect) if added is None else _read_template(added)).render(**context)
    except jinja2.UndefinedError as error:
        raise TemplateError(f"template {name} lacks a parameter") from error
    # Scratch names differ from run to run; compiled text is cached without the run's part of them.
    run_prefix = f"_sqlanon_{run}_" if run else _ANY_RUN
    text = _compile(name, text.replace(run_prefix, _ANY_RUN), written_dialect, dialect).replace(_ANY_RUN, run_prefix)
    used_binds = {key: value for key, value in (binds or {}).items() if _uses(text, key, dialect)}
    if not used_binds and dialect == "postgres":
        text = text.replace("%%", "%")
    return Statement(name, text, used_binds)


def _uses(text: str, key: str, dialect: str) -> bool:
    pattern = rf"\{_MARKS[dialect]}{key}\b" if dialect in _MARKS else rf"%\({key}\)s"
    return re.search(pattern, text) is not None

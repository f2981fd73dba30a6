"""Ask every form of the corpus, and compare what is answered with the same SQL over the source.

python -m tests.query_forms.run [--engine duckdb] [--verbose]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from sqlanon.errors import PolicyError, UnsupportedError
from sqlanon.query.answer import Answer, Bounded
from tests.query_forms.people import load

CORPUS = Path(__file__).parent / "corpus.yml"


@dataclass(frozen=True)
class Form:
    """One form: who sends it, its SQL for an engine, values of its parameters, and why it is refused ("": answered)."""

    number: int
    tool: str
    name: str
    sql: str
    parameters: Any
    refused: str


def forms(dialect: str) -> list[Form]:
    """The forms that there are in an engine's dialect."""
    listed = yaml.safe_load(CORPUS.read_text(encoding="utf-8"))["forms"]
    found = []
    for number, one in enumerate(listed, 1):
        text = one.get("sql") or one.get(dialect)
        if text is not None:
            found.append(Form(number, one["tool"], one["form"], text, one.get("parameters"), one.get("refused", "")))
    return found


@dataclass(frozen=True)
class Verdict:
    """What became of a form: its answer or the reason, and what is wrong with it."""

    form: Form
    answer: Answer | None
    reason: str
    problems: tuple[str, ...]

    @property
    def expected(self) -> bool:
        """Whether it is answered, or refused, as the corpus has it."""
        if self.form.refused:
            return self.answer is None and self.form.refused.lower() in self.reason.lower()
        return self.answer is not None


def judge(db: Any, form: Form) -> Verdict:
    """Ask a form, and judge its answer by the source."""
    try:
        answer = db.query(form.sql) if form.parameters is None else db.query(form.sql, parameters=form.parameters)
    except (UnsupportedError, PolicyError) as error:
        return Verdict(form, None, str(error), ())
    except TypeError as error:
        return Verdict(form, None, f"TypeError: {error}", ())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no verdict
        return Verdict(form, None, f"{type(error).__name__}: {error}", (f"{type(error).__name__}",))
    names, rows = truth(db, form)
    return Verdict(form, answer, "", tuple(problems(answer, names, rows, limited="limit" in form.sql.lower())))


def truth(db: Any, form: Form) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
    """The rows of the same text over the source."""
    if db.engine.dialect == "duckdb":
        text = form.sql
        given = form.parameters
        if isinstance(given, Mapping):
            text = _named(text, "$")
        found = db.engine._connection.cursor().execute(text, given)
        return [one[0] for one in found.description], found.fetchall()
    import psycopg

    text, given = form.sql, form.parameters
    if isinstance(given, Mapping):
        text = _named(text.replace("%", "%%"), "%")
    elif given is not None:
        for number in range(len(given), 0, -1):
            text = text.replace(f"${number}", "%s")
        text = text.replace("?", "%s")
    with psycopg.connect(form_url(db)) as connection:
        found = connection.execute(text, given)  # type: ignore[arg-type]
        return [one.name for one in found.description or ()], found.fetchall()


URLS: dict[int, str] = {}


def form_url(db: Any) -> str:
    """The address of a database."""
    return URLS[id(db)]


def _named(text: str, mark: str) -> str:
    import re

    return re.sub(r"(?<!:):([a-z]+)", r"$\1" if mark == "$" else r"%(\1)s", text)


def problems(answer: Answer, names: Sequence[str], rows: Sequence[tuple[Any, ...]], *, limited: bool) -> Iterator[str]:
    """What an answer says that the source does not."""
    names = [name for name in names if name != "person"]  # an identifier, which no release has
    if len(names) != len(answer.columns):
        yield f"columns {answer.columns}, in the source {names}"
        return
    keys = [i for i, name in enumerate(answer.columns) if name not in answer.aggregates]
    listed: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for row in rows:
        listed.setdefault(tuple(_plain(row[i]) for i in keys), []).append(row)
    seen = set()
    for row, sure in zip(answer.rows, answer.certain, strict=True):
        key = tuple(_plain(row[answer.columns[i]]) for i in keys)
        seen.add(key)
        true = listed.get(key, [])
        if not true and sure:
            yield f"group {key} is called certain"
        if len(true) == 1:
            for i, name in enumerate(answer.columns):
                cell = row[name]
                if isinstance(cell, Bounded) and not _holds(cell, true[0][i]):
                    yield f"{name} of {key}: {true[0][i]} is not in {cell.low}..{cell.high}"
    if not limited and not answer.unlisted_groups:
        yield from (f"group {key} is missing" for key in listed if key not in seen)


def _holds(cell: Bounded, value: Any) -> bool:
    if value is None:
        return cell.undefined_possible or (cell.low is None and cell.high is None)
    value = _plain(value)
    for bound, sign in ((cell.low, 1), (cell.high, -1)):
        if bound is None:
            continue
        end = _plain(bound)
        if isinstance(value, float) and isinstance(end, float):
            if (value - end) * sign < -1e-6 * max(1.0, abs(value)):
                return False
        elif (value < end) if sign > 0 else (value > end):
            return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()[:10] if value.time().isoformat() == "00:00:00" else value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float | Decimal):
        return float(value)
    return str(value)


def _show(one: Verdict, *, rows: bool) -> None:
    said = "answered" if one.answer is not None else f"refused: {one.reason.splitlines()[0]}"
    print(f"  {one.form.number:3} {one.form.tool}: {one.form.name}: {said}")
    print(f"      {one.form.sql}")
    for problem in one.problems[:4]:
        print(f"      WRONG {problem}")
    for row in one.answer.rows[:6] if rows and one.answer is not None else ():
        print("     ", {k: (v.estimate, v.low, v.high) if isinstance(v, Bounded) else v for k, v in row.items()})


def main(words: list[str] | None = None) -> int:
    """Judge the corpus, and print a table of verdicts; 1 if anything is unsound or not as expected."""
    import sqlanon
    from tests.engines import PAIR

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", choices=["duckdb", "postgres"])
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only", type=int, nargs="*")
    args = parser.parse_args(words)
    bad = 0
    for engine in PAIR:
        if args.engine not in (None, engine.family, engine.family.replace("postgresql", "postgres")):
            continue
        with tempfile.TemporaryDirectory() as folder, sqlanon.connect(url := engine.fresh(Path(folder))) as db:
            URLS[id(db)] = url
            load(db)
            verdicts = [judge(db, one) for one in forms(db.engine.dialect) if not args.only or one.number in args.only]
            answered = sum(one.answer is not None for one in verdicts)
            expected = sum(one.expected for one in verdicts)
            wrong = sum(bool(one.problems) for one in verdicts)
            print(f"{engine.family}: {answered} of {len(verdicts)} answered, {expected} as expected, {wrong} wrong")
            for one in verdicts:
                if not one.expected or one.problems or args.verbose:
                    _show(one, rows=args.verbose)
            bad += wrong + len(verdicts) - expected
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())

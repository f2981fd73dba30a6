"""The check of tokens: at least k of them are alike to a reader of all published tables of their scope.

Tokens link the rows of a person, in a table and across tables. A reader who knows quasi values and numbers of rows can
compare the signatures of tokens: per table of the scope the published quasi cells, each with the number of rows, and,
if events have tokens as well, which rows belong to the same event. The queries here read the written tables, and trust
no method.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from sqlanon.engines.base import Engine, Relation, TableRef
from sqlanon.engines.rows import read_integer
from sqlanon.errors import PrivacyViolation
from sqlanon.formats import Grouping
from sqlanon.privacy.base import Requirement
from sqlanon.privacy.kanonymity.requirement import KAnonymity
from sqlanon.privacy.persons import Persons
from sqlanon.privacy.requirements import make_requirements, read_stored
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.metadata import COLUMNS
from sqlanon.release.catalog.private_tables import private_table
from sqlanon.release.catalog.state import ReleaseState
from sqlanon.release.catalog.views import metadata_table
from sqlanon.results import RequirementResult
from sqlanon.spec import ReleaseSpec
from sqlanon.sqltext import statement
from sqlanon.table.scratch import Scratch

NAME = "tokens alike"
"""The name of the requirement in reports."""
SIGN = "_sqlanon_sign"


@dataclass(frozen=True, slots=True)
class TokenTable:
    """A published table with tokens, and the promises of the policy.

    Attributes:
        table: place of the rows.
        token: column of the persons' tokens.
        classes: columns that come from the class.
        k: least number of tokens that are alike in the table.
        sensitive: sensitive columns.
        requirements: requirements on rows and on persons (tokens).
        event: column of the events' tokens; None without them.
    """

    table: TableRef
    token: str
    classes: tuple[str, ...]
    k: int
    sensitive: tuple[str, ...]
    requirements: tuple[Requirement, ...]
    event: str | None = None

    @property
    def key(self) -> str:
        """Events of equal names are joined."""
        return (self.event or "").lower()

    def measure(self, scratch: Scratch, signs: TableRef, *, together: bool) -> list[RequirementResult]:
        """Results for the rows of tokens that are alike.

        ``together``: in several tables, over which k is asked of tokens alone.
        """
        requirements = [
            requirement
            for requirement in self.requirements
            if not (together and isinstance(requirement, KAnonymity | Persons))
        ]
        if not requirements:
            return []
        signed = scratch.table("signed")
        columns = dict.fromkeys((*self.classes, *self.sensitive, self.token))
        scratch.execute(
            "verify/signed",
            signed=signed,
            target=self.table,
            signs=signs,
            token=self.token,
            columns=list(columns),
        )
        grouping = Grouping(signed, (*self.classes, SIGN), persons=(self.token,))
        results = [
            requirement.result(grouping.measure(scratch.engine, requirement, self.sensitive))
            for requirement in requirements
        ]
        scratch.drop(signed)
        return [replace(result, name=f"{result.name}, {NAME}") for result in results]


def describe_table(spec: ReleaseSpec, table: TableRef, classes: Sequence[str], names: Sequence[str]) -> TokenTable:
    """A table of a release that is being made or audited; ``names``: the columns."""
    spelled = {name.lower(): name for name in names}
    tokens = [spelled[column.name.lower()] for column in spec.with_role("pseudonym")]
    sensitive = tuple(spelled[column.name.lower()] for column in spec.with_role("sensitive"))
    assert spec.token is not None
    token = spelled[spec.token.name.lower()]
    requirements = make_requirements(spec.privacy, sensitive, (token,), spec.columns)
    return TokenTable(
        table,
        token,
        tuple(classes),
        spec.privacy.k,
        sensitive,
        requirements,
        next((name for name in tokens if name != token), None),
    )


def scope_of(entry: Entry) -> str | None:
    """Scope of a version's tokens, by the policy in the catalog; None without tokens."""
    pseudonym = _person(entry.policy)
    return None if pseudonym is None else str(pseudonym.get("scope") or entry.release)


def _person(policy: Mapping[str, Any]) -> Mapping[str, Any] | None:
    persons = {str(name).lower() for name in policy.get("person") or ()}
    tokens = (
        column
        for column in policy["columns"]
        if column["role"] == "pseudonym" and str(column["name"]).lower() in persons
    )
    return next(tokens, None)


@dataclass(slots=True)
class Siblings:
    """Tables that are published together: each is checked with the tables before it, and the last with all.

    Attributes:
        names: their releases.
        before: the versions that readers have now.
        made: tables whose classes are made, not yet published.
        written: tables that the publishing transaction has written.
    """

    names: tuple[str, ...]
    before: tuple[Entry, ...] = ()
    made: list[TokenTable] = field(default_factory=list)
    written: list[TokenTable] = field(default_factory=list)


def list_others(engine: Engine, scope: str | None, releases: Sequence[str]) -> list[TokenTable]:
    """The tables that releases other than these have published in a scope."""
    return [
        read_shown(engine, entry)
        for entry in (Catalog(engine).entries(statuses=("published",)) if scope is not None else ())
        if entry.release not in releases and not entry.file and scope_of(entry) == scope
    ]


def read_shown(engine: Engine, entry: Entry) -> TokenTable:
    """The table of a version, by its metadata."""
    table = private_table(engine, entry.physical)
    query = statement(
        "query/metadata",
        engine.dialect,
        metadata=metadata_table(table),
        columns=[name for name, _ in COLUMNS],
    )
    rows = engine.fetch(query)
    classes = [name for row in rows if row[1] == "quasi" for name in json.loads(str(row[5]))]
    pseudonym = _person(entry.policy)
    assert pseudonym is not None
    tokens = [str(row[0]) for row in rows if row[1] == "pseudonym"]
    token = next(name for name in tokens if name.lower() == str(pseudonym["name"]).lower())
    sensitive = tuple(str(row[0]) for row in rows if row[1] == "sensitive")
    privacy = read_stored(entry.policy["privacy"])
    requirements = make_requirements(privacy, sensitive, (token,))
    return TokenTable(
        table,
        token,
        tuple(classes),
        privacy.k,
        sensitive,
        requirements,
        next((name for name in tokens if name != token), None),
    )


def hold_scope(engine: Engine, scope: str | None) -> AbstractContextManager[None]:
    """Lock a scope: other runs would be checked together with tables that this run replaces."""
    return nullcontext() if scope is None else engine.lock(f"pseudonyms of scope {scope}")


def number_signatures(scratch: Scratch, tables: Sequence[TokenTable], name: str = "signs") -> TableRef:
    """A scratch table (token, sign): equal signs for tokens of equal signatures over all of these tables.

    Cost: a sort of each table by its cells, and groupings of all rows by token.
    """
    signs = scratch.table(name)
    scratch.execute("verify/signs", signs=signs, tables=list(tables))
    return signs


def find_signatures(scratch: Scratch, state: ReleaseState, siblings: Siblings | None = None) -> TableRef | None:
    """Signatures of tokens in the other tables of a release's scope; None without such tables."""
    names = siblings.names if siblings else (state.spec.name,)
    beside = list_others(state.engine, state.spec.scope, names)
    beside += siblings.made if siblings else []
    return number_signatures(scratch, beside, "elsewhere") if beside else None


def count_alike(scratch: Scratch, table: TableRef, k: int) -> tuple[int, int]:
    """The fewest tokens that share a signature, and the number of tokens with a signature that fewer than k share."""
    reached, failing = scratch.fetch("verify/alike", {"asked": k}, signs=table)[0]
    return read_integer(reached), read_integer(failing)


def count_shared_events(scratch: Scratch, tables: Sequence[TokenTable]) -> int:
    """Number of event tokens that belong to several persons."""
    with_events = [table for table in tables if table.event is not None]
    return scratch.count("verify/shared_events", tables=with_events) if with_events else 0


def measure_tokens(scratch: Scratch, published: TokenTable, beside: Sequence[TokenTable]) -> list[RequirementResult]:
    """Measure tokens that are alike, in a table by itself and together with the other tables of the scope.

    By itself, the table needs k tokens alike and must meet the other requirements. Together, the least k of all these
    tables applies, and each table must meet its policy's requirements on the values of rows.
    """
    tables = [published, *beside]
    shared = count_shared_events(scratch, tables)
    events = [RequirementResult("persons of an event", published.event, 1, 2, satisfied=False)] if shared else []
    alone = number_signatures(scratch, [published])
    reached, _ = count_alike(scratch, alone, published.k)
    results = [RequirementResult(NAME, published.token, published.k, reached, reached >= published.k)]
    values = published.measure(scratch, alone, together=False)
    if beside:
        together, k = number_signatures(scratch, tables, "signs_together"), min(table.k for table in tables)
        reached, _ = count_alike(scratch, together, k)
        results.append(RequirementResult(f"{NAME} in {len(tables)} tables", published.token, k, reached, reached >= k))
        for table in tables:
            values += table.measure(scratch, together, together=True)
        scratch.drop(together)
    scratch.drop(alone)
    return [*results, *events, *(result for result in values if not result.satisfied)]


def verify_tokens(
    scratch: Scratch, state: ReleaseState, physical: Relation, classes: Sequence[str], siblings: Siblings | None = None
) -> tuple[tuple[RequirementResult, ...], tuple[str, ...]]:
    """Check a written table by itself, and with the other tables of the scope; nothing without tokens.

    Warnings describe the findings of a reader of the earlier versions. ``classes``: columns that come from the class.

    Raises:
        PrivacyViolation: fewer than k tokens are alike, or another requirement does not hold among those that are.
    """
    spec = state.spec
    if spec.token is None:
        return (), ()
    table = describe_table(spec, physical.ref, classes, [column.name for column in physical.columns])
    joined = siblings or Siblings((spec.name,), (state.published,) if state.published else ())
    if len(joined.written) == len(joined.names):
        joined.written.clear()  # all of them were checked, and are read back from where they were published
    beside = list_others(state.engine, spec.scope, joined.names) + joined.written
    tokens = measure_tokens(scratch, table, beside)
    for result in tokens:
        if not result.satisfied:
            raise PrivacyViolation(
                f"{result.title}: asked {result.asked:g}, reached {result.reached:g}; nothing was published"
            )
    joined.written.append(table)
    whole = len(joined.written) == len(joined.names)
    return tuple(tokens), compare_versions(scratch, state, table, beside, joined.before) if whole else ()


def audit_tokens(
    engine: Engine, relation: Relation, entry: Entry | None, spec: ReleaseSpec
) -> tuple[RequirementResult, ...]:
    """The same check of a published table by the policy, together with the tables now published in the scope."""
    if spec.token is None:
        return ()
    names = [column.name for column in relation.columns]
    roles = {item.name.lower(): item.role for item in spec.columns}
    classes = [name for name in names if roles.get(name.lower()) not in ("sensitive", "insensitive", "pseudonym")]
    table = describe_table(spec, relation.ref, classes, names)
    beside = [] if entry is None else list_others(engine, spec.scope, [spec.name])
    with Scratch(engine) as scratch:
        return tuple(measure_tokens(scratch, table, beside))


def refuse_together(engine: Engine, entry: Entry) -> None:
    """Check an earlier version together with the tables now published in the scope.

    Raises:
        PrivacyViolation: fewer than k tokens are alike, or another requirement does not hold among those that are.
    """
    beside = list_others(engine, scope_of(entry), [entry.release])
    if not beside:
        return
    with Scratch(engine) as scratch:
        wrong = [
            result for result in measure_tokens(scratch, read_shown(engine, entry), beside) if not result.satisfied
        ]
    if wrong:
        raise PrivacyViolation(
            f"{entry.release}: version {entry.version} would not hold together with what is published in scope "
            f"{scope_of(entry)} now: {wrong[0].title}: asked {wrong[0].asked:g}, reached {wrong[0].reached:g}; run the "
            "release again instead"
        )


def compare_versions(
    scratch: Scratch, state: ReleaseState, published: TokenTable, beside: Sequence[TokenTable], before: Sequence[Entry]
) -> tuple[str, ...]:
    """Warning of readers who kept the earlier versions: a person has the same token in both.

    Raises:
        PrivacyViolation: such a reader finds more tokens than ``history.max_failing`` allows.
    """
    spec = state.spec
    most = spec.refresh.max_failing
    same_scope = [entry for entry in before if scope_of(entry) == spec.scope]
    if spec.rotates or not same_scope:
        return ()
    number = ", ".join(
        f"version {entry.version}" + (f" of {entry.release}" if len(before) > 1 else "") for entry in same_scope
    )
    if any(entry.file or not state.exists(private_table(state.engine, entry.physical)) for entry in same_scope):
        return (
            (
                f"tokens link this version with {number}, whose rows are in another file: what both reveal together "
                "is not measured"
            ),
        )
    earlier = [read_shown(state.engine, entry) for entry in same_scope]
    signatures = number_signatures(scratch, [published, *beside, *earlier], "signs_of_versions")
    k = min(spec.privacy.k, *(table.k for table in beside)) if len(before) > 1 else spec.privacy.k
    reached, failing = count_alike(scratch, signatures, k)
    if most is not None and failing > most:
        raise PrivacyViolation(
            f"{spec.name}: a reader who kept {number} would find {failing} tokens among fewer than {k} that are alike "
            f"in both, and history.max_failing allows {most}; nothing was published"
        )
    if not failing:
        return ()
    warning = (
        f"tokens link this version with {number}: a reader of both finds {failing} tokens among fewer than {k} that "
        f"are alike, the fewest among {reached}; bound it with history: max_failing, or give readers one version each"
    )
    return (warning,)

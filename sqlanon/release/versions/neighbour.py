"""The release of rows that readers of counts have as well (``together``): whether its classes can be one system."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from sqlanon.column_spec import ColumnSpec
from sqlanon.errors import GuardError, PolicyError, UnsupportedError
from sqlanon.release.catalog.catalog import Catalog
from sqlanon.release.catalog.entry import Entry
from sqlanon.release.catalog.places import VIEWS, place_of
from sqlanon.release.catalog.refresh import link_columns_of, read_fingerprint
from sqlanon.release.catalog.state import SHOWN, ReleaseState
from sqlanon.release.catalog.views import form_of, metadata_table
from sqlanon.release.prepare.key import key_columns
from sqlanon.results import RunReport
from sqlanon.spec import PrivacySpec, ReleaseSpec
from sqlanon.statistics.neighbour import Alike, Neighbour, NeighbourColumn, OfPersons, make_changed_error
from sqlanon.table.roles import assign_roles

if TYPE_CHECKING:
    from sqlanon.engines.base import TableRef
    from sqlanon.release.stages.work import Work
    from sqlanon.statistics.parts import How
    from sqlanon.table.reading import Reading

WITHOUT_PERSONS = ("distinct_l", "joint", "presence_disclosed", "own_boxes", "of_persons")
"""Keys of the policy's privacy that say nothing of persons."""
OF_PERSONS = ("k", "whole", "person_share")
"""Those of which witnesses of counted persons keep the numbers; of others they keep who has which rows."""
OF_CLASSES = ("l", "alpha", "entropy_l", "recursive_cl")
"""Those that look at each class by itself, and at no shares of the whole table."""
MOST_PARTS = 1000
"""Denominators of l, at most, with which weights are compared."""
ORDERED = ("integer", "decimal", "float", "date", "timestamp")
"""Kinds of columns in the order of their values."""


def find_neighbour(state: ReleaseState, *, confirmed: bool) -> Entry | None:
    """The published version of the release of rows that the policy names; None: it names none.

    Args:
        state: the release of counts.
        confirmed: nobody has kept other versions of the release of rows.

    Raises:
        PolicyError: there is no such release of the same source.
        UnsupportedError: its classes cannot be one system with counts.
        GuardError: readers had other versions of it.
    """
    statistics = state.spec.statistics
    assert statistics is not None
    if not statistics.together:
        return None
    (name,) = statistics.together
    entries = [entry for entry in Catalog(state.engine).entries(name) if entry.status in SHOWN]
    published_entry = next((entry for entry in entries if entry.status == "published"), None)
    if published_entry is None or published_entry.source != str(state.source.ref):
        raise PolicyError(
            f"{state.spec.name}: together: {name} is not a published release of {state.source.ref}; run it first"
        )
    why = _refuse(published_entry)
    if why:
        raise UnsupportedError(f"{state.spec.name}: together: {name} {why}; leave it out, and give no reader both")
    other_versions = [str(entry.version) for entry in entries if entry.version != published_entry.version]
    if other_versions and not confirmed:
        raise GuardError(
            f"{state.spec.name}: together: readers had other versions of {name} as well ({', '.join(other_versions)}), "
            f"and the certificate is of version {published_entry.version} alone. If nobody has kept them, confirm it "
            "with --allow-weaker (in Python allow_weaker=True)"
        ).with_advice("--allow-weaker")
    return published_entry


def _refuse(entry: Entry) -> str:
    """Why a release of rows is not supported; empty: it is."""
    policy = entry.policy
    if not entry.kind.has_rows:
        return "is no release of rows"
    form, report = form_of(entry).facts, RunReport.from_dict(entry.report)
    means = policy["format"].get("mean")
    reasons = (
        (entry.certificate, "has a box for every row"),
        (entry.frozen, "is frozen, and nothing ties its rows to the source"),
        (place_of(entry) is not VIEWS, "is in another file or database, or in a lake"),
        (policy.get("together"), "is published together with other tables"),
        (form.paired or form.exact or (form.single and not form.either), f"has format {form.name}"),
        (means, "publishes means of classes"),
        (any(column["role"] == "pseudonym" for column in policy["columns"]), "publishes pseudonyms"),
        (report.suppressed > report.left_out, "publishes suppressed rows"),
    )
    return next((why for applies, why in reasons if applies), "")


def link_of_neighbour(state: ReleaseState, entry: Entry) -> Sequence[str]:
    """The columns of the source by which rows are found in the private table of the release of rows."""
    return link_columns_of(entry, [column.name for column in state.source.columns])


def check_same_rows(work: Work, entry: Entry) -> None:
    """The source has the rows of the version, with the same values.

    Raises:
        GuardError: it has not.
    """
    catalog = Catalog(work.state.engine)
    secret = catalog.secret_in(work.state.engine.look_up(catalog.tables, [], catalog.table), entry.release)
    columns = tuple(ColumnSpec(column["name"], column["role"]) for column in entry.policy["columns"])
    key = tuple(entry.policy.get("key") or ())
    spec = ReleaseSpec(entry.release, entry.source, columns, PrivacySpec(), rest=entry.policy["rest"], key=key)
    roles = assign_roles(spec, work.state.source)
    _, mark, _ = read_fingerprint(work.scratch, roles, key_columns(spec, roles), secret or "")
    if mark != (entry.fingerprint or "").partition(" ")[0]:
        raise make_changed_error(entry.release, entry.version)


def read_neighbour(work: Work, entry: Entry, readings: Sequence[Reading]) -> Neighbour:
    """What the classes show of the counted columns, by the metadata of the release of rows.

    Args:
        work: the release of counts; its source is staged.
        entry: the release of rows.
        readings: the counted columns.

    Raises:
        UnsupportedError: of a counted column this is not known.
    """
    metadata = {
        str(row[0]).lower(): row
        for row in work.scratch.fetch("statistics/neighbour_columns", metadata=metadata_table(entry.table))
    }
    attained = {str(name).lower() for name in json.loads(str(metadata[""][3])).get("attained", ())}
    shown: list[int] = []
    columns: list[NeighbourColumn] = []
    for place, reading in enumerate(readings, 1):
        row = metadata.get(reading.name.lower())
        if row is None:
            continue
        if row[1] != "quasi":
            shown.append(place)
            continue
        declared = json.loads(str(row[4])) if row[4] is not None else {}
        how = _how(str(row[2]), reading, declared)
        if how is None:
            raise UnsupportedError(
                f"{work.spec.name}: together: column {reading.name} of {entry.release} is published in a way that is "
                "not supported: ends of numbers and dates, sets, and nodes of hierarchies are; leave the column out"
            )
        # Of nodes of intervals both outermost values are kept: that is more than readers know, and safe.
        is_attained = reading.name.lower() in attained and row[2] != "hierarchy"
        if how == "branches":
            nodes, leaves = _list_nodes(declared), work.scratch.table(f"leaves{place}")
            _load_leaves(work, leaves, declared["leaves"], nodes)
            columns.append(NeighbourColumn(place, how, is_attained, reading.alias, leaves, nodes))
        else:
            columns.append(NeighbourColumn(place, how, is_attained, reading.alias))
    roles = work.staged.roles
    places = {readings[place - 1].name.lower(): place for place in shown}
    promised = _read_promise(work.spec, entry.policy, places)
    return Neighbour(entry.release, entry.version, tuple(shown), tuple(columns), entry.link, roles.link, promised)


def _read_promise(spec: ReleaseSpec, policy: Mapping[str, Any], shown: Mapping[str, int]) -> OfPersons:
    """The promises of the release of rows about persons.

    Args:
        spec: the release of counts.
        policy: that of the release of rows.
        shown: the places of the counted columns that the rows show, by names in lower case.
    """
    privacy = policy["privacy"]
    least, share = int(privacy["k"]), Fraction(privacy.get("person_share") or 1)
    persons = [str(name).lower() for name in policy.get("person") or ()]
    more = [key for key, value in privacy.items() if value and key not in (*WITHOUT_PERSONS, *OF_PERSONS)]
    nulls = {policy.get("null_person"), spec.null_person}
    if not privacy.get("of_persons"):  # of persons nothing is asked but k, where identifiers are counted
        return OfPersons(least)
    if persons != [name.lower() for name in spec.person] or len(nulls) > 1:
        return OfPersons(alike="persons")
    if more == ["l"] and not privacy.get("joint"):
        least_l = Fraction(privacy["l"])
        sensitive = [str(column["name"]).lower() for column in policy["columns"] if column["role"] == "sensitive"]
        if all(name in shown for name in sensitive) and least_l.denominator <= MOST_PARTS:
            weighed = tuple((shown[name], *least_l.as_integer_ratio()) for name in sensitive)
            return OfPersons(least, share.as_integer_ratio(), weighed=weighed)
    alike: Alike = "" if not more else "classes" if set(more) <= set(OF_CLASSES) else "persons"
    return OfPersons(least, share.as_integer_ratio(), alike)


def _how(treatment: str, reading: Reading, declared: Mapping[str, Any]) -> How | None:
    """How classes show a column; None: this is not built."""
    if "recode" in declared or "order" in declared:
        return None
    if treatment == "nominal":
        return "members"
    ordered = reading.column.kind in ORDERED
    if treatment == "hierarchy":
        return "branches" if "leaves" in declared else "ends" if ordered else None
    return "ends" if ordered else None


def _list_nodes(declared: Mapping[str, Any]) -> tuple[tuple[int, ...], ...]:
    """Of each level, from the leaves up, the node of each leaf: the rank of the node's first leaf, from 1."""
    levels = 1 + max(int(level) for level, *_ in declared["nodes"])
    nodes = [[0] * len(declared["leaves"]) for _ in range(levels)]
    for level, first, leaves, _ in declared["nodes"]:
        nodes[level][first : first + leaves] = [first + 1] * leaves
    return tuple(tuple(level) for level in nodes)


def _load_leaves(work: Work, table: TableRef, leaves: Sequence[str], nodes: Sequence[Sequence[int]]) -> None:
    text = work.state.engine.capabilities.text_type
    names = [("leaf", text), ("rank", "BIGINT"), *((f"p{level}", "BIGINT") for level in range(len(nodes)))]
    rows = ((f"v{leaf}", index + 1, *(level[index] for level in nodes)) for index, leaf in enumerate(leaves))
    work.scratch.engine.load_rows(table, names, rows)

"""The only way from the parts of a release to the frozen spec, for files and arguments alike.

Here values must fit together. The form of a single value belongs in `sqlanon.declared`, keys and shape in `models`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path as FilePath
from typing import Any, Literal, TypeVar, cast

from sqlanon.column_spec import MAX_WEIGHT, ColumnSpec, Hierarchy, Rule
from sqlanon.declared import FORMATS
from sqlanon.declared.combinations import list_refused
from sqlanon.declared.effort import choose_effort, choose_method
from sqlanon.declared.kinds import ORDER, name_parts
from sqlanon.declared.records import Path
from sqlanon.declared.words import join_words, near, show
from sqlanon.errors import PolicyError
from sqlanon.lake_names import lake_of
from sqlanon.policy.builders import build_hierarchy
from sqlanon.policy.decision import build_context, build_threshold, check_measured
from sqlanon.policy.hierarchies import read_hierarchy, read_order
from sqlanon.policy.method import check_method
from sqlanon.policy.models import ColumnModel, ReleaseModel
from sqlanon.policy.persons import check_persons, choose_stronger, kind_of_rows, list_person_columns, of_persons
from sqlanon.policy.privacy import read_privacy
from sqlanon.policy.problems import Problems
from sqlanon.policy.pseudonyms import check_pseudonyms
from sqlanon.policy.recodes import RECODES, build_recode, is_recoded
from sqlanon.spec import CohortSpec, FormatSpec, MethodSpec, RefineSpec, RefreshSpec, ReleaseSpec, SuppressionSpec

MEAN_K = 5
"""A class mean is published for classes of at least this many rows."""

PUBLISH_SCHEMA = "release"
"""Where a release is published that does not say where."""

_Content = TypeVar("_Content")


class Files:
    """Reads the hierarchies and orders that a policy names, each file once.

    Args:
        base: directory that relative paths start from.
    """

    def __init__(self, base: FilePath) -> None:
        self._base = base
        self._hierarchies: dict[str, Hierarchy] = {}
        self._orders: dict[str, tuple[str, ...]] = {}

    def hierarchy(self, path: Path, file: str, problems: Problems) -> Hierarchy | None:
        """The hierarchy in ``file``, or None after noting the problems at ``path``."""
        return self._get(read_hierarchy, self._hierarchies, path, file, problems)

    def order(self, path: Path, file: str, problems: Problems) -> tuple[str, ...] | None:
        """The values in ``file``, or None after noting the problems at ``path``."""
        return self._get(read_order, self._orders, path, file, problems)

    def _get(
        self,
        reader: Callable[[FilePath, str], _Content],
        contents: dict[str, _Content],
        path: Path,
        file: str,
        problems: Problems,
    ) -> _Content | None:
        location = self._base / file
        # A lone word is rather a value in the wrong place, of a column or a secret, than the name of a file.
        alone = location.parent == self._base and not location.suffix
        shown = "the file that it names" if alone else problems.display(path, file)
        try:
            if file not in contents:
                contents[file] = reader(location, str(location) if shown == file else shown)
        except PolicyError as error:
            for problem in error.problems:
                problems.add(path, problem)
            return None
        return contents[file]


def default_view(name: str) -> str:
    """The view of a release without a named view."""
    quoted = name.replace('"', '""')
    return f"{PUBLISH_SCHEMA}.{name}" if name.isidentifier() else f'{PUBLISH_SCHEMA}."{quoted}"'


def build(
    model: ReleaseModel, raw: Mapping[str, Any], path: Path, problems: Problems, files: Files, view: str | None = None
) -> ReleaseSpec:
    """Check that the parts fit together and make the spec; it is only good if there are no problems.

    ``view``: name of the view next to a lake table, where it is not the release's.
    """
    listed = raw.get("columns")
    unread = set(listed) - set(model.columns) if isinstance(listed, Mapping) else None
    columns = tuple(
        _column(name, column, (*path, "columns", name), problems, files) for name, column in model.columns.items()
    )
    _check_columns(model, path, problems, complete=unread == set())
    privacy = of_persons(model, read_privacy(model, raw, path, problems, unread), path, problems)
    _check_mean(model, path, problems, unread, privacy.k)
    _check_key(model, path, problems)
    _check_frozen(model, path, problems, privacy.k)
    check_persons(model, path, problems, unread)
    check_pseudonyms(model, path, problems)
    if FORMATS[model.format.kind].exact and not problems.broken((*path, "format")):
        for name in (name for name, column in model.columns.items() if is_recoded(column)):
            problems.add(
                (*path, "columns", name),
                f"the format {model.format.kind} publishes values as they are",
                "leave out bottom, top and round",
            )
    facts = FORMATS[model.format.kind]
    if (facts.exact or facts.single) and not problems.broken((*path, "format")):
        for name, column in model.columns.items():
            if column.hierarchy is not None and column.hierarchy.other is not None:
                problems.add(
                    (*path, "columns", name, "hierarchy", "other"),
                    f"the format {model.format.kind} publishes single values, of which this one would not say that it "
                    "means others",
                    "leave it out, or take the format ranges or labels",
                )
    parts, source = (name_parts(model.publish) if model.publish else None), name_parts(model.source)
    if parts and source and _fold_case(parts) == _fold_case(source) and model.publish_file is None:
        problems.add((*path, "publish"), "the same name as the source", "another view")
    if source and any(_fold_case(name_parts(table) or ()) == _fold_case(source) for table in model.dimensions):
        problems.add((*path, "dimensions"), "the source itself is listed", "tables without rows of its persons")
    lake = lake_of(model.publish) is not None if model.publish else False
    lake_sent = model.publish_to if model.publish_to and lake_of(model.publish_to) else None
    if lake and model.publish_file is not None:
        problems.add((*path, "publish_file"), "publish names a lake table", "one of both")
    if model.publish_to is not None:
        for key in ("publish_file", *(("publish",) if lake else ())):
            if getattr(model, key) is not None:
                what = "publish_to names another place, and a release goes to one"
                problems.add((*path, key), what, f"leave out publish_to, or {key}")
    if model.expire and not (lake or lake_sent):
        problems.add((*path, "expire"), "the history of a lake table, and no key names one", "leave it out")
    keys = [key for key in ("method", "refine") if raw.get(key) is not None]
    for key in keys if model.effort is not None else ():
        what = f"effort chooses method and refine, and {key} is named"
        problems.add((*path, "effort"), what, f"leave out effort, or {key}")
    spec = ReleaseSpec(
        name=model.name,
        source=model.source,
        columns=columns,
        privacy=privacy,
        publish=default_view(view or model.name) if lake else model.publish,
        publish_file=model.publish_file,
        publish_lake=model.publish if lake else lake_sent,
        publish_to=None if lake_sent else model.publish_to,
        rest=model.rest,
        rows_are=kind_of_rows(model),
        person=list_person_columns(model),
        persons=choose_stronger(model),
        null_person=model.null_person,
        row_security=model.row_security,
        readers=tuple(model.readers),
        dimensions=tuple(model.dimensions),
        key=tuple(model.key),
        method=MethodSpec(model.method.name, model.method.more) if model.method else MethodSpec(),
        refine=(RefineSpec(model.refine.window, model.refine.passes, model.refine.search) if model.refine else None),
        effort=None if keys else choose_effort(model.effort),
        suppression=(
            SuppressionSpec(Fraction(model.suppression.limit), model.suppression.rows) if model.suppression else None
        ),
        format=FormatSpec(model.format.kind, tuple(model.format.mean)),
        metrics=tuple(model.metrics),
        execution=model.execution,
        memory=model.memory,
        seed=model.seed,
        refresh=_refresh(model),
        context=build_context(model.context),
        threshold=build_threshold(model.threshold, path, problems, partial(check_measured, model, problems)),
        review=model.review,
    )
    spec = choose_method(spec)
    check_method(spec, raw, path, problems)
    if not any(problems.broken((*path, key)) for key in ("privacy", "refine", "suppression", "format", "metrics")):
        for key, refused in list_refused(spec):
            problems.add((*path, key), refused.what, refused.allowed)
    return spec


def _refresh(model: ReleaseModel) -> RefreshSpec:
    most = model.history.max_failing if model.history else None
    refresh = model.refresh
    if refresh is None:
        return RefreshSpec("full", model.every, model.keep, most, expire=model.expire)
    cohort = CohortSpec(refresh.cohort.rows, refresh.cohort.every) if refresh.cohort else None
    return RefreshSpec(
        refresh.mode,
        model.every,
        model.keep,
        most,
        cohort,
        refresh.max_stale,
        refresh.max_retained,
        refresh.max_waiting,
        refresh.max_age,
        refresh.needs_approval,
        refresh.signers,
        model.expire,
    )


def _check_frozen(model: ReleaseModel, path: Path, problems: Problems, k: int) -> None:
    """Keys of `mode: frozen`, and their requirements."""
    refresh = model.refresh
    if refresh is None or problems.broken((*path, "refresh")):
        return
    if refresh.signers and not refresh.needs_approval:
        problems.add(
            (*path, "refresh", "signers"), "without needs_approval no approval is read", "needs_approval: true"
        )
    if refresh.mode != "frozen":
        for key in sorted(refresh.given - {"mode", "needs_approval", "signers"}):
            if getattr(refresh, key) is not None:
                problems.add((*path, "refresh", key), f"the mode is {refresh.mode}", f"{key} goes with mode: frozen")
        return
    if not model.key and not problems.broken((*path, "key")):
        problems.add(
            (*path, "refresh", "mode"),
            "without key nobody knows which rows were published before",
            "together with key: [columns] that identify a row in every version",
        )
    rows = refresh.cohort.rows if refresh.cohort else None
    if rows is not None and rows < k:
        problems.add((*path, "refresh", "cohort", "rows"), f"fewer than k, which is {k}", f"at least {k} rows")


def _column(name: str, column: ColumnModel, path: Path, problems: Problems, files: Files) -> ColumnSpec:
    if not name or "\0" in name:
        problems.add(path, "a column without a name" if not name else "a name with a NUL character", "a column's name")
    keys = column.given
    only = (
        ("weight", ("quasi",)),
        ("hierarchy", ("quasi", "sensitive")),
        ("ordered", ("quasi", "sensitive")),
        *((key, ("quasi",)) for key in RECODES),
        ("accept_unique", ("quasi", "sensitive", "insensitive")),
        ("accept_repeats", ("identifier",)),
        ("scope", ("pseudonym",)),
        ("secret", ("pseudonym",)),
    )
    for key, roles in only:
        if key in keys and getattr(column, key) not in (None, False) and column.role not in roles:
            problems.add((*path, key), f"the column is {column.role}", f"{key} is for {_and(roles)} columns")
    if column.hierarchy is not None and column.ordered is not None:
        problems.add((*path, "ordered"), "the column also has a hierarchy", "hierarchy or ordered, not both")
    hierarchy = None
    if column.hierarchy is not None:
        hierarchy = build_hierarchy((*path, "hierarchy"), name, column.hierarchy, problems, files.hierarchy)
        if column.role == "sensitive" and isinstance(hierarchy, Rule):
            problems.add(
                (*path, "hierarchy"),
                f"{hierarchy.kind} of a sensitive column",
                "a file, groups or a table: distances are of values that are listed",
            )
    return ColumnSpec(
        name=name,
        role=column.role,
        weight=column.weight,
        hierarchy=hierarchy,
        recode=build_recode(column, path, hierarchy, problems),
        ordered=_order(column.ordered, (*path, "ordered"), problems, files),
        accept_unique=column.accept_unique,
        accept_repeats=column.accept_repeats,
        scope=column.scope,
        secret=column.secret,
        because=column.because,
    )


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _order(
    ordered: str | list[str] | None, path: Path, problems: Problems, files: Files
) -> Literal["alphabetical", "declared"] | tuple[str, ...] | None:
    if ordered is None or ordered in ("alphabetical", "declared"):
        return cast("Literal['alphabetical', 'declared'] | None", ordered)
    if isinstance(ordered, list):
        return tuple(ordered)
    values = files.order(path, ordered, problems)
    if values is None and (hint := near(ordered, ("alphabetical", "declared"))):
        problems.add(path, "a word that is not known is taken for a file" + hint, ORDER.allowed)
    return values


def _check_columns(model: ReleaseModel, path: Path, problems: Problems, *, complete: bool) -> None:
    quasi = [column for column in model.columns.values() if column.role == "quasi"]
    if not quasi and complete:
        problems.add((*path, "columns"), "no quasi column", "at least one column with the role quasi")
    total = sum(column.weight for column in quasi)
    if len(quasi) > MAX_WEIGHT:
        problems.add(
            (*path, "columns"),
            f"{len(quasi)} quasi columns",
            f"a release takes at most {MAX_WEIGHT}: give those that nobody outside could know another role, or make "
            "several releases of fewer columns each",
        )
    elif total > MAX_WEIGHT:
        problems.add((*path, "columns"), f"the weights sum to {total}", f"at most {MAX_WEIGHT} in all")


def _check_mean(model: ReleaseModel, path: Path, problems: Problems, unread: set[str] | None, k: int) -> None:
    mean_path = (*path, "format", "mean")
    able = [
        name
        for name, column in model.columns.items()
        if column.role == "quasi" and column.hierarchy is None and not is_recoded(column)
    ]
    for name in model.format.mean:
        column = model.columns.get(name)
        if column is None and unread is not None and name not in unread:
            problems.add(
                mean_path,
                "a column that is not listed" + near(name, model.columns),
                f"quasi columns without hierarchy: {_format_names(able)}",
            )
        elif column is not None and name not in able:
            what = (
                f"is {column.role}"
                if column.role != "quasi"
                else ("has a hierarchy" if column.hierarchy is not None else "is recoded")
            )
            problems.add(
                mean_path, f"the column {show(name)} {what}", f"quasi columns without hierarchy: {_format_names(able)}"
            )
    takes = join_words(facts.name for facts in FORMATS.values() if facts.means)
    means = FORMATS[model.format.kind].means
    if model.format.mean and not means and not problems.broken((*path, "format", "kind")):
        problems.add(mean_path, f"the format is {model.format.kind}: {means.why}", f"means go with the format {takes}")
    unsure = any(problems.broken((*path, "privacy", key)) for key in ("k", "maximize", "at_least"))
    if model.format.mean and k < MEAN_K and not unsure:
        problems.add(mean_path, f"k is below {MEAN_K}", f"means need k of at least {MEAN_K}")


def _check_key(model: ReleaseModel, path: Path, problems: Problems) -> None:
    """Columns of the key are never published; without a key, the disclosure by versions together cannot be measured."""
    for name in model.key:
        same = [column for other_name, column in model.columns.items() if other_name.lower() == name.lower()]
        column = model.columns.get(name) or (same[0] if len(same) == 1 else None)
        if column is not None and column.role not in ("identifier", "pseudonym"):
            problems.add(
                (*path, "key"),
                f"the column {show(name)} is {column.role}, so it is published",
                "identifier or pseudonym columns, or columns that rest: drop leaves out",
            )
        elif column is None and model.rest == "keep" and not problems.broken((*path, "columns")):
            problems.add(
                (*path, "key"),
                f"the column {show(name)} is not listed, and rest: keep publishes it",
                "identifier columns",
            )
    unread = problems.broken((*path, "key"))
    tokens = any(column.role == "pseudonym" for column in model.columns.values())
    most = model.history.max_failing if model.history else None
    if most is not None and not (model.key or tokens or unread):
        problems.add(
            (*path, "history", "max_failing"),
            "without key the rows of two versions cannot be matched",
            "together with key",
        )


def _format_names(names: list[str]) -> str:
    return join_words(map(show, names)) or "none here"


def _fold_case(parts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part.casefold() for part in parts)

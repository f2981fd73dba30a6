"""The parts of a policy file as records of the table of keys: how they are read, and their JSON Schema.

Editors get it through ``sqlanon schema``, and ``docs/policy.md`` is generated from it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, cast

from sqlanon.declared import REQUIREMENTS
from sqlanon.declared.keys import KEYS
from sqlanon.declared.kinds import ANYTHING, FLAG, LISTING, OPTION, TEXT, Kind
from sqlanon.declared.records import BROKEN, ByName, Note, Part, Path, Record, read_whole
from sqlanon.declared.values import REQUIRED, Value, WrongValue
from sqlanon.declared.words import join_words, near, show, wrong_kind
from sqlanon.policy import models, noisy_models, short_forms
from sqlanon.policy.models import PolicyPart
from sqlanon.policy.problems import Problems

REPLACED_K = 5
_FIELDS = {"origin": "from"}
"""Keys that Python's syntax allows no field to be called."""


@dataclass(frozen=True, slots=True)
class Section(Record):
    """A part of a policy file, with the keys of a dataclass.

    Attributes:
        example: an example of the section, for messages.
        short: the mapping that another form means; raises `ValueError`.
        form: the kind of that other form; with ``main`` it is that of this field.
        others: the kind of every other key, or the kinds of those that are known; they are in ``more``.
    """

    example: str = ""
    short: Callable[[object], object] = lambda value: value
    form: Value | None = None
    others: Value | Callable[[], Mapping[str, Part]] | None = None

    @property
    def keys(self) -> frozenset[str]:
        return frozenset({*self.parts, *self._list_further()})

    @property
    def schema(self) -> Mapping[str, Any]:
        """See `Value.schema`: `definition` is the target of the reference."""
        reference = {"$ref": f"#/$defs/{self.title}"}
        form = self.parts[self.main].value if self.main else self.form
        return {"anyOf": [form.schema, reference]} if form else reference

    @property
    def kind(self) -> type[PolicyPart]:
        """The dataclass."""
        return cast("type[PolicyPart]", self.make)

    @property
    def title(self) -> str:
        """The section's name in the schema."""
        return self.kind.__name__

    @property
    def definition(self) -> dict[str, Any]:
        """The JSON Schema of the mapping."""
        allowed: Any = False if self.others is None or callable(self.others) else self.others.schema or True
        properties = {name: _property(name, part) for name, part in self.parts.items()}
        further = {name: {**part.value.schema, "description": part.text} for name, part in self._list_further().items()}
        required = [name for name, part in self.parts.items() if part.default is REQUIRED]
        return {
            "additionalProperties": allowed,
            "description": inspect.getdoc(self.make),
            "properties": properties | further,
            **({"required": required} if required else {}),
            "title": self.title,
            "type": "object",
        }

    def _list_further(self) -> Mapping[str, Part]:
        return self.others() if callable(self.others) else {}

    def read_at(self, value: object, path: Path, note: Note) -> Any:  # noqa: ANN401 - result of ``make``
        try:
            settings = {self.main: value} if self.main and isinstance(value, str) else self.short(value)
        except ValueError as wrong:
            note(path, str(wrong), getattr(wrong, "allowed", "") or self.allowed)
            return BROKEN
        if self.example and not isinstance(settings, Mapping):
            note(path, wrong_kind(settings, "not a mapping"), ByName(self, self.example).allowed)
            return BROKEN
        if isinstance(settings, self.kind) or (settings is None and value is not None):
            return settings
        return Record.read_at(self, settings, path, note)

    def build(self, fields: Mapping[str, Any], keys: Collection[str]) -> Any:  # noqa: ANN401 - result of ``make``
        more: dict[str, Any] = {} if self.others is None or "more" in fields else {"more": {}}
        return self.make(**fields, **more, given=frozenset(keys))

    def read_other(self, key: str, value: object, fields: dict[str, Any], path: Path, note: Note) -> None:
        """Read a further key, or note that there is none."""
        further = self._list_further()
        kind = further[key].value if key in further else None if callable(self.others) else self.others
        if kind is not None:
            setting = BROKEN if value is None and key in further else read_whole(kind, value, path, note)
            if setting is not BROKEN:
                fields.setdefault("more", {})[key] = setting
            return
        keys = [*self.parts, *further]
        what = f"unknown key{near(key, keys)}"
        if key in RELEASE.parts and self.kind not in (models.ReleaseModel, models.TablesModel, models.PolicyModel):
            what = f"unknown key here: it is a key of the release, and not of {show(str(path[-2]))}"
        elif key in COLUMN.parts:
            what = "unknown key here: it is a key of a column"
        note(path, what, f"the keys here are {join_words(keys)}")


def _property(name: str, part: Part) -> dict[str, Any]:
    """The schema of a key, with title, description and default."""
    definition: dict[str, Any] = dict(part.value.schema)
    if part.default is None and part.null:
        definition = {"anyOf": [*definition.get("anyOf", [definition]), {"type": "null"}]}
    if part.default is not REQUIRED:
        definition["default"] = list(part.default) if isinstance(part.default, tuple) else part.default
    refers = "$ref" in definition or any("$ref" in option for option in definition.get("anyOf", ()))
    title = {} if refers else {"title": name.replace("_", " ").title()}
    return dict(sorted((definition | {"description": part.text} | title).items()))


def _section(
    make: type[PolicyPart],
    prefix: str,
    within: Mapping[str, Value] | None = None,
    instead: Mapping[str, Any] | None = None,
    **more: Any,
) -> Section:
    """The section of the keys with a common prefix of their paths.

    Args:
        make: the dataclass of the section, which has these keys as fields.
        prefix: common start of their paths.
        within: the parts that have keys of their own.
        instead: see `Part.instead`.
        more: further attributes of `Section`.
    """
    fields_of = {_FIELDS.get(field.name, field.name): field.name for field in fields(make)}
    parts = {}
    for path, key in KEYS.items():
        name = path.removeprefix(prefix)
        if path.startswith(prefix) and name in fields_of:
            parts[name] = Part(
                (within or {}).get(name) or cast("Value", key.kind),
                key.default,
                text=key.text,
                field=fields_of[name],
                null=key.default is None and key.empty,
                instead=(instead or {}).get(name, BROKEN),
            )
    return Section(make, parts, **more)


def _further() -> dict[str, Part]:
    """Requirements that have no field in `PrivacyModel`."""
    own_fields = {field.name for field in fields(models.PrivacyModel)}
    return {
        name: Part(requirement.value, text=requirement.about)
        for name, requirement in REQUIREMENTS.items()
        if name not in own_fields
    }


def _several(value: object) -> object:
    """A list that is not empty, to be read item by item."""
    if not isinstance(value, list) or not value:
        raise ValueError("the list is empty" if value == [] else "not a list")
    return value


def _refine(value: object) -> object:
    """``true`` as the defaults with trials that are chosen later, ``false`` as nothing; a mapping as it is."""
    if value is None or isinstance(value, Mapping):
        return value
    try:
        return replace(REFINE.read({}), search=None) if FLAG.read(value) else None
    except ValueError as wrong:
        raise WrongValue(str(wrong), "true, false or key: value pairs") from None


HIERARCHY = _section(models.HierarchyModel, "columns.*.hierarchy.", short=short_forms.hierarchy, form=TEXT)
COLUMN = _section(models.ColumnModel, "columns.*.", {"hierarchy": HIERARCHY}, main="role")
MAX_LOSS = _section(
    models.MaxLossModel, "privacy.max_loss.", {}, {"per_class_ncp": Fraction(1)}, example="per_class_ncp: 0.3"
)
AT_LEAST = _section(models.AtLeastModel, "privacy.at_least.", example="l: 2")
PRIVACY = _section(
    models.PrivacyModel, "privacy.", {"max_loss": MAX_LOSS, "at_least": AT_LEAST}, {"k": REPLACED_K}, others=_further
)
METHOD = _section(models.MethodModel, "method.", {}, {"name": "x"}, short=short_forms.method, form=TEXT, others=OPTION)
REFINE = _section(models.RefineModel, "refine.", short=_refine, form=FLAG)
SUPPRESSION = _section(models.SuppressionModel, "suppression.", example="limit: 0.05")
FORMAT = _section(models.FormatModel, "format.", main="kind")
COHORT = _section(models.CohortModel, "refresh.cohort.", example="rows: 500")
CONTEXT = _section(models.ContextModel, "context.", example="purpose: ..")
THRESHOLD = _section(models.ThresholdModel, "threshold.", main="preset")
REFRESH = _section(models.RefreshModel, "refresh.", {"cohort": COHORT}, example="mode: frozen")
HISTORY = _section(models.HistoryModel, "history.", example="max_failing: 0")
RELEASE = _section(
    models.ReleaseModel,
    "",
    {
        "columns": ByName(COLUMN),
        "history": HISTORY,
        "refresh": REFRESH,
        "context": CONTEXT,
        "threshold": THRESHOLD,
        "privacy": PRIVACY,
        "method": METHOD,
        "refine": REFINE,
        "suppression": SUPPRESSION,
        "format": FORMAT,
    },
    {"name": "x", "source": "x", "columns": {}, "privacy": PRIVACY.read({"k": REPLACED_K})},
)
_TABLES = {"items": {"additionalProperties": True, "type": "object"}, "minItems": 2, "type": "array"}
TABLES = _section(
    models.TablesModel, "tables:", {"tables": Kind("a list of tables", _TABLES, lambda value: value)}, others=ANYTHING
)
COUNTED_COLUMN = _section(
    models.CountedColumnModel, "statistics.columns.*.", {"hierarchy": HIERARCHY}, example="hierarchy: region.csv"
)
COUNTED_TABLE = _section(models.CountedTableModel, "statistics.tables.", example="name: by_region")
DOMINANCE = _section(models.DominanceModel, "statistics.measures.*.dominance.", example="n: 2")
COUNTED_MEASURE = _section(models.CountedMeasureModel, "statistics.measures.*.", {"dominance": DOMINANCE}, main="count")
_LEVELS = {"additionalProperties": {"minimum": 0, "type": "integer"}, "type": "object"}
_MARGINS = {"items": {"anyOf": [_LEVELS, {"const": "total"}]}, "minItems": 1, "type": "array"}
PROTECT = _section(
    models.ProtectModel,
    "statistics.protect.",
    {"show": Kind("a list of margins, at least one: [{region: 1}, total]", _MARGINS, _several)},
    example="persons: 10",
)
_COUNTED_TABLES = {"items": COUNTED_TABLE.schema, "minItems": 1, "type": "array"}
STATISTICS = _section(
    models.StatisticsModel,
    "statistics.",
    {
        "columns": ByName(COUNTED_COLUMN),
        "tables": Kind("a list of tables, at least one", _COUNTED_TABLES, _several),
        "measures": ByName(COUNTED_MEASURE, "n: count"),
        "protect": PROTECT,
    },
    example="columns: ..",
)
COUNTS_COHORT = _section(models.CountsCohortModel, "statistics:refresh.cohort.", example="persons: 200")
COUNTED_REFRESH = _section(
    models.CountedRefreshModel, "statistics:refresh.", {"cohort": COUNTS_COHORT}, example="needs_approval: true"
)
STATISTICS_RELEASE = _section(
    models.StatisticsReleaseModel,
    "statistics:",
    {"statistics": STATISTICS, "context": CONTEXT, "threshold": THRESHOLD, "refresh": COUNTED_REFRESH},
)
BUDGET = _section(noisy_models.BudgetModel, "budgets.", example="name: patients")
NOISY_TABLE = _section(noisy_models.NoisyTableModel, "noisy.tables.", example="by: [region, sex]")
NOISY_GROUPS = _section(
    noisy_models.NoisyGroupsModel, "noisy.groups.*.", {"hierarchy": HIERARCHY}, short=short_forms.groups, form=LISTING
)
NOISY_MEASURE = _section(noisy_models.NoisyMeasureModel, "noisy.measures.*.", main="count")
CONTRIBUTIONS = _section(noisy_models.ContributionsModel, "noisy.contributions.", example="groups: 8")
SHOW = _section(noisy_models.ShowModel, "noisy.show.", example="persons: 10")
RUNNING = _section(noisy_models.RunningModel, "noisy.running.", example="nights: 365")
NOISY_ROWS = _section(noisy_models.RowsModel, "noisy.rows.", main="target")
_NOISY_TABLES = {"items": NOISY_TABLE.schema, "minItems": 1, "type": "array"}
NOISY = _section(
    noisy_models.NoisyModel,
    "noisy.",
    {
        "tables": Kind("a list of tables, at least one", _NOISY_TABLES, _several),
        "groups": ByName(NOISY_GROUPS, "sex: [F, M]"),
        "measures": ByName(NOISY_MEASURE, "n: rows"),
        "contributions": CONTRIBUTIONS,
        "show": SHOW,
        "running": RUNNING,
        "rows": NOISY_ROWS,
    },
    example="budget: patients",
)
NOISY_RELEASE = _section(noisy_models.NoisyReleaseModel, "noisy:", {"statistics": NOISY})
_BUDGETS = {"items": BUDGET.schema, "minItems": 1, "type": "array"}
_RELEASES = {
    "items": {"anyOf": [RELEASE.schema, TABLES.schema, STATISTICS_RELEASE.schema, NOISY_RELEASE.schema]},
    "minItems": 1,
    "type": "array",
}
POLICY = _section(
    models.PolicyModel,
    "policy:",
    {
        "budgets": Kind("a list of budgets, at least one", _BUDGETS, _several),
        "releases": Kind("a list, at least one", _RELEASES, _several),
    },
)
SECTIONS: Mapping[str, Section] = {
    section.title: section
    for section in (
        POLICY,
        RELEASE,
        TABLES,
        COLUMN,
        HIERARCHY,
        PRIVACY,
        MAX_LOSS,
        AT_LEAST,
        METHOD,
        REFINE,
        SUPPRESSION,
        HISTORY,
        REFRESH,
        COHORT,
        CONTEXT,
        THRESHOLD,
        FORMAT,
        STATISTICS_RELEASE,
        COUNTS_COHORT,
        STATISTICS,
        COUNTED_REFRESH,
        COUNTED_COLUMN,
        COUNTED_TABLE,
        COUNTED_MEASURE,
        DOMINANCE,
        PROTECT,
        BUDGET,
        NOISY_RELEASE,
        NOISY,
        NOISY_TABLE,
        NOISY_GROUPS,
        NOISY_MEASURE,
        CONTRIBUTIONS,
        SHOW,
        RUNNING,
        NOISY_ROWS,
    )
}
"""All parts of a policy, in the order of the reference."""


def read_release(raw: object, path: Path, problems: Problems) -> models.ReleaseModel | None:
    """Check the shape of a release.

    Args:
        raw: mapping of the release.
        path: where it is.
        problems: collects the problems.

    Returns:
        The release with broken parts left out or replaced by something harmless (``problems.broken`` reports which), or
        None if nothing is left of it.
    """
    release = RELEASE.read_at(raw, path, problems.add)
    return None if release is BROKEN else cast("models.ReleaseModel", release)

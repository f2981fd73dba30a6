"""Formats that publish a box per quasi column.

SQL aggregates the boxes of classes and decodes them into published columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from sqlanon.engines.base import Bind, TableRef
from sqlanon.engines.rows import read_integers
from sqlanon.formats.base import Format, RecodedClasses
from sqlanon.formats.column import KINDS, Column
from sqlanon.formats.cover import count_covered, match_values
from sqlanon.formats.grouping import RowGroups
from sqlanon.formats.layout import Names
from sqlanon.formats.level_classes import generalize, height_of, key_of
from sqlanon.formats.levels import AS_BOXES, NOT_ASKED, CoverTightness, Levels
from sqlanon.table.encode import spread_of
from sqlanon.table.tree import load_nodes
from sqlanon.table.wide_tables import Part, join_parts, split_runs

if TYPE_CHECKING:
    from sqlanon.spec import FormatSpec
    from sqlanon.table.class_rows import ClassedRows
    from sqlanon.table.domain import Domain
    from sqlanon.table.encode import EncodedTable
    from sqlanon.table.scratch import Scratch


class BoxFormat(Format):
    """A format that decodes boxes.

    Attributes:
        shown: the template that makes the published columns of some quasi columns from the boxes.
        cover: the template that counts rows outside of the values published for them.
        sets_as_bits: that template knows ``has`` (see `sqlanon.formats.cover.Claim`).
        either: a cell is the value or nothing, so that it loses nothing or all.
    """

    shown: ClassVar[str]
    cover: ClassVar[str]
    match: ClassVar[str] = ""
    sets_as_bits: ClassVar[bool] = False
    either: ClassVar[bool] = False

    def labels(self, scratch: Scratch, domain: Domain) -> TableRef | None:
        """A scratch table (code, label) of the values' texts, where the format publishes texts."""
        return None

    def tables(self, scratch: Scratch, classed: TableRef, spans: TableRef, column: Column) -> Column:
        """The column with the scratch tables that ``shown`` joins besides those of the boxes."""
        return column

    def ranks(self, domain: Domain, names: Names) -> Mapping[str, str]:
        """Published columns that sort as a column of codes of the boxes does, which is faster: name -> that column."""
        return {}

    def reads_codes(self, domain: Domain, form: FormatSpec) -> bool:
        """See `Format.reads_codes`: for the members of sets that are too large for bits."""
        return domain.reading.treatment == "nominal" and not domain.fits_bits

    def recode(
        self,
        scratch: Scratch,
        classed: ClassedRows,
        form: FormatSpec,
        spans: TableRef | None,
        seed: int,
        levels: Levels = AS_BOXES,
    ) -> RecodedClasses:
        encoded = classed.encoded
        layout = self.layout(encoded.roles, encoded.quasi, form)
        if spans is None:
            spans = scratch.table("spans")
            scratch.execute(
                "recode/spans",
                spans=spans,
                classed=classed.table,
                columns=[domain.code for domain in encoded.quasi],
                sets=[domain.code for domain in encoded.quasi if domain.fits_bits],
                packed=[],
            )
        if levels:
            spans = generalize(scratch, encoded.quasi, spans, levels)
        parts = [
            self._column(scratch, classed.table, spans, domain, layout.names[domain.code], levels)
            for domain in encoded.quasi
        ]
        published = layout.of_class
        keys, codes = self._keys(encoded, layout.names, published)
        table_parts: dict[str, list[Part]] = {"boxes": [], "shown": []}
        # Of a column that begins at 0 the range is a value; elsewhere a bound value takes a call of its own.
        apart = scratch.engine.conceals is not None
        with scratch.together():
            for place, some in enumerate(split_runs(parts)):
                # From its own boxes: a statement that reads a wide table takes time for all its columns.
                box, show = scratch.table(f"boxes_{place}"), scratch.once(f"shown_{place}")
                ranks = [key for key in codes if key["code"] in {part.code for part in some}]
                ranges: dict[str, Bind] = {f"range_{part.code}": part.range for part in some} if apart else {}
                scratch.execute("recode/boxes", ranges, boxes=box, spans=spans, columns=some, apart=apart)
                scratch.execute(self.shown, shown=show, boxes=box, columns=some, codes=ranks)
                first = [] if place else ["n"]
                table_parts["boxes"].append((box, first + [name for part in some for name in _box_columns(part)]))
                names_shown = [name for part in some for name in part.names.list_columns()]
                table_parts["shown"].append((show, [str(key["name"]) for key in ranks] + names_shown))
            # Published columns are read from boxes, which are dropped where they are joined.
            wide = join_parts(scratch, "shown", "_sqlanon_class", table_parts["shown"])
            boxes = join_parts(scratch, "boxes", "class", table_parts["boxes"])
            released = scratch.table("released")
            scratch.execute("recode/released", released=released, shown=wide, names=published, keys=keys)
            scratch.drop(wide)
            groups = RowGroups(released)
            row = scratch.fetch("recode/sizes", boxes=boxes, released=released, groups=groups)[0]
        classes, smallest, largest, dense, alone = read_integers(row)
        return RecodedClasses(
            boxes,
            released,
            self,
            layout,
            classes,
            smallest,
            largest,
            replace(groups, dense=dense == 1, alone=alone == 1),
            leveled=bool(levels),
        )

    def regions(self, scratch: Scratch, encoded: EncodedTable, recoded: RecodedClasses) -> TableRef:
        parts: list[Part] = []
        for place, some in enumerate(split_runs(encoded.quasi)):
            columns = [
                {
                    "code": domain.code,
                    "kind": KINDS[domain.reading.treatment or "ordered"],
                    "last": domain.codes - 1,
                    "height": height_of(domain),
                    "leveled": recoded.leveled,
                    "either": self.either,
                    "found": scratch.name_table(_name_nodes_step(domain)),
                }
                for domain in some
            ]
            table = scratch.table(f"regions_{place}")
            scratch.execute("formats/regions", regions=table, boxes=recoded.boxes, columns=columns)
            names = [f"{part}_{domain.code}" for domain in some for part in ("first", "last", "level")]
            parts.append((table, names if place else ["n", *names]))
        return join_parts(scratch, "regions", "class", parts)

    def count_covered(
        self,
        scratch: Scratch,
        classed: ClassedRows,
        recoded: RecodedClasses,
        least: CoverTightness = NOT_ASKED,
    ) -> tuple[int, int]:
        return count_covered(self, self.cover, scratch, classed, recoded, least, sets_as_bits=self.sets_as_bits)

    def match_cells(self, scratch: Scratch, domain: Domain, cells: TableRef, seen: TableRef, names: Names) -> TableRef:
        if not self.match:
            return super().match_cells(scratch, domain, cells, seen, names)
        return match_values(self, self.match, scratch, domain, cells, seen, names)

    def _column(
        self,
        scratch: Scratch,
        classed: TableRef,
        spans: TableRef,
        domain: Domain,
        names: Names,
        levels: Levels,
    ) -> Column:
        """Parameters of one column for the templates, with the scratch tables made."""
        leveled = bool(levels)
        column = Column(
            domain,
            domain.code,
            KINDS[domain.reading.treatment or "ordered"],
            domain.table,
            domain.has_null,
            max(domain.size, 1),
            names,
            key_of(domain, leveled=leveled),
            domain.reading.column.type if domain.reading.as_text else None,
            leveled=leveled,
            height=height_of(domain),
            either=self.either,
            wider=levels.wider,
        )
        if column.kind == "ordered":
            places = scratch.engine.capabilities.array_places
            column = column.with_tables(range=spread_of(scratch, domain), places=places)
        if column.kind == "tree":
            nodes = _find_loaded(scratch, domain) or load_nodes(scratch, domain)
            node_table = scratch.table(_name_nodes_step(domain))
            scratch.execute(
                "recode/nodes",
                found=node_table,
                spans=spans,
                nodes=nodes,
                column=domain.code,
                nulls=domain.has_null,
                height=column.height,
                leveled=leveled,
            )
            column = column.with_tables(found=node_table)
        else:
            column = column.with_tables(labels=self.labels(scratch, domain))
        if column.kind == "set":
            members = _members(scratch, classed, spans, domain, column.labels, leveled=leveled)
            column = column.with_tables(members=members)
        return self.tables(scratch, classed, spans, column)

    def _keys(
        self, encoded: EncodedTable, names: Mapping[str, Names], published: Sequence[str]
    ) -> tuple[dict[str, str | None], list[dict[str, str | bool]]]:
        """Per published name the column that classes are ranked by, and a description of each such column."""
        keys: dict[str, str | None] = dict.fromkeys(published)
        codes: list[dict[str, str | bool]] = []
        for domain in encoded.quasi:
            for name, key in self.ranks(domain, names[domain.code]).items():
                keys[name] = f"_sqlanon_{key}"
                codes.append({"name": f"_sqlanon_{key}", "code": domain.code, "key": key, "nulls": domain.has_null})
        return keys, codes


def _box_columns(part: Column) -> list[str]:
    """Columns that recode/boxes makes of one column."""
    code = part.code
    key_columns = [part.key] if part.key != "class" else []
    key_columns += [f"at_{code}"] if part.leveled else []
    size = [] if part.kind == "ordered" else [f"size_{code}"]
    return [f"lo_{code}", f"hi_{code}", *key_columns, f"null_{code}", *size, f"ncp_{code}", f"lm_{code}"]


def _name_nodes_step(domain: Domain) -> str:
    """The step of the scratch table that recode/nodes makes of a hierarchy column."""
    return f"{domain.code}_found"


def _members(
    scratch: Scratch,
    classed: TableRef,
    spans: TableRef,
    domain: Domain,
    labels: TableRef | None,
    *,
    leveled: bool,
) -> TableRef:
    members = scratch.table(f"{domain.code}_members")
    if domain.fits_bits:
        scratch.execute(
            "recode/sets",
            members=members,
            spans=spans,
            domain=domain.table,
            column=domain.code,
            labels=labels,
        )
    else:
        scratch.execute(
            "recode/members",
            members=members,
            domain=domain.table,
            column=domain.code,
            labels=labels,
            classed=classed,
            whole=leveled,
        )
    return members


def _find_loaded(scratch: Scratch, domain: Domain) -> TableRef | None:
    table = scratch.name_table(f"{domain.code}_nodes")
    return table if scratch.engine.exists(table) else None

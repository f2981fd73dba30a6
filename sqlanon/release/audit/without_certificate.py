"""Without a certificate: whether boxes can be those of k matchings at all, by the source alone.

Every row must fit k boxes and every box k rows, which degrees may refute, and both at once, which a maximum flow
decides. A graph that exists proves no k: nobody knows by it which matchings were made, and how a matching was drawn.
"""

from __future__ import annotations

from sqlanon.engines.base import Engine, Relation
from sqlanon.formats import format_of
from sqlanon.release.audit.covered_codes import TooWideError, count_tuples, find_covered_codes
from sqlanon.spec import ReleaseSpec
from sqlanon.table.domain import Domains
from sqlanon.table.domains import build_domains
from sqlanon.table.encode import EncodedTable, encode
from sqlanon.table.roles import assign_roles
from sqlanon.table.scratch import Scratch
from sqlanon.table.stage import take_stage

MOST_ROWS = 50_000
"""Rows beyond which nothing is decided."""


def most_candidates(engine: Engine, release: Relation, spec: ReleaseSpec) -> tuple[int | None, str]:
    """The largest k, up to the policy's, for which a k-regular graph of source rows and published boxes exists.

    Args:
        engine: the session, which has the source.
        release: the published table.
        spec: the policy's release, of which the source is read.

    Returns:
        That k and an explanation; or None, and the reason why nothing was decided.

    Raises:
        PolicyError: the source is not in this database, or has other columns than the policy.

    Cost: a snapshot of the source; every row is compared with every box, and flows of k n units over the pairs that
    fit.
    """
    source = engine.relation(spec.source)
    with Scratch(engine) as scratch:
        rows = scratch.count("table/count", source=source.ref)
        boxes = scratch.count("table/count", source=release.ref)
        if rows != boxes:
            return None, f"not decided: the source has {rows} rows now, and the release {boxes} boxes"
        if rows > MOST_ROWS:
            return None, f"not decided: of more than {MOST_ROWS:,} rows"
        roles = assign_roles(spec, source)
        with engine.snapshot():
            stage = take_stage(scratch, roles, [column.name for column in source.columns])
        domains = Domains(build_domains(scratch, roles, stage).quasi)
        encoded = encode(scratch, roles, stage, domains, rows)
        return _decide(scratch, encoded, release, spec)


def _decide(scratch: Scratch, encoded: EncodedTable, release: Relation, spec: ReleaseSpec) -> tuple[int | None, str]:
    import numpy as np

    from sqlanon.release.audit.kernels.regular_graph import MOST_EDGES, find_fitting, find_greatest_flow

    layout = format_of(spec.format.kind).layout(encoded.roles, encoded.quasi, spec.format)
    lacking = set(layout.of_class) - {column.name for column in release.columns}
    if lacking:
        return (
            None,
            f"not decided: the release has no column {', '.join(sorted(lacking))}, which the policy publishes",
        )
    codes, members = count_tuples(scratch, encoded.work, encoded.quasi)
    columns = [{"code": domain.code, "names": layout.names[domain.code].list_columns()} for domain in encoded.quasi]
    cells = scratch.table("cells")
    scratch.execute("regular/cells", cells=cells, target=release.ref, columns=columns)
    cell, alike = count_tuples(scratch, cells, encoded.quasi, "_sqlanon_")
    try:
        means = find_covered_codes(scratch, format_of(spec.format.kind), encoded.quasi, layout.names, cells)
    except TooWideError:
        return None, "not decided: the published sets have too many values"
    starts, box = find_fitting(
        codes, cell, means.low, means.high, means.null, means.start, means.size, means.bits, MOST_EDGES
    )
    if len(starts) == 1:
        return None, f"not decided: more than {MOST_EDGES:,} pairs of rows and boxes fit"
    k, all_rows = spec.privacy.k, int(members.sum())
    owner = np.repeat(np.arange(len(members)), np.diff(starts))
    of_rows = np.bincount(owner, alike[box].astype(np.float64), len(members))
    of_boxes = np.bincount(box, members[owner].astype(np.float64), len(alike))
    least = int(min(of_rows.min(), of_boxes.min()))
    if least < k:
        few, rows = int(members[of_rows < k].sum()), int(alike[of_boxes < k].sum())
        why = f"{few} rows fit fewer than {k} boxes, and {rows} boxes fewer than {k} rows"
    else:
        if find_greatest_flow(starts, box, members, alike, k) == k * all_rows:
            return k, f"a {k}-regular graph exists, the draw is unknown"
        why = f"no {k}-regular graph of rows and boxes exists"
    below, above = (
        0,
        min(least + 1, k),
    )  # a k-regular graph without one of its matchings is a (k - 1)-regular one
    while above - below > 1:
        half = (below + above) // 2
        exists = find_greatest_flow(starts, box, members, alike, half) == half * all_rows
        below, above = (half, above) if exists else (below, half)
    return below, why

"""One small table in generations, so that a reader can distinguish a complete release from anything else."""

from __future__ import annotations

from typing import Any

ROWS = 40
"""Generation g has ROWS + g rows, each of which says g."""

_PEOPLE: dict[str, Any] = {
    "quasi": ["age", "sex"],
    "sensitive": "illness",
    "identifiers": "id",
    "insensitive": "generation",
}
RELEASE = {**_PEOPLE, "k": 3}
"""How `people` is released unless a test says otherwise."""
ANATOMY = {**_PEOPLE, "l": "5/4", "format": "anatomy"}

VERSIONS = "SELECT count(*), min(generation), max(generation) FROM release.people"


def write_people(engine: Any, generation: int = 0, table: str = "people") -> None:
    """Replace the table by another generation."""
    engine.execute(f"DROP TABLE IF EXISTS {table}")
    engine.execute(
        f"CREATE TABLE {table} AS SELECT i AS id, i % 7 AS age, CASE WHEN i % 2 = 0 THEN 'm' ELSE 'f' END AS sex, "
        f"CASE WHEN i % 3 = 0 THEN 'flu' ELSE 'cold' END AS illness, {generation} AS generation "
        f"FROM generate_series(1, {ROWS + generation}) AS g(i)"
    )


def is_whole(row: tuple[Any, ...]) -> bool:
    """Whether what VERSIONS gave is one complete generation."""
    count, low, high = row
    return bool(low == high and count == ROWS + low)


def generation_of(engine: Any) -> int:
    """The generation that readers see; it must be complete."""
    (row,) = engine.fetch(VERSIONS)
    assert is_whole(row), row
    return int(row[1])


def private_tables(engine: Any) -> set[str]:
    """What is in the private schema."""
    found = engine.fetch("SELECT table_name FROM information_schema.tables WHERE table_schema = '_sqlanon'")
    return {str(row[0]) for row in found}


def assert_tidy(db: Any) -> None:
    """No pending version, and no private table but those of live versions."""
    live = {"published", "replaced", "withdrawn"}
    rows = db.releases()
    assert {row.status for row in rows} <= {*live, "dropped", "discarded"}, rows
    numbers = {f"_v{row.version}" for row in rows if row.status in live}
    for table in private_tables(db.engine) - {"catalog", "secrets"}:
        bare = table.removesuffix("_link").removesuffix("_metadata").removesuffix("_sensitive")
        assert any(bare.endswith(number) for number in numbers), table

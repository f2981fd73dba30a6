"""The demonstration's directory: own files, how they are written, and contents of the warehouse.

A directory is ours if it holds our marker, or is empty or missing. No other is ever touched.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from sqlanon.demo.hospital import COLUMNS, draw_patients, zip_hierarchy
from sqlanon.engines.base import PRIVATE_SCHEMA
from sqlanon.errors import DatabaseError, LockedError, PolicyError

if TYPE_CHECKING:
    from sqlanon.database import Database

MARKER = ".sqlanon-demo"
WAREHOUSE = "warehouse.duckdb"
CONNECTIONS = {"duckdb": f"duckdb:///{WAREHOUSE}", "spark": "spark+local:///warehouse.spark?cores=2"}
"""Where the warehouse of each engine is, from the directory."""
POLICY = "anon.yml"
SOURCE_CSV = "patients.csv"
HIERARCHY = "hierarchies/zip.csv"
OWN = (WAREHOUSE, f"{WAREHOUSE}.wal", SOURCE_CSV, HIERARCHY)

POLICY_TEXT = """\
# Two releases of one hospital table. Try: sqlanon plan
version: 1
connection: {connection}

releases:
  # Researchers get every visit column; each row hides among at least 10.
  - name: research
    source: main.patients
    publish: research.patients
    readers: [researchers]
    columns:
      patient_id: {role: identifier}
      name: {role: identifier, accept_repeats: true}   # two people may share a name
      birth_date: {role: quasi, weight: 2}             # researchers care most about age
      sex: {role: quasi}
      zip: {role: quasi, hierarchy: hierarchies/zip.csv}
      marital_status: {role: quasi}
      admitted: {role: quasi}
      ward: {role: insensitive}
      diagnosis: {role: sensitive}
      stay_days: {role: insensitive}
      cost: {role: insensitive}
    privacy: {k: 10}
    effort: fast   # made at once; the default, normal, loses a fifth less in 10 to 20 s
    format: ranges

  # Partners outside get less: in addition, no diagnosis is more than a third of a class.
  - name: partners
    source: main.patients
    publish: partners.patients
    readers: [partners]
    columns:
      patient_id: {role: identifier}
      name: {role: identifier, accept_repeats: true}
      birth_date: {role: quasi}
      sex: {role: quasi}
      zip: {role: quasi, hierarchy: hierarchies/zip.csv}
      diagnosis: {role: sensitive}
      cost: {role: insensitive}
    rest: drop
    privacy: {k: 10, l: 3}
    effort: fast
    format: ranges
"""


def policy_text(engine: str) -> str:
    """The policy, for the warehouse of an engine."""
    return POLICY_TEXT.replace("{connection}", CONNECTIONS[engine])


def claim_directory(directory: Path) -> tuple[str, ...]:
    """Make the directory ours and remove files that an earlier demonstration left; gives the names removed.

    Raises:
        PolicyError: the directory is not ours.
        LockedError: a process holds the warehouse.
    """
    marker = directory / MARKER
    if directory.exists() and not directory.is_dir():
        raise PolicyError(f"--dir {directory} is not a directory; name an empty or a new directory")
    if directory.is_dir() and not marker.is_file() and any(directory.iterdir()):
        raise PolicyError(f"--dir {directory} holds files that are not the demo's: name an empty or a new directory")
    directory.mkdir(parents=True, exist_ok=True)
    if (directory / WAREHOUSE).is_file():
        _ensure_free(directory / WAREHOUSE)
    marker.write_text("Made by `sqlanon demo`, which may replace its own files here.\n", encoding="utf-8")
    removed = []
    for name in OWN:
        path = directory / name
        if path.is_file():
            path.unlink()
            removed.append(name)
    policy = directory / POLICY
    if policy.is_file() and policy.read_text(encoding="utf-8") not in map(policy_text, CONNECTIONS):
        policy.replace(directory / f"{POLICY}.old")
    return tuple(removed)


def write(directory: Path, rows: int, seed: int, engine: str) -> None:
    """Draw the patients and write them with hierarchy and policy."""
    (directory / HIERARCHY).parent.mkdir(exist_ok=True)
    with (directory / HIERARCHY).open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, delimiter=";", lineterminator="\n").writerows(zip_hierarchy())
    columns = draw_patients(rows, seed)
    with (directory / SOURCE_CSV).open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    (directory / POLICY).write_text(policy_text(engine), encoding="utf-8")


def create(directory: Path, engine: str) -> str:
    """Give the URL of the warehouse; DuckDB's is made first, as `connect` opens existing files only."""
    from sqlanon import connect

    if engine == "spark":
        return CONNECTIONS[engine].replace(":///", f":///{directory.resolve()}/")
    warehouse = (directory / WAREHOUSE).resolve()
    with connect("duckdb:///:memory:") as memory:
        assert memory.engine.second_file is not None  # it is DuckDB
        with memory.engine.second_file.attach(str(warehouse)):
            pass
    return f"duckdb:///{warehouse}"


def fill(database: Database, directory: Path, engine: str) -> None:
    """Load the patients into the warehouse, with the schemas of both releases.

    On Spark the schemas of an earlier demonstration may be there already.
    """
    path = str(directory.resolve() / SOURCE_CSV).replace("'", "''")
    names = ", ".join(name for name, _ in COLUMNS)
    if engine == "spark":
        for schema in ("main", "research", "partners", PRIVATE_SCHEMA):
            database.engine.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        types = ", ".join(f"{name} {kind.replace('VARCHAR', 'STRING')}" for name, kind in COLUMNS)
        database.engine.execute(f"CREATE TEMPORARY VIEW csv ({types}) USING csv OPTIONS (path '{path}', header 'true')")
        database.engine.execute("CREATE SCHEMA main")
        reader = "csv"
    else:
        types = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS)
        reader = (
            f"read_csv('{path}', header = true, auto_detect = false, delim = ',', quote = '\"', columns = {{{types}}})"
        )
    database.engine.execute(f"CREATE TABLE main.patients AS SELECT {names} FROM {reader}")  # noqa: S608 - names of our own
    for schema in ("research", "partners"):
        database.engine.execute(f"CREATE SCHEMA IF NOT EXISTS {schema}")


def _ensure_free(warehouse: Path) -> None:
    """Refuse to replace a file that somebody holds; one that cannot be opened for another reason is ours to drop."""
    from sqlanon import connect

    try:
        connect(f"duckdb:///{warehouse.resolve()}").close()
    except LockedError:
        raise
    except DatabaseError:
        return

"""Print what each pass makes of a query.

python -m tests.query_passes.show "count under a range"
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import sqlanon
from tests.engines import ENGINES
from tests.query_passes.people import load
from tests.query_passes.queries import QUERIES
from tests.query_passes.render import passes


def main(names: list[str]) -> None:
    """The SQL of every pass, for the queries of these names or for all."""
    with TemporaryDirectory() as directory, sqlanon.connect(ENGINES[0].fresh(Path(directory))) as db:
        released, joinable = load(db)
        for name in names or QUERIES:
            made = passes(db.engine, QUERIES[name].text, released, joinable)
            print(f"# {name}\n\n-- input\n{QUERIES[name].text}\n")
            for title, block in made.rendered().items():
                text = block.sql(dialect="duckdb", pretty=True, max_text_width=120)
                print(f"-- {title}\n{text}\n")


if __name__ == "__main__":
    main(sys.argv[1:])

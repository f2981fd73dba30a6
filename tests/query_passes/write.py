"""Write the expected blocks of the fixtures anew from their input, to be read before they are kept.

python -m tests.query_passes.write
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import sqlanon
from tests.engines import ENGINES
from tests.query_passes.people import load
from tests.query_passes.render import passes
from tests.query_passes.test_passes import FIXTURES, blocks, fields


def main() -> None:
    """Every fixture: its title and its input stay."""
    with TemporaryDirectory() as directory, sqlanon.connect(ENGINES[0].fresh(Path(directory))) as db:
        released, joinable = load(db)
        for path in FIXTURES:
            title = path.read_text(encoding="utf-8").splitlines()[0]
            text = blocks(path)["input"]
            made = passes(db.engine, text, released, joinable)
            boxes = ", ".join(f"{name} {column}" for name, column in fields(made).items())
            parts = [f"{title}\n-- boxes: {boxes}".rstrip(), f"-- input\n{text}"]
            parts += [
                f"-- {name}\n{block.sql(dialect='duckdb', pretty=True, max_text_width=120)}"
                for name, block in made.rendered().items()
            ]
            path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

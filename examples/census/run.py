"""Census (SAL): 500,000 people, hierarchies converted on the fly, k-anonymity with l-diversity.

python -m examples.census.run [--engine duckdb|postgres|both] [--db URL]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from examples.census.hierarchies import convert
from examples.sources import SAL, DataMissingError, data_folder
from examples.walk import Example, arguments, walk

COLUMNS = ("age", "sex", "education", "marital", "race", "workclass", "country", "salary")
COMMANDS = ("plan", "run", "audit release.sal --sensitive salary", "releases")


def main() -> int:
    """Load SAL and walk through `COMMANDS`."""
    options = arguments(__doc__)
    try:
        data = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    with tempfile.TemporaryDirectory(prefix="sqlanon-hierarchies-") as folder:
        convert(data / "census" / "hierarchies", Path(folder), COLUMNS)
        environ = {"SQLANON_CENSUS_HIERARCHIES": folder}
        return walk(Example("sal", data / SAL, Path(__file__).parent, COMMANDS, environ), options)


if __name__ == "__main__":
    sys.exit(main())

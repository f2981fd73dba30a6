"""Adult: one table, a k-anonymous release for researchers and an l-diverse one for partners.

python -m examples.adult.run [--engine duckdb|postgres|both] [--db URL]
"""

from __future__ import annotations

import sys
from pathlib import Path

from examples.sources import ADULT, DataMissingError, data_folder
from examples.walk import Example, arguments, walk

COMMANDS = (
    "plan",
    "run",
    "audit research.adult --sensitive income",
    "audit --together research partners",
    "releases",
)


def main() -> int:
    """Load Adult and walk through `COMMANDS`."""
    options = arguments(__doc__)
    try:
        data = data_folder()
    except DataMissingError as missing:
        print(missing)
        return 0
    environ = {"SQLANON_DATA": str(data)}
    return walk(Example("adult", data / ADULT, Path(__file__).parent, COMMANDS, environ), options)


if __name__ == "__main__":
    sys.exit(main())

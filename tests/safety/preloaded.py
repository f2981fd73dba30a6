"""What the process has that others are forked from: all that a run imports, kernels that can be called, templates.

Each of them would spend most of its time on that. It opens no database.
"""

from contextlib import suppress

from sqlanon import database  # noqa: F401 - what a run imports
from sqlanon.declared import METHODS
from sqlanon.engines.duckdb import engine as duckdb  # noqa: F401
from sqlanon.engines.postgres import engine as postgres  # noqa: F401
from sqlanon.formats import format_of
from sqlanon.methods.method import import_method
from sqlanon.methods.onedim import direct, dual, orders  # noqa: F401
from sqlanon.methods.onedim.kernels.fast_runs import find_best_row_runs  # noqa: F401
from sqlanon.release import run  # noqa: F401
from sqlanon.release.budget import nights  # noqa: F401
from sqlanon.release.versions import noisy  # noqa: F401
from sqlanon.sqltext.compile import _template
from sqlanon.sqltext.find import _root
from tests.contract.samples import MIXED
from tests.properties.kernel import kernel_mondrian
from tests.safety import people  # noqa: F401

with suppress(ImportError):
    from opendp import domains, measurements, metrics, mod  # noqa: F401

format_of("ranges")
for name in ("mondrian", "tree"):
    import_method(METHODS[name])
kernel_mondrian(MIXED.table, MIXED.privacy, "strict", "loss")
for folder in ("budget", "catalog", "loss", "noisy", "publish", "recode", "refresh", "table", "verify"):
    for path in _root().glob(f"*/{folder}/*.sql"):
        written = path.relative_to(_root()).parts[0]
        _template(str(path), "duckdb" if written == "core" else written)

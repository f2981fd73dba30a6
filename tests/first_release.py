"""Install a wheel in a fresh environment and make a first release with it: ``python -m tests.first_release WHEEL``.

Prints JSON: seconds of the processor and of the clock of the command, and how many functions it compiled. The packages
come from the package index, in the versions that `requirements/run.txt` pins. Only the standard library is needed.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = (
    "import duckdb; duckdb.connect('t.duckdb').execute(\"CREATE TABLE t AS SELECT i AS id, i % 50 AS age, i * 7 % 11 "
    "AS zip, 'd' || i % 5 AS s FROM range(1000) r(i)\")"
)
RELEASE = "anonymize t --db duckdb:///t.duckdb --qi age,zip --sensitive s --k 5 --l 2 --rest drop --to shared.t"


def main(wheel: Path) -> None:
    """Install, release, print."""
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        venv.create(folder / "env", with_pip=True)
        python = folder / "env" / "bin" / "python"
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements" / "run.txt"], check=True)
        subprocess.run([*pip, "--no-deps", wheel.resolve()], check=True)
        own = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        for name in ("PYTHONPATH", "PYTHONPYCACHEPREFIX", "NUMBA_CACHE_DIR"):
            own.pop(name, None)
        subprocess.run([python, "-c", TABLE], cwd=folder, check=True)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        command = [folder / "env" / "bin" / "sqlanon", "-q", *RELEASE.split()]
        subprocess.run(command, cwd=folder, env=own, check=True, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        compiled = len(list((folder / "cache").rglob("*.nbi")))
        print(
            json.dumps(
                {"wheel": wheel.name, "processor": round(used, 2), "seconds": round(seconds, 2), "compiled": compiled}
            )
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))

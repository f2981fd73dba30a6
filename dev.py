#!/usr/bin/env python3
"""Everything a checkout needs, with nothing but Python and git: makes .venv, installs into it what is pinned, runs.

dbt, which the tests run and sqlanon does not import, gets an environment of its own: .venv-dbt; so does the
documentation site: .venv-docs.

    python3 dev.py demo    run the demonstration (installs what sqlanon itself needs; with --engine spark also what
                           Spark needs)
    python3 dev.py test    run the tests, PostgreSQL and Spark included (installs what development needs; Spark wants
                           Java 17)
                           (--thorough: what the default run leaves out; --changed: what a change needs)
    python3 dev.py check   run the linters and the type checker
    python3 dev.py ready   before a commit: check, then the tests of generated files, of what changed, and those that
                           failed last
    python3 dev.py docs    build the documentation site into site/; a warning fails the build
    python3 dev.py wheel   build a wheel for this Python and this kind of processor into dist/, with compiled kernels
                           in it
    python3 dev.py lock    write the constraints anew from pyproject.toml

More words go to what is run: ``python3 dev.py demo --help``, ``python3 dev.py test -k mondrian``.
Only the standard library belongs here; what is installed is written in pyproject.toml and the constraints.
"""

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / "bin"
RUN = "requirements/run.txt"
DEV = "requirements/dev.txt"
SPARK = "requirements/spark.txt"
DBT_VENV = ROOT / ".venv-dbt"
DBT = "requirements/dbt.txt"
DOCS_VENV = ROOT / ".venv-docs"
DOCS = "requirements/docs.txt"
LOCK = (
    "--quiet",
    "--generate-hashes",
    "--allow-unsafe",
    "--strip-extras",
    "--no-emit-index-url",
    "--no-emit-trusted-host",
    "--no-emit-find-links",
    "--no-emit-options",
    "--build-deps-for=editable",
)
CHECKS = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports", "--no-logo"),
)


def stop(problem: str) -> None:
    """End with a message and the exit code of a usage error."""
    print(f"dev.py: {problem}", file=sys.stderr)
    sys.exit(2)


def run(*command: object) -> None:
    """Run one command in the checkout; end with its exit code where it fails."""
    code = subprocess.run([str(part) for part in command], cwd=ROOT, check=False).returncode
    if code:
        print(f"dev.py: failed ({code}): {' '.join(str(part) for part in command)}", file=sys.stderr)
        sys.exit(code)


def become(*command: object) -> None:
    """Replace this process by a command."""
    sys.stdout.flush()
    os.execv(str(command[0]), [str(part) for part in command])


def works(folder: Path) -> bool:
    """Whether an environment was made here (not moved here), and its interpreter starts and has pip."""
    python = folder / "bin" / "python"
    try:
        here = f" {folder}\n" in (folder / "pyvenv.cfg").read_text()
        return (
            here and not subprocess.run([str(python), "-c", "import pip"], capture_output=True, check=False).returncode
        )
    except OSError:
        return False


def install(constraints: str, folder: Path = VENV) -> None:
    """Make an environment hold exactly what a constraints file pins, and this checkout. Quick when it already does."""
    inputs = (ROOT / constraints, ROOT / "pyproject.toml", ROOT / "sqlanon" / "_version.py")
    wanted = hashlib.sha256(b"".join(path.read_bytes() for path in inputs)).hexdigest()
    stamp = folder / f"installed-{Path(constraints).name}"
    python = folder / "bin" / "python"
    if not works(folder):
        try:
            import ensurepip  # noqa: F401 - only asked whether it is there
        except ImportError:
            stop("this Python cannot make virtual environments; on Debian and Ubuntu: apt-get install python3-venv")
        print(f"dev.py: making {folder.name} with Python {sys.version.split()[0]}", flush=True)
        venv.create(folder, clear=folder.exists(), with_pip=True, symlinks=True)
    elif stamp.exists() and stamp.read_text() == wanted:
        return
    print(f"dev.py: installing {constraints} into {folder.name} (once; about a minute)", flush=True)
    pip = (python, "-m", "pip", "--disable-pip-version-check", "install", "-qq")
    if folder == VENV:
        run(*pip, "--require-hashes", "-r", constraints)
        run(*pip, "--no-deps", "--no-build-isolation", "--no-index", "--editable", ".")
    else:
        # Without --no-deps pip asks for hashes of extras, which constraints do not name; all that is needed is in the
        # file.
        run(*pip, "--no-deps", "--require-hashes", "-r", constraints)
        # dbt and what would build this checkout need different versions of one package, so it is put on the path by
        # hand.
        (packages,) = (folder / "lib").glob("python3*/site-packages")
        (packages / "sqlanon.pth").write_text(f"{ROOT}\n")
    stamp.write_text(wanted)


def check() -> None:
    """Run all checks at once, show what each printed, and say which failed."""
    started = []
    for name, *arguments in CHECKS:
        printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the others
        command = [str(BIN / name), *arguments]
        process = subprocess.Popen(command, cwd=ROOT, stdout=printed, stderr=subprocess.STDOUT)
        started.append((" ".join([name, *arguments]), process, printed))
    failed = []
    for shown, process, printed in started:
        if process.wait():
            failed.append(shown)
        print(f"dev.py: {shown}", flush=True)
        with printed:
            printed.seek(0)
            sys.stdout.buffer.write(printed.read())
        sys.stdout.flush()
    if failed:
        print(f"dev.py: failed: {', '.join(failed)}", file=sys.stderr)
        sys.exit(1)


def test(rest: list) -> None:
    """Replace this process by the tests."""
    os.chdir(ROOT)
    # The tests start hundreds of interpreters, which read bytecode from here, also where none shall lie beside the
    # sources.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(VENV / "bytecode")
    # The order of sets is the same in every run.
    os.environ.setdefault("PYTHONHASHSEED", "0")
    if "--changed" not in rest:
        # Compile the kernels once, before several test processes would each do it at the same time.
        run(BIN / "python", "-m", "tests.compiled")
    become(
        BIN / "python",
        "-m",
        "pytest",
        "--numprocesses=auto",
        "--maxprocesses=4",
        "--dist=worksteal",
        *rest,
    )


def wheel() -> None:
    """Compile what first releases need for a level of processors, and build a wheel that holds it."""
    code = "from sqlanon.kernels.wheel_kernels import settings; print(*(f'{k}={v}' for k, v in settings().items()))"
    settings = subprocess.run([str(BIN / "python"), "-c", code], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    variables = dict(pair.split("=", 1) for pair in settings.stdout.decode().split())
    with tempfile.TemporaryDirectory() as directory:
        os.environ.update(variables, NUMBA_CACHE_DIR=directory)
        run(BIN / "sqlanon", "warm")
        for name in variables:
            del os.environ[name]
        os.environ["SQLANON_COMPILED"] = str(Path(directory, "sqlanon-kernels"))
        run(BIN / "python", "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist")


def lock() -> None:
    """Resolve pyproject.toml anew; the oldest supported Python decides, so that every newer one agrees."""
    if sys.version_info[:2] != (3, 11):
        stop("lock with Python 3.11, the oldest that is supported")
    with tempfile.TemporaryDirectory() as directory:
        venv.create(directory, with_pip=True)
        run(Path(directory, "bin", "python"), "-m", "pip", "install", "--quiet", "pip-tools")
        compile_ = (Path(directory, "bin", "pip-compile"), *LOCK)
        with_cli = (*compile_, "--extra", "cli")
        run(*with_cli, "--extra", "dev", "--output-file", DEV, "pyproject.toml")
        run(*with_cli, "--constraint", DEV, "--output-file", RUN, "pyproject.toml")
        run(*with_cli, "--extra", "spark", "--constraint", DEV, "--output-file", SPARK, "pyproject.toml")
        # Beside dbt, sqlanon's own dependencies keep the versions that sqlanon is tested with; the rest is dbt's
        # choice.
        import tomllib

        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        extras = project["optional-dependencies"]
        declared = [*project["dependencies"], *extras["cli"]]
        names = {re.match(r"[\w-]+", requirement)[0].lower() for requirement in declared}
        pins = re.findall(r"^([a-z0-9-]+)==(\S+) ", (ROOT / RUN).read_text(), flags=re.MULTILINE)
        own = Path(directory, "own.txt")
        own.write_text("".join(f"{name}=={version}\n" for name, version in pins if name in names))
        without_build = [option for option in compile_ if not str(option).startswith("--build-deps-for")]
        dbt = (*without_build, "--extra", "cli", "--extra", "dev-dbt", "--constraint", own)
        run(*dbt, "--output-file", DBT, "pyproject.toml")
        wanted = Path(directory, "docs.in")
        wanted.write_text("\n".join(extras["docs"]))
        run(*without_build, "--no-annotate", "--output-file", DOCS, wanted)
        for name, made_from, shown in ((DBT, own, RUN), (DOCS, wanted, wanted.name)):
            made = ROOT / name
            made.write_text(made.read_text().replace(str(made_from), shown))


def main(arguments: list) -> None:
    """Do what the first word says; hand the others on."""
    if sys.version_info < (3, 11):
        stop(f"sqlanon needs Python 3.11 or newer, this is {sys.version.split()[0]}; try: python3.13 dev.py ...")
    command, *rest = arguments or ["help"]
    if command == "demo":
        install(RUN)
        if "spark" in rest:
            install(SPARK)
        become(BIN / "sqlanon", "demo", *rest)
    elif command == "test":
        install(DEV)
        install(SPARK)
        install(DBT, DBT_VENV)
        test(rest)
    elif command == "check":
        install(DEV)
        check()
    elif command == "ready":
        install(DEV)
        check()
        test(["-q", "--changed", *rest])
    elif command == "docs":
        install(DOCS, DOCS_VENV)
        os.environ["NO_MKDOCS_2_WARNING"] = "1"
        become(DOCS_VENV / "bin" / "python", "-m", "mkdocs", "build", *rest)
    elif command == "wheel":
        install(DEV)
        wheel()
    elif command == "lock":
        lock()
    else:
        print(__doc__)
        sys.exit(0 if command in ("help", "-h", "--help") else 2)


if __name__ == "__main__":
    main(sys.argv[1:])

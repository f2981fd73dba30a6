"""An example for each command that works in a separate project.

The command's help ends with it, and so does an error of the arguments.
"""

EXAMPLES = {
    "demo": "sqlanon demo --rows 20000",
    "init": "sqlanon init --db duckdb:///warehouse.duckdb patients -o anon.yml",
    "anonymize": "sqlanon anonymize patients.csv --qi age,zip --sensitive diagnosis --rest drop --k 10 --to "
    "patients_anon.csv",
    "plan": "sqlanon plan -p anon.yml",
    "preview": "sqlanon preview patients -p anon.yml",
    "run": "sqlanon run -p anon.yml",
    "audit": "sqlanon audit release.patients --sensitive diagnosis --db duckdb:///warehouse.duckdb",
    "attack": "sqlanon attack patients --known age,zip",
    "query": "sqlanon query 'SELECT count(*) FROM patients WHERE age < 40'",
    "serve": "sqlanon serve --db postgresql://localhost/hospital --as analyst --users users.txt",
    "mcp": "sqlanon mcp --db postgresql://localhost/hospital --as analyst",
    "evaluate": "sqlanon evaluate patients",
    "compare": "sqlanon compare patients -p anon.yml --k 5,10,20",
    "report": "sqlanon report patients -o report.html",
    "evidence": "sqlanon evidence patients -o evidence.zip",
    "hierarchy": "sqlanon hierarchy patients zip",
    "budget": "sqlanon budget patients -p anon.yml",
    "releases": "sqlanon releases patients",
    "approve": "sqlanon approve patients --by 'A. Officer' --until 2027-06-30",
    "approvals": "sqlanon approvals patients",
    "revoke": "sqlanon revoke patients --by 'A. Officer'",
    "diff": "sqlanon diff patients@1 patients@2",
    "rollback": "sqlanon rollback patients --to 1",
    "unpublish": "sqlanon unpublish patients",
    "erase": "sqlanon erase patients --key-file erased.csv",
    "clean": "sqlanon clean -p anon.yml",
    "install-functions": "sqlanon install-functions --db duckdb:///warehouse.duckdb",
    "methods": "sqlanon methods fulldomain",
    "schema": "sqlanon schema",
    "warm": "sqlanon warm anon.yml",
}

"""Apache Superset as a client: a connection, a dataset, a chart, SQL Lab, by its own REST interface without a browser.

    python tests/serve/superset_client.py postgresql+psycopg2://ann:secret@127.0.0.1:5433/x visits diagnosis age

It runs in Superset's environment (docs/serve.md), and prints one JSON object.
"""

import json
import sys

from superset.app import create_app  # type: ignore[import-not-found]


def main(uri: str, table: str, key: str, number: str) -> None:
    client = create_app().test_client()
    login = {"username": "admin", "password": "admin", "provider": "db", "refresh": False}
    token = client.post("/api/v1/security/login", json=login).get_json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    # Superset checks requests that write by this token and the session's cookie as well, which the client keeps.
    headers["X-CSRFToken"] = client.get("/api/v1/security/csrf_token/", headers=headers).get_json()["result"]

    def post(path: str, **asked: object) -> dict:
        return client.post(f"/api/v1/{path}", json=asked, headers=headers).get_json()

    def get(path: str) -> dict:
        return client.get(f"/api/v1/{path}", headers=headers).get_json()

    tested = post("database/test_connection/", sqlalchemy_uri=uri, database_name="releases")
    database = post("database/", sqlalchemy_uri=uri, database_name="releases", expose_in_sqllab=True)["id"]
    tables = get(f"database/{database}/tables/?q=(schema_name:public)")["result"]
    dataset = post("dataset/", database=database, schema="public", table_name=table)["id"]
    columns = get(f"dataset/{dataset}")["result"]["columns"]
    mean = {"expressionType": "SIMPLE", "aggregate": "AVG", "column": {"column_name": number}, "label": "mean"}
    query = {
        "columns": [key],
        "metrics": ["count", mean],
        "filters": [{"col": number, "op": "<", "val": 33}],
        "orderby": [["count", False]],
        "row_limit": 100,
    }
    source = {"id": dataset, "type": "table"}
    chart = post("chart/data", datasource=source, force=True, queries=[query], result_format="json", result_type="full")
    said = {}
    for name, sql in (
        ("bounds", f"SELECT {key}, count(*) AS n, n_low, n_high FROM {table} WHERE {number} < 33 GROUP BY {key}"),
        ("rows", f"SELECT * FROM {table}"),
    ):
        asked = {"database_id": database, "schema": "public", "sql": sql, "runAsync": False, "client_id": name}
        found = post("sqllab/execute/", **asked)
        said[name] = found.get("data") or [error["message"] for error in found["errors"]]
    print(
        json.dumps(
            {
                "connection": tested["message"],
                "tables": [one["value"] for one in tables],
                "columns": {one["column_name"]: [one["type"], one["description"]] for one in columns},
                "chart": chart["result"][0]["data"],
                **said,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])

import sqlanon


def model(dbt, session):
    dbt.config(materialized="table")
    return sqlanon.dbt.release(
        dbt.ref("stg_patients"),
        session,
        name=dbt.this.identifier,
        quasi=["age", "sex", "zip"],
        sensitive="diagnosis",
        identifiers=["patient_id", "name"],
        accept_repeats="name",
        rest="drop",
        k=5,
        l=2,
        format="points",
    )

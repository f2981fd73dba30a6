"""Plan: the stages of a run and whether they can be carried out, cost, columns and SQL."""

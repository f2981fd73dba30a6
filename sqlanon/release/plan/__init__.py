"""Plan: the stages of a run and whether they can be carried out, its cost, its columns and its SQL."""

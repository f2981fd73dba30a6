"""The experiments of Doka et al. (2015), section 8: `python -m benchmarks.papers.doka`.

`data` has the tables in the paper's measure, `concealment` its comparator that gives no equally likely matches,
`systems` names all that are compared, `experiments` lists the points of each figure, `runs` measures them, `pictures`
draws them. docs/doka2015.md says what they show.
"""

"""The experiments of Ghinita et al. (TODS 2009), section 7: `python -m benchmarks.papers.ghinita`.

`data` loads and draws the tables, `contenders` names the methods, `experiments` lists the releases that a figure needs,
`runs` makes them, `pictures` draws them. docs/ghinita2009.md says what they show.
"""

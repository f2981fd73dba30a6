"""The experiments of Xiao, Yi and Tao (EDBT 2010), section 6: `python -m benchmarks.papers.xiao`.

`experiments` names the methods and lists the releases that a figure needs, `runs` makes them, `pictures` draws them.
docs/xiao2010.md says what they show. The tables are those of `benchmarks.papers.ghinita`.
"""

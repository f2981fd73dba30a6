"""The experiments of papers, and what sqlanon makes of them: see benchmarks/README.md."""

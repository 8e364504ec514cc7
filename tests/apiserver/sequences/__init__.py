"""The differential test: random operations on the embedded server and on the real one, whose answers must be equal.

`python -m tests.apiserver.sequences [--operations N] [--seed N]` from the root of the repository runs one.
"""

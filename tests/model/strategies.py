"""Random JSON."""

from __future__ import annotations

from hypothesis import strategies as st

names = st.sampled_from(["a", "b", "c", "d/e", "f~g", "", "0"])
scalars = st.one_of(
    st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 1e300]), st.sampled_from(["", "x", "y", "ü"])
)


def documents(leaves=scalars):
    return st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4), max_leaves=12
    )


values = documents(scalars | st.none())
objects = st.dictionaries(names, values, max_size=5)
objects_without_null = st.dictionaries(names, documents(), max_size=5)

"""The fidelity suite: black-box cases, recorded from the real kube-apiserver, replayed on the embedded one.

    cases/*.yaml      what is asked: one subject a file (`cases.py` has the format)
    bases.yaml        objects that cases start from
    recorded/*.json   what kube-apiserver answered, normalised; written by `record.py`, never by hand
    known.yaml        where the embedded server still differs, each with its reason

Record anew with `python -m tests.apiserver.fidelity.record` from the root of the repository.
"""

"""An API server in memory that keeps its promises and fails as it is told: a test double for whole operators.

What it answers is what a kube-apiserver answers: test_fakeapi.py asks both the same questions. Left out are schemas,
admission (but see `Objects.admit`), conversion, strategic patches, garbage collection and everything about namespaces.
"""

__all__ = ["Asked", "FakeApi", "Fault"]

from .server import Asked, FakeApi, Fault

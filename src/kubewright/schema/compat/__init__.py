"""CRDs over time: what a change breaks, and manifests of old APIs made new. Reads files, nothing else."""

__all__ = [
    "Change",
    "Conversion",
    "DiffError",
    "DiffReport",
    "convert_crd",
    "convert_files",
    "diff",
    "diff_crds",
    "diff_files",
    "read_crds",
]

from .changes import Change, DiffReport
from .convert import Conversion, convert_crd, convert_files
from .crds import DiffError, diff, diff_crds, diff_files, read_crds

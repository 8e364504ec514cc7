"""Manifests checked without a cluster: what `kubewright validate` does. Reads files, nothing else."""

__all__ = ["Finding", "Report", "Sources", "read_sources", "validate"]

from .report import Finding, Report
from .sources import Sources, read_sources
from .validate import validate

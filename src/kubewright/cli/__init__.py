"""The `kubewright` command. Every command is a call of a public function of the rooms below."""

__all__ = ["main"]

from .main import main

"""A person at a shell: kubectl commands against one server, and what they printed, made comparable.

What differs between two runs of the same commands is masked: ages, uids, versions, addresses, times, random ends of
names. Everything else must be equal.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_COMMAND_SECONDS = 60.0

_MASKS = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "UID"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)? [+-]\d{4}"), "TIME"),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} [\d:]+ [+-]\d{4}"), "TIME"),
    (re.compile(r"(resourceVersion\"?:\s*\"?)\d+"), r"\1RV"),
    (re.compile(r"(Resource Version:\s+)\d+"), r"\1RV"),
    (re.compile(r"\b10\.\d+\.\d+\.\d+\b"), "ADDRESS"),
    (re.compile(r"https://127\.0\.0\.1:\d+"), "SERVER"),
    (re.compile(r"(?<![\w.-])(\d+[smhd]){1,2}(?![\w.-])"), "AGE"),
    # Quoted is what the server's patching has left of the patch, and who owns which fields of the object.
    (re.compile(r'patch: Invalid value: ".*": '), 'patch: Invalid value: "...": '),
    (re.compile(r"/tmp/(LIVE|MERGED)-\d+"), r"/tmp/\1"),
    (re.compile(r"debugger-[a-z0-9]{5}"), "debugger-ANY"),
    (re.compile(r"nodePort: \d+|\d{5}/TCP"), "NODEPORT"),
)


@dataclass(frozen=True, slots=True)
class Said:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    def masked(self) -> str:
        """All of it, comparable: columns are as wide as what is in them, so spaces count as one."""
        text = f"exit {self.code}\n{self.out}" + (f"\nstderr: {self.err}" if self.err else "")
        for pattern, mask in _MASKS:
            text = pattern.sub(mask, text)
        lines = [re.sub(r"\s{2,}", "  ", line.rstrip()) for line in text.splitlines()]
        return "\n".join(line for line in lines if line)


class Session:
    """kubectl with one kubeconfig, and folders of its own for its caches and the files of its commands."""

    def __init__(self, kubectl: Path, kubeconfig: Path, folder: Path, namespace: str) -> None:
        self._kubectl, self._folder, self.namespace = kubectl, folder, namespace
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "KUBECONFIG": str(kubeconfig),
            "KUBECACHEDIR": str(folder / "cache"),
        }

    def run(self, *arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> Said:
        """Run one command to its end."""
        done = subprocess.run(
            [str(self._kubectl), "--namespace", self.namespace, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            cwd=self._folder,
            env={**self._env, **(env or {})},
        )
        return Said(
            done.returncode, done.stdout.replace(self.namespace, "NS"), done.stderr.replace(self.namespace, "NS")
        )

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start one that goes on. Its output is a pipe; the caller ends it."""
        return subprocess.Popen(
            [str(self._kubectl), "--namespace", self.namespace, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._folder,
            env=self._env,
        )

    def transcript(self, commands: Sequence[Command]) -> str:
        """What a row of commands printed, each under its own line."""
        said = []
        for command in commands:
            env = {"KUBE_EDITOR": command.editor} if command.editor else None
            words = [each.replace("NAMESPACE", self.namespace) for each in command.arguments]
            found = self.run(*words, stdin=command.stdin, env=env)
            shown = "(not compared)" if command.is_private else found.masked()
            said.append(f"$ kubectl {' '.join(command.arguments)}\n{shown}\n")
        return "\n".join(said).replace(self.namespace, "NS")


@dataclass(frozen=True, slots=True)
class Command:
    """One line of a transcript. `editor` is the program behind `kubectl edit`; `is_private` output is not compared."""

    arguments: tuple[str, ...]
    stdin: str = ""
    editor: str = ""
    is_private: bool = False


def kubectl(line: str, stdin: str = "", *, editor: str = "", private: bool = False) -> Command:
    """A command as it is typed into a shell."""
    return Command(tuple(shlex.split(line)), stdin, editor, private)

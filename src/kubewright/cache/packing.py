"""Objects as compressed bytes: zstd with a dictionary that is trained from the first objects of the kind.

Objects of one kind are alike, and small: alone they compress to a half, with a dictionary of what they share to a
tenth. The first `SAMPLES` of a kind are kept as they are, and are what the dictionary is trained from; from then on
each entry is packed when it comes, and unpacked whenever somebody looks at its `data`. A kind with fewer objects than
that is never packed: there is nothing to gain.

Measured (`python -m bench.memory`): Pods of 3.7 KB become 360 bytes, and 1.1 KB of the process with all around them in
place of 4.9; packing costs 12 microseconds, unpacking 6, the training 0.1 s once. One packer per kind, since kinds
share nothing.

Needs `compression.zstd` (Python 3.14) or the package zstandard (the extra `kubewright[compression]`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from .entry import Entry
from .intake import Intake

__all__ = ["NoCompression", "PackedEntry", "Packer", "require_zstd"]

SAMPLES = 500
_DICTIONARY_BYTES = 65536
_LEVEL = 3


class NoCompression(RuntimeError):
    """There is no zstd."""


class Codec(Protocol):
    """Compresses bytes and back."""

    @property
    def pack(self) -> Callable[[bytes], bytes]: ...

    @property
    def unpack(self) -> Callable[[bytes], bytes]: ...


_stored = Entry.data.__get__  # type: ignore[attr-defined]  # the slot itself, below the property of the subclass


class PackedEntry(Entry, frozen=True, gc=False):
    """An entry whose `data` is unpacked whenever somebody looks at it."""

    codec: Codec

    @property  # type: ignore[misc]
    def data(self) -> bytes:
        return self.codec.unpack(_stored(self))

    @property
    def stored_bytes(self) -> int:
        return len(_stored(self))


class Packer:
    """Packs the entries of one kind.

    Args:
        samples: how many objects the dictionary is trained from.

    Raises:
        NoCompression: there is no zstd; the message says what to install.
    """

    def __init__(self, *, samples: int = SAMPLES) -> None:
        self._train = _trainer()
        self._wanted = samples
        self._samples: list[bytes] = []
        self._codec: Codec | None = None

    def after(self, intake: Intake | None) -> Intake:
        """An intake that packs what another one has made of an entry."""
        if intake is None:
            return self.pack
        return lambda entry: self.pack(intake(entry))

    def pack(self, entry: Entry) -> Entry:
        """The entry, packed as soon as there is a dictionary."""
        codec = self._codec
        if codec is None:
            self._samples.append(entry.data)
            if len(self._samples) >= self._wanted:
                self._codec = self._train(self._samples)
                self._samples = []
            return entry
        return PackedEntry(
            entry.namespace,
            entry.name,
            entry.uid,
            entry.resource_version,
            entry.generation,
            codec.pack(entry.data),
            codec,
        )


def require_zstd() -> None:
    """Raise NoCompression where there is no zstd."""
    _trainer()


def _trainer() -> Callable[[list[bytes]], Codec]:
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise NoCompression(
                "CacheOptions(compress=True) needs zstd: pip install 'kubewright[compression]', or Python 3.14"
            ) from None
        return lambda samples: _Zstandard(zstandard, samples)
    return lambda samples: _Standard(zstd, samples)


class _Zstandard:
    """By the package zstandard, whose objects are made once and used over and over."""

    def __init__(self, zstandard: Any, samples: list[bytes]) -> None:
        dictionary = zstandard.train_dictionary(_DICTIONARY_BYTES, samples, level=_LEVEL)
        dictionary.precompute_compress(level=_LEVEL)
        compress = zstandard.ZstdCompressor(level=_LEVEL, dict_data=dictionary).compress
        self.pack: Callable[[bytes], bytes] = lambda data: _exact(compress(data))
        self.unpack: Callable[[bytes], bytes] = zstandard.ZstdDecompressor(dict_data=dictionary).decompress


class _Standard:
    """By the standard library."""

    def __init__(self, zstd: Any, samples: list[bytes]) -> None:
        dictionary = zstd.train_dict(samples, _DICTIONARY_BYTES)
        digested = dictionary.as_digested_dict
        self.pack: Callable[[bytes], bytes] = lambda data: _exact(zstd.compress(data, _LEVEL, zstd_dict=digested))
        self.unpack: Callable[[bytes], bytes] = lambda packed: zstd.decompress(packed, zstd_dict=dictionary)


def _exact(packed: bytes) -> bytes:
    """A copy in memory of its own size.

    A compressor's result was allocated for the worst case and shrunk in place. The rest is too small for the next one,
    and so lost: the process would stay as large as without compression.
    """
    return bytes(memoryview(packed))

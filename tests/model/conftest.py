"""Examples of property tests have no deadline: how long one takes says more about the machine than about the code."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("kubewright", deadline=None)
settings.load_profile("kubewright")

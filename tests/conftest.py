"""Its place puts this folder on the import path, so that tests in all rooms can `import virtual`.

Examples of property tests have no deadline: how long one takes says more about the machine than about the code. CI
takes the same examples in every run, so that it fails for what a change did and for nothing else; elsewhere they are
new ones each time, and what they find becomes a test.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("kubewright", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("kubewright")

"""The built-in kinds of Kubernetes 1.37 as typed models, one module per group version.

```python
from kubewright.models.apps.v1 import Deployment
from kubewright.models.core.v1 import Pod
```

Importing this package imports none of them. The modules are generated, from a server with its default settings:

    kubectl proxy &
    python -m kubewright.generate.built_in http://127.0.0.1:8001 [--check]

Besides their fields classes have Kubernetes' merge facts as data, where there are any; names are those on the wire:

| class attribute | holds |
|---|---|
| `__list_map_keys__` | list field -> the keys that tell its items apart (`containers` -> `name`) |
| `__list_sets__` | list fields whose items are distinct scalars; every other list without keys is atomic |
| `__atomic_maps__`, `__atomic__` | object fields, and classes, that have one owner as a whole |
| `__patch_strategies__`, `__patch_merge_keys__` | what strategic merge patches go by |
| `__defaults__` | field -> what the server puts where it is absent |
"""

__all__ = ["OneOf", "built_in_kinds", "group_of", "module_of", "resolve"]

from .lookup import built_in_kinds, group_of, module_of, resolve
from .one_of import OneOf

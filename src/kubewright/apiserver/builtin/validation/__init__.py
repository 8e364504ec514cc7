"""What a server checks of the built-in kinds, with its texts, in its order.

One file per part of an object (containers, volumes, scheduling, ...) and per group of kinds. A check takes values in
wire form and a path, and gives a list of `FieldError`; `texts` has the checks of single strings and numbers, `labels`
those of labels and selectors. Values are decoded and defaulted: types are right, defaults are there.

Left out is what nobody meets in an operator's test: the vendors' volumes, Windows, AppArmor, device claims. An object
that a server refuses for one of these is accepted here.
"""

"""Examples in docstrings are not tested where the package that they need is not installed."""

from importlib.util import find_spec

collect_ignore = [f"mixfield/{name}" for name in ("napari", "torch") if find_spec(name) is None]

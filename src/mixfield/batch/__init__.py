"""`map` over many items: in this process, in worker processes or on a Dask cluster.  A stopped run can be resumed.

A caller needs a work function, items and an output folder::

    @dataclass(frozen=True)
    class SegmentImage:                    # pickled once per worker
        modes: int

        def __call__(self, image: Path, folder: Path) -> dict[str, float]:
            posterior = ...                # a MixfieldError becomes the failure of this item
            posterior.save(folder / f"{image.stem}.npz")
            return {"log_z": posterior.log_z}

    items = [Item(path.name, path, inputs=(path,)) for path in images]
    for outcome in batch.map(SegmentImage(4), items, out, settings={"modes": 4}, engine=Processes(2)):
        outcome.name, outcome.facts, outcome.failure

Files that the work writes into ``folder`` are moved to ``out`` under the same relative names when it returns.  The
returned facts are stored in the manifest and read back by ``batch.facts(out)``; work that only returns facts needs no
files.  Later calls may add items; items with a result are not repeated.  ``settings`` are everything else that the
results depend on: a folder with results of other settings is refused.  `mixfield.cli.batching` adds the options
``--engine``, ``--workers`` and ``--scheduler``, the progress bar and the summary.
"""

from mixfield.batch.cluster import Dask as Dask
from mixfield.batch.items import Engine as Engine
from mixfield.batch.items import Item as Item
from mixfield.batch.items import Outcome as Outcome
from mixfield.batch.items import Work as Work
from mixfield.batch.manifest import facts as facts
from mixfield.batch.mapping import map as map
from mixfield.batch.processes import Processes as Processes
from mixfield.batch.progress import Tally as Tally
from mixfield.batch.serial import Serial as Serial

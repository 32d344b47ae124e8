"""One `map` over many items, here, in processes or on a cluster, which can be stopped at any point and goes on.

A verb that works through many items needs a work function, items and a folder::

    @dataclass(frozen=True)
    class Segmented:                       # sent to every worker once; what it remembers stays there
        modes: int

        def __call__(self, image: Path, folder: Path) -> dict[str, float]:
            posterior = ...                # bad input: raise MixfieldError, the item fails with this reason
            posterior.save(folder / f"{image.stem}.npz")
            return {"log_z": posterior.log_z}

    items = [Item(path.name, path, inputs=(path,)) for path in images]
    for outcome in batch.map(Segmented(4), items, out, settings={"modes": 4}, engine=Processes(2)):
        outcome.name, outcome.facts, outcome.failure

Work that only returns facts needs no files: they are kept in the manifest, and ``batch.facts(out)`` reads them back.
More items may be given at any later time; those that have a result are not done again.

What the work writes into ``folder`` appears in ``out`` when it returns, under the same relative names.  ``settings``
are what the results depend on besides the items: a folder with results of others is refused.  On the command line
`mixfield.cli.batching` adds the options ``--engine``, ``--workers`` and ``--scheduler``, the progress and the summary.
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

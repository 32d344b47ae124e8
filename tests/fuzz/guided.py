"""Coverage-guided fuzzing of one parser, where atheris installs.

    python tests/fuzz/guided.py uai -max_total_time=60

Arguments after the name of the parser go to libFuzzer.  A finding ends it and leaves a file ``crash-...``: mend the
parser, and keep the file in ``tests/fuzz/corpus/NAME/``.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def main(name, *options):
    import atheris

    sys.path.insert(0, str(Path(__file__).parents[1]))
    with atheris.instrument_imports(include=["mixfield.io", "mixfield._npy", "mixfield.batch", "mixfield.mixture"]):
        from fuzz.parsers import CORPUS, PARSERS, attempt

    parser = PARSERS[name]
    with tempfile.TemporaryDirectory() as folder:
        known = [path.read_bytes() for path in (CORPUS / name.replace(" ", "_")).glob("*")]
        for k, content in enumerate(parser.seeds() + known):
            (Path(folder) / str(k)).write_bytes(content)
        atheris.Setup([sys.argv[0], *options, folder], lambda content: attempt(parser, content) and None)
        atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])

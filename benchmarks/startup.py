"""What a person waits for: help, the first answer after installation (compilation), later first answers.

python benchmarks/startup.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time


def seconds(code: str, cache: str) -> float:
    """Wall time of a fresh interpreter."""
    started = time.perf_counter()
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


HELP = "import sys; sys.argv = ['mixfield', '--help']; from mixfield.cli import main; main()"
FIRST = "import mixfield as mf; mf.infer(mf.datasets.random_ising(13), 4)"
DEMO = "import sys; sys.argv = ['mixfield', 'demo', '--json']; from mixfield.cli import main; main()"

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(f"bare interpreter          {seconds('pass', folder):.2f} s")
        print(f"import mixfield           {seconds('import mixfield', folder):.2f} s")
        print(f"mixfield --help           {min(seconds(HELP, folder) for _ in range(5)):.2f} s (promise: below 0.5)")
        print(f"first answer, compiling   {seconds(FIRST, folder):.2f} s")
        print(f"first answer, later       {seconds(FIRST, folder):.2f} s")
        print(f"mixfield demo, compiling  {seconds(DEMO, os.path.join(folder, 'other')):.2f} s")
        print(f"mixfield demo, later      {seconds(DEMO, os.path.join(folder, 'other')):.2f} s")

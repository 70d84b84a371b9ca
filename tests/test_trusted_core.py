"""The map says truthfully how much code must be believed."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_map_states_what_the_script_counts():
    script = ROOT / "docs" / "trusted_core.py"
    counted = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout.splitlines()
    stated = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()
    stale = [row for row in counted if row not in stated]
    assert not stale, f"Run python docs/trusted_core.py --write: the table in docs/architecture.md lacks {stale}."

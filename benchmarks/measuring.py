"""What benchmarks share: jobs that take turns, lines of figures, and files of results."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def alternating(first: Callable[[], object], second: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Return the best seconds of two jobs. They take turns, so that both meet the same state of the machine."""
    best = [float("inf"), float("inf")]
    for _ in range(repeats):
        for i, job in enumerate((first, second)):
            start = time.perf_counter()
            job()
            best[i] = min(best[i], time.perf_counter() - start)
    return best[0], best[1]


def show(figures: dict[str, Any], digits: str = ".4g") -> None:
    """Print the names and values of some figures on one line."""
    words = (
        f"{name} {value:{digits}}" if isinstance(value, float) else f"{name} {value}" for name, value in figures.items()
    )
    print("  ".join(words), flush=True)


def save(script: str, results: Any) -> None:
    """Write the results of a script to benchmarks/results."""
    path = Path(script).parent / "results" / f"{Path(script).stem}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(results, indent=1, default=float) + "\n", encoding="utf-8")
    print(f"Written to {path}")

"""One run of the statistics stage under Snakemake, with its time and its memory."""

import csv
import re
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
import psutil

from optionbias.errors import UserError

REPOSITORY = Path(__file__).parents[1]
RULE_FILES = ("statistics", "across_cells", "across_cells_by_item")
_RULE = re.compile(r"^rule (\w+):", re.MULTILINE)
_SECONDS_BETWEEN_LOOKS = 0.5
_SCAN = "SELECT count(*), sum(list_sum(letter_logprobs)) FROM probabilities"


@dataclass(frozen=True)
class StageRun:
    """What one run of the stage took.

    Attributes:
        seconds: wall time, the start of Snakemake included.
        peak_bytes: largest sum of the resident memory of Snakemake and all its jobs;
            memory that they share counts once for each.
        rule_seconds: wall time of each rule's job.
        rule_cpu_seconds: its processor time, which other programs disturb less.
    """

    seconds: float
    peak_bytes: int
    rule_seconds: dict[str, float]
    rule_cpu_seconds: dict[str, float]


def stage_rules() -> list[str]:
    """Return the names of the stage's rules, read from its rule files."""
    folder = REPOSITORY / "workflow/rules"
    texts = [(folder / f"{name}.smk").read_text(encoding="utf-8") for name in RULE_FILES]
    return [name for text in texts for name in _RULE.findall(text)]


def run_stage(folder: Path, config: Path, cores: int) -> StageRun:
    """Run every rule of the stage on the store in ``folder``; nothing else may run.

    Raises:
        UserError: Snakemake failed; the message holds the end of its output.
    """
    command = [
        sys.executable, "-m", "snakemake", "--cores", str(cores),
        "--snakefile", str(REPOSITORY / "Snakefile"), "--directory", str(folder),
        "--configfile", str(config), "--allowed-rules", *stage_rules(), "--", "statistics",
    ]  # fmt: skip
    log = folder / "snakemake.log"
    started = time.perf_counter()
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=output, stderr=subprocess.STDOUT)
        watch = MemoryWatch(process.pid)
        code = process.wait()
        seconds = time.perf_counter() - started
        peak = watch.stop()
    if code:
        end = log.read_text(encoding="utf-8")[-3_000:]
        raise UserError(f"the statistics stage failed; look into {folder}\n{end}")
    timings = folder / "results/timings"
    return StageRun(seconds, peak, _measured(timings, "s"), _measured(timings, "cpu_time"))


class MemoryWatch:
    """Looks twice a second at what a process and all its descendants hold in memory."""

    def __init__(self, pid: int) -> None:
        """Begin to watch."""
        self._root = psutil.Process(pid)
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """End and return the largest sum in bytes."""
        self._ended.set()
        self._thread.join()
        return self._peak

    def _look(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_LOOKS):
            self._peak = max(self._peak, self._resident())

    def _resident(self) -> int:
        total = 0
        # A process may end while it is being looked at.
        with suppress(psutil.Error):
            for process in (self._root, *self._root.children(recursive=True)):
                with suppress(psutil.Error):
                    total += process.memory_info().rss
        return total


def scan_seconds(store: Path) -> tuple[float, int]:
    """Return the seconds of one scan of every log-probability of a store, and its rows.

    A new connection with two threads, so that nothing of the file is in DuckDB's own
    memory; the machine may still hold it in its cache.
    """
    started = time.perf_counter()
    with duckdb.connect(store, read_only=True, config={"threads": 2}) as connection:
        found = connection.execute(_SCAN).fetchone()
    assert found is not None
    return time.perf_counter() - started, int(found[0])


def _measured(folder: Path, column: str) -> dict[str, float]:
    """Read one column of Snakemake's own measurements of every rule's job, largest first."""
    seconds = {}
    for path in sorted(folder.glob("*.tsv")):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="\t"))
        seconds[path.stem] = sum(float(row[column]) for row in rows)
    return dict(sorted(seconds.items(), key=lambda entry: -entry[1]))

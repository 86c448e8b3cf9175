"""Scripts under Snakemake and in a shell: the same arguments reach `main`."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from optionbias.errors import UserError
from optionbias.script import job_arguments, run

REPOSITORY = Path(__file__).parents[2]
SCRIPTS = sorted((REPOSITORY / "scripts").rglob("*.py"))


class Named(list[Any]):
    """Values in sequence, some of them with names, as Snakemake hands them over."""

    def __init__(self, **named: Any) -> None:
        super().__init__(named.values())
        self._named = named

    def items(self) -> list[tuple[str, Any]]:
        return list(self._named.items())


def job(**parts: Any) -> SimpleNamespace:
    empty = {name: Named() for name in ("input", "output", "params", "wildcards", "resources")}
    return SimpleNamespace(**{**empty, "log": [], "threads": 3, "rule": "do_it"} | parts)


def test_every_kind_of_argument_reaches_main() -> None:
    def main(
        one: Path, several: list[Path], none: list[Path], made: Path,
        setting: str, checkpoint: str, token_budget: int, threads: int,
    ) -> None:  # fmt: skip
        raise AssertionError("not called")

    arguments = job_arguments(
        main,
        job(
            input=Named(one="a.txt", several=["b.txt", "c.txt"], none=[]),
            output=Named(made="d.txt"),
            params=Named(setting="{}", code="0123"),
            wildcards=Named(checkpoint="x"),
            resources=Named(token_budget=8, mem_mb=100),
        ),
    )
    assert arguments == {
        "one": Path("a.txt"), "several": [Path("b.txt"), Path("c.txt")], "none": [],
        "made": Path("d.txt"), "setting": "{}", "checkpoint": "x", "token_budget": 8, "threads": 3,
    }  # fmt: skip


def test_one_file_for_a_list_of_files_becomes_a_list() -> None:
    def main(several: list[Path]) -> None: ...

    assert job_arguments(main, job(input=Named(several="a"))) == {"several": [Path("a")]}


def test_empty_input_for_one_file_becomes_none() -> None:
    def main(shots: Path | None = None) -> None: ...

    assert job_arguments(main, job(input=Named(shots=[]))) == {"shots": None}


def test_list_of_one_file_becomes_that_file() -> None:
    def main(shots: Path | None = None) -> None: ...

    assert job_arguments(main, job(input=Named(shots=["a"]))) == {"shots": Path("a")}


def test_several_files_for_one_path_are_refused() -> None:
    def main(one: Path) -> None: ...

    with pytest.raises(LookupError, match="do_it gives 2 files for the one 'one'"):
        job_arguments(main, job(input=Named(one=["a", "b"])))


def test_default_stands_where_the_rule_gives_nothing() -> None:
    def main(shots: Path | None = None) -> None: ...

    assert job_arguments(main, job()) == {}


def test_parameter_without_counterpart_is_named() -> None:
    def main(absent: str) -> None: ...

    with pytest.raises(LookupError, match="do_it gives no 'absent'"):
        job_arguments(main, job())


def test_param_wins_over_wildcard_and_resource_of_its_name() -> None:
    def main(name: str) -> None: ...

    crowded = job(params=Named(name="p"), wildcards=Named(name="w"), resources=Named(name="r"))
    assert job_arguments(main, crowded) == {"name": "p"}


def test_run_calls_main_and_logs_what_it_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def main(word: str) -> None:
        print(f"the word is {word}")

    log = tmp_path / "logs/job.log"
    run(main, job(params=Named(word="elm"), log=[str(log)]))
    assert log.read_text() == "the word is elm\n"
    assert capsys.readouterr().out == "the word is elm\n"


def test_rule_that_lacks_an_argument_leaves_the_reason_in_the_log(tmp_path: Path) -> None:
    def main(absent: str) -> None: ...

    log = tmp_path / "job.log"
    with pytest.raises(SystemExit):
        run(main, job(log=[str(log)]))
    assert "do_it gives no 'absent'" in log.read_text()


def test_run_ends_a_failing_job_with_status_one(tmp_path: Path) -> None:
    def main() -> None:
        raise UserError("items.jsonl: line 3 is empty; delete it")

    log = tmp_path / "job.log"
    with pytest.raises(SystemExit) as raised:
        run(main, job(log=[str(log)]))
    assert raised.value.code == 1
    assert log.read_text() == "error: items.jsonl: line 3 is empty; delete it\n"


def shell(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(REPOSITORY / "scripts" / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_explains_itself_in_a_shell(script: Path) -> None:
    done = shell(str(script), "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage" in done.stdout
    assert "[OPTIONS]" in done.stdout
    assert "Arguments" not in done.stdout


def prepare_items(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    settings = (
        '{"n_options":4,"limit":3,"canonical_order":"auto","order_dependent":"keep",'
        '"strip_blanks":false,"seed":0}'
    )
    return shell(
        "items/prepare_items.py", "--benchmark", "capitals", "--source", source,
        "--settings", settings, "--inputs", "unused",
        "--asked", str(folder / "asked.parquet"), "--excluded", str(folder / "excluded.parquet"),
        "--summary", str(folder / "summary.json"),
    )  # fmt: skip


def test_script_does_its_work_in_a_shell(tmp_path: Path) -> None:
    done = prepare_items('{"type":"builtin","name":"capitals"}', tmp_path)
    assert done.returncode == 0, done.stderr
    assert "capitals: 3 items of" in done.stdout
    assert len(list(tmp_path.iterdir())) == 3


def test_mistake_in_a_shell_is_one_line_without_traceback(tmp_path: Path) -> None:
    done = prepare_items('{"type":"files","path":"no.jsonl"}', tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: no.jsonl")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []

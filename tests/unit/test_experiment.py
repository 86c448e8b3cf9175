"""What rules ask of a configuration: paths that exist, params that change only with meaning."""

import json
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from optionbias.config.experiment import Experiment, plain_json
from optionbias.config.loading import load_config
from optionbias.errors import UserError

REPOSITORY = Path(__file__).parents[2]
REVISION = "0123456789abcdef0123456789abcdef01234567"
FACTS = {"family": "f", "parameters": 2**30, "stage": "base"}
CONTENT: dict[str, Any] = {
    "checkpoints": {
        "local": FACTS | {"source": {"type": "path", "path": "models"}},
        "hub": FACTS
        | {"source": {"type": "hub", "id": "o/n", "revision": REVISION}, "dtype": "bfloat16"},
        "unused": FACTS | {"source": {"type": "path", "path": "nowhere"}},
    },
    "benchmarks": {
        "capitals": {"source": {"type": "builtin", "name": "capitals"}, "n_options": 4},
        "files": {
            "source": {"type": "files", "path": "${ITEMS}/items.jsonl"},
            "n_options": 3,
            "few_shot": {"path": "pool.jsonl"},
        },
    },
    "panels": [
        {"checkpoints": ["local"], "benchmarks": ["capitals", "files"],
         "readouts": ["zero_shot"], "design": "cyclic"},
        {"checkpoints": ["hub"], "benchmarks": ["files"], "readouts": ["five_shot"], "limit": 5},
    ],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with the files the configuration names."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models/config.json").write_text("{}")
    (tmp_path / "models/model.safetensors").write_text("w")
    (tmp_path / "models/folder").mkdir()
    (tmp_path / "items.jsonl").write_text("")
    (tmp_path / "pool.jsonl").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ITEMS", str(tmp_path))
    return tmp_path


def experiment(content: dict[str, Any] = CONTENT) -> Experiment:
    return Experiment(load_config(content), REPOSITORY)


def changed(path: str, value: object) -> dict[str, Any]:
    """Return the configuration with one value replaced, named by its keys joined by dots."""
    content: Any = deepcopy(CONTENT)
    *parents, last = path.split(".")
    place = content
    for key in parents:
        place = place[int(key)] if key.isdigit() else place[key]
    place[last] = value
    result: dict[str, Any] = content
    return result


def of(checkpoint: str = "", benchmark: str = "", readout: str = "") -> SimpleNamespace:
    return SimpleNamespace(checkpoint=checkpoint, benchmark=benchmark, readout=readout)


def refusal(content: dict[str, Any]) -> str:
    with pytest.raises(UserError) as raised:
        experiment(content)
    return str(raised.value)


@pytest.mark.usefixtures("folder")
class TestIdentifiers:
    def test_cells_and_their_paths_are_sorted(self) -> None:
        assert experiment().cell_paths == [
            "results/cells/five_shot/files/hub.parquet",
            "results/cells/zero_shot/capitals/local.parquet",
            "results/cells/zero_shot/files/local.parquet",
        ]

    def test_checkpoint_that_no_panel_asks_for_is_left_alone(self) -> None:
        assert experiment().checkpoints == ["hub", "local"]

    def test_benchmark_of_omitted_cells_alone_is_left_alone(self) -> None:
        omitted = {"readout": "zero_shot", "benchmark": "capitals", "checkpoint": "local",
                   "reason": "r"}  # fmt: skip
        found = experiment(CONTENT | {"omit": [omitted]})
        assert found.benchmarks == ["files"]
        assert json.loads(found.omitted()) == [omitted]


@pytest.mark.usefixtures("folder")
class TestPaths:
    def test_missing_checkpoint_folder_is_named_with_its_key(self) -> None:
        message = refusal(changed("checkpoints.local.source.path", "no/such/folder"))
        assert "checkpoints.local.source" in message
        assert "no/such/folder does not exist" in message

    def test_missing_items_file_is_named_with_its_key(self) -> None:
        message = refusal(changed("benchmarks.files.source.path", "no.jsonl"))
        assert "benchmarks.files.source" in message
        assert "no.jsonl does not exist" in message

    def test_missing_pool_is_named(self) -> None:
        message = refusal(changed("benchmarks.files.few_shot.path", "no_pool.jsonl"))
        assert "benchmarks.files" in message
        assert "no_pool.jsonl does not exist" in message

    def test_relative_path_says_where_it_starts(self, folder: Path) -> None:
        assert str(folder) in refusal(changed("checkpoints.local.source.path", "none"))

    def test_variable_that_is_not_set_is_named_with_its_key(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("ITEMS")
        message = refusal(CONTENT)
        assert "benchmarks.files.source.path" in message
        assert "ITEMS" in message

    def test_variables_are_expanded_in_sources_and_inputs(self, folder: Path) -> None:
        found = experiment()
        benchmark, path = of(benchmark="files"), str(folder / "items.jsonl")
        assert found.benchmark_inputs(benchmark) == [path]
        assert found.pool_inputs(benchmark) == ["pool.jsonl"]
        assert json.loads(found.benchmark_source(benchmark))["path"] == path
        source = json.loads(found.pool_source(benchmark))
        assert [source["path"], source["pool_path"]] == [path, "pool.jsonl"]

    def test_items_do_not_depend_on_the_few_shot_pool(self) -> None:
        assert "pool" not in experiment().benchmark_source(of(benchmark="files"))

    def test_variable_in_the_checkpoint_folder_is_expanded(self, folder: Path) -> None:
        found = experiment(CONTENT | {"checkpoint_dir": "${ITEMS}/scratch"})
        assert found.checkpoint_dir(of()) == f"{folder}/scratch"


@pytest.mark.usefixtures("folder")
class TestInputs:
    def test_files_of_a_checkpoint_folder_are_watched(self) -> None:
        inputs = experiment().checkpoint_inputs(of("local"))
        assert inputs == ["models/config.json", "models/model.safetensors"]

    def test_single_checkpoint_file_is_watched(self, folder: Path) -> None:
        (folder / "m.gguf").write_text("GGUF")
        found = experiment(changed("checkpoints.local.source.path", "m.gguf"))
        assert found.checkpoint_inputs(of("local")) == ["m.gguf"]

    def test_hub_checkpoint_waits_for_its_fetch(self) -> None:
        assert experiment().checkpoint_inputs(of("hub")) == ["results/checkpoints/hub.fetched.json"]

    def test_builtin_benchmark_needs_no_file(self) -> None:
        assert experiment().benchmark_inputs(of(benchmark="capitals")) == []

    def test_only_readouts_that_show_examples_need_them(self) -> None:
        found = experiment()
        assert found.cell_shots(of("local", "files", "zero_shot")) == []
        assert found.cell_shots(of("hub", "files", "five_shot")) == [
            "results/items/files.shots.parquet"
        ]

    def test_examples_are_prepared_where_a_panel_shows_some(self) -> None:
        found = experiment()
        assert found.n_shots(of(benchmark="capitals")) == 0
        assert found.n_shots(of(benchmark="files")) == 5
        assert found.shots_paths == ["results/items/files.shots.parquet"]

    def test_omitted_few_shot_cell_keeps_the_examples(self) -> None:
        omitted = {"readout": "five_shot", "benchmark": "files", "checkpoint": "hub", "reason": "r"}
        found = experiment(CONTENT | {"omit": [omitted]})
        assert found.n_shots(of(benchmark="files")) == 5

    def test_local_checkpoint_is_never_fetched(self) -> None:
        with pytest.raises(UserError, match="hub"):
            experiment().hub_checkpoint(of("local"))


PARAMS = {
    "checkpoint_source": of("hub"),
    "hub_checkpoint": of("hub"),
    "checkpoint_dir": of("hub"),
    "benchmark_source": of(benchmark="files"),
    "pool_source": of(benchmark="files"),
    "item_settings": of(benchmark="files"),
    "n_shots": of(benchmark="files"),
    "cell_design": of("hub", "files", "five_shot"),
    "cell_orderings": of("hub", "files", "five_shot"),
    "cell_limit": of("hub", "files", "five_shot"),
    "prompt_style": of("hub", "files", "five_shot"),
    "computation": of("hub"),
}
SETTINGS = ["checkpoint_facts", "store_settings", "factor_settings", "omitted",
            "order_dependent_policies"]  # fmt: skip


def params(content: dict[str, Any]) -> dict[str, Any]:
    """Return every param of a configuration."""
    found = experiment(content)
    asked = {name: getattr(found, name)(wildcards) for name, wildcards in PARAMS.items()}
    return asked | {name: getattr(found, name)() for name in SETTINGS}


def differing(content: dict[str, Any]) -> set[str]:
    """Return the params that a changed configuration changes."""
    before, after = params(CONTENT), params(content)
    return {name for name in before if before[name] != after[name]}


def reordered(value: Any) -> Any:
    """Return plain data with the keys of every mapping in reverse sequence."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    return [reordered(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.usefixtures("folder")
class TestParams:
    def test_sequence_of_the_keys_changes_no_param(self) -> None:
        assert differing(reordered(CONTENT)) == set()

    def test_written_default_changes_no_param(self) -> None:
        assert differing(changed("benchmarks.files.canonical_order", "auto")) == set()

    def test_params_are_plain_scalars_and_lists_of_them(self) -> None:
        for value in params(CONTENT).values():
            entries = value if isinstance(value, list) else [value]
            assert all(isinstance(entry, str | int) for entry in entries)

    @pytest.mark.parametrize(
        ("path", "value", "names"),
        [
            ("checkpoints.hub.source.revision", REVISION[::-1],
             {"checkpoint_source", "hub_checkpoint"}),
            ("checkpoints.hub.dtype", "float16", {"computation", "checkpoint_facts"}),
            ("checkpoints.hub.device", "cpu", {"computation"}),
            ("checkpoints.hub.trust_remote_code", True, {"computation"}),
            ("checkpoints.hub.family", "g", {"checkpoint_facts"}),
            ("panels.1.design", "cyclic", {"cell_design", "cell_orderings"}),
            ("panels.1.limit", 4, {"cell_limit"}),
            ("benchmarks.files.limit", 4, {"item_settings"}),
            ("benchmarks.files.strip_blanks", True, {"item_settings"}),
            ("benchmarks.files.order_dependent", "report",
             {"item_settings", "order_dependent_policies"}),
            ("checkpoint_dir", "elsewhere", {"checkpoint_dir"}),
            ("seeds", {"items": 1}, {"item_settings", "cell_limit"}),
            ("seeds", {"ties": 1}, {"store_settings"}),
            ("seeds", {"calibration": 1}, {"store_settings"}),
            ("seeds", {"statistics": 1}, {"factor_settings"}),
            ("statistics", {"calibration_share": 0.25}, {"store_settings"}),
            ("statistics", {"noise_draws": 500}, {"factor_settings"}),
        ],
    )  # fmt: skip
    def test_setting_changes_its_params_alone(
        self, path: str, value: object, names: set[str]
    ) -> None:
        assert differing(changed(path, value)) == names

    def test_json_is_compact_sorted_and_keeps_letters(self) -> None:
        assert plain_json({"b": [1, 2.5, None], "a": "é"}) == '{"a":"é","b":[1,2.5,null]}'

    def test_memory_covers_weights_and_doubles_with_every_attempt(self) -> None:
        found = experiment()
        first = found.cell_memory_mb(of("local"))
        assert first > found.cell_memory_mb(of("hub")) > 2048
        assert found.cell_memory_mb(of("local"), attempt=2) == 2 * first

    def test_code_of_scripts_differs(self) -> None:
        found = experiment()
        scripts = ["cells/score_cell.py", "store/build_store.py", "items/prepare_items.py"]
        assert len({found.code(script) for script in scripts}) == 3


def test_mistakes_of_every_file_are_found_before_they_are_merged(folder: Path) -> None:
    path = folder / "twice.yaml"
    path.write_text("seeds: {items: 1}\nseeds: {items: 2}\n")
    with pytest.raises(UserError, match="seeds"):
        Experiment.load(CONTENT, [str(path)], str(REPOSITORY))


def test_origin_of_a_mistake_is_the_configuration_file(folder: Path) -> None:
    path = folder / "some.yaml"
    path.write_text("checkpoint_dir: 3\n")
    with pytest.raises(UserError, match=r"some\.yaml"):
        Experiment.load(CONTENT | {"checkpoint_dir": 3}, [str(path)], str(REPOSITORY))

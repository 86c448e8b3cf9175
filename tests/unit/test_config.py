"""The configuration: what loads, and one clear message with the key for every mistake."""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from optionbias.cli import application
from optionbias.config.loading import (
    expand_variables,
    load_config,
    load_config_file,
    read_yaml,
)
from optionbias.config.matrix import cell_matrix
from optionbias.errors import UserError

REPOSITORY = Path(__file__).parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHA256 = COMMIT + "0123456789abcdef01234567"

CONTENT = yaml.safe_load(f"""
checkpoints:
  hub-model:
    source: {{type: hub, id: owner/name, revision: {COMMIT}}}
    family: F
    parameters: 10
    stage: base
  path-model:
    source: {{type: path, path: models/x}}
    family: F
    parameters: 10
    stage: post-trained
    base: hub-model
  package-model:
    source: {{type: package, requirements: [a==1], files: [a/b.gguf], sha256: {SHA256}}}
    family: F
    parameters: 10
    stage: base
benchmarks:
  files:
    source: {{type: files, path: items.jsonl}}
    n_options: 4
  hub:
    source: {{type: hub, id: owner/set, split: test, revision: {COMMIT}}}
    n_options: 4
    few_shot: {{split: dev}}
  generated:
    source: {{type: builtin, name: capitals}}
    n_options: 4
panels:
  - {{checkpoints: [hub-model, path-model], benchmarks: [files, hub], readouts: [zero_shot]}}
  - {{checkpoints: [package-model], benchmarks: [generated], readouts: [five_shot]}}
""")


def changed(path: str, value: Any) -> dict[str, Any]:
    """Return the content with one key set; '-' as value takes the key away."""
    content = copy.deepcopy(CONTENT)
    *parents, last = [int(part) if part.isdecimal() else part for part in path.split("/")]
    target: Any = content
    for part in parents:
        target = target[part]
    if value == "-":
        del target[last]
    else:
        target[last] = value
    return content


def message(content: dict[str, Any]) -> str:
    with pytest.raises(UserError) as raised:
        load_config(content, "my.yaml")
    return str(raised.value)


def test_content_the_mistakes_are_made_in_is_itself_without_one() -> None:
    config = load_config(CONTENT)
    assert len(cell_matrix(config).cells) == 5
    assert config.checkpoints["hub-model"].trust_remote_code is False
    assert config.checkpoints["hub-model"].dtype == "float32"


MISTAKES: list[tuple[str, Any, str, str]] = [
    # key changed, value, key the message must name, what it must say
    ("checkpoints/hub-model/paramters", 1, "checkpoints.hub-model.paramters",
     "did you mean 'parameters'?"),
    ("checkpoints/hub-model/source/revison", "x", "checkpoints.hub-model.source.revison",
     "did you mean 'revision'?"),
    ("panel", [], "panel", "did you mean 'panels'?"),
    ("xyzzy", 1, "xyzzy", "config/README.md lists every key"),
    ("benchmarks/files/source/fields", {"answers": "x"}, "benchmarks.files.source.fields.answers",
     "did you mean 'answer'?"),
    ("statistics", {"calibration_shares": 0.1}, "statistics.calibration_shares",
     "did you mean 'calibration_share'?"),
    ("checkpoints/hub-model/family", "-", "checkpoints.hub-model.family", "required"),
    ("checkpoints/hub-model/source", "-", "checkpoints.hub-model.source", "required"),
    ("checkpoints/hub-model/source/type", "-", "checkpoints.hub-model.source.type", "required"),
    ("checkpoints/path-model/source/path", "-", "checkpoints.path-model.source.path", "required"),
    ("benchmarks/hub/source/split", "-", "benchmarks.hub.source.split", "required"),
    ("panels", "-", "panels", "required"),
    ("checkpoints/hub-model/source/type", "hubb", "checkpoints.hub-model.source.type",
     "one of 'hub', 'path', 'package'"),
    ("benchmarks/files/source/type", "file", "benchmarks.files.source.type", "'files'"),
    ("checkpoints/hub-model/source/revision", "main", "checkpoints.hub-model.source.revision",
     "'main' is not a commit: 40 hexadecimal digits"),
    ("checkpoints/hub-model/source/revision", COMMIT[:-1],
     "checkpoints.hub-model.source.revision", "40 hexadecimal digits"),
    ("checkpoints/hub-model/source/revision", COMMIT.upper(),
     "checkpoints.hub-model.source.revision", "lower case"),
    ("checkpoints/hub-model/source/revision", COMMIT + "\n",
     "checkpoints.hub-model.source.revision", "40 hexadecimal digits"),
    ("checkpoints/hub-model/source/revision", int("1" * 40),
     "checkpoints.hub-model.source.revision", "write it in quotes"),
    ("benchmarks/hub/source/revision", "v1.0", "benchmarks.hub.source.revision", "commit"),
    ("checkpoints/hub-model/source/id", "name", "checkpoints.hub-model.source.id", "owner/name"),
    ("checkpoints/package-model/source/sha256", COMMIT, "checkpoints.package-model.source.sha256",
     "64 hexadecimal digits"),
    ("checkpoints/package-model/source/files", [], "checkpoints.package-model.source.files",
     "at least 1"),
    ("checkpoints/hub-model/parameters", "135M", "checkpoints.hub-model.parameters", "'135M'"),
    ("checkpoints/hub-model/parameters", 0, "checkpoints.hub-model.parameters", "greater than 0"),
    ("checkpoints/hub-model/dtype", "fp32", "checkpoints.hub-model.dtype",
     "'float32', 'bfloat16' or 'float16'"),
    ("checkpoints/hub-model/stage", "instruct", "checkpoints.hub-model.stage", "'post-trained'"),
    ("checkpoints/hub-model/base", "other", "checkpoints.hub-model.base", "leave it out"),
    ("checkpoints/path-model/base", "path-model", "checkpoints.path-model.base", "itself"),
    ("checkpoints/hub-model/trust_remote_code", "yes please",
     "checkpoints.hub-model.trust_remote_code", "boolean"),
    ("checkpoints/hub-model/trust_remote_code", 1, "checkpoints.hub-model.trust_remote_code",
     "boolean"),
    ("benchmarks/files/n_options", 1, "benchmarks.files.n_options", "greater than or equal to 2"),
    ("benchmarks/files/n_options", 27, "benchmarks.files.n_options", "less than or equal to 26"),
    ("benchmarks/files/n_options", "4", "benchmarks.files.n_options", "integer"),
    ("benchmarks/files/limit", True, "benchmarks.files.limit", "integer"),
    ("benchmarks/files/limit", 0, "benchmarks.files.limit", "greater than or equal to 1"),
    ("benchmarks/files/source", "items.jsonl", "benchmarks.files.source", "mapping"),
    ("benchmarks/files/source/fields", {"choices": 3}, "benchmarks.files.source.fields.choices",
     "list"),
    ("benchmarks/files/source/fields", {"answer_format": "label"},
     "benchmarks.files.source.fields", "'labels'"),
    ("benchmarks/files/canonical_order", "random", "benchmarks.files.canonical_order",
     "'shuffled'"),
    ("benchmarks/files/few_shot", {"split": "dev"}, "benchmarks.files.few_shot", "'path'"),
    ("benchmarks/hub/few_shot", {"path": "x"}, "benchmarks.hub.few_shot", "'split'"),
    ("benchmarks/hub/few_shot", {"path": "x", "split": "dev"}, "benchmarks.hub.few_shot",
     "'split'"),
    ("benchmarks/generated/few_shot", {"path": "x"}, "benchmarks.generated.few_shot", "its own"),
    ("benchmarks/generated/n_options", 5, "benchmarks.generated.n_options",
     "'capitals' has 4"),
    ("benchmarks/generated/source/name", "capital", "benchmarks.generated.source.name",
     "did you mean 'capitals'?"),
    ("panels/0/checkpoints", ["hub-modle"], "panels.0.checkpoints", "did you mean 'hub-model'?"),
    ("panels/0/checkpoints", ["zzz"], "panels.0.checkpoints",
     "known: hub-model, package-model, path-model"),
    ("panels/0/benchmarks", ["filez"], "panels.0.benchmarks", "did you mean 'files'?"),
    ("panels/0/readouts", ["zero-shot"], "panels.0.readouts", "did you mean 'zero_shot'?"),
    ("panels/0/readouts", ["five_shot"], "benchmarks.files.few_shot", "required"),
    ("panels/0/checkpoints", "hub-model", "panels.0.checkpoints", "list"),
    ("panels/0/checkpoints", [], "panels.0.checkpoints", "at least 1"),
    ("panels/0/checkpoints", ["Hub/Model"], "panels.0.checkpoints.0", "'Hub/Model' is not an id"),
    ("panels/0/design", "cyclc", "panels.0.design", "'cyclic', 'cyclic+reversed' or 'all'"),
    ("panels/0/design", [[0, 1, 2, "x"]], "panels.0.design.0.3", "integer"),
    ("panels/0/design", [[0, 1, 2, 2]], "panels.0.design", "[0, 1, 2, 2] is no permutation"),
    ("panels/0/design", [[0, 1, 2]], "panels.0.design", "no permutation"),
    ("panels/0/design", [], "panels.0.design", "at least one ordering"),
    ("panels", [], "panels", "at least 1"),
    ("panels", None, "panels", "list"),
    ("omit", [{"readout": "zero_shot", "benchmark": "files", "checkpoint": "package-model",
               "reason": "no"}], "omit", "no panel has the cell zero_shot/files/package-model"),
    ("omit", [{"readout": "zero_shot", "benchmark": "files", "checkpoint": "hub-model",
               "reason": "no"}] * 2, "omit", "listed twice"),
    ("omit", [{"readout": "zero_shot", "benchmark": "files", "checkpoint": "hub-model",
               "reason": ""}], "omit.0.reason", "at least 1 character"),
    ("omit", [{"readout": "zero_shot", "benchmark": "files", "checkpoint": "hub-model"}],
     "omit.0.reason", "required"),
    ("statistics", {"calibration_share": 1}, "statistics.calibration_share", "less than 1"),
    ("statistics", {"bootstrap_draws": 10}, "statistics.bootstrap_draws", "100"),
    ("seeds", {"items": 1.5}, "seeds.items", "integer"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "key", "says"),
    MISTAKES,
    ids=[f"{path}={str(value)[:24]}" for path, value, *_ in MISTAKES],
)
def test_each_mistake_gives_one_message_with_its_key(
    path: str, value: Any, key: str, says: str
) -> None:
    first, *lines = message(changed(path, value)).split("\n")
    assert first == "my.yaml: a mistake in the configuration"
    (line,) = lines
    assert line.startswith((f"  - {key}: ", f"  - {key}, "))
    assert says in line
    assert "pydantic" not in line
    assert "Input" not in line


@pytest.mark.parametrize("name", ["Owner/Name", "a/b", "Capital", "-x", ".x", "a b", "", "x\n"])
@pytest.mark.parametrize("kind", ["checkpoints", "benchmarks"])
def test_id_that_does_not_fit_a_path_is_refused(kind: str, name: str) -> None:
    content = copy.deepcopy(CONTENT)
    content[kind][name] = next(iter(content[kind].values()))
    (line,) = message(content).split("\n  - ")[1:]
    assert line.startswith(f"{kind}.{name}: {name!r} is not an id: lower case letters")


def test_id_that_yaml_takes_for_no_text_is_named() -> None:
    content = copy.deepcopy(CONTENT)
    content["checkpoints"] |= {False: content["checkpoints"]["hub-model"]}
    assert "checkpoints.False: must be text; write it in quotes" in message(content)


def test_all_orderings_of_ten_options_are_refused() -> None:
    content = changed("panels/0/design", "all")
    content["benchmarks"]["files"]["n_options"] = 10
    (line,) = message(content).split("\n  - ")[1:]
    assert line.startswith("panels.0.design, benchmark 'files': the design 'all'")


def test_checkpoint_that_is_to_stay_on_the_cpu_and_to_be_spread_is_refused() -> None:
    content = changed("checkpoints/hub-model/device", "cpu")
    content["checkpoints"]["hub-model"]["device_map"] = "auto"
    assert "checkpoints.hub-model.device_map: device 'cpu'" in message(content)


def test_leaving_every_cell_out_is_refused() -> None:
    content = copy.deepcopy(CONTENT)
    content["panels"] = [content["panels"][1]]
    content["omit"] = [
        {"readout": "five_shot", "benchmark": "generated", "checkpoint": "package-model",
         "reason": "none"}
    ]  # fmt: skip
    assert "omit: every cell of the panels is left out" in message(content)


def test_several_mistakes_come_in_one_message() -> None:
    content = changed("checkpoints/hub-model/family", "-")
    content["panels"][0]["readouts"] = "zero_shot"
    content["seed"] = 1
    first, *lines = message(content).split("\n")
    assert first == "my.yaml: 3 mistakes in the configuration"
    assert len(lines) == 3


def test_checkpoint_named_source_keeps_its_whole_path_in_messages() -> None:
    content = copy.deepcopy(CONTENT)
    content["checkpoints"]["source"] = content["checkpoints"]["hub-model"] | {"parameters": "x"}
    assert "  - checkpoints.source.parameters: " in message(content)


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c["panels"][0].update(design=[[0, 1, 2, 3], [0, 1, 2, 3]]),
        lambda c: c["benchmarks"]["files"]["source"].update(fields={"choices": ["a", "b"]}),
        lambda c: c["benchmarks"]["files"].update(few_shot={"path": "${POOL}/x.jsonl"}),
        lambda c: c["checkpoints"]["path-model"].update(base="Owner/Base-Model"),
        lambda c: c.update(statistics={"calibration_share": 0.25}),
        lambda c: c.update(omit=[]),
    ],
)
def test_settings_that_are_right_are_not_refused(change: Callable[[Any], None]) -> None:
    content = copy.deepcopy(CONTENT)
    change(content)
    load_config(content)


# --- files ---


def yaml_message(tmp_path: Path, text: str) -> str:
    path = tmp_path / "my.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as raised:
        read_yaml(path)
    return str(raised.value)


@pytest.mark.parametrize(
    ("text", "line", "key"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a"),
        ("checkpoints:\n  x: {}\n  y: {}\n\n  x: {}\n", 5, "x"),
        ("panels:\n  - limit: 1\n    design: all\n    limit: 2\n", 4, "limit"),
        ("a: {b: 1, b: 2}\n", 1, "b"),
        ("a: 1\n'a': 2\n", 2, "a"),
    ],
)
def test_key_written_twice_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, key: str
) -> None:
    found = yaml_message(tmp_path, text)
    assert found.startswith(f"{tmp_path / 'my.yaml'}: line {line}: the key '{key}' occurs twice")


def test_merged_keys_that_are_overridden_are_not_taken_for_twice(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    text = (
        "base: &base {x: 1, y: 2}\n"
        "outer: {inner: &other {<<: *base, x: 3}}\n"
        "last: {<<: *other, y: 4}\n"
    )
    path.write_text(text)
    assert read_yaml(path) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1, 2\n", "no valid YAML"),
        ("a: !!python/object/apply:os.system ['true']\n", "no valid YAML"),
        ("- a\n", "mapping"),
        ("", "mapping"),
        ("text", "mapping"),
    ],
)
def test_file_that_is_no_mapping_is_named(tmp_path: Path, text: str, says: str) -> None:
    found = yaml_message(tmp_path, text)
    assert found.startswith(str(tmp_path / "my.yaml"))
    assert says in found


def test_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.yaml: cannot be read \(No such file"):
        read_yaml(tmp_path / "none.yaml")


def test_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_bytes(b"a: \xff\xfe\n")
    with pytest.raises(UserError, match=r"my\.yaml"):
        read_yaml(tmp_path / "my.yaml")


# --- variables ---


def test_variable_is_replaced_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_PLACE", "/one")
    monkeypatch.setenv("OTHER", "two")
    assert expand_variables("${FIRST_PLACE}/x/${OTHER}.jsonl", "key") == "/one/x/two.jsonl"
    assert expand_variables("$OTHER {OTHER} $ {OTHER}", "key") == "$OTHER {OTHER} $ {OTHER}"


def test_undefined_variable_is_named_with_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_ANYWHERE", raising=False)
    with pytest.raises(UserError, match=r"benchmarks\.b\.source\.path.*NOT_SET_ANYWHERE.*not set"):
        expand_variables("${NOT_SET_ANYWHERE}/items.jsonl", "benchmarks.b.source.path")


# --- the configurations of this repository ---


@pytest.mark.parametrize("path", sorted((REPOSITORY / "config").glob("*.yaml")), ids=str)
def test_every_configuration_of_the_repository_loads(path: Path) -> None:
    config = load_config_file(path)
    assert cell_matrix(config).cells
    assert not any(entry.trust_remote_code for entry in config.checkpoints.values())


def test_demo_needs_neither_hub_nor_variables() -> None:
    config = load_config_file(REPOSITORY / "config/config.yaml")
    assert {entry.source.type for entry in config.checkpoints.values()} == {"package"}
    assert {entry.source.type for entry in config.benchmarks.values()} == {"builtin"}


@pytest.mark.parametrize("ending", [".fetched", ".shots", ".excluded", ".json"])
def test_id_that_would_share_a_file_with_another_is_refused(ending: str) -> None:
    content = yaml.safe_load(Path("config/config.yaml").read_text())
    content["benchmarks"][f"capitals{ending}"] = content["benchmarks"]["capitals"]
    with pytest.raises(UserError, match=f"benchmarks.capitals{ending}: .*must not end"):
        load_config(content)


def test_check_looks_for_files_where_the_run_will(tmp_path: Path) -> None:
    study = tmp_path / "study"
    study.mkdir()
    (study / "items.jsonl").write_text("{}\n")
    content = yaml.safe_load(Path("config/config.yaml").read_text())
    content["benchmarks"]["capitals"]["source"] = {"type": "files", "path": "items.jsonl"}
    (tmp_path / "my.yaml").write_text(yaml.safe_dump(content))
    arguments = ["check", "--config", str(tmp_path / "my.yaml")]
    assert CliRunner().invoke(application, arguments).exit_code == 1
    found = CliRunner().invoke(application, [*arguments, "--directory", str(study)])
    assert found.exit_code == 0, found.output
    assert "10 cells, 2 checkpoints, 5 benchmarks" in found.output

"""Load and check a configuration; every mistake is one clear message."""

import difflib
import os
import re
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from optionbias.builtin import BUILTIN_BENCHMARKS
from optionbias.config.matrix import cell_matrix
from optionbias.config.model import FORMS, LIST_TAG, TEXT_TAG, Benchmark, Config
from optionbias.config.strict import StrictModel
from optionbias.errors import UserError
from optionbias.readouts import READOUTS

RESERVED_ENDINGS = (".excluded", ".fetched", ".json", ".shots")

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class _UniqueKeyLoader(yaml.SafeLoader):
    """A YAML loader that refuses a key written twice, which would silently win."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            name, line = (key.tag, str(key.value)), key.start_mark.line + 1
            if name in lines:
                raise UserError(
                    f"line {line}: the key '{key.value}' occurs twice, first on line {lines[name]}"
                )
            lines[name] = line
        return node


def read_yaml(path: Path) -> dict[str, Any]:
    """Read one configuration file.

    Raises:
        UserError: missing file, broken YAML, a key that occurs twice, or no mapping.
    """
    try:
        # SafeLoader by descent: only plain scalars, lists and mappings are built.
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_UniqueKeyLoader)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: this is no valid YAML: {error}") from error
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    if not isinstance(content, dict):
        raise UserError(f"{path}: a configuration is a mapping of keys to values")
    return content


def load_config(content: Mapping[str, Any], origin: str = "config") -> Config:
    """Turn plain data into a checked configuration.

    Args:
        content: the mapping read from YAML, or Snakemake's ``config``.
        origin: name of the file(s), for messages.

    Raises:
        UserError: one message that lists every mistake with its key.
    """
    try:
        config = Config.model_validate(content)
    except ValidationError as error:
        lines = [_explain(problem) for problem in error.errors(include_url=False)]
        raise UserError(_join(origin, lines)) from error
    problems = _cross_checks(config)
    if problems:
        raise UserError(_join(origin, problems))
    return config


def load_config_file(path: Path) -> Config:
    """Read and check one configuration file; see `load_config`."""
    return load_config(read_yaml(path), str(path))


def expand_variables(text: str, key: str) -> str:
    """Replace every ``${NAME}`` by the environment variable of that name.

    Raises:
        UserError: a variable is not set; the message names it and the key.
    """

    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in os.environ:
            raise UserError(f"{key}: the environment variable {name} is not set (in '{text}')")
        return os.environ[name]

    return _VARIABLE.sub(value, text)


def _join(origin: str, lines: Sequence[str]) -> str:
    count = "a mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
    return f"{origin}: {count} in the configuration\n" + "\n".join(f"  - {line}" for line in lines)


def _explain(problem: Mapping[str, Any]) -> str:
    """Return one line for one of pydantic's errors: the key's path and what is wrong."""
    found, context = problem["input"], problem.get("ctx", {})
    key, got = _key_path(problem), f"(got {reprlib.repr(found)})"
    match problem["type"]:
        case "extra_forbidden":
            wrong = f"unknown key{_suggestion(str(problem['loc'][-1]))}"
        case "missing":
            wrong = "this key is required"
        case "union_tag_not_found":
            key, wrong = f"{key}.type", "this key is required"
        case "union_tag_invalid":
            expected = context["expected_tags"]
            key, wrong = f"{key}.type", f"must be one of {expected} (got '{context['tag']}')"
        case "string_pattern_mismatch":
            wrong = f"{found!r} is not {FORMS[context['pattern']]}"
        case "string_type" if found is not None:
            wrong = f"must be text; write it in quotes {got}"
        case "dict_type" | "model_type" | "model_attributes_type":
            wrong = f"must be a mapping of keys to values {got}"
        case _:
            wrong = f"must be {problem['msg'].removeprefix('Input should be ')} {got}"
    return f"{key}: {wrong}"


def _key_path(problem: Mapping[str, Any]) -> str:
    """Return the path of keys as the user wrote them, without pydantic's own additions."""
    location = [str(part) for part in problem["loc"]]
    if location[-1] == "[key]":
        location[-2:] = [str(problem["input"])]
    if location[2:3] == ["source"]:
        del location[3:4]  # the name of the source's type
    return ".".join(part for part in location if part not in {TEXT_TAG, LIST_TAG})


def _known_keys(model: type[StrictModel]) -> set[str]:
    keys: set[str] = set()
    pending: list[type[StrictModel]] = [model, *StrictModel.__subclasses__()]
    for entry in pending:
        keys.update(entry.model_fields)
    return keys


def _suggestion(word: str) -> str:
    close = difflib.get_close_matches(word, sorted(_known_keys(Config)), n=1)
    return f"; did you mean '{close[0]}'?" if close else "; config/README.md lists every key"


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(sorted(known))}"
    return f"unknown {kind} '{name}'{hint}"


def _reserved_problems(config: Config) -> list[str]:
    """Refuse ids whose files would be taken for another id's files."""
    return [
        f"{kind}.{name}: an id must not end in '{ending}', which names files of the pipeline's own"
        for kind, names in (("checkpoints", config.checkpoints), ("benchmarks", config.benchmarks))
        for name in names
        for ending in RESERVED_ENDINGS
        if name.endswith(ending)
    ]


def _cross_checks(config: Config) -> list[str]:
    problems = [
        *_reserved_problems(config),
        *_panel_problems(config),
        *(problem for name, entry in config.benchmarks.items() for problem in
          _benchmark_problems(name, entry)),
        *(f"checkpoints.{name}.base: a checkpoint of stage 'base' came from no other; leave it out"
          for name, entry in config.checkpoints.items()
          if entry.stage == "base" and entry.base is not None),
        *(f"checkpoints.{name}.base: names the checkpoint itself; name the one it came from"
          for name, entry in config.checkpoints.items() if entry.base == name),
        *(f"checkpoints.{name}.device_map: device 'cpu' leaves nothing to spread the checkpoint "
          "over; leave one of them out"
          for name, entry in config.checkpoints.items()
          if entry.device == "cpu" and entry.device_map is not None),
    ]  # fmt: skip
    return problems or [*_shot_problems(config), *_matrix_problems(config)]


def _panel_problems(config: Config) -> list[str]:
    problems = []
    for index, panel in enumerate(config.panels):
        known = {
            "checkpoint": (panel.checkpoints, list(config.checkpoints)),
            "benchmark": (panel.benchmarks, list(config.benchmarks)),
            "readout": (panel.readouts, list(READOUTS)),
        }
        problems += [
            f"panels.{index}.{kind}s: {_unknown(kind, name, names)}"
            for kind, (listed, names) in known.items()
            for name in listed
            if name not in names
        ]
    return problems


def _benchmark_problems(name: str, benchmark: Benchmark) -> list[str]:
    key = f"benchmarks.{name}"
    source, pool = benchmark.source, benchmark.few_shot
    if source.type == "builtin":
        if source.name not in BUILTIN_BENCHMARKS:
            hint = _unknown("built-in benchmark", source.name, list(BUILTIN_BENCHMARKS))
            return [f"{key}.source.name: {hint}"]
        n_options = BUILTIN_BENCHMARKS[source.name].n_options
        problems = []
        if n_options != benchmark.n_options:
            problems.append(f"{key}.n_options: the built-in '{source.name}' has {n_options}")
        if pool is not None:
            problems.append(f"{key}.few_shot: a built-in benchmark brings its own examples")
        return problems
    wanted = "split" if source.type == "hub" else "path"
    other = "path" if source.type == "hub" else "split"
    if pool is not None and (getattr(pool, wanted) is None or getattr(pool, other) is not None):
        return [f"{key}.few_shot: a benchmark from {source.type} takes its pool from '{wanted}'"]
    if source.fields.answer_format == "label" and source.fields.labels is None:
        return [f"{key}.source.fields: answer_format 'label' needs the field 'labels'"]
    return []


def _shot_problems(config: Config) -> list[str]:
    needing = {
        name
        for panel in config.panels
        for readout in panel.readouts
        if READOUTS[readout].n_shots
        for name in panel.benchmarks
    }
    return [
        f"benchmarks.{name}.few_shot: this key is required, since a panel shows solved examples"
        for name in sorted(needing)
        if config.benchmarks[name].few_shot is None
        and config.benchmarks[name].source.type != "builtin"
    ]


def _matrix_problems(config: Config) -> list[str]:
    try:
        cell_matrix(config)
    except UserError as error:
        return [str(error)]
    return []

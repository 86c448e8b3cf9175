"""What is generated from the configuration model: schema and list of keys, without drift."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from optionbias.config.documentation import config_keys, config_schema
from optionbias.config.loading import load_config
from optionbias.config.model import Config, StrictModel
from optionbias.errors import UserError

REPOSITORY = Path(__file__).parents[2]


def models() -> list[type[StrictModel]]:
    return StrictModel.__subclasses__()


def validator() -> Any:
    schema = json.loads(config_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_schema_file_has_not_drifted_from_the_model() -> None:
    path = REPOSITORY / "workflow/schemas/config.schema.json"
    assert path.read_text(encoding="utf-8") == config_schema(), (
        "run: optionbias config-schema workflow/schemas/config.schema.json"
    )


def test_list_of_keys_has_not_drifted_from_the_model() -> None:
    path = REPOSITORY / "config/README.md"
    assert path.read_text(encoding="utf-8") == config_keys(), (
        "run: optionbias config-keys config/README.md"
    )


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_field_of_every_model_is_described_and_listed(model: type[StrictModel]) -> None:
    assert model.__doc__
    page = config_keys()
    section = page.split(f"\n## {model.__name__}\n")[1].split("\n## ")[0]
    for name, field in model.model_fields.items():
        assert field.description, f"{model.__name__}.{name} has no description"
        (row,) = [line for line in section.split("\n") if line.startswith(f"| `{name}` |")]
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 4
        assert all(cells), f"{model.__name__}.{name} has an empty cell in the list of keys"


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_every_model_refuses_unknown_keys(model: type[StrictModel]) -> None:
    definitions = json.loads(config_schema())
    schema = definitions if model is Config else definitions["$defs"][model.__name__]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("path", sorted((REPOSITORY / "config").glob("*.yaml")), ids=str)
def test_configurations_of_the_repository_fit_the_schema(path: Path) -> None:
    validator().validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {"panel": []},
        {"panels": []},
        {"panels": None},
        {"seeds": {"item": 1}},
        {"checkpoint_dir": 3},
    ],
    ids=str,
)
def test_schema_refuses_what_the_model_refuses(change: dict[str, Any]) -> None:
    content = yaml.safe_load((REPOSITORY / "config/config.yaml").read_text(encoding="utf-8"))
    content |= change
    with pytest.raises(UserError):
        load_config(content)
    with pytest.raises(jsonschema.ValidationError):
        validator().validate(content)

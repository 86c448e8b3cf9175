"""Generate the JSON schema and the list of keys from the configuration model."""

import json
from typing import Any

from optionbias.config.model import Config

_HEADING = """# Configuration

Every key of `config.yaml`, generated from the model in
`workflow/src/optionbias/config/model.py` by `optionbias config-keys`.
Unknown keys are refused. `config.yaml` is the demo.
"""


def config_schema() -> str:
    """Return the JSON schema of the configuration, ready to be written to a file."""
    schema = Config.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, sort_keys=True) + "\n"


def config_keys() -> str:
    """Return the Markdown page that lists every key with its type, default and meaning."""
    schema = Config.model_json_schema()
    models = {"Config": schema, **schema["$defs"]}
    return _HEADING + "".join(_section(name, model) for name, model in models.items())


def _section(name: str, model: dict[str, Any]) -> str:
    required = model.get("required", [])
    lines = [f"\n## {name}\n", model.get("description", "") + "\n"]
    lines += ["| key | type | default | meaning |", "|---|---|---|---|"]
    for key, field in model["properties"].items():
        default = "required" if key in required else f"`{json.dumps(field.get('default'))}`"
        meaning = " ".join(field.get("description", "").split())
        lines.append(f"| `{key}` | {_type(field)} | {default} | {meaning} |")
    return "\n".join(lines) + "\n"


def _type(field: dict[str, Any]) -> str:
    """Return a field's type in a few words, from its JSON schema."""
    for union in ("anyOf", "oneOf"):
        if union in field:
            return " or ".join(_type(entry) for entry in field[union])
    if "$ref" in field:
        return str(field["$ref"]).removeprefix("#/$defs/")
    values = [field["const"]] if "const" in field else field.get("enum")
    if values:
        return ", ".join(f"`{value}`" for value in values)
    return _container(field) or str(field.get("type", "any"))


def _container(field: dict[str, Any]) -> str | None:
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    if field.get("type") == "object":
        values = field.get("additionalProperties") or next(
            iter(field["patternProperties"].values())
        )
        return f"mapping of id to {_type(values)}"
    return None

"""Measures that show when the code drifts from its layout: sizes, texts, directions of imports."""

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

REPOSITORY = Path(__file__).parents[2]
LIBRARY = REPOSITORY / "workflow/src/optionbias"
MODULES = sorted(LIBRARY.rglob("*.py"))
SCRIPTS = sorted((REPOSITORY / "scripts").rglob("*.py"))
RULE_FILES = sorted((REPOSITORY / "workflow/rules").glob("*.smk"))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def named(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def n_lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> Iterator[Function]:
    yield from (node for node in ast.walk(tree(path)) if isinstance(node, Function))


def length(function: Function) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def imported(path: Path) -> set[str]:
    """Return the full names of everything a file imports, wherever it does."""
    names: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def importers(package: str) -> set[str]:
    """Return the library's modules that import a package, relative to the library."""
    return {
        path.relative_to(LIBRARY).as_posix()
        for path in MODULES
        if any(f"{name}.".startswith(f"{package}.") for name in imported(path))
    }


def public_definitions(path: Path) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yield public functions, classes and methods with their names."""
    for node in tree(path).body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                yield from (
                    (f"{node.name}.{method.name}", method)
                    for method in node.body
                    if isinstance(method, Function) and not method.name.startswith("_")
                )


def test_there_is_something_to_measure() -> None:
    assert len(MODULES) > 50
    assert len(SCRIPTS) > 10
    assert len(RULE_FILES) > 5


def test_snakefile_is_a_table_of_contents() -> None:
    assert n_lines(REPOSITORY / "Snakefile") <= 60


@pytest.mark.parametrize(
    ("paths", "limit"), [(RULE_FILES, 150), (SCRIPTS, 60), (MODULES, 300)],
    ids=["rules", "scripts", "modules"],
)  # fmt: skip
def test_no_file_outgrows_its_kind(paths: list[Path], limit: int) -> None:
    assert {named(path): n_lines(path) for path in paths if n_lines(path) > limit} == {}


def test_functions_are_short() -> None:
    lengths = {
        f"{named(path)}:{function.name}": length(function)
        for path in [*MODULES, *SCRIPTS]
        for function in functions(path)
    }
    assert {name: count for name, count in lengths.items() if count > 60} == {}
    assert median(lengths.values()) <= 20


def test_every_rule_file_opens_with_its_contract() -> None:
    for path in RULE_FILES:
        text = path.read_text(encoding="utf-8")
        opening = text.split('"""')[1]
        assert text.startswith('"""'), named(path)
        assert "Needs:" in opening, named(path)
        assert "Makes:" in opening, named(path)


def test_every_public_definition_says_what_it_does() -> None:
    silent = [
        f"{named(path)}:{name}"
        for path in MODULES
        for name, node in public_definitions(path)
        if not ast.get_docstring(node)
    ]
    assert silent == []


def test_every_public_function_is_annotated() -> None:
    bare = []
    for path in MODULES:
        for name, node in public_definitions(path):
            if isinstance(node, ast.ClassDef):
                continue
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            unannotated = [
                argument.arg
                for argument in arguments
                if argument.annotation is None and argument.arg not in {"self", "cls"}
            ]
            if unannotated or node.returns is None:
                bare.append(f"{named(path)}:{name}")
    assert bare == []


def test_only_the_store_speaks_duckdb() -> None:
    assert {name.split("/")[0] for name in importers("duckdb")} == {"store"}


@pytest.mark.parametrize("package", ["torch", "transformers", "accelerate", "safetensors"])
def test_only_scoring_and_the_conversion_know_models(package: str) -> None:
    elsewhere = {name for name in importers(package) if not name.startswith("scoring/")}
    assert elsewhere <= {"checkpoints/gguf.py"}


def test_only_figures_draw() -> None:
    assert {name.split("/")[0] for name in importers("matplotlib")} == {"figures"}


def test_the_library_does_not_know_snakemake() -> None:
    assert importers("snakemake") == set()


FORBIDDEN = {
    "statistics": ["torch", "transformers", "duckdb", "pathlib", "os", "optionbias.store",
                   "optionbias.figures", "optionbias.tables", "optionbias.scoring",
                   "optionbias.frame_files", "optionbias.config"],
    "figures": ["duckdb", "torch", "optionbias.store", "optionbias.tables", "optionbias.scoring",
                "optionbias.items", "optionbias.config"],
    "tables": ["duckdb", "torch", "matplotlib", "optionbias.store", "optionbias.figures",
               "optionbias.scoring", "optionbias.items", "optionbias.config"],
    "items": ["torch", "transformers", "duckdb", "optionbias.scoring", "optionbias.store",
              "optionbias.statistics", "optionbias.checkpoints", "optionbias.config"],
    "builtin": ["torch", "polars", "optionbias.scoring", "optionbias.store",
                "optionbias.statistics", "optionbias.config"],
    "checkpoints": ["duckdb", "optionbias.scoring", "optionbias.store", "optionbias.statistics",
                    "optionbias.items", "optionbias.config"],
    "scoring": ["duckdb", "matplotlib", "optionbias.store", "optionbias.statistics",
                "optionbias.figures", "optionbias.tables", "optionbias.config"],
    "store": ["torch", "matplotlib", "optionbias.scoring", "optionbias.figures",
              "optionbias.tables", "optionbias.config"],
    "config": ["torch", "polars", "duckdb", "matplotlib", "numpy", "optionbias.scoring",
               "optionbias.store", "optionbias.statistics"],
}  # fmt: skip


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_layer_imports_only_what_lies_below(layer: str) -> None:
    found = {
        (package, name)
        for package in FORBIDDEN[layer]
        for name in importers(package)
        if name.startswith(f"{layer}/")
    }
    assert sorted(found) == []


@pytest.mark.parametrize("module", ["orderings.py", "prompts.py"])
def test_orderings_and_prompts_know_no_models_and_no_files(module: str) -> None:
    for package in ("torch", "transformers", "polars", "pathlib", "optionbias.scoring"):
        assert module not in importers(package)


def test_scripts_compute_nothing_themselves() -> None:
    for path in SCRIPTS:
        packages = {name.split(".")[0] for name in imported(path)}
        assert packages <= {"json", "os", "pathlib", "optionbias"}, named(path)

"""A short fingerprint of the code a rule runs, so that a change of behaviour re-runs it.

Snakemake notices a changed script, not a changed library. Each rule therefore
carries the fingerprint of its script's import closure as a param. Comments,
docstrings and formatting do not enter it.
"""

import ast
import hashlib
from pathlib import Path

PACKAGE = "optionbias"

# These modules pass values on, report progress or refuse input; none shapes a result.
WITHOUT_EFFECT_ON_RESULTS = frozenset(
    f"{PACKAGE}{suffix}" for suffix in ("", ".errors", ".run_log", ".script", ".atomic")
)


def code_fingerprint(script: Path, package_folder: Path) -> str:
    """Return 16 hexadecimal digits that change when the code behind ``script`` does.

    Args:
        script: the script of a rule.
        package_folder: the folder of the package `optionbias`.

    Raises:
        FileNotFoundError: the script does not exist.
    """
    digest = hashlib.blake2b(digest_size=8)
    for path in [script, *import_closure(script, package_folder)]:
        digest.update(path.name.encode() + b"\0" + _behaviour(path).encode() + b"\0")
    return digest.hexdigest()


def import_closure(script: Path, package_folder: Path) -> list[Path]:
    """Return the package's files that ``script`` imports, directly or through others.

    Imports inside functions count as well. The list is sorted by path.
    """
    found: set[Path] = set()
    pending = [script]
    while pending:
        for path in _imported_files(pending.pop(), package_folder):
            if path not in found:
                found.add(path)
                pending.append(path)
    return sorted(found)


def _imported_files(path: Path, package_folder: Path) -> set[Path]:
    files = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            files.update(_module_files(name, package_folder))
    return files


def _module_files(name: str, package_folder: Path) -> set[Path]:
    """Return the files of a module and of the packages it lies in."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return set()
    files = set()
    for length in range(2, len(parts) + 1):
        if ".".join(parts[:length]) in WITHOUT_EFFECT_ON_RESULTS:
            break
        base = package_folder.joinpath(*parts[1:length])
        files.update({base.with_suffix(".py"), base / "__init__.py"})
    return {path for path in files if path.is_file()}


def _behaviour(path: Path) -> str:
    tree = _tree(path)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [entry for entry in body if not _is_text_alone(entry)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text_alone(node: ast.AST) -> bool:
    """Say whether a statement is a docstring, of a function or of an attribute."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))

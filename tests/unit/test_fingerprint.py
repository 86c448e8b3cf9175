"""The fingerprint of code: what changes it and what does not."""

from pathlib import Path

import pytest

from optionbias.fingerprint import WITHOUT_EFFECT_ON_RESULTS, code_fingerprint, import_closure

FILES = {
    "script.py": "import optionbias.alpha\nfrom optionbias.script import run\nVALUE = 1\n",
    "optionbias/__init__.py": "",
    "optionbias/script.py": "GLUE = 1\n",
    "optionbias/errors.py": "from optionbias.unused import ERRORS\n",
    "optionbias/alpha.py": (
        '"""Alpha."""\n'
        "from optionbias.errors import UserError\n"
        "from optionbias.part.beta import level\n\n\n"
        "def compute(x: int) -> int:\n"
        '    """Compute."""\n'
        "    from optionbias.lazy import scale\n"
        "    return scale(x) + level\n"
    ),
    "optionbias/lazy.py": "import optionbias.alpha\n\n\ndef scale(x):\n    return 2 * x\n",
    "optionbias/part/__init__.py": "LEVELS = 3\n",
    "optionbias/part/beta.py": "level = 7\n",
    "optionbias/unused.py": "ERRORS = 1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A script and a small package it imports from."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def fingerprint(folder: Path) -> str:
    return code_fingerprint(folder / "script.py", folder / "optionbias")


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_closure_holds_imports_of_imports_inside_functions_and_of_packages(folder: Path) -> None:
    closure = import_closure(folder / "script.py", folder / "optionbias")
    names = [path.relative_to(folder / "optionbias").as_posix() for path in closure]
    assert names == ["alpha.py", "lazy.py", "part/__init__.py", "part/beta.py"]


def test_fingerprint_is_sixteen_hexadecimal_digits(folder: Path) -> None:
    assert len(bytes.fromhex(fingerprint(folder))) == 8


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("optionbias/alpha.py", '"""Alpha."""', '"""Another text."""'),
        ("optionbias/alpha.py", '    """Compute."""\n', ""),
        ("optionbias/alpha.py", "    return", "    # why\n    return"),
        ("optionbias/alpha.py", "scale(x) + level", "(scale( x )\n            + level)"),
        ("optionbias/lazy.py", "\n\n\ndef", "\n\ndef"),
        ("optionbias/part/beta.py", "level = 7", 'level = 7\n"""What it means."""'),
        ("script.py", "VALUE = 1", "VALUE = 1  # one"),
    ],
)
def test_text_that_does_nothing_keeps_the_fingerprint(
    folder: Path, name: str, old: str, new: str
) -> None:
    before = fingerprint(folder)
    edit(folder / name, old, new)
    assert fingerprint(folder) == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("script.py", "VALUE = 1", "VALUE = 2"),
        ("optionbias/alpha.py", "+ level", "- level"),
        ("optionbias/lazy.py", "2 * x", "3 * x"),
        ("optionbias/part/__init__.py", "LEVELS = 3", "LEVELS = 4"),
        ("optionbias/part/beta.py", "level = 7", "level = 8"),
        ("optionbias/part/beta.py", "level = 7", "level = 7.0"),
    ],
)
def test_changed_behaviour_changes_the_fingerprint(
    folder: Path, name: str, old: str, new: str
) -> None:
    before = fingerprint(folder)
    edit(folder / name, old, new)
    assert fingerprint(folder) != before


def test_text_that_is_a_value_changes_the_fingerprint(folder: Path) -> None:
    edit(folder / "optionbias/part/beta.py", "level = 7", 'level = "seven"')
    before = fingerprint(folder)
    edit(folder / "optionbias/part/beta.py", '"seven"', '"eight"')
    assert fingerprint(folder) != before


@pytest.mark.parametrize("name", ["script", "errors", "unused", "__init__"])
def test_modules_without_effect_and_modules_not_imported_keep_the_fingerprint(
    folder: Path, name: str
) -> None:
    before = fingerprint(folder)
    with (folder / f"optionbias/{name}.py").open("a", encoding="utf-8") as file:
        file.write("ANOTHER = 1\n")
    assert fingerprint(folder) == before


def test_missing_script_is_an_error(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        code_fingerprint(folder / "none.py", folder / "optionbias")


def test_modules_listed_as_without_effect_exist() -> None:
    package = Path(__file__).parents[2] / "workflow/src/optionbias"
    for module in WITHOUT_EFFECT_ON_RESULTS - {"optionbias"}:
        assert (package / f"{module.removeprefix('optionbias.')}.py").is_file()

"""The texts against the code: sections, columns, packages, snippets, links and versions."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import optionbias
from optionbias.builtin import BUILTIN_BENCHMARKS
from optionbias.config.loading import load_config
from optionbias.config.matrix import cell_matrix
from optionbias.items.exclusions import ExclusionReason
from optionbias.items.order_dependent import ReferenceKind
from optionbias.readouts import READOUTS
from optionbias.statistics.cap_null import SCHEMA as CAP_NULL_SCHEMA
from optionbias.statistics.cells import factors_schema
from optionbias.statistics.checkpoint_pairs import SCHEMA as CHECKPOINT_PAIR_SCHEMA
from optionbias.statistics.correlations import (
    CORRELATION_GAP_SCHEMA,
    CORRELATION_SCHEMA,
    PAIRS,
)
from optionbias.statistics.definitions import DEFINITIONS
from optionbias.statistics.held_out import SCHEMA as HELD_OUT_SCHEMA
from optionbias.statistics.margins import SCHEMA as MARGIN_SCHEMA
from optionbias.statistics.margins import SUMMARY_SCHEMA as MARGIN_SUMMARY_SCHEMA
from optionbias.statistics.opposite_directions import SCHEMA as DIRECTION_SCHEMA
from optionbias.statistics.order_dependence import ORDER_DEPENDENT, OTHERS
from optionbias.statistics.pairs import SCHEMA as PAIR_SCHEMA
from optionbias.statistics.pools import POOL_SCHEMA
from optionbias.statistics.profiles import SCHEMA as PROFILE_SCHEMA
from optionbias.statistics.readings import SCHEMA as READING_SCHEMA
from optionbias.statistics.rejections import SCHEMA as REJECTION_SCHEMA
from optionbias.statistics.scale_trends import TREND_SCHEMA
from optionbias.statistics.split_half import SCHEMA as SPLIT_HALF_SCHEMA
from optionbias.statistics.summaries import SCHEMA as SUMMARY_SCHEMA
from optionbias.statistics.variance_shares import SCHEMA as SHARE_SCHEMA
from optionbias.store.schema import TABLES

REPOSITORY = Path(__file__).parents[2]
TEXTS = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/definitions.md", "docs/scoring.md")
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
DEFINITIONS_PAGE = (REPOSITORY / "docs/definitions.md").read_text(encoding="utf-8")
CODE = ("workflow/src", "workflow/rules", "workflow/report", "scripts", "tests", "config")
CITATION_OF_SECTIONS = re.compile(
    r"(?:method|docs/definitions\.md),\s+sections?\s+((?:\d+(?:,\s+|\s+and\s+|\s+to\s+)?)+)",
    re.IGNORECASE,
)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
INTERVAL_ENDINGS = ("_low", "_high", "_undefined_draws")


def code_files() -> Iterator[Path]:
    for folder in CODE:
        for suffix in ("py", "smk", "rst", "yaml"):
            yield from sorted((REPOSITORY / folder).rglob(f"*.{suffix}"))


def sections_cited(text: str) -> set[int]:
    # Comments and docstrings wrap; a citation may run over the end of a line.
    flat = re.sub(r"\s*\n\s*#?\s*", " ", text)
    return {
        int(number)
        for match in CITATION_OF_SECTIONS.finditer(flat)
        for number in re.findall(r"\d+", match[1])
    }


def section_headings(page: str) -> list[int]:
    return [int(number) for number in re.findall(r"^## (\d+)\. ", page, re.MULTILINE)]


def words_in_code_font(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", text))


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def canonical(requirement: str) -> str:
    """Return a package's name without version or extras, as registries compare names."""
    name = re.split(r"[\s<>=!~\[;]", requirement.strip(), maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def declared_packages() -> set[str]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *project["optional-dependencies"]["development"]]
    return {canonical(requirement) for requirement in listed}


def packages_in_readme() -> set[str]:
    table = README.split("## Dependencies", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    names = {canonical(name) for row in rows for name in row.split(",")}
    return names - {"package"}


def test_definitions_page_keeps_its_eleven_section_numbers() -> None:
    assert section_headings(DEFINITIONS_PAGE) == list(range(1, 12))


def test_every_section_that_code_cites_exists() -> None:
    cited = {
        (path.relative_to(REPOSITORY).as_posix(), number)
        for path in code_files()
        for number in sections_cited(path.read_text(encoding="utf-8"))
    }
    assert len({number for _, number in cited}) > 3, "hardly any citation was found"
    headings = section_headings(DEFINITIONS_PAGE)
    assert [citation for citation in sorted(cited) if citation[1] not in headings] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(method, section 7).", {7}),
        ("(method,\n    sections 3 and 4)", {3, 4}),
        ("# method, sections 1,\n# 2 and 11", {1, 2, 11}),
        ("docs/definitions.md, section 2; tests: section 3", {2}),
        ("the method takes 1,000", set()),
    ],
)
def test_citations_are_found_in_wrapped_text(text: str, expected: set[int]) -> None:
    assert sections_cited(text) == expected


def test_every_column_of_a_cell_is_defined() -> None:
    described = words_in_code_font(DEFINITIONS_PAGE)
    assert sorted(set(DEFINITIONS) - described) == []


def test_every_column_of_the_factors_frame_is_defined() -> None:
    described = words_in_code_font(DEFINITIONS_PAGE)
    estimates = set(DEFINITIONS)
    columns = {
        name
        for name in factors_schema()
        if not any(name.removesuffix(ending) in estimates for ending in INTERVAL_ENDINGS)
    }
    assert sorted(columns - described) == []
    assert {f"x{ending}" for ending in INTERVAL_ENDINGS} <= described


# The ends of intervals that a column with the same beginning explains ("and so on").
EXPLAINED_ENDS = re.compile(r"(observed|scaled)_(cell|block)_(low|high)")


@pytest.mark.parametrize(
    "schema",
    [
        PAIR_SCHEMA, POOL_SCHEMA, SUMMARY_SCHEMA, CORRELATION_SCHEMA, CORRELATION_GAP_SCHEMA,
        PROFILE_SCHEMA, SHARE_SCHEMA, SPLIT_HALF_SCHEMA, REJECTION_SCHEMA, CAP_NULL_SCHEMA,
        HELD_OUT_SCHEMA, MARGIN_SCHEMA, MARGIN_SUMMARY_SCHEMA, CHECKPOINT_PAIR_SCHEMA,
        TREND_SCHEMA, DIRECTION_SCHEMA, READING_SCHEMA,
    ],
)  # fmt: skip
def test_every_column_of_the_other_frames_is_named(schema: dict[str, Any]) -> None:
    missing = set(schema) - words_in_code_font(DEFINITIONS_PAGE)
    assert sorted(name for name in missing if not EXPLAINED_ENDS.fullmatch(name)) == []


def test_every_choice_that_the_code_offers_is_on_the_definitions_page() -> None:
    named = words_in_code_font(DEFINITIONS_PAGE)
    assert set(READOUTS) <= named
    assert {name for pair in PAIRS for name in pair} <= named
    assert {ORDER_DEPENDENT, OTHERS} | set(map(str, ReferenceKind)) <= named
    assert [reason for reason in ExclusionReason if f"| {reason} |" not in DEFINITIONS_PAGE] == []


def test_readme_says_why_each_package_is_needed_and_names_no_other() -> None:
    assert packages_in_readme() == declared_packages()


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_readme_shows_the_two_commands(command: str) -> None:
    lines = [line.split("#")[0].strip() for block in snippets("sh") for line in block.splitlines()]
    assert command in lines


def test_readme_names_only_targets_that_the_makefile_has() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", README, re.MULTILINE))
    assert {"demo", "test", "missing", "panel", "report"} <= named <= targets


def test_readme_snippets_form_one_valid_configuration() -> None:
    parts = [yaml.safe_load(block) for block in snippets("yaml")]
    keys = [key for part in parts for key in part]
    assert sorted(keys) == ["benchmarks", "checkpoints", "omit", "panels"]
    config = load_config({key: value for part in parts for key, value in part.items()}, "README")
    kinds = {entry.source.type for entry in config.checkpoints.values()}
    assert kinds == {"hub", "path", "package"}
    assert {entry.source.type for entry in config.benchmarks.values()} == {
        "hub",
        "files",
        "builtin",
    }
    assert len(cell_matrix(config).omitted) == 1


def test_readme_lists_every_built_in_benchmark_and_every_table_of_the_store() -> None:
    named = words_in_code_font(README)
    assert set(BUILTIN_BENCHMARKS) <= named
    assert {table.name for table in TABLES} <= named


def test_readme_queries_columns_that_the_store_has() -> None:
    (query,) = re.findall(r'sql\("""(.*?)"""\)', README, re.DOTALL)
    columns = {column.name for table in TABLES for column in table.columns}
    words = set(re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", re.sub(r"'[^']*'", "", query)))
    functions = {"list_transform", "lambda", "value", "round", "exp", "p", "probabilities"}
    assert words - functions <= columns


@pytest.mark.parametrize("name", TEXTS)
def test_links_to_files_lead_somewhere(name: str) -> None:
    path = REPOSITORY / name
    targets = [
        link.split("#")[0]
        for link in LINK.findall(path.read_text(encoding="utf-8"))
        if "://" not in link and not link.startswith("#")
    ]
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", changelog, re.MULTILINE
    )
    assert citation["version"] == optionbias.__version__
    assert released[0] == (optionbias.__version__, citation["date-released"])
    assert citation["cff-version"] == "1.2.0"

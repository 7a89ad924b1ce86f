"""The page writes into the folder of its run and beside the config that the run came from, and nowhere else."""

from pathlib import Path

import pytest

from obelics_pipeline.core.config.yaml_file import bundled_configs
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.tune.save_folders import SaveFolders


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    run, configs = tmp_path / "run", tmp_path / "configs"
    run.mkdir()
    configs.mkdir()
    (configs / "mine.yaml").write_text("images: {min_side: 200}\n")
    return run, configs


def test_a_name_alone_is_beside_the_config(folders: tuple[Path, Path]) -> None:
    run, configs = folders
    save_folders = SaveFolders.of(run, str(configs / "mine.yaml"))
    assert save_folders.folders == (configs, run)
    assert save_folders.path_of(Path("tuned.yaml")) == configs / "tuned.yaml"
    assert save_folders.path_of(run / "tuned.yaml") == run / "tuned.yaml"


@pytest.mark.parametrize("config", [None, "", "default", str(bundled_configs() / "default.yaml"), "nowhere.yaml"])
def test_without_a_config_of_ones_own_it_is_the_runs_folder(config: str | None, folders: tuple[Path, Path]) -> None:
    run, _ = folders
    assert SaveFolders.of(run, config).folders == (run,)


def test_a_run_cannot_name_any_folder_by_naming_a_file_that_is_no_config(folders: tuple[Path, Path]) -> None:
    run, configs = folders
    (configs / "keys.yaml").write_text("password: x\n")
    assert SaveFolders.of(run, str(configs / "keys.yaml")).folders == (run,)


@pytest.mark.parametrize(
    "name", ["/tmp/x.yaml", "../x.yaml", "..", ".", "", "sub/x.yaml", "sub/../../x.yaml", "a\0b", "a\nb"]
)
def test_every_other_place_is_refused_in_one_line(name: str, folders: tuple[Path, Path]) -> None:
    run, _ = folders
    with pytest.raises(UserError, match="the page does not write there; give a name in") as error:
        SaveFolders.of(run, None).path_of(Path(name))
    assert str(run) in str(error.value)


def test_a_link_leads_nowhere_else(folders: tuple[Path, Path], tmp_path: Path) -> None:
    run, configs = folders
    (run / "link").symlink_to(configs)
    (run / "loop").symlink_to(run / "loop")
    save_folders = SaveFolders.of(run, None)
    for name in ("link/x.yaml", "loop/x.yaml"):
        with pytest.raises(UserError, match="does not write there"):
            save_folders.path_of(Path(name))
    (tmp_path / "alias").symlink_to(run)
    assert save_folders.path_of(tmp_path / "alias" / "x.yaml") == run / "x.yaml"

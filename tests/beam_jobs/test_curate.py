"""The options that the job on Beam shares with `obelics run` are read alike."""

from obelics_pipeline.beam_jobs.curate import _parser


def test_an_option_of_many_values_keeps_them_all_however_often_it_is_given() -> None:
    found, beam = _parser().parse_known_args(
        ["default", "--output", "o", "--input", "a", "b", "--input", "c", "--against", "x", "--against", "y"]
    )
    assert (found.input, found.against, found.stage, beam) == (["a", "b", "c"], ["x", "y"], [], [])

"""A region whose numbers nobody knows is refused: none would ever be looked for."""

import pytest

from obelics_pipeline.core.config import load_config
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.stages.extract.safety import Safety


@pytest.mark.parametrize(("code", "said"), [("UK", "did you mean GB?"), ("XX", "valid are AC, AD, ")])
def test_a_region_that_is_none_is_refused_with_those_that_are(code: str, said: str) -> None:
    config = load_config("default", ["personal_data.enabled=true", f"personal_data.regions=[DE, {code}]"])
    with pytest.raises(UserError, match=f"^personal_data.regions: '{code}' is no region; valid are ") as error:
        Safety(config)
    assert said in str(error.value)


def test_regions_that_are_known_are_taken() -> None:
    Safety(load_config("default", ["personal_data.enabled=true", "personal_data.regions=[DE, GB, US]"]))

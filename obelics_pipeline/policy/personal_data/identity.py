"""The identity of the treatment of personal data, for the ids of units."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import Any

from obelics_pipeline.core.code_identity import code_of
from obelics_pipeline.core.config.personal_data import PersonalDataConfig
from obelics_pipeline.policy.personal_data import clean
from obelics_pipeline.policy.personal_data.pseudonym import read_key

LIBRARIES = ("idna", "phonenumbers", "publicsuffixlist", "python-stdnum")  # what they know changes with their versions


def personal_data_config(config: PersonalDataConfig) -> list[Any]:
    """All that a treated text depends on. The key counts by a hash of it, which tells nothing of it."""
    key = hashlib.blake2b(read_key(config.key_file), digest_size=16, person=b"obelics identity").hexdigest()
    values = config.model_dump(mode="json", exclude={"key_file"})
    return [code_of(clean.__name__), values, key, {name: version(name) for name in LIBRARIES}]

"""Whether the models of the score stage are here: what the config says of them, and that they load."""

from __future__ import annotations

from collections.abc import Iterator

from obelics_pipeline.core.config import RunConfig
from obelics_pipeline.core.errors import UserError
from obelics_pipeline.inspect.check.finding import Finding
from obelics_pipeline.models.language_model.files import HubSilent
from obelics_pipeline.models.pictures.sources import no_images
from obelics_pipeline.stages.extract.measure import score_names
from obelics_pipeline.stages.score.document_models import LoadDocumentModels, located, model_columns
from obelics_pipeline.stages.score.identity import check_bounds, models_identity

ABOUT = "models"


def model_findings(config: RunConfig, engine: str) -> Iterator[Finding]:
    """Nothing where no model is named. For a run on this machine they are loaded, so all that they need is here."""
    try:
        check_bounds(config.models, score_names(config))
        if not model_columns(config.models):
            return
        models_identity(config.models)
        if engine == "local":
            LoadDocumentModels(located(config.models).model_dump_json(), no_images)()
    except HubSilent as error:
        if engine == "local":  # elsewhere the score stage warns of it
            yield Finding(ABOUT, "missing", str(error))
        return
    except UserError as error:
        yield Finding(ABOUT, "missing", str(error))
        return
    models = ("flamingo", "language_model", "judge", "similarity", "classifier", "picture_classifiers", "aesthetic")
    named = ", ".join(name for name in models if getattr(config.models, name))
    yield Finding(ABOUT, "ok", f"{named} {'loaded' if engine == 'local' else 'named; the workers load them'}")
    yield Finding(ABOUT, "warning", "none ran on the sample: the table leaves out their time (docs/check.md)")

"""Documents in rows as NeMo Curator holds them: a row for each text and each picture."""

import pyarrow as pa

from tests.inspect.exported.documents import Found

OF_DOCUMENT = -1  # the position of a row that is no text or picture


def found(rows: pa.Table) -> list[Found]:
    """The documents of a table; the places of images that were not fetched have rows without bytes."""
    documents: dict[str, Found] = {}
    columns = ["sample_id", "position", "modality", "text_content", "binary_content"]
    for row in rows.select(columns).to_pylist():
        document = documents.setdefault(row["sample_id"], Found(row["sample_id"], [], []))
        if row["position"] == OF_DOCUMENT:
            assert row["modality"] == "metadata"
            continue
        assert row["position"] == len(document.texts), "rows stand in the order of the page"
        document.texts.append(row["text_content"])
        document.pictures.append(row["binary_content"])
    return list(documents.values())

"""Perplexity must follow from the model's score by the reference's formula."""

from models.perplexity import PerplexityModel


class Pieces:
    def encode(self, text: str, out_type: type) -> list[str]:
        return text.split()


class Uniform:
    """Gives every piece, and the end of the text, a probability of one tenth."""

    def score(self, line: str, bos: bool, eos: bool) -> float:
        assert bos
        assert eos
        return -1.0 * (len(line.split()) + 1)


def test_a_model_of_ten_equal_choices_has_a_perplexity_of_ten() -> None:
    model = PerplexityModel(Uniform(), Pieces())
    assert model.perplexity("one two three") == 10.0
    assert model.perplexity("") == 10.0

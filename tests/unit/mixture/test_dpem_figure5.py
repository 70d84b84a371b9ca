"""A small slice of the experiment: images that are recognised at a large budget, and not at the paper's."""

import numpy as np
import pytest

figure5 = pytest.importorskip("experiments.dpem_figure5")


def test_images_without_mnist_are_named_for_what_they_are(tmp_path, capsys):
    images, name = figure5.digits(tmp_path, 100)
    assert images.shape == (1797, 64)
    assert "MNIST is not here" in name
    assert "stand in" in capsys.readouterr().out


def test_mnist_is_read_where_it_is(tmp_path):
    pixels = np.arange(2 * 784, dtype=np.uint8)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(bytes(16) + pixels.tobytes())
    images, name = figure5.digits(tmp_path, 100)
    assert np.array_equal(images * 255, pixels.reshape(2, 784))
    assert name.startswith("MNIST")


def test_a_small_slice(tmp_path):
    """The order of the methods, and the claim: at the paper's budgets next to nothing of the factors is left."""
    X = figure5.digits(tmp_path, 100)[0]
    table, shown = figure5.run("digits", X, (0.2, 30.0), 1)
    shares = {(method, epsilon): share for _, method, epsilon, share in table}
    plain = shares["not private", np.inf]
    assert shares["tacit", 30.0] > 0.9 * plain
    assert shares["tacit", 0.2] < 0.5 * plain
    assert shares["paper", 0.2] < 0.5 * plain
    figure5.draw(shown, "a slice", tmp_path / "slice.png")
    assert (tmp_path / "slice.png").stat().st_size > 10_000

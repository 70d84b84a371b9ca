import copy
import multiprocessing
import os
import pickle
import secrets
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.release.generator import SecureGenerator, generator


def test_the_stream_is_chacha20():
    """The key stream of the all-zero key, from the test vectors of RFC 8439 (appendix A.1, number 1)."""
    from tacit.release.generator import _cipher

    stream = _cipher(0).random_raw(8).astype("<u8").tobytes().hex()
    assert stream == (
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
    )


def test_private_streams_differ_and_are_not_seeded():
    first, second = generator(), generator()
    assert not first.seeded
    assert (first.bits(8) != second.bits(8)).all()


def test_the_key_does_not_come_from_the_clock(monkeypatch):
    """With all clocks stopped, streams differ as ever; a key made from the time would be the same, and guessed."""
    for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        monkeypatch.setattr(time, clock, lambda: 1_700_000_000.0)
        monkeypatch.setattr(time, f"{clock}_ns", lambda: 1_700_000_000 * 10**9)
    streams = np.array([generator().bits(4) for _ in range(20)])
    assert len(np.unique(streams)) == streams.size


def test_the_key_is_what_the_operating_system_says_and_all_of_it(monkeypatch):
    """256 bits of ``secrets``: each of them matters, and nothing else does. So for a child that takes its own."""
    asked = []

    def randbits(count, key):
        asked.append(count)
        return key

    def stream(key):
        monkeypatch.setattr(secrets, "randbits", lambda count: randbits(count, key))
        return tuple(generator().bits(4).tolist())

    keys = [0, *(1 << bit for bit in range(256))]
    assert len({stream(key) for key in keys}) == 257
    assert stream(5) == stream(5)
    child = generator()
    child._owner = -1  # as a fork would see it
    assert tuple(child.bits(4).tolist()) == stream(5)
    assert set(asked) == {256}


@pytest.mark.parametrize("seed", [0, 7, 2**200, np.int64(3)])
def test_a_seed_gives_the_same_stream_again(seed):
    assert generator(seed).seeded
    np.testing.assert_array_equal(generator(seed).bits(100), generator(seed).bits(100))
    assert (generator(seed).bits(8) != generator(12345).bits(8)).all()


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_numpy_generators_give_a_seed(make):
    state = make(5)
    first, second = generator(state), generator(state)
    assert first.seeded
    assert (first.bits(8) != second.bits(8)).all()
    np.testing.assert_array_equal(generator(make(5)).bits(8), generator(make(5)).bits(8))


def test_the_global_numpy_state_is_neither_read_nor_written():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    generator().bits(10)
    generator(1).numpy().normal(size=10)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_a_secure_generator_is_passed_through():
    gen = generator(1)
    assert generator(gen) is gen


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed", True])
def test_a_wrong_random_state_gets_a_sentence(wrong):
    with pytest.raises(ValueError, match="random_state is"):
        generator(wrong)


def _send_bits(gen, pipe):
    pipe.send(gen.bits(8))
    pipe.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_takes_a_key_of_its_own():
    gen = generator()
    gen.bits(3)
    context = multiprocessing.get_context("fork")
    streams = []
    for _ in range(2):
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_send_bits, args=(gen, sender))
        child.start()
        streams.append(receiver.recv())
        child.join()
    streams.append(gen.bits(8))
    assert len(np.unique(np.concatenate(streams))) == 24


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda gen: pickle.loads(pickle.dumps(gen))])
def test_a_copy_of_a_private_stream_is_another_stream_and_of_a_seeded_one_the_same(duplicate):
    private, seeded = generator(), generator(3)
    seeded.bits(5)
    assert (duplicate(private).bits(8) != private.bits(8)).all()
    assert not duplicate(private).seeded
    twin = duplicate(seeded)
    assert twin.seeded
    np.testing.assert_array_equal(twin.bits(8), seeded.bits(8))


def test_the_key_is_not_in_a_pickle():
    gen = generator()
    key = gen._cipher.state["state"]["keysetup"].astype("<u4").tobytes()
    assert len(key) >= 16
    assert key[:16] not in pickle.dumps(gen)
    assert pickle.dumps(gen) == pickle.dumps(generator())


def test_below_is_uniform():
    gen = generator(2)
    draws = np.bincount([gen.below(11) for _ in range(11_000)], minlength=11)
    assert draws.size == 11
    assert stats.chisquare(draws).pvalue > 1e-4


@given(bound=st.integers(1, 2**300))
def test_below_stays_below(bound):
    gen = generator(bound)
    assert all(0 <= gen.below(bound) < bound for _ in range(5))


def test_below_of_nothing_gets_a_sentence():
    with pytest.raises(ValueError, match="at least one value"):
        generator(0).below(0)


def test_bits_are_fair():
    words = generator(4).bits(20_000)
    ones = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).sum(axis=0, dtype=np.int64)
    assert (np.abs(ones - 10_000) < 5 * np.sqrt(5_000)).all()


def test_repr_shows_what_matters_and_no_key():
    assert "not private" in repr(SecureGenerator(1))
    assert "operating system" in repr(SecureGenerator())

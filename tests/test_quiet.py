"""The garbage collector pause: it always ends."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import pytest

import spanwise
from spanwise.native.gc_pause import collector_paused


def test_the_collector_runs_again_afterwards() -> None:
    spanwise.chunk(spanwise.read_text("a\n\nb"))
    assert gc.isenabled()


def test_the_collector_runs_again_after_an_error() -> None:
    def fail() -> None:
        with collector_paused:
            assert not gc.isenabled()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused:
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_last_thread_out_switches_it_on() -> None:
    inside, leave = threading.Event(), threading.Event()

    def work() -> None:
        with collector_paused:
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(10)
    with collector_paused:
        pass
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


TEXT = "# A\n\nOne. Two.\n\n- a\n  - b\n\n| x |\n|---|\n| 1 |\n\n```\ncode\n```\n\n<figure>f</figure>\n\n" * 30
CYCLES = """
import gc, sys
sys.modules["spanwise.native.compiled"] = None  # what C makes is hidden from the collector
import spanwise
text = {text!r}
def work():
    for strategy in ("structure", "fixed", "simple", "hierarchical"):
        for chunk in spanwise.chunk(spanwise.read_text(text), strategy, max_tokens=64, template="tags"):
            chunk.to_dict()
work()
gc.collect()
work()
print(gc.collect())
"""


@pytest.mark.process
def test_documents_and_chunks_make_no_cycles() -> None:
    done = subprocess.run([sys.executable, "-c", CYCLES.format(text=TEXT)], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "0"

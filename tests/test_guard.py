"""Files that hang, crash or take too much memory cost themselves and nothing else."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from multiprocessing import connection
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

import spanwise
from command import ran
from spanwise.cli import main
from spanwise.errors import LostFileError, OptionError, SpanwiseError
from spanwise.pipeline import guard, workers
from spanwise.pipeline.guard import Limits
from spanwise.pipeline.workers import Batch, batched, in_order
from spanwise.sources.item import SourceItem

pytestmark = [pytest.mark.process, pytest.mark.slow]

SMALL = Limits(20, 300)
ENDLESS = "(a+)+b", "a" * 60  # matching holds the interpreter's lock for longer than anybody waits


def lost(job: object, cause: str) -> str:
    return f"{job}: {cause}"


def answers(
    work: Callable[[int], object], *batches: Iterable[int], size: int = 1, limits: Limits = SMALL
) -> list[object]:
    given = [Batch(list(batch)) for batch in batches]
    found = list(in_order(work, given, lost, size, limits))
    assert [job for job, _ in found] == [job for batch in given for job in batch.jobs]
    return [answer for _, answer in found]


def deadly(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * number


@pytest.mark.parametrize("size", [1, 2])
def test_a_job_that_ends_its_child_costs_no_other(size: int) -> None:
    expected = [10, 20, "3: crash", 40, 50, 60, 70, 80, 90]
    assert answers(deadly, [1, 2], [3, 4], [5, 6], [7], [8], [9], size=size) == expected


def deadly_once(number: int, marker: str) -> int:
    if number == 2 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_child_that_was_killed_once_is_not_the_files_fault(tmp_path: Path) -> None:
    work = partial(deadly_once, marker=str(tmp_path / "killed"))
    assert answers(work, [1, 2, 3]) == [1, 2, 3]
    assert (tmp_path / "killed").exists()


def endless(number: int) -> int:
    if number == 2:
        re.match(*ENDLESS)
    return number


def test_time_is_limited_whatever_the_child_does() -> None:
    assert answers(endless, [1, 2, 3], limits=Limits(1.0, 0)) == [1, "2: time", 3]


def tried_long(number: int, folder: str) -> int:
    if number == 2:
        Path(folder, f"{time.monotonic_ns()}").touch()
        time.sleep(60)
    return number


def test_a_file_that_takes_too_long_is_tried_once(tmp_path: Path) -> None:
    assert answers(partial(tried_long, folder=str(tmp_path)), [1, 2], limits=Limits(0.5, 0)) == [1, "2: time"]
    assert len(list(tmp_path.iterdir())) == 1


def test_the_time_of_a_file_is_its_own() -> None:
    """Several that take long together don't take too long."""
    assert answers(partial(slept, seconds=0.4), [1, 2, 3, 4], limits=Limits(1.2, 0)) == [1, 2, 3, 4]


def slept(number: int, seconds: float) -> int:
    time.sleep(seconds)
    return number


def stopped(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGSTOP)  # no alarm ends a process that is stopped
    return number


def test_a_child_that_can_not_end_itself_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 0.5)
    assert answers(stopped, [1, 2, 3], limits=Limits(0.5, 0)) == [1, "2: time", 3]


def greedy(number: int) -> int:
    return len(bytearray(500_000_000)) if number == 2 else number


def greedy_in_c(number: int) -> int:
    """Do as a library does whose allocations fail: abort."""
    if number == 2:
        try:
            kept = [bytearray(10_000_000) for _ in range(100)]
            kept.clear()
        except MemoryError:
            time.sleep(0.2)
            os.abort()
    return number


def doubling(number: int) -> int:
    """Do as a growing list of a library does: the old one is there until the new one is filled."""
    kept = bytearray(1_000_000)
    while number == 2:
        try:
            kept = bytearray(2 * len(kept))
        except MemoryError:
            time.sleep(0.2)
            os.abort()
    return number


@pytest.mark.parametrize("work", [greedy, greedy_in_c, doubling])
def test_memory_is_limited(work: Callable[[int], int]) -> None:
    assert answers(work, [1, 2, 3]) == [1, "2: memory", 3]


def hoarded(number: int, store: list[bytearray] = []) -> int:  # noqa: B006 - what a library keeps
    store.append(bytearray(60_000_000))
    return number


def test_what_earlier_files_took_is_not_counted() -> None:
    assert answers(hoarded, range(12)) == list(range(12))


def test_without_limits_and_with_one_worker_all_is_done_here() -> None:
    assert set(answers(process_id, [1, 2], limits=Limits(0, 0))) == {os.getpid()}
    assert os.getpid() not in answers(process_id, [1, 2], size=2, limits=Limits(0, 0))
    assert os.getpid() not in answers(process_id, [1, 2])


def process_id(_: object) -> int:
    return os.getpid()


def test_what_can_not_be_sent_is_done_here() -> None:
    jobs = [lambda: 1, lambda: 2]
    assert [answer for _, answer in in_order(process_id, [Batch(jobs)], lost)] == [os.getpid()] * 2


def test_batches_for_this_process_stay_apart() -> None:
    jobs = [("a", 10, False), ("b", 10, True), ("c", 10, True), ("d", 1 << 20, False), ("e", 1, False)]
    assert list(batched(jobs)) == [
        Batch(["a"]), Batch(["b", "c"], here=True), Batch(["d"]), Batch(["e"]),
    ]  # fmt: skip


def refused(number: int) -> int:
    raise RuntimeError(f"a fault in {number}")


def test_a_fault_of_ours_is_seen() -> None:
    with pytest.raises(RuntimeError, match="a fault in 1"):
        answers(refused, [1])


def in_daemon(queue: multiprocessing.SimpleQueue[object]) -> None:
    queue.put(answers(process_id, [1]) == [os.getpid()])


def test_a_process_that_may_have_no_children_does_all_itself() -> None:
    context = multiprocessing.get_context("spawn")
    queue = context.SimpleQueue()
    process = context.Process(target=in_daemon, args=(queue,), daemon=True)
    process.start()
    assert queue.get() is True
    process.join()


PARENT = """
import os, re, sys, time
from spanwise.pipeline.guard import Limits
from spanwise.pipeline.workers import Batch, in_order

def endless(path):
    with open(path, "w") as file:
        print(os.getpid(), file=file)
    re.match("(a+)+b", "a" * 60)

if __name__ == "__main__":
    if "threads" in sys.argv:
        import threading
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    list(in_order(endless, [Batch([sys.argv[1]])], lambda job, cause: cause))
"""


@pytest.mark.parametrize("how", ["copy", "threads"])
def test_a_child_ends_with_its_parent(how: str, tmp_path: Path) -> None:
    program, note = tmp_path / "program.py", tmp_path / "child"
    program.write_text(PARENT, encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(program), str(note), how])
    child = eventually(lambda: note.exists() and note.read_text().strip())
    assert Path(f"/proc/{child}").exists()
    parent.kill()
    parent.wait()
    assert eventually(lambda: not running(child))


def running(process: str) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def eventually(found: Callable[[], str | bool]) -> str:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if answer := found():
            return str(answer)
        time.sleep(0.02)
    raise AssertionError("it did not happen")


@pytest.fixture
def several_threads() -> Iterable[None]:
    """Make this a process that must not be copied."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    yield
    end.set()
    thread.join()


def asked(*questions: str, **more: object) -> list[object]:
    """Return what a child of code that isn't the user's says to Python expressions."""
    return [answer for _, answer in in_order(eval, [Batch(list(questions))], lost, **more)]  # type: ignore[arg-type]


WHO = "__import__('os').getpid()"
WHERE = "__import__('os').getcwd(), __import__('os').environ.get('SPANWISE_GUARD_TEST')"


@pytest.mark.usefixtures("several_threads")
def test_a_child_that_was_costly_to_start_is_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not guard.may_fork()
    (first,) = asked(WHO)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPANWISE_GUARD_TEST", "seen")
    assert asked(WHO, WHERE) == [first, (str(tmp_path), "seen")]
    assert isinstance(first, int)
    os.kill(first, signal.SIGKILL)
    assert asked(WHO) != [first]


@pytest.mark.usefixtures("several_threads")
def test_a_child_is_not_used_again_for_code_that_may_have_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = asked(WHO)
    (own,) = answers(process_id, [1])
    assert len({first, own, os.getpid(), *asked(WHO)}) == 3  # the first is still there
    monkeypatch.syspath_prepend("/somewhere")
    assert asked(WHO) != [first]


@pytest.mark.usefixtures("several_threads")
def test_a_document_that_says_main_is_guarded() -> None:
    assert asked(f"{WHO}  # __main__") != [os.getpid()]


@pytest.mark.usefixtures("several_threads")
def test_limits_hold_in_a_new_process_too() -> None:
    assert answers(endless, [1, 2, 3], limits=Limits(3.0, 0)) == [1, "2: time", 3]
    assert answers(greedy, [1, 2, 3]) == [1, "2: memory", 3]


def test_a_deleted_folder_is_no_hindrance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert (asked(WHO) == [os.getpid()]) is not guard.may_fork()  # nothing else can start there


def test_one_job_that_can_not_be_sent_leaves_the_others_guarded() -> None:
    jobs = [1, 2, lambda: 3, 4, 5]
    found = [answer == os.getpid() for _, answer in in_order(process_id, [Batch(jobs)], lost)]
    assert found == [False, False, True, False, False]


class Homesick:
    """A job that can't be unpickled anywhere."""

    def __reduce__(self) -> tuple[object, ...]:
        return float, ("no number",)


@pytest.mark.parametrize("size", [1, 2])
def test_what_a_child_can_not_read_is_done_here(size: int) -> None:
    given: list[Batch[object]] = [Batch([Homesick(), Homesick()]), Batch([1])]
    found = [answer == os.getpid() for _, answer in in_order(process_id, given, lost, size)]
    assert found == [True, True, False]


def stopped_while_sending(number: int, marker: str) -> bytes:
    if number == 2 and not Path(marker).exists():
        Path(marker).touch()
        send = Connection._send  # type: ignore[attr-defined]

        def half(pipe: Connection, data: bytes) -> None:
            send(pipe, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGSTOP)

        Connection._send = half  # type: ignore[attr-defined]
    return bytes(100_000)


def test_half_an_answer_is_not_awaited_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_STUCK_SECONDS", 1)
    monkeypatch.setattr(guard, "_END_SECONDS", 0.5)
    work = partial(stopped_while_sending, marker=str(tmp_path / "stopped"))
    assert answers(work, [1, 2, 3]) == [bytes(100_000)] * 3


def stopped_once(number: int, marker: str) -> int:
    if number == 2 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGSTOP)
    return number


def test_a_child_that_was_stopped_once_is_not_the_files_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 0.5)
    work = partial(stopped_once, marker=str(tmp_path / "stopped"))
    assert answers(work, [1, 2, 3], limits=Limits(0.5, 0)) == [1, 2, 3]


def long_once(number: int, marker: str) -> int:
    if number == 2 and not Path(marker).exists():
        Path(marker).touch()
        time.sleep(60)
    return number


def test_time_while_all_processes_are_stopped_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-Z stops this process and its children; the alarm of a child doesn't stop."""
    monkeypatch.setattr(workers, "_PATIENCE", 1.0)
    monkeypatch.setattr(workers, "_LOOK_SECONDS", 0.1)
    usual = connection.wait

    def late(*arguments: object) -> object:
        if (tmp_path / "slow").exists():
            time.sleep(1.5)
        return usual(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(workers, "wait", late)
    work = partial(long_once, marker=str(tmp_path / "slow"))
    assert answers(work, [1, 2, 3], limits=Limits(0.5, 0)) == [1, 2, 3]


def test_every_answer_may_be_taken_in_another_thread() -> None:
    """The kernel kills a child when the thread that started it ends."""
    given = [Batch([number]) for number in range(12)]
    found, taken = in_order(partial(slept, seconds=0.05), given, lost, 2, SMALL), []
    for _ in range(12):
        thread = threading.Thread(target=lambda: taken.append(next(found)[1]))
        thread.start()
        thread.join()
    assert taken == list(range(12))


def test_a_copy_of_this_process_leaves_the_children_alone() -> None:
    order = guard.encoded(guard.Order(process_id, [1], SMALL))
    assert order
    child = guard.start()
    copy = os.fork()
    if copy == 0:
        guard.dismiss(child)
        os._exit(0)
    os.waitpid(copy, 0)
    child.send(order)
    assert child.take() == child.process.pid
    guard.dismiss(child)


def test_nothing_is_left_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def left() -> tuple[int, int]:
        """Return how many files are open, and how many children there are, also dead ones."""
        return len(list(Path("/proc/self/fd").iterdir())), len(Path("/proc/thread-self/children").read_text().split())

    answers(deadly, [1])
    before = left()
    for _ in range(3):
        answers(deadly, [1, 3, 2], [3], [4], size=2)
        next(in_order(deadly, [Batch([1, 2])], lost))
    assert left() == before


def mask(_: object) -> set[int]:
    return {int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())}


def test_signals_that_this_process_blocks_reach_its_children() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGTERM})
    try:
        assert answers(mask, [1]) == [{signal.SIGINT}]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_time_is_known_where_nobody_is_told_how_a_child_ended() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert answers(endless, [1, 2, 3], limits=Limits(1.0, 0)) == [1, "2: time", 3]
    finally:
        signal.signal(signal.SIGCHLD, before)


def core_size(_: object) -> int:
    return resource.getrlimit(resource.RLIMIT_CORE)[0]


def test_a_crash_leaves_no_image_behind() -> None:
    assert answers(core_size, [1]) == [0]


LOUD = """
import logging, os, sys
from spanwise.pipeline.workers import Batch, in_order
logging.basicConfig(format="%(message)s")

def loud(number):
    os.write(2, b"a library fails\\n")
    print("printed", file=sys.stderr)
    print("among records")
    logging.warning("logged")
    return number

if __name__ == "__main__":
    print(*in_order(loud, [Batch([1])], None))
"""


def test_only_python_writes_to_stderr_in_a_child(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOUD, encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("(1, 1)\n", "printed\namong records\nlogged\n")
    closed = subprocess.run(f"{sys.executable} {program} 2>&-", shell=True, capture_output=True, text=True, check=False)
    assert closed.stdout == "(1, 1)\n"


def test_what_a_source_gave_before_it_failed_is_done() -> None:
    def broken() -> Iterable[tuple[int, int, bool]]:
        yield from ((number, 1, False) for number in range(70))
        raise KeyError("gone")

    found = in_order(process_id, batched(broken()), lost, 2)
    assert [next(found)[0] for _ in range(70)] == list(range(70))
    with pytest.raises(KeyError, match="gone"):
        next(found)


ELSEWHERE = """
import os, signal, sys
import concurrent.futures, multiprocessing.popen_fork, random, threading  # what Python itself does there
for module, names in ((signal, "pthread_sigmask setitimer SIGALRM SIGHUP"),
                      (os, "register_at_fork geteuid getegid getgroups")):
    for name in names.split():
        delattr(module, name)
sys.modules["resource"] = None
sys.platform = "elsewhere"
from spanwise.pipeline import guard, workers
from spanwise.pipeline.guard import Limits
from spanwise.pipeline.workers import Batch, in_order
workers._PATIENCE, workers._LOOK_SECONDS = 0.5, 0.1

def work(number):
    if number == 2:
        import time
        time.sleep(60)
    if number == 3:
        os._exit(1)
    return number

if __name__ == "__main__":
    for job in in_order(work, [Batch([1, 2, 3, 4])], lambda job, cause: cause, 1, Limits(0.5, 300)):
        print(*job)
"""


def test_a_system_without_signals_and_limits_still_limits_the_time(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(ELSEWHERE, encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("1 1\n2 time\n3 crash\n4 4\n", "")


IDLE_STOPPED = """
import os, signal, threading
from spanwise.pipeline.workers import Batch, in_order
end = threading.Event()
threading.Thread(target=end.wait).start()
((_, child),) = in_order(eval, [Batch(["__import__('os').getpid()"])], None)
os.kill(child, signal.SIGSTOP)
end.set()
print("end")
"""


def test_an_idle_child_that_is_stopped_does_not_keep_this_process_from_ending(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(IDLE_STOPPED, encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("end\n", "")


# ------------------------------------------------------------------------------------------------------- real sources


@dataclass(frozen=True, slots=True)
class TrapItem(SourceItem):
    """An item that does what a hostile file may do to a reader."""

    def fetch(self) -> bytes:
        if "endless" in self.name:
            re.match(*ENDLESS)
        if "greedy" in self.name:
            return bytes(700_000_000)
        if "crash" in self.name:
            os.abort()
        return b"# Heading\n\nSome text."


NAMES = ["a.md", "endless.md", "b.md", "greedy.md", "c.md", "crash.md", "d.md"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_traps_among_sources_are_reported_and_the_rest_goes_on(jobs: int) -> None:
    items = [TrapItem(name) for name in NAMES]
    outcomes = list(spanwise.chunk_files(items, jobs=jobs, file_timeout=1.5, file_memory=400))
    assert [outcome.name for outcome in outcomes] == NAMES
    causes = {one.name: one.error.cause for one in outcomes if isinstance(one.error, LostFileError)}
    assert causes == {"endless.md": "time", "greedy.md": "memory", "crash.md": "crash"}
    assert all(outcome.value for outcome in outcomes if outcome.name not in causes)


def test_traps_among_indexed_sources_are_failures(tmp_path: Path) -> None:
    items = [TrapItem(name, metadata={"file_path": name}) for name in NAMES]
    report = spanwise.index(items, tmp_path / "x.db", embedder=None, file_timeout=1.5, file_memory=400)
    assert (report.added, report.failed) == (4, 3)
    errors = {one.file: str(one.error) for one in report.documents if one.error}
    assert errors["endless.md"].startswith("`endless.md` can't be read within 1.5 s\nhint: ")
    assert errors["greedy.md"].startswith("`greedy.md` is too large for the memory that it may take\nhint: ")
    assert errors["crash.md"].startswith("`crash.md` ended the process that read it, twice\nhint: ")


def test_documents_that_are_read_need_no_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "Child", None)
    document = spanwise.read_text("# A\n\nText.", document_id="a")
    assert spanwise.index(document, tmp_path / "x.db", embedder=None).added == 1


def test_a_lost_file_keeps_its_cause_between_processes() -> None:
    import pickle

    error = LostFileError("a.pdf", "can't be read within 1 s", hint="leave it out")
    error.cause = "time"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.cause) == (str(error), "time")


@pytest.mark.parametrize(
    "wrong", [{"file_timeout": -1}, {"file_memory": 1.5}, {"file_timeout": "1"}, {"file_memory": True}]
)
def test_wrong_limits_are_refused(wrong: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="must be a number of"):
        spanwise.chunk_files([], **wrong)  # type: ignore[call-overload]
    with pytest.raises(OptionError, match="must be a number of"):
        spanwise.index([], tmp_path / "x.db", **wrong)  # type: ignore[call-overload]
    assert not (tmp_path / "x.db").exists()


def test_the_command_line_sets_the_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "big.txt").write_text("word " * 20_000_000, encoding="ascii")
    (tmp_path / "small.md").write_text("# A\n\nText.", encoding="ascii")
    assert main(["chunk", str(tmp_path), "--file-memory", "150", "-o", str(tmp_path / "x.jsonl")]) == 1
    assert "big.txt` is too large for the memory that it may take" in capsys.readouterr().err
    assert (tmp_path / "x.jsonl").read_text().count("\n") == 1


def pdf(content: bytes) -> bytes:
    """Return a PDF whose only page has this content, compressed."""
    packed = zlib.compress(content, 9)
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>", b"<</Type /Pages /Kids [3 0 R] /Count 1>>",
        b"<</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R>>",
        b"<</Filter /FlateDecode /Length %d>> stream\n%b\nendstream" % (len(packed), packed),
    ]  # fmt: skip
    body = b"".join(b"%d 0 obj %b endobj\n" % (number, one) for number, one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer <</Root 1 0 R /Size 5>>\n%%EOF\n"


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a folder with a small PDF that takes gigabytes, and beside it what can't be read to its end."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in ("a.md", "c.md", "d.md"):
        (folder / name).write_text("# Heading\n\nSome text.", encoding="ascii")
    (folder / "b.pdf").write_bytes(pdf(b"1 1 5 5 re f " * 3_000_000))
    os.mkfifo(tmp_path / "endless.txt")
    return tmp_path


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_hostile_files_in_a_folder_that_is_chunked(jobs: str, hostile: Path) -> None:
    limits = ["--jobs", jobs, "--file-memory", "300", "--file-timeout", "10"]
    done = ran("chunk", "docs", "endless.txt", "-o", "x.jsonl", *limits, cwd=hostile, timeout=90)
    assert done.code == 1
    assert "`docs/b.pdf` is too large for the memory that it may take; hint: leave it out" in done.err
    assert "`endless.txt` can't be read within 10 s; hint: leave it out" in done.err
    assert "3 documents read, 3 chunks, 0 left out, 2 failed" in done.err
    assert len(done.err.splitlines()) == 3
    files = [json.loads(line)["metadata"]["file_path"] for line in (hostile / "x.jsonl").read_text().splitlines()]
    assert files == ["docs/a.md", "docs/c.md", "docs/d.md"]


def test_hostile_files_in_a_folder_that_is_indexed(hostile: Path) -> None:
    arguments = ["--store", "x.db", "--embedder", "none", "--file-memory", "300"]
    done = ran("index", "docs", *arguments, cwd=hostile, timeout=90)
    assert done.code == 1
    assert "`docs/b.pdf` is too large for the memory that it may take; hint: leave it out" in done.err
    again = ran("index", "docs", *arguments, cwd=hostile, timeout=90)
    assert re.search(r"0 added +0 changed +3 unchanged +0 deleted +1 failed", again.err)


def test_a_child_that_can_not_start_is_no_files_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "serve", ended)
    monkeypatch.setattr(guard, "may_fork", lambda: False)
    monkeypatch.setattr(guard._idle, "take", lambda order: None)
    with pytest.raises(SpanwiseError, match="can't be started"):
        answers(process_id, [1])


def ended(*_: object) -> None:
    """Stand for a process that ends before it does anything."""


def test_a_system_that_allows_no_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    for kind in ("Fork", "Spawn"):
        monkeypatch.setattr(f"multiprocessing.context.{kind}Process._Popen", full)
    with pytest.raises(SpanwiseError, match=r"can't be started \(Resource temporarily unavailable\)\nhint: allow more"):
        answers(process_id, [1])

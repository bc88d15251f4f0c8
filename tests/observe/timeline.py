"""Checks of the files that ui.perfetto.dev opens, and of who moves: timeline.py CHECK BIN FOLDER; FOLDER has `load`."""
import bisect
import json
import os
import signal
import subprocess
import sys
import time

CHECK, BIN, FOLDER = sys.argv[1:4]
LOAD = os.path.join(FOLDER, "load")
# The trace of `traced` that was found whole, and how many calls, arrows and rows it has.
COUNTS = os.path.join(FOLDER, "trace.counts")


def tool(name):
    return os.path.join(BIN, name)


def run(*words, code=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=100)
    assert done.returncode == code, (words, done)
    return done


def until(condition, seconds=30):
    """The first true value of a condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it did not come true")


class Job:
    """A job that is ended at the end."""

    def __init__(self, *start):
        self.process = subprocess.Popen(start, stderr=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=30)

    def ranks(self):
        """The ranks, once all are in the job."""
        done = subprocess.run([tool("mpitop"), "--once", "--json", str(self.pid)], capture_output=True, text=True)
        found = [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []
        ranks = [rank for rank in found if rank["kind"] == "rank"]
        return ranks if ranks and all(rank["pid"] for rank in ranks) and "call" in ranks[0] else None


def micro(event):
    """Whole nanoseconds, which floating point numbers of microseconds would not keep."""
    return round(event["ts"] * 1000), round(event.get("dur", 0) * 1000)


def whole(path):
    """The events of a file, checked: rows in order, calls nested or apart, arrows with two ends that lie in calls."""
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    rows, flows = {}, {}
    for event in events:
        if event["ph"] in "XB":
            rows.setdefault((event["pid"], event["tid"]), []).append(event)
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(event)
        else:
            assert event["ph"] in "Mi", event
    for row in rows.values():
        open_until, last = [], -1
        for event in row:
            begin, length = micro(event)
            assert last <= begin and length >= 0, event
            last = begin
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            end = begin + length if event["ph"] == "X" else float("inf")
            assert not open_until or end <= open_until[-1], (event, open_until)
            open_until.append(end)
    begins = {key: [micro(event)[0] for event in row] for key, row in rows.items()}

    def in_a_call(key, at):
        """Whether a call lies over the time: the last that began by then, or one that it is nested in."""
        index = bisect.bisect_right(begins[key], at) - 1
        while index >= 0:
            begin, length = micro(rows[key][index])
            if at <= begin + length:
                return True
            index -= 1
        return False

    for number, ends in flows.items():
        assert [end["ph"] for end in ends] == ["s", "f"], (number, ends)
        sent, received = ends
        assert sent["ts"] <= received["ts"] and sent["pid"] != received["pid"] or len(rows) == 1, ends
        for end in ends:
            assert in_a_call((end["pid"], end["tid"]), micro(end)[0]), end
    calls = [event for row in rows.values() for event in row]
    return calls, flows, events


def counts(calls, flows):
    """How many calls, arrows and rows there are."""
    return len(calls), len(flows), len({(call["pid"], call["tid"]) for call in calls})


def opened(path, calls, flows, rows):
    """The same numbers in Perfetto's own reader, which finds nothing wrong; seconds that it takes."""
    import perfetto as reader

    query = ("select (select count(*) from slice where category = 'mpi') || ',' || (select count(*) from flow) || ',' || "
             "(select count(distinct track_id) from slice where category = 'mpi') || ',' || "
             "(select sum(value) from stats where severity in ('error', 'data_loss'))")
    begin = time.monotonic()
    # So that a check that is ended by its time limit ends the browser.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    found = reader.query(path, query, 60)
    assert found == f"{calls},{flows},{rows},0", (found, calls, flows, rows)
    return time.monotonic() - begin


def of_failure():
    """A crash, with arrows whose ends fit; a job that ends well writes nothing."""
    path = os.path.join(FOLDER, "failure.json")
    if os.path.exists(path):
        os.remove(path)
    run(tool("mpiexec"), "-n", "3", "--timeline", path, LOAD, "once")
    assert not os.path.exists(path)
    done = run(tool("mpiexec"), "-n", "3", "--timeline", path, LOAD, "once", "die", code=9)
    assert f" calls are in {path}, with " in done.stderr, done
    calls, flows, events = whole(path)
    names = [event["args"]["name"] for event in events if event["name"] == "process_name"]
    assert [name.split(":")[0] for name in names] == ["rank 0", "rank 1", "rank 2"], names
    sends = [event for event in calls if event["name"] == "MPI_Send"]
    # Rank 1 sends one message and a last one, rank 2 two and a last one; all were received.
    assert len(sends) == 5 and len(flows) == 5, (len(sends), len(flows))
    for sent, received in flows.values():
        assert received["pid"] == 0 and sent["pid"] in (1, 2)
    text = [event["args"]["call"] for event in calls if event["name"] == "MPI_Send"]
    assert "MPI_Send to rank 0 with tag 3" in text, text
    assert events[-1]["ph"] == "i" and max(micro(event)[0] for event in calls) <= micro(events[-1])[0]
    # The number of calls is the one of the variable, if it is set.
    short = os.path.join(FOLDER, "short.json")
    run(tool("mpiexec"), "-n", "2", "--timeline", short, "--cvar", "fabric_recorder_depth=3", LOAD, "crash", code=139)
    calls, _, _ = whole(short)
    assert 2 <= len(calls) <= 6 and any(event["ph"] == "B" and event["name"] == "MPI_Recv" for event in calls), calls
    done = run(tool("mpiexec"), "-n", "1", "--timeline", "/nonexistent/a", LOAD, code=1)
    assert "--timeline \"/nonexistent/a\" cannot be written" in done.stderr, done
    return path


def of_hang():
    """A job that makes no progress has its file while it still runs."""
    path = os.path.join(FOLDER, "hang.json")
    if os.path.exists(path):
        os.remove(path)
    with Job(tool("mpiexec"), "-n", "2", "--hang-report=0.3", "--timeline", path, LOAD, "stuck", "/nonexistent") as job:
        until(lambda: os.path.exists(path) and os.path.getsize(path) and job.process.poll() is None)
        until(lambda: open(path).read().endswith("]}\n"))
        calls, _, events = whole(path)
        assert any(event["ph"] == "B" and event["name"] == "MPI_Recv" and event["pid"] == 0 for event in calls), calls
        assert events[-1]["name"] == "no progress", events[-1]


def on_request():
    """mpitop writes the last calls of a job that runs; without times it says what to do."""
    path = os.path.join(FOLDER, "request.json")
    times = ("--cvar", "fabric_recorder_times=on", "--cvar", "fabric_recorder_depth=300")
    with Job(tool("mpiexec"), "-n", "3", *times, LOAD, "ring", "60") as job:
        until(job.ranks)
        time.sleep(0.5)
        done = run(tool("mpitop"), "--timeline", path, str(job.pid))
        assert f" calls are in {path}, with " in done.stdout, done
        calls, _, _ = whole(path)
        assert {event["pid"] for event in calls} == {0, 1, 2} and len(calls) > 300, len(calls)
        assert {event["name"] for event in calls} <= {"MPI_Sendrecv", "MPI_Bcast"}
        # Stopped ranks have received what was sent, or not: arrows come or not, and are right.
        for rank in job.ranks():
            os.kill(rank["pid"], signal.SIGSTOP)
        done = run(tool("mpitop"), "--timeline", path, str(job.pid))
        _, flows, _ = whole(path)
        for sent, received in flows.values():
            assert received["pid"] == (sent["pid"] + 1) % 3, (sent, received)
        for rank in job.ranks():
            os.kill(rank["pid"], signal.SIGCONT)
    with Job(tool("mpiexec"), "-n", "2", LOAD, "stuck", "/nonexistent") as job:
        until(job.ranks)
        done = run(tool("mpitop"), "--timeline", path, str(job.pid), code=1)
        assert "start the job with mpiexec --timeline FILE" in done.stderr, done


def traced():
    """A trace of 64 ranks is whole. Prints its size and how long it takes to write it; leaves it and its counts."""
    path = os.path.join(FOLDER, "trace.json")
    if os.path.exists(COUNTS):
        os.remove(COUNTS)
    seconds = float(os.environ.get("TRACED_SECONDS", "1"))
    begin = time.monotonic()
    run(tool("mpiexec"), "-n", "64", "--trace", path, LOAD, "ring", str(seconds))
    took = time.monotonic() - begin
    calls, flows, _ = whole(path)
    assert {event["pid"] for event in calls} == set(range(64))
    exchanges = sum(event["name"] == "MPI_Sendrecv" for event in calls)
    # Each rank makes as many; each has arrows for its share of 2^21 messages.
    assert exchanges > 0 and len(flows) == min(exchanges, 1 << 21), (exchanges, len(flows))
    print(f"{len(calls)} calls, {len(flows)} arrows, {os.path.getsize(path)} bytes, {took:.1f} s for {seconds} s")
    with open(COUNTS, "w") as file:
        json.dump([path, *counts(calls, flows)], file)


def perfetto():
    """Perfetto's own reader finds the same calls, rows and arrows, in the trace of `traced`, which it makes if it is not there, and in
    the last calls of a job that failed."""
    if not os.path.exists(COUNTS):
        traced()
    with open(COUNTS) as file:
        print(f"opened in {opened(*json.load(file)):.1f} s")
    # Another run makes its own.
    os.remove(COUNTS)
    path = of_failure()
    calls, flows, _ = whole(path)
    opened(path, *counts(calls, flows))


def moving():
    """A job that makes progress shows no cause; calls that stay are still found."""
    with Job(tool("mpiexec"), "-n", "3", LOAD, "ring", "60") as job:
        until(job.ranks)
        for _ in range(20):
            text = run(tool("mpitop"), "--why", str(job.pid)).stdout
            first = text.splitlines()[0]
            wrong = ("nobody", "differ", "wait for each other", "has not called MPI", "has sent")
            assert not any(word in first for word in wrong), text
        assert "make progress" in text or "waits in" in text or "no rank waits" in text, text


def stopped():
    """When all ranks are stopped, the report says so first."""
    with Job(tool("mpiexec"), "-n", "3", LOAD, "stuck", "/nonexistent") as job:
        ranks = until(job.ranks)
        for rank in ranks:
            os.kill(rank["pid"], signal.SIGSTOP)
        text = until(lambda: (lambda text: text if "stopped" in text else None)(run(tool("mpitop"), "--why", str(job.pid)).stdout))
        assert text.startswith("all ranks are stopped by a signal or a debugger"), text
        for rank in ranks:
            os.kill(rank["pid"], signal.SIGCONT)
        text = until(lambda: (lambda text: text if "rank 2 has not called MPI" in text else None)(run(tool("mpitop"), "--why", str(job.pid)).stdout))


def spawned():
    """The list of jobs names who has spawned one."""
    with Job(tool("mpiexec"), "-n", "1", LOAD, "spawn") as job:
        def jobs():
            text = run(tool("mpitop"), "--list", "--json").stdout
            found = [json.loads(line) for line in text.splitlines()]
            own = [entry for entry in found if entry["pid"] == job.pid or entry.get("spawned_by") == job.pid]
            return own if len(own) == 2 else None
        parent, child = sorted(until(jobs), key=lambda entry: "spawned_by" in entry)
        assert "spawned_by" not in parent and child["spawned_by"] == job.pid, (parent, child)
        assert f"spawned by {job.pid}: " in run(tool("mpitop"), "--list").stdout


globals()[CHECK]()

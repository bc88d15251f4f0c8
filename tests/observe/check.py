"""Checks of mpitop, mpi-info and mpiexec --stats: check.py CHECK BIN FOLDER; FOLDER has the program `load`."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

CHECK, BIN, FOLDER = sys.argv[1:4]
LOAD = os.path.join(FOLDER, "load")


def run(*words, code=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (words, done)
    return done


def tool(name):
    return os.path.join(BIN, name)


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def until(condition, seconds=30):
    """The first true value of a condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it did not come true")


class Stuck:
    """A job whose ranks wait for its last one."""

    def __init__(self, *start):
        self.file = os.path.join(FOLDER, f"go.{os.getpid()}")
        self.process = subprocess.Popen([*start, LOAD, "stuck", self.file])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        open(self.file, "w").close()
        try:
            assert self.process.wait(30) == 0
        finally:
            self.process.kill()
            os.remove(self.file)

    def look(self):
        """The ranks, once the job is found."""
        done = subprocess.run([tool("mpitop"), "--once", "--json", str(self.process.pid)], capture_output=True, text=True)
        return lines(done.stdout) if done.returncode == 0 else None


def info():
    assert "single copy" in run(tool("mpi-info")).stdout
    everything = lines(run(tool("mpi-info"), "--all", "--json").stdout)
    assert {entry["kind"] for entry in everything} == {"library", "cvar", "pvar", "event", "category"}
    timers = lines(run(tool("mpi-info"), "--class", "timer", "--json").stdout)
    assert timers and all(entry["class"] == "timer" for entry in timers)
    assert "did you mean p2p?" in run(tool("mpi-info"), "--category", "p2q", code=1).stderr


def amounts(summary):
    return {amount["name"]: amount["values"] for amount in summary["amounts"]}


def stats_json():
    file = os.path.join(FOLDER, "stats.json")
    run(tool("mpiexec"), "-n", "4", f"--stats={file}", LOAD, "once")
    with open(file) as text:
        summary = json.load(text)
    found = amounts(summary)
    # Each rank sends as many messages as its number says, and one more.
    assert found["own_messages_sent"] == [0, 2, 3, 4], found
    assert found["collective_calls"] == [1, 1, 1, 1], found
    assert found["unexpected"][0] >= 6, found
    assert summary["exit_code"] == 0 and summary["without_finalize"] == []
    text = run(tool("mpiexec"), "-n", "4", "--stats", LOAD, "once").stderr
    assert text.startswith("Ferrum MPI statistics: 4 ranks, ") and len(text.splitlines()) <= 30, text


def stats_after_crash():
    file = os.path.join(FOLDER, "crash.json")
    run(tool("mpiexec"), "-q", "-n", "3", f"--stats={file}", LOAD, "once", "die", code=9)
    with open(file) as text:
        summary = json.load(text)
    assert summary["exit_code"] == 9 and 2 in summary["without_finalize"], summary
    assert amounts(summary)["own_messages_sent"] == [0, 2, 3], summary
    done = run(tool("mpiexec"), "--stats=/nonexistent/s.json", LOAD, "once", code=1)
    assert "/nonexistent/s.json cannot be written" in done.stderr, done.stderr


def stuck_job():
    with Stuck(tool("mpiexec"), "-n", "3") as job:
        def waits():
            found = job.look()
            waiting = found and [rank for rank in found[1:] if rank.get("call") == "MPI_Recv"]
            return found if waiting and len(waiting) == 2 and all(rank["waiting"] == 1 for rank in waiting) else None
        found = until(waits)
        assert found[0]["kind"] == "job" and found[0]["ranks"] == 3
        assert [rank.get("peer") for rank in found[1:3]] == ["2", "2"], found
        assert found[1]["doing"] == "MPI_Recv from rank 2 with tag 7", found
        assert found[3]["waiting"] == 0, found
        assert str(job.process.pid) in run(tool("mpitop"), "--list").stdout
        # By a rank, and by the number of the job.
        assert lines(run(tool("mpitop"), "--once", "--json", str(found[2]["pid"])).stdout)[0]["job"] == found[0]["job"]
        assert lines(run(tool("mpitop"), "--once", "--json", found[0]["job"][:12]).stdout)[0]["ranks"] == 3


def singleton():
    with Stuck() as job:
        found = until(lambda: (lambda f: f if f and f[1].get("state") == "computing" else None)(job.look()))
        assert found[0]["ranks"] == 1 and found[0]["pid"] == job.process.pid, found


def no_such_job():
    assert "there is no job zzzz" in run(tool("mpitop"), "--once", "zzzz", code=1).stderr
    assert "needs a terminal" in run(tool("mpitop"), code=1).stderr


def live_view():
    session = f"observe{os.getpid()}"

    def screen():
        return run("tmux", "-L", session, "capture-pane", "-p", "-t", session).stdout

    with Stuck(tool("mpiexec"), "-n", "4") as job:
        until(job.look)
        start = ["new-session", "-d", "-s", session, "-x", "130", "-y", "12", f"{tool('mpitop')} {job.process.pid}; echo over; cat"]
        run("tmux", "-L", session, *start)
        try:
            until(lambda: screen().count("MPI_Recv from rank 3 with tag 7") == 3)
            first = lambda: re.findall(r"^ +(\d+) +\d+ ", screen(), re.M)[:1]
            until(lambda: first() == ["0"])
            run("tmux", "-L", session, "send-keys", "-t", session, "r")
            until(lambda: first() == ["3"])
            run("tmux", "-L", session, "send-keys", "-t", session, "q")
            until(lambda: "over" in screen())
        finally:
            run("tmux", "-L", session, "kill-server")


def page():
    file = os.path.join(FOLDER, "page.html")
    run(tool("mpiexec"), "-n", "4", f"--stats={file}", LOAD, "ring", "0.3")
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}",
                 "--enable-logging=stderr", "--virtual-time-budget=3000"]
        done = run("chromium", *flags, "--window-size=420,2600", f"--screenshot={FOLDER}/page.png", "--dump-dom", f"file://{file}")
    assert "CONSOLE" not in done.stderr, done.stderr
    dom = done.stdout
    with open(file) as text:
        data = json.loads(re.search(r'id="data">(.*?)</script>', text.read(), re.S).group(1))
    shown = {name: value for name, value in re.findall(r'<tr data-name="(\w+)"><th[^>]*>[^<]*</th><td data-value="([^"]*)"', dom)}
    for amount in data["amounts"]:
        assert float(shown[amount["name"]]) == amount["total"], (amount["name"], shown)
    assert f"{len(data['variables'])} of {len(data['variables'])}" in dom


def metrics():
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    import urllib.request
    with Stuck(tool("mpiexec"), "-n", "3") as job:
        until(job.look)
        server = subprocess.Popen([tool("mpitop"), "--openmetrics", "--listen", "0", str(job.process.pid)], stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().split()[1]
            with urllib.request.urlopen(address) as answer:
                assert answer.headers["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
                families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
        finally:
            server.kill()
        assert len(families["ferrum_mpi_rank_messages_sent"].samples) == 3, families
        assert families["ferrum_mpi_rank_sent_bytes"].unit == "bytes"
        assert families["ferrum_mpi_rank_waited_seconds"].type == "counter"


{name: value for name, value in globals().items() if callable(value)}[CHECK]()

"""Checks of mpitop, mpi-info, mpiexec --stats and mpiexec --gdb: check.py CHECK BIN FOLDER; FOLDER has the program `load`."""
import fcntl
import glob
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

CHECK, BIN, FOLDER = sys.argv[1:4]
LOAD = os.path.join(FOLDER, "load")


def run(*words, code=0):
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (words, done)
    return done


def tool(name):
    return os.path.join(BIN, name)


def fields(pairs):
    """An object of JSON in which no field is twice."""
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names)), names
    return dict(pairs)


def lines(text):
    return [json.loads(line, object_pairs_hook=fields) for line in text.splitlines()]


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
    for words, code, part in [
        (["--category", "p2q"], 2, "no category is named p2q; did you mean p2p?"),
        (["--class", "zzz"], 2, "no class is named zzz; there are "),
        (["--verbosity", "zzz"], 2, "invalid value 'zzz'"),
        (["--name", "p2p_eager_limt"], 2, "nothing is named p2p_eager_limt; did you mean p2p_eager_limit?"),
        (["barier"], 1, "nothing contains barier; did you mean barrier?"),
        (["--json", "--short", "--cvars"], 2, "cannot be used with"),
        (["--foo"], 2, "unexpected argument '--foo' found"),
    ]:
        done = run(tool("mpi-info"), *words, code=code)
        assert done.stderr.startswith("mpi-info: ") and part in done.stderr, done.stderr
        assert "-- --foo" not in done.stderr, done.stderr
    assert run(tool("mpi-info"), "--version").stdout.startswith("mpi-info (Ferrum MPI) ")


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
    second = text.splitlines()[1]
    assert re.fullmatch(r"  \S*load once on \S+, \d{4}-\d\d-\d\d \d\d:\d\d UTC", second), second
    assert summary["command"].endswith("load once") and summary["host"] and summary["started"].endswith("Z"), summary


def open_waits():
    """A wait that the end of the job interrupts is counted up to then."""
    file = os.path.join(FOLDER, "waits.json")
    run(tool("mpiexec"), "-q", "-n", "3", "--timeout", "2", f"--stats={file}", LOAD, "stuck", file + ".never", code=124)
    with open(file) as text:
        summary = json.load(text)
    waited = amounts(summary)["time_waited"]
    assert all(value > 1.5 for value in waited[:2]), waited
    assert all(value <= summary["seconds"] for value in waited), summary


def stats_after_crash():
    file = os.path.join(FOLDER, "crash.json")
    run(tool("mpiexec"), "-q", "-n", "3", f"--stats={file}", LOAD, "once", "die", code=9)
    with open(file) as text:
        summary = json.load(text)
    assert summary["exit_code"] == 9 and 2 in summary["without_finalize"], summary
    assert amounts(summary)["own_messages_sent"] == [0, 2, 3], summary
    done = run(tool("mpiexec"), "--stats=/nonexistent/s.json", LOAD, "once", code=1)
    assert '"/nonexistent/s.json" cannot be written' in done.stderr, done.stderr


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


class Blocked:
    """Processes that never end by themselves."""

    def __init__(self, *words):
        self.words = words

    def __enter__(self):
        self.process = subprocess.Popen(self.words, start_new_session=True)
        return self.process

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def why_alone():
    """A program without a launcher that waits for itself."""
    with Blocked(LOAD, "alone") as alone:
        def report():
            done = subprocess.run([tool("mpitop"), "--why", str(alone.pid)], capture_output=True, text=True)
            return done.stdout if done.returncode == 0 and "MPI_Recv" in done.stdout else None
        text = until(report)
        assert "rank 0" in text and "tag 7" in text, text


def threads():
    """A line for each thread that waits."""
    with Blocked(tool("mpiexec"), "-n", "2", LOAD, "threads") as job:
        def look():
            done = subprocess.run([tool("mpitop"), "--once", "--json", str(job.pid)], capture_output=True, text=True)
            found = lines(done.stdout) if done.returncode == 0 else []
            return found if len(found) == 3 and len(found[1].get("other_calls", [])) == 2 else None
        first = until(look)[1]
        calls = sorted([first["doing"], *first["other_calls"]])
        assert calls == [f"MPI_Recv from rank 1 with tag {tag}" for tag in (20, 21, 22)], first
        table = run(tool("mpitop"), "--once", str(job.pid)).stdout
        assert table.count("another thread: MPI_Recv from rank 1 with tag 2") == 2, table
        why = run(tool("mpitop"), "--why", str(job.pid)).stdout
        assert all(f"tag {tag}" in why for tag in (20, 21, 22)), why


def hydra():
    """A job under MPICH's launcher, of which any process names the job."""
    launcher = os.path.join(os.path.dirname(sys.executable), "mpiexec")
    with Stuck(launcher, "-n", "3") as job:
        def ranks():
            pids = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as words:
                        if words.read().split(b"\0")[:3] == [os.fsencode(word) for word in (LOAD, "stuck", job.file)]:
                            pids.append(pid)
                except OSError:
                    pass
            return pids if len(pids) == 3 else None
        pid = until(ranks)[0]
        def waits():
            done = subprocess.run([tool("mpitop"), "--once", "--json", pid], capture_output=True, text=True)
            found = lines(done.stdout) if done.returncode == 0 else []
            return found if len(found) == 4 and [rank.get("call") for rank in found[1:3]] == ["MPI_Recv"] * 2 else None
        assert until(waits)[0]["ranks"] == 3
        why = run(tool("mpitop"), "--why", pid).stdout
        assert "rank 2" in why.splitlines()[0] and "MPI_Recv" in why, why


def no_such_job():
    assert "there is no job zzzz" in run(tool("mpitop"), "--once", "zzzz", code=1).stderr
    assert "needs a terminal" in run(tool("mpitop"), code=1).stderr
    # The job comes first, also without a terminal.
    assert "there is no job 999999" in run(tool("mpitop"), "999999", code=1).stderr
    for words in (["--foo"], ["--json"]):
        done = run(tool("mpitop"), *words, code=2)
        assert done.stderr.startswith("mpitop: ") and "-- --foo" not in done.stderr, done.stderr
    assert run(tool("mpitop"), "--version").stdout.startswith("mpitop (Ferrum MPI) ")


def other_user():
    """Nobody else sees a job, its ranks or their memory. Only root can be another user."""
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    with tempfile.TemporaryDirectory() as folder, Stuck(tool("mpiexec"), "-n", "2") as job:
        os.chmod(folder, 0o755)
        viewer = shutil.copy(tool("mpitop"), folder)
        ranks = until(job.look)[1:]

        def look(*words):
            return subprocess.run([viewer, *words], capture_output=True, text=True, timeout=60, **nobody)
        done = look("--list")
        assert done.returncode == 0 and "no job of this user" in done.stdout, done
        for word in (job.process.pid, ranks[0]["pid"]):
            for form in ("--once", "--why", "--openmetrics"):
                done = look(form, str(word))
                assert done.returncode == 1 and f"there is no job {word}" in done.stderr, done
        # The memory itself, by its link.
        links = glob.glob(f"/proc/{ranks[0]['pid']}/fd/*")
        memory = next(link for link in links if os.readlink(link).startswith("/memfd:ferrum-job"))
        with open(memory, "rb") as own:
            assert own.read(8) == b"FERRUMJB"
        done = subprocess.run(["head", "-c", "8", memory], capture_output=True, text=True, cwd="/", **nobody)
        assert done.returncode != 0 and "Permission denied" in done.stderr, done


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


def terminal_gone():
    """The live view ends when its terminal is closed."""
    with Stuck(tool("mpiexec"), "-n", "2") as job:
        until(job.look)
        own, of_view = os.openpty()
        fcntl.ioctl(of_view, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 130, 0, 0))
        view = subprocess.Popen([tool("mpitop"), str(job.process.pid)], stdin=of_view, stdout=of_view, stderr=of_view,
                                start_new_session=True,
                                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        try:
            os.close(of_view)
            shown = b""
            while b"MPI_Recv" not in shown:
                shown += os.read(own, 65536)
            os.close(own)
            view.wait(20)
        finally:
            view.kill()
            view.wait()


def costs():
    """The live view of a busy job uses less than 1 % of a core."""
    job = subprocess.Popen([tool("mpiexec"), "-n", "4", LOAD, "ring", "60"])
    try:
        def seen():
            done = subprocess.run([tool("mpitop"), "--once", "--json", str(job.pid)], capture_output=True, text=True)
            return done.returncode == 0 and "MPI_Sendrecv" in done.stdout
        until(seen)
        own, of_view = os.openpty()
        fcntl.ioctl(of_view, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 130, 0, 0))
        view = subprocess.Popen([tool("mpitop"), str(job.pid)], stdin=of_view, stdout=of_view, stderr=of_view,
                                start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        try:
            os.close(of_view)
            used = lambda: sum(int(open(path).read().split()[0]) for path in glob.glob(f"/proc/{view.pid}/task/*/schedstat")) / 1e9
            reads, written, first = [], 0, None
            begin = time.monotonic()
            while time.monotonic() < begin + 7:
                if select.select([own], [], [], 0.2)[0]:
                    written += len(os.read(own, 65536))
                    reads.append(time.monotonic())
                # The first screens are its start.
                if first is None and time.monotonic() > begin + 1:
                    first = used(), time.monotonic()
            part = (used() - first[0]) / (time.monotonic() - first[1])
            # Four refreshes a second, of rates that change.
            assert len(reads) >= 12 and written > 2000, (len(reads), written)
            assert part < 0.01, part
            print(f"{part * 100:.2f} % of a core")
        finally:
            os.close(own)
            view.kill()
            view.wait()
    finally:
        job.terminate()
        job.wait(30)


def browser(file, picture, width, height, probe="", dark=False):
    """The page as a browser shows it, after a script that acts as a user; no message on the console."""
    copy = os.path.join(FOLDER, f"shown-{picture}.html")
    with open(file) as text, open(copy, "w") as out:
        out.write(text.read().replace("</body>", f"<pre id=probe></pre><script>{probe}</script></body>"))
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
                 "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}",
                 "--enable-logging=stderr", "--virtual-time-budget=3000", f"--window-size={width},{height}",
                 f"--screenshot={FOLDER}/{picture}.png", "--dump-dom"]
        if dark:
            flags.append("--blink-settings=preferredColorScheme=0")
        done = run("chromium", *flags, f"file://{copy}")
    assert "CONSOLE" not in done.stderr, done.stderr
    probed = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.S).group(1)
    return done.stdout, probed


# Chooses pairs by keyboard and by pointer, and writes what the page says about them.
PROBE = """
const canvas = document.getElementById("matrix"), said = [];
const at = () => said.push(document.getElementById("matrix-at").textContent);
canvas.focus();
for (const key of ["Home", "ArrowRight"]) canvas.dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
at();
const box = canvas.getBoundingClientRect(), step = (box.width - 48) / RANKS;
const move = (row, column) => canvas.dispatchEvent(new PointerEvent("pointermove",
  { clientX: box.left + 44 + (column + .5) * step, clientY: box.top + 44 + (row + .5) * step }));
move(1, 2); at();
document.getElementById("sizes").dispatchEvent(new KeyboardEvent("keydown", { key: "End", cancelable: true }));
said.push(document.getElementById("sizes-at").textContent);
said.push(`overflow ${document.documentElement.scrollWidth > document.documentElement.clientWidth}`);
said.push(getComputedStyle(document.body).backgroundColor);
document.getElementById("probe").textContent = said.join("\\n");
"""


def data_of(file):
    with open(file) as text:
        return json.loads(re.search(r'id="data">(.*?)</script>', text.read(), re.S).group(1))


def page():
    file = os.path.join(FOLDER, "page.html")
    run(tool("mpiexec"), "-n", "4", f"--stats={file}", LOAD, "ring", "0.3")
    data = data_of(file)
    dom, said = browser(file, "page", 420, 3400, PROBE.replace("RANKS", "4"))
    shown = {name: value for name, value in re.findall(r'<tr data-name="(\w+)"><th[^>]*>[^<]*</th><td data-value="([^"]*)"', dom)}
    for amount in data["amounts"]:
        assert float(shown[amount["name"]]) == amount["total"], (amount["name"], shown)
    assert f"{len(data['variables'])} of {len(data['variables'])}" in dom
    # Each rank sends to the next one only, as many messages as the others.
    pairs = {(pair[0], pair[1]): pair for pair in data["traffic"]}
    assert sorted(pairs) == [(0, 1), (1, 2), (2, 3), (3, 0)] and len({pair[2] for pair in pairs.values()}) == 1, pairs
    assert {tuple(map(int, pair.split())) for pair in re.findall(r'data-pair="([^"]*)"', dom)} == set(map(tuple, data["traffic"]))
    said = said.split("\n")
    for line, (source, target) in zip(said, [(0, 1), (1, 2)]):
        assert line.startswith(f"rank {source} to rank {target}: {pairs[source, target][2]} messages, "), said
    assert said[2].startswith("16.0 KiB to below 32.0 KiB: "), said
    assert said[3] == "overflow false", said
    # Own messages and the others' sizes: messages of 8 bytes to 16 KiB.
    assert sum(data["sizes"]) >= sum(pair[2] for pair in data["traffic"]), data["sizes"]
    marks = {mark["name"]: mark["values"] for mark in data["marks"]}
    assert all(value is not None and value >= 1 for value in marks["most_requests"]), marks
    for mark in re.findall(r'data-mark="(\w+) (\d+)"', dom):
        assert max(marks[mark[0]]) == int(mark[1]), (mark, marks)
    _, dark = browser(file, "page-dark", 1100, 3000, PROBE.replace("RANKS", "4"), dark=True)
    assert dark.split("\n")[4] == "rgb(17, 21, 26)" and said[4] == "rgb(255, 255, 255)", (dark, said)


def page_of_many():
    """The page with the numbers of 1024 ranks, of which each sends to 200 others."""
    file = os.path.join(FOLDER, "page.html")
    if not os.path.exists(file):
        run(tool("mpiexec"), "-n", "4", f"--stats={file}", LOAD, "ring", "0.3")
    data, ranks = data_of(file), 1024
    spread = lambda values: [values[i % len(values)] for i in range(ranks)]
    for part in ("amounts", "collectives", "variables", "marks"):
        for entry in data[part]:
            entry["values"] = spread(entry["values"])
    data["ranks"] = ranks
    data["traffic"] = [[i, (i + j * j) % ranks, 1 + j, (1 + i) * 1000 + 4 ** (j % 12)] for i in range(ranks) for j in range(1, 201)]
    data["traffic"] = list({(row[0], row[1]): row for row in data["traffic"] if row[0] != row[1]}.values())
    many = os.path.join(FOLDER, "many.html")
    with open(file) as text, open(many, "w") as out:
        out.write(re.sub(r'(id="data">).*?(</script>)', lambda m: m.group(1) + json.dumps(data) + m.group(2), text.read(), flags=re.S))
    pairs = {(row[0], row[1]): row for row in data["traffic"]}
    for picture, width, height in [("many", 1100, 3200), ("many-phone", 390, 3600)]:
        dom, said = browser(many, picture, width, height, PROBE.replace("RANKS", "1024"))
        said = said.split("\n")
        assert said[0].startswith(f"rank 0 to rank 1: {pairs[0, 1][2]} messages, "), said
        source, target, messages = map(int, re.match(r"rank (\d+) to rank (\d+): (\d+) messages", said[1]).groups())
        assert pairs.get((source, target), [0, 0, 0])[2] == messages and abs(source - 1) < 4 and abs(target - 2) < 4, said
        assert said[3] == "overflow false", said
        most = sorted(data["traffic"], key=lambda row: (-row[3], -row[2]))[0]
        assert f'data-pair="{" ".join(map(str, most))}"' in dom


def traffic():
    file = os.path.join(FOLDER, "traffic.json")
    run(tool("mpiexec"), "-q", "-n", "3", f"--stats={file}", LOAD, "once", "die", code=9)
    with open(file) as text:
        summary = json.load(text)
    # Of ranks that died, too: rank r sends r messages of 1000 bytes and an empty one to rank 0.
    assert summary["traffic"] == [[1, 0, 2, 1000], [2, 0, 3, 2000]], summary["traffic"]
    assert summary["sizes"][10] == 3 and summary["sizes"][0] >= 2 and summary["traffic_incomplete"] == [], summary["sizes"]
    marks = {mark["name"]: mark["values"] for mark in summary["marks"]}
    assert 1 <= marks["most_unexpected"][0] <= 4 and marks["most_unexpected"][1] == 0, marks
    assert marks["most_unexpected_bytes"][0] >= 1000, marks
    # Communicators that were freed, and their ranks, which are not those of the world.
    run(tool("mpiexec"), "-n", "4", f"--stats={file}", LOAD, "parts")
    with open(file) as text:
        summary = json.load(text)
    expected = [[0, 2, 50, 200], [1, 3, 50, 200], [2, 0, 50, 200], [3, 1, 50, 200]]
    assert summary["traffic"] == expected, summary["traffic"]


def gdb():
    """Backtraces of ranks when one crashes, and when the time is over."""
    crash = run(tool("mpiexec"), "-n", "3", "--gdb", "0-1", LOAD, "crash", code=139).stderr
    assert re.search(r"rank 1, process \d+, in gdb:\n(.*\n)*?  #0 .*crash", crash), crash
    assert re.search(r"rank 0, process \d+, in gdb:\n(.*\n)*?.*PMPI_Recv", crash), crash
    assert "rank 2, process" not in crash and crash.index("rank 1, process") < crash.index("rank 0, process"), crash
    assert "SIGSEGV" in crash, crash
    # One that handles the signal goes on.
    assert "in gdb" not in run(tool("mpiexec"), "-n", "2", "--gdb", "all", LOAD, "handler").stderr
    late = run(tool("mpiexec"), "-n", "2", "--gdb=1", "--timeout", "1", LOAD, "stuck", "/nonexistent", code=124).stderr
    assert re.search(r"rank 1, process \d+, in gdb:\n(.*\n)*?  #0 .*", late) and "rank 0, process" not in late, late
    assert "#1" in late and " in stuck " in late or " stuck (" in late, late
    other = run(tool("mpiexec"), "-n", "2", "--gdb", "7", LOAD, "once", code=2).stderr
    assert "--gdb is rank 7, but the job has the ranks 0 to 1" in other, other


def gdb_panes():
    """gdb in a window of tmux, which holds the job until it is closed."""
    session = f"gdb{os.getpid()}"
    out = os.path.join(FOLDER, f"gdb.{os.getpid()}")
    line = f"{tool('mpiexec')} -n 2 --gdb all {LOAD} crash; echo code $? > {out}; cat"
    run("tmux", "-L", session, "new-session", "-d", "-s", session, "-x", "130", "-y", "30", line)
    try:
        windows = lambda: run("tmux", "-L", session, "list-panes", "-s", "-t", session, "-F", "#{pane_id}").stdout.split()
        panes = until(lambda: (lambda found: found if len(found) == 3 else None)(windows()))
        text = lambda pane: run("tmux", "-L", session, "capture-pane", "-p", "-t", pane).stdout
        until(lambda: all("(gdb)" in text(pane) for pane in panes[1:]), 60)
        assert not os.path.exists(out)
        for pane in panes[1:]:
            for keys in ("kill", "y", "quit", "y"):
                if pane in windows():
                    subprocess.run(["tmux", "-L", session, "send-keys", "-t", pane, keys, "Enter"])
        until(lambda: os.path.exists(out) and os.path.getsize(out) > 0)
    finally:
        run("tmux", "-L", session, "kill-server")
        if os.path.exists(out):
            os.remove(out)


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

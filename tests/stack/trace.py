"""Checks a trace: `trace.py FILE RANK NAME COUNT ...` compares the numbers of events; `-RANK NAME` has not returned."""
import json
import sys
from collections import Counter

trace = json.load(open(sys.argv[1], encoding="utf-8"))
events = trace["traceEvents"]
complete, begun, names, arrows = Counter(), Counter(), {}, {}
for event in events:
    phase, rank = event["ph"], event["pid"]
    if phase == "M":
        if event["name"] == "process_name":
            names[rank] = event["args"]["name"]
        continue
    if phase in "sf":
        arrows.setdefault(event["id"], []).append(event)
        continue
    assert event["ts"] >= 0 and event["tid"] > 0 and event["name"].startswith("MPI_"), event
    if phase == "X":
        assert event["dur"] >= 0, event
        complete[rank, event["name"]] += 1
    else:
        assert phase == "B" and "dur" not in event, event
        begun[rank, event["name"]] += 1
    if event["name"] == "MPI_Send":
        assert event["args"] == {"peer": 0, "tag": 7, "bytes": 16, "object": "0x101"}, event
words = sys.argv[2:]
for rank, name, count in zip(words[0::3], words[1::3], words[2::3]):
    table = begun if rank.startswith("-") else complete
    found = table[int(rank.lstrip("-")), name]
    assert found == int(count), (rank, name, found, count)
assert names and all(text == f"rank {rank}: ./program" for rank, text in names.items()), names
# Each arrow leads from a send to a receive that has not returned before the send began.
within = lambda call, end: call["pid"] == end["pid"] and call["tid"] == end["tid"] and \
    call["ts"] <= end["ts"] + 0.0015 and end["ts"] <= call["ts"] + call["dur"]
for sent, received in arrows.values():
    assert (sent["ph"], received["ph"], received["bp"]) == ("s", "f", "e") and sent["ts"] <= received["ts"], (sent, received)
    ends = [[call["name"] for call in events if call["ph"] == "X" and within(call, end)] for end in (sent, received)]
    assert "MPI_Send" in ends[0] and "MPI_Recv" in ends[1], (ends, sent, received)
assert len(arrows) == min(complete[1, "MPI_Send"], complete[0, "MPI_Recv"]), arrows
# Calls of one thread follow each other, or one lies within another.
open_calls = {}
for event in events:
    if event["ph"] == "X":
        ends = open_calls.setdefault((event["pid"], event["tid"]), [])
        end = event["ts"] + event["dur"]
        while ends and ends[-1] <= event["ts"] + 0.0015:
            ends.pop()
        assert not ends or end <= ends[-1] + 0.0015, event
        ends.append(end)
print("trace: right")

"""Checks the trace of `load once` with four ranks on two hosts: all calls are there, with times on one axis."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
calls = [event for event in events if event["ph"] == "X"]
names = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
assert all(names[rank].startswith(f"rank {rank} on h{1 + rank // 2}: ") for rank in range(4)) and len(names) == 4, names


def of(rank, *functions):
    return [call for call in calls if call["pid"] == rank and call["name"] in functions]


numbers = [len(of(rank, "MPI_Send", "MPI_Recv")) for rank in range(4)]
assert all(len(of(rank, name)) == 1 for rank in range(4) for name in ("MPI_Init_thread", "MPI_Barrier", "MPI_Finalize"))
# No rank leaves the barrier before the last one has entered it, so all are in it at one time.
barriers = [of(rank, "MPI_Barrier")[0] for rank in range(4)]
begun, ended = max(call["ts"] for call in barriers), min(call["ts"] + call["dur"] for call in barriers)
assert begun <= ended, barriers
arrows = {}
for event in events:
    if event["ph"] in "sf":
        arrows.setdefault(event["id"], {})[event["ph"]] = event
assert all(arrow["s"]["ts"] <= arrow["f"]["ts"] for arrow in arrows.values()), arrows
assert all((arrow["s"]["pid"], arrow["f"]["pid"]) in ((1, 0), (2, 0), (3, 0)) for arrow in arrows.values()), arrows
print(f"{len(arrows)} arrows, calls of each rank {numbers} and a barrier of all at once")

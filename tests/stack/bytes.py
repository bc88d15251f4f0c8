"""Prints of a trace the bytes of each rank's calls of the functions that are named, in the order of the calls."""
import json
import sys

names, ranks = sys.argv[2:], {}
for event in json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]:
    if event["name"] in names:
        ranks.setdefault(event["pid"], []).append(event["args"].get("bytes", "none"))
for rank in sorted(ranks):
    print(f"rank {rank}:", *ranks[rank])

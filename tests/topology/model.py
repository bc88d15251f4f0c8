"""A model of process topologies that shares no code with the library.

    model.py make FILE RANKS CASES SEED     writes random cases for `cases.c`
    model.py check FILE OUTPUT RANKS        compares the answers with the model; prints the differences

A case is a line: a letter, then numbers.
    D nodes ndims dims...                                           MPI_Dims_create
    C ndims dims... periods... mask step questions coordinates...   a grid; mask has the dimensions that remain
    G nodes edges index... edges...                                 a graph
    A weighted, for each rank (degree ranks... weights...) twice    a distributed graph, by its own edges
    E weighted count (by source destination weight)...              a distributed graph, by edges that any rank names
"""

import itertools
import random
import sys

ERR_RANK, ERR_DIMS, ERR_ARG = 6, 12, 13


def make(path, ranks, count, seed):
    chance = random.Random(seed)
    some = chance.randrange
    with open(path, "w") as out:
        for _ in range(count):
            kind = chance.choice("DCGAE")
            if kind == "D":
                ndims = some(6)
                nodes = chance.choice([some(1, 200), some(1, 20000), some(-3, 3), some(1, 2**31)])
                dims = [chance.choice([0, 0, 0, 1, 2, 3, some(-1, 8)]) for _ in range(ndims)]
                if some(2):
                    # Often a multiple of the given ones.
                    for dim in dims:
                        nodes = nodes * dim if 0 < dim and 0 < nodes * dim < 2**31 else nodes
                numbers = [nodes, ndims, *dims]
            elif kind == "C":
                ndims = some(5)
                dims = [some(1, 4) for _ in range(ndims)]
                if some(20) == 0 and ndims:
                    dims[some(ndims)] = some(-1, 1)
                questions = some(5)
                numbers = [ndims, *dims, *(some(2) for _ in dims), some(1 << ndims), some(-5, 6), questions]
                numbers += [chance.choice([some(-5, 6), some(0, 2)]) for _ in range(questions * ndims)]
            elif kind == "G":
                nodes = some(ranks + 1)
                degrees = [chance.choice([0, 1, 2, some(5)]) for _ in range(nodes)]
                edges = [some(nodes) for _ in range(sum(degrees))]
                if edges and some(20) == 0:
                    edges[some(len(edges))] = chance.choice([-1, nodes])
                numbers = [nodes, len(edges), *itertools.accumulate(degrees), *edges]
            elif kind == "A":
                numbers = [some(2)]
                for _ in range(2 * ranks):
                    degree = chance.choice([0, 1, some(6)])
                    numbers += [degree, *(some(ranks) for _ in range(degree)), *(some(1000) for _ in range(degree))]
            else:
                edges = [(some(ranks), some(ranks), some(ranks), some(1000)) for _ in range(some(4 * ranks))]
                numbers = [some(2), len(edges), *itertools.chain(*edges)]
            print(kind, *numbers, file=out)


def divisors(number):
    below = [each for each in range(1, int(number**0.5) + 1) if number % each == 0]
    return sorted({*below, *(number // each for each in below)})


def measures(number, count, limit, of):
    """All (smallest, sum) of descending products; `of` are the divisors of the whole."""
    if count == 1:
        if number <= limit:
            yield number, number
        return
    for factor in of:
        if factor > limit or factor > number or factor**count < number:
            continue
        if number % factor == 0:
            for smallest, total in measures(number // factor, count - 1, factor, of):
                yield smallest, total + factor


def best(number, count):
    of = divisors(number)
    found = None
    for largest in of:
        if number % largest or largest**count < number:
            continue
        for smallest, total in ([(largest, 0)] if count == 1 else measures(number // largest, count - 1, largest, of)):
            measure = (largest - smallest, total + largest, -smallest)
            found = measure if found is None or measure < found else found
    return found


def dims_are_right(nodes, dims, answer):
    given = 1
    for dim in dims:
        given *= dim if dim > 0 else 1
    free = dims.count(0)
    if nodes <= 0:
        return answer == [f"E{ERR_ARG}"]
    if any(dim < 0 for dim in dims):
        return answer == [f"E{ERR_DIMS}"]
    if not dims:
        return answer == []
    if nodes % given or not free and nodes != given:
        return answer == [f"E{ERR_DIMS}"]
    found = [int(word) for word in answer]
    set_now = [new for old, new in zip(dims, found) if old == 0]
    product = 1
    for dim in found:
        product *= dim
    if len(found) != len(dims) or product != nodes or any(old and old != new for old, new in zip(dims, found)):
        return False
    if set_now != sorted(set_now, reverse=True):
        return False
    # The whole search takes too long for numbers with many divisors in many dimensions.
    if not set_now or len(set_now) > 3 and nodes > 20000:
        return True
    return (set_now[0] - set_now[-1], sum(set_now), -set_now[-1]) == best(nodes // given, free)


def grid(numbers, rank, ranks):
    ndims = numbers[0]
    dims, periods = numbers[1 : 1 + ndims], numbers[1 + ndims : 1 + 2 * ndims]
    mask, step, questions, *coordinates = numbers[1 + 2 * ndims :]
    size = 1
    for dim in dims:
        size *= dim
    if any(dim < 1 for dim in dims) or size > ranks:
        return [f"E{ERR_DIMS}"]
    if rank >= size:
        return []
    cells = list(itertools.product(*(range(dim) for dim in dims)))

    def wrapped(at):
        return tuple(c % dim if wraps else c for c, dim, wraps in zip(at, dims, periods))

    own = cells[rank]
    words = [*dims, *periods, *own, *own]
    for direction in range(ndims):
        words.append("shift")
        for sign in (-1, 1):
            at = wrapped(c + sign * step * (place == direction) for place, c in enumerate(own))
            words.append(cells.index(at) if at in cells else -1)
    kept = [place for place in range(ndims) if mask >> place & 1]
    lost = [place for place in range(ndims) if not mask >> place & 1]
    members = [other for other, cell in enumerate(cells) if all(cell[place] == own[place] for place in lost)]
    words += ["sub", len(kept), "members", *members]
    for question in range(questions):
        at = wrapped(coordinates[question * ndims : (question + 1) * ndims])
        words += ["at", cells.index(at)] if at in cells else [f"E{ERR_ARG}"]
    return words


def graph(numbers, rank):
    nodes, count, *rest = numbers
    index, edges = rest[:nodes], rest[nodes : nodes + count]
    if any(edge < 0 or edge >= nodes for edge in edges):
        return [f"E{ERR_RANK}"]
    if rank >= nodes:
        return []
    words = [*index, *edges]
    for start, end in zip([0, *index], index):
        words += ["of", *edges[start:end]]
    return words


def neighbors(weighted, sources, destinations):
    words = ["weighted", weighted, "in", *(other for other, _ in sources)]
    words += [weight for _, weight in sources] if weighted else []
    words += ["out", *(other for other, _ in destinations)]
    return words + ([weight for _, weight in destinations] if weighted else [])


def adjacent(numbers, rank):
    weighted, *rest = numbers
    lists = []
    while rest:
        degree, rest = rest[0], rest[1:]
        lists.append(list(zip(rest[:degree], rest[degree : 2 * degree])))
        rest = rest[2 * degree :]
    return neighbors(weighted, lists[2 * rank], lists[2 * rank + 1])


def named(numbers, rank):
    weighted, count, *rest = numbers
    edges = [tuple(rest[4 * place : 4 * place + 4]) for place in range(count)]
    # In the order of the ranks that named them.
    edges.sort(key=lambda edge: edge[0])
    sources = [(source, weight) for _, source, destination, weight in edges if destination == rank]
    destinations = [(destination, weight) for _, source, destination, weight in edges if source == rank]
    return neighbors(weighted, sources, destinations)


def is_right(kind, numbers, rank, ranks, answer):
    if kind == "D":
        return answer == [] if rank else dims_are_right(numbers[0], numbers[2:], answer)
    model = {"C": lambda: grid(numbers, rank, ranks), "G": lambda: graph(numbers, rank)}
    model |= {"A": lambda: adjacent(numbers, rank), "E": lambda: named(numbers, rank)}
    expected = [str(word) for word in model[kind]()]
    return answer == expected


def check(path, output, ranks):
    cases = [line.split() for line in open(path)]
    differences = 0
    for rank in range(ranks):
        answers = [line.split() for line in open(f"{output}.{rank}")]
        if len(answers) != len(cases):
            print(f"rank {rank} answered {len(answers)} of {len(cases)} cases")
            differences += 1
        for case, answer in zip(cases, answers):
            kind, numbers = case[0], [int(word) for word in case[1:]]
            if answer[0] != kind or not is_right(kind, numbers, rank, ranks, answer[1:]):
                differences += 1
                if differences <= 10:
                    print(f"rank {rank}: {' '.join(case)}: {' '.join(answer)}")
    print(f"{len(cases)} cases, {ranks} ranks, {differences} differences")
    return differences != 0


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], *(int(word) for word in sys.argv[3:6]))
    else:
        sys.exit(check(sys.argv[2], sys.argv[3], int(sys.argv[4])))

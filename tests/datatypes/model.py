"""A model of derived datatypes that shares no code with the library; it needs numpy.

    model.py make FILE CASES SEED           writes random types for `cases.c`
    model.py check FILE OUTPUT EXTERNAL     compares the answers, and the bytes of a file that was written with the
                                            representation "external32", with the model; prints the differences

A case is a line: `large count lowest end distinct definitions`, then the definitions. `large` is whether the forms with
MPI_Count are called; a buffer of `count` elements of the last type has its bytes at `lowest` to `end`; `distinct` is
whether no byte is there twice. A definition is a letter and numbers; older types are named by their index:
    P kind                                      the predefined type with this index in KINDS
    C count old                                 contiguous
    V count length stride old                   vector;  H: hvector
    I count lengths... displacements... old     indexed;  J: hindexed
    B count length displacements... old         indexed_block;  K: hindexed_block
    S count lengths... displacements... old...  struct
    A ndims sizes... subsizes... starts... order old                        subarray; order is 1 for Fortran
    D size rank ndims sizes... kinds... arguments... grid... order old      darray; kinds are NONE, BLOCK, CYCLIC
    R lower extent old                          resized
    U old                                       dup
"""

import random
import sys

import numpy as np

# Bytes of each number, its place, its bytes in external32; then the alignment.
KINDS = [
    ([(0, 1, 1)], 1),  # MPI_CHAR
    ([(0, 2, 2)], 2),  # MPI_SHORT
    ([(0, 4, 4)], 4),  # MPI_INT
    ([(0, 8, 4)], 8),  # MPI_LONG
    ([(0, 4, 4)], 4),  # MPI_FLOAT
    ([(0, 8, 8)], 8),  # MPI_DOUBLE
    ([(0, 8, 8)], 8),  # MPI_LONG_LONG
    ([(0, 2, 2), (4, 4, 4)], 4),  # MPI_SHORT_INT
    ([(0, 8, 8), (8, 4, 4)], 8),  # MPI_DOUBLE_INT
    ([(0, 4, 4), (4, 4, 4)], 4),  # MPI_C_FLOAT_COMPLEX
]
NONE, BLOCK, CYCLIC = range(3)
DEFAULT = -1
MOST = 3000


class Type:
    """The places of the data bytes in the order of the type map, and in external32, from the element's address."""

    def __init__(self, places, external, align, elements, marks=None):
        self.places, self.external, self.align, self.elements = places, external, align, elements
        self.marks = marks
        self.true = (int(places.min()), int(places.max()) + 1) if len(places) else (0, 0)
        if marks is not None:
            self.bounds = marks
        else:
            extent = self.true[1] - self.true[0]
            self.bounds = (self.true[0], self.true[0] + -(-extent // align) * align)

    @property
    def extent(self):
        return self.bounds[1] - self.bounds[0]

    def at(self, displacements):
        """One element at each displacement in bytes, one after the other."""
        return joined([(self, np.asarray(displacements, dtype=np.int64))])

    def marked(self, lower, upper):
        return Type(self.places, self.external, self.align, self.elements, (lower, upper))


def predefined(kind):
    numbers, align = KINDS[kind]
    places = [np.arange(place, place + size) for place, size, _ in numbers]
    # The most significant byte comes first; of a longer number the less significant bytes are kept.
    external = [np.arange(place + kept - 1, place - 1, -1) for place, _, kept in numbers]
    elements = 1 if kind == 9 else len(numbers)
    return Type(np.concatenate(places), np.concatenate(external), align, elements)


def joined(parts):
    """The type map of parts, each a type with the displacements of its elements."""
    parts = [(part, by) for part, by in parts if len(by) and (len(part.places) or part.marks is not None)]
    nothing = np.zeros(0, dtype=np.int64)
    places = np.concatenate([(by[:, None] + part.places).ravel() for part, by in parts] or [nothing])
    external = np.concatenate([(by[:, None] + part.external).ravel() for part, by in parts] or [nothing])
    align = max((part.align for part, _ in parts if len(part.places)), default=1)
    elements = sum(part.elements * len(by) for part, by in parts)
    marked = [(part, by) for part, by in parts if part.marks is not None]
    marks = None
    if marked:
        marks = (min(int(by.min()) + part.marks[0] for part, by in marked),
                 max(int(by.max()) + part.marks[1] for part, by in marked))
    return Type(places, external, align, elements, marks)


def run(length, step):
    return np.arange(length, dtype=np.int64) * step


def blocks(lengths, displacements, old):
    """Displacements of the elements of blocks at displacements in bytes."""
    each = [at + run(length, old.extent) for length, at in zip(lengths, displacements)]
    return old.at(np.concatenate(each) if each else run(0, 1))


def owned(elements, kind, argument, processes, place):
    """The elements of a dimension that a process has."""
    if kind == NONE:
        return list(range(elements))
    if argument == DEFAULT:
        argument = 1 if kind == CYCLIC else -(-elements // processes)
    return [element for element in range(elements) if element // argument % processes == place]


def part_of_array(sizes, chosen, order, old):
    """The elements of an array whose indexes are chosen in each dimension."""
    order = "F" if order else "C"
    total = int(np.prod(sizes))
    numbers = np.arange(total).reshape(sizes, order=order)[np.ix_(*chosen)].ravel(order=order)
    return old.at(numbers * old.extent).marked(0, total * old.extent)


def build(definitions):
    types = []
    for kind, *numbers in definitions:
        take = iter(numbers)
        one = lambda: next(take)
        some = lambda count: [next(take) for _ in range(count)]
        if kind == "P":
            made = predefined(one())
        elif kind == "C":
            count, old = one(), types[one()]
            made = old.at(run(count, old.extent))
        elif kind in "VH":
            count, length, stride, old = one(), one(), one(), types[one()]
            stride *= old.extent if kind == "V" else 1
            made = blocks([length] * count, run(count, stride), old)
        elif kind in "IJ":
            count = one()
            lengths, places, old = some(count), np.array(some(count), dtype=np.int64), types[one()]
            made = blocks(lengths, places * (old.extent if kind == "I" else 1), old)
        elif kind in "BK":
            count, length = one(), one()
            places, old = np.array(some(count), dtype=np.int64), types[one()]
            made = blocks([length] * count, places * (old.extent if kind == "B" else 1), old)
        elif kind == "S":
            count = one()
            lengths, places, olds = some(count), some(count), [types[index] for index in some(count)]
            made = joined([(old, at + run(length, old.extent)) for length, at, old in zip(lengths, places, olds)])
        elif kind == "A":
            ndims = one()
            sizes, subsizes, starts, order, old = some(ndims), some(ndims), some(ndims), one(), types[one()]
            chosen = [range(start, start + size) for start, size in zip(starts, subsizes)]
            made = part_of_array(sizes, chosen, order, old)
        elif kind == "D":
            _, rank, ndims = one(), one(), one()
            sizes, kinds, arguments, grid = some(ndims), some(ndims), some(ndims), some(ndims)
            order, old = one(), types[one()]
            places = np.unravel_index(rank, grid)
            chosen = [owned(*facts) for facts in zip(sizes, kinds, arguments, grid, places)]
            made = part_of_array(sizes, chosen, order, old)
        elif kind == "R":
            lower, extent, old = one(), one(), types[one()]
            made = old.marked(lower, lower + extent)
        else:
            made = types[one()]
        types.append(made)
    return types


def definition(chance, types):
    """A random definition on some of the types."""
    some = chance.randrange
    old = some(len(types)) if some(3) == 0 else len(types) - 1
    small = lambda: chance.choice([0, 1, 1, 2, 2, 3, some(1, 6)])
    kind = chance.choice("CVHIJBKSADRU")
    count = small()
    near = lambda: some(-4, 9)
    byte = lambda: some(-40, 80)
    if kind == "C":
        return [kind, count, old]
    if kind in "VH":
        return [kind, count, small(), near() if kind == "V" else byte(), old]
    if kind in "IJ":
        place = near if kind == "I" else byte
        return [kind, count, *(small() for _ in range(count)), *(place() for _ in range(count)), old]
    if kind in "BK":
        place = near if kind == "B" else byte
        return [kind, count, small(), *(place() for _ in range(count)), old]
    if kind == "S":
        olds = [some(len(types)) for _ in range(count)]
        return [kind, count, *(small() for _ in olds), *(some(-100, 200) for _ in olds), *olds]
    ndims = some(1, 4)
    sizes = [some(1, 6) for _ in range(ndims)]
    if kind == "A":
        subsizes = [some(1, size + 1) for size in sizes]
        starts = [some(size - subsize + 1) for size, subsize in zip(sizes, subsizes)]
        return [kind, ndims, *sizes, *subsizes, *starts, some(2), old]
    if kind == "D":
        grid, kinds, arguments = [], [], []
        for size in sizes:
            way = some(3)
            processes = 1 if way == NONE else some(1, 4)
            least = -(-size // processes)
            given = {NONE: DEFAULT, BLOCK: some(least, least + 3), CYCLIC: some(1, 4)}[way]
            grid.append(processes)
            kinds.append(way)
            arguments.append(chance.choice([DEFAULT, given]))
        total = int(np.prod(grid))
        return [kind, total, some(total), ndims, *sizes, *kinds, *arguments, *grid, some(2), old]
    if kind == "R":
        return [kind, some(-30, 30), some(-20, 120), old]
    return [kind, old]


def buffer_of(made, count):
    """The places of the data bytes of a buffer."""
    return (run(count, made.extent)[:, None] + made.places).ravel()


def make(path, cases, seed):
    if seed == "random":
        seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(int(seed))
    kinds_seen = set()
    with open(path, "w") as out:
        for case in range(cases):
            definitions = [["P", chance.randrange(len(KINDS))] for _ in range(chance.randrange(1, 4))]
            types = build(definitions)
            for _ in range(chance.choice([1, 1, 2, 2, 3, 4, 6])):
                for _ in range(20):
                    new = definition(chance, types)
                    made = build([*definitions, new])[-1]
                    if len(made.places) <= MOST and abs(made.extent) < 20000:
                        definitions.append(new)
                        types.append(made)
                        kinds_seen.add(new[0])
                        break
            # Some messages are longer than what is sent at once.
            most = (300000 if case % 50 == 0 else 6000) // max(1, len(types[-1].places))
            count = chance.choice([1, 1, 2, min(3, most), min(most, 20000)]) if most else 1
            while count > 1 and abs(types[-1].extent) * count > 1 << 23:
                count //= 2
            places = buffer_of(types[-1], count)
            lowest, end = (int(places.min()), int(places.max()) + 1) if len(places) else (0, 0)
            distinct = int(len(np.unique(places)) == len(places))
            flat = [number for each in definitions for number in each]
            print(chance.randrange(2), count, lowest, end, distinct, len(definitions), *flat, file=out)
    if cases > 500 and len(kinds_seen) != 12:
        sys.exit(f"only these constructors occur: {kinds_seen}")


def checksum(data):
    """Depends on each byte and its place."""
    weights = np.arange(1, len(data) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    weights ^= weights >> np.uint64(29)
    return int((weights * data.astype(np.uint64)).sum(dtype=np.uint64))


def memory(lowest, end, factor):
    """What stands in a buffer: a byte depends on its place."""
    places = np.arange(end - lowest, dtype=np.int64)
    return ((places * factor + (places >> 8) * 31 + 5) & 255).astype(np.uint8)


ARGUMENTS = {"P": 1, "C": 2, "V": 4, "H": 4, "R": 3, "U": 1}


def parse(line):
    words = line.split()
    head, words = [int(word) for word in words[:6]], words[6:]
    definitions, at = [], 0
    for _ in range(head[5]):
        kind, first = words[at], int(words[at + 1])
        if kind in "IJ":
            length = 2 + 2 * first
        elif kind in "BK":
            length = 3 + first
        elif kind == "S":
            length = 1 + 3 * first
        elif kind == "A":
            length = 3 + 3 * first
        elif kind == "D":
            length = 5 + 4 * int(words[at + 3])
        else:
            length = ARGUMENTS[kind]
        definitions.append([kind, *(int(word) for word in words[at + 1:at + 1 + length])])
        at += 1 + length
    return head, definitions


def by_view(definitions, made, data, lowest, types):
    """The packed bytes of one element as numpy cuts them out, where an array of it describes the type."""
    kind, *numbers = definitions[-1]
    old = types[numbers[-1]] if kind in "VA" else None
    dense = old is not None and old.extent > 0 and np.array_equal(old.places, np.arange(old.extent))
    if not dense:
        return None
    if kind == "V":
        count, length, stride, _ = numbers
        if count == 0 or length == 0 or stride < 0:
            return None
        start = data[-lowest:]
        return np.lib.stride_tricks.as_strided(start, (count, length * old.extent), (stride * old.extent, 1)).ravel()
    ndims, order = numbers[0], "F" if numbers[-2] else "C"
    sizes, subsizes, starts = (numbers[1 + at * ndims:1 + (at + 1) * ndims] for at in range(3))
    whole = np.zeros(int(np.prod(sizes)) * old.extent, dtype=np.uint8)
    whole[lowest:lowest + len(data)] = data
    items = whole.view(np.dtype((np.void, old.extent))).reshape(sizes, order=order)
    part = items[tuple(slice(start, start + size) for start, size in zip(starts, subsizes))]
    return np.frombuffer(part.ravel(order=order).tobytes(), dtype=np.uint8)


def check(path, output, external):
    wrong, views, stored = 0, 0, np.fromfile(external, dtype=np.uint8)
    written = 0
    with open(path) as cases, open(output) as answers:
        lines = answers.read().splitlines()
        for number, line in enumerate(cases):
            (_, count, lowest, end, distinct, _), definitions = parse(line)
            types = build(definitions)
            made = types[-1]
            places = buffer_of(made, count)
            data, fill = memory(lowest, end, 7), memory(0, len(places), 13)
            packed = data[places - lowest]
            if count == 1 and len(places):
                view = by_view(definitions, made, data, lowest, types)
                if view is not None:
                    views += 1
                    if not np.array_equal(view, packed):
                        sys.exit(f"case {number}: the model disagrees with itself: {line}")
            expected = [len(made.places), made.bounds[0], made.extent, made.true[0], made.true[1] - made.true[0],
                        made.elements * count, len(packed), checksum(packed), checksum(packed)]
            if distinct:
                back = np.full(end - lowest, 0xEE, dtype=np.uint8)
                back[places - lowest] = fill
                expected += [checksum(back), checksum(back)]
            answer = [int(word) for word in lines[number].split()] if number < len(lines) else None
            if answer != expected:
                wrong += 1
                if wrong <= 5:
                    print(f"case {number}: {line}  answered {answer}\n  expected {expected}")
            there = (run(count, made.extent)[:, None] + made.external).ravel()
            if not np.array_equal(stored[written:written + len(there)], data[there - lowest]):
                wrong += 1
                if wrong <= 5:
                    print(f"case {number}: {line}  has other bytes in external32, from byte {written} of the file")
            written += len(there)
    if written != len(stored):
        wrong += 1
        print(f"the file has {len(stored)} bytes, not {written}")
    if len(lines) > number + 1 or views == 0:
        sys.exit("more answers than cases, or no array was compared with a view of numpy")
    if wrong:
        sys.exit(f"{wrong} answers are wrong")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        check(*sys.argv[2:5])

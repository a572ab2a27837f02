"""A sorting network for pairs that are almost in order, which sums chance times gain at the same time.

Compilers do not vectorise a loop whose steps depend on each other, so this one is written with vectors of eight. They
are portable: machines with shorter vectors take several for one. `llvmlite` is the part of numba that writes them.
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

STEP = 16  # pairs that are sorted at once
_PASSES = 3
REACH = 2 * _PASSES + 1  # layers; they sort any run of that many pairs
BEHIND = STEP * (_PASSES + 1)  # pairs after the last one that are read
LOWEST_PAIR = 0xFFFFFFFF00000000  # belongs below all others and has no chance
_LANES = 8
_BUILDING: Any = cgutils  # has no types
_TYPES: Any = types
_INT, _INDEX, _DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()
_INTS, _DOUBLES = ir.VectorType(_INT, _LANES), ir.VectorType(_DOUBLE, _LANES)
_HALVES = ir.VectorType(ir.IntType(32), _LANES)
_SCORE_BITS = 0x7FFFFFFF00000000
_NEAR = 1 << 33  # keys of equal scores differ by less, those of -0.0 and 0.0 too
_ONE = 0x3F800000  # the bits of 1.0; those of numbers that are not in [0, 1] are larger


class _Vectors:
    """What the network needs of a builder of instructions."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    def all(self, of_type: Any, number: float) -> Any:
        return ir.Constant(of_type, [number] * _LANES)

    def load(self, pointer: Any, at: Any, of_type: Any) -> Any:
        where = self.builder.bitcast(self.builder.gep(pointer, [at]), of_type.as_pointer())
        return self.builder.load(where, align=8)

    def store(self, vector: Any, pointer: Any, at: Any) -> None:
        where = self.builder.bitcast(self.builder.gep(pointer, [at]), vector.type.as_pointer())
        self.builder.store(vector, where, align=8)

    def pick(self, first: Any, second: Any, lanes: Sequence[int]) -> Any:
        """Lanes of two vectors, numbered through."""
        return self.builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INDEX, _LANES), list(lanes)))

    def key(self, pairs: Any) -> Any:
        """Pairs as signed numbers in the order of their scores; the chance stays in the lower half."""
        negative = self.builder.ashr(pairs, self.all(_INTS, 63))
        return self.builder.xor(pairs, self.builder.and_(negative, self.all(_INTS, _SCORE_BITS)))

    def sort(self, first: Any, second: Any) -> tuple[Any, Any]:
        """The larger and the smaller number of each lane."""
        larger = self.builder.icmp_signed(">", first, second)
        return self.builder.select(larger, first, second), self.builder.select(larger, second, first)

    def chance_bits(self, keys: Any) -> Any:
        return self.builder.trunc(keys, _HALVES)

    def chance(self, bits: Any) -> Any:
        return self.builder.fpext(self.builder.bitcast(bits, ir.VectorType(ir.FloatType(), _LANES)), _DOUBLES)

    def total(self, vector: Any) -> Any:
        total = ir.Constant(_DOUBLE, 0.0)
        for lane in range(_LANES):
            total = self.builder.fadd(total, self.builder.extract_element(vector, ir.Constant(_INDEX, lane)))
        return total


class _Network:
    """The instructions of `sort_and_sum`. Variables are promoted to registers by the compiler."""

    def __init__(self, builder: Any, pairs: Any, table: Any, marks: Any, ahead: Sequence[Any]) -> None:
        self.builder, self.vectors = builder, _Vectors(builder)
        self.pairs, self.table, self.marks, self.ahead = pairs, table, marks, ahead
        top = self.vectors.all(_INTS, (1 << 63) - 1)
        self.kept = [[self._variable(top) for _ in range(3)] for _ in range(_PASSES)]
        self.last_odd = self._variable(top)
        zeros = self.vectors.all(_DOUBLES, 0.0)
        self.mass, self.by_step, self.odd = (self._variable(zeros) for _ in range(3))
        self.even_gains, self.odd_gains = self._variable(zeros), self._variable(zeros)
        self.half_places = self._variable(ir.Constant(_DOUBLES, [float(lane) for lane in range(_LANES)]))
        self.largest = self._variable(self.vectors.all(_HALVES, 0))

    def _variable(self, start: Any) -> Any:
        return _BUILDING.alloca_once_value(self.builder, start)

    def _swap(self, variable: Any, value: Any) -> Any:
        """Keep a value for the next step; return that of the last step."""
        before = self.builder.load(variable)
        self.builder.store(value, variable)
        return before

    def _at(self, step: Any, offset: int = 0) -> Any:
        return self.builder.add(self.builder.mul(step, ir.Constant(_INT, STEP)), ir.Constant(_INT, offset))

    def layers(self, step: Any) -> tuple[Any, Any]:
        """Read a step; return even and odd entries, in order, of the step that was read `_PASSES` steps before.

        Layers in turn compare each even entry with the odd one after it and each odd entry with the even one after it.
        The latter need the next step, so the result of each is kept until then.
        """
        v = self.vectors
        first = v.key(v.load(self.pairs, self._at(step), _INTS))
        second = v.key(v.load(self.pairs, self._at(step, _LANES), _INTS))
        even, odd = v.sort(v.pick(first, second, range(0, STEP, 2)), v.pick(first, second, range(1, STEP, 2)))
        for kept_even, kept_odd, kept_below in self.kept:
            even_before, odd_before = self._swap(kept_even, even), self._swap(kept_odd, odd)
            odd, below = v.sort(odd_before, v.pick(even_before, even, range(1, _LANES + 1)))
            even = v.pick(self._swap(kept_below, below), below, range(_LANES - 1, 2 * _LANES - 1))
            even, odd = v.sort(even, odd)
        return even, odd

    def finish(self, step: Any, even: Any, odd: Any) -> None:
        """Store a sorted step, mark it if scores may be equal, and add to the sums."""
        b, v = self.builder, self.vectors
        v.store(even, self.pairs, self._at(step))
        v.store(odd, self.pairs, self._at(step, _LANES))
        above = v.pick(self._swap(self.last_odd, odd), odd, range(_LANES - 1, 2 * _LANES - 1))
        near = v.all(_INTS, _NEAR)
        inside = b.icmp_unsigned("<", b.sub(even, odd), near)
        across = b.icmp_unsigned("<", b.sub(above, even), near)
        b.store(b.bitcast(b.or_(inside, across), ir.IntType(8)), b.gep(self.marks, [step]))
        even_bits, odd_bits = v.chance_bits(even), v.chance_bits(odd)
        for bits in (even_bits, odd_bits):
            largest = b.load(self.largest)
            b.store(b.select(b.icmp_unsigned(">", bits, largest), bits, largest), self.largest)
        even_chances, odd_chances = v.chance(even_bits), v.chance(odd_bits)
        both = b.fadd(even_chances, odd_chances)
        half_places = self._swap(self.half_places, b.fadd(b.load(self.half_places), v.all(_DOUBLES, float(_LANES))))
        self._add(self.mass, both)
        self._add(self.odd, odd_chances)
        self._add(self.by_step, b.fmul(both, half_places, flags=("contract",)))
        gains = v.load(self.table, self._at(step), _DOUBLES)
        self._add(self.even_gains, b.fmul(even_chances, gains, flags=("contract",)))
        gains = v.load(self.table, self._at(step, _LANES), _DOUBLES)
        self._add(self.odd_gains, b.fmul(odd_chances, gains, flags=("contract",)))

    def fetch(self, step: Any) -> None:
        """Ask for a step of what is needed next, which is in a slower cache."""
        address = ir.IntType(8).as_pointer()
        prefetch = self.builder.module.declare_intrinsic(
            "llvm.prefetch", [address], ir.FunctionType(ir.VoidType(), [address] + [_INDEX] * 3)
        )
        kind = [ir.Constant(_INDEX, number) for number in (0, 2, 1)]  # to read, into the second cache, data
        for pointer in self.ahead:
            where = self.builder.gep(pointer, [self._at(step)])
            self.builder.call(prefetch, [self.builder.bitcast(where, address), *kind])

    def _add(self, variable: Any, value: Any) -> None:
        self.builder.store(self.builder.fadd(self.builder.load(variable), value, flags=("contract",)), variable)

    def results(self) -> list[Any]:
        b, v = self.builder, self.vectors

        def total(variable: Any) -> Any:
            return v.total(b.load(variable))

        places = b.fadd(b.fmul(total(self.by_step), ir.Constant(_DOUBLE, 2.0)), total(self.odd))
        outside = b.icmp_unsigned(">", b.load(self.largest), v.all(_HALVES, _ONE))
        valid = b.icmp_unsigned("==", b.bitcast(outside, ir.IntType(8)), ir.Constant(ir.IntType(8), 0))
        return [total(self.mass), places, b.fadd(total(self.even_gains), total(self.odd_gains)), valid]


def _sort_and_sum(_context: Any, pairs: Any, table: Any, _steps: Any, marks: Any, scores: Any, chances: Any) -> Any:
    """Sort pairs in place, best score first, and sum over them.

    Parameters
    ----------
    pairs : array of int64
        The bits of a score and of its chance. None may be `REACH` places or more from where it belongs, and runs of
        pairs that are out of order may not be longer than `REACH`. After the last step, `BEHIND` pairs must
        be `LOWEST_PAIR`. Then, in each step of 16, those of even places come first, and numbers are in the order of
        scores (see `_Vectors.key`).
    table : array of float64
        Gains by place, in the same arrangement.
    _steps : int64
        How many times 16 pairs to sort.
    marks : array of uint8
        Of each step, not 0 if scores in it may be equal to each other or the first to the one before it.
    scores, chances : array
        What is needed next; nothing is read, but it is asked for.

    Returns
    -------
    tuple
        The sums of chances, of chance times place and of chance times gain, and whether all chances are in [0, 1].
    """
    results = _TYPES.Tuple((types.float64, types.float64, types.float64, types.boolean))

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to_pairs, to_table, to_marks, *ahead = (
            context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 1, 3, 4, 5)
        )
        network = _Network(builder, to_pairs, to_table, to_marks, ahead)
        lag = ir.Constant(_INT, _PASSES)
        for step in range(_PASSES):
            network.layers(ir.Constant(_INT, step))
        with _BUILDING.for_range(builder, arguments[2], intp=_INT) as loop:
            network.fetch(loop.index)
            network.finish(loop.index, *network.layers(builder.add(loop.index, lag)))
        return context.make_tuple(builder, signature.return_type, network.results())

    return results(pairs, table, types.int64, marks, scores, chances), build


sort_and_sum: Any = intrinsic(_sort_and_sum)

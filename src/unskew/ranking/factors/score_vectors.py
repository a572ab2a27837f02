"""Vector instructions for scores: products of factors, codes of scores, and counts of scores above a threshold.

Compilers do not find these loops in plain code, so they are written with vectors as long as the registers of the
processor. `llvmlite` is the part of numba that writes them. No result depends on the length of the vectors.

Numba's cache does not see changes of this file. After one, delete what is compiled of `factor_kernel`.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

_BUILDING: Any = cgutils  # has no types
_TARGET: Any = cpu_target
_TRIPLE, _, FEATURES = _TARGET.target_context.codegen().magic_tuple()  # as in the key of numba's cache
_WIDE = "+avx512bw" in FEATURES
SUITED = "+fma" in FEATURES or _TRIPLE.startswith(("aarch64", "arm64"))  # fused products, and tables of bytes
LANES = 16 if _WIDE else 8 if "+avx" in FEATURES else 4
VECTORS = 2  # of items that are multiplied at once
PANEL = LANES * VECTORS  # items
GROUP = 12 if _WIDE else 6  # users whose scores are made at once; their sums stay in registers
CHUNK = min(2 * LANES, 16)  # codes that are compared at once; a code has 16 bits, and longer vectors are slower
TOGETHER = 4  # thresholds that are compared at once
LOWEST, HIGHEST = -32767, 32767  # codes of scores; one less is below all of them
CHAINS = 8  # items whose scores are made at once where they are not in a panel

TABLES = 64  # bytes with a bit for each byte that the thresholds of a user have

_INT, _INDEX, _FLOAT, _CODE = ir.IntType(64), ir.IntType(32), ir.FloatType(), ir.IntType(16)
_FLOATS = ir.VectorType(_FLOAT, LANES)
_COUNTS = ir.VectorType(_INDEX, LANES)
_CODES = ir.VectorType(_CODE, CHUNK)
_BYTES = ir.VectorType(ir.IntType(8), 2 * CHUNK)
_LINE = ir.VectorType(ir.IntType(8), 16)
_MARKS = ir.IntType(CHUNK)


class _Writer:
    """Writes instructions with vectors."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.context, self.builder = context, builder
        self.signature, self.arguments = signature, arguments

    def data(self, k: int) -> Any:
        """The address of an array."""
        return self.context.make_array(self.signature.args[k])(self.context, self.builder, self.arguments[k]).data

    def load(self, pointer: Any, at: Any, of_type: Any, align: int) -> Any:
        where = self.builder.bitcast(self.builder.gep(pointer, [at]), of_type.as_pointer())
        return self.builder.load(where, align=align)

    def store(self, value: Any, pointer: Any, at: Any, align: int) -> None:
        where = self.builder.bitcast(self.builder.gep(pointer, [at]), value.type.as_pointer())
        self.builder.store(value, where, align=align)

    def plus(self, at: Any, offset: int) -> Any:
        return self.builder.add(at, ir.Constant(_INT, offset)) if offset else at

    def times(self, number: Any, factor: int) -> Any:
        return self.builder.mul(number, ir.Constant(_INT, factor))

    def spread(self, number: Any, of_type: Any) -> Any:
        """A vector with this number in each lane."""
        empty = ir.Constant(of_type, ir.Undefined)
        first = self.builder.insert_element(empty, number, ir.Constant(_INDEX, 0))
        places = ir.Constant(ir.VectorType(_INDEX, of_type.count), [0] * of_type.count)
        return self.builder.shuffle_vector(first, empty, places)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """Multiply and add, rounded once."""
        name = f"llvm.fma.v{a.type.count}f32" if isinstance(a.type, ir.VectorType) else "llvm.fma.f32"
        fma = self.builder.module.declare_intrinsic(name, (), ir.FunctionType(a.type, [a.type] * 3))
        return self.builder.call(fma, [a, b, c])

    def variable(self, start: Any) -> Any:
        """A place for a value, which the compiler keeps in a register."""
        return _BUILDING.alloca_once_value(self.builder, start)

    def loop(self, n: Any) -> Any:
        return _BUILDING.for_range(self.builder, n, intp=_INT)

    def table(self, pointer: Any, at: Any) -> Any:
        """A table of 16 bytes, repeated to the length of a register."""
        line = self.load(pointer, at, _LINE, 1)
        return self.repeated(line)

    def repeated(self, line: Any) -> Any:
        places = ir.Constant(ir.VectorType(_INDEX, _BYTES.count), [k % 16 for k in range(_BYTES.count)])
        return self.builder.shuffle_vector(line, ir.Constant(_LINE, ir.Undefined), places)

    def look_up(self, table: Any, places: Any) -> Any:
        """The bytes of a table at the lowest four bits of each place; 0 where the highest bit is set."""
        name = "llvm.x86.avx2.pshuf.b" if _BYTES.count > 16 else "llvm.x86.ssse3.pshuf.b.128"
        if not _TRIPLE.startswith(("x86", "i686")):
            name = "llvm.aarch64.neon.tbl1.v16i8"
            places = self.builder.and_(places, ir.Constant(_BYTES, [0x8F] * _BYTES.count))
        function = self.builder.module.declare_intrinsic(name, (), ir.FunctionType(_BYTES, [_BYTES] * 2))
        return self.builder.call(function, [table, places])

    def total(self, vector: Any) -> Any:
        """The sum of a vector of 32-bit counts."""
        add = self.builder.module.declare_intrinsic(
            f"llvm.vector.reduce.add.v{vector.type.count}i32", (), ir.FunctionType(_INDEX, [vector.type])
        )
        return self.builder.sext(self.builder.call(add, [vector]), _INT)


def _multiply(
    _context: Any, panels: Any, _at: Any, users: Any, _from: Any, _d: Any, out: Any, _to: Any, _stride: Any
) -> Any:
    """Write the scores of a group of users for a panel of items: sums over the factors, in their order."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        panel, group, scores = w.data(0), w.data(2), w.data(5)
        at, start, d, to, stride = (arguments[k] for k in (1, 3, 4, 6, 7))
        vectors = [w.load(panel, w.plus(at, v * LANES), _FLOATS, 4) for v in range(VECTORS)]
        sums = [[w.variable(vector) for vector in vectors] for _ in range(GROUP)]
        with w.loop(d) as loop:
            here = builder.add(at, w.times(w.plus(loop.index, 1), PANEL))
            items = [w.load(panel, w.plus(here, v * LANES), _FLOATS, 4) for v in range(VECTORS)]
            first = builder.add(start, w.times(loop.index, GROUP))
            for u in range(GROUP):
                factor = w.spread(w.load(group, w.plus(first, u), _FLOAT, 4), _FLOATS)
                for v in range(VECTORS):
                    builder.store(w.multiply_add(items[v], factor, builder.load(sums[u][v])), sums[u][v])
        for u in range(GROUP):
            row = builder.add(to, builder.mul(stride, ir.Constant(_INT, u)))
            for v in range(VECTORS):
                w.store(builder.load(sums[u][v]), scores, w.plus(row, v * LANES), 4)
        return context.get_dummy_value()

    signature = types.void(panels, types.int64, users, types.int64, types.int64, out, types.int64, types.int64)
    return signature, build


def _encode(_context: Any, scores: Any, _at: Any, _chunks: Any, codes: Any, _to: Any, _scale: Any, _shift: Any) -> Any:
    """Write a code for each score: a larger score never has a smaller one."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        source, target = w.data(0), w.data(3)
        at, chunks, to = (arguments[k] for k in (1, 2, 4))
        wide = ir.VectorType(_FLOAT, CHUNK)
        scale, shift = (w.spread(arguments[k], wide) for k in (5, 6))
        lowest, highest = (ir.Constant(wide, [number] * CHUNK) for number in (float(LOWEST), float(HIGHEST)))
        with w.loop(chunks) as loop:
            step = w.times(loop.index, CHUNK)
            value = w.load(source, builder.add(at, step), wide, 4)
            value = w.multiply_add(value, scale, shift)
            value = builder.select(builder.fcmp_ordered(">", value, lowest), value, lowest)
            value = builder.select(builder.fcmp_ordered("<", value, highest), value, highest)
            whole = builder.fptosi(value, ir.VectorType(_INDEX, CHUNK))
            w.store(builder.trunc(whole, _CODES), target, builder.add(to, step), 2)
        return context.get_dummy_value()

    return types.void(scores, types.int64, types.int64, codes, types.int64, types.float32, types.float32), build


def _count_codes(
    _context: Any, codes: Any, _at: Any, _chunks: Any, chosen: Any, _first: Any, counts: Any, _to: Any
) -> Any:
    """Count the codes above `TOGETHER` chosen ones."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        source, thresholds, to_counts = w.data(0), w.data(3), w.data(5)
        at, chunks, first, to = (arguments[k] for k in (1, 2, 4, 6))
        limits = [w.spread(w.load(thresholds, w.plus(first, k), _CODE, 2), _CODES) for k in range(TOGETHER)]
        sums = [w.variable(ir.Constant(_CODES, [0] * CHUNK)) for _ in range(TOGETHER)]
        with w.loop(chunks) as loop:
            value = w.load(source, builder.add(at, w.times(loop.index, CHUNK)), _CODES, 2)
            for k in range(TOGETHER):
                above = builder.sext(builder.icmp_signed(">", value, limits[k]), _CODES)
                builder.store(builder.sub(builder.load(sums[k]), above), sums[k])
        for k in range(TOGETHER):
            total = w.total(builder.zext(builder.load(sums[k]), ir.VectorType(_INDEX, CHUNK)))
            w.store(total, to_counts, w.plus(to, k), 8)
        return context.get_dummy_value()

    return types.void(codes, types.int64, types.int64, chosen, types.int64, counts, types.int64), build


def _mark_codes(_context: Any, codes: Any, _chunks: Any, tables: Any, _at: Any, marks: Any) -> Any:
    """Mark the codes both of whose bytes are in the tables of thresholds.

    A table has a bit for each of 256 bytes: the lowest four bits of a byte and its highest select a line, the other
    three a bit of it. Each threshold is marked, and few other codes.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        source, lines, to_marks = w.data(0), w.data(2), w.data(4)
        chunks, at = arguments[1], arguments[3]
        tables = [w.table(lines, w.plus(at, 16 * k)) for k in range(4)]
        bits = w.repeated(ir.Constant(_LINE, [1 << k % 8 for k in range(16)]))
        none = ir.Constant(_CODES, [0] * CHUNK)
        with w.loop(chunks) as loop:
            value = w.load(source, w.times(loop.index, CHUNK), _CODES, 2)
            places = builder.bitcast(value, _BYTES)
            others = builder.xor(places, ir.Constant(_BYTES, [0x80] * _BYTES.count))
            which = builder.lshr(value, ir.Constant(_CODES, [4] * CHUNK))
            which = builder.and_(builder.bitcast(which, _BYTES), ir.Constant(_BYTES, [7] * _BYTES.count))
            bit = w.look_up(bits, which)
            equal = None
            for half, byte in enumerate((0xFF, 0xFF00)):
                line = builder.or_(w.look_up(tables[2 * half], places), w.look_up(tables[2 * half + 1], others))
                common = builder.and_(
                    builder.bitcast(builder.and_(line, bit), _CODES), ir.Constant(_CODES, [byte] * CHUNK)
                )
                known = builder.icmp_unsigned("!=", common, none)
                equal = known if equal is None else builder.and_(equal, known)
            w.store(builder.bitcast(equal, _MARKS), to_marks, w.times(loop.index, CHUNK // 8), 1)
        return context.get_dummy_value()

    return types.void(codes, types.int64, tables, types.int64, marks), build


def _count_scores(_context: Any, scores: Any, _at: Any, _steps: Any, held: Any, _first: Any, counts: Any) -> Any:
    """Count the scores above `TOGETHER` thresholds, and those not below them."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        source, thresholds, to_counts = w.data(0), w.data(3), w.data(5)
        at, steps, first = (arguments[k] for k in (1, 2, 4))
        limits = [w.spread(w.load(thresholds, w.plus(first, k), _FLOAT, 4), _FLOATS) for k in range(TOGETHER)]
        zeros = ir.Constant(_COUNTS, [0] * LANES)
        sums = [w.variable(zeros) for _ in range(2 * TOGETHER)]
        with w.loop(steps) as loop:
            value = w.load(source, builder.add(at, w.times(loop.index, LANES)), _FLOATS, 4)
            for k in range(TOGETHER):
                for place, how in ((k, ">"), (TOGETHER + k, ">=")):
                    truth = builder.sext(builder.fcmp_ordered(how, value, limits[k]), _COUNTS)
                    builder.store(builder.sub(builder.load(sums[place]), truth), sums[place])
        for k in range(2 * TOGETHER):
            w.store(w.total(builder.load(sums[k])), to_counts, ir.Constant(_INT, k), 8)
        return context.get_dummy_value()

    return types.void(scores, types.int64, types.int64, held, types.int64, counts), build


def _score_some(_context: Any, items: Any, starts: Any, _first: Any, users: Any, _at: Any, _d: Any, out: Any) -> Any:
    """Write the scores of `CHAINS` items for a user, with the same sums as `multiply`.

    The factors of the k-th item are at ``starts[first + k]``, and `out` has the values that the sums begin with.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        w = _Writer(context, builder, signature, arguments)
        factors, where, user, scores = w.data(0), w.data(1), w.data(3), w.data(6)
        first, at, d = (arguments[k] for k in (2, 4, 5))
        places = [w.plus(first, k) for k in range(CHAINS)]
        starts = [w.load(where, place, _INT, 8) for place in places]
        sums = [w.variable(w.load(scores, place, _FLOAT, 4)) for place in places]
        with w.loop(d) as loop:
            factor = w.load(user, builder.add(at, loop.index), _FLOAT, 4)
            for start, total in zip(starts, sums, strict=True):
                item = w.load(factors, builder.add(start, loop.index), _FLOAT, 4)
                builder.store(w.multiply_add(item, factor, builder.load(total)), total)
        for place, total in zip(places, sums, strict=True):
            w.store(builder.load(total), scores, place, 4)
        return context.get_dummy_value()

    return types.void(items, starts, types.int64, users, types.int64, types.int64, out), build


def _lowest_bit(_context: Any, _word: Any) -> Any:
    """The place of the lowest bit of a number; 64 if it is 0."""

    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), build


def _count_bits(_context: Any, _word: Any) -> Any:
    def build(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.int64), build


multiply: Any = intrinsic(_multiply)
score_some: Any = intrinsic(_score_some)
lowest_bit: Any = intrinsic(_lowest_bit)
count_bits: Any = intrinsic(_count_bits)
encode: Any = intrinsic(_encode)
count_codes: Any = intrinsic(_count_codes)
mark_codes: Any = intrinsic(_mark_codes)
count_scores: Any = intrinsic(_count_scores)

"""LLVM's types of sixteen 32-bit lanes.  A module of its own: who only loads compiled code needs no LLVM."""

from llvmlite import ir

LANES = 16  # a row of a face
FLOAT, WORD, ADDRESS = ir.FloatType(), ir.IntType(32), ir.IntType(64)
FLOATS, WORDS = ir.VectorType(FLOAT, LANES), ir.VectorType(WORD, LANES)

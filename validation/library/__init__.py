"""Operations of the vendor's own library against silicon: the library chooses the program, tensim times it.

`python -m tensim.validation.library FILES` (gemm.csv and torp_exp.csv); it needs the library (docs/library.md).
"""

"""The shape of a tile: 32 x 32 datums, in memory and in registers four faces of 16 x 16, each row by row."""

TILE_SIDE = 32
TILE_DATUMS = TILE_SIDE * TILE_SIDE
FACE_SIDE = 16
FACE_DATUMS = FACE_SIDE * FACE_SIDE
FACES = TILE_DATUMS // FACE_DATUMS
TILE_ROWS = TILE_DATUMS // FACE_SIDE  # rows of a face, which registers are made of

"""The tables that tt-metal's build generates for a compute kernel: formats on both sides of unpackers and packers, tile shapes.

How a format of a circular buffer becomes that of a register was read off the tables that ttnn 0.81.1 and 0.66.0 generated for
recorded kernels; for Bfp8 to Bfp2, Fp8 and integers the packer's side follows the cases of the wheel's
llk_api/data_format_derive.h.
"""

from tensim.sim.cores.numerics.data_format import DataFormat, tile_size

BUFFERS = 64  # entries of each table
INVALID = 255
TILE_BYTES_UNUSED = 1088  # of a buffer that the program does not configure
EXPONENT_A = (DataFormat.Float16, DataFormat.Bfp8, DataFormat.Bfp4, DataFormat.Bfp2)
BLOCKS = (DataFormat.Bfp8, DataFormat.Bfp4, DataFormat.Bfp2, DataFormat.Bfp8_b, DataFormat.Bfp4_b, DataFormat.Bfp2_b)
TF32 = 4


def _half(code, others):
    """The 16-bit float that a Float32 becomes: with the exponent that all other formats have, Float16_b if there are none."""
    floats = [one for one in others if one != code and one not in (8, 9, 14, 24, 30)]
    return int(DataFormat.Float16) if floats and all(one in EXPONENT_A for one in floats) else int(DataFormat.Float16_b)


def unpacked(code, others, fp32_dest, to_dest):
    """The format that an unpacker makes of a buffer's."""
    if code != DataFormat.Float32:
        return code
    if fp32_dest:
        return code if to_dest else TF32
    return _half(code, others)


def packed(code, others, fp32_dest, precise):
    """The format that a packer reads, for a buffer's."""
    if code == DataFormat.Float32:
        return code if fp32_dest else _half(code, others)
    if code in BLOCKS:
        if precise:
            return int(DataFormat.Float32) if fp32_dest else _half(code, others)
        return int(DataFormat.Bfp8 if code in EXPONENT_A else DataFormat.Bfp8_b)
    if code == DataFormat.Float16 and fp32_dest:
        return int(DataFormat.Float16_b)
    return code


def _bytes(code, height, width):
    if code == INVALID:
        return TILE_BYTES_UNUSED
    exponents = 64 if code in BLOCKS else 0
    return (tile_size(code) - exponents) * height * width // 1024 + exponents * height * width // 1024


def descriptors(buffers, *, is_typed, fidelity, approximate, fp32_dest, full_sync, to_dest=(), precise=False):
    """C++ text of the tables and settings.

    `buffers`: (index, format code, tile height, tile width); `is_typed`: whether the release has types of its own for
    settings; `to_dest`: 1 for each buffer whose 32-bit numbers go to Dst as they are.
    """
    rows = {index: (code, height, width) for index, code, height, width in buffers}
    shapes = [rows.get(index, (INVALID, 32, 32)) for index in range(BUFFERS)]
    codes = [code for code, _, _ in shapes]
    used = [code for code in codes if code != INVALID]
    direct = [index < len(to_dest) and bool(to_dest[index]) for index in range(BUFFERS)]
    faces = [(min(height, 16), max(1, height // 16), max(1, width // 16)) for _, height, width in shapes]
    common = {
        "tile_num_faces": [rows_of * columns for _, rows_of, columns in faces],
        "partial_face": [int(height < 16) for _, height, _ in shapes],
        "tile_face_r_dim": [height for height, _, _ in faces],
        "narrow_tile": [int(width == 16) for _, _, width in shapes],
        "tile_r_dim": [height for _, height, _ in shapes],
        "tile_c_dim": [width for _, _, width in shapes],
        "num_faces_r_dim": [rows_of for _, rows_of, _ in faces],
        "num_faces_c_dim": [columns for _, _, columns in faces],
    }
    tables = {
        "unpack_src_format": codes,
        "unpack_dst_format": [
            INVALID if code == INVALID else unpacked(code, used, fp32_dest, direct[index])
            for index, code in enumerate(codes)
        ],
        "pack_src_format": [INVALID if code == INVALID else packed(code, used, fp32_dest, precise) for code in codes],
        "pack_dst_format": codes,
    }
    for side in ("unpack", "pack"):
        tables |= {f"{side}_{name}": values for name, values in common.items()}
    codes_type = "unsigned char" if is_typed else "std::int32_t"  # of the unpackers' tables of formats
    types = {"unpack_src_format": codes_type, "unpack_dst_format": codes_type}
    lines = [
        f"constexpr {types.get(name, 'unsigned char')} {name}[{BUFFERS}] = {_list(values)};"
        for name, values in tables.items()
    ]
    fidelity_type = "ckernel::MathFidelity" if is_typed else "std::int32_t"
    sizes = _list(_bytes(*shape) for shape in shapes)
    lines += [f"constexpr uint16_t {side}_tile_size[{BUFFERS}] = {sizes};" for side in ("unpack", "pack")]
    sync = "SyncFull" if full_sync else "SyncHalf"
    return "\n".join([
        "#include <cstdint>", '#include "llk_defs.h"', *lines,
        f"constexpr auto MATH_FIDELITY = static_cast<{fidelity_type}>({fidelity});",
        f"constexpr bool APPROX = {str(bool(approximate)).lower()};",
        f"constexpr bool DST_ACCUM_MODE = {str(bool(fp32_dest)).lower()};",
        f"#define DST_SYNC_MODE DstSync::{sync}", "",
    ])  # fmt: skip


def _list(values):
    return "{" + ",".join(map(str, values)) + "}"

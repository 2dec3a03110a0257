"""Texts of the kernels that take one engine's time: each thread's calls in a zone.

They are programs of the kind that the vendor's own measurements of these calls are (performance tests of tt-llk): an engine
works alone, and where it needs another one, that only hands over source registers, by two instructions for each of them.  A zone
is two marks, each of which reads the clock and then writes two words to L1 (tt-llk: tests/helpers/include/profiler.h); what the
first one still does after its reading, with a count of the room that is left, is part of the measured time.
"""

from typing import NamedTuple

from tensim.validation.instruction.lone_core import MEETING, N_RESULTS, RESULTS

A, B, OUT = 0, 1, 2  # circular buffers
TILES = 0x20000  # L1 address of what is unpacked and packed; each buffer has a place for 16 tiles
FRAME = """#include <cstdint>
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/tile_move_copy.h"
#if defined(TRISC_MATH) && @ONE_FACE
#include "llk_math_eltwise_sfpu_common.h"
#define _llk_math_eltwise_sfpu_apply_vector_mode_(function, mode, ...) function(__VA_ARGS__)
#endif
@HEADERS

namespace lone {
using Marks = std::uint32_t (*)[@N_RESULTS];
Marks marks = reinterpret_cast<Marks>(@RESULTS);
std::uint32_t written = 0, reserved = 0;
constexpr std::uint32_t capacity = (DST_ACCUM_MODE ? 4 : 8) * (DST_SYNC_MODE == DstSync::SyncFull ? 2 : 1);
#if defined(TRISC_UNPACK)
constexpr std::uint32_t thread = 0;
inline std::uint32_t address(std::uint32_t buffer, std::uint32_t tile) { return (@TILES + 0x10000 * buffer) / 16 - 1 + 256 * tile; }
template <bool a, bool b>
inline void give(std::uint32_t times) {
    while (times-- > 0) {
        TTI_STALLWAIT(p_stall::STALL_TDMA, (a ? p_stall::SRCA_CLR : 0) | (b ? p_stall::SRCB_CLR : 0));
        TTI_SETDVALID((b << 1) | a);
    }
}
#elif defined(TRISC_MATH)
constexpr std::uint32_t thread = 1;
template <bool a, bool b>
inline void take(std::uint32_t times) {
    while (times-- > 0) {
        TTI_STALLWAIT(p_stall::STALL_MATH, (a ? p_stall::SRCA_VLD : 0) | (b ? p_stall::SRCB_VLD : 0));
        TTI_CLEARDVALID((b << 1) | a, 0);
    }
}
#else
constexpr std::uint32_t thread = 2;
inline std::uint32_t address(std::uint32_t tile) { return (@TILES + 0x20000) / 16 - 1 + 256 * tile; }
#endif
inline void mark(std::uint32_t kind) {
    volatile std::uint32_t* clock = reinterpret_cast<volatile std::uint32_t*>(0xFFB121F0u);
    const std::uint32_t low = clock[0], high = clock[2];
    marks[thread][written++] = kind << 28 | (high & 0xFFF);
    marks[thread][written++] = low;
}
inline bool begin() {
    const bool has_room = @N_RESULTS - (written + reserved) >= 4;
    if (has_room) {
        mark(0xA);
        reserved += 2;
    }
    asm volatile("" ::: "memory");
    return has_room;
}
inline void end(bool has_begun) {
    asm volatile("" ::: "memory");
    if (has_begun) {
        mark(0xB);
        reserved -= 2;
    }
}
inline void meet() {
    volatile std::uint32_t* here = reinterpret_cast<volatile std::uint32_t*>(@MEETING);
    here[thread] = 1;
    while ((here[0] & here[1] & here[2]) == 0) {}
}
}  // namespace lone

void kernel_main() {
    const std::uint32_t loops = get_arg_val<std::uint32_t>(0), tiles = get_arg_val<std::uint32_t>(1);
    @PREPARE
    tensix_sync();
    lone::meet();
    const bool has_begun = lone::begin();
#if defined(TRISC_UNPACK)
    @UNPACK
#elif defined(TRISC_MATH)
    @MATH
#else
    @PACK
#endif
    tensix_sync();
    lone::end(has_begun);
}
"""
LOOP = """for (std::uint32_t loop = 0; loop < loops; loop++) {
        for (std::uint32_t first = 0; first < tiles; first += lone::capacity) {
            const std::uint32_t count = tiles - first < lone::capacity ? tiles - first : lone::capacity;
            for (std::uint32_t tile = 0; tile < count; tile++) { @CALLS }
        }
    }"""


class Threads(NamedTuple):
    """What the threads of a kernel do in their zones; `prepare`: all of them before.

    `one_face`: vector functions do one of a tile's four faces in a call.
    """

    headers: tuple = ()
    prepare: str = ""
    unpack: str = ""
    math: str = ""
    pack: str = ""
    one_face: bool = False


def text_of(threads):
    """The kernel's text."""
    parts = {
        "@HEADERS": "\n".join(f'#include "api/compute/{name}.h"' for name in threads.headers), "@PREPARE": threads.prepare,
        "@UNPACK": threads.unpack, "@MATH": threads.math, "@PACK": threads.pack, "@RESULTS": str(RESULTS),
        "@TILES": str(TILES),
        "@MEETING": str(MEETING),
        "@N_RESULTS": str(N_RESULTS), "@ONE_FACE": str(int(threads.one_face)),
    }  # fmt: skip
    text = FRAME
    for name, value in parts.items():
        text = text.replace(name, value)
    return text


def zone_cycles(results):
    """Cycles of a thread's zone, from the words that its marks have written."""
    return int(results[3]) - int(results[1])


def each_tile(calls):
    """Statements for each of the tiles of each loop; `tile` is its index in Dst."""
    return LOOP.replace("@CALLS", calls)

"""Written by docs/write_kernel_stub.py: do not edit."""

from collections.abc import Callable
from typing import Any

from tensim.sim.cores.kernels.compiler import Kernel

def kernel(function: Callable[..., Any]) -> Kernel: ...
def device_function(function: Callable[..., Any]) -> Callable[..., Any]: ...

def ASSERT(condition: Any) -> Any:
    """Stop the simulation with an error if the condition is false."""
def CircularBuffer(id: Any) -> Any:
    """A circular buffer as an object."""
def CoreLocalMem(address: Any, type: Any = ...) -> Any:
    """Another name of `l1_ptr`."""
def DPRINT(text: Any, *values: Any) -> Any:
    """Print a line: a literal text with a field (`{}`, `{:x}`, `{:f32}`, `{:bf16}`) for each value."""
def DeviceZoneScopedN(name: Any) -> Any:
    """Open a profiler zone, by literal name, that ends with the enclosing block."""
def InterleavedAddrGen(bank_base_address: Any, page_size: Any, dram: Any = ...) -> Any:
    """Address generator of an interleaved buffer."""
def InterleavedAddrGenFast(bank_base_address: Any, page_size: Any, data_format: Any = ..., dram: Any = ..., tile_hw: Any = ...) -> Any:
    """Address generator of an interleaved buffer of tiles."""
def InterleavedPow2AddrGen(bank_base_address: Any, log_base_2_of_page_size: Any, dram: Any = ...) -> Any:
    """Address generator of an interleaved buffer whose page size is a power of two."""
def InterleavedPow2AddrGenFast(bank_base_address: Any, log_base_2_of_page_size: Any, dram: Any = ...) -> Any:
    """Another name of `InterleavedPow2AddrGen`."""
def MATH(call: Any) -> Any:
    """Make the call on the math thread only."""
NOC_MAX_BURST_SIZE: Any
def Noc(noc: Any = ...) -> Any:
    """A NoC as an object."""
def PACK(call: Any) -> Any:
    """Make the call on the pack thread only."""
def Semaphore(id: Any) -> Any:
    """A semaphore as an object."""
def TensorAccessor(args: Any, bank_base_address: Any, page_size: Any) -> Any:
    """A tensor's pages and shards, interleaved or sharded, as its arguments describe them."""
def TensorAccessorArgs(cta_base: Any = ..., crta_base: Any = ...) -> Any:
    """Where a tensor accessor's compile-time and common runtime arguments begin."""
def UNPACK(call: Any) -> Any:
    """Make the call on the unpack thread only."""
def WAYPOINT(*arguments: Any, **options: Any) -> Any:
    """No effect but one: a deadlock names the last one above the line of a thread."""
def abs_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: |x| (x of Dst[idst], in place)."""
def abs_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def abs_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: |x| (x of Dst[idst], in place)."""
def abs_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def abs_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: |x| (x of Dst[idst], in place)."""
def acos_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: acos(x) (x of Dst[idst], in place)."""
def acos_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def acosh_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: acosh(x) (x of Dst[idst], in place)."""
def acosh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def acquire_dst() -> Any:
    """`tile_regs_acquire` and `tile_regs_wait` in one call."""
def add_bcast_cols_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_bcast_cols_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_bcast_rows_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_bcast_rows_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_bcast_scalar_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_bcast_scalar_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_init(icb0: Any = ..., icb1: Any = ..., acc_to_dest: Any = ...) -> Any:
    """Another name of `add_tiles_init`."""
def add_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_int_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_int_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_reuse_dest_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_reuse_dest_tiles(icb: Any, itile: Any, idst: Any, binary_reuse_dest: Any = ...) -> Any:
    """Dst[idst] = a + b, where one operand is Dst[idst], the other icb[itile]."""
def add_tile_int(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_tile_uint16(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_tiles(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] + icb1[itile1]."""
def add_tiles_bcast(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any, dim: Any = ...) -> Any:
    """Dst[idst] = icb0[itile0] + icb1[itile1], broadcast as `dim` says (a `BroadcastType`)."""
def add_tiles_bcast_cols(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] + column 0 of icb1[itile1]."""
def add_tiles_bcast_cols_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_tiles_bcast_rows(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] + row 0 of icb1[itile1]."""
def add_tiles_bcast_rows_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_tiles_bcast_scalar(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] + element (0, 0) of icb1[itile1]."""
def add_tiles_bcast_scalar_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def add_tiles_init(icb0: Any = ..., icb1: Any = ..., acc_to_dest: Any = ...) -> Any:
    """Configure `add_tiles`; `acc_to_dest`: results are added to Dst."""
def add_uint16_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def add_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_unary_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + n (x of Dst[idst], in place)."""
def add_unary_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_unary_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + a (x of Dst[idst], in place)."""
def add_unary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def add_unary_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + n (x of Dst[idst], in place)."""
def addcdiv_tile(idst0: Any, idst1: Any, idst2: Any, odst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + a * y / z (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def addcdiv_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def addcmul_tile(idst0: Any, idst1: Any, idst2: Any, odst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + a * y * z (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def addcmul_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def asin_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: asin(x) (x of Dst[idst], in place)."""
def asin_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def asinh_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: asinh(x) (x of Dst[idst], in place)."""
def asinh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def atan2_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: angle of the point (y, x) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def atan2_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def atan_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: atan(x) (x of Dst[idst], in place)."""
def atan_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def atanh_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: atanh(x) (x of Dst[idst], in place)."""
def atanh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bcast_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def bf16_to_fp32(bits: Any) -> Any:
    """float32 bits of a bfloat16."""
def binary_bitwise_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_clamped_right_shift_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >> min(y, 31), zeros shifted in (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_clamped_right_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_dest_reuse_tiles(icb: Any, itile: Any, idst: Any, eltwise_binary_type: Any = ..., binary_reuse_dest: Any = ...) -> Any:
    """Dst[idst] = a op b of Dst[idst] and icb[itile]; op is an `EltwiseBinaryType`."""
def binary_dest_reuse_tiles_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def binary_left_shift_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x << y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_left_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_logical_right_shift_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >> y, zeros shifted in (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_logical_right_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_max_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_max_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_max_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_max_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_max_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_max_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, y), without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_max_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, y), without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_max_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_min_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_min_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_min_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_min_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_min_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_min_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, y), without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_min_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, y), without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_min_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_op_init_common(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def binary_right_shift_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >> y, with the sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def binary_right_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def binary_tiles_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def binop_with_scalar_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_and_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x & y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def bitwise_and_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_and_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x & n (x of Dst[idst], in place)."""
def bitwise_and_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_not_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: ~x (x of Dst[idst], in place)."""
def bitwise_not_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_or_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x | y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def bitwise_or_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_or_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x | n (x of Dst[idst], in place)."""
def bitwise_or_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_xor_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x ^ y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def bitwise_xor_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def bitwise_xor_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x ^ n (x of Dst[idst], in place)."""
def bitwise_xor_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def cb_pages_available_at_front(cb: Any, n: Any) -> Any:
    """1 if the buffer holds `n` pages, else 0; does not wait."""
def cb_pages_reservable_at_back(cb: Any, n: Any) -> Any:
    """1 if `n` pages are free, else 0; does not wait."""
def cb_pop_front(cb: Any, n: Any) -> Any:
    """Free `n` pages at the front."""
def cb_push_back(cb: Any, n: Any) -> Any:
    """Hand `n` written pages to the consumer."""
def cb_reserve_back(cb: Any, n: Any) -> Any:
    """Wait until `n` pages are free."""
def cb_wait_front(cb: Any, n: Any) -> Any:
    """Wait until the buffer holds `n` pages; a second wait counts from the same front."""
def cbrt_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: cube root of x (x of Dst[idst], in place)."""
def cbrt_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ceil_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x rounded up (x of Dst[idst], in place)."""
def ceil_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def celu_tile(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, 0) + min(0, a * (exp(x / a) - 1)) (x of Dst[idst], in place)."""
def celu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def clamp_int32_tile(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x limited to [param0, param1] (x of Dst[idst], in place)."""
def clamp_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def clamp_tile(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x limited to [a, b] (x of Dst[idst], in place)."""
def clamp_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def clamp_tile_int32(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x limited to [param0, param1] (x of Dst[idst], in place)."""
def compute_kernel_hw_startup(*arguments: Any, **options: Any) -> Any:
    """Configure the core at the start of a kernel."""
def copy_block(icb: Any, start_in_tile_index: Any, start_dst_tile_index: Any, ntiles: Any) -> Any:
    """Copy `ntiles` tiles to Dst."""
def copy_block_matmul_partials(icb: Any, start_in_tile_index: Any, start_dst_tile_index: Any, ntiles: Any) -> Any:
    """Copy `ntiles` partial results to Dst."""
def copy_dest_values(idst_in: Any, idst_out: Any) -> Any:
    """Dst[idst_out] = Dst[idst_in]."""
def copy_dest_values_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def copy_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def copy_tile(icb: Any, itile: Any, idst: Any) -> Any:
    """Dst[idst] = icb[itile]."""
def copy_tile_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def copy_tile_to_dst_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def copy_tile_to_dst_init_short_with_dt(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def cos_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: cos(x) (x of Dst[idst], in place)."""
def cos_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def cosh_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: cosh(x) (x of Dst[idst], in place)."""
def cosh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def div_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def div_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def div_int32_floor_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / y, rounded down (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def div_int32_floor_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def div_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / y of integers, a float32 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def div_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def div_int32_trunc_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / y, rounded towards 0 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def div_int32_trunc_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def div_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / y of integers, a float32 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def div_unary_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * a (a is the reciprocal of the divisor) (x of Dst[idst], in place)."""
def div_unary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def dprint_tensix_dest_reg(tile_id: Any = ...) -> Any:
    """Print a tile of Dst, by the index that math calls give it."""
def elu_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if x >= 0 else a * (exp(x) - 1) (x of Dst[idst], in place)."""
def elu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def eq_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def eq_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def eq_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def eq_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def eq_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def eqz_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 (x of Dst[idst], in place)."""
def eqz_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def eqz_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 (x of Dst[idst], in place)."""
def eqz_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def eqz_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 (x of Dst[idst], in place)."""
def eqz_tile_uint16(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 in 16 bits (x of Dst[idst], in place)."""
def eqz_tile_uint32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 (x of Dst[idst], in place)."""
def eqz_uint16_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 in 16 bits (x of Dst[idst], in place)."""
def eqz_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def eqz_uint32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 (x of Dst[idst], in place)."""
def eqz_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def erf_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: erf(x) (x of Dst[idst], in place)."""
def erf_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def erfc_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 - erf(x) (x of Dst[idst], in place)."""
def erfc_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def erfinv_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: inverse of erf (x of Dst[idst], in place)."""
def erfinv_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def exp2_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 2 ** x (x of Dst[idst], in place)."""
def exp2_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def exp_tile(idst: Any, approx: Any = ..., vector_mode: Any = ..., input_clamping: Any = ...) -> Any:
    """Vector unit: exp(x) (x of Dst[idst], in place)."""
def exp_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def expm1_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: exp(x) - 1 (x of Dst[idst], in place)."""
def expm1_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fast_tilize_block(icb: Any, block: Any, ocb: Any, input_tile_index: Any = ..., output_tile_index: Any = ...) -> Any:
    """As `tilize_block`."""
def fast_tilize_init(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def fast_tilize_uninit(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def fill_bitcast_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: the 32 bits of param0 (x of Dst[idst], in place)."""
def fill_bitcast_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fill_int_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: n (x of Dst[idst], in place)."""
def fill_int_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fill_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a (x of Dst[idst], in place)."""
def fill_tile_bitcast(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: the 32 bits of param0 (x of Dst[idst], in place)."""
def fill_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fill_tile_int(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: n (x of Dst[idst], in place)."""
def float_bits(number: Any) -> Any:
    """float32 bits of a constant number."""
def floor_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x rounded down (x of Dst[idst], in place)."""
def floor_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fmod_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, with the sign of x (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def fmod_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fmod_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, with the sign of x (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def fmod_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fmod_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod a, with the sign of x (x of Dst[idst], in place)."""
def fmod_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def fmod_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, with the sign of x (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def fp32_to_bf16_truncate(bits: Any) -> Any:
    """bfloat16 bits of a float32, truncated."""
def frac_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - trunc(x) (x of Dst[idst], in place)."""
def frac_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gcd_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: greatest common divisor (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def gcd_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ge_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ge_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ge_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ge_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ge_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ge_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ge_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ge_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gelu_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * (1 + erf(x / sqrt(2))) / 2 (x of Dst[idst], in place)."""
def gelu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
get_absolute_logical_x: Any
get_absolute_logical_y: Any
get_arg: Any
get_arg_addr: Any
get_arg_val: Any
get_common_arg_addr: Any
get_common_arg_val: Any
get_compile_time_arg_val: Any
get_dataformat: Any
def get_dram_noc_addr(id: Any, page_size: Any, bank_base_address: Any, offset: Any = ..., noc: Any = ...) -> Any:
    """NoC address of page `id` of an interleaved DRAM buffer."""
get_entry_size: Any
def get_l1_noc_addr(id: Any, page_size: Any, bank_base_address: Any, offset: Any = ..., noc: Any = ...) -> Any:
    """NoC address of page `id` of an interleaved L1 buffer."""
def get_local_cb_interface(id: Any) -> Any:
    """The buffer as an object; its attributes are tt-metal's `fifo_...` fields."""
def get_named_compile_time_arg_val(name: Any) -> Any:
    """Compile-time argument by its name, a literal text."""
def get_noc_addr(*args: Any, **kwargs: Any) -> Any:
    """NoC address of (x, y, address), of an address on this core, or of a page for requests on `noc`."""
get_noc_addr_from_bank_id: Any
get_noc_multicast_addr: Any
get_read_ptr: Any
get_relative_logical_x: Any
get_relative_logical_y: Any
get_semaphore: Any
def get_tile_address(cb: Any, tile: Any) -> Any:
    """L1 address of tile `tile`, counted from the front, as the unpack thread sees it."""
get_tile_hw: Any
get_tile_num_faces: Any
get_tile_size: Any
def get_timestamp() -> Any:
    """The wall-clock register: cycles since the chip's reset."""
get_write_ptr: Any
def gez_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= 0 (x of Dst[idst], in place)."""
def gez_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gez_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= 0 (x of Dst[idst], in place)."""
def gez_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gez_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= 0 (x of Dst[idst], in place)."""
def gt_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def gt_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gt_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def gt_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gt_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def gt_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def gt_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def gt_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gtz_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > 0 (x of Dst[idst], in place)."""
def gtz_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gtz_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > 0 (x of Dst[idst], in place)."""
def gtz_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def gtz_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > 0 (x of Dst[idst], in place)."""
def hardgelu_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * (x / 2 + 0.5 limited to [0, 1]) (x of Dst[idst], in place)."""
def hardgelu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def hardmish_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * (x / 2 + 1 limited to [0, 1]) (x of Dst[idst], in place)."""
def hardmish_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def hardshrink_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if |x| > a else 0 (x of Dst[idst], in place)."""
def hardshrink_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def hardsigmoid_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / 6 + 0.5 limited to [0, 1] (x of Dst[idst], in place)."""
def hardsigmoid_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def hardswish_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * (x / 6 + 0.5 limited to [0, 1]) (x of Dst[idst], in place)."""
def hardswish_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def hardtanh_tile(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x limited to [a, b] (x of Dst[idst], in place)."""
def hardtanh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def heaviside_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 0 below 0, 1 above 0, a at 0 (x of Dst[idst], in place)."""
def heaviside_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def i0_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: modified Bessel function I0(x) (x of Dst[idst], in place)."""
def i0_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def i1_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: modified Bessel function I1(x) (x of Dst[idst], in place)."""
def i1_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def identity_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x (x of Dst[idst], in place)."""
def identity_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def identity_tile_uint32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x (x of Dst[idst], in place)."""
def identity_uint32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x (x of Dst[idst], in place)."""
def identity_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def init_bcast(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def init_sfpu(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
int32: Any
def invalidate_l1_cache() -> Any:
    """No effect: L1 is coherent in the model."""
def isfinite_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 if x is finite, else 0 (x of Dst[idst], in place)."""
def isfinite_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def isinf_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 if x is infinite, else 0 (x of Dst[idst], in place)."""
def isinf_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def isnan_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 if x is NaN, else 0 (x of Dst[idst], in place)."""
def isnan_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def isneginf_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == -inf (x of Dst[idst], in place)."""
def isneginf_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def isposinf_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == +inf (x of Dst[idst], in place)."""
def isposinf_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def l1_ptr(address: Any, type: Any = ...) -> Any:
    """Pointer to L1; `ptr[i]` loads and stores elements of `type`."""
def lcm_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: least common multiple (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def lcm_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def le_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def le_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def le_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def le_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def le_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def le_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def le_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def le_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def leaky_relu_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if x >= 0 else a * x (x of Dst[idst], in place)."""
def leaky_relu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def left_shift_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x << n (x of Dst[idst], in place)."""
def left_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lerp_tile(idst0: Any, idst1: Any, idst2: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x + z * (y - x) (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def lerp_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lez_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= 0 (x of Dst[idst], in place)."""
def lez_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lez_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= 0 (x of Dst[idst], in place)."""
def lez_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lez_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= 0 (x of Dst[idst], in place)."""
def log1p_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: ln(1 + x) (x of Dst[idst], in place)."""
def log1p_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def log_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: ln(x) (x of Dst[idst], in place)."""
def log_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def log_with_base_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: ln(x) * a (x of Dst[idst], in place)."""
def log_with_base_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def logaddexp2_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: log2(2**x + 2**y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def logaddexp2_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def logaddexp_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: ln(exp(x) + exp(y)) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def logaddexp_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def logical_not_unary_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == 0 (x of Dst[idst], in place)."""
def logical_not_unary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def logical_right_shift_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >> n, zeros shifted in (x of Dst[idst], in place)."""
def logical_right_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def logsigmoid_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: ln(sigmoid(x)) (x of Dst[idst], in place)."""
def logsigmoid_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lt_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def lt_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lt_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def lt_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def lt_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def lt_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def lt_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def lt_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ltz_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < 0 (x of Dst[idst], in place)."""
def ltz_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ltz_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < 0 (x of Dst[idst], in place)."""
def ltz_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ltz_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < 0 (x of Dst[idst], in place)."""
def mac_tile(idst0: Any, idst1: Any, idst2: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y + z (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def mac_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mailbox_read(thread: Any) -> Any:
    """Wait for the next word from a compute thread."""
def mailbox_write(thread: Any, data: Any) -> Any:
    """Send a word to a compute thread, a `ThreadId`; waits while four are unread."""
def mask_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if y != 0 else 0 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mask_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mask_tile(idst_data: Any, idst_mask: Any) -> Any:
    """Dst[idst_data] = Dst[idst_data] where Dst[idst_mask] is not 0, else 0."""
def mask_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for `mask_tile`."""
def matmul_block(in0_cb: Any, in1_cb: Any, itile0: Any, itile1: Any, idst: Any, transpose: Any, ct_dim: Any, rt_dim: Any, kt_dim: Any) -> Any:
    """The products of `rt_dim` in0 tiles (`kt_dim` apart) and `ct_dim` in1 tiles, added to Dst from `idst`."""
def matmul_block_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def matmul_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def matmul_tiles(in0_cb: Any, in1_cb: Any, itile0: Any, itile1: Any, idst: Any, transpose: Any = ...) -> Any:
    """Dst[idst] += in0[itile0] @ in1[itile1], or its transpose: as the init says, unless this call does."""
def matmul_tiles_math(idst: Any) -> Any:
    """The math thread's part of `matmul_tiles` alone."""
def max_tile(idst0: Any, idst1: Any) -> Any:
    """Dst[idst0] = max(Dst[idst0], Dst[idst1])."""
def max_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mish_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * tanh(ln(1 + exp(x))) (x of Dst[idst], in place)."""
def mish_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mm_block_init(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def mm_block_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mm_block_init_short_with_dt(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mm_init(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def mm_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mm_init_short_with_dt(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_bcast_cols_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_bcast_cols_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_bcast_rows_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_bcast_rows_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_bcast_scalar_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_bcast_scalar_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mul_init(icb0: Any = ..., icb1: Any = ..., acc_to_dest: Any = ...) -> Any:
    """Another name of `mul_tiles_init`."""
def mul_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mul_int_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_int_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mul_reuse_dest_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_reuse_dest_tiles(icb: Any, itile: Any, idst: Any, binary_reuse_dest: Any = ...) -> Any:
    """Dst[idst] = a * b, where one operand is Dst[idst], the other icb[itile]."""
def mul_tile_int(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_tile_uint16(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_tiles(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] * icb1[itile1]."""
def mul_tiles_bcast(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any, dim: Any = ...) -> Any:
    """Dst[idst] = icb0[itile0] * icb1[itile1], broadcast as `dim` says (a `BroadcastType`)."""
def mul_tiles_bcast_cols(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] * column 0 of icb1[itile1]."""
def mul_tiles_bcast_cols_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_tiles_bcast_rows(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] * row 0 of icb1[itile1]."""
def mul_tiles_bcast_rows_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_tiles_bcast_scalar(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] * element (0, 0) of icb1[itile1]."""
def mul_tiles_bcast_scalar_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def mul_tiles_init(icb0: Any = ..., icb1: Any = ..., acc_to_dest: Any = ...) -> Any:
    """Configure `mul_tiles`; `acc_to_dest`: results are added to Dst."""
def mul_uint16_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mul_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def mul_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mul_unary_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * a (x of Dst[idst], in place)."""
def mul_unary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def mulsi3(a: Any, b: Any) -> Any:
    """Product of two integers."""
my_x: Any
my_y: Any
def ncrisc_noc_read_with_transaction_id_flushed(noc: Any, transaction_id: Any) -> Any:
    """1 if the reads of a transaction id have ended, else 0; does not wait."""
def ne_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ne_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ne_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def ne_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def ne_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def negative_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: -x (x of Dst[idst], in place)."""
def negative_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def negative_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: -x (x of Dst[idst], in place)."""
def negative_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def negative_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: -x (x of Dst[idst], in place)."""
def nez_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 (x of Dst[idst], in place)."""
def nez_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def nez_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 (x of Dst[idst], in place)."""
def nez_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def nez_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 (x of Dst[idst], in place)."""
def nez_tile_uint16(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 in 16 bits (x of Dst[idst], in place)."""
def nez_tile_uint32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 (x of Dst[idst], in place)."""
def nez_uint16_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 in 16 bits (x of Dst[idst], in place)."""
def nez_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def nez_uint32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != 0 (x of Dst[idst], in place)."""
def nez_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def noc_async_atomic_barrier(noc: Any = ...) -> Any:
    """Wait until all atomics are acknowledged."""
def noc_async_full_barrier(noc: Any = ...) -> Any:
    """Wait for reads, writes and atomics."""
def noc_async_posted_writes_flushed(noc: Any = ...) -> Any:
    """Wait until all posted writes have left the core."""
def noc_async_read(src: Any, dst: Any, size: Any, noc: Any = ..., read_req_vc: Any = ..., max_page_size: Any = ...) -> Any:
    """Read `size` bytes from a NoC address into L1, in packets of up to `NOC_MAX_BURST_SIZE` bytes."""
def noc_async_read_barrier(noc: Any = ...) -> Any:
    """Wait until the data of all reads of this core on that NoC are in L1."""
def noc_async_read_barrier_with_trid(trid: Any, noc: Any = ...) -> Any:
    """Wait for the reads of transaction id `trid`."""
def noc_async_read_inc_num_issued(count: Any, noc: Any = ...) -> Any:
    """Count `count` reads that were issued with `inc_num_issued=0`."""
def noc_async_read_one_packet(src: Any, dst: Any, size: Any, noc: Any = ..., read_req_vc: Any = ...) -> Any:
    """Read at most one packet."""
def noc_async_read_one_packet_set_state(src: Any, size: Any, noc: Any = ..., vc: Any = ..., use_vc: Any = ...) -> Any:
    """Set target tile and size for `..._with_state`."""
def noc_async_read_one_packet_with_state(src: Any, dst: Any, noc: Any = ..., inc_num_issued: Any = ...) -> Any:
    """Read from offset `src` of the target tile, with the size set."""
def noc_async_read_one_packet_with_state_with_trid(src_base: Any, src_offset: Any, dst: Any, trid: Any = ..., noc: Any = ...) -> Any:
    """Read from `src_base + src_offset` of the target tile under id `trid`."""
def noc_async_read_page(id: Any, gen: Any, dst: Any, offset: Any = ..., noc: Any = ...) -> Any:
    """Read page `id` of an address generator or tensor accessor."""
def noc_async_read_set_state(src: Any, noc: Any = ...) -> Any:
    """Set the target tile for `noc_async_read_with_state`."""
def noc_async_read_set_trid(trid: Any, noc: Any = ...) -> Any:
    """Give later reads of this kernel transaction id `trid` (0 to 15)."""
def noc_async_read_shard(shard_id: Any, gen: Any, dst: Any, noc: Any = ...) -> Any:
    """Read shard `shard_id` of a tensor accessor in one piece."""
def noc_async_read_tile(id: Any, gen: Any, dst: Any, offset: Any = ..., noc: Any = ...) -> Any:
    """Older name of `noc_async_read_page`."""
def noc_async_read_tile_dram_sharded_set_state(bank_base_address: Any, page_size: Any, bank_id: Any = ..., vc: Any = ..., noc: Any = ..., use_vc: Any = ...) -> Any:
    """Set DRAM bank and page size; returns the offset in the bank."""
def noc_async_read_tile_dram_sharded_with_state(src_base: Any, src_offset: Any, dst: Any, noc: Any = ...) -> Any:
    """Read a page of the bank set, from `src_base + src_offset`."""
def noc_async_read_tile_dram_sharded_with_state_with_trid(src_base: Any, src_offset: Any, dst: Any, trid: Any = ..., noc: Any = ...) -> Any:
    """Read a page of the bank set under id `trid`."""
def noc_async_read_with_state(src: Any, dst: Any, size: Any, noc: Any = ..., inc_num_issued: Any = ...) -> Any:
    """Read from offset `src` of the target tile."""
def noc_async_write(src: Any, dst: Any, size: Any, noc: Any = ..., vc: Any = ..., max_page_size: Any = ..., posted: Any = ...) -> Any:
    """Write `size` bytes of L1 to a NoC address, in packets of up to `NOC_MAX_BURST_SIZE` bytes."""
def noc_async_write_barrier(noc: Any = ...) -> Any:
    """Wait until all non-posted writes are acknowledged."""
def noc_async_write_barrier_with_trid(trid: Any, noc: Any = ...) -> Any:
    """Wait until the writes of transaction id `trid` are acknowledged."""
def noc_async_write_flushed_with_trid(trid: Any, noc: Any = ...) -> Any:
    """Wait until the writes of transaction id `trid` have left the core."""
def noc_async_write_multicast(src: Any, dst: Any, size: Any, num_dests: Any, linked: Any = ..., noc: Any = ...) -> Any:
    """Write to the same L1 address on `num_dests` cores of a rectangle, without the sender."""
def noc_async_write_multicast_loopback_src(src: Any, dst: Any, size: Any, num_dests: Any, linked: Any = ..., noc: Any = ...) -> Any:
    """As `noc_async_write_multicast`, with the sender, which counts in `num_dests`."""
def noc_async_write_multicast_one_packet(src: Any, dst: Any, size: Any, num_dests: Any, linked: Any = ..., noc: Any = ...) -> Any:
    """As `noc_async_write_multicast`, at most one packet."""
def noc_async_write_one_packet(src: Any, dst: Any, size: Any, noc: Any = ..., vc: Any = ..., posted: Any = ...) -> Any:
    """Write at most one packet."""
def noc_async_write_one_packet_set_state(dst: Any, size: Any, noc: Any = ..., vc: Any = ..., posted: Any = ...) -> Any:
    """Set target tile and size for `..._with_state`."""
def noc_async_write_one_packet_with_state(src: Any, dst: Any, noc: Any = ..., posted: Any = ...) -> Any:
    """Write to offset `dst` of the target tile, with the size set."""
def noc_async_write_one_packet_with_trid(src: Any, dst: Any, size: Any, trid: Any, noc: Any = ..., vc: Any = ..., posted: Any = ...) -> Any:
    """Write at most one packet under transaction id `trid`."""
def noc_async_write_one_packet_with_trid_set_state(dst: Any, noc: Any = ..., vc: Any = ..., posted: Any = ...) -> Any:
    """Set the target tile for `..._with_trid_with_state`."""
def noc_async_write_one_packet_with_trid_with_state(src: Any, dst: Any, size: Any, trid: Any, noc: Any = ...) -> Any:
    """Write to offset `dst` of the target tile under transaction id `trid`."""
def noc_async_write_page(id: Any, gen: Any, src: Any, size: Any = ..., offset: Any = ..., noc: Any = ...) -> Any:
    """Write page `id` of an address generator or tensor accessor; `size` 0 is a whole page."""
def noc_async_write_set_trid(trid: Any, noc: Any = ...) -> Any:
    """Give later writes of this kernel transaction id `trid` (0 to 15)."""
def noc_async_write_shard(shard_id: Any, gen: Any, src: Any, noc: Any = ...) -> Any:
    """Write shard `shard_id` of a tensor accessor in one piece."""
def noc_async_write_tile(id: Any, gen: Any, src: Any, noc: Any = ...) -> Any:
    """Older name of `noc_async_write_page`, whole pages only."""
def noc_async_writes_flushed(noc: Any = ...) -> Any:
    """Wait until all writes have left the core, so that their sources may change."""
noc_index: Any
def noc_inline_dw_write(addr: Any, val: Any, be: Any = ..., noc: Any = ..., vc: Any = ..., posted: Any = ...) -> Any:
    """Write the 4 bytes of `val` to a NoC address; `be` enables bytes."""
def noc_semaphore_inc(addr: Any, incr: Any, noc: Any = ..., vc: Any = ..., posted: Any = ...) -> Any:
    """Add `incr` to a semaphore at a NoC address."""
def noc_semaphore_inc_multicast(addr: Any, incr: Any, num_dests: Any, noc: Any = ...) -> Any:
    """Add `incr` to a semaphore on `num_dests` cores of a rectangle."""
def noc_semaphore_set(sem_addr: Any, val: Any) -> Any:
    """Set this core's semaphore to `val`."""
def noc_semaphore_set_multicast(src: Any, dst: Any, num_dests: Any, linked: Any = ..., noc: Any = ...) -> Any:
    """Copy this core's semaphore to `num_dests` cores of a rectangle, without the sender."""
def noc_semaphore_set_multicast_loopback_src(src: Any, dst: Any, num_dests: Any, linked: Any = ..., noc: Any = ...) -> Any:
    """As `noc_semaphore_set_multicast`, with the sender."""
def noc_semaphore_set_remote(src: Any, dst: Any, noc: Any = ...) -> Any:
    """Copy this core's semaphore at `src` to a NoC address."""
def noc_semaphore_wait(sem_addr: Any, val: Any) -> Any:
    """Wait until this core's semaphore equals `val`."""
def noc_semaphore_wait_min(sem_addr: Any, val: Any) -> Any:
    """Wait until this core's semaphore is at least `val`."""
def pack_block(idst: Any, ocb: Any, ntiles: Any) -> Any:
    """Another name of `pack_tile_block`."""
def pack_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def pack_reconfig_data_format(*arguments: Any, **options: Any) -> Any:
    """Configure the units for other data formats."""
def pack_reconfig_l1_acc(enable: Any) -> Any:
    """1: the packer adds to what L1 holds; 0: it overwrites."""
def pack_relu_config(relu_type: Any, threshold: Any = ...) -> Any:
    """Let the packer apply a ReLU (a `ReluType`, with its threshold) to what it packs."""
def pack_tile(idst: Any, ocb: Any, output_tile_index: Any = ..., out_of_order_output: Any = ...) -> Any:
    """Pack Dst[idst] to the next reserved page, or to page `output_tile_index` with `out_of_order_output`."""
def pack_tile_block(idst: Any, ocb: Any, ntiles: Any) -> Any:
    """Pack `ntiles` tiles from Dst[idst] on."""
def pack_untilize_block(icb: Any, block_rt_dim: Any, ocb: Any, block_c_index: Any = ..., block_ct_dim: Any = ..., full_ct_dim: Any = ...) -> Any:
    """Untilize `block_rt_dim` rows of `block_ct_dim` tiles each."""
def pack_untilize_dest(ocb: Any, block_rt_dim: Any = ..., block_c_index: Any = ..., block_ct_dim: Any = ..., full_ct_dim: Any = ...) -> Any:
    """Pack the tiles in Dst as rows."""
def pack_untilize_dest_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def pack_untilize_dst(ocb: Any, block_rt_dim: Any = ..., block_c_index: Any = ..., block_ct_dim: Any = ..., full_ct_dim: Any = ...) -> Any:
    """Older name of `pack_untilize_dest`."""
def pack_untilize_dst_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def pack_untilize_init(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def pack_untilize_uninit(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def power_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x ** y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def power_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def power_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x ** a (x of Dst[idst], in place)."""
def power_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def prelu_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if x >= 0 else a * x (x of Dst[idst], in place)."""
def prelu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def print_full_tile(cb: Any, tile_id: Any = ..., untilize: Any = ...) -> Any:
    """Print a tile behind the pointer of a circular buffer, a line for each row (docs/debugging.md)."""
def print_tile_rows(cb: Any, tile_id: Any, untilize: Any = ..., start_row: Any = ..., end_row: Any = ..., start_col: Any = ..., end_col: Any = ...) -> Any:
    """Print rows and columns of a tile behind the pointer of a circular buffer."""
def quickgelu_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * sigmoid(1.702 * x) (x of Dst[idst], in place)."""
def quickgelu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rdiv_floor_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a / x, rounded down (x of Dst[idst], in place)."""
def rdiv_floor_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rdiv_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a / x (x of Dst[idst], in place)."""
def rdiv_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rdiv_trunc_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a / x, rounded towards 0 (x of Dst[idst], in place)."""
def rdiv_trunc_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def read_tile_value(cb: Any, tile: Any, element: Any) -> Any:
    """32-bit element `element` of tile `tile`, counted from the front; the unpack thread tells the others."""
def recip_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 / x (x of Dst[idst], in place)."""
def recip_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def reconfig_data_format(*arguments: Any, **options: Any) -> Any:
    """Configure the units for other data formats."""
def reconfig_data_format_srca(*arguments: Any, **options: Any) -> Any:
    """Configure the units for other data formats."""
def reconfig_data_format_srcb(*arguments: Any, **options: Any) -> Any:
    """Configure the units for other data formats."""
def reconfig_full_operand(*arguments: Any, **options: Any) -> Any:
    """Configure the units for other data formats."""
def reconfigure_unary_bcast(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def reduce_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def reduce_init_delta(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def reduce_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def reduce_revert_delta(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def reduce_tile(icb: Any, icb_scaler: Any, itile: Any, itile_scaler: Any, idst: Any, pool: Any = ..., dim: Any = ...) -> Any:
    """Reduce icb[itile] along `dim` into Dst[idst], scaled by the scaler tile."""
def reduce_tile_math(idst: Any, num_faces: Any = ..., pool: Any = ..., dim: Any = ...) -> Any:
    """The math thread's part of `reduce_tile` alone."""
def reduce_uninit(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def release_dst() -> Any:
    """`tile_regs_commit` and `tile_regs_release` in one call."""
def relu_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, 0) (x of Dst[idst], in place)."""
def relu_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_max_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(max(x, 0), n) (x of Dst[idst], in place)."""
def relu_max_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_max_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(max(x, 0), a) (x of Dst[idst], in place)."""
def relu_max_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_max_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(max(x, 0), n) (x of Dst[idst], in place)."""
def relu_max_tile_uint16(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n), without sign (x of Dst[idst], in place)."""
def relu_max_tile_uint32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n), without sign (x of Dst[idst], in place)."""
def relu_max_uint16_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n), without sign (x of Dst[idst], in place)."""
def relu_max_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_max_uint32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n), without sign (x of Dst[idst], in place)."""
def relu_max_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_min_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n) (x of Dst[idst], in place)."""
def relu_min_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_min_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, a) (x of Dst[idst], in place)."""
def relu_min_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_min_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n) (x of Dst[idst], in place)."""
def relu_min_tile_uint16(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n), without sign (x of Dst[idst], in place)."""
def relu_min_tile_uint32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n), without sign (x of Dst[idst], in place)."""
def relu_min_uint16_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n), without sign (x of Dst[idst], in place)."""
def relu_min_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_min_uint32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n), without sign (x of Dst[idst], in place)."""
def relu_min_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, 0) (x of Dst[idst], in place)."""
def relu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def relu_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, 0) (x of Dst[idst], in place)."""
def remainder_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, with the sign of y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def remainder_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def remainder_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, with the sign of y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def remainder_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def remainder_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod a, with the sign of a (x of Dst[idst], in place)."""
def remainder_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def remainder_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, with the sign of y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def remainder_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod n, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def remainder_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x mod y, without sign (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def remainder_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def remainder_unary_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def right_shift_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >> n, with the sign (x of Dst[idst], in place)."""
def right_shift_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def riscv_nop(count: Any = ...) -> Any:
    """`count` instructions that do nothing, 4 bytes of code each; the count is a constant."""
def riscv_wait(cycles: Any) -> Any:
    """Spin for `cycles` cycles."""
def round_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x rounded to n decimals, half to even (x of Dst[idst], in place)."""
def round_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rounding_op_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rpow_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a ** x (x of Dst[idst], in place)."""
def rpow_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsqrt_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 / sqrt(x) (x of Dst[idst], in place)."""
def rsqrt_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y - x (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def rsub_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y - x (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def rsub_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a - x (x of Dst[idst], in place)."""
def rsub_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y - x (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def rsub_tile_uint16(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y - x modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def rsub_uint16_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y - x modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def rsub_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_unary_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: n - x (x of Dst[idst], in place)."""
def rsub_unary_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_unary_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a - x (x of Dst[idst], in place)."""
def rsub_unary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def rsub_unary_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: n - x (x of Dst[idst], in place)."""
def selu_tile(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: a * (x if x >= 0 else b * (exp(x) - 1)) (x of Dst[idst], in place)."""
def selu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sfpu_reduce(idst: Any, pool: Any = ..., dim: Any = ..., data_format: Any = ...) -> Any:
    """Reduce Dst[idst] in place on the vector unit: numbers, or with a `data_format` of integers these."""
def sfpu_reduce_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sigmoid_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 / (1 + exp(-x)) (x of Dst[idst], in place)."""
def sigmoid_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sign_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: -1, 0 or 1 (x of Dst[idst], in place)."""
def sign_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def signbit_int32_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 if x < 0, else 0 (x of Dst[idst], in place)."""
def signbit_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def signbit_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 if the sign is set, else 0 (x of Dst[idst], in place)."""
def signbit_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def signbit_tile_int32(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: 1 if x < 0, else 0 (x of Dst[idst], in place)."""
def silu_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * sigmoid(x) (x of Dst[idst], in place)."""
def silu_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sin_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: sin(x) (x of Dst[idst], in place)."""
def sin_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sinh_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: sinh(x) (x of Dst[idst], in place)."""
def sinh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def softplus_tile(idst: Any, param0: Any, param1: Any, param2: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if a * x > c else ln(1 + exp(a * x)) * b (x of Dst[idst], in place)."""
def softplus_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def softshrink_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - a above a, x + a below -a, else 0 (x of Dst[idst], in place)."""
def softshrink_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def softsign_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x / (1 + |x|) (x of Dst[idst], in place)."""
def softsign_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sqrt_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: sqrt(x) (x of Dst[idst], in place)."""
def sqrt_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def square_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * x (x of Dst[idst], in place)."""
def square_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_bcast_cols_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_bcast_cols_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_bcast_rows_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_bcast_rows_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_bcast_scalar_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_bcast_scalar_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_init(icb0: Any = ..., icb1: Any = ..., acc_to_dest: Any = ...) -> Any:
    """Another name of `sub_tiles_init`."""
def sub_int32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_int_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_int_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_reuse_dest_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_reuse_dest_tiles(icb: Any, itile: Any, idst: Any, binary_reuse_dest: Any = ...) -> Any:
    """Dst[idst] = a - b, where one operand is Dst[idst], the other icb[itile]."""
def sub_tile_int(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_tile_int32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_tile_uint16(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_tile_uint32(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_tiles(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] - icb1[itile1]."""
def sub_tiles_bcast(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any, dim: Any = ...) -> Any:
    """Dst[idst] = icb0[itile0] - icb1[itile1], broadcast as `dim` says (a `BroadcastType`)."""
def sub_tiles_bcast_cols(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] - column 0 of icb1[itile1]."""
def sub_tiles_bcast_cols_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_tiles_bcast_rows(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] - row 0 of icb1[itile1]."""
def sub_tiles_bcast_rows_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_tiles_bcast_scalar(icb0: Any, icb1: Any, itile0: Any, itile1: Any, idst: Any) -> Any:
    """Dst[idst] = icb0[itile0] - element (0, 0) of icb1[itile1]."""
def sub_tiles_bcast_scalar_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def sub_tiles_init(icb0: Any = ..., icb1: Any = ..., acc_to_dest: Any = ...) -> Any:
    """Configure `sub_tiles`; `acc_to_dest`: results are added to Dst."""
def sub_uint16_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y modulo 2**16 (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_uint16_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_uint32_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - y (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def sub_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_unary_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - n (x of Dst[idst], in place)."""
def sub_unary_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_unary_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - a (x of Dst[idst], in place)."""
def sub_unary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def sub_unary_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - n (x of Dst[idst], in place)."""
def tan_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: tan(x) (x of Dst[idst], in place)."""
def tan_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def tanh_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: tanh(x) (x of Dst[idst], in place)."""
def tanh_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def tanhshrink_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x - tanh(x) (x of Dst[idst], in place)."""
def tanhshrink_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def threshold_tile(idst: Any, param0: Any, param1: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x if x > a else b (x of Dst[idst], in place)."""
def threshold_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def tile_regs_acquire() -> Any:
    """Wait for a free section of Dst and take it for math."""
def tile_regs_commit() -> Any:
    """Hand the section to the pack thread."""
def tile_regs_release() -> Any:
    """Give the section back to math."""
def tile_regs_wait() -> Any:
    """Wait until math has committed a section."""
def tilize_block(icb: Any, block: Any, ocb: Any, input_tile_index: Any = ..., output_tile_index: Any = ...) -> Any:
    """Tilize a row of `block` tiles."""
def tilize_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def tilize_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def tilize_init_short_with_dt(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def tilize_uninit(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def tilize_uninit_with_dt(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def transpose_dest(idst: Any) -> Any:
    """Transpose Dst[idst] in place."""
def transpose_dest_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def transpose_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def transpose_tile(icb: Any, itile: Any, idst: Any) -> Any:
    """Dst[idst] = icb[itile], transposed."""
def transpose_wh_init(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def transpose_wh_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def transpose_wh_tile(icb: Any, itile: Any, idst: Any) -> Any:
    """Older name of `transpose_tile`."""
def trunc_tile(idst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x rounded towards 0 (x of Dst[idst], in place)."""
def trunc_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def tt_instruction(name: Any, count: Any = ...) -> Any:
    """Push `count` instructions of the coprocessor, by literal name."""
def typecast_tile(idst: Any, in_dtype: Any, out_dtype: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x of format `in_dtype` as one of `out_dtype` (x of Dst[idst], in place)."""
def typecast_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
uint16: Any
uint32: Any
uint8: Any
def unary_bcast(icb: Any, itile: Any, idst: Any, bcast_type: Any = ...) -> Any:
    """Dst[idst] = icb[itile], its first row, column or element broadcast."""
def unary_bcast_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def unary_bcast_uninit(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def unary_eq_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == n (x of Dst[idst], in place)."""
def unary_eq_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_eq_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == a (x of Dst[idst], in place)."""
def unary_eq_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_eq_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x == n (x of Dst[idst], in place)."""
def unary_ge_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= n (x of Dst[idst], in place)."""
def unary_ge_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_ge_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= a (x of Dst[idst], in place)."""
def unary_ge_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_ge_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x >= n (x of Dst[idst], in place)."""
def unary_gt_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > n (x of Dst[idst], in place)."""
def unary_gt_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_gt_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > a (x of Dst[idst], in place)."""
def unary_gt_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_gt_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x > n (x of Dst[idst], in place)."""
def unary_le_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= n (x of Dst[idst], in place)."""
def unary_le_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_le_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= a (x of Dst[idst], in place)."""
def unary_le_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_le_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x <= n (x of Dst[idst], in place)."""
def unary_lt_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < n (x of Dst[idst], in place)."""
def unary_lt_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_lt_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < a (x of Dst[idst], in place)."""
def unary_lt_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_lt_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x < n (x of Dst[idst], in place)."""
def unary_max_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n) (x of Dst[idst], in place)."""
def unary_max_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_max_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, a) (x of Dst[idst], in place)."""
def unary_max_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_max_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n) (x of Dst[idst], in place)."""
def unary_max_tile_uint32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n), without sign (x of Dst[idst], in place)."""
def unary_max_uint32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: max(x, n), without sign (x of Dst[idst], in place)."""
def unary_max_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_min_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n) (x of Dst[idst], in place)."""
def unary_min_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_min_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, a) (x of Dst[idst], in place)."""
def unary_min_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_min_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n) (x of Dst[idst], in place)."""
def unary_min_tile_uint32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n), without sign (x of Dst[idst], in place)."""
def unary_min_uint32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: min(x, n), without sign (x of Dst[idst], in place)."""
def unary_min_uint32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_ne_int32_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != n (x of Dst[idst], in place)."""
def unary_ne_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_ne_tile(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != a (x of Dst[idst], in place)."""
def unary_ne_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def unary_ne_tile_int32(idst: Any, param0: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x != n (x of Dst[idst], in place)."""
def unary_op_init_common(*arguments: Any, **options: Any) -> Any:
    """Write the whole configuration of the units."""
def untilize_block(icb: Any, full_ct_dim: Any, ocb: Any, block_ct_dim: Any = ...) -> Any:
    """Untilize a row of `full_ct_dim` tiles."""
def untilize_init(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def untilize_init_short(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def untilize_uninit(*arguments: Any, **options: Any) -> Any:
    """Configure the units for another operation."""
def where_int32_tile(idst0: Any, idst1: Any, idst2: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y if x != 0 else z, x an integer (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def where_int32_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def where_tile(idst0: Any, idst1: Any, idst2: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y if x != 0 else z (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def where_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
def where_tile_int32(idst0: Any, idst1: Any, idst2: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: y if x != 0 else z, x an integer (x, y, z of Dst[idst0], Dst[idst1], Dst[idst2], to Dst[odst])."""
def xlogy_binary_tile(idst0: Any, idst1: Any, odst: Any, approx: Any = ..., vector_mode: Any = ...) -> Any:
    """Vector unit: x * ln(y) (x of Dst[idst0], y of Dst[idst1], to Dst[odst])."""
def xlogy_binary_tile_init(*arguments: Any, **options: Any) -> Any:
    """Prepare the vector unit for the function."""
class DataFormat:
    Float32: int
    Float16: int
    Bfp8: int
    Bfp4: int
    Tf32: int
    Float16_b: int
    Bfp8_b: int
    Bfp4_b: int
    Int32: int
    UInt16: int
    Lf8: int
    Bfp2: int
    Int8: int
    Bfp2_b: int
    UInt32: int
    Fp8_e4m3: int
    UInt8: int
    RawUInt8: int
    RawUInt16: int
    RawUInt32: int
    Invalid: int
class EltwiseBinaryType:
    ELWADD: int
    ELWSUB: int
    ELWMUL: int
class BroadcastType:
    NONE: int
    COL: int
    ROW: int
    SCALAR: int
class PoolType:
    SUM: int
    AVG: int
    MAX: int
    MIN: int
class ReduceDim:
    REDUCE_ROW: int
    REDUCE_COL: int
    REDUCE_SCALAR: int
class EltwiseBinaryReuseDestType:
    NONE: int
    DEST_TO_SRCA: int
    DEST_TO_SRCB: int
class ReluType:
    NO_RELU: int
    ZERO_RELU: int
    MIN_THRESHOLD_RELU: int
    MAX_THRESHOLD_RELU: int
class MathFidelity:
    LoFi: int
    HiFi2: int
    HiFi3: int
    HiFi4: int
class ThreadId:
    UnpackThreadId: int
    MathThreadId: int
    PackThreadId: int
NOC_0: int
NOC_1: int
DYNAMIC_VC: int
SUM: int
AVG: int
MAX: int
MIN: int
REDUCE_ROW: int
REDUCE_COL: int
REDUCE_SCALAR: int
ELWADD: int
ELWSUB: int
ELWMUL: int
BCAST_NONE: int
BCAST_COL: int
BCAST_ROW: int
BCAST_SCALAR: int
DEST_TO_SRCA: int
DEST_TO_SRCB: int

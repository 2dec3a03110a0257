"""tt-metal's names of headers.

`FORWARD`, `COMPUTE`: they stand for the one header that has all that a kernel of its processor can call.  `SPECIAL`: for
that and one more.  `REFUSED`: what they offer is not modelled; a kernel that includes one is refused by name.
"""

from tensim.sim.cores.riscv import call_headers
from tensim.sim.cores.riscv.refusals import ADVICE

FORWARD = """
    dataflow_api.h compute_kernel_api.h dataflow_api_addrgen.h debug/dprint.h debug/assert.h debug/waypoint.h
    debug/debug.h dprint.h debug_macros.h debug/dprint_tensix.h debug/dprint_pages.h debug/dprint_tile.h debug/pause.h
    debug/ring_buffer.h api/alignment.h api/compile_time_args.h api/core_local_mem.h api/dataflow/circular_buffer.h
    api/dataflow/dataflow_api.h api/dataflow/dataflow_buffer.h api/dataflow/dfb_access.h
    api/dataflow/dfb_binding_token.h api/dataflow/semaphore_binding_token.h
    api/dataflow/endpoints.h api/dataflow/noc.h api/dataflow/noc_semaphore.h
    api/debug/assert.h api/debug/dprint.h api/debug/dprint_pages.h api/debug/dprint_tensix.h api/debug/dprint_tile.h
    api/debug/device_print.h api/debug/kernel_profiler.hpp api/debug/ring_buffer.h api/debug/waypoint.h api/debug/pause.h
    api/kernel_thread_globals.h api/remote_circular_buffer.h api/scratchpad.h api/scratchpad_binding_token.h
    api/semaphore.h internal/template_string.h
    api/tensor/local_tensor_accessor.h
    api/tensor/noc_traits.h api/tensor/page.h api/tensor/tensor_binding_token.h
    api/tensor/tensor_accessor.h api/tensor/tensor_accessor_args.h
    api/dataflow/dataflow_api_addrgen.h tensor/tensor_accessor.h tensor/tensor_accessor_args.h
    accessor/tensor_accessor.h accessor/tensor_accessor_args.h remote_circular_buffer_api.h
    ckernel_ops.h ckernel_structs.h ckernel_globals.h ckernel_sfpu.h ckernel_trisc_common.h
    core_config.h cpack_common.h cunpack_common.h experimental/kernel_args.h experimental/noc.h
    experimental/blaze_named_args.h experimental/blaze_rt_arg.h
    experimental/circular_buffer.h experimental/dataflow_buffer.h experimental/core_local_mem.h
    experimental/endpoints.h experimental/noc_semaphore.h experimental/tensor.h experimental/lock.h
    experimental/semaphore.h experimental/scratchpad.h hostdevcommon/common_values.hpp hostdevcommon/kernel_structs.h
    hostdevcommon/common_runtime_address_map.h hostdevcommon/tensor_accessor/arg_config.hpp
    internal/circular_buffer_interface.h internal/circular_buffer_init.h internal/dataflow/dataflow_api_addrgen.h
    internal/mod_div_lib.h internal/risc_attribs.h internal/scoped_lock_cache_ops.h internal/tt-1xx/risc_common.h
    internal/dataflow_buffer_interface.h mod_div_lib.h risc_attribs.h risc_common.h circular_buffer.h llk_defs.h
    noc/noc_parameters.h noc_parameters.h noc_nonblocking_api.h noc_overlay_parameters.h tensix_types.h tensix.h
    tensix_functions.h data_format_derive.h firmware_common.h dev_mem_map.h dev_msgs.h hostdev/dev_msgs.h
    tools/profiler/kernel_profiler.hpp tt_metal/tools/profiler/kernel_profiler.hpp tt-metalium/buffer_types.hpp
    tt-metalium/constants.hpp api/tt-metalium/constants.hpp tt-metalium/circular_buffer_constants.h tt_stl/assert.hpp
    eth_l1_address_map.h kernel_includes.hpp chlkc_descriptors.h compile_time_args.h core_local_mem.h utils/utils.h
    tt_metal/include/compute_kernel_api.h
"""
# The fabric: only for kernels that ask, as its names fill the global namespace.  What is made of these alone (`linear/api.h`,
# `mesh/api.h`, `compile_time_arg_tmp.hpp`, muxes of the second kind) comes from the library's own folder.
FABRIC = """
    fabric/fabric_edm_packet_header.hpp fabric_edm_packet_header.hpp hostdev/fabric_edm_packet_header.hpp
    hostdevcommon/fabric_common.h tt-metalium/experimental/fabric/fabric.hpp tt-metalium/fabric_edm_packet_header.hpp
    tt-metalium/experimental/fabric/fabric_edm_types.hpp tt-metalium/fabric_edm_types.hpp
    internal/profiler/fabric_event_profiler.hpp tt_metal/fabric/hw/inc/fabric_config.h
    tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_utils.hpp
    tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp
    tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_interface.hpp
    tt_metal/fabric/hw/inc/edm_fabric/fabric_connection_manager.hpp
    tt_metal/fabric/hw/inc/edm_fabric/fabric_stream_regs.hpp hostdevcommon/fabric_mux_v2_common.h
    tt_metal/fabric/hw/inc/edm_fabric/routing_plane_connection_manager.hpp
    tt_metal/fabric/hw/inc/fabric_routing_mode.h tt_metal/fabric/hw/inc/linear/addrgen_api.h
    tt_metal/fabric/hw/inc/mesh/addrgen_api.h tt_metal/fabric/hw/inc/noc_addr.h
    tt_metal/fabric/hw/inc/packet_header_pool.h tt_metal/fabric/hw/inc/tt_fabric_api.h
    tt_metal/fabric/hw/inc/tt_fabric_mux.hpp tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp
    tt_metal/fabric/hw/inc/tt_fabric_status.h tt_metal/fabric/hw/inc/tt_fabric_utils.h
"""
# What a kernel gets only when it asks, as many kernels define functions of the same names
SPECIAL = {
    "tensim/number_order.h": "api/numeric/bfloat16.h api/numeric/float32.h api/numeric/int32.h",
    "tensim/fabric.h": FABRIC,
    "tensim/fabric_sockets.h": "api/socket_api.h socket_api.h",
    "tensim/tile_sides.h": "ckernel.h ckernel_defs.h ckernel_include.h",
}
# Below api/compute and compute_kernel_api
COMPUTE = """
    add_int_sfpu.h atan2.h bcast.h compute_kernel_api_debug.h debug/dprint_tensix.h binary_bitwise_sfpu.h
    binary_comp.h binary_fmod.h binary_max_min.h binary_pow.h binary_remainder.h binary_shift.h blank.h cb_api.h
    clamped_silu_glu.h common.h common_globals.h compute_kernel_api.h compute_kernel_hw_startup.h copy_dest_values.h
    cumsum.h debug.h div_int32_floor.h div_int32_sfpu.h eltwise_binary.h eltwise_binary_sfpu.h eltwise_unary/abs.h
    eltwise_unary/activations.h eltwise_unary/addcdiv.h eltwise_unary/addcmul.h eltwise_unary/alt_complex_rotate90.h
    eltwise_unary/binop_with_scalar.h eltwise_unary/bitwise.h eltwise_unary/bitwise_and.h
    eltwise_unary/bitwise_not.h eltwise_unary/bitwise_or.h eltwise_unary/bitwise_xor.h eltwise_unary/cbrt.h
    eltwise_unary/celu.h eltwise_unary/clamp.h eltwise_unary/comp.h eltwise_unary/digamma.h eltwise_unary/dropout.h
    eltwise_unary/eltwise_unary.h eltwise_unary/elu.h eltwise_unary/erf_erfc.h eltwise_unary/erfinv.h
    eltwise_unary/exp.h eltwise_unary/exp2.h eltwise_unary/expm1.h eltwise_unary/fill.h eltwise_unary/fmod.h
    eltwise_unary/gelu.h eltwise_unary/hardmish.h eltwise_unary/hardsigmoid.h eltwise_unary/hardswish.h
    eltwise_unary/hardtanh.h eltwise_unary/heaviside.h eltwise_unary/i0.h eltwise_unary/i1.h
    eltwise_unary/identity.h eltwise_unary/isinf_isnan.h eltwise_unary/left_shift.h eltwise_unary/lerp.h
    eltwise_unary/lgamma.h eltwise_unary/log.h eltwise_unary/log1p.h eltwise_unary/logical_not.h
    eltwise_unary/logical_not_noti.h eltwise_unary/logsigmoid.h eltwise_unary/mac.h eltwise_unary/max_min.h
    eltwise_unary/mish.h eltwise_unary/polygamma.h eltwise_unary/negative.h eltwise_unary/power.h
    eltwise_unary/prelu.h eltwise_unary/rand.h eltwise_unary/rdiv.h eltwise_unary/recip.h eltwise_unary/reduce.h
    eltwise_unary/relu.h eltwise_unary/remainder.h eltwise_unary/reverseops.h eltwise_unary/right_shift.h
    eltwise_unary/rounding.h eltwise_unary/rpow.h eltwise_unary/rsqrt.h eltwise_unary/rsub.h eltwise_unary/selu.h
    eltwise_unary/sfpu_int_sum.h eltwise_unary/sfpu_split_includes.h eltwise_unary/sigmoid.h eltwise_unary/sign.h
    eltwise_unary/shift.h eltwise_unary/signbit.h eltwise_unary/softcap.h eltwise_unary/silu.h
    eltwise_unary/snake_beta.h eltwise_unary/softplus.h eltwise_unary/softshrink.h eltwise_unary/softsign.h
    eltwise_unary/sqrt.h eltwise_unary/square.h eltwise_unary/tanh.h eltwise_unary/tanh_derivative.h
    eltwise_unary/tanhshrink.h eltwise_unary/threshold.h eltwise_unary/trigonometry.h eltwise_unary/typecast.h
    eltwise_unary/unary_max_min.h eltwise_unary/where.h eltwise_unary/xielu.h ema.h experimental/fast_untilize.h
    experimental/indexer_mul_custom.h experimental/layernorm.h experimental/matmul_custom.h experimental/reg_api.h
    experimental/sdpa_sub_custom.h experimental/topk_xl.h gcd.h isclose.h layernorm.h lcm.h logaddexp.h logaddexp2.h
    logsigmoid.h mask.h matmul.h mul_int32_sfpu.h mul_int_sfpu.h nextafter.h pack.h pack_untilize.h quantization.h
    reconfig_data_format.h reduce.h reduce_custom.h reg_api.h remainder_int32.h fmod_int32.h reshuffle.h
    sfpu_binary_bcast.h sfpu_reduce.h situ_glu.h softmax.h sub_int_sfpu.h tile_move_copy.h tilize.h topk.h topk_xl.h
    transpose.h transpose_dest.h transpose_wh.h transpose_wh_dest.h triangle_solve.h untilize.h welford.h xlogy.h
"""
# What stands behind the compute API.  Kernels and their libraries include these for parts that they may not use, so
# what is missing is refused where it is used.
INTERNAL = """
    ckernel_sfpu_binary.h ckernel_sfpu_converter.h ckernel_sfpu_copy_dest_values.h ckernel_sfpu_exp.h
    ckernel_sfpu_gelu.h ckernel_sfpu_load_config.h ckernel_sfpu_log.h ckernel_sfpu_recip.h ckernel_sfpu_rsqrt.h
    ckernel_sfpu_sigmoid.h ckernel_sfpu_silu.h ckernel_sfpu_sqrt.h experimental/llk_sfpu/ckernel_sfpu_sdpa.h
    sfpi.h ckernel_addrmod.h ckernel_template.h cmath_common.h llk_io.h llk_io_pack.h llk_io_unpack.h
    llk_math_binary_api.h llk_math_common.h llk_math_common_api.h llk_math_eltwise_binary.h
    llk_math_eltwise_binary_sfpu_macros.h llk_math_eltwise_unary_sfpu.h llk_math_eltwise_unary_sfpu_init.h
    llk_math_eltwise_unary_sfpu_macros.h llk_math_eltwise_unary_sfpu_params.h llk_math_matmul_api.h
    llk_math_reduce_api.h llk_math_unary_datacopy_api.h llk_pack_api.h llk_pack_common.h llk_pack_common_api.h
    llk_unpack_AB_api.h llk_unpack_AB_matmul_api.h llk_unpack_A_api.h llk_unpack_common.h
    llk_unpack_common_api.h lltt.h llk_math_eltwise_binary_sfpu.h llk_math_eltwise_binary_sfpu_init.h
    llk_math_eltwise_ternary_sfpu.h llk_math_eltwise_ternary_sfpu_macros.h llk_math_eltwise_unary_sfpu_silu.h
    llk_math_eltwise_binary_sfpu_binop.h llk_math_eltwise_binary_sfpu_params.h
"""
INTERNAL_TEXT = """#pragma once
#include "tensim/kernel.h"
namespace sfpi {}
namespace ckernel::sfpu {}
namespace ckernel::math {}
"""
REFUSED = {
    "fabric": """
    tt_metal/fabric/hw/inc/edm_fabric/edm_handshake.hpp tt_metal/fabric/hw/inc/udm/tt_fabric_udm.hpp
    """,
    "ethernet": """
    erisc.h ethernet/dataflow_api.h internal/ethernet/dataflow_api.h internal/ethernet/erisc.h
    internal/ethernet/tunneling.h
    """,
    "prefetcher": """
    api/dataflow/prefetcher_pipe.h experimental/gddr_dma.h
    """,
}


def forwarders():
    """{header name: text}."""
    names = FORWARD.split()
    for name in COMPUTE.split():
        names += [
            f"{folder}/{name}"
            for folder in ("api/compute", "compute_kernel_api", "tt_metal/include/compute_kernel_api")
        ]
    texts = {name: f'#pragma once\n#include "tensim/kernel.h"\n{call_headers.given_back(name)}' for name in names}
    texts |= dict.fromkeys(INTERNAL.split(), INTERNAL_TEXT)
    for header, special in SPECIAL.items():
        for name in special.split():
            texts[name] = f'#pragma once\n#include "tensim/kernel.h"\n#include "{header}"\n'
    for reason, refused in REFUSED.items():
        for name in refused.split():
            texts[name] = f'#pragma once\n#error "tensim refuses {reason}: {name}; {ADVICE[reason]}"\n'
    return texts

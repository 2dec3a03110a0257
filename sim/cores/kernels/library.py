"""API calls that are several operations, or set a state for later calls, written in the kernel language itself.

This file is parsed, never executed: the kernel compiler inlines these functions where a kernel calls them.  Names with
a leading underscore are operations that only this file may use; `state_...` are the kernel's states (`api.STATES`).
"""
# ruff: noqa: F821, F841


# --- data movement


def noc_async_read_set_trid(trid, noc=noc_index):
    state_read_trid = trid


def noc_async_write_set_trid(trid, noc=noc_index):
    state_write_trid = trid


def noc_async_read_one_packet_with_state_with_trid(src_base, src_offset, dst, trid=0, noc=noc_index):
    _read_with_trid(src_base + src_offset, dst, trid, noc)


def noc_async_read_one_packet_set_state(src, size, noc=noc_index, vc=0, use_vc=0):
    _read_set_state(src, size, noc, vc if use_vc else -1)


def noc_async_read_tile_dram_sharded_set_state(bank_base_address, page_size, bank_id=0, vc=0, noc=noc_index, use_vc=0):
    source = get_noc_addr_from_bank_id(bank_id, bank_base_address, noc)
    noc_async_read_one_packet_set_state(source, page_size, noc, vc, use_vc)
    return source & 0xFFFFFFFFF


def noc_async_read_tile_dram_sharded_with_state(src_base, src_offset, dst, noc=noc_index):
    noc_async_read_one_packet_with_state(src_base + src_offset, dst, noc)


def noc_async_read_tile_dram_sharded_with_state_with_trid(src_base, src_offset, dst, trid=0, noc=noc_index):
    _read_with_trid(src_base + src_offset, dst, trid, noc)


def get_dram_noc_addr(id, page_size, bank_base_address, offset=0, noc=noc_index):
    return get_noc_addr(id, InterleavedAddrGen(bank_base_address, page_size, dram=True), offset, noc)


def get_l1_noc_addr(id, page_size, bank_base_address, offset=0, noc=noc_index):
    return get_noc_addr(id, InterleavedAddrGen(bank_base_address, page_size, dram=False), offset, noc)


def _semaphore_up(sem_addr, noc, x, y, value=1):
    noc_semaphore_inc(get_noc_addr(x, y, sem_addr), value, noc)


def _semaphore_set_multicast(sem_addr, noc, x0, y0, x1, y1, num_dests, linked=False):
    noc_semaphore_set_multicast(sem_addr, get_noc_multicast_addr(x0, y0, x1, y1, sem_addr), num_dests, linked, noc)


def _noc_async_write_multicast(noc, src, dst, size, num_dests, linked=False):
    noc_async_write_multicast(src, dst, size, num_dests, linked, noc)


def _noc_set_async_read_state(noc, src, size):
    noc_async_read_one_packet_set_state(src, size, noc)


def _noc_async_read_with_state(noc, src, dst):
    noc_async_read_one_packet_with_state(src, dst, noc)


def mulsi3(a, b):
    return a * b


def bf16_to_fp32(bits):
    return bits << 16


def fp32_to_bf16_truncate(bits):
    return bits >> 16


def _address_of_tile(cb, tile):
    return get_read_ptr(cb) + tile * get_entry_size(cb)


def _value_of_tile(cb, tile, element):
    return l1_ptr(_address_of_tile(cb, tile), uint32)[element]


# --- compute: states that an init call sets for the calls after it


def add_tiles_init(icb0=0, icb1=0, acc_to_dest=False):
    _add_init()
    state_accumulate = acc_to_dest


def sub_tiles_init(icb0=0, icb1=0, acc_to_dest=False):
    _sub_init()
    state_accumulate = acc_to_dest


def mul_tiles_init(icb0=0, icb1=0, acc_to_dest=False):
    _mul_init()
    state_accumulate = acc_to_dest


def add_init(icb0=0, icb1=0, acc_to_dest=False):
    add_tiles_init(icb0, icb1, acc_to_dest)


def sub_init(icb0=0, icb1=0, acc_to_dest=False):
    sub_tiles_init(icb0, icb1, acc_to_dest)


def mul_init(icb0=0, icb1=0, acc_to_dest=False):
    mul_tiles_init(icb0, icb1, acc_to_dest)


def max_tile(idst0, idst1):
    binary_max_tile(idst0, idst1, idst0)


def mask_tile(idst_data, idst_mask):
    mask_binary_tile(idst_data, idst_mask, idst_data)


def matmul_tiles_math(idst):
    _math_matmul(idst)


# --- compute: pack


def pack_tile(idst, ocb, output_tile_index=0, out_of_order_output=False):
    if out_of_order_output:
        _pack(idst, ocb, output_tile_index)
    else:
        _pack(idst, ocb, -1)


def pack_relu_config(relu_type, threshold=0):
    _pack_relu(relu_type | threshold << 2)


def pack_untilize_dest(ocb, block_rt_dim=1, block_c_index=0, block_ct_dim=8, full_ct_dim=0):
    _untilize_rows(ocb, block_rt_dim, block_c_index, block_ct_dim, full_ct_dim if full_ct_dim else block_ct_dim)


def pack_untilize_dst(ocb, block_rt_dim=1, block_c_index=0, block_ct_dim=8, full_ct_dim=0):
    pack_untilize_dest(ocb, block_rt_dim, block_c_index, block_ct_dim, full_ct_dim)


def _untilize_rows(ocb, block_rt_dim, block_c_index, block_ct_dim, full_ct_dim):
    for row in range(block_rt_dim):
        out = row * full_ct_dim + block_c_index * block_ct_dim
        _pack_untilize(row * block_ct_dim, ocb, out, block_ct_dim, full_ct_dim)


# --- compute: blocks of tiles


def copy_block_matmul_partials(icb, start_in_tile_index, start_dst_tile_index, ntiles):
    for i in range(ntiles):
        copy_tile(icb, start_in_tile_index + i, start_dst_tile_index + i)


def copy_block(icb, start_in_tile_index, start_dst_tile_index, ntiles):
    copy_block_matmul_partials(icb, start_in_tile_index, start_dst_tile_index, ntiles)


def tilize_block(icb, block, ocb, input_tile_index=0, output_tile_index=0):
    _unpack_tilize(icb, input_tile_index, block, block)
    for tile in range(block):
        acquire_dst()
        _math_copy(0)
        _pack(0, ocb, output_tile_index + tile)
        release_dst()


def fast_tilize_block(icb, block, ocb, input_tile_index=0, output_tile_index=0):
    tilize_block(icb, block, ocb, input_tile_index, output_tile_index)


def untilize_block(icb, full_ct_dim, ocb, block_ct_dim=1):
    for tile in range(full_ct_dim):
        acquire_dst()
        copy_tile(icb, tile, 0)
        _pack_untilize(0, ocb, tile, 1, full_ct_dim)
        release_dst()


def pack_untilize_block(icb, block_rt_dim, ocb, block_c_index=0, block_ct_dim=8, full_ct_dim=0):
    width = full_ct_dim if full_ct_dim else block_ct_dim
    for row in range(block_rt_dim):
        acquire_dst()
        for column in range(block_ct_dim):
            copy_tile(icb, row * block_ct_dim + column, column)
        _pack_untilize(0, ocb, row * width + block_c_index * block_ct_dim, block_ct_dim, width)
        release_dst()

// The object forms of the kernel API: Noc, CircularBuffer, DataflowBuffer, Semaphore, CoreLocalMem, endpoints, arguments.
#pragma once
#include "tensim/accessors.h"

// --- circular buffers

template <class T>
class CoreLocalMem;
namespace tensim {
// What `scoped_lock` returns: it says who uses memory, and costs nothing.
struct Lock {
    uint32_t address = 0;
    TENSIM_INLINE ~Lock() {}
    TENSIM_INLINE CoreLocalMem<uint32_t> get_ptr() const;
};
}  // namespace tensim
using Lock = tensim::Lock;

enum class AddrSelector { WRITE_PTR, READ_PTR };
class CircularBuffer {
public:
    using AddrSelector = ::AddrSelector;
    TENSIM_INLINE constexpr explicit CircularBuffer(uint32_t id) : id_(id) {}
    TENSIM_INLINE constexpr CircularBuffer(tt::CBIndex id) : id_(uint32_t(id)) {}
    TENSIM_INLINE void reserve_back(int32_t pages) const { cb_reserve_back(id_, pages); }
    TENSIM_INLINE void push_back(int32_t pages) const { cb_push_back(id_, pages); }
    TENSIM_INLINE void wait_front(int32_t pages) const { cb_wait_front(id_, pages); }
    TENSIM_INLINE void pop_front(int32_t pages) const { cb_pop_front(id_, pages); }
    TENSIM_INLINE bool pages_reservable_at_back(int32_t pages) const { return cb_pages_reservable_at_back(id_, pages); }
    TENSIM_INLINE bool pages_available_at_front(int32_t pages) const { return cb_pages_available_at_front(id_, pages); }
    TENSIM_INLINE uint32_t get_write_ptr() const { return ::get_write_ptr(id_); }
    TENSIM_INLINE uint32_t get_read_ptr() const { return ::get_read_ptr(id_); }
    TENSIM_INLINE constexpr int32_t get_tile_size() const { return ::get_tile_size(id_); }
    TENSIM_INLINE constexpr uint32_t get_tile_hw() const { return ::get_tile_hw(id_); }
    TENSIM_INLINE constexpr DataFormat get_dataformat() const { return ::get_dataformat(id_); }
    TENSIM_INLINE constexpr uint32_t get_cb_id() const { return id_; }
    TENSIM_INLINE constexpr uint32_t get_id() const { return id_; }
    TENSIM_INLINE uint32_t get_entry_size() const { return tensim::buffer_word<TENSIM_CB_PAGE_SIZE>(id_); }
    TENSIM_INLINE uint32_t get_stride_size() const { return get_entry_size(); }
    TENSIM_INLINE uint32_t get_total_num_entries() const { return tensim::buffer_word<TENSIM_CB_PAGES>(id_); }
    TENSIM_INLINE uint32_t get_total_size_bytes() const { return tensim::buffer_word<TENSIM_CB_SIZE>(id_); }
    TENSIM_INLINE uint32_t get_tile_address(uint32_t tile) const;
    TENSIM_INLINE uint32_t read_tile_value(uint32_t tile, uint32_t element) const;
    // Pointers that a kernel moves itself, in the units of its processor.
    TENSIM_INLINE void evil_set_read_ptr(uint32_t pointer) const { get_local_cb_interface(id_).fifo_rd_ptr = pointer; }
    TENSIM_INLINE void evil_set_write_ptr(uint32_t pointer) const { get_local_cb_interface(id_).fifo_wr_ptr = pointer; }
    template <class... Values>
    TENSIM_INLINE tensim::Lock scoped_lock(Values...) const {
        return {};
    }
    template <class... Values>
    TENSIM_INLINE tensim::Lock scoped_write_lock(Values...) const {
        return {get_write_ptr()};
    }
    template <class... Values>
    TENSIM_INLINE tensim::Lock scoped_read_lock(Values...) const {
        return {get_read_ptr()};
    }

private:
    uint32_t id_;
};
// On these chips a dataflow buffer is a circular buffer.
class DataflowBuffer : public CircularBuffer {
public:
    TENSIM_INLINE constexpr DataflowBuffer(uint32_t id) : CircularBuffer(id) {}
    TENSIM_INLINE constexpr DataflowBuffer(tt::CBIndex id) : CircularBuffer(id) {}
    TENSIM_INLINE constexpr DataflowBuffer(BufferToken token) : CircularBuffer(token.id) {}
    TENSIM_INLINE void finish() const {}
    TENSIM_INLINE uint32_t get_local_num_entries() const { return get_total_num_entries(); }
    TENSIM_INLINE uint32_t get_local_size_bytes() const { return get_total_size_bytes(); }
    TENSIM_INLINE uint32_t get_ring_span_num_entries() const { return get_total_num_entries(); }
    TENSIM_INLINE uint32_t get_ring_span_bytes() const { return get_total_size_bytes(); }
    TENSIM_INLINE constexpr uint16_t get_producer_share() const { return 1; }
    TENSIM_INLINE constexpr uint16_t get_consumer_share() const { return 1; }
    TENSIM_INLINE constexpr uint16_t get_producer_stride_tiles() const { return 1; }
    TENSIM_INLINE constexpr uint16_t get_consumer_stride_tiles() const { return 1; }
};

template <class T>
constexpr bool is_dataflow_buffer_v = std::is_base_of_v<CircularBuffer, T>;

namespace ckernel {
// Words from one compute thread to another; a number of a thread is a ThreadId.
template <class Thread>
TENSIM_INLINE void mailbox_write(Thread receiver, uint32_t value) { tensim::post_mailbox_write(uint32_t(receiver), value); }
template <class Thread>
TENSIM_INLINE uint32_t mailbox_read(Thread sender) { return tensim::post_mailbox_read(uint32_t(sender)); }
}  // namespace ckernel
namespace tensim {
// In a compute kernel what the unpack thread finds, which tells it the others.
template <class Finds>
TENSIM_INLINE uint32_t of_unpack_thread(Finds finds) {
    if constexpr (on_math || on_pack) return mailbox_read(ThreadId::UnpackThreadId);
    uint32_t value = finds();
    if constexpr (on_unpack) {
        mailbox_write(ThreadId::MathThreadId, value);
        mailbox_write(ThreadId::PackThreadId, value);
    }
    return value;
}
TENSIM_INLINE uint32_t tile_address(uint32_t cb, uint32_t tile) {
    return buffer_word<TENSIM_CB_READ_PTR>(cb) + tile * buffer_word<TENSIM_CB_PAGE_SIZE>(cb);
}
}  // namespace tensim
// The words of a tile: byte addresses, whatever the thread.
TENSIM_INLINE uint32_t get_tile_address(uint32_t cb, uint32_t tile) {
    return tensim::of_unpack_thread([=] { return tensim::tile_address(cb, tile); });
}
TENSIM_INLINE uint32_t read_tile_value(uint32_t cb, uint32_t tile, uint32_t element) {
    return tensim::of_unpack_thread(
        [=] { return reinterpret_cast<volatile uint32_t*>(tensim::tile_address(cb, tile))[element]; });
}
TENSIM_INLINE uint32_t CircularBuffer::get_tile_address(uint32_t tile) const { return ::get_tile_address(id_, tile); }
TENSIM_INLINE uint32_t CircularBuffer::read_tile_value(uint32_t tile, uint32_t element) const {
    return ::read_tile_value(id_, tile, element);
}

namespace ckernel {
using ::get_tile_address;
using ::read_tile_value;
}  // namespace ckernel

// --- memory of the own core

template <class T>
class CoreLocalMem {
public:
    using difference_type = int32_t;
    TENSIM_INLINE explicit CoreLocalMem(uintptr_t address) : address_(address) {}
    TENSIM_INLINE explicit CoreLocalMem(T* pointer) : address_(uintptr_t(pointer)) {}
    template <class U>
    TENSIM_INLINE explicit CoreLocalMem(const CoreLocalMem<U>& other) : address_(other.get_address()) {}
    TENSIM_INLINE T& operator[](uint32_t index) const { return get_unsafe_ptr()[index]; }
    TENSIM_INLINE T& operator*() const { return *get_unsafe_ptr(); }
    TENSIM_INLINE T* operator->() const { return get_unsafe_ptr(); }
    TENSIM_INLINE T* get_unsafe_ptr() const { return reinterpret_cast<T*>(address_); }
    TENSIM_INLINE uintptr_t get_address() const { return address_; }
    TENSIM_INLINE explicit operator bool() const { return address_ != 0; }
    TENSIM_INLINE CoreLocalMem operator+(difference_type n) const { return CoreLocalMem(address_ + n * sizeof(T)); }
    TENSIM_INLINE CoreLocalMem operator-(difference_type n) const { return CoreLocalMem(address_ - n * sizeof(T)); }
    TENSIM_INLINE difference_type operator-(const CoreLocalMem& other) const {
        return difference_type(address_ - other.address_) / difference_type(sizeof(T));
    }
    TENSIM_INLINE CoreLocalMem& operator+=(difference_type n) { return address_ += n * sizeof(T), *this; }
    TENSIM_INLINE CoreLocalMem& operator-=(difference_type n) { return address_ -= n * sizeof(T), *this; }
    TENSIM_INLINE CoreLocalMem& operator++() { return *this += 1; }
    TENSIM_INLINE CoreLocalMem& operator--() { return *this -= 1; }
    TENSIM_INLINE CoreLocalMem operator++(int) { return address_ += sizeof(T), CoreLocalMem(address_ - sizeof(T)); }
    TENSIM_INLINE CoreLocalMem operator--(int) { return address_ -= sizeof(T), CoreLocalMem(address_ + sizeof(T)); }
    TENSIM_INLINE auto operator<=>(const CoreLocalMem& other) const = default;
    template <class... Values>
    TENSIM_INLINE tensim::Lock scoped_lock(Values...) const {
        return {};
    }

private:
    uintptr_t address_;
};

TENSIM_INLINE CoreLocalMem<uint32_t> tensim::Lock::get_ptr() const { return CoreLocalMem<uint32_t>(address); }

// Memory of the own core that the host has set aside.
template <class T = uint32_t>
class Scratchpad {
public:
    using element_type = T;
    using value_type = std::remove_cv_t<T>;
    using size_type = uint32_t;
    TENSIM_INLINE explicit Scratchpad(const ScratchpadBindingToken& token)
        : address_(get_common_arg_val<uint32_t>(token.address_word)), bytes_(token.bytes), format_(token.metadata.format) {}
    TENSIM_INLINE uint32_t get_base_address() const { return address_; }
    TENSIM_INLINE uint32_t size() const { return bytes_ / sizeof(T); }
    TENSIM_INLINE uint32_t size_in_bytes() const { return bytes_; }
    TENSIM_INLINE DataFormat get_dataformat() const { return DataFormat(format_); }
    TENSIM_INLINE CoreLocalMem<T> local_mem() const { return CoreLocalMem<T>(address_); }
    TENSIM_INLINE CoreLocalMem<T> begin() const { return local_mem(); }
    TENSIM_INLINE CoreLocalMem<T> end() const { return CoreLocalMem<T>(address_ + bytes_); }
    TENSIM_INLINE T& operator[](uint32_t index) const { return local_mem()[index]; }
    template <class... Values>
    TENSIM_INLINE tensim::Lock scoped_lock(Values...) const {
        return {};
    }

private:
    uint32_t address_, bytes_;
    uint8_t format_;
};

// A tensor's shard in the own core's memory.
template <class T>
class LocalTensorAccessor {
public:
    template <uint32_t cta, uint32_t address>
    TENSIM_INLINE explicit LocalTensorAccessor(tensor_accessor::TensorBindingToken<cta, address> token)
        : address_(token.address()) {
        static_assert(!token.args.is_dram, "a tensor in DRAM has no shard in the core's memory");
    }
    TENSIM_INLINE explicit LocalTensorAccessor(const tensor_accessor::NullTensorBindingToken&) : address_(0) {}
    TENSIM_INLINE explicit LocalTensorAccessor(uint32_t address) : address_(address) {}
    TENSIM_INLINE uint32_t get_bank_base_address() const { return address_; }
    TENSIM_INLINE CoreLocalMem<T> local_mem() const { return CoreLocalMem<T>(address_); }
    TENSIM_INLINE T& operator[](uint32_t index) const { return local_mem()[index]; }
    template <class... Values>
    TENSIM_INLINE tensim::Lock scoped_lock(Values...) const {
        return {};
    }

private:
    uint32_t address_;
};
template <class T, class... Tokens>
TENSIM_INLINE std::array<LocalTensorAccessor<T>, sizeof...(Tokens)> make_local_tensor_accessors(
    const std::tuple<Tokens...>& tokens) {
    return std::apply(
        [](const auto&... each) {
            return std::array<LocalTensorAccessor<T>, sizeof...(Tokens)>{LocalTensorAccessor<T>(each)...};
        },
        tokens);
}

// --- end points of transfers

struct UnicastEndpoint {
    TENSIM_INLINE uint64_t get_noc_unicast_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = noc_index) const {
        return tensim::noc_address(x, y, address);
    }
};
struct MulticastEndpoint {};
struct PrecomposedUnicastEndpoint {};
enum class AllocatorBankType { L1, DRAM };
template <AllocatorBankType type>
struct AllocatorBank {
    TENSIM_INLINE uint64_t get_noc_addr_from_bank_id(uint32_t bank, uint32_t address, uint8_t noc = noc_index) const {
        return tensim::bank_address<type == AllocatorBankType::DRAM>(bank, address, noc);
    }
};

template <class Buffer, AddrSelector selector>
struct SelectedBuffer {
    const Buffer& buffer;
};
template <AddrSelector selector, class Buffer>
TENSIM_INLINE SelectedBuffer<Buffer, selector> use(const Buffer& buffer) {
    return {buffer};
}

enum class NocOptions : uint32_t {
    DEFAULT = 0, TXN_ID = 1, POSTED = 2, CUSTOM_VC = 4, MCAST_INCL_SRC = 8, INLINE_L1 = 16, INLINE_REG = 32
};
constexpr NocOptions operator|(NocOptions a, NocOptions b) { return NocOptions(uint32_t(a) | uint32_t(b)); }
constexpr NocOptions operator&(NocOptions a, NocOptions b) { return NocOptions(uint32_t(a) & uint32_t(b)); }
struct NocOptVals {
    uint32_t vc = NOC_UNICAST_WRITE_VC;
    uint32_t trid = 0;
};

class Noc;
template <class T>
struct noc_traits_t;

namespace tensim {
constexpr bool has(NocOptions options, NocOptions flag) { return uint32_t(options) & uint32_t(flag); }
// What older releases had in place of NocOptions.
enum class TxnIdMode { ENABLED, DISABLED };
enum class ResponseMode { NON_POSTED, POSTED };
enum class BarrierMode { TXN_ID, FULL };
enum class VcSelection { DEFAULT, CUSTOM };
enum class McastMode { EXCLUDE_SRC, INCLUDE_SRC };
constexpr NocOptions flag_of(bool holds, NocOptions flag) { return holds ? flag : NocOptions::DEFAULT; }
constexpr NocOptions flag_of(NocOptions options) { return options; }
constexpr NocOptions flag_of(TxnIdMode mode) { return flag_of(mode == TxnIdMode::ENABLED, NocOptions::TXN_ID); }
constexpr NocOptions flag_of(ResponseMode mode) { return flag_of(mode == ResponseMode::POSTED, NocOptions::POSTED); }
constexpr NocOptions flag_of(BarrierMode mode) { return flag_of(mode == BarrierMode::TXN_ID, NocOptions::TXN_ID); }
constexpr NocOptions flag_of(VcSelection mode) { return flag_of(mode == VcSelection::CUSTOM, NocOptions::CUSTOM_VC); }
constexpr NocOptions flag_of(McastMode mode) { return flag_of(mode == McastMode::INCLUDE_SRC, NocOptions::MCAST_INCL_SRC); }
template <std::integral T>
constexpr NocOptions flag_of(T) {
    return NocOptions::DEFAULT;
}
// The template arguments of a transfer in any order: options and modes; the largest size of a page; tracing (a bool).
template <auto... options>
constexpr NocOptions flags = (NocOptions::DEFAULT | ... | flag_of(options));
template <class T>
constexpr uint32_t limit_of(T value) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) return value;
    else return NOC_MAX_BURST_SIZE + 1;
}
template <auto... options>
constexpr uint32_t page_limit = std::min({NOC_MAX_BURST_SIZE + 1, limit_of(options)...});
struct OffsetArgs {
    uint32_t offset_bytes = 0;
};
struct PageArgs {
    uint32_t page_id = 0, offset_bytes = 0;
};
struct UnicastArgs {
    uint32_t noc_x = 0, noc_y = 0;
    uint64_t addr = 0;
};
struct RectangleArgs {
    uint32_t noc_x_start = 0, noc_y_start = 0, noc_x_end = 0, noc_y_end = 0, addr = 0;
};
struct BufferRectangleArgs {
    uint32_t noc_x_start = 0, noc_y_start = 0, noc_x_end = 0, noc_y_end = 0, offset_bytes = 0;
};
struct BankArgs {
    uint32_t bank_id = 0, addr = 0;
};
template <class Args>
TENSIM_INLINE uint64_t rectangle(const Args& args, uint32_t address, uint8_t noc) {
    return get_noc_multicast_addr(args.noc_x_start, args.noc_y_start, args.noc_x_end, args.noc_y_end, address, noc);
}
}  // namespace tensim

class Noc {
public:
    enum class AddressType { NOC, LOCAL_L1 };
    using TxnIdMode = tensim::TxnIdMode;
    using ResponseMode = tensim::ResponseMode;
    using BarrierMode = tensim::BarrierMode;
    using VcSelection = tensim::VcSelection;
    using McastMode = tensim::McastMode;

    TENSIM_INLINE constexpr Noc() : noc_(noc_index) {}
    TENSIM_INLINE constexpr explicit Noc(uint8_t noc) : noc_(noc) {}
    TENSIM_INLINE constexpr uint8_t get_noc_id() const { return noc_; }
    TENSIM_INLINE bool is_local_bank(uint32_t x, uint32_t y) const { return x == my_x[noc_] && y == my_y[noc_]; }
    TENSIM_INLINE bool is_local_addr(uint64_t address) const {
        return is_local_bank(NOC_UNICAST_ADDR_X(address), NOC_UNICAST_ADDR_Y(address));
    }

    template <class Source>
    using SourceArgs = typename noc_traits_t<Source>::src_args_type;
    template <class Target>
    using TargetArgs = typename noc_traits_t<Target>::dst_args_type;
    template <class Target>
    using MulticastArgs = typename noc_traits_t<Target>::dst_args_mcast_type;

    template <auto... options, class Source, class Target>
    TENSIM_INLINE void async_read(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args = {},
        const TargetArgs<Target>& target_args = {}, const NocOptVals& values = {}) const {
        tensim::post_noc_read(
            remote_source(source, source_args), local_target(target, target_args), bytes, noc_,
            tensim::has(tensim::flags<options...>, NocOptions::TXN_ID) ? int32_t(values.trid) : tensim::read_trid,
            tensim::issue_of<tensim::page_limit<options...>>, tensim::has(tensim::flags<options...>, NocOptions::CUSTOM_VC) ? int32_t(values.vc) : -1);
    }
    template <auto... options, class Source, class Target>
    TENSIM_INLINE void async_write(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args = {},
        const TargetArgs<Target>& target_args = {}, const NocOptVals& values = {}) const {
        tensim::post_noc_write(
            local_source(source, source_args), remote_target(target, target_args), bytes, noc_,
            tensim::has(tensim::flags<options...>, NocOptions::TXN_ID) ? int32_t(values.trid) : tensim::write_trid,
            tensim::issue_of<tensim::page_limit<options...>>, tensim::has(tensim::flags<options...>, NocOptions::POSTED),
            tensim::has(tensim::flags<options...>, NocOptions::CUSTOM_VC) ? int32_t(values.vc) : -1);
    }
    // Older releases give the virtual channel and the transaction id as plain arguments.
    template <auto... options, class Source, class Target, std::integral Channel>
    TENSIM_INLINE void async_read(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args,
        const TargetArgs<Target>& target_args, Channel vc, uint32_t trid = 0) const {
        async_read<options...>(source, target, bytes, source_args, target_args, NocOptVals{.vc = uint32_t(vc), .trid = trid});
    }
    template <auto... options, class Source, class Target, std::integral Channel>
    TENSIM_INLINE void async_write(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args,
        const TargetArgs<Target>& target_args, Channel vc, uint32_t trid = 0) const {
        async_write<options...>(source, target, bytes, source_args, target_args, NocOptVals{.vc = uint32_t(vc), .trid = trid});
    }
    template <auto... options, class Source, std::integral Channel>
    TENSIM_INLINE void set_async_read_state(
        const Source& source, uint32_t bytes, const SourceArgs<Source>& args, Channel vc) const {
        set_async_read_state<options...>(source, bytes, args, NocOptVals{.vc = uint32_t(vc)});
    }
    template <auto... options, class Source, class Target, std::integral Channel>
    TENSIM_INLINE void async_read_with_state(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args,
        const TargetArgs<Target>& target_args, Channel vc) const {
        async_read_with_state<options...>(source, target, bytes, source_args, target_args, NocOptVals{.vc = uint32_t(vc)});
    }
    template <auto... options, class Target, std::integral Channel>
    TENSIM_INLINE void set_async_write_state(
        const Target& target, uint32_t bytes, const TargetArgs<Target>& args, Channel vc) const {
        set_async_write_state<options...>(target, bytes, args, NocOptVals{.vc = uint32_t(vc)});
    }
    template <auto... options, class Source, class Target, std::integral Channel>
    TENSIM_INLINE void async_write_with_state(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args,
        const TargetArgs<Target>& target_args, Channel vc) const {
        async_write_with_state<options...>(source, target, bytes, source_args, target_args, NocOptVals{.vc = uint32_t(vc)});
    }
    template <auto... options, std::integral Id>
    TENSIM_INLINE void async_read_barrier(Id trid) const {
        async_read_barrier<options...>(NocOptVals{.trid = uint32_t(trid)});
    }
    template <auto... options, std::integral Id>
    TENSIM_INLINE void async_write_barrier(Id trid) const {
        async_write_barrier<options...>(NocOptVals{.trid = uint32_t(trid)});
    }
    template <auto... options, std::integral Id>
    TENSIM_INLINE void async_writes_flushed(Id trid) const {
        async_writes_flushed<options...>(NocOptVals{.trid = uint32_t(trid)});
    }
    template <auto... options, class Source, class Target>
    TENSIM_INLINE void async_write_multicast(
        const Source& source, const Target& target, uint32_t bytes, uint32_t destinations,
        const SourceArgs<Source>& source_args, const MulticastArgs<Target>& target_args, bool linked = false,
        const NocOptVals& = {}) const {
        tensim::post_noc_multicast(
            local_source(source, source_args), noc_traits_t<Target>::multicast(target, target_args, noc_), bytes,
            destinations, linked, tensim::has(tensim::flags<options...>, NocOptions::MCAST_INCL_SRC), noc_);
    }
    template <auto... options, class Source>
    TENSIM_INLINE void set_async_read_state(
        const Source& source, uint32_t bytes, const SourceArgs<Source>& args = {}, const NocOptVals& values = {}) const {
        tensim::post_noc_set_state(
            0, remote_source(source, args), tensim::page_limit<options...> <= NOC_MAX_BURST_SIZE ? bytes : 0, noc_, 0,
            tensim::has(tensim::flags<options...>, NocOptions::CUSTOM_VC) ? int32_t(values.vc) : -1,
            tensim::has(tensim::flags<options...>, NocOptions::TXN_ID) ? int32_t(values.trid) : tensim::read_trid);
    }
    template <auto... options, class Source, class Target>
    TENSIM_INLINE void async_read_with_state(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args = {},
        const TargetArgs<Target>& target_args = {}, const NocOptVals& values = {}) const {
        tensim::post_noc_read_with_state(
            uint32_t(remote_source(source, source_args)), local_target(target, target_args),
            tensim::page_limit<options...> <= NOC_MAX_BURST_SIZE ? 0 : bytes, noc_,
            tensim::has(tensim::flags<options...>, NocOptions::TXN_ID) ? int32_t(values.trid) : tensim::read_trid, 1);
    }
    template <auto... options, class Target>
    TENSIM_INLINE void set_async_write_state(
        const Target& target, uint32_t bytes, const TargetArgs<Target>& args = {}, const NocOptVals& values = {}) const {
        tensim::post_noc_set_state(
            1, remote_target(target, args), tensim::page_limit<options...> <= NOC_MAX_BURST_SIZE ? bytes : 0, noc_,
            tensim::has(tensim::flags<options...>, NocOptions::POSTED),
            tensim::has(tensim::flags<options...>, NocOptions::CUSTOM_VC) ? int32_t(values.vc) : -1,
            tensim::has(tensim::flags<options...>, NocOptions::TXN_ID) ? int32_t(values.trid) : tensim::write_trid);
    }
    template <auto... options, class Source, class Target>
    TENSIM_INLINE void async_write_with_state(
        const Source& source, const Target& target, uint32_t bytes, const SourceArgs<Source>& source_args = {},
        const TargetArgs<Target>& target_args = {}, const NocOptVals& values = {}) const {
        tensim::post_noc_write_with_state(
            local_source(source, source_args), uint32_t(remote_target(target, target_args)),
            tensim::page_limit<options...> <= NOC_MAX_BURST_SIZE ? 0 : bytes, noc_,
            tensim::has(tensim::flags<options...>, NocOptions::TXN_ID) ? int32_t(values.trid) : tensim::write_trid);
    }
    template <auto... options, class Target>
    TENSIM_INLINE void inline_dw_write(
        const Target& target, uint32_t value, const TargetArgs<Target>& args = {}, uint8_t bytes = 0xF,
        const NocOptVals& values = {}) const {
        tensim::post_noc_inline_write(
            remote_target(target, args), value, bytes, noc_, tensim::has(tensim::flags<options...>, NocOptions::POSTED),
            tensim::has(tensim::flags<options...>, NocOptions::CUSTOM_VC) ? int32_t(values.vc) : -1);
    }
    // From the zeros that the firmware's map keeps: the own core's memory reads them over the NoC, to others they are written.
    template <auto... options, class Target>
    TENSIM_INLINE void async_write_zeros(
        const Target& target, uint32_t bytes, const TargetArgs<Target>& args = {}, const NocOptVals& = {}) const {
        if constexpr (requires { noc_traits_t<Target>::local_target(target, args); }) {
            const uint64_t zeros = get_noc_addr(MEM_ZEROS_BASE, noc_);
            const uint32_t to = local_target(target, args), whole = bytes - bytes % MEM_ZEROS_SIZE;
            if (whole > 0) tensim::post_noc_set_state(0, zeros, MEM_ZEROS_SIZE, noc_, 0, -1, tensim::read_trid);
            for (uint32_t done = 0; done < whole; done += MEM_ZEROS_SIZE)
                tensim::post_noc_read_with_state(uint32_t(zeros), to + done, 0, noc_, tensim::read_trid, 1);
            if (bytes > whole) noc_async_read(zeros, to + whole, bytes - whole, noc_);
        } else {
            uint64_t address = remote_target(target, args);
            for (uint32_t done = 0; done < bytes; done += MEM_ZEROS_SIZE)
                noc_async_write_one_packet(
                    MEM_ZEROS_BASE, address + done, bytes - done < MEM_ZEROS_SIZE ? bytes - done : MEM_ZEROS_SIZE, noc_);
        }
    }
    // Zeros that the kernel has put at the front of a buffer of its own.
    template <auto... options, class Target, class Zeros>
        requires requires(const Zeros& zeros) { zeros.get_read_ptr(); }
    TENSIM_INLINE void async_write_zeros(
        const Target& target, uint32_t bytes, const TargetArgs<Target>& args, const Zeros& zeros) const {
        noc_async_write(zeros.get_read_ptr(), remote_target(target, args), bytes, noc_);
    }
    TENSIM_INLINE void write_zeros_l1_barrier() const { noc_async_read_barrier(noc_); }
    TENSIM_INLINE void write_zeros_dram_barrier() const { noc_async_write_barrier(noc_); }

    template <auto... options>
    TENSIM_INLINE void async_read_barrier(const NocOptVals& values = {}) const {
        if constexpr (tensim::has(tensim::flags<options...>, NocOptions::TXN_ID)) noc_async_read_barrier_with_trid(values.trid, noc_);
        else noc_async_read_barrier(noc_);
    }
    template <auto... options>
    TENSIM_INLINE void async_write_barrier(const NocOptVals& values = {}) const {
        if constexpr (tensim::has(tensim::flags<options...>, NocOptions::TXN_ID)) noc_async_write_barrier_with_trid(values.trid, noc_);
        else noc_async_write_barrier(noc_);
    }
    template <auto... options>
    TENSIM_INLINE void async_writes_flushed(const NocOptVals& values = {}) const {
        if constexpr (tensim::has(tensim::flags<options...>, NocOptions::TXN_ID)) noc_async_write_flushed_with_trid(values.trid, noc_);
        else if constexpr (tensim::has(tensim::flags<options...>, NocOptions::POSTED)) noc_async_posted_writes_flushed(noc_);
        else noc_async_writes_flushed(noc_);
    }
    TENSIM_INLINE void async_atomic_barrier() const { noc_async_atomic_barrier(noc_); }
    TENSIM_INLINE void async_full_barrier() const { noc_async_full_barrier(noc_); }
    TENSIM_INLINE bool is_read_trid_flushed(uint32_t trid) const { return ncrisc_noc_read_with_transaction_id_flushed(noc_, trid); }

private:
    // A kernel may describe an end point of its own, in the form of the library: src_addr and dst_addr by kind of address.
    template <class T, class Args>
    TENSIM_INLINE uint64_t remote_source(const T& object, const Args& args) const {
        if constexpr (requires { noc_traits_t<T>::remote_source(object, args, noc_); })
            return noc_traits_t<T>::remote_source(object, args, noc_);
        else return noc_traits_t<T>::template src_addr<AddressType::NOC>(object, *this, args);
    }
    template <class T, class Args>
    TENSIM_INLINE uint32_t local_source(const T& object, const Args& args) const {
        if constexpr (requires { noc_traits_t<T>::local_source(object, args); })
            return noc_traits_t<T>::local_source(object, args);
        else return noc_traits_t<T>::template src_addr<AddressType::LOCAL_L1>(object, *this, args);
    }
    template <class T, class Args>
    TENSIM_INLINE uint64_t remote_target(const T& object, const Args& args) const {
        if constexpr (requires { noc_traits_t<T>::remote_target(object, args, noc_); })
            return noc_traits_t<T>::remote_target(object, args, noc_);
        else return noc_traits_t<T>::template dst_addr<AddressType::NOC>(object, *this, args);
    }
    template <class T, class Args>
    TENSIM_INLINE uint32_t local_target(const T& object, const Args& args) const {
        if constexpr (requires { noc_traits_t<T>::local_target(object, args); })
            return noc_traits_t<T>::local_target(object, args);
        else return noc_traits_t<T>::template dst_addr<AddressType::LOCAL_L1>(object, *this, args);
    }
    uint8_t noc_;
};

namespace tensim {
template <class Buffer>
struct BufferTraits {
    using src_args_type = OffsetArgs;
    using dst_args_type = OffsetArgs;
    using dst_args_mcast_type = BufferRectangleArgs;
    TENSIM_INLINE static uint32_t local_source(const Buffer& b, const OffsetArgs& a) { return b.get_read_ptr() + a.offset_bytes; }
    TENSIM_INLINE static uint32_t local_target(const Buffer& b, const OffsetArgs& a) { return b.get_write_ptr() + a.offset_bytes; }
    TENSIM_INLINE static uint64_t remote_source(const Buffer& b, const OffsetArgs& a, uint8_t noc) {
        return get_noc_addr(local_source(b, a), noc);
    }
    TENSIM_INLINE static uint64_t remote_target(const Buffer& b, const OffsetArgs& a, uint8_t noc) {
        return get_noc_addr(local_target(b, a), noc);
    }
    TENSIM_INLINE static uint64_t multicast(const Buffer& b, const BufferRectangleArgs& a, uint8_t noc) {
        return rectangle(a, b.get_write_ptr() + a.offset_bytes, noc);
    }
};
template <class Accessor>
struct AccessorTraits {
    using src_args_type = PageArgs;
    using dst_args_type = PageArgs;
    using dst_args_mcast_type = PageArgs;
    TENSIM_INLINE static uint64_t remote_source(const Accessor& t, const PageArgs& a, uint8_t noc) {
        return t.get_noc_addr(a.page_id, a.offset_bytes, noc);
    }
    TENSIM_INLINE static uint64_t remote_target(const Accessor& t, const PageArgs& a, uint8_t noc) {
        return t.get_noc_addr(a.page_id, a.offset_bytes, noc);
    }
};
// Memory of the own core that no other core writes.
template <class Memory>
struct LocalTraits {
    using src_args_type = OffsetArgs;
    using dst_args_type = OffsetArgs;
    using dst_args_mcast_type = BufferRectangleArgs;
    TENSIM_INLINE static uint32_t local_source(const Memory& m, const OffsetArgs& a) {
        return uint32_t(m.local_mem().get_address()) + a.offset_bytes;
    }
    TENSIM_INLINE static uint32_t local_target(const Memory& m, const OffsetArgs& a) { return local_source(m, a); }
};
}  // namespace tensim
template <>
struct noc_traits_t<CircularBuffer> : tensim::BufferTraits<CircularBuffer> {};
template <>
struct noc_traits_t<DataflowBuffer> : tensim::BufferTraits<DataflowBuffer> {};
template <class Buffer, AddrSelector selector>
struct noc_traits_t<SelectedBuffer<Buffer, selector>> {
    using src_args_type = tensim::OffsetArgs;
    using dst_args_type = tensim::OffsetArgs;
    using dst_args_mcast_type = tensim::BufferRectangleArgs;
    using Selected = SelectedBuffer<Buffer, selector>;
    TENSIM_INLINE static uint32_t pointer(const Selected& s) {
        if constexpr (selector == AddrSelector::WRITE_PTR) return s.buffer.get_write_ptr();
        else return s.buffer.get_read_ptr();
    }
    TENSIM_INLINE static uint32_t local_source(const Selected& s, const src_args_type& a) { return pointer(s) + a.offset_bytes; }
    TENSIM_INLINE static uint32_t local_target(const Selected& s, const src_args_type& a) { return pointer(s) + a.offset_bytes; }
    TENSIM_INLINE static uint64_t multicast(const Selected& s, const dst_args_mcast_type& a, uint8_t noc) {
        return tensim::rectangle(a, pointer(s) + a.offset_bytes, noc);
    }
};
template <class Args>
struct noc_traits_t<TensorAccessor<Args>> : tensim::AccessorTraits<TensorAccessor<Args>> {};
template <>
struct noc_traits_t<AbstractTensorAccessorWrapper> : tensim::AccessorTraits<AbstractTensorAccessorWrapper> {};
template <bool DRAM>
struct noc_traits_t<InterleavedAddrGen<DRAM>> : tensim::AccessorTraits<InterleavedAddrGen<DRAM>> {};
template <bool DRAM, uint32_t tile_hw>
struct noc_traits_t<InterleavedAddrGenFast<DRAM, tile_hw>> : tensim::AccessorTraits<InterleavedAddrGenFast<DRAM, tile_hw>> {};
template <>
struct noc_traits_t<tensor_accessor::Page> {
    using src_args_type = tensim::OffsetArgs;
    using dst_args_type = tensim::OffsetArgs;
    using dst_args_mcast_type = tensim::OffsetArgs;
    TENSIM_INLINE static uint64_t remote_source(const tensor_accessor::Page& p, const src_args_type& a, uint8_t) {
        return p.noc_addr() + a.offset_bytes;
    }
    TENSIM_INLINE static uint64_t remote_target(const tensor_accessor::Page& p, const src_args_type& a, uint8_t) {
        return p.noc_addr() + a.offset_bytes;
    }
};
template <class T>
struct noc_traits_t<CoreLocalMem<T>> {
    using src_args_type = tensim::OffsetArgs;
    using dst_args_type = tensim::OffsetArgs;
    using dst_args_mcast_type = tensim::BufferRectangleArgs;
    TENSIM_INLINE static uint32_t local_source(const CoreLocalMem<T>& m, const src_args_type& a) { return m.get_address() + a.offset_bytes; }
    TENSIM_INLINE static uint32_t local_target(const CoreLocalMem<T>& m, const src_args_type& a) { return m.get_address() + a.offset_bytes; }
    TENSIM_INLINE static uint64_t remote_source(const CoreLocalMem<T>& m, const src_args_type& a, uint8_t noc) {
        return get_noc_addr(m.get_address() + a.offset_bytes, noc);
    }
    TENSIM_INLINE static uint64_t remote_target(const CoreLocalMem<T>& m, const src_args_type& a, uint8_t noc) {
        return get_noc_addr(m.get_address() + a.offset_bytes, noc);
    }
    TENSIM_INLINE static uint64_t multicast(const CoreLocalMem<T>& m, const dst_args_mcast_type& a, uint8_t noc) {
        return tensim::rectangle(a, m.get_address() + a.offset_bytes, noc);
    }
};
template <class T>
struct noc_traits_t<Scratchpad<T>> : tensim::LocalTraits<Scratchpad<T>> {};
template <class T>
struct noc_traits_t<LocalTensorAccessor<T>> : tensim::LocalTraits<LocalTensorAccessor<T>> {};
template <>
struct noc_traits_t<UnicastEndpoint> {
    using src_args_type = tensim::UnicastArgs;
    using dst_args_type = tensim::UnicastArgs;
    using dst_args_mcast_type = tensim::RectangleArgs;
    TENSIM_INLINE static uint64_t remote_source(const UnicastEndpoint&, const src_args_type& a, uint8_t) {
        return tensim::noc_address(a.noc_x, a.noc_y, uint32_t(a.addr));
    }
    TENSIM_INLINE static uint64_t remote_target(const UnicastEndpoint&, const src_args_type& a, uint8_t) {
        return tensim::noc_address(a.noc_x, a.noc_y, uint32_t(a.addr));
    }
    TENSIM_INLINE static uint32_t local_source(const UnicastEndpoint&, const src_args_type& a) { return uint32_t(a.addr); }
    TENSIM_INLINE static uint32_t local_target(const UnicastEndpoint&, const src_args_type& a) { return uint32_t(a.addr); }
};
template <>
struct noc_traits_t<PrecomposedUnicastEndpoint> {
    struct src_args_type {
        uint64_t noc_addr = 0;
    };
    using dst_args_type = src_args_type;
    using dst_args_mcast_type = src_args_type;
    TENSIM_INLINE static uint64_t remote_source(const PrecomposedUnicastEndpoint&, const src_args_type& a, uint8_t) { return a.noc_addr; }
    TENSIM_INLINE static uint64_t remote_target(const PrecomposedUnicastEndpoint&, const src_args_type& a, uint8_t) { return a.noc_addr; }
};
template <>
struct noc_traits_t<MulticastEndpoint> {
    using src_args_type = tensim::RectangleArgs;
    using dst_args_type = tensim::RectangleArgs;
    using dst_args_mcast_type = tensim::RectangleArgs;
    TENSIM_INLINE static uint64_t multicast(const MulticastEndpoint&, const dst_args_mcast_type& a, uint8_t noc) {
        return tensim::rectangle(a, a.addr, noc);
    }
};
template <AllocatorBankType type>
struct noc_traits_t<AllocatorBank<type>> {
    using src_args_type = tensim::BankArgs;
    using dst_args_type = tensim::BankArgs;
    using dst_args_mcast_type = tensim::BankArgs;
    TENSIM_INLINE static uint64_t remote_source(const AllocatorBank<type>&, const src_args_type& a, uint8_t noc) {
        return tensim::bank_address<type == AllocatorBankType::DRAM>(a.bank_id, a.addr, noc);
    }
    TENSIM_INLINE static uint64_t remote_target(const AllocatorBank<type>&, const src_args_type& a, uint8_t noc) {
        return tensim::bank_address<type == AllocatorBankType::DRAM>(a.bank_id, a.addr, noc);
    }
};

// --- semaphores

template <ProgrammableCoreType type = ProgrammableCoreType::TENSIX>
class Semaphore {
public:
    TENSIM_INLINE explicit Semaphore(uint32_t id) : address_(get_semaphore<type>(id)) {}
    TENSIM_INLINE explicit Semaphore(SemaphoreToken token) : Semaphore(token.id) {}
    TENSIM_INLINE void up(uint32_t value) const { *pointer() = *pointer() + value; }
    TENSIM_INLINE void down(uint32_t value) const {
        noc_semaphore_wait_min(pointer(), value);
        *pointer() = *pointer() - value;
    }
    TENSIM_INLINE void set(uint32_t value) const { noc_semaphore_set(pointer(), value); }
    TENSIM_INLINE void wait(uint32_t value) const { noc_semaphore_wait(pointer(), value); }
    TENSIM_INLINE void wait_min(uint32_t value) const { noc_semaphore_wait_min(pointer(), value); }
    TENSIM_INLINE uint32_t value() const { return *pointer(); }
    TENSIM_INLINE uint32_t get_address() const { return address_; }
    TENSIM_INLINE uint32_t get_l1_address() const { return address_; }
    template <auto... options>
    TENSIM_INLINE void up(const Noc& noc, uint32_t x, uint32_t y, uint32_t value, uint8_t vc = NOC_UNICAST_WRITE_VC) const {
        tensim::post_noc_atomic_inc(
            tensim::noc_address(x, y, address_), value, noc.get_noc_id(), tensim::has(tensim::flags<options...>, NocOptions::POSTED), vc);
    }
    TENSIM_INLINE void relay_unicast(const Noc& noc, const Semaphore& target, uint32_t x, uint32_t y) const {
        noc_semaphore_set_remote(address_, tensim::noc_address(x, y, target.address_), noc.get_noc_id());
    }
    template <auto... options>
    TENSIM_INLINE void set_multicast(
        const Noc& noc, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t destinations, bool linked = false) const {
        relay_multicast<options...>(noc, *this, x0, y0, x1, y1, destinations, linked);
    }
    template <auto... options>
    TENSIM_INLINE void relay_multicast(
        const Noc& noc, const Semaphore& target, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1,
        uint32_t destinations, bool linked = false) const {
        tensim::post_noc_multicast(
            address_, get_noc_multicast_addr(x0, y0, x1, y1, target.address_), 4, destinations, linked,
            tensim::has(tensim::flags<options...>, NocOptions::MCAST_INCL_SRC), noc.get_noc_id());
    }
    template <auto... options>
    TENSIM_INLINE void inc_multicast(
        const Noc& noc, uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t value, uint32_t destinations) const {
        noc_semaphore_inc_multicast(get_noc_multicast_addr(x0, y0, x1, y1, address_), value, destinations, noc.get_noc_id());
    }

private:
    TENSIM_INLINE volatile tt_l1_ptr uint32_t* pointer() const { return reinterpret_cast<volatile uint32_t*>(address_); }
    uint32_t address_;
};

// What the objects were called while they were new.
namespace experimental {
using ::CoreLocalMem;
using ::AllocatorBank;
using ::AllocatorBankType;
using ::CircularBuffer;
using ::DataflowBuffer;
using ::Lock;
using ::MulticastEndpoint;
using ::Noc;
using ::noc_traits_t;
using ::Semaphore;
using ::UnicastEndpoint;
using ::use;
}  // namespace experimental

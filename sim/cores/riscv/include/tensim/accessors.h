// Tensor accessors: the arguments that describe a tensor's placement, and addresses of its pages and shards.
//
// Words in order: configuration; aligned page size; for a sharded tensor rank, number of banks (bit 31: shards lie one behind
// the other), tensor shape and shard shape in pages, bank coordinates (x << 8 | y, two in a word).  A word whose
// runtime bit is set stands among the common runtime arguments instead.
#pragma once
#include "tensim/bindings.h"
#include "tensim/transfers.h"

#ifndef TENSIM_ACCESSOR_PAGE_WORD
#define TENSIM_ACCESSOR_PAGE_WORD 1  // 0: arguments of releases whose accessors do not carry a page size
#endif

namespace tensor_accessor {
enum class ArgConfig : uint8_t {
    None = 0, Sharded = 1, IsDram = 2, RuntimeRank = 4, RuntimeNumBanks = 8, RuntimeTensorShape = 16,
    RuntimeShardShape = 32, RuntimeBankCoords = 64, RuntimePageSize = 128
};
constexpr uint32_t UNKNOWN = 0xFFFFFFFFu;
constexpr uint32_t CONTIGUOUS = 0x80000000u;
constexpr uint32_t MAX_RANK = 8;
constexpr uint32_t word(uint32_t index) {
    return index < tensim::compile_time_arguments() ? tensim::compile_time_argument(index) : 0;
}
}  // namespace tensor_accessor
using tensor_accessor::ArgConfig;

template <uint32_t CTA_OFFSET = 0, uint32_t CRTA_OFFSET = tensor_accessor::UNKNOWN>
struct TensorAccessorArgs {
    static constexpr uint32_t word(uint32_t index) { return tensor_accessor::word(CTA_OFFSET + index); }
    static constexpr uint32_t config = word(0);
    static constexpr bool has(ArgConfig flag) { return config & uint32_t(flag); }
    static constexpr bool is_sharded = has(ArgConfig::Sharded);
    static constexpr bool is_dram = has(ArgConfig::IsDram);
    static constexpr bool page_at_run_time = !is_sharded && has(ArgConfig::RuntimePageSize);
    static constexpr bool rank_at_run_time = is_sharded && has(ArgConfig::RuntimeRank);
    static constexpr bool banks_at_run_time = is_sharded && has(ArgConfig::RuntimeNumBanks);
    static constexpr bool tensor_at_run_time = is_sharded && has(ArgConfig::RuntimeTensorShape);
    static constexpr bool shard_at_run_time = is_sharded && has(ArgConfig::RuntimeShardShape);
    static constexpr bool coordinates_at_run_time = is_sharded && has(ArgConfig::RuntimeBankCoords);
    static constexpr bool has_page_word = TENSIM_ACCESSOR_PAGE_WORD && !page_at_run_time;

    static constexpr uint32_t rank_at = has_page_word ? 2 : 1;
    static constexpr uint32_t RankCT = is_sharded && !rank_at_run_time ? word(rank_at) : 0;
    static constexpr uint32_t banks_at = rank_at + (is_sharded && !rank_at_run_time);
    static constexpr uint32_t NumBanksCT =
        is_sharded && !banks_at_run_time ? word(banks_at) & ~tensor_accessor::CONTIGUOUS : 0;
    static constexpr bool contiguous_ct = is_sharded && !banks_at_run_time && (word(banks_at) & tensor_accessor::CONTIGUOUS);
    static constexpr uint32_t tensor_at = banks_at + (is_sharded && !banks_at_run_time);
    static constexpr uint32_t shard_at = tensor_at + (is_sharded && !tensor_at_run_time ? RankCT : 0);
    static constexpr uint32_t coordinates_at = shard_at + (is_sharded && !shard_at_run_time ? RankCT : 0);
    static constexpr uint32_t words = coordinates_at + (is_sharded && !coordinates_at_run_time ? (NumBanksCT + 1) / 2 : 0);
    static_assert(!is_sharded || words < 4096, "these compile-time arguments describe no tensor");
    static_assert(CTA_OFFSET + words <= tensim::compile_time_arguments(),
                  "the kernel reads a tensor accessor's compile-time arguments that it was not given");
    static constexpr uint32_t AlignedPageSize = has_page_word ? word(1) : 0;
    static constexpr bool is_static = !(rank_at_run_time || banks_at_run_time || tensor_at_run_time || shard_at_run_time ||
                                        coordinates_at_run_time);

    uint32_t offset = CRTA_OFFSET;  // of the common runtime arguments
    constexpr TensorAccessorArgs() = default;
    constexpr explicit TensorAccessorArgs(uint32_t common_offset) : offset(common_offset) {}

    static constexpr uint32_t num_compile_time_args() { return words; }
    static constexpr uint32_t next_compile_time_args_offset() { return CTA_OFFSET + words; }
    constexpr uint32_t crta_offset() const { return CRTA_OFFSET != tensor_accessor::UNKNOWN ? CRTA_OFFSET : offset; }
    TENSIM_INLINE uint32_t common(uint32_t index) const { return get_common_arg_val<uint32_t>(crta_offset() + index); }
    TENSIM_INLINE constexpr uint32_t get_aligned_page_size() const {
        if constexpr (page_at_run_time) return common(0);
        else return AlignedPageSize;
    }
    static constexpr uint32_t common_rank_at = page_at_run_time;
    static constexpr uint32_t common_banks_at = common_rank_at + rank_at_run_time;
    static constexpr uint32_t common_tensor_at = common_banks_at + banks_at_run_time;
    TENSIM_INLINE constexpr uint32_t get_rank() const {
        if constexpr (rank_at_run_time) return common(common_rank_at);
        else return RankCT;
    }
    TENSIM_INLINE constexpr uint32_t banks_word() const {
        if constexpr (banks_at_run_time) return common(common_banks_at);
        else return is_sharded ? word(banks_at) : 0;
    }
    TENSIM_INLINE constexpr uint32_t get_num_banks() const { return banks_word() & ~tensor_accessor::CONTIGUOUS; }
    TENSIM_INLINE constexpr bool is_contiguous() const { return banks_word() & tensor_accessor::CONTIGUOUS; }
    TENSIM_INLINE constexpr uint32_t common_shard_at() const { return common_tensor_at + (tensor_at_run_time ? get_rank() : 0); }
    TENSIM_INLINE constexpr uint32_t common_coordinates_at() const {
        return common_shard_at() + (shard_at_run_time ? get_rank() : 0);
    }
    TENSIM_INLINE constexpr uint32_t num_common_runtime_args() const {
        return common_coordinates_at() + (coordinates_at_run_time ? (get_num_banks() + 1) / 2 : 0);
    }
    TENSIM_INLINE constexpr uint32_t next_common_runtime_args_offset() const {
        return crta_offset() + num_common_runtime_args();
    }
    TENSIM_INLINE constexpr uint32_t tensor_dimension(uint32_t i) const {
        if constexpr (tensor_at_run_time) return common(common_tensor_at + i);
        else return word(tensor_at + i);
    }
    TENSIM_INLINE constexpr uint32_t shard_dimension(uint32_t i) const {
        if constexpr (shard_at_run_time) return common(common_shard_at() + i);
        else return word(shard_at + i);
    }
    // x << 8 | y of a bank
    TENSIM_INLINE constexpr uint32_t bank_coordinates(uint32_t bank) const {
        uint32_t pair = 0;
        if constexpr (coordinates_at_run_time) pair = common(common_coordinates_at() + bank / 2);
        else pair = word(coordinates_at + bank / 2);
        return bank & 1 ? pair >> 16 : pair & 0xFFFF;
    }
};

namespace tensor_accessor {
// What an accessor keeps of an interleaved tensor's description: a kernel may choose between two tensors at run time, so
// all those in one kind of memory are of one type.
template <bool dram>
struct Interleaved {
    static constexpr bool is_sharded = false, is_dram = dram, is_static = true;
    static constexpr bool rank_at_run_time = false, tensor_at_run_time = true;
    static constexpr uint32_t RankCT = 0;
    constexpr Interleaved() = default;
    template <class Args>
    constexpr Interleaved(const Args&) {}
    static constexpr uint32_t get_rank() { return 0; }
    static constexpr uint32_t get_num_banks() { return 0; }
    static constexpr bool is_contiguous() { return false; }
    static constexpr uint32_t tensor_dimension(uint32_t) { return 0; }
    static constexpr uint32_t shard_dimension(uint32_t) { return 0; }
};
template <class Args>
using Placement = std::conditional_t<Args::is_sharded, Args, Interleaved<Args::is_dram>>;

// Shapes and strides in pages; row-major, the last dimension is the innermost.
template <class Args>
struct DistributionSpec {
    static constexpr uint32_t room = Args::rank_at_run_time ? MAX_RANK : (Args::RankCT ? Args::RankCT : 1);
    using Shape = std::array<uint32_t, room>;
    static constexpr bool is_interleaved = !Args::is_sharded;
    static constexpr bool is_dram = Args::is_dram;
    static constexpr bool tensor_shape_static = !Args::tensor_at_run_time;
    uint32_t dimensions = 0, banks = 0, volume = 0, volume_of_shard = 0;
    bool contiguous = false;
    Shape tensor{}, shard{}, grid{}, strides{}, strides_of_shard{}, strides_of_grid{};
    uint32_t shards = 0;
    constexpr DistributionSpec() = default;
    TENSIM_INLINE constexpr explicit DistributionSpec(const Args& args) {
        dimensions = args.get_rank();
        banks = args.get_num_banks();
        contiguous = args.is_contiguous();
        volume = volume_of_shard = shards = 1;
        for (int i = int(dimensions) - 1; i >= 0; i--) {
            tensor[i] = args.tensor_dimension(i);
            shard[i] = args.shard_dimension(i);
            grid[i] = shard[i] ? (tensor[i] + shard[i] - 1) / shard[i] : 0;
            strides[i] = volume;
            strides_of_shard[i] = volume_of_shard;
            strides_of_grid[i] = shards;
            volume *= tensor[i];
            volume_of_shard *= shard[i];
            shards *= grid[i];
        }
    }
    TENSIM_INLINE constexpr uint32_t rank() const { return dimensions; }
    TENSIM_INLINE constexpr uint32_t num_banks() const { return banks; }
    TENSIM_INLINE constexpr const Shape& tensor_shape() const { return tensor; }
    TENSIM_INLINE constexpr const Shape& shard_shape() const { return shard; }
    TENSIM_INLINE constexpr const Shape& shard_grid() const { return grid; }
    TENSIM_INLINE constexpr const Shape& tensor_strides() const { return strides; }
    TENSIM_INLINE constexpr const Shape& shard_strides() const { return strides_of_shard; }
    TENSIM_INLINE constexpr const Shape& shard_grid_strides() const { return strides_of_grid; }
    TENSIM_INLINE constexpr uint32_t tensor_volume() const { return volume; }
    TENSIM_INLINE constexpr uint32_t shard_volume() const { return volume_of_shard; }
    TENSIM_INLINE constexpr uint32_t num_shards() const { return shards; }
    TENSIM_INLINE constexpr uint32_t shards_of_bank() const { return (shards + banks - 1) / banks; }
};

struct PageMapping {
    uint32_t bank_id = 0, bank_page_offset = 0;
};

struct Page {
    uint64_t address;
    uint32_t id;
    TENSIM_INLINE uint64_t noc_addr() const { return address; }
    TENSIM_INLINE uint64_t get_noc_addr() const { return address; }
    TENSIM_INLINE uint32_t page_id() const { return id; }
};
using PageView = Page;
// The page that an iterator points to.
struct PagePointer {
    Page page;
    TENSIM_INLINE const Page* operator->() const { return &page; }
};
}  // namespace tensor_accessor

namespace tensor_accessor {
// A tensor that the host has bound to a name: its description and the common argument that holds its address.
template <uint32_t CTA_OFFSET, uint32_t ADDRESS_BYTES>
struct TensorBindingToken {
    using args_t = TensorAccessorArgs<CTA_OFFSET, ADDRESS_BYTES / 4 + 1>;
    static constexpr args_t args{};
    static constexpr uint32_t addr_crta_offset = ADDRESS_BYTES;
    binding_details::LLKMetadata metadata{};
    TENSIM_INLINE uint32_t address() const { return get_common_arg_val<uint32_t>(ADDRESS_BYTES / 4); }
    constexpr operator args_t() const { return {}; }
};
// In its place where the host has bound nothing to a name.
struct NullTensorBindingToken {
    NullTensorBindingToken() = delete;
};
}  // namespace tensor_accessor

template <class Args>
struct TensorAccessor {
    using Spec = tensor_accessor::DistributionSpec<Args>;
    using DSpec = Spec;
    static constexpr bool is_dram = Args::is_dram;
    static constexpr bool is_sharded = Args::is_sharded;
    static constexpr bool DSpecIsStatic = Args::is_static;
    Args args;
    uint32_t bank_base_address;
    uint32_t page_size;

    template <class Description>
    TENSIM_INLINE constexpr TensorAccessor(const Description& a, size_t base, uint32_t size)
        : args(a), bank_base_address(base), page_size(size) {}
    template <class Description>
    TENSIM_INLINE constexpr TensorAccessor(const Description& a, size_t base)
        : args(a), bank_base_address(base), page_size(a.get_aligned_page_size()) {}
    template <uint32_t cta, uint32_t address>
    TENSIM_INLINE explicit TensorAccessor(tensor_accessor::TensorBindingToken<cta, address> token)
        : TensorAccessor(token.args, token.address()) {}
    TENSIM_INLINE explicit TensorAccessor(const tensor_accessor::NullTensorBindingToken&) : TensorAccessor(Args{}, 0, 0) {}

    TENSIM_INLINE constexpr uint32_t get_aligned_page_size() const {
        return align_power_of_2(page_size, tensim::page_alignment<is_dram>);
    }
    TENSIM_INLINE constexpr uint32_t get_page_size() const { return page_size; }
    TENSIM_INLINE constexpr uint32_t get_bank_base_address() const { return bank_base_address; }
    TENSIM_INLINE constexpr Spec dspec() const {
        if constexpr (DSpecIsStatic) {
            constexpr Spec spec{Args{}};
            return spec;
        } else {
            return Spec{args};
        }
    }

    // --- banks and offsets

    template <class Coordinates>
    TENSIM_INLINE tensor_accessor::PageMapping mapping_of(const Coordinates& at) const {
        auto spec = dspec();
        uint32_t shard = 0, inside = 0;
        for (uint32_t i = 0; i < spec.rank(); i++) {
            uint32_t number = uint32_t(at[i]) / spec.shard[i];
            shard += number * spec.strides_of_grid[i];
            inside += (uint32_t(at[i]) - number * spec.shard[i]) * spec.strides_of_shard[i];
        }
        return {bank_of(shard), slot_of(shard) * spec.shard_volume() + inside};
    }
    TENSIM_INLINE uint32_t bank_of(uint32_t shard) const {
        auto spec = dspec();
        return spec.contiguous ? shard / spec.shards_of_bank() : shard % spec.num_banks();
    }
    TENSIM_INLINE uint32_t slot_of(uint32_t shard) const {
        auto spec = dspec();
        return spec.contiguous ? shard % spec.shards_of_bank() : shard / spec.num_banks();
    }
    TENSIM_INLINE tensor_accessor::PageMapping get_bank_and_offset(uint32_t page) const {
        if constexpr (!is_sharded) {
            uint32_t row = page / tensim::banks<is_dram>;
            return {page - row * tensim::banks<is_dram>, row};
        } else {
            auto spec = dspec();
            std::array<uint32_t, Spec::room> at{};
            for (int i = int(spec.rank()) - 1; i > 0; i--) {
                uint32_t rest = page / spec.tensor[i];
                at[i] = page - rest * spec.tensor[i];
                page = rest;
            }
            at[0] = page;
            return mapping_of(at);
        }
    }
    TENSIM_INLINE uint64_t address_in_bank(uint32_t bank, uint32_t bytes, uint8_t noc) const {
        uint32_t place = args.bank_coordinates(bank);
        if constexpr (is_dram) return tensim::bank_address<true>(place >> 8, bank_base_address + bytes, noc);
        else return tensim::noc_address(place >> 8, place & 255, bank_base_address + bytes);
    }

    // --- addresses

    TENSIM_INLINE uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t noc = noc_index) const {
        if constexpr (!is_sharded) {
            return tensim::page_address<is_dram>(page, bank_base_address, get_aligned_page_size(), offset, noc);
        } else {
            auto found = get_bank_and_offset(page);
            return address_in_bank(found.bank_id, found.bank_page_offset * get_aligned_page_size() + offset, noc);
        }
    }
    template <class Coordinates>
        requires requires(const Coordinates& at) { at[0]; }
    TENSIM_INLINE uint64_t get_noc_addr(const Coordinates& at, uint32_t offset = 0, uint8_t noc = noc_index) const {
        auto found = mapping_of(at);
        return address_in_bank(found.bank_id, found.bank_page_offset * get_aligned_page_size() + offset, noc);
    }
    TENSIM_INLINE uint64_t get_shard_noc_addr(uint32_t shard, uint32_t offset = 0, uint8_t noc = noc_index) const {
        static_assert(is_sharded, "only a sharded tensor has shards");
        uint32_t first = slot_of(shard) * dspec().shard_volume() * get_aligned_page_size();
        return address_in_bank(bank_of(shard), first + offset, noc);
    }
    TENSIM_INLINE bool is_local_bank(uint32_t x, uint32_t y, uint8_t noc = noc_index) const {
        return x == my_x[noc] && y == my_y[noc];
    }
    TENSIM_INLINE bool is_local_addr(uint64_t address, uint8_t noc = noc_index) const {
        return is_local_bank(NOC_UNICAST_ADDR_X(address), NOC_UNICAST_ADDR_Y(address), noc);
    }
    TENSIM_INLINE bool is_local_page(uint32_t page, uint8_t noc = noc_index) const {
        return is_local_addr(get_noc_addr(page, 0, noc), noc);
    }
    TENSIM_INLINE bool is_local_shard(uint32_t shard, uint8_t noc = noc_index) const {
        return is_local_addr(get_shard_noc_addr(shard, 0, noc), noc);
    }

    // --- pages one after the other

    struct PageIterator {
        const TensorAccessor* owner;
        uint32_t at;
        uint8_t noc;
        TENSIM_INLINE tensor_accessor::Page operator*() const { return {owner->get_noc_addr(at, 0, noc), at}; }
        TENSIM_INLINE tensor_accessor::PagePointer operator->() const { return {**this}; }
        TENSIM_INLINE PageIterator& operator++() { return at++, *this; }
        TENSIM_INLINE PageIterator& operator+=(uint32_t pages) { return at += pages, *this; }
        TENSIM_INLINE bool operator!=(const PageIterator& other) const { return at != other.at; }
    };
    struct ShardPageIterator {
        const TensorAccessor* owner;
        uint32_t shard, at, step;
        uint8_t noc;
        TENSIM_INLINE uint32_t page() const {  // its number in the tensor
            auto spec = owner->dspec();
            uint32_t first = shard, rest = at, number = 0;
            for (uint32_t i = 0; i < spec.rank(); i++) {
                uint32_t outer = first / spec.strides_of_grid[i], inner = rest / spec.strides_of_shard[i];
                first -= outer * spec.strides_of_grid[i];
                rest -= inner * spec.strides_of_shard[i];
                number += (outer * spec.shard[i] + inner) * spec.strides[i];
            }
            return number;
        }
        TENSIM_INLINE bool is_padding() const {
            auto spec = owner->dspec();
            uint32_t first = shard, rest = at;
            bool outside = false;
            for (uint32_t i = 0; i < spec.rank(); i++) {
                uint32_t outer = first / spec.strides_of_grid[i], inner = rest / spec.strides_of_shard[i];
                first -= outer * spec.strides_of_grid[i];
                rest -= inner * spec.strides_of_shard[i];
                outside |= outer * spec.shard[i] + inner >= spec.tensor[i];
            }
            return outside;
        }
        TENSIM_INLINE tensor_accessor::Page operator*() const {
            return {owner->get_shard_noc_addr(shard, at * owner->get_aligned_page_size(), noc), page()};
        }
        TENSIM_INLINE void skip_padding() {
            while (at < owner->dspec().shard_volume() && is_padding()) at += step;
        }
        TENSIM_INLINE tensor_accessor::PagePointer operator->() const { return {**this}; }
        TENSIM_INLINE ShardPageIterator& operator+=(uint32_t pages) {
            at += pages * step;
            skip_padding();
            return *this;
        }
        TENSIM_INLINE ShardPageIterator& operator++() { return *this += 1; }
        TENSIM_INLINE bool operator!=(const ShardPageIterator& other) const { return at < other.at; }
    };
    template <class Iterator>
    struct Range {
        Iterator first, last;
        TENSIM_INLINE Iterator begin() const { return first; }
        TENSIM_INLINE Iterator end() const { return last; }
    };
    TENSIM_INLINE Range<PageIterator> pages(uint32_t start, uint32_t end, uint8_t noc = noc_index) const {
        return {{this, start, noc}, {this, end, noc}};
    }
    TENSIM_INLINE Range<PageIterator> pages() const { return pages(0, dspec().tensor_volume()); }
    TENSIM_INLINE Range<ShardPageIterator> strided_shard_pages(
        uint32_t shard, uint32_t start, uint32_t stride, uint32_t end = tensor_accessor::UNKNOWN,
        uint8_t noc = noc_index) const {
        uint32_t last = end == tensor_accessor::UNKNOWN ? dspec().shard_volume() : end;
        ShardPageIterator first{this, shard, start, stride, noc};
        first.skip_padding();
        return {first, {this, shard, last, stride, noc}};
    }
    TENSIM_INLINE Range<ShardPageIterator> shard_pages(
        uint32_t shard, uint32_t start = 0, uint32_t end = tensor_accessor::UNKNOWN, uint8_t noc = noc_index) const {
        return strided_shard_pages(shard, start, 1, end, noc);
    }
};
template <uint32_t cta, uint32_t crta>
TensorAccessor(const TensorAccessorArgs<cta, crta>&, size_t, uint32_t)
    -> TensorAccessor<tensor_accessor::Placement<TensorAccessorArgs<cta, crta>>>;
template <uint32_t cta, uint32_t crta>
TensorAccessor(const TensorAccessorArgs<cta, crta>&, size_t)
    -> TensorAccessor<tensor_accessor::Placement<TensorAccessorArgs<cta, crta>>>;
template <uint32_t cta, uint32_t address>
TensorAccessor(tensor_accessor::TensorBindingToken<cta, address>)
    -> TensorAccessor<tensor_accessor::Placement<typename tensor_accessor::TensorBindingToken<cta, address>::args_t>>;
TensorAccessor(const tensor_accessor::NullTensorBindingToken&) -> TensorAccessor<tensor_accessor::Interleaved<false>>;

template <class T>
constexpr bool has_get_aligned_page_size_v = requires(const T& t) { t.get_aligned_page_size(); };

// --- several tensors in a row

namespace tensor_accessor::detail {
template <uint32_t count, uint32_t cta>
constexpr uint32_t get_tensor_accessor_args_cta_offset() {
    if constexpr (count == 0) return cta;
    else return get_tensor_accessor_args_cta_offset<count - 1, TensorAccessorArgs<cta>::next_compile_time_args_offset()>();
}
template <uint32_t cta, uint32_t crta, size_t... numbers>
constexpr auto args_tuple(std::index_sequence<numbers...>) {
    return std::make_tuple(TensorAccessorArgs<get_tensor_accessor_args_cta_offset<numbers, cta>(), crta>()...);
}
}  // namespace tensor_accessor::detail
template <uint32_t count, uint32_t cta = 0, uint32_t crta = tensor_accessor::UNKNOWN>
constexpr auto make_tensor_accessor_args_tuple() {
    return tensor_accessor::detail::args_tuple<cta, crta>(std::make_index_sequence<count>());
}
// `first`: of the runtime arguments that hold addresses; `first_size`: of the compile-time ones that hold page sizes.
template <class... Args, size_t... numbers>
TENSIM_INLINE auto make_tensor_accessor_tuple_at(
    const std::tuple<Args...>& args, uint32_t first, uint32_t first_size, std::index_sequence<numbers...>) {
    return std::make_tuple(TensorAccessor(
        std::get<numbers>(args), get_arg_val<uint32_t>(first + numbers), tensim::compile_time_argument(first_size + numbers))...);
}
template <class... Args, size_t... numbers>
TENSIM_INLINE auto make_tensor_accessor_tuple_at(
    const std::tuple<Args...>& args, uint32_t first, std::index_sequence<numbers...>) {
    return std::make_tuple(TensorAccessor(std::get<numbers>(args), get_arg_val<uint32_t>(first + numbers))...);
}
template <class... Args>
TENSIM_INLINE auto make_tensor_accessor_tuple(const std::tuple<Args...>& args, uint32_t first, uint32_t first_size) {
    return make_tensor_accessor_tuple_at(args, first, first_size, std::index_sequence_for<Args...>());
}
template <class... Args>
TENSIM_INLINE auto make_tensor_accessor_tuple(const std::tuple<Args...>& args, uint32_t first) {
    return make_tensor_accessor_tuple_at(args, first, std::index_sequence_for<Args...>());
}

template <class... Tokens>
TENSIM_INLINE auto make_tensor_accessors(const std::tuple<Tokens...>& tokens) {
    return std::apply([](const auto&... each) { return std::make_tuple(TensorAccessor(each)...); }, tokens);
}

// An accessor behind pointers, for arrays of accessors of different tensors.
struct AbstractTensorAccessorWrapper {
    const void* accessor = nullptr;
    uint64_t (*address)(const void*, uint32_t, uint32_t, uint8_t) = nullptr;
    template <class Args>
    explicit AbstractTensorAccessorWrapper(const TensorAccessor<Args>& a)
        : accessor(&a), address([](const void* self, uint32_t page, uint32_t offset, uint8_t noc) {
              return static_cast<const TensorAccessor<Args>*>(self)->get_noc_addr(page, offset, noc);
          }) {}
    AbstractTensorAccessorWrapper() = default;
    uint64_t get_noc_addr(uint32_t page, uint32_t offset = 0, uint8_t noc = noc_index) const {
        return address(accessor, page, offset, noc);
    }
};
template <class... Accessors>
TENSIM_INLINE std::array<AbstractTensorAccessorWrapper, sizeof...(Accessors)> make_abstract_tensor_accessor_wrappers(
    const std::tuple<Accessors...>& accessors) {
    return std::apply(
        [](const auto&... each) {
            return std::array<AbstractTensorAccessorWrapper, sizeof...(Accessors)>{AbstractTensorAccessorWrapper(each)...};
        },
        accessors);
}

// Channels of tt-metal's fabric router, one for each number of a sequence.
//
// The router's own specialisation of this template takes channels whose number of slots is a byte where it names size_t.  The
// vendor's compiler matches the two, clang does not and comes to the general template, which is this one.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

namespace tt::tt_fabric {

template <typename Header, typename Allocations, template <typename, size_t> class Channel, auto &entries, typename Numbers>
struct AllocChannelBuilder {
    template <typename Sequence>
    struct Of;

    template <size_t... numbers>
    struct Of<std::integer_sequence<size_t, numbers...>> {
        using type = std::tuple<Channel<Header, Allocations::template Entry<entries[numbers]>::num_slots>...>;
    };

    using type = typename Of<Numbers>::type;
};

}  // namespace tt::tt_fabric

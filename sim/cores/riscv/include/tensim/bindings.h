// What a host program binds to names: arguments, circular buffers, semaphores, memory.  Texts that it generates make these.
#pragma once
#include "tensim/environment.h"

// --- arguments

// A runtime argument at a byte offset, unique to the core or common to all.
template <class T>
struct RtaArg {
    uint32_t bytes;
};
template <class T>
struct CrtaArg {
    uint32_t bytes;
};
template <class T>
struct CtaVal {
    T value;
};
template <class T>
TENSIM_INLINE T get_arg(RtaArg<T> argument) {
    return get_arg_val<T>(argument.bytes / 4);
}
template <class T>
TENSIM_INLINE T get_arg(CrtaArg<T> argument) {
    return get_common_arg_val<T>(argument.bytes / 4);
}
template <class T>
TENSIM_INLINE constexpr T get_arg(CtaVal<T> argument) {
    return argument.value;
}
namespace experimental {
using ::CrtaArg;
using ::CtaVal;
using ::get_arg;
using ::RtaArg;
}  // namespace experimental

// The form of some kernels that code generators write.
namespace blaze_rt_args {
enum class Dispatch : uint8_t { COMMON, PER_CORE };
struct Arg {
    uint32_t index;
    Dispatch dispatch;
};
struct ArrayArg {
    uint32_t index, length;
    Dispatch dispatch;
};
template <auto argument, class T = uint32_t>
TENSIM_INLINE T get(uint32_t index = 0) {
    if constexpr (argument.dispatch == Dispatch::COMMON) return get_common_arg_val<T>(argument.index + index);
    else return get_arg_val<T>(argument.index + index);
}
}  // namespace blaze_rt_args

// --- names and formats

namespace internal {
// A text as a template argument.
struct TemplateString {
    char text[65]{};
    template <size_t size>
    constexpr TemplateString(const char (&given)[size]) {
        static_assert(size <= sizeof(text), "a name has at most 64 characters");
        std::copy_n(given, size, text);
    }
    constexpr bool operator==(const TemplateString&) const = default;
};
}  // namespace internal
namespace binding_details {
// Format and faces of what is bound.
struct LLKMetadata {
    uint8_t format = 255;
    uint8_t face_r_dim = 16, face_c_dim = 16, num_faces_r_dim = 2, num_faces_c_dim = 2;
};
}  // namespace binding_details

// --- circular buffers, semaphores, memory

namespace dfb {
enum class AccessPattern : uint8_t { STRIDED, ALL, BLOCKED, UNKNOWN };
}
struct BufferToken {
    uint32_t id;
    binding_details::LLKMetadata metadata{};
    constexpr operator uint32_t() const { return id; }
};
#ifdef TENSIM_UNTYPED_BUFFER_TOKENS
using DFBBindingToken = BufferToken;
#else
template <dfb::AccessPattern producer = dfb::AccessPattern::UNKNOWN, dfb::AccessPattern consumer = dfb::AccessPattern::UNKNOWN>
struct DFBBindingToken : BufferToken {};
#endif
// Who shares a semaphore.  Here each is a word of the core's memory.
enum class SemScope : uint8_t { LOCAL_NONATOMIC, DM_LOCAL_CACHED, EXTERNAL, COMPUTE_ATOMIC };
struct SemaphoreToken {
    uint32_t id;
    SemScope scope = SemScope::LOCAL_NONATOMIC;
};
#ifdef TENSIM_TYPED_SEMAPHORE_TOKENS
template <uint32_t number, SemScope shared>
struct SemaphoreBindingToken : SemaphoreToken {
    constexpr SemaphoreBindingToken() : SemaphoreToken{number, shared} {}
};
#else
using SemaphoreBindingToken = SemaphoreToken;
#endif
// Memory of the own core: the common runtime argument that holds its address, and its size.
struct ScratchpadBindingToken {
    uint32_t address_word, bytes;
    binding_details::LLKMetadata metadata{};
};

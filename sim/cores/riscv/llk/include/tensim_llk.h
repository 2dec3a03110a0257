// In front of every compute kernel that is built against the vendor's LLK.
#pragma once

#include "tensim_words.h"

// A function template whose parameters all have defaults, passed by its bare name: clang takes it for a function only where a
// function of one type is wanted.
#if defined(UCK_CHLKC_MATH)
#include "ckernel.h"
#include "ckernel_include.h"
#include "chlkc_descriptors.h"
#include "llk_math_eltwise_binary_sfpu_params.h"
// Whatever can go to the vendor's own declaration does: a conversion ranks behind it.
struct TensimBinaryFunction {
    using Function = void(unsigned, unsigned, unsigned);
    TensimBinaryFunction(Function* function) : call(function) {}
    Function* call;
};
template <class Mode>
inline void _llk_math_eltwise_binary_sfpu_params_(TensimBinaryFunction function, std::uint32_t first, std::uint32_t second,
                                                  std::uint32_t result, Mode mode) {
    _llk_math_eltwise_binary_sfpu_params_([=](auto... operands) { function.call(operands...); }, first, second, result, mode);
}
// Earlier releases say whether to approximate.
template <bool is_approximate>
inline void _llk_math_eltwise_binary_sfpu_params_(TensimBinaryFunction function, unsigned first, unsigned second, unsigned result,
                                                  int mode) {
    _llk_math_eltwise_binary_sfpu_params_<is_approximate>([=](auto... operands) { function.call(operands...); }, first, second, result, mode);
}
#endif

// In front of every source that the stand-in compiler compiles.
#pragma once

#if __has_include("ckernel_ops.h")
#include "tensim_words.h"
#endif

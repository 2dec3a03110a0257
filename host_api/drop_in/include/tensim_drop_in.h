// In front of every source that the stand-in compiler compiles.
#pragma once

#if __has_include("ckernel_ops.h")
#include "tensim_words.h"
#endif
#if defined(COMPILE_FOR_ERISC) && defined(ROUTING_MODE)
#include "tensim_fabric_channels.h"
#endif

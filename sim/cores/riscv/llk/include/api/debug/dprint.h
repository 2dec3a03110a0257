// The vendor's header, and prints that are shown.
#pragma once
#include_next <api/debug/dprint.h>
#if defined(COMPILE_FOR_TRISC) && defined(TENSIM_LLK)
#include "tensim_print.h"
#endif

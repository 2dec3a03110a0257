// Everything that a kernel of this processor can call: what any header name of tt-metal's API stands for.
#pragma once
#include "tensim/environment.h"
#include "tensim/constants.h"
#include "tensim/debug.h"
#include "tensim/print_tiles.h"
#include "tensim/transfers.h"
#include "tensim/accessors.h"
#include "tensim/objects.h"
#include "tensim/not_modelled.h"
#include "tensim/other_compiler.h"
#if defined(COMPILE_FOR_TRISC)
#include "tensim/compute.h"
#include "tensim/tile_sides.h"
#endif

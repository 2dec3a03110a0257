// Everything of the fabric that a kernel of a worker can call: what the names of tt-metal's fabric headers stand for.
#pragma once
#include "tensim/fabric_mux.h"

using namespace tt::tt_fabric;

// A part of sfpi that earlier releases include by its name.
#pragma once
#include "sfpi.h"

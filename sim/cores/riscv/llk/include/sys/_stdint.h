// A header of another C library that the LLK includes by its name.
#pragma once
#include <stdint.h>

// In front of every compute kernel that is built against the vendor's LLK.
#pragma once

#include "tensim_words.h"

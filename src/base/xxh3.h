// XXH3 by the fastest code that the machine has, where the library can choose: its plain functions are made for the
// oldest machines, and take five times as long. Of this room only, whose sources know whether it can.
#pragma once

#include <xxhash.h>
#ifdef FOREBAY_XXH3_DISPATCH
#include <xxh_x86dispatch.h>
#endif

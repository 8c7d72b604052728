// XXH3 by the fastest code that the machine has, where the library can choose: its plain functions are made for the
// oldest machines, and take five times as long. Of this room only, whose sources know whether it can.
#pragma once

#define XXH_STATIC_LINKING_ONLY  // for the states, so that they can be members
#include <xxhash.h>
#ifdef FOREBAY_XXH3_DISPATCH
#include <xxh_x86dispatch.h>
#endif

#include "forebay/forebay.h"

const char* forebay_version(void) { return FOREBAY_VERSION; }

const char* forebay_build_info(void) { return "forebay " FOREBAY_VERSION ", " FOREBAY_BUILD_INFO; }

/* Forebay's native C interface.
 *
 * Every function is thread-safe and may be called at any time; none prints, exits, aborts or throws. Strings that are
 * returned live as long as the process; do not free them. */
#ifndef FOREBAY_FOREBAY_H
#define FOREBAY_FOREBAY_H

#include "forebay/version.h"

#if defined(__GNUC__)
#define FOREBAY_API __attribute__((visibility("default")))
#else
#define FOREBAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that was linked, as FOREBAY_VERSION is written: "0.1.0". */
FOREBAY_API const char* forebay_version(void);

/* What the library was built with, for problem reports, in one line for people to read:
 * "forebay 0.1.0, GNU 12.2.0 Release, fpzip ON, lz4 ON, zfp ON, mpi OFF". */
FOREBAY_API const char* forebay_build_info(void);

#ifdef __cplusplus
}
#endif

#endif

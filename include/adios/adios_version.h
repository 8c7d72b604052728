/* The version of ADIOS whose interface this is: programs ask for it when they are compiled. */
#ifndef ADIOS_VERSION_H
#define ADIOS_VERSION_H

#define ADIOS_VERSION_MAJOR 1
#define ADIOS_VERSION_MINOR 13
#define ADIOS_VERSION_PATCH 1
#define ADIOS_VERSION "1.13.1"

#define ADIOS_VERSION_MAJOR_STRING "1"
#define ADIOS_VERSION_MINOR_STRING "13"
#define ADIOS_VERSION_PATCH_STRING "1"

/* Whether the version is at least, or at most, major.minor.patch. */
#define ADIOS_VERSION_NUMBER_(major, minor, patch) ((major) * 1000000L + (minor) * 1000L + (patch))
#define ADIOS_VERSION_OWN_ ADIOS_VERSION_NUMBER_(ADIOS_VERSION_MAJOR, ADIOS_VERSION_MINOR, ADIOS_VERSION_PATCH)
#define ADIOS_VERSION_GE(major, minor, patch) (ADIOS_VERSION_OWN_ >= ADIOS_VERSION_NUMBER_(major, minor, patch))
#define ADIOS_VERSION_LE(major, minor, patch) (ADIOS_VERSION_OWN_ <= ADIOS_VERSION_NUMBER_(major, minor, patch))

/* The version of the BP format that ADIOS 1.13 writes. Files that are written here are Forebay containers
 * (docs/format.md). */
#define ADIOS_VERSION_BP_FORMAT 3

#endif

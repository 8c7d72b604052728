/* Of ADIOS 1.x's queries, what programs ask that write: whether a kind of index is there that they could make. */
#ifndef ADIOS_QUERY_H
#define ADIOS_QUERY_H

#include <adios_read.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ADIOS_QUERY_METHOD {
  ADIOS_QUERY_METHOD_MINMAX = 0,
  ADIOS_QUERY_METHOD_FASTBIT = 1,
  ADIOS_QUERY_METHOD_ALACRITY = 2,
  ADIOS_QUERY_METHOD_UNKNOWN = 3,
  ADIOS_QUERY_METHOD_COUNT = ADIOS_QUERY_METHOD_UNKNOWN
};

/* 1 if queries can be answered in this way, else 0: of all of them, for now. Any thread may call. */
int adios_query_is_method_available(enum ADIOS_QUERY_METHOD method);

#ifdef __cplusplus
}
#endif

#endif

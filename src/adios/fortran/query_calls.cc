// Queries as Fortran asks them (adios_query_mod).
#include <cstdlib>

#include <adios_query.h>

#include "adios/fortran/support.h"

using forebay::adios::from_fortran;

namespace {

ADIOS_QUERY* query_of(const int64_t* handle) { return reinterpret_cast<ADIOS_QUERY*>(*handle); }
ADIOS_SELECTION* boundary_of(const int64_t* handle) { return reinterpret_cast<ADIOS_SELECTION*>(*handle); }

}  // namespace

extern "C" {

int adios_query_is_method_available_f2c_(const int* method) {
  return adios_query_is_method_available(static_cast<ADIOS_QUERY_METHOD>(*method));
}

void adios_query_create_(const int64_t* fp, const int64_t* boundary, const char* name, const int* op, const char* value,
                         int64_t* q, size_t name_length, size_t value_length) {
  *q = reinterpret_cast<int64_t>(adios_query_create(
      reinterpret_cast<ADIOS_FILE*>(*fp), boundary_of(boundary), from_fortran(name, name_length).c_str(),
      static_cast<ADIOS_PREDICATE_MODE>(*op), from_fortran(value, value_length).c_str()));
}

void adios_query_combine_(const int64_t* q1, const int* op, const int64_t* q2, int64_t* q) {
  *q = reinterpret_cast<int64_t>(
      adios_query_combine(query_of(q1), static_cast<ADIOS_CLAUSE_OP_MODE>(*op), query_of(q2)));
}

void adios_query_set_method_(const int64_t* q, const int* method) {
  adios_query_set_method(query_of(q), static_cast<ADIOS_QUERY_METHOD>(*method));
}

int64_t adios_query_estimate_(const int64_t* q, const int* timestep) {
  return adios_query_estimate(query_of(q), *timestep);
}

// A program has one handle for what came: blocks come one by one.
void adios_query_evaluate_(const int64_t* q, const int64_t* boundary, const int* timestep, const int64_t* batch,
                           int64_t* found, int* err) {
  *found = 0;
  *err = ADIOS_QUERY_RESULT_ERROR;
  const bool are_blocks = query_of(q) && query_of(q)->method == ADIOS_QUERY_METHOD_MINMAX;
  ADIOS_QUERY_RESULT* const result = adios_query_evaluate(query_of(q), boundary_of(boundary), *timestep,
                                                          are_blocks ? 1 : static_cast<uint64_t>(*batch));
  if (result == nullptr) return;
  *found = reinterpret_cast<int64_t>(result->selections);
  *err = result->status;
  std::free(result);
}

void adios_query_free_(const int64_t* q) { adios_query_free(query_of(q)); }
}

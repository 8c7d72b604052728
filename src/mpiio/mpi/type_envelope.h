// How an MPI datatype was made, as MPI tells it.
#pragma once

#include <vector>

#include <mpi.h>

#include "base/error.h"
#include "mpiio/type_contents.h"

namespace forebay::lock::mpiio {

// Whether MPI itself defines the datatype: there is nothing in it, and nobody frees it. Also for datatypes that were
// made with large counts, of which MPI 4 refuses to tell by the older function. False if the MPI call fails.
bool is_predefined(MPI_Datatype datatype);

// The datatypes of the contents are freed with this.
class TypeEnvelope {
 public:
  // io if an MPI call fails.
  static Result<TypeEnvelope> of(MPI_Datatype datatype);

  TypeEnvelope(TypeEnvelope&& other) noexcept;
  ~TypeEnvelope();

  bool predefined() const;  // as is_predefined()
  const std::vector<MPI_Datatype>& types() const { return types_; }

  // Everything but the patterns of `types` and the bounds. unsupported, with its number, for an unknown combiner.
  Result<TypeContents> contents() const;

 private:
  TypeEnvelope() = default;
  Result<void> read(MPI_Datatype datatype);

  int combiner_ = MPI_COMBINER_NAMED;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Count> counts_;  // of the forms of MPI 4 that have them instead
  std::vector<MPI_Datatype> types_;
};

}  // namespace forebay::lock::mpiio

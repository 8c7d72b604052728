// The ranks of MPI_COMM_WORLD, as far as SCR's calls need them to agree. One thread of each uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace forebay::scr {

// All members but rank(), size() and the destructor are collective. After an error of MPI, which this class has
// returned to it, nothing more can be expected of the job.
class Ranks {
 public:
  // Of a duplicate of MPI_COMM_WORLD. invalid_argument if MPI is not initialised.
  static Result<std::unique_ptr<Ranks>> world();
  virtual ~Ranks() = default;

  virtual uint32_t rank() const = 0;
  virtual uint32_t size() const = 0;

  // The text of rank 0, for all.
  virtual Result<std::string> of_first(const std::string& text) = 0;
  // The texts of all ranks at rank 0, in their order; elsewhere nothing.
  virtual Result<std::vector<std::string>> to_first(const std::string& text) = 0;
  // The numbers of all ranks.
  virtual Result<std::vector<uint64_t>> of_all(uint64_t number) = 0;
  // Whether it is so at all ranks.
  virtual Result<bool> all(bool mine) = 0;
};

}  // namespace forebay::scr

#include "mpiio/mpi/fortran_arguments.h"

#include <cstring>

namespace forebay::lock::mpiio::fortran {

std::string text(const char* characters, int length) {
  const std::string all(characters, static_cast<size_t>(length > 0 ? length : 0));
  const size_t first = all.find_first_not_of(' ');
  return first == std::string::npos ? std::string() : all.substr(first, all.find_last_not_of(' ') - first + 1);
}

void blank_padded(const std::string& text, char* characters, int length) {
  if (length <= 0) return;
  std::memset(characters, ' ', static_cast<size_t>(length));
  text.copy(characters, static_cast<size_t>(length));
}

}  // namespace forebay::lock::mpiio::fortran

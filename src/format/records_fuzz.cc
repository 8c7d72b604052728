#include "format/fab_reader.h"
#include "format/fortran_reader.h"
#include "format/fuzz.h"
#include "format/lammps_reader.h"
#include "format/openfoam_reader.h"
#include "format/trr_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace forebay;
  const MemorySource source(std::as_bytes(std::span(data, size)));
  format::check_reader(format::FabReader(), source);
  format::check_reader(format::FortranReader(), source);
  format::check_reader(format::LammpsReader(), source);
  format::check_reader(format::OpenFoamReader(), source);
  format::check_reader(format::TrrReader(), source);
  return 0;
}

#include "python/module.h"

#include "forebay/version.h"

namespace nb = nanobind;

NB_MODULE(_forebay, module) {
  module.attr("version") = FOREBAY_VERSION;
  forebay::python::declare_arrays(module);
  forebay::python::declare_reading(module);
  forebay::python::declare_queries(module);
  forebay::python::declare_files(module);
  forebay::python::declare_jobs(module);
  forebay::python::declare_verbs(module);
}

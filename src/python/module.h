// The parts of the extension module forebay._forebay, which src/python/forebay wraps: it gives and takes plain values
// and buffers, and everything that can be said in Python is.
#pragma once

#include <nanobind/nanobind.h>

namespace forebay::python {

void declare_arrays(nanobind::module_& module);   // encoded and decoded by themselves
void declare_reading(nanobind::module_& module);  // runs, steps, values, queries, files
void declare_queries(nanobind::module_& module);
void declare_files(nanobind::module_& module);
void declare_jobs(nanobind::module_& module);
void declare_verbs(nanobind::module_& module);  // pack, restore, verify, prune

}  // namespace forebay::python

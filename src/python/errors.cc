#include "python/errors.h"

namespace nb = nanobind;

namespace forebay::python {

nb::object exception_of(const Error& error) {
  const nb::object make = nb::module_::import_("forebay._errors").attr("make");
  const nb::object offset = error.offset ? nb::int_(*error.offset) : nb::object(nb::none());
  // What comes from files and paths need not be UTF-8.
  const auto text = [](const std::string& bytes) {
    return nb::steal<nb::object>(
        PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
  };
  return make(to_string(error.kind), text(error.message()), text(error.what), text(error.path), offset,
              text(error.hint));
}

void raise(const Error& error) {
  const nb::object exception = exception_of(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

}  // namespace forebay::python

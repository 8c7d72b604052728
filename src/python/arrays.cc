// Arrays by themselves, encoded and decoded.
#include <memory>
#include <string>
#include <vector>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "codec/array/array.h"
#include "python/errors.h"
#include "python/module.h"

namespace nb = nanobind;

namespace forebay::python {
namespace {

// The memory of an object that has some, for as long as this is there.
class Memory {
 public:
  Memory(const nb::handle& object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, flags) != 0) throw nb::python_error();
  }
  ~Memory() { PyBuffer_Release(&buffer_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  std::span<std::byte> span() const { return {static_cast<std::byte*>(buffer_.buf), static_cast<size_t>(buffer_.len)}; }

 private:
  Py_buffer buffer_{};
};

nb::bytes encode(const std::string& profile, const std::string& type, const std::vector<uint64_t>& dims,
                 const nb::handle& elements) {
  const auto chosen = value_or_raise(codec::Profile::parse(profile));
  const codec::ArrayShape shape{value_or_raise(DataType::parse(type)), dims};
  const Memory memory(elements, PyBUF_C_CONTIGUOUS);
  const Bytes encoded = value_or_raise(unlocked([&] { return codec::encode_array(chosen, shape, memory.span()); }));
  return nb::bytes(encoded.data(), encoded.size());
}

// (type, dimensions) of what encode() made.
nb::tuple describe(const nb::handle& encoded) {
  const Memory memory(encoded, PyBUF_C_CONTIGUOUS);
  const codec::ArrayShape shape = value_or_raise(codec::describe_array(memory.span()));
  return nb::make_tuple(shape.type.name(), shape.dims);
}

void decode(const nb::handle& encoded, const nb::handle& out) {
  const Memory from(encoded, PyBUF_C_CONTIGUOUS), to(out, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  value_or_raise(unlocked([&] { return codec::decode_array(from.span(), to.span()); }));
}

}  // namespace

void declare_arrays(nb::module_& module) {
  module.def("encode_array", &encode);
  module.def("describe_array", &describe);
  module.def("decode_array", &decode);
}

}  // namespace forebay::python

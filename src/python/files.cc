// Original files of a set, read without a restore.
#include <algorithm>
#include <memory>
#include <string>

#include <nanobind/stl/string.h>

#include "engine/set/shared_reader.h"
#include "python/errors.h"
#include "python/module.h"
#include "python/run_handle.h"
#include "store/series.h"

namespace nb = nanobind;

namespace forebay::python {
namespace {

constexpr uint64_t kCacheBytes = 256u << 20;

// A set of a store that is open. Stays readable when it is removed from the store.
class SetFiles : OpenedHere {
 public:
  explicit SetFiles(std::unique_ptr<engine::SharedReader> reader) : reader_(std::move(reader)) {}

  // (name, kind, size, rank) of each file.
  nb::list list() const {
    check();
    nb::list list;
    for (size_t c = 0; c < reader_->set().containers.size(); ++c)
      for (const FileRow& row : reader_->set().containers[c].catalogue().files)
        list.append(nb::make_tuple(nb::bytes(row.name.data(), row.name.size()), static_cast<int>(row.kind), row.size,
                                   row.rank));
    return list;
  }

  // Fills `out` with the bytes of file `number` of list() from `offset` on, as far as it has them: how many these are.
  size_t read_into(size_t number, uint64_t offset, const nb::handle& out) const {
    check();
    Py_buffer buffer{};
    if (PyObject_GetBuffer(out.ptr(), &buffer, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) throw nb::python_error();
    const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> release(&buffer, PyBuffer_Release);
    return value_or_raise(unlocked(
        [&] { return read(number, offset, {static_cast<std::byte*>(buffer.buf), static_cast<size_t>(buffer.len)}); }));
  }

 private:
  Result<size_t> read(size_t number, uint64_t offset, std::span<std::byte> out) const {
    size_t left = number;
    for (size_t c = 0; c < reader_->set().containers.size(); ++c) {
      const auto& files = reader_->set().containers[c].catalogue().files;
      if (left >= files.size()) {
        left -= files.size();
        continue;
      }
      if (offset >= files[left].size) return 0;
      const auto part = out.first(std::min<uint64_t>(out.size(), files[left].size - offset));
      if (!part.empty()) FOREBAY_CHECK(reader_->read_file(c, static_cast<uint32_t>(left), offset, part));
      return part.size();
    }
    return fail(ErrorKind::invalid_argument, "the set has no file of that number");
  }

  const std::unique_ptr<engine::SharedReader> reader_;
};

Result<std::unique_ptr<engine::SharedReader>> open_files(const std::string& path, const std::string& name) {
  FOREBAY_TRY(const auto store, store::Store::open(path));
  FOREBAY_TRY(const store::SetInfo info, store.find(name));
  FOREBAY_CHECK(info.manifest);
  FOREBAY_TRY(auto set, engine::open_set(info, kCacheBytes));
  const engine::Resources all = engine::Resources{}.resolved();
  return std::make_unique<engine::SharedReader>(std::move(set), std::make_shared<engine::FrameCache>(kCacheBytes),
                                                all.threads);
}

}  // namespace

void declare_files(nb::module_& module) {
  nb::class_<SetFiles>(module, "SetFiles").def("list", &SetFiles::list).def("read_into", &SetFiles::read_into);
  module.def(
      "open_files",
      [](const std::string& path, const std::string& name) {
        return new SetFiles(value_or_raise(unlocked([&] { return open_files(path, name); })));
      },
      nb::rv_policy::take_ownership);
}

}  // namespace forebay::python

#include "io/method/method.h"

namespace forebay::io {

Outcome<void> OpenFile::write(const ProcessGroup&, const Block&) {
  return refuse(Code::unspecified, "this method does not take blocks early", {}, {}, ErrorKind::internal);
}

void OpenFile::announce(uint64_t) {}

uint64_t OpenFile::room() { return 0; }

Outcome<void> OpenFile::spill(const ProcessGroup&) {
  return refuse(Code::buffer_overflow, "this method writes nothing before the close");
}

void OpenFile::leave(uint64_t) {}

Outcome<void> OpenFile::read(std::string_view, std::span<std::byte>) {
  return refuse(Code::unsupported, "this method does not read", "use the reading interface, or method MPI or POSIX");
}

}  // namespace forebay::io

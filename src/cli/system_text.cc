#include "cli/system_text.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"

namespace forebay::cli {

std::string text_of_file(const std::string& path) {
  constexpr size_t kMost = 1 << 20;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(file ? kMost : 0, '\0');
  size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < text.size();) {
    got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got > 0) size += static_cast<size_t>(got);
  }
  text.resize(size);
  return text;
}

}  // namespace forebay::cli

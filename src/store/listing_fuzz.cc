// A listing that somebody else wrote: whatever it says, it is refused or taken without a crash, and what is taken comes
// back the same.
#include <cstdlib>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/checksum.h"
#include "store/listing.h"
#include "store/test_memory_backend.h"

using namespace forebay;

static void check(const std::string& text) {
  const auto backend = std::make_shared<store::MemoryBackend>();
  const auto listing = store::parse_listing(text, backend);
  if (!listing) return;
  const auto again = store::parse_listing(store::serialise(*listing), backend);
  if (!again || store::serialise(*again) != store::serialise(*listing)) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t line_end = text.find('\n');
  const std::string body = line_end == std::string::npos ? text : text.substr(line_end + 1);
  check(text);
  check("forebay-listing " + hash128_hex(as_bytes(body)) + "\n" + body);
  return 0;
}

// Hostile manifests: parse_manifest() neither crashes nor accepts what serialise() would not give back. The input is
// taken as it is and, so that the checksum does not hide the parser, as the body of a manifest that is sealed anew.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "base/checksum.h"
#include "store/store.h"

using namespace forebay;

static void check(const std::string& text) {
  const auto manifest = store::parse_manifest(text, "fuzz");
  if (!manifest) return;
  const auto again = store::parse_manifest(store::serialise(*manifest), "fuzz");
  if (!again || store::serialise(*again) != store::serialise(*manifest)) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t line_end = text.find('\n');
  const std::string body = line_end == std::string::npos ? text : text.substr(line_end + 1);
  check(text);
  check("forebay-manifest " + hash128_hex(as_bytes(body)) + "\n" + body);
  return 0;
}

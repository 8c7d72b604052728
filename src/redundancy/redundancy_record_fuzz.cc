// Hostile records: neither crash nor are taken unless they are what encode_record() makes of them. The input is taken
// as it is and, so that the checksum does not hide the parser, as the fields of a record and of a member sealed anew.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/bytes.h"
#include "base/checksum.h"
#include "redundancy/record.h"

using namespace forebay;

static std::string sealed(std::string text) {
  std::byte seal[sizeof(uint64_t)];
  store_le(seal, hash64(as_bytes(text)));
  return text + std::string(as_text(seal));
}

static void check(const std::string& text) {
  if (const auto record = redundancy::decode_record(text, "fuzz")) {
    if (redundancy::encode_record(*record) != text) std::abort();
    const auto geometry = redundancy::geometry_of(*record);
    if (!geometry || geometry->members() != record->members.size()) std::abort();
  }
  if (const auto member = redundancy::decode_member(text, "fuzz"))
    if (redundancy::encode_member(*member) != text) std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  check(sealed("forebay-encoding 1\n" + text));
  check(sealed("forebay-member 1\n" + text));
  // Of a whole record the fields.
  const size_t line_end = text.find('\n');
  if (line_end != std::string::npos && text.size() >= line_end + 1 + sizeof(uint64_t))
    check(sealed(text.substr(0, text.size() - sizeof(uint64_t))));
  return 0;
}

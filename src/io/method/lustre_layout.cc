#include "io/method/lustre_layout.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <sys/xattr.h>

namespace forebay::io {
namespace {

using Layout = std::span<const std::byte>;

// struct lov_user_md_v1 and those that begin as it does, struct lov_comp_md_v1 and its entries, of lustre_user.h.
constexpr uint32_t kPlain = 0x0BD10BD0, kWithPool = 0x0BD30BD0, kWithTargets = 0x0BD50BD0, kComposite = 0x0BD60BD0;
constexpr size_t kPlainBytes = 32, kCountAt = 28;
constexpr size_t kCompositeBytes = 32, kSizeAt = 4, kEntriesAt = 14;
constexpr size_t kEntryBytes = 48, kEntryOffsetAt = 24, kEntrySizeAt = 28;
constexpr uint16_t kAll = 0xFFE0;  // and what is above: all targets, some of them several times

template <class T>
T number(Layout bytes, size_t at) {  // which must be there
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// 0: the default of the file system, or none, as of a part that lies with the metadata.
std::optional<uint16_t> plain_count(Layout layout) {
  if (layout.size() < kPlainBytes) return std::nullopt;
  const auto magic = number<uint32_t>(layout, 0);
  if (magic != kPlain && magic != kWithPool && magic != kWithTargets) return std::nullopt;
  return number<uint16_t>(layout, kCountAt);
}

std::optional<uint16_t> composite_count(Layout layout) {
  if (layout.size() < kCompositeBytes) return std::nullopt;
  const size_t size = number<uint32_t>(layout, kSizeAt), entries = number<uint16_t>(layout, kEntriesAt);
  if (size > layout.size() || size < kCompositeBytes + entries * kEntryBytes) return std::nullopt;
  uint16_t most = 0;
  for (size_t i = 0; i < entries; ++i) {
    const Layout entry = layout.subspan(kCompositeBytes + i * kEntryBytes, kEntryBytes);
    const size_t at = number<uint32_t>(entry, kEntryOffsetAt), bytes = number<uint32_t>(entry, kEntrySizeAt);
    if (at > size || bytes > size - at) return std::nullopt;
    const auto count = plain_count(layout.subspan(at, bytes));
    if (!count) return std::nullopt;
    most = std::max(most, *count);
  }
  return most;
}

}  // namespace

std::optional<uint32_t> stripe_count(Layout layout) {
  if (layout.size() < sizeof(uint32_t)) return std::nullopt;
  const bool is_composite = number<uint32_t>(layout, 0) == kComposite;
  const std::optional<uint16_t> count = is_composite ? composite_count(layout) : plain_count(layout);
  if (!count || *count == 0 || *count >= kAll) return std::nullopt;
  return *count;
}

std::optional<uint32_t> lustre_stripe_count(const std::string& directory) {
  constexpr size_t kMostBytes = 64 << 10;  // of any extended attribute
  std::vector<std::byte> layout(kMostBytes);
  const ssize_t bytes = getxattr(directory.c_str(), "lustre.lov", layout.data(), layout.size());
  if (bytes <= 0) return std::nullopt;
  return stripe_count(std::span(layout).first(static_cast<size_t>(bytes)));
}

}  // namespace forebay::io

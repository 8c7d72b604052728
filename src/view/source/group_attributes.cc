#include "view/source/group_attributes.h"

#include <map>
#include <string>

#include "base/layout.h"
#include "container/each_part.h"
#include "io/file/description.h"

namespace forebay::view {

Result<std::vector<Attribute>> attributes_of_groups(const ByteSource& source) {
  constexpr uint64_t kMostIndexBytes = 64 << 20, kMostBytes = 16 << 20;
  std::map<std::string, Attribute> last;
  uint64_t bytes = 0;
  const container::OnPart take = [&](const container::Index& index, std::span<const uint64_t>) -> Result<void> {
    // The first part of a file that grows has no process group, but random bytes.
    if (index.part.number == 0 || index.part.description.empty()) return {};
    FOREBAY_TRY(auto description, io::decode_description(index.part.description, kMostIndexBytes));
    for (io::AttributeValue& each : description.group.attributes) {
      bytes += each.name.size() + each.value.size();
      if (bytes > kMostBytes) return fail(ErrorKind::limit, "the process groups have too many attributes");
      Attribute attribute{.name = each.name,
                          .group = description.group.group,
                          .type = element_type(each.type),
                          .count = each.count,
                          .value = std::move(each.value),
                          .variable = std::move(each.variable)};
      last.insert_or_assign(std::move(each.name), std::move(attribute));
    }
    return {};
  };
  FOREBAY_CHECK(container::for_each_part(source, kMostIndexBytes, kMaxExtentsPerFile, take));
  std::vector<Attribute> attributes;
  for (auto& [name, attribute] : last) attributes.push_back(std::move(attribute));
  return attributes;
}

}  // namespace forebay::view

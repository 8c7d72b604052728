#include "view/source/group_contents.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/layout.h"
#include "container/each_part.h"
#include "io/file/description.h"

namespace forebay::view {
namespace {

constexpr uint64_t kMostIndexBytes = 64 << 20, kMostBytes = 16 << 20;

class Gathering {
 public:
  Result<void> take(io::Description description) {
    io::ProcessGroup& group = description.group;
    contents_.time_index = std::max(contents_.time_index, group.time_index);
    for (size_t i = 0; i < group.blocks.size(); ++i) {
      const io::Block& block = group.blocks[i];
      GroupVariable variable{.name = block.name,
                             .group = group.group,
                             .type = block.type,
                             .is_array = block.is_array,
                             .fortran_order = group.fortran_order};
      const auto [place, is_new] = known_.try_emplace(std::move(variable), contents_.variables.size());
      if (is_new) {
        FOREBAY_CHECK(count(block.name.size() + group.group.size()));
        contents_.variables.push_back(place->first);
      }
      if (description.bytes[i] == 0) continue;
      FOREBAY_CHECK(count(sizeof(size_t)));
      contents_.writes.push_back(place->second);
    }
    for (io::AttributeValue& each : group.attributes) {
      FOREBAY_CHECK(count(each.name.size() + each.value.size()));
      Attribute attribute{.name = each.name,
                          .group = group.group,
                          .type = element_type(each.type),
                          .count = each.count,
                          .value = std::move(each.value),
                          .variable = std::move(each.variable),
                          .order = ++order_};
      last_.insert_or_assign(std::move(each.name), std::move(attribute));
    }
    return {};
  }

  GroupContents finish() {
    for (auto& [name, attribute] : last_) contents_.attributes.push_back(std::move(attribute));
    return std::move(contents_);
  }

 private:
  Result<void> count(uint64_t bytes) {
    bytes_ += bytes;
    return bytes_ > kMostBytes ? fail(ErrorKind::limit, "the process groups have too many variables or attributes")
                               : Result<void>();
  }

  GroupContents contents_;
  std::map<GroupVariable, size_t> known_;
  std::map<std::string, Attribute> last_;
  uint32_t order_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<GroupContents> contents_of_groups(const ByteSource& source) {
  Gathering gathering;
  const container::OnPart take = [&](const container::Index& index, std::span<const uint64_t>) -> Result<void> {
    // The first part of a file that grows has no process group, but random bytes.
    if (index.part.number == 0 || index.part.description.empty()) return {};
    FOREBAY_TRY(auto description, io::decode_description(index.part.description, kMostIndexBytes));
    return gathering.take(std::move(description));
  };
  FOREBAY_CHECK(container::for_each_part(source, kMostIndexBytes, kMaxExtentsPerFile, take));
  return gathering.finish();
}

}  // namespace forebay::view

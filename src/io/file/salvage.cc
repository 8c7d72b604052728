#include "io/file/salvage.h"

#include <algorithm>

#include "codec/lossy/lossy.h"
#include "container/container.h"
#include "engine/set/planned_sizes.h"
#include "io/file/description.h"
#include "io/file/part_listing.h"

namespace forebay::io {
namespace {

class Salvager {
 public:
  Salvager(uint64_t container_id, uint64_t max_bytes) : container_id_(container_id), max_bytes_(max_bytes) {}

  // How many bytes what was listed of it takes.
  Result<uint64_t> take(const container::RecoveredPart& part) {
    const container::PartFacts& facts = part.index.part;
    if (facts.number == 0 || facts.description.empty()) return 0;
    auto description = decode_description(facts.description, max_bytes_);
    if (!description && description.error().kind != ErrorKind::corrupt) return std::unexpected(description.error());
    if (!description || !part.entry || !part.lost_frames.empty()) {
      ++salvage_.incomplete;
      return 0;
    }
    return list(part, description->group, description->bytes);
  }

  Salvage finish(std::vector<std::string> remarks) {
    salvage_.remarks = std::move(remarks);
    return std::move(salvage_);
  }

 private:
  uint64_t list(const container::RecoveredPart& part, const ProcessGroup& group, const std::vector<uint64_t>& bytes) {
    const auto& [begin, index] = *part.entry;
    std::vector<container::Characteristics> characteristics(group.blocks.size());
    size_t variable = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      if (bytes[i] != 0 && variable < part.index.characteristics.size())
        characteristics[i] = part.index.characteristics[variable++];
    Listing one = list_process_group(
        group, characteristics, container_id_,
        {.offset = begin, .bytes = index.end() - begin, .index_bytes = index.bytes, .index_hash = index.hash});
    const uint64_t memory = one.memory_bytes();
    salvage_.listing.merge(std::move(one));
    salvage_.end = std::max(salvage_.end, index.end());
    return memory;
  }

  const uint64_t container_id_, max_bytes_;
  Salvage salvage_;
};

}  // namespace

Result<Salvage> salvage(const ByteSource& source, uint64_t container_id, uint64_t begin, uint64_t max_bytes) {
  Salvager salvager(container_id, max_bytes);
  const container::RecoveryRules rules{.max_index_bytes = max_bytes,
                                       .frame_sizes = engine::planned_sizes(source.size()),
                                       .lossy_of_recipe = codec::lossy_note};
  FOREBAY_TRY(auto remarks,
              container::recover_parts(source, container_id, begin, rules,
                                       [&](const container::RecoveredPart& part) { return salvager.take(part); }));
  return salvager.finish(std::move(remarks));
}

}  // namespace forebay::io

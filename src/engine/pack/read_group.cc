#include "engine/pack/read_group.h"

namespace forebay::engine {

GroupCatalogue group_catalogue(Layouts layouts, std::span<const SourceFile> files) {
  GroupCatalogue group{.catalogue = std::move(layouts.catalogue), .remarks = {}};
  for (const LayoutRemark& remark : layouts.remarks)
    group.remarks.push_back(files[remark.file].path + ": " + remark.text);
  return group;
}

Result<GroupCatalogue> read_group(std::span<const SourceFile> files, Sources& sources,
                                  const merge::Similarity& similarity, const format::FormatOptions& format,
                                  uint64_t memory_bytes, unsigned threads) {
  const KeysFn keys = [&](const Layout& layout) { return similarity.keys(layout); };
  FOREBAY_TRY(Layouts layouts, read_layouts(files, sources, format, keys, memory_bytes, threads));
  return group_catalogue(std::move(layouts), files);
}

}  // namespace forebay::engine

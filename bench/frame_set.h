// A checkpoint set in memory, merged into frames as pack would do it under a profile.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/catalogue.h"
#include "codec/choice/chooser.h"
#include "engine/pack/relations.h"
#include "engine/pack/source_pool.h"
#include "engine/pack/tree.h"
#include "engine/set/frame_io.h"
#include "merge/plan.h"

namespace forebay::bench {

// A frame with what a codec is told of it.
struct LoadedFrame {
  const engine::RawFrame* raw = nullptr;
  FrameShape shape;
  codec::Related related;
  std::string group;    // the similarity key of its variables
  bool is_data = true;  // of variables, not of skeletons
};

class FrameSet {
 public:
  // All frames of the set `tree` in groups of `group_size` ranks. Errors as of the sources.
  static Result<FrameSet> load(const engine::SourceTree& tree, uint64_t group_size, const codec::Profile& profile);

  const std::vector<LoadedFrame>& frames() const { return frames_; }

  // Processor time of what pack does once for a rank group, before any frame.
  double interleave_seconds() const { return interleave_seconds_; }
  double relations_seconds() const { return relations_seconds_; }

 private:
  // On the heap, because plan and frames refer to it.
  struct Group {
    explicit Group(std::span<const engine::SourceFile> files) : sources(files) {}
    engine::SourcePool sources;
    Catalogue catalogue;
    merge::Plan plan;
    engine::RelationPlan relations;
    std::vector<engine::RawFrame> frames;
  };

  Result<void> plan(Group& group, std::span<const engine::SourceFile> files, const codec::Profile& profile);
  Result<void> gather(Group& group);
  LoadedFrame describe(const Group& group, uint32_t number) const;

  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<LoadedFrame> frames_;
  double interleave_seconds_ = 0, relations_seconds_ = 0;
};

}  // namespace forebay::bench

// Relations between the variables of a rank group: which frames are predicted from which others, and how.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "codec/choice/chooser.h"
#include "codec/relation/relation.h"
#include "engine/set/frame_io.h"
#include "engine/set/set.h"
#include "engine/set/sources.h"
#include "merge/plan.h"

namespace forebay::engine {

// The similarity key that all streams of a group of `plan` have; empty if there is none: of skeletons, whole files, and
// groups of several keys.
std::string key_of(const merge::Plan& plan, uint32_t group);

// A relation by the similarity keys of its variable groups.
struct NamedRelation {
  std::string target;
  std::vector<std::string> references;  // that the terms' references are indices into
  codec::Relation relation;
  double bits_per_element = 0;  // that the target takes as it is stored
};

// How to predict the frames of some groups of a plan.
class RelationPlan {
 public:
  struct Rule {
    Bytes parameters;              // of the relation codec
    std::vector<uint32_t> groups;  // of the plan: what its references stand for
  };

  // Null if the group's frames are not predicted from others.
  const Rule* rule_of(uint32_t group) const;

  // The frames that frame `number` would be predicted from, in the order of the rule's references.
  std::vector<uint32_t> references(const merge::Plan& plan, uint32_t number) const;

  // The same, read. Errors as of gather().
  Result<std::vector<RawFrame>> gather_references(const merge::Plan& plan, uint32_t number, Sources& sources) const;

  // What choosing and encoding a frame of the group take, with what gather_references() returned. Valid as long as
  // that.
  codec::Related related(uint32_t group, std::span<const RawFrame> references) const;

  void add(uint32_t group, Rule rule) { rules_.insert_or_assign(group, std::move(rule)); }
  bool empty() const { return rules_.empty(); }

 private:
  std::map<uint32_t, Rule> rules_;
};

// Samples the companion groups of `plan` and finds what tells what, among variables that come back exactly as they are
// now: those that is_exact() confirms. Relations among `remembered` (of the checkpoint
// before) are fitted again instead of searched for, as long as all of them still tell about as much as they did. Errors
// as of the sources.
Result<RelationPlan> find_relations(const merge::Plan& plan, Sources& sources,
                                    const std::function<bool(uint32_t variable)>& is_exact,
                                    std::span<const NamedRelation> remembered);

// The relations that a container's frames were encoded with: one for each variable group, from the first of its frames
// that refers to others. Frames that cannot be read are passed over.
std::vector<NamedRelation> relations_of(const OpenContainer& container);

}  // namespace forebay::engine

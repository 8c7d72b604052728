#include "engine/pack/relations.h"

#include <algorithm>
#include <set>

#include "codec/codec_ids.h"
#include "codec/entries/entries.h"
#include "codec/relation/relation_search.h"
#include "engine/pack/relation_sample.h"
#include "merge/companions.h"

namespace forebay::engine {
namespace {

using FoundRelations = std::vector<std::optional<codec::FieldRelation>>;

// `relation`, whose references are indices into the family, as a rule for the plan.
RelationPlan::Rule rule_of(const codec::Relation& relation, std::span<const uint32_t> family) {
  RelationPlan::Rule rule;
  codec::Relation local = relation;
  for (codec::RelationTerm& term : local.terms) {
    const uint32_t group = family[term.reference];
    const auto known = std::ranges::find(rule.groups, group);
    term.reference = static_cast<uint8_t>(known - rule.groups.begin());
    if (known == rule.groups.end()) rule.groups.push_back(group);
  }
  rule.parameters = codec::encode_relation(local);
  return rule;
}

// The remembered relations among members of one family, with references as indices into it.
class Memory {
 public:
  Memory(const merge::Plan& plan, std::span<const uint32_t> family, std::span<const NamedRelation> remembered) {
    for (const NamedRelation& named : remembered) {
      const auto target = place_of(plan, family, named.target);
      codec::Relation relation = named.relation;
      bool is_complete = target.has_value();
      for (codec::RelationTerm& term : relation.terms) {
        const auto reference = place_of(plan, family, named.references[term.reference]);
        is_complete = is_complete && reference && *reference != *target;
        if (is_complete) term.reference = static_cast<uint8_t>(*reference);
      }
      if (is_complete) known_.emplace(*target, Known{std::move(relation), named.bits_per_element});
    }
  }

  // The relations fitted to this sample; nothing if there are none, or one of them has lost its hold.
  std::optional<FoundRelations> fit(std::span<const codec::FieldSample> fields, const DataType& type) const {
    if (known_.empty()) return std::nullopt;
    FoundRelations found(fields.size());
    for (const auto& [target, known] : known_) {
      const auto& relation = known.relation;
      found[target] = codec::fit_relation(fields, type, target, relation);
      if (found[target]->relation.terms.size() < relation.terms.size() || !still_holds(*found[target], known) ||
          is_chain(target))
        return std::nullopt;
    }
    return found;
  }

 private:
  static std::optional<size_t> place_of(const merge::Plan& plan, std::span<const uint32_t> family,
                                        const std::string& key) {
    for (size_t i = 0; i < family.size(); ++i)
      if (key_of(plan, family[i]) == key) return i;
    return std::nullopt;
  }

  struct Known {
    codec::Relation relation;
    double bits_per_element;
  };

  // Whether a relation tells about as much as it did. Bits of residuals and bits in storage differ a little.
  static bool still_holds(const codec::FieldRelation& found, const Known& known) {
    constexpr double kSlack = 1.1, kSlackBits = 0.5;
    return found.bits < kSlack * known.bits_per_element + kSlackBits;
  }

  // Whether what `target` refers to refers to others itself.
  bool is_chain(size_t target) const {
    return std::ranges::any_of(known_.at(target).relation.terms,
                               [&](const codec::RelationTerm& term) { return known_.contains(term.reference); });
  }

  std::map<size_t, Known> known_;
};

// Families larger than a search can take are searched in parts.
std::vector<std::vector<uint32_t>> searchable_families(const merge::Plan& plan,
                                                       const std::function<bool(uint32_t)>& is_exact) {
  std::vector<std::vector<uint32_t>> parts;
  for (auto& family : merge::companion_groups(plan)) {
    std::erase_if(family, [&](uint32_t group) {
      return !std::ranges::all_of(plan.groups()[group].streams,
                                  [&](const merge::Stream& stream) { return is_exact(stream.variable); });
    });
    for (size_t begin = 0; begin + 1 < family.size(); begin += codec::kMaxRelatedFields) {
      const size_t end = std::min(family.size(), begin + codec::kMaxRelatedFields);
      parts.emplace_back(family.begin() + static_cast<ptrdiff_t>(begin), family.begin() + static_cast<ptrdiff_t>(end));
    }
  }
  return parts;
}

// Bits of payload for each element of a group.
double stored_bits(const OpenContainer& container, uint32_t number) {
  const merge::FrameGroup& group = container.plan->groups()[number];
  uint64_t bytes = 0;
  for (uint32_t frame = group.first_frame; frame < group.first_frame + group.frame_count; ++frame)
    bytes += container.index().frames[frame].encoded_bytes;
  return 8 * static_cast<double>(bytes) / static_cast<double>(group.bytes / group.type.size);
}

// The relation that a frame, or one of its entries, is predicted by, if there is one.
std::optional<codec::Relation> relation_in(const container::FramePayload& stored) {
  const auto stage = codec::find_stage(stored.recipe, stored.payload, codec::kRelationId);
  if (!stage) return std::nullopt;
  auto relation = codec::decode_relation(stage->parameters);
  if (!relation) return std::nullopt;
  return *std::move(relation);
}

}  // namespace

std::string key_of(const merge::Plan& plan, uint32_t group) {
  const Catalogue& catalogue = plan.catalogue();
  std::optional<uint32_t> key;
  for (const merge::Stream& stream : plan.groups()[group].streams) {
    if (stream.variable >= merge::kSkeleton) return {};
    const uint32_t its = catalogue.variables[stream.variable].key;
    if (key.value_or(its) != its) return {};
    key = its;
  }
  return catalogue.keys[*key];
}

const RelationPlan::Rule* RelationPlan::rule_of(uint32_t group) const {
  const auto found = rules_.find(group);
  return found == rules_.end() ? nullptr : &found->second;
}

std::vector<uint32_t> RelationPlan::references(const merge::Plan& plan, uint32_t number) const {
  const uint32_t group = plan.frames()[number].group;
  const Rule* rule = rule_of(group);
  std::vector<uint32_t> frames;
  if (rule == nullptr) return frames;
  for (const uint32_t other : rule->groups)
    frames.push_back(plan.groups()[other].first_frame + (number - plan.groups()[group].first_frame));
  return frames;
}

Result<std::vector<RawFrame>> RelationPlan::gather_references(const merge::Plan& plan, uint32_t number,
                                                              Sources& sources) const {
  std::vector<RawFrame> frames;
  for (const uint32_t reference : references(plan, number)) {
    FOREBAY_TRY(auto frame, gather(plan, reference, sources));
    frames.push_back(std::move(frame));
  }
  return frames;
}

codec::Related RelationPlan::related(uint32_t group, std::span<const RawFrame> references) const {
  codec::Related related;
  if (const Rule* rule = rule_of(group)) related.parameters = rule->parameters;
  for (const RawFrame& reference : references) related.references.push_back(reference.raw.span());
  return related;
}

Result<RelationPlan> find_relations(const merge::Plan& plan, Sources& sources,
                                    const std::function<bool(uint32_t)>& is_exact,
                                    std::span<const NamedRelation> remembered) {
  RelationPlan relations;
  for (const auto& family : searchable_families(plan, is_exact)) {
    FOREBAY_TRY(const auto fields, sample_family(plan, family, sources));
    const DataType type = plan.groups()[family.front()].type;
    std::optional<FoundRelations> found = Memory(plan, family, remembered).fit(fields, type);
    if (!found) found = codec::find_relations(fields, type);
    for (size_t i = 0; i < family.size(); ++i)
      if ((*found)[i]) relations.add(family[i], rule_of((*found)[i]->relation, family));
  }
  return relations;
}

std::vector<NamedRelation> relations_of(const OpenContainer& container) {
  std::vector<NamedRelation> all;
  std::set<uint32_t> known;
  const merge::Plan& plan = *container.plan;
  for (uint32_t number = 0; number < plan.frames().size(); ++number) {
    const auto& references = container.index().frames[number].references;
    const uint32_t group = plan.frames()[number].group;
    if (references.empty() || known.contains(group)) continue;
    const auto stored = container.reader->read(number);
    if (!stored) continue;
    auto relation = relation_in(*stored);
    if (!relation) continue;
    NamedRelation named{.target = key_of(plan, group), .references = {}, .relation = *std::move(relation)};
    for (const uint32_t reference : references)
      named.references.push_back(key_of(plan, plan.frames()[reference].group));
    if (std::ranges::any_of(named.relation.terms,
                            [&](const codec::RelationTerm& term) { return term.reference >= named.references.size(); }))
      continue;
    named.bits_per_element = stored_bits(container, group);
    known.insert(group);
    all.push_back(std::move(named));
  }
  return all;
}

}  // namespace forebay::engine

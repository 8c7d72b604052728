// The messages about caches (decision 0037).
#include "job/wire/check.h"
#include "job/wire/check_parts.h"

namespace forebay::job::wire {
namespace {

constexpr size_t kMostMembers = 256;  // n + m fit into GF(256)
constexpr size_t kMostEncodings = 64, kMostBad = 1 << 20;

Result<void> check_member(const Member& member, Budget& budget) {
  const size_t ranks = member.ranks() == nullptr ? 0 : member.ranks()->size() * sizeof(uint32_t);
  return budget.take(kEntryBytes + view(member.host()).size() + view(member.node()).size() +
                     view(member.addresses()).size() + view(member.stage()).size() + ranks);
}

// What every message about a group has in common.
template <class Group>
Result<void> check_group(const Group& group, Budget& budget) {
  const size_t members = group.members()->size();
  if (group.id() == 0) return broken("a message about an encoding without a number");
  if (members == 0 || members > kMostMembers || group.losses() >= members)
    return broken("a protection group of an impossible size");
  if (group.group() >= group.groups()) return broken("a protection group that the set does not have");
  for (const Member* member : *group.members()) FOREBAY_CHECK(check_member(*member, budget));
  return {};
}

Result<void> check_bad(const flatbuffers::Vector<flatbuffers::Offset<BadPieces>>* bad, size_t members, Budget& budget) {
  if (bad == nullptr) return {};
  if (bad->size() > kMostBad) return broken("a message that names too many pieces");
  for (const BadPieces* pieces : *bad) {
    FOREBAY_CHECK(budget.take(kEntryBytes));
    if (pieces->position() >= members || pieces->row() >= members || pieces->count() == 0 ||
        pieces->first() + pieces->count() < pieces->first())
      return broken("a message about pieces that cannot be");
  }
  return {};
}

Result<void> check_positions(const flatbuffers::Vector<uint32_t>* positions, size_t members) {
  if (positions == nullptr) return {};
  for (const uint32_t position : *positions)
    if (position >= members) return broken("a message about a member that the group does not have");
  return {};
}

Result<void> check_one(const Protect& protect, Budget& budget) {
  FOREBAY_CHECK(check_set(protect.set()));
  FOREBAY_CHECK(check_enum(protect.scheme(), Scheme::rs));
  FOREBAY_CHECK(check_group(protect, budget));
  if (protect.position() >= protect.members()->size()) return broken("a protection group without its own member");
  return {};
}

Result<void> check_one(const Repair& repair, Budget& budget) {
  FOREBAY_CHECK(check_set(repair.set()));
  FOREBAY_CHECK(check_round(repair.number()));
  FOREBAY_CHECK(check_group(repair, budget));
  FOREBAY_CHECK(check_bad(repair.bad(), repair.members()->size(), budget));
  FOREBAY_CHECK(check_positions(repair.lost(), repair.members()->size()));
  return check_positions(repair.self(), repair.members()->size());
}

Result<void> check_one(const CachedChecked& checked, Budget& budget) {
  FOREBAY_CHECK(check_round(checked.number()));
  return check_bad(checked.bad(), kMostMembers, budget);
}

Result<void> check_one(const RestartInPlace& in_place) {
  FOREBAY_CHECK(check_set(in_place.set()));
  return check_round(in_place.round());
}

Result<void> check_one(const Reject& reject) {
  FOREBAY_CHECK(check_set(reject.set()));
  return check_optional(reject.stored_as());
}

}  // namespace

Result<void> check_policy(const SetPolicy* policy) {
  if (policy == nullptr) return {};
  FOREBAY_CHECK(check_enum(policy->scheme(), Scheme::rs));
  FOREBAY_CHECK(check_enum(policy->flush(), FlushWish::never));
  if (policy->group_size() > kMostMembers || policy->losses() > kMostMembers)
    return broken("a policy with a protection group of an impossible size");
  return check_level(policy->level());
}

Result<void> check_level(const flatbuffers::String* level) {
  if (view(level).find('\0') != std::string_view::npos || view(level).size() > kMaxPathBytes)
    return broken("a cache level that is no path");
  return {};
}

Result<void> check_encodings(const flatbuffers::Vector<flatbuffers::Offset<Encoding>>* encodings, Budget& budget) {
  if (encodings == nullptr) return {};
  if (encodings->size() > kMostEncodings) return broken("an offer with too many encodings");
  for (const Encoding* encoding : *encodings) {
    FOREBAY_CHECK(check_group(*encoding, budget));
    if (encoding->position() >= encoding->members()->size()) return broken("a protection group without its own member");
  }
  return {};
}

Result<void> check_cache_message(const Message& message, size_t size) {
  Budget budget(size);
  switch (message.body_type()) {
    case Body::Protect:
      return check_one(*message.body_as_Protect(), budget);
    case Body::Seal:
      return check_set(message.body_as_Seal()->set());
    case Body::CheckCached:
      FOREBAY_CHECK(check_round(message.body_as_CheckCached()->number()));
      return check_set(message.body_as_CheckCached()->set());
    case Body::CachedChecked:
      return check_one(*message.body_as_CachedChecked(), budget);
    case Body::Repair:
      return check_one(*message.body_as_Repair(), budget);
    case Body::Repaired:
      return check_round(message.body_as_Repaired()->number());
    case Body::RecordRequest:
      return check_enum(message.body_as_RecordRequest()->part(), RecordPart::whole);
    case Body::RestartInPlace:
      return check_one(*message.body_as_RestartInPlace());
    case Body::Reject:
      return check_one(*message.body_as_Reject());
    case Body::Quarantine:
      return check_set(message.body_as_Quarantine()->set());
    default:
      return {};
  }
}

}  // namespace forebay::job::wire

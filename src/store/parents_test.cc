// Sets that refer to other sets: announcing, committing, removing, pruning.
#include <gmock/gmock.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

ParentEntry parent_of(const Manifest& manifest) {
  return {.name = manifest.name, .created_ns = manifest.created_ns, .frames = 3, .raw_bytes = 1000};
}

Manifest with_parents(Manifest manifest, std::vector<ParentEntry> parents) {
  manifest.parents = std::move(parents);
  manifest.since_full = manifest.parents.empty() ? 0 : 1;
  return manifest;
}

class ParentsTest : public TempTest {
 protected:
  Store open() const { return value(Store::open_for_writing(path("store"))); }

  Manifest commit_on(const Store& store, const std::string& name, const std::vector<ParentEntry>& parents) const {
    const auto staged = value(store.stage(name));
    check(staged->announce(parents));
    const Manifest manifest = with_parents(write_containers(staged->containers(), name, {{}, 77}), parents);
    check(staged->commit(manifest));
    return manifest;
  }

  Names sets(const Store& store) const {
    Names names;
    for (const SetInfo& set : value(store.list())) names.push_back(set.name);
    return names;
  }
};

TEST_F(ParentsTest, ComeBackInTheManifest) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  commit_on(store, "b", {parent_of(a)});
  const Manifest back = *value(store.find("b")).manifest;
  ASSERT_EQ(back.parents.size(), 1u);
  EXPECT_EQ(back.parents[0].name, "a");
  EXPECT_EQ(back.parents[0].created_ns, 5);
  EXPECT_EQ(back.parents[0].frames, 3u);
  EXPECT_EQ(back.parents[0].raw_bytes, 1000u);
  EXPECT_EQ(back.since_full, 1u);
  EXPECT_EQ(back.containers.size(), 2u);
}

TEST_F(ParentsTest, AreNotRemoved) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  commit_on(store, "b", {parent_of(a)});
  const Error refused = error(store.remove("a"));
  EXPECT_EQ(refused.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(refused.what, HasSubstr("'b'"));
  check(store.remove("b"));
  check(store.remove("a"));
  EXPECT_EQ(sets(store), Names{});
}

TEST_F(ParentsTest, AnnouncedOnesAreNotRemovedEither) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  {
    const auto staged = value(store.stage("b"));
    check(staged->announce(std::vector{parent_of(a)}));
    ASSERT_EQ(value(store.staged()).size(), 1u);
    EXPECT_EQ(value(store.staged())[0].name, "b");
    EXPECT_EQ(error(store.remove("a")).kind, ErrorKind::invalid_argument);
    EXPECT_EQ(sets(store), Names{"a"});
  }
  EXPECT_TRUE(value(store.staged()).empty());
  check(store.remove("a"));
}

TEST_F(ParentsTest, AnotherSetOfTheNameIsNotNeeded) {
  const Store store = open();
  Manifest a = commit_set(store, "a", {{}, 5});
  commit_on(store, "b", {parent_of(a)});
  check(remove_tree(AT_FDCWD, path("store/sets/a"), "a"));
  commit_set(store, "a", {{}, 6});
  check(store.remove("a"));
}

TEST_F(ParentsTest, WhatGoesMeanwhileIsNoticed) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  const auto staged = value(store.stage("b"));
  check(staged->announce(std::vector{parent_of(a)}));
  const Manifest b = with_parents(write_containers(staged->containers(), "b"), {parent_of(a)});
  check(remove_tree(AT_FDCWD, path("store/sets/a"), "a"));
  const Error gone = error(staged->commit(b));
  EXPECT_EQ(gone.kind, ErrorKind::changed);
  EXPECT_THAT(gone.what, HasSubstr("'a'"));
  EXPECT_EQ(sets(store), Names{});
}

TEST_F(ParentsTest, WhatIsReplacedMeanwhileIsNoticed) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  const auto staged = value(store.stage("b"));
  check(staged->announce(std::vector{parent_of(a)}));
  const Manifest b = with_parents(write_containers(staged->containers(), "b"), {parent_of(a)});
  check(remove_tree(AT_FDCWD, path("store/sets/a"), "a"));
  commit_set(store, "a", {{}, 6});
  EXPECT_EQ(error(staged->commit(b)).kind, ErrorKind::changed);
  const auto late = value(store.stage("c"));
  EXPECT_EQ(error(late->announce(std::vector{parent_of(a)})).kind, ErrorKind::changed);
}

SetInfo set_of(const std::string& name, int64_t created_ns, std::vector<ParentEntry> parents = {}) {
  Manifest manifest{.name = name, .created_ns = created_ns};
  return {name, {}, with_parents(std::move(manifest), std::move(parents))};
}

ParentEntry parent(const std::string& name, int64_t created_ns) { return {.name = name, .created_ns = created_ns}; }

TEST(PruneParents, StayWithWhatStays) {
  const std::vector<SetInfo> sets = {set_of("a", 1), set_of("b", 2, {parent("a", 1)}), set_of("c", 3),
                                     set_of("d", 4, {parent("b", 2)}), set_of("e", 5)};
  const PrunePlan two = to_prune(sets, {2, 0}, "e");
  EXPECT_EQ(two.removed, Names{"c"});
  EXPECT_EQ(two.needed, (std::vector<Needed>{{"b", "d"}, {"a", "b"}}));
  const PrunePlan one = to_prune(sets, {1, 0}, "e");
  EXPECT_EQ(one.removed, (Names{"c", "d", "b", "a"})) << "a set before its parents";
  EXPECT_TRUE(one.needed.empty());
}

TEST(PruneParents, OfSetsThatTheListDoesNotTellOf) {
  const std::vector<SetInfo> sets = {set_of("a", 1), set_of("b", 2), set_of("c", 3)};
  const Manifest packed = with_parents({.name = "d"}, {parent("b", 2)});
  const PrunePlan plan = to_prune(sets, {1, 0}, "c", {&packed, 1});
  EXPECT_EQ(plan.removed, Names{"a"});
  EXPECT_EQ(plan.needed, (std::vector<Needed>{{"b", "d"}}));
}

TEST(PruneParents, AnotherSetOfTheNameDoesNotStay) {
  const std::vector<SetInfo> sets = {set_of("a", 2), set_of("b", 3, {parent("a", 1)})};
  EXPECT_EQ(to_prune(sets, {1, 0}, "b").removed, Names{"a"});
}

TEST(PruneParents, ForgedCirclesEnd) {
  const std::vector<SetInfo> sets = {set_of("a", 1, {parent("b", 2)}), set_of("b", 2, {parent("a", 1)}),
                                     set_of("c", 3)};
  EXPECT_EQ(to_prune(sets, {1, 0}, "c").removed.size(), 2u);
  EXPECT_TRUE(to_prune(sets, {2, 0}, "c").removed.empty());
}

TEST(ManifestParents, AreChecked) {
  Manifest manifest{.name = "b"};
  const auto kind = [&](std::vector<ParentEntry> parents, uint64_t since_full = 1) {
    manifest.parents = std::move(parents);
    manifest.since_full = since_full;
    const auto back = parse_manifest(serialise(manifest), "m");
    return back ? std::nullopt : std::optional(back.error().kind);
  };
  EXPECT_EQ(kind({parent("a", 1)}), std::nullopt);
  EXPECT_EQ(kind({parent("a", 1)}, 0), ErrorKind::corrupt);
  for (const char* bad : {"b", "..", "", "x/y", "latest"}) EXPECT_EQ(kind({parent(bad, 1)}), ErrorKind::corrupt) << bad;
  EXPECT_EQ(kind({parent("a", 1), parent("a", 2)}), ErrorKind::corrupt);
  EXPECT_THAT(serialise(manifest), HasSubstr("\"version\": 2"));
  manifest.parents.clear();
  EXPECT_THAT(serialise(manifest), HasSubstr("\"version\": 1"));
}

}  // namespace
}  // namespace forebay::store

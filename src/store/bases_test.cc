// Sets that refer to other sets: announcing, committing, removing, pruning.
#include <gmock/gmock.h>

#include "store/test_store.h"

namespace forebay::store {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;

BaseEntry base_of(const Manifest& manifest) {
  return {.name = manifest.name, .created_ns = manifest.created_ns, .frames = 3, .raw_bytes = 1000};
}

Manifest with_bases(Manifest manifest, std::vector<BaseEntry> bases) {
  manifest.bases = std::move(bases);
  manifest.since_full = manifest.bases.empty() ? 0 : 1;
  return manifest;
}

class BasesTest : public TempTest {
 protected:
  Store open() const { return value(Store::open_for_writing(path("store"))); }

  Manifest commit_on(const Store& store, const std::string& name, const std::vector<BaseEntry>& bases) const {
    const auto staged = value(store.stage(name));
    check(staged->announce(bases));
    const Manifest manifest = with_bases(write_containers(staged->directory(), name, {{}, 77}), bases);
    check(staged->commit(manifest));
    return manifest;
  }

  Names sets(const Store& store) const {
    Names names;
    for (const SetInfo& set : value(store.list())) names.push_back(set.name);
    return names;
  }
};

TEST_F(BasesTest, ComeBackInTheManifest) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  commit_on(store, "b", {base_of(a)});
  const Manifest back = *value(store.find("b")).manifest;
  ASSERT_EQ(back.bases.size(), 1u);
  EXPECT_EQ(back.bases[0].name, "a");
  EXPECT_EQ(back.bases[0].created_ns, 5);
  EXPECT_EQ(back.bases[0].frames, 3u);
  EXPECT_EQ(back.bases[0].raw_bytes, 1000u);
  EXPECT_EQ(back.since_full, 1u);
  EXPECT_EQ(back.containers.size(), 2u);
}

TEST_F(BasesTest, AreNotRemoved) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  commit_on(store, "b", {base_of(a)});
  const Error refused = error(store.remove("a"));
  EXPECT_EQ(refused.kind, ErrorKind::invalid_argument);
  EXPECT_THAT(refused.what, HasSubstr("'b'"));
  check(store.remove("b"));
  check(store.remove("a"));
  EXPECT_EQ(sets(store), Names{});
}

TEST_F(BasesTest, AnnouncedOnesAreNotRemovedEither) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  {
    const auto staged = value(store.stage("b"));
    check(staged->announce(std::vector{base_of(a)}));
    ASSERT_EQ(value(store.staged()).size(), 1u);
    EXPECT_EQ(value(store.staged())[0].name, "b");
    EXPECT_EQ(error(store.remove("a")).kind, ErrorKind::invalid_argument);
    EXPECT_EQ(sets(store), Names{"a"});
  }
  EXPECT_TRUE(value(store.staged()).empty());
  check(store.remove("a"));
}

TEST_F(BasesTest, AnotherSetOfTheNameIsNotNeeded) {
  const Store store = open();
  Manifest a = commit_set(store, "a", {{}, 5});
  commit_on(store, "b", {base_of(a)});
  check(remove_tree(AT_FDCWD, path("store/sets/a"), "a"));
  commit_set(store, "a", {{}, 6});
  check(store.remove("a"));
}

TEST_F(BasesTest, WhatGoesMeanwhileIsNoticed) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  const auto staged = value(store.stage("b"));
  check(staged->announce(std::vector{base_of(a)}));
  const Manifest b = with_bases(write_containers(staged->directory(), "b"), {base_of(a)});
  check(remove_tree(AT_FDCWD, path("store/sets/a"), "a"));
  const Error gone = error(staged->commit(b));
  EXPECT_EQ(gone.kind, ErrorKind::changed);
  EXPECT_THAT(gone.what, HasSubstr("'a'"));
  EXPECT_EQ(sets(store), Names{});
}

TEST_F(BasesTest, WhatIsReplacedMeanwhileIsNoticed) {
  const Store store = open();
  const Manifest a = commit_set(store, "a", {{}, 5});
  const auto staged = value(store.stage("b"));
  check(staged->announce(std::vector{base_of(a)}));
  const Manifest b = with_bases(write_containers(staged->directory(), "b"), {base_of(a)});
  check(remove_tree(AT_FDCWD, path("store/sets/a"), "a"));
  commit_set(store, "a", {{}, 6});
  EXPECT_EQ(error(staged->commit(b)).kind, ErrorKind::changed);
  const auto late = value(store.stage("c"));
  EXPECT_EQ(error(late->announce(std::vector{base_of(a)})).kind, ErrorKind::changed);
}

SetInfo set_of(const std::string& name, int64_t created_ns, std::vector<BaseEntry> bases = {}) {
  Manifest manifest{.name = name, .created_ns = created_ns};
  return {name, "sets/" + name, with_bases(std::move(manifest), std::move(bases))};
}

BaseEntry base(const std::string& name, int64_t created_ns) { return {.name = name, .created_ns = created_ns}; }

TEST(PruneBases, StayWithWhatStays) {
  const std::vector<SetInfo> sets = {set_of("a", 1), set_of("b", 2, {base("a", 1)}), set_of("c", 3),
                                     set_of("d", 4, {base("b", 2)}), set_of("e", 5)};
  const PrunePlan two = to_prune(sets, {2, 0}, "e");
  EXPECT_EQ(two.removed, Names{"c"});
  EXPECT_EQ(two.needed, (std::vector<Needed>{{"b", "d"}, {"a", "b"}}));
  const PrunePlan one = to_prune(sets, {1, 0}, "e");
  EXPECT_EQ(one.removed, (Names{"c", "d", "b", "a"})) << "a set before its bases";
  EXPECT_TRUE(one.needed.empty());
}

TEST(PruneBases, OfSetsThatTheListDoesNotTellOf) {
  const std::vector<SetInfo> sets = {set_of("a", 1), set_of("b", 2), set_of("c", 3)};
  const Manifest packed = with_bases({.name = "d"}, {base("b", 2)});
  const PrunePlan plan = to_prune(sets, {1, 0}, "c", {&packed, 1});
  EXPECT_EQ(plan.removed, Names{"a"});
  EXPECT_EQ(plan.needed, (std::vector<Needed>{{"b", "d"}}));
}

TEST(PruneBases, AnotherSetOfTheNameDoesNotStay) {
  const std::vector<SetInfo> sets = {set_of("a", 2), set_of("b", 3, {base("a", 1)})};
  EXPECT_EQ(to_prune(sets, {1, 0}, "b").removed, Names{"a"});
}

TEST(PruneBases, ForgedCirclesEnd) {
  const std::vector<SetInfo> sets = {set_of("a", 1, {base("b", 2)}), set_of("b", 2, {base("a", 1)}), set_of("c", 3)};
  EXPECT_EQ(to_prune(sets, {1, 0}, "c").removed.size(), 2u);
  EXPECT_TRUE(to_prune(sets, {2, 0}, "c").removed.empty());
}

TEST(ManifestBases, AreChecked) {
  Manifest manifest{.name = "b"};
  const auto kind = [&](std::vector<BaseEntry> bases, uint64_t since_full = 1) {
    manifest.bases = std::move(bases);
    manifest.since_full = since_full;
    const auto back = parse_manifest(serialise(manifest), "m");
    return back ? std::nullopt : std::optional(back.error().kind);
  };
  EXPECT_EQ(kind({base("a", 1)}), std::nullopt);
  EXPECT_EQ(kind({base("a", 1)}, 0), ErrorKind::corrupt);
  for (const char* bad : {"b", "..", "", "x/y", "latest"}) EXPECT_EQ(kind({base(bad, 1)}), ErrorKind::corrupt) << bad;
  EXPECT_EQ(kind({base("a", 1), base("a", 2)}), ErrorKind::corrupt);
  EXPECT_THAT(serialise(manifest), HasSubstr("\"version\": 2"));
  manifest.bases.clear();
  EXPECT_THAT(serialise(manifest), HasSubstr("\"version\": 1"));
}

}  // namespace
}  // namespace forebay::store

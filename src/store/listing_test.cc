#include "store/listing.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>

#include "store/test_memory_backend.h"
#include "store/test_store.h"

namespace forebay::store {
namespace {

// Counts what reading costs.
class CountingBackend final : public MemoryBackend {
 public:
  Result<StampedText> manifest(const std::string& set) const override {
    ++manifests;
    return MemoryBackend::manifest(set);
  }
  Stamp manifest_stamp(const std::string& set) const override {
    ++stamps;
    return MemoryBackend::manifest_stamp(set);
  }
  mutable std::atomic<int> manifests = 0, stamps = 0;
};

std::string text_of(const std::vector<SetInfo>& sets) {
  std::string text;
  for (const SetInfo& set : sets)
    text += set.name + " " + (set.manifest ? serialise(*set.manifest) : set.manifest.error().message()) + "\n";
  return text;
}

class ListingTest : public testing::Test {
 protected:
  ListingTest() {
    for (int i = 0; i < kSets; ++i) commit(name(i), i);
  }
  static std::string name(int i) { return fmt::format("s{:03}", i); }
  void commit(const std::string& set, int64_t step, const std::vector<ParentEntry>& parents = {}) const {
    const auto staged = value(store_.stage(set));
    Manifest manifest = write_containers(
        staged->containers(), set, {.step = step, .created_ns = step, .ordinal = static_cast<uint64_t>(step) + 1});
    manifest.origin.series = "series";
    manifest.parents = parents;
    manifest.since_full = parents.empty() ? 0 : 1;
    check(staged->commit(manifest, Place::as_said));
  }
  std::string newest() const {
    const auto set = value(store_.choose([](std::span<const SetInfo> sets) -> Result<std::optional<std::string>> {
      return sets.back().manifest ? std::optional(sets.back().name) : std::nullopt;
    }));
    return set ? set->name : "none";
  }
  // What outline() tells without a listing.
  std::string truth() const {
    const std::string kept = backend_->listing(1 << 30).value_or("");
    backend_->put_listing("");
    std::string text = text_of(value(store_.outline()));
    backend_->put_listing(kept);
    return text;
  }
  void expect_cost(int manifests, int stamps, const std::function<void()>& work) const {
    backend_->manifests = backend_->stamps = 0;
    work();
    EXPECT_EQ(backend_->manifests, manifests);
    EXPECT_EQ(backend_->stamps, stamps);
  }

  static constexpr int kSets = 40;
  const std::shared_ptr<CountingBackend> backend_ = std::make_shared<CountingBackend>();
  const Store store_{backend_};
};

TEST_F(ListingTest, TheNewestOfManyTakesOneManifest) {
  expect_cost(kSets + 1, 0, [&] { EXPECT_EQ(newest(), name(kSets - 1)); });
  expect_cost(1, 0, [&] { EXPECT_EQ(newest(), name(kSets - 1)); });
  commit("more", 1000);
  expect_cost(2, kSets, [&] { EXPECT_EQ(newest(), "more"); });
  expect_cost(1, 0, [&] { EXPECT_EQ(newest(), "more"); });
  check(store_.remove("more"));
  EXPECT_EQ(newest(), name(kSets - 1));
}

TEST_F(ListingTest, TellsWhatTheManifestsTell) {
  commit("child", 2000, {{.name = name(3), .created_ns = 3, .frames = 1, .raw_bytes = 9}});
  const auto fresh = value(store_.outline()), kept = value(store_.outline()), all = value(store_.list());
  EXPECT_EQ(text_of(kept), text_of(fresh));
  ASSERT_EQ(kept.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(kept[i].name, all[i].name);
    EXPECT_EQ(kept[i].manifest->step, all[i].manifest->step);
    EXPECT_EQ(kept[i].manifest->ordinal, all[i].manifest->ordinal);
    EXPECT_EQ(kept[i].manifest->created_ns, all[i].manifest->created_ns);
    EXPECT_EQ(kept[i].manifest->origin.series, "series");
    EXPECT_EQ(kept[i].manifest->group_size, 2u);
    EXPECT_EQ(kept[i].files.path(), all[i].files.path());
  }
  EXPECT_TRUE(refers_to(*kept.back().manifest, name(3), 3));
}

TEST_F(ListingTest, ASetThatWasReplacedIsReadAgain) {
  newest();
  check(store_.remove(name(5)));
  commit(name(5), 5000);
  EXPECT_EQ(newest(), name(5));
}

TEST_F(ListingTest, NoDamageChangesAnAnswer) {
  newest();
  const std::string good = value(backend_->listing(1 << 30)), truth = this->truth();
  const auto expect_truth = [&](const std::string& listing) {
    backend_->put_listing(listing);
    EXPECT_EQ(text_of(value(store_.outline())), truth);
  };
  for (size_t bit = 5; bit < 8 * good.size(); bit += 8 * good.size() / 40) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    expect_truth(bad);
  }
  expect_truth(good.substr(0, good.size() / 2));
  expect_truth(std::string(100'000, '\0'));
  expect_truth(sealed("forebay-manifest", "{\"version\": 1}"));
  for (const char* body :
       {"{}", "[]", "{\"version\": 3}", "{\"version\": 2}", "{\"version\": 1}",
        "{\"version\": 2, \"sets_stamp\": [1, 2, 3, 4], \"settled\": true, \"sets\": [], \"unreadable\": []}",
        "{\"version\": 2, \"sets_stamp\": [1, 2, 3], \"settled\": true, \"sets\": [], \"unreadable\": []}",
        "{\"version\": 2, \"sets_stamp\": [1, 2, 3, 4], \"settled\": 1, \"sets\": [], \"unreadable\": []}",
        "{\"version\": 2, \"sets_stamp\": [1, 2, 3, 4], \"settled\": true, \"sets\": [3], \"unreadable\": []}",
        "{\"version\": 2, \"sets_stamp\": [1, 2, 3, 4], \"settled\": true, \"sets\": [], \"unreadable\": [\"../x\"]}"})
    expect_truth(sealed("forebay-listing", body));
}

TEST_F(ListingTest, OneOfAVersionWithoutOrdinalsIsNotBelieved) {
  newest();
  std::string body = value(backend_->listing(1 << 30));
  body = body.substr(body.find('\n') + 1);
  const size_t version = body.rfind("\"version\": 2");
  ASSERT_NE(version, std::string::npos);
  const size_t ordinal = body.find("\"ordinal\": 40");
  ASSERT_NE(ordinal, std::string::npos);
  body.replace(version, 12, "\"version\": 1");
  body.replace(ordinal, 13, "\"nothing\": 40");
  backend_->put_listing(sealed("forebay-listing", body));
  EXPECT_EQ(newest(), name(kSets - 1));
}

TEST_F(ListingTest, AListingOfAnotherStateIsNotBelieved) {
  newest();
  Listing listing = value(parse_listing(value(backend_->listing(1 << 30)), backend_));
  const auto with = [&](const std::function<void(Listing&)>& change) {
    Listing changed = listing;
    change(changed);
    backend_->put_listing(serialise(changed));
    return newest();
  };
  const std::string truth = name(kSets - 1);
  // As though a manifest had been changed in its place since: it is noticed when the set is used.
  EXPECT_EQ(with([](Listing& l) {
              l.sets.at("s003").manifest->ordinal = 5000;
              l.sets.at("s003").stamp.parts[1] += 7;
            }),
            truth);
  EXPECT_EQ(with([](Listing& l) { l.sets.erase("s039"); }), truth);
  EXPECT_EQ(with([](Listing& l) { l.sets_stamp = Stamp(); }), truth);
  EXPECT_EQ(with([](Listing& l) { l.is_settled = false; }), truth);
  EXPECT_EQ(with([&](Listing& l) {
              SetInfo ghost = l.sets.at("s039");
              ghost.name = ghost.manifest->name = "zzz";
              ghost.manifest->ordinal = 9000;
              l.sets.emplace("zzz", ghost);
            }),
            truth);
}

TEST_F(ListingTest, WhatCannotBeReadIsReadAgainEachTime) {
  const auto broken = value(backend_->stage("broken"));
  check(broken->publish("no manifest"));
  EXPECT_EQ(value(store_.outline()).front().name, "broken");
  EXPECT_FALSE(value(store_.outline()).front().manifest);
  EXPECT_EQ(text_of(value(store_.outline())), truth());
  expect_cost(1, 0, [&] { value(store_.outline()); });
}

TEST(Listing, IsNotMadeOfFewSets) {
  const auto backend = std::make_shared<CountingBackend>();
  const Store store(backend);
  commit_set(store, "a");
  value(store.outline());
  EXPECT_FALSE(backend->listing(1 << 20));
}

class ListingFileTest : public TempTest {};

TEST_F(ListingFileTest, IsAFileOfTheStoreThatMayBeLostOrDamaged) {
  const Store store = value(Store::open_for_writing(path("store")));
  for (int i = 0; i < 33; ++i) commit_set(store, fmt::format("s{:02}", i), {.step = i});
  const std::string truth = text_of(value(store.outline()));
  EXPECT_EQ(value(parse_listing(value(read_text(path("store/listing"), 1 << 20)), store.backend())).sets.size(), 33u);
  EXPECT_TRUE(names_in(path("store/staging"))->empty());
  EXPECT_EQ(text_of(value(store.outline())), truth);
  check(write_text(path("store"), "listing", "damaged"));
  EXPECT_EQ(text_of(value(store.outline())), truth);
  ::unlink(path("store/listing").c_str());
  ::mkdir(path("store/listing").c_str(), 0777);  // in the way
  EXPECT_EQ(text_of(value(store.outline())), truth);
  EXPECT_TRUE(names_in(path("store/staging"))->empty());
}

TEST_F(ListingFileTest, ManyMakeAndReadItWhileSetsComeAndGo) {
  const Store store = value(Store::open_for_writing(path("store")));
  for (int i = 0; i < 33; ++i) commit_set(store, fmt::format("s{:02}", i), {.step = i});
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 10; ++round) {
        const std::string mine = fmt::format("t{}", thread);
        commit_set(store, mine, {.step = 100 + thread});
        const auto here = [&](const SetInfo& set) { return set.name == mine && set.manifest; };
        EXPECT_TRUE(std::ranges::any_of(value(store.outline()), here));
        check(store.remove(mine));
        EXPECT_FALSE(std::ranges::any_of(value(store.outline()), here));
      }
    });
  threads.clear();
  EXPECT_EQ(value(store.outline()).size(), 33u);
}

}  // namespace
}  // namespace forebay::store

// Removing many sets at once, while others commit and remove.
#include <algorithm>
#include <atomic>
#include <functional>

#include "store/test_memory_backend.h"
#include "store/test_store.h"

namespace forebay::store {
namespace {

using Names = std::vector<std::string>;

// Lets others act while sets are being withdrawn.
class BusyBackend final : public MemoryBackend {
 public:
  Result<std::unique_ptr<Withdrawn>> withdraw(const std::string& set) const override {
    if (before_withdrawing) before_withdrawing(set);
    return MemoryBackend::withdraw(set);
  }
  Result<StampedText> manifest(const std::string& set) const override {
    ++manifests;
    return MemoryBackend::manifest(set);
  }
  std::function<void(const std::string&)> before_withdrawing;
  mutable std::atomic<int> manifests = 0;
};

class RemovalTest : public testing::Test {
 protected:
  ParentEntry commit(const std::string& name, int64_t created_ns, const std::vector<ParentEntry>& parents = {}) const {
    const auto staged = value(store_.stage(name));
    Manifest manifest = write_containers(staged->containers(), name, {.created_ns = created_ns});
    manifest.parents = parents;
    manifest.since_full = parents.empty() ? 0 : 1;
    check(staged->commit(manifest));
    return {.name = name, .created_ns = created_ns};
  }
  Names names() const {
    Names names;
    for (const SetInfo& set : value(store_.list())) names.push_back(set.name);
    std::ranges::sort(names);
    return names;
  }

  const std::shared_ptr<BusyBackend> backend_ = std::make_shared<BusyBackend>();
  const Store store_{backend_};
};

TEST_F(RemovalTest, ManyGoTogetherAndTheirManifestsAreReadOnce) {
  Names all;
  for (int i = 0; i < 600; ++i) {
    commit("s" + std::to_string(i), i);
    all.push_back("s" + std::to_string(i));
  }
  auto known = value(store_.list());
  backend_->manifests = 0;
  for (const auto& result : store_.remove(std::span(all).first(599), std::move(known))) check(result);
  EXPECT_EQ(backend_->manifests, 0);
  EXPECT_EQ(names(), Names{"s599"});
}

TEST_F(RemovalTest, ChildrenGoBeforeTheirParentsAndParentsOfOthersStay) {
  const auto a = commit("a", 1), b = commit("b", 2, {a}), x = commit("x", 4);
  commit("c", 3, {a, b});
  commit("y", 5, {x});
  const auto results = store_.remove(Names{"x", "c", "b", "a", "gone"}, value(store_.list()));
  EXPECT_EQ(error(results[0]).kind, ErrorKind::invalid_argument);
  for (int i = 1; i < 4; ++i) check(results[static_cast<size_t>(i)]);
  EXPECT_EQ(error(results[4]).kind, ErrorKind::not_found);
  EXPECT_EQ(names(), (Names{"x", "y"}));
}

TEST_F(RemovalTest, WhatIsAnnouncedMeanwhileComesBackWithItsParents) {
  const auto a = commit("a", 1), b = commit("b", 2, {a});
  commit("other", 3);
  const auto writer = value(store_.stage("new"));
  backend_->before_withdrawing = [&](const std::string& set) {
    if (set == "b") check(writer->announce(std::vector{b}));
  };
  const auto results = store_.remove(Names{"b", "a", "other"}, {});
  EXPECT_EQ(error(results[0]).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(error(results[1]).kind, ErrorKind::invalid_argument);
  check(results[2]);
  EXPECT_EQ(names(), (Names{"a", "b"}));
  Manifest manifest = write_containers(writer->containers(), "new");
  manifest.parents = {b};
  manifest.since_full = 1;
  check(writer->commit(manifest));
}

TEST_F(RemovalTest, ASetThatTookAnotherOnesNameIsSeen) {
  const auto parent = commit("parent", 1);
  commit("s", 2);
  auto known = value(store_.list());
  check(store_.remove("s"));
  commit("s", 3, {parent});
  EXPECT_EQ(error(store_.remove(Names{"parent"}, std::move(known)).front()).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(names(), (Names{"parent", "s"}));
}

TEST_F(RemovalTest, AChildThatIsCommittedMeanwhileIsSeen) {
  const auto parent = commit("parent", 1);
  backend_->before_withdrawing = [&](const std::string&) {
    const auto staged = value(store_.stage("child"));
    check(staged->announce(std::vector{parent}));
    Manifest manifest = write_containers(staged->containers(), "child");
    manifest.parents = {parent};
    manifest.since_full = 1;
    check(staged->commit(manifest));
  };
  EXPECT_EQ(error(store_.remove("parent")).kind, ErrorKind::invalid_argument);
  EXPECT_EQ(names(), (Names{"child", "parent"}));
}

}  // namespace
}  // namespace forebay::store

// What every backend of a store must do, and what a store does on each.
#include <algorithm>
#include <array>
#include <memory>

#include "store/test_memory_backend.h"
#include "store/test_store.h"

namespace forebay::store {
namespace {

enum class Kind { directory, memory };

class BackendContract : public TempTest, public testing::WithParamInterface<Kind> {
 protected:
  BackendContract()
      : backend_(GetParam() == Kind::memory ? std::make_shared<MemoryBackend>()
                                            : value(Store::open_for_writing(path("store"))).backend()),
        store_(backend_) {}

  // What another process would hold: a store of its own, where the backend is one that several may open.
  Store other() const { return GetParam() == Kind::memory ? store_ : value(Store::open(path("store"))); }

  static void put(StagedContainers& containers, const std::string& name, const std::string& text) {
    const auto sink = value(containers.create(name));
    const std::array<std::span<const std::byte>, 3> parts{
        as_bytes(text).first(text.size() / 2), {}, as_bytes(text).subspan(text.size() / 2)};
    check(sink->append(parts));
    EXPECT_EQ(sink->size(), text.size());
    check(sink->finish());
  }

  static std::string get(const ByteSource& source) {
    std::string text(source.size(), '\0');
    check(source.read_at(0, std::as_writable_bytes(std::span(text))));
    return text;
  }

  static std::vector<std::string> sorted(std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
  }

  std::shared_ptr<const Backend> backend_;
  Store store_;
};

using Names = std::vector<std::string>;

TEST_P(BackendContract, WhatWasWrittenAndPublishedIsReadBack) {
  {
    const auto staging = value(backend_->stage("a"));
    put(*staging, "c0", "first container");
    put(*staging, "c1", std::string(100'000, 'x'));
    EXPECT_EQ(get(*value(staging->open("c0"))), "first container") << "before it is published";
    EXPECT_FALSE(value(backend_->has("a")));
    EXPECT_EQ(value(backend_->set_names()), Names());
    check(staging->publish("text of the manifest"));
  }
  EXPECT_TRUE(value(backend_->has("a")));
  EXPECT_EQ(value(backend_->set_names()), Names{"a"});
  EXPECT_EQ(value(backend_->manifest("a")).text, "text of the manifest");
  EXPECT_EQ(get(*value(backend_->open("a", "c0"))), "first container");
  EXPECT_EQ(value(backend_->open("a", "c1"))->size(), 100'000u);
  EXPECT_EQ(sorted(value(backend_->names_in("a"))), (Names{"c0", "c1", "manifest"}));
}

TEST_P(BackendContract, WhatIsNotThereIsNotFound) {
  EXPECT_EQ(error(backend_->manifest("a")).kind, ErrorKind::not_found);
  EXPECT_EQ(error(backend_->open("a", "c")).kind, ErrorKind::not_found);
  EXPECT_EQ(value(backend_->names_in("a")), Names());
  EXPECT_FALSE(backend_->manifest_stamp("a").is_set());
  check(value(backend_->stage("a"))->publish("text"));
  EXPECT_EQ(error(backend_->open("a", "c")).kind, ErrorKind::not_found);
  EXPECT_FALSE(backend_->withdraw("b"));
}

TEST_P(BackendContract, OtherProcessesWriteContainersIntoAStagedSet) {
  const auto staging = value(backend_->stage("a"));
  EXPECT_EQ(staging->id().find('/'), std::string::npos);
  const Store theirs = other();
  const auto joined = value(theirs.join(staging->id()));
  EXPECT_EQ(joined->id(), staging->id());
  put(*joined, "theirs", "of another process");
  put(*staging, "mine", "of this one");
  EXPECT_EQ(error(joined->create("mine")).kind, ErrorKind::exists);
  EXPECT_EQ(error(staging->create("theirs")).kind, ErrorKind::exists);
  EXPECT_EQ(sorted(value(joined->names())), (Names{"mine", "theirs"}));
  check(staging->check("theirs", 18));
  EXPECT_EQ(error(staging->check("theirs", 17)).kind, ErrorKind::corrupt);
  EXPECT_EQ(error(staging->check("nobody's", 1)).kind, ErrorKind::not_found);
  check(joined->remove("mine"));
  check(joined->remove("mine"));
  check(staging->publish("text"));
  EXPECT_EQ(get(*value(backend_->open("a", "theirs"))), "of another process");
  EXPECT_EQ(error(backend_->open("a", "mine")).kind, ErrorKind::not_found);
  EXPECT_EQ(value(joined->names()), Names()) << "staged no longer";
}

TEST_P(BackendContract, OnlySetsThatAreBeingWrittenAreJoined) {
  std::string id;
  {
    const auto staging = value(backend_->stage("a"));
    id = staging->id();
    value(store_.join(id));
  }
  EXPECT_EQ(error(store_.join(id)).kind, ErrorKind::not_found) << "abandoned";
  for (const char* wrong : {"", "a", "..", "../sets", ".", "a.b.1.0123456789abcdef/../../sets"})
    EXPECT_EQ(error(store_.join(wrong)).kind, ErrorKind::invalid_argument) << wrong;
}

TEST_P(BackendContract, AnAbandonedContainerCountsForNothing) {
  const auto staging = value(backend_->stage("a"));
  const auto text = as_bytes(std::string_view("half"));
  check(value(staging->create("c"))->append(std::span(&text, 1)));
  EXPECT_FALSE(staging->create("c")) << "the name is taken until it is removed";
  check(staging->remove("c"));
  put(*staging, "c", "whole");
  EXPECT_EQ(get(*value(staging->open("c"))), "whole");
}

TEST_P(BackendContract, OneOfTwoGetsTheName) {
  const auto first = value(backend_->stage("a")), second = value(backend_->stage("a"));
  put(*first, "c", "first");
  put(*second, "c", "second");
  check(second->publish("of the second"));
  EXPECT_EQ(error(first->publish("of the first")).kind, ErrorKind::exists);
  EXPECT_EQ(value(backend_->manifest("a")).text, "of the second");
}

TEST_P(BackendContract, AContainerOfACommittedSetIsTakenOver) {
  const auto first = value(backend_->stage("a"));
  put(*first, "c", "bytes");
  check(first->publish("text"));
  const auto second = value(backend_->stage("b"));
  check(second->copy_from("a", "c"));
  EXPECT_FALSE(second->copy_from("a", "c")) << "it is there already";
  EXPECT_FALSE(second->copy_from("a", "d"));
  check(second->publish("text"));
  check(value(backend_->withdraw("a"))->purge());
  EXPECT_EQ(get(*value(backend_->open("b", "c"))), "bytes");
}

TEST_P(BackendContract, AnnouncedManifestsAreSeenUntilTheSetIsPublishedOrGone) {
  const auto ids = [&] {
    Names all;
    for (const auto& one : value(other().backend()->announced())) all.push_back(one.id + " " + one.manifest);
    return sorted(all);
  };
  const auto silent = value(backend_->stage("s"));
  auto gone = value(backend_->stage("g"));
  const auto told = value(backend_->stage("t"));
  check(gone->announce("of g"));
  check(told->announce("of t"));
  EXPECT_EQ(ids(), (Names{gone->id() + " of g", told->id() + " of t"}));
  gone.reset();
  EXPECT_EQ(ids(), Names{told->id() + " of t"});
  check(told->publish("of t at last"));
  EXPECT_EQ(ids(), Names());
  EXPECT_EQ(value(backend_->manifest("t")).text, "of t at last");
}

TEST_P(BackendContract, AWithdrawnSetIsOutOfSightAndComesBackOrGoes) {
  check(value(backend_->stage("a"))->publish("text"));
  const auto reader = value(backend_->stage("b"));
  put(*reader, "c", "bytes");
  check(reader->publish("text of b"));
  const auto open = value(backend_->open("b", "c"));
  {
    const auto withdrawn = value(backend_->withdraw("a"));
    EXPECT_FALSE(value(backend_->has("a")));
    const auto announced = value(backend_->announced());
    ASSERT_EQ(announced.size(), 1u) << "it may still be put back: what it refers to must stay";
    EXPECT_EQ(announced[0].id, withdrawn->id());
    EXPECT_EQ(announced[0].manifest, "text");
    check(withdrawn->put_back());
  }
  EXPECT_EQ(value(backend_->manifest("a")).text, "text");
  check(value(backend_->withdraw("b"))->purge());
  {
    const auto dropped = value(backend_->withdraw("a"));
  }
  EXPECT_EQ(value(backend_->set_names()), Names());
  EXPECT_TRUE(value(backend_->announced()).empty());
  EXPECT_EQ(get(*open), "bytes") << "who has it open reads on";
}

TEST_P(BackendContract, StampsTellOneStateFromAnother) {
  const Stamp empty = backend_->sets_stamp();
  check(value(backend_->stage("a"))->publish("text"));
  const Stamp one = backend_->sets_stamp(), first = backend_->manifest_stamp("a");
  EXPECT_TRUE(one.is_set());
  EXPECT_TRUE(one == backend_->sets_stamp());
  EXPECT_TRUE(first == value(backend_->manifest("a")).stamp);
  check(value(backend_->withdraw("a"))->purge());
  check(value(backend_->stage("a"))->publish("another text"));
  EXPECT_FALSE(first == backend_->manifest_stamp("a"));
  EXPECT_FALSE(Stamp() == Stamp());
  (void)empty;  // within the grain of a file system's clock it may equal what follows
}

TEST_P(BackendContract, AStoreCommitsReadsAndRemovesOnIt) {
  const Manifest put = commit_set(store_, "run.1", {.step = 7, .created_ns = 5});
  commit_set(store_, "run.2", {.step = 6, .ordinal = 1});
  const SetInfo set = value(other().find("run.1"));
  EXPECT_EQ(serialise(value(set.manifest)), serialise(put));
  EXPECT_EQ(value(set.files.open(put.containers[0].name))->size(), put.containers[0].bytes);
  EXPECT_EQ(value(set.files.of("run.2").names()).size(), 3u);
  EXPECT_EQ(error(store_.stage("run.1")).kind, ErrorKind::exists);
  EXPECT_EQ(value(store_.list()).back().name, "run.2");
  check(store_.remove("run.2"));
  EXPECT_EQ(value(store_.list()).size(), 1u);
  EXPECT_EQ(error(store_.find("run.2")).kind, ErrorKind::not_found);
}

TEST_P(BackendContract, WhatWasSetAsideIsTakenBackForTheSameReasonOnly) {
  commit_set(store_, "run.1", {.step = 7, .created_ns = 5});
  check(store_.take_back("run.1", "it was dropped"));
  check(store_.set_aside("run.1", "it was dropped"));
  EXPECT_EQ(value(other().find("run.1")).refused, "it was dropped");
  check(store_.take_back("run.1", "it was damaged"));
  EXPECT_EQ(value(other().find("run.1")).refused, "it was dropped");
  check(store_.take_back("run.1", "it was dropped"));
  EXPECT_FALSE(value(other().find("run.1")).refused);
  EXPECT_EQ(error(store_.take_back("run.2", "it was dropped")).kind, ErrorKind::not_found);
  EXPECT_EQ(error(backend_->take_back("run.2")).kind, ErrorKind::not_found);
}

TEST_P(BackendContract, AParentThatASetRefersToStays) {
  const Manifest parent = commit_set(store_, "parent", {.created_ns = 1});
  const ParentEntry entry{.name = "parent", .created_ns = 1, .frames = 1, .raw_bytes = 10};
  const auto staged = value(store_.stage("child"));
  check(staged->announce({&entry, 1}));
  EXPECT_EQ(error(store_.remove("parent")).kind, ErrorKind::invalid_argument);
  Manifest manifest = write_containers(staged->containers(), "child");
  manifest.parents = {entry};
  manifest.since_full = 1;
  check(staged->commit(manifest));
  EXPECT_EQ(error(store_.remove("parent")).kind, ErrorKind::invalid_argument);
  check(store_.remove("child"));
  check(store_.remove("parent"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, BackendContract, testing::Values(Kind::directory, Kind::memory),
                         [](const auto& kind) { return kind.param == Kind::memory ? "Memory" : "Directory"; });

}  // namespace
}  // namespace forebay::store

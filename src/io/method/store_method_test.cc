#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "container/container.h"
#include "engine/restore/restore.h"
#include "io/file/file_reader.h"
#include "io/method/registry.h"
#include "io/method/staged_file.h"
#include "store/store.h"

namespace forebay::io {
namespace {
namespace fs = std::filesystem;

constexpr uint32_t kRanks = 3;
constexpr uint64_t kMostListed = uint64_t{1} << 30;

struct RankValues {
  RankValues(uint32_t rank, uint32_t time_index) : numbers(20'000, rank * 1000.0 + time_index) {
    group.group = "fields";
    group.rank = rank;
    group.time_index = time_index;
    Block block;
    block.name = "temperature";
    block.type = ValueType::float64;
    block.is_array = true;
    block.shape = {20, 1000};
    block.global_shape = {20 * kRanks, 1000};
    block.offsets = {20 * rank, 0};
    block.transform = "zlib";  // what is staged is packed by the profile; the text stays
    block.bytes = std::as_bytes(std::span(numbers));
    group.blocks.push_back(block);
  }
  std::vector<double> numbers;
  ProcessGroup group;
};

class StoreMethodTest : public testing::Test {
 protected:
  StoreMethodTest() {
    std::string pattern = testing::TempDir() + "forebay-method-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
    definition_.name = "fields";
  }
  ~StoreMethodTest() override { fs::remove_all(root_); }

  void on_ranks(const std::function<void(std::shared_ptr<Communicator>, Method&)>& rank_does) {
    const MethodChoice choice{.name = "FOREBAY", .parameters = "profile=fast;stage=" + root_};
    auto ranks = thread_ranks(kRanks);
    std::vector<std::jthread> threads;
    for (auto& rank : ranks)
      threads.emplace_back([&, own = std::shared_ptr<Communicator>(std::move(rank))]() mutable {
        auto made = MethodRegistry::instance().make(choice);
        ASSERT_TRUE(made) << made.error().error.message();
        EXPECT_TRUE(made->warnings.empty());
        rank_does(std::move(own), *made->method);
      });
  }

  Outcome<std::unique_ptr<OpenFile>> open(Method& method, std::shared_ptr<Communicator> ranks, OpenMode mode) const {
    return method.open(
        {.path = root_ + "/dump.bp", .mode = mode, .group = &definition_, .communicator = std::move(ranks)});
  }

  void write(std::shared_ptr<Communicator> own, Method& method, uint32_t time_index) const {
    auto opened = open(method, own, OpenMode::append);
    ASSERT_TRUE(opened) << opened.error().error.message();
    RankValues values(own->rank(), time_index);
    const auto closed = (*opened)->close({&values.group, 1});
    ASSERT_TRUE(closed) << closed.error().error.message();
  }

  std::string store() const { return root_ + "/fields.store"; }
  std::string stage() const { return root_ + "/forebay-io-" + std::to_string(geteuid()); }  // of this user

  std::string root_;
  GroupDefinition definition_;
};

TEST_F(StoreMethodTest, StepsOfALaterProgramComeBehindThoseThatAreThere) {
  for (uint32_t before = 0; before <= 4; before += 2)
    on_ranks([&](std::shared_ptr<Communicator> own, Method& method) {
      auto opened = open(method, own, before == 4 ? OpenMode::write : OpenMode::append);
      ASSERT_TRUE(opened) << opened.error().error.message();
      EXPECT_EQ((*opened)->standing().last_time_index, before);
      for (uint32_t time_index = before + 1; time_index <= before + 2; ++time_index) write(own, method, time_index);
      opened->reset();
      EXPECT_TRUE(method.finalize(*own));
    });
  EXPECT_TRUE(fs::exists(store() + "/sets/dump-000006"));
  EXPECT_FALSE(fs::exists(store() + "/sets/dump-000001+2"));
}

TEST(StagedSets, TellTheLastTimeIndexOfAFile) {
  const std::vector<std::string> sets = {"run-000002", "run-000010+3", "run-x", "run-000011x", "other-000099", "run-1"};
  EXPECT_EQ(last_time_index(sets, "/scratch/run.bp"), 10u);
  EXPECT_EQ(last_time_index(sets, "nothing.bp"), 0u);
  EXPECT_EQ(last_time_index(std::vector<std::string>{"run-1234567", "run-99999999999999999999"}, "run.bp"), 1234567u);
}

TEST_F(StoreMethodTest, PutsStepsIntoAStoreWithTheSameVariableOfAllRanksTogether) {
  on_ranks([&](std::shared_ptr<Communicator> own, Method& method) {
    for (uint32_t time_index = 1; time_index <= 4; ++time_index) write(own, method, time_index);
    const auto done = method.finalize(*own);
    ASSERT_TRUE(done) << done.error().error.message();
  });

  for (uint32_t time_index = 1; time_index <= 4; ++time_index) {
    const std::string name = "dump-00000" + std::to_string(time_index), to = root_ + "/" + name;
    auto container = FileSource::open(store() + "/sets/" + name + "/00000-of-00001.fbc");
    ASSERT_TRUE(container) << container.error().message();
    const auto opened = container::Reader::open(std::move(*container), kMostListed);
    ASSERT_TRUE(opened);
    const Catalogue& catalogue = (*opened)->index().catalogue;
    ASSERT_EQ(catalogue.variables.size(), kRanks);
    EXPECT_EQ(catalogue.keys.size(), 1u);
    EXPECT_EQ(catalogue.globals.size(), kRanks);

    engine::RestoreOptions restore;
    restore.store = store();
    restore.name = name;
    restore.target = to;
    ASSERT_TRUE(engine::restore(restore));
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      const auto file = FileReader::open(to + "/rank00000" + std::to_string(rank) + ".pg", kMostListed);
      ASSERT_TRUE(file) << file.error().message();
      const auto part = (*file)->open_part(0);
      ASSERT_TRUE(part) << part.error().message();
      std::vector<double> numbers(20'000);
      ASSERT_TRUE(part->read(0, std::as_writable_bytes(std::span(numbers))));
      EXPECT_EQ(numbers, RankValues(rank, time_index).numbers);
      EXPECT_EQ(part->group().blocks[0].transform, "zlib");
      EXPECT_EQ(part->group().time_index, time_index);
    }
  }
}

// What is large is staged before the close, in a process group of its own.
TEST_F(StoreMethodTest, StagesBlocksWhileTheProgramHasThem) {
  on_ranks([&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, OpenMode::append);
    ASSERT_TRUE(opened) << opened.error().error.message();
    RankValues early(own->rank(), 1), late(own->rank(), 1);
    early.group.attributes.push_back(AttributeValue{"units", ValueType::string, 1, Bytes{std::byte{75}}, ""});
    late.group.attributes = early.group.attributes;
    late.group.blocks[0].name = "pressure";
    EXPECT_GT((*opened)->room(), early.numbers.size() * sizeof(double));
    ASSERT_TRUE((*opened)->spill(early.group));
    std::ranges::fill(early.numbers, -1);  // they are the program's again
    const auto closed = (*opened)->close({&late.group, 1});
    ASSERT_TRUE(closed) << closed.error().error.message();
    opened->reset();
    ASSERT_TRUE(method.finalize(*own));
  });
  EXPECT_FALSE(fs::exists(stage()));

  engine::RestoreOptions restore;
  restore.store = store();
  restore.name = "dump-000001";
  restore.target = root_ + "/restored";
  ASSERT_TRUE(engine::restore(restore));
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    const auto file = FileReader::open(restore.target + "/rank00000" + std::to_string(rank) + ".pg", kMostListed);
    ASSERT_TRUE(file) << file.error().message();
    ASSERT_EQ((*file)->listing().parts.size(), 2u);
    for (size_t number : {0, 1}) {
      const auto part = (*file)->open_part(number);
      ASSERT_TRUE(part) << part.error().message();
      EXPECT_EQ(part->group().blocks[0].name, number == 0 ? "temperature" : "pressure");
      EXPECT_EQ(part->group().attributes.size(), number == 0 ? 1u : 0u);
      std::vector<double> numbers(20'000);
      ASSERT_TRUE(part->read(0, std::as_writable_bytes(std::span(numbers))));
      EXPECT_EQ(numbers, RankValues(rank, 1).numbers);
    }
  }
}

// A file that is not closed leaves nothing behind, neither in the stage nor in the store.
TEST_F(StoreMethodTest, DropsWhatWasNotClosed) {
  on_ranks([&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, OpenMode::append);
    ASSERT_TRUE(opened) << opened.error().error.message();
    const RankValues early(own->rank(), 1);
    ASSERT_TRUE((*opened)->spill(early.group));
    ASSERT_TRUE(own->all_reduce(0, Reduction::sum));  // nobody writes into a directory that is being removed
    opened->reset();
    ASSERT_TRUE(method.finalize(*own));
  });
  EXPECT_FALSE(fs::exists(store() + "/sets/dump-000001"));
  EXPECT_FALSE(fs::exists(stage()));
}

TEST_F(StoreMethodTest, TellsAllRanksOfASetThatCouldNotBeStored) {
  std::ofstream(store()) << "no store";
  on_ranks([&](std::shared_ptr<Communicator> own, Method& method) {
    write(own, method, 1);
    const auto done = method.finalize(*own);
    ASSERT_FALSE(done);
    EXPECT_THAT(done.error().error.message(), testing::HasSubstr("dump-000001 is not in the store"));
    EXPECT_THAT(done.error().error.message(), testing::ContainsRegex("still in [^ ]*/dump-000001;"));
  });
  for (const auto& owner : fs::directory_iterator(stage()))
    EXPECT_TRUE(fs::exists(owner.path() / "dump-000001/rank000000.pg")) << "under the name that it would have there";

  // The next run has it still, and stores it.
  fs::remove(store());
  on_ranks([&](std::shared_ptr<Communicator> own, Method& method) {
    write(own, method, 2);
    EXPECT_TRUE(method.finalize(*own));
  });
  const auto opened = store::Store::open(store());
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->find("dump-000001"));
  EXPECT_TRUE(opened->find("dump-000002"));
}

}  // namespace
}  // namespace forebay::io

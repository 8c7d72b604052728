// What every method that writes files promises, with threads as ranks.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "io/file/file_reader.h"
#include "io/file/growing_file.h"
#include "io/method/registry.h"

namespace forebay::io {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMemory = uint64_t{1} << 30;

// One block, of which everything follows from rank and step.
struct Values {
  Values(uint32_t rank, uint32_t ranks, uint64_t step) : numbers(1000, rank * 1000.0 + static_cast<double>(step)) {
    group.group = "g";
    group.rank = rank;
    group.step = step;
    group.time_index = static_cast<uint32_t>(step + 1);
    Block block;
    block.name = "x";
    block.type = ValueType::float64;
    block.is_array = true;
    block.shape = {10, 100};
    block.global_shape = {10 * ranks, 100};
    block.offsets = {10 * rank, 0};
    block.bytes = std::as_bytes(std::span(numbers));
    block.characteristics.count = 1000;
    block.characteristics.min = block.characteristics.max = numbers[0];
    group.blocks.push_back(block);
    group.attributes.push_back({"note", ValueType::string, 1, Bytes(5, std::byte{'n'}), ""});
  }
  std::vector<double> numbers;
  ProcessGroup group;
};

// Something happens when rank 1 has got the first message.
class Interrupted final : public Communicator {
 public:
  Interrupted(std::shared_ptr<Communicator> ranks, std::function<void()> what)
      : ranks_(std::move(ranks)), what_(std::move(what)) {}
  uint32_t rank() const override { return ranks_->rank(); }
  uint32_t size() const override { return ranks_->size(); }
  Result<void> send(std::span<const std::byte> message, uint32_t to) override { return ranks_->send(message, to); }
  Result<Bytes> receive(uint32_t from) override {
    Result<Bytes> message = ranks_->receive(from);
    if (rank() == 1)
      if (const auto what = std::exchange(what_, nullptr)) what();
    return message;
  }
  Result<std::unique_ptr<Communicator>> split(uint32_t colour, uint32_t key) override {
    return ranks_->split(colour, key);
  }

 private:
  std::shared_ptr<Communicator> ranks_;
  std::function<void()> what_;
};

class MethodContract : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) / ("forebay-method-" + std::to_string(getpid()));
    fs::create_directories(directory_);
    definition_.name = "g";
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string file() const { return directory_ / "file.fb"; }

  // Runs `rank_does(communicator, method)` at each rank.
  void on_ranks(uint32_t count, const std::function<void(std::shared_ptr<Communicator>, Method&)>& rank_does) {
    on_ranks(GetParam(), count, rank_does);
  }
  static void on_ranks(const std::string& text, uint32_t count,
                       const std::function<void(std::shared_ptr<Communicator>, Method&)>& rank_does) {
    const size_t colon = text.find(':');
    MethodChoice choice{.name = text.substr(0, colon)};
    if (colon != std::string::npos) choice.parameters = text.substr(colon + 1);
    auto ranks = thread_ranks(count);
    std::vector<std::jthread> threads;
    for (auto& rank : ranks)
      threads.emplace_back([&, own = std::shared_ptr<Communicator>(std::move(rank))]() mutable {
        auto made = MethodRegistry::instance().make(choice);
        ASSERT_TRUE(made);
        EXPECT_TRUE(made->warnings.empty());
        rank_does(std::move(own), *made->method);
      });
  }

  Outcome<std::unique_ptr<OpenFile>> open(Method& method, std::shared_ptr<Communicator> ranks, OpenMode mode) const {
    return method.open({.path = file(), .mode = mode, .group = &definition_, .communicator = std::move(ranks)});
  }

  void write_steps(uint32_t ranks, std::vector<OpenMode> modes) { write_steps(GetParam(), ranks, std::move(modes)); }
  void write_steps(const std::string& by, uint32_t ranks, std::vector<OpenMode> modes) {
    on_ranks(by, ranks, [&](std::shared_ptr<Communicator> own, Method& method) {
      for (const OpenMode mode : modes) {
        auto opened = open(method, own, mode);
        ASSERT_TRUE(opened) << opened.error().error.message();
        const uint64_t steps = (*opened)->standing().steps;
        Values values(own->rank(), own->size(), mode == OpenMode::update ? steps - 1 : steps);
        const auto closed = (*opened)->close({&values.group, 1});
        ASSERT_TRUE(closed) << closed.error().error.message();
      }
    });
  }

  // Whose values the file has, by step and rank, in the order of the file, whatever blocks they lie in; that they are
  // these.
  void find_values(uint32_t ranks, std::vector<std::pair<uint64_t, uint32_t>>& found) {
    auto reader = FileReader::open(file(), kMemory);
    ASSERT_TRUE(reader) << reader.error().message();
    const auto& parts = (*reader)->listing().parts;
    for (size_t at = 0; at < parts.size(); ++at) {
      const auto part = (*reader)->open_part(at);
      ASSERT_TRUE(part) << part.error().message();
      for (size_t number = 0; number < part->group().blocks.size(); ++number) {
        const Block& block = part->group().blocks[number];
        EXPECT_EQ(block.global_shape, (Shape{10 * ranks, 100}));
        std::vector<double> read(element_count(block.shape)), expected;
        ASSERT_TRUE(part->read(number, std::as_writable_bytes(std::span(read))));
        for (uint64_t row = block.offsets[0]; row < block.offsets[0] + block.shape[0]; row += 10) {
          const Values values(static_cast<uint32_t>(row / 10), ranks, parts[at].step);
          expected.insert(expected.end(), values.numbers.begin(), values.numbers.end());
          found.emplace_back(parts[at].step, values.group.rank);
        }
        EXPECT_EQ(read, expected);
        EXPECT_EQ(block.characteristics.count, expected.size());
        EXPECT_EQ(block.characteristics.max, std::ranges::max(expected));
      }
    }
  }

  bool has_subfiles() const {
    const auto listed = FileReader::open(file(), kMemory);
    return listed && std::ranges::any_of((*listed)->listing().files, [](auto& one) { return !one.name.empty(); });
  }

  // That nothing is in the directory but the file and what it lists.
  void expect_nothing_else() {
    const auto listed = FileReader::open(file(), kMemory);
    ASSERT_TRUE(listed) << listed.error().message();
    for (const auto& entry : fs::recursive_directory_iterator(directory_))
      EXPECT_TRUE((has_subfiles() && entry.is_directory()) || entry.path() == file() ||
                  std::ranges::any_of((*listed)->listing().files,
                                      [&](const ListedFile& one) { return directory_ / one.name == entry.path(); }))
          << entry.path() << " is of no use any more";
  }

  // That the file has exactly the values of these steps and ranks.
  void expect(const std::vector<std::pair<uint64_t, uint32_t>>& steps_and_ranks, uint32_t ranks) {
    std::vector<std::pair<uint64_t, uint32_t>> found;
    find_values(ranks, found);
    EXPECT_EQ(found, steps_and_ranks);
  }

  fs::path directory_;
  GroupDefinition definition_;
};

constexpr auto kWrite = OpenMode::write, kAppend = OpenMode::append, kUpdate = OpenMode::update;

TEST_P(MethodContract, StepsOfAllRanksAreFoundInOrder) {
  for (const uint32_t ranks : {1u, 4u}) {
    write_steps(ranks, {kWrite, kAppend, kAppend});
    std::vector<std::pair<uint64_t, uint32_t>> all;
    for (uint64_t step = 0; step < 3; ++step)
      for (uint32_t rank = 0; rank < ranks; ++rank) all.emplace_back(step, rank);
    expect(all, ranks);
  }
}

TEST_P(MethodContract, RanksBeginWhereStripesDo) {
  const uint64_t stripe = std::string_view(GetParam()).find("stripe_size=64k") != std::string_view::npos ? 64 << 10 : 1;
  write_steps(3, {kWrite, kAppend});
  const auto reader = FileReader::open(file(), kMemory);
  ASSERT_TRUE(reader);
  for (const ListedPart& part : (*reader)->listing().parts) EXPECT_EQ(part.offset % stripe, 0u);
}

TEST_P(MethodContract, AppendBeginsAFileAndUpdateAddsToItsLastStep) {
  write_steps(2, {kAppend, kAppend, kUpdate});
  expect({{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, 0}, {1, 1}}, 2);
}

TEST_P(MethodContract, UpdateNeedsAFile) {
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    const auto opened = open(method, own, kUpdate);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::file_not_found);
  });
}

TEST_P(MethodContract, ADirectoryThatIsNotThereIsToldToAll) {
  definition_.name = "g";
  on_ranks(3, [&](std::shared_ptr<Communicator> own, Method& method) {
    const auto opened =
        method.open({.path = file() + "/no/such", .mode = kWrite, .group = &definition_, .communicator = own});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::file_open);
  });
}

TEST_P(MethodContract, AFailureOfOneRankIsToldToAllAndTheOthersAreWritten) {
  on_ranks(3, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    Values values(own->rank(), own->size(), 0);
    if (own->rank() == 1)
      values.group.blocks[0].bytes = values.group.blocks[0].bytes.first(8);  // contradicts its shape
    const auto closed = (*opened)->close({&values.group, 1});
    ASSERT_FALSE(closed);
    EXPECT_NE(closed.error().error.what.find("[rank 1]"), std::string::npos) << closed.error().error.message();
    EXPECT_NE(closed.error().error.hint.find(file() + ".part"), std::string::npos) << closed.error().error.message();
  });
  EXPECT_FALSE(fs::exists(file())) << "what is not whole does not get the name";
  fs::rename(file() + ".part", file());
  expect({{0, 0}, {0, 2}}, 3);
}

TEST_P(MethodContract, NobodyWaitsForEverForARankThatIsGone) {
  on_ranks(3, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    if (own->rank() == 1) return;
    Values values(own->rank(), own->size(), 0);
    EXPECT_FALSE((*opened)->close({&values.group, 1}));
  });
  EXPECT_FALSE(fs::exists(file()));
}

TEST_P(MethodContract, WhatWasThereStaysUntilTheNewFileIsComplete) {
  write_steps(2, {kWrite, kAppend});
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) { EXPECT_TRUE(open(method, own, kWrite)); });
  expect({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 2);
  write_steps(2, {kWrite});  // what the one before left behind is no hindrance
  expect({{0, 0}, {0, 1}}, 2);
}

TEST_P(MethodContract, ASecondWriterIsRefused) {
  write_steps(1, {kWrite});
  on_ranks(1, [&](std::shared_ptr<Communicator> own, Method& method) {
    for (const OpenMode mode : {kWrite, kAppend}) {
      auto first = open(method, own, mode);
      ASSERT_TRUE(first);
      for (const OpenMode other : {kWrite, kAppend}) {
        const auto second = open(method, own, other);
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().error.kind, ErrorKind::exists);
      }
      Values values(0, 1, (*first)->standing().steps);
      EXPECT_TRUE((*first)->close({&values.group, 1}));
    }
  });
  expect({{0, 0}, {1, 0}}, 1);
}

TEST_P(MethodContract, AFileThatIsReplacedHasSubfilesOfItsOwn) {
  write_steps(3, {kWrite, kAppend});
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    if (own->rank() == 0) expect({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}, 3);
    ASSERT_TRUE(own->barrier());
    Values values(own->rank(), 2, 0);
    EXPECT_TRUE((*opened)->close({&values.group, 1}));
  });
  expect({{0, 0}, {0, 1}}, 2);
  for (int i = 0; i < 2; ++i) {
    write_steps(2, {kAppend, kWrite});
    expect({{0, 0}, {0, 1}}, 2);
  }
  expect_nothing_else();
}

TEST_P(MethodContract, AFileOfAnotherMethodIsReplaced) {
  for (const char* other : {"MPI", "POSIX", "MPI_AGGREGATE:num_aggregators=2"}) {
    write_steps(other, 3, {kWrite, kAppend});
    write_steps(2, {kWrite});
    expect({{0, 0}, {0, 1}}, 2);
    expect_nothing_else();
    write_steps(other, 2, {kWrite, kAppend});
    expect({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 2);
    expect_nothing_else();
  }
}

// An empty one, an HDF5 file, noise; with subfiles of which nobody knows any more, or without.
TEST_P(MethodContract, WhatIsNoContainerIsReplaced) {
  std::string noise(4000, '\0');
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<char>(i * i * 31 + i / 7);
  for (const std::string& content : {std::string(), "\x89HDF\r\n\x1a\n" + noise, noise}) {
    for (const char* left : {"", ".0", ".1", ".0.1", ".2", ".2.1"}) {
      SCOPED_TRACE(left);
      fs::remove_all(directory_);
      fs::create_directories(directory_);
      std::ofstream(file()) << content;
      if (*left) {
        write_steps("POSIX", 3, {kWrite});
        fs::rename(file(), directory_ / "old");
        write_steps("POSIX", 3, {kWrite});
        fs::remove(directory_ / "old");
        std::ofstream(file() + ".dir/file.fb" + left) << content;
        std::ofstream(file(), std::ios::trunc) << content;
      }
      write_steps(2, {kWrite});
      expect({{0, 0}, {0, 1}}, 2);
      if (*left && !content.empty()) {  // somebody else's, whatever it is called
        const std::string foreign = file() + ".dir/file.fb" + left;
        std::ifstream in(foreign);
        EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), content);
        fs::remove(foreign);
      }
      if (!*left || has_subfiles()) expect_nothing_else();  // nothing tells the others of what is left
    }
  }
}

TEST_P(MethodContract, ADirectoryIsNotReplaced) {
  fs::create_directories(file());
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    const auto opened = open(method, own, kWrite);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().error.message().find("directory"), std::string::npos) << opened.error().error.message();
  });
  EXPECT_TRUE(fs::is_directory(file()));
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1) << "something was left behind";
}

// As where another one of several methods cannot open the file.
TEST_P(MethodContract, AFileThatNobodyHasWrittenIntoIsNotLeftBehind) {
  on_ranks(3, [&](std::shared_ptr<Communicator> own, Method& method) { EXPECT_TRUE(open(method, own, kWrite)); });
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_P(MethodContract, OnlySubfilesAreRemoved) {
  write_steps("POSIX", 2, {kWrite});
  std::ofstream(file() + ".dir/notes.txt") << "mine";
  write_steps("MPI", 2, {kWrite});
  EXPECT_EQ(std::distance(fs::directory_iterator(file() + ".dir"), {}), 1);
  EXPECT_TRUE(fs::exists(file() + ".dir/notes.txt"));
}

TEST_P(MethodContract, ARankDoesNotWriteIntoAnotherFileOfTheName) {
  if (std::string_view(GetParam()) != "MPI") return;  // ranks that share a file
  write_steps(1, {kWrite});
  const std::string other = directory_ / "other.fb";
  fs::copy_file(file(), other);
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, std::make_shared<Interrupted>(own, [&] { fs::rename(other, file()); }), kAppend);
    ASSERT_TRUE(opened);
    Values values(own->rank(), 2, 1);
    const auto closed = (*opened)->close({&values.group, 1});
    ASSERT_FALSE(closed);
    EXPECT_NE(closed.error().error.what.find("another file"), std::string::npos) << closed.error().error.message();
  });
  expect({{0, 0}}, 1);
}

TEST_P(MethodContract, AReaderSeesTheStepsBefore) {
  write_steps(2, {kWrite});
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kAppend);
    ASSERT_TRUE(opened);
    if (own->rank() == 0) expect({{0, 0}, {0, 1}}, 2);
    ASSERT_TRUE(own->barrier());
    Values values(own->rank(), 2, 1);
    EXPECT_TRUE((*opened)->close({&values.group, 1}));
  });
  expect({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 2);
}

TEST_P(MethodContract, SeveralStepsAtOnce) {
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    const Values first(own->rank(), 2, 0), second(own->rank(), 2, 1);
    std::vector<ProcessGroup> groups = {first.group, second.group};
    EXPECT_TRUE((*opened)->close(groups));
  });
  auto reader = FileReader::open(file(), kMemory);
  ASSERT_TRUE(reader);
  EXPECT_EQ((*reader)->steps(), 2u);
  EXPECT_EQ((*reader)->listing().parts.size(), 4u);
}

TEST_P(MethodContract, RanksReadBackWhatTheyWrote) {
  write_steps(3, {kWrite, kAppend});
  on_ranks(3, [&](std::shared_ptr<Communicator> own, Method& method) {
    if (!method.traits().can_read) return;
    auto opened = open(method, own, OpenMode::read);
    ASSERT_TRUE(opened) << opened.error().error.message();
    std::vector<double> read(1000);
    ASSERT_TRUE((*opened)->read("x", std::as_writable_bytes(std::span(read))));
    EXPECT_EQ(read, Values(own->rank(), 3, 1).numbers);
    const auto unknown = (*opened)->read("y", {});
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::invalid_name);
    const auto small = (*opened)->read("x", std::as_writable_bytes(std::span(read)).first(8));
    ASSERT_FALSE(small);
    EXPECT_EQ(small.error().code, Code::read_size_mismatch);
    EXPECT_TRUE((*opened)->close({}));
  });
}

TEST_P(MethodContract, AFileIsReplacedByAWholeOneOnly) {
  write_steps(3, {kWrite, kAppend});
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    Values values(own->rank(), 2, 0);
    if (own->rank() == 1) values.group.blocks[0].bytes = values.group.blocks[0].bytes.first(8);
    EXPECT_FALSE((*opened)->close({&values.group, 1}));
  });
  expect({{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}, 3);
  write_steps(2, {kWrite});
  expect({{0, 0}, {0, 1}}, 2);
}

TEST_P(MethodContract, WhatCouldNotSpillIsToldToAllAtTheClose) {
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    if (method.traits().overflow != Overflow::spills) return;
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    Values values(own->rank(), 2, 0);
    ProcessGroup wrong = values.group;
    wrong.blocks[0].bytes = wrong.blocks[0].bytes.first(8);
    if (own->rank() == 1) {
      EXPECT_FALSE((*opened)->spill(wrong));
    }
    const auto closed = (*opened)->close({&values.group, 1});
    ASSERT_FALSE(closed);
    EXPECT_NE(closed.error().error.what.find("[rank 1]"), std::string::npos);
  });
}

TEST_P(MethodContract, WhatSpillsIsFoundAfterTheClose) {
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    if (method.traits().overflow != Overflow::spills) return;
    auto opened = open(method, own, kWrite);
    ASSERT_TRUE(opened);
    Values values(own->rank(), 2, 0);
    ASSERT_TRUE((*opened)->spill(values.group));
    ASSERT_TRUE((*opened)->close({&values.group, 1}));
    ASSERT_TRUE(own->barrier());
    if (own->rank() == 0) expect({{0, 0}, {0, 0}, {0, 1}, {0, 1}}, 2);
  });
}

// Rank 1 announces less than it has, rank 2 much more, rank 3 nothing.
TEST_P(MethodContract, WhatIsAnnouncedMayBeWrong) {
  for (const OpenMode mode : {kWrite, kAppend})
    on_ranks(4, [&](std::shared_ptr<Communicator> own, Method& method) {
      auto opened = open(method, own, mode);
      ASSERT_TRUE(opened);
      const uint32_t rank = own->rank();
      if (rank < 3) (*opened)->announce(rank == 0 ? 40000 : rank == 1 ? 100 : 1 << 20);
      if (rank < 3) (*opened)->announce(5);  // the first one counts
      ASSERT_TRUE(own->barrier());
      Values values(rank, 4, (*opened)->standing().steps);
      const uint64_t room = (*opened)->room();
      if (rank == 0 && room > 0) {
        EXPECT_GE(room, 40000u);
        ASSERT_TRUE((*opened)->spill(values.group));
      }
      const auto closed = (*opened)->close({&values.group, 1});
      ASSERT_TRUE(closed) << closed.error().error.message();
    });
  std::vector<std::pair<uint64_t, uint32_t>> found;
  find_values(4, found);
  EXPECT_EQ(std::set(found.begin(), found.end()).size(), 8u);
}

// Two ranks have written into their slots and are gone before they close.
TEST_P(MethodContract, WhatWasWrittenBeforeACrashIsMended) {
  write_steps(2, {kWrite});
  std::atomic<bool> is_shared = true;  // and has what was written
  on_ranks(2, [&](std::shared_ptr<Communicator> own, Method& method) {
    auto opened = open(method, own, kAppend);
    ASSERT_TRUE(opened);
    (*opened)->announce(100000);
    ASSERT_TRUE(own->barrier());
    Values values(own->rank(), 2, 1);
    if (own->rank() == 0 && fs::exists(file() + ".dir")) is_shared = false;
    if ((*opened)->room() > 0) {
      ASSERT_TRUE((*opened)->spill(values.group));
    } else {
      is_shared = false;
    }
    ASSERT_TRUE(own->barrier());
  });
  expect({{0, 0}, {0, 1}}, 2);
  if (!is_shared) return;
  const auto mended = GrowingFile::mend(file(), kMemory);
  ASSERT_TRUE(mended) << mended.error().message();
  EXPECT_EQ(mended->found, 2u);
  EXPECT_EQ(mended->incomplete, 0u);
  expect({{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 2);
}

INSTANTIATE_TEST_SUITE_P(Methods, MethodContract,
                         testing::Values("MPI", "MPI:stripe_size=64k;openers=1;sync=1", "POSIX", "MPI_LUSTRE",
                                         "MPI_AGGREGATE:num_aggregators=2", "MPI_AMR", "VAR_MERGE:io_method=POSIX",
                                         "VAR_MERGE:io_method=MPI;ranks=2", "VAR_MERGE:chunk_size=1"),
                         [](const auto& param) {
                           std::string name;
                           for (const char c : std::string(param.param)) name += std::isalnum(c) ? c : '_';
                           return name;
                         });

}  // namespace
}  // namespace forebay::io

// What a program has open, with a method that keeps what it is given.
#include "io/session/session.h"

#include <cstring>
#include <functional>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "base/checksum.h"
#include "io/method/joined.h"
#include "io/method/registry.h"

namespace forebay::io {
namespace {

struct Kept {
  std::string path;
  std::vector<ProcessGroup> groups;
  std::vector<std::vector<Bytes>> values;  // of the blocks of each
  int opens = 0, spills = 0, closes = 0;
  uint64_t left = UINT64_MAX;  // of the limit, at the last close
  Standing standing;
};
thread_local Kept kept;  // a rank of a test is a thread
std::optional<Overflow> kept_overflow;
bool kept_encodes_at_close = false;
uint64_t kept_room = 0;  // of methods that do not spill

void keep_groups(std::span<const ProcessGroup> groups) {
  for (const ProcessGroup& group : groups) {
    kept.groups.push_back(group);
    auto& values = kept.values.emplace_back();
    for (Block& block : kept.groups.back().blocks) {
      values.emplace_back(block.bytes.begin(), block.bytes.end());
      block.bytes = {};
    }
  }
}

class KeepingFile final : public OpenFile {
 public:
  explicit KeepingFile(const OpenRequest& request) : request_(request) {
    kept.path = request.path;
    if (request.mode == OpenMode::write) kept.standing = {};
    standing_ = kept.standing;
  }
  const Standing& standing() const override { return standing_; }
  void announce(uint64_t bytes) override { kept_room = bytes; }
  uint64_t room() override { return kept_overflow == Overflow::spills ? UINT64_MAX : kept_room; }
  Outcome<void> spill(const ProcessGroup& group) override {
    ++kept.spills;
    keep_groups({&group, 1});
    return {};
  }
  void leave(uint64_t bytes) override { kept.left = bytes; }

  Outcome<void> close(std::span<ProcessGroup> groups) override {
    FOREBAY_CHECK(join_blocks(*request_.communicator, *request_.group, groups));
    keep_groups(groups);
    kept.standing.steps = standing_.steps + groups.size();
    kept.standing.last_time_index = groups.back().time_index;
    ++kept.closes;
    return {};
  }

 private:
  OpenRequest request_;
  Standing standing_;
};

class KeepingMethod final : public Method {
 public:
  Traits traits() const override {
    return {.overflow = kept_overflow.value_or(Overflow::fails), .encodes_at_close = kept_encodes_at_close};
  }
  Outcome<std::unique_ptr<OpenFile>> open(const OpenRequest& request) override {
    ++kept.opens;
    return std::make_unique<KeepingFile>(request);
  }
};

VariableDefinition scalar(std::string name, ValueType type) { return {.name = std::move(name), .type = type}; }

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    kept = {};
    kept_overflow.reset();
    kept_encodes_at_close = false;
    kept_room = 0;
    MethodRegistry::instance().add({.name = "KEEP", .make = [](const Parameters&) {
                                      return Outcome<std::unique_ptr<Method>>(std::make_unique<KeepingMethod>());
                                    }});
  }

  // n, and x of n doubles.
  static GroupDefinition group(std::string name = "g") {
    GroupDefinition definition{.name = std::move(name)};
    definition.variables = {scalar("n", ValueType::int32), scalar("x", ValueType::float64)};
    definition.variables[1].dimensions = {Named{"n"}};
    definition.methods = {{.name = "KEEP"}};
    return definition;
  }

  static void declare(Session& session, GroupDefinition definition) {
    ASSERT_TRUE(session.declare(std::move(definition)).problems.empty());
  }

  // Writes n and x = 0, 1, ... n - 1 in one step; the outcome of writing x.
  static Outcome<void> write_step(Session& session, int32_t n, OpenMode mode = OpenMode::append,
                                  const std::string& group_name = "g", const std::string& file_name = "file") {
    auto file = session.open(group_name, file_name, mode, single_process(), false);
    EXPECT_TRUE(file);
    EXPECT_TRUE((*file)->write(0, &n));
    std::vector<double> x(static_cast<size_t>(n));
    std::iota(x.begin(), x.end(), 0.0);
    const Outcome<void> written = (*file)->write(1, x.data());
    std::ranges::fill(x, -1);  // the memory is the program's again
    EXPECT_TRUE(session.close(std::move(*file)));
    return written;
  }

  Session session_{single_process()};
};

TEST_F(SessionTest, WhatATransformIsRefusedForIsStoredAsItIs) {
  GroupDefinition definition = group();
  definition.variables[0].transform = "zlib:foo=4";
  definition.variables[1].transform = "zlibb:5";
  definition.variables[1].transform_place = {"run.xml", 7, 9};
  definition.variables.push_back(definition.variables[1]);
  definition.variables[2].name = "y";
  const Session::Declared declared = session_.declare(std::move(definition));
  ASSERT_EQ(declared.problems.size(), 1u);
  EXPECT_EQ(declared.problems[0].code, Code::unknown_transform);
  EXPECT_EQ(declared.problems[0].error.message(),
            "run.xml:7:9: group 'g', variable 'x' and 1 more: transform \"zlibb:5\": there is no such transform; "
            "values are stored as they are (did you mean zlib?)");
  ASSERT_EQ(declared.warnings.size(), 1u);
  EXPECT_TRUE(declared.warnings[0].starts_with("group 'g', variable 'n': ")) << declared.warnings[0];
  const auto& variables = declared.group->definition.variables;
  EXPECT_EQ(variables[0].transform, "zlib:foo=4");
  EXPECT_EQ(variables[1].transform + variables[2].transform, "");
  EXPECT_TRUE(write_step(session_, 100, OpenMode::write));
}

TEST_F(SessionTest, BlocksAreCopiedCheckedAndCharacterised) {
  declare(session_, group());
  ASSERT_TRUE(write_step(session_, 100000, OpenMode::write));
  ASSERT_EQ(kept.groups.size(), 1u);
  const Block& x = kept.groups[0].blocks.at(1);
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.shape, Shape{100000});
  EXPECT_EQ(x.characteristics.min, 0);
  EXPECT_EQ(x.characteristics.max, 99999);
  EXPECT_EQ(x.characteristics.count, 100000u);
  const Bytes& bytes = kept.values[0].at(1);
  ASSERT_EQ(bytes.size(), 800000u);
  const uint64_t hashed = hashed_bytes(x.type, x.shape);
  ASSERT_EQ(x.hashes.size(), (bytes.size() + hashed - 1) / hashed);
  for (size_t at = 0; at < x.hashes.size(); ++at)
    EXPECT_EQ(x.hashes[at],
              hash64(std::span(bytes).subspan(at * hashed, std::min(hashed, bytes.size() - at * hashed))));
}

TEST_F(SessionTest, ADimensionMustHaveBeenWrittenBefore) {
  declare(session_, group());
  ASSERT_TRUE(write_step(session_, 3));
  auto file = session_.open("g", "file", OpenMode::append, single_process(), false);
  ASSERT_TRUE(file);
  const double x[3] = {};
  const auto written = (*file)->write(1, x);  // n of the step before does not count
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::invalid_variable_as_dimension);
  EXPECT_TRUE(session_.close(std::move(*file)));
}

TEST_F(SessionTest, TimeGoesOnOverFilesAndSteps) {
  declare(session_, group());
  for (const OpenMode mode : {OpenMode::write, OpenMode::append, OpenMode::write, OpenMode::append, OpenMode::update})
    ASSERT_TRUE(write_step(session_, 1, mode));
  const std::vector<std::pair<uint64_t, uint32_t>> expected = {{0, 1}, {1, 2}, {0, 3}, {1, 4}, {1, 4}};
  ASSERT_EQ(kept.groups.size(), expected.size());
  for (size_t at = 0; at < expected.size(); ++at)
    EXPECT_EQ(std::pair(kept.groups[at].step, kept.groups[at].time_index), expected[at]) << at;
}

TEST_F(SessionTest, WhatDoesNotFitIsRefusedAndTheRestStays) {
  declare(session_, group());
  session_.set_buffer_limit(100000);
  ASSERT_TRUE(write_step(session_, 10000));
  const auto refused = write_step(session_, 20000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::buffer_overflow);
  ASSERT_EQ(kept.groups.size(), 2u);
  EXPECT_EQ(kept.groups[1].blocks.size(), 1u);
}

TEST_F(SessionTest, WhatDoesNotFitSpills) {
  kept_overflow = Overflow::spills;
  declare(session_, group());
  session_.set_buffer_limit(100000);
  auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
  ASSERT_TRUE(file);
  const std::vector<double> x(20000, 2.5);
  for (const int32_t n : {10000, 10000, 20000, 1}) {  // the third is larger than the buffer
    ASSERT_TRUE((*file)->write(0, &n));
    ASSERT_TRUE((*file)->write(1, x.data()));
    EXPECT_LE((*file)->buffered_bytes(), 100000u);
  }
  ASSERT_TRUE(session_.close(std::move(*file)));
  EXPECT_EQ(kept.spills, 3);
  size_t blocks = 0, bytes = 0;
  for (size_t at = 0; at < kept.groups.size(); ++at)
    for (size_t block = 0; block < kept.groups[at].blocks.size(); ++block, ++blocks)
      bytes += kept.values[at][block].size();
  EXPECT_EQ(blocks, 8u);
  EXPECT_EQ(bytes, 4 * 4 + 8 * 40001u);
}

TEST_F(SessionTest, LargeBlocksAreNotCopiedWhereTheyCanGoOutAtOnce) {
  kept_overflow = Overflow::spills;
  declare(session_, group());
  auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
  ASSERT_TRUE(file);
  const int32_t n = 1 << 20;
  const std::vector<double> x(n, 1.5);
  ASSERT_TRUE((*file)->write(0, &n));
  ASSERT_TRUE((*file)->write(1, x.data()));
  EXPECT_EQ(kept.spills, 1);
  EXPECT_EQ((*file)->buffered_bytes(), 0u);
  ASSERT_EQ(kept.groups.at(0).blocks.size(), 2u);           // with what was buffered before, in order
  EXPECT_FALSE(kept.groups[0].blocks[1].is_characterised);  // whoever writes it does that meanwhile
  EXPECT_EQ(kept.values[0][1].size(), 8u << 20);
  ASSERT_TRUE(session_.close(std::move(*file)));
}

TEST_F(SessionTest, WhatIsAnnouncedGoesOutAtOnce) {
  declare(session_, group());
  const int32_t n = 1 << 20;
  const std::vector<double> x(n, 1.5);
  for (const uint64_t announced : {2 * sizeof(double) * n, sizeof(double) * n / 2}) {
    kept.spills = 0;
    auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
    ASSERT_TRUE(file);
    (*file)->announce(announced);
    ASSERT_TRUE((*file)->write(0, &n));
    ASSERT_TRUE((*file)->write(1, x.data()));
    const bool has_room = announced > sizeof(double) * n;
    EXPECT_EQ(kept.spills, has_room ? 1 : 0);
    EXPECT_EQ((*file)->buffered_bytes() < sizeof(double) * n, has_room);
    ASSERT_TRUE(session_.close(std::move(*file)));
  }
}

TEST_F(SessionTest, SmallBlocksGoOutManyAtATime) {
  kept_overflow = Overflow::spills;
  declare(session_, group());
  auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
  ASSERT_TRUE(file);
  const int32_t n = 1 << 14;
  const std::vector<double> x(n, 1.5);
  ASSERT_TRUE((*file)->write(0, &n));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE((*file)->write(1, x.data()));
  EXPECT_EQ(kept.spills, 3);  // of 12.5 MiB
  EXPECT_LT((*file)->buffered_bytes(), 4u << 20);
  ASSERT_TRUE(session_.close(std::move(*file)));
}

// What a method encodes at the close lies beside what was buffered, and is in the limit.
TEST_F(SessionTest, TheLimitCountsWhatIsEncodedAtTheClose) {
  kept_encodes_at_close = true;
  GroupDefinition definition = group();
  definition.variables[1].transform = "zlib";
  declare(session_, std::move(definition));
  constexpr int32_t kCount = 100'000;
  session_.set_buffer_limit(sizeof(double) * kCount * 3 / 2);
  EXPECT_EQ(write_step(session_, kCount).error().code, Code::buffer_overflow);
  session_.set_buffer_limit(sizeof(double) * kCount * 5 / 2);
  EXPECT_TRUE(write_step(session_, kCount));
}

TEST_F(SessionTest, FilesOfOneGroupHaveDimensionsOfTheirOwn) {
  declare(session_, group());
  auto first = session_.open("g", "first", OpenMode::write, single_process(), false);
  ASSERT_TRUE(first);
  const std::vector<double> x(5, 1.0);
  const int32_t five = 5, two = 2;
  ASSERT_TRUE((*first)->write(0, &five));
  auto second = session_.open("g", "second", OpenMode::write, single_process(), false);
  ASSERT_TRUE(second);
  ASSERT_TRUE((*second)->write(0, &two));
  ASSERT_TRUE((*first)->write(1, x.data()));
  ASSERT_TRUE((*second)->write(1, x.data()));
  ASSERT_TRUE(session_.close(std::move(*first)));
  ASSERT_TRUE(session_.close(std::move(*second)));
  EXPECT_EQ(kept.groups.at(0).blocks.at(1).shape, Shape{5});
  EXPECT_EQ(kept.groups.at(1).blocks.at(1).shape, Shape{2});
}

TEST_F(SessionTest, ThreadsWriteFilesOfOneGroup) {
  declare(session_, group());
  std::vector<std::jthread> threads;
  for (int32_t number = 1; number <= 4; ++number)
    threads.emplace_back([this, number] {
      for (int step = 0; step < 50; ++step) {
        ASSERT_TRUE(write_step(session_, 100 * number, OpenMode::write, "g", "file" + std::to_string(number)));
        ASSERT_EQ(kept.groups.back().blocks.at(1).shape, Shape{100u * static_cast<unsigned>(number)});
      }
    });
}

// A limit refuses what it refuses, whether or not there is room in the file already.
TEST_F(SessionTest, TheLimitCountsWhatHasGoneOut) {
  declare(session_, group());
  session_.set_buffer_limit(12 << 20);
  const int32_t n = 1 << 20;
  const std::vector<double> x(n, 1.5);
  for (const uint64_t announced : {0u, 100u << 20}) {
    auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
    ASSERT_TRUE(file);
    kept_room = 0;
    if (announced > 0) (*file)->announce(announced);
    ASSERT_TRUE((*file)->write(0, &n));
    ASSERT_TRUE((*file)->write(1, x.data()));
    const auto second = (*file)->write(1, x.data());
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::buffer_overflow);
    ASSERT_TRUE(session_.close(std::move(*file)));
  }
}

TEST_F(SessionTest, TheCloseIsToldWhatTheLimitLeaves) {
  GroupDefinition aggregated = group("aggregated");
  aggregated.aggregate_bytes = 1;
  declare(session_, group());
  declare(session_, std::move(aggregated));
  ASSERT_TRUE(write_step(session_, 100));
  EXPECT_EQ(kept.left, UINT64_MAX);  // there is none
  session_.set_buffer_limit(100000);
  for (const char* name : {"g", "aggregated"}) {
    ASSERT_TRUE(write_step(session_, 1000, OpenMode::write, name));
    EXPECT_LT(kept.left, 100000 - 8000u);
    EXPECT_GT(kept.left, 100000 - 8000 - 2000u);
    kept.left = UINT64_MAX;
  }
}

TEST_F(SessionTest, StepsAreKeptUntilTheyFillTheBuffer) {
  GroupDefinition diagnostics = group("diag");
  diagnostics.aggregate_bytes = 3000;
  diagnostics.aggregate_with = "g";
  declare(session_, std::move(diagnostics));
  declare(session_, group());
  EXPECT_TRUE(write_step(session_, 10, OpenMode::write, "diag", "d"));
  EXPECT_TRUE(write_step(session_, 10, OpenMode::append, "diag", "d"));
  EXPECT_EQ(kept.groups.size(), 0u);
  EXPECT_TRUE(write_step(session_, 10, OpenMode::write, "g", "f"));  // which it is synchronised with
  ASSERT_EQ(kept.groups.size(), 3u);
  EXPECT_EQ(kept.groups[0].group, "g");
  EXPECT_EQ(kept.groups[2].step, 1u);
  EXPECT_EQ(kept.groups[2].time_index, 2u);
  ASSERT_EQ(kept.values[2].size(), 2u);
  EXPECT_EQ(kept.values[2][1].size(), 80u);
  EXPECT_TRUE(write_step(session_, 250, OpenMode::append, "diag", "d"));  // no further one of this size would fit
  EXPECT_EQ(kept.groups.size(), 4u);
  EXPECT_TRUE(write_step(session_, 10, OpenMode::append, "diag", "d"));
  EXPECT_TRUE(session_.finalize());
  EXPECT_EQ(kept.groups.size(), 5u);
}

TEST_F(SessionTest, JoinedBlocksFindTheirPlace) {
  GroupDefinition definition = group();
  definition.variables[1].global_dimensions = {JoinedDimension{}};
  definition.variables[1].offsets = {uint64_t{0}};
  auto ranks = thread_ranks(3);
  std::vector<std::jthread> threads;
  for (auto& rank : ranks)
    threads.emplace_back([&, own = std::shared_ptr<Communicator>(std::move(rank))] {
      Session session(own);
      declare(session, definition);
      auto file = session.open("g", "file", OpenMode::write, own, false);
      ASSERT_TRUE(file);
      const auto n = static_cast<int32_t>(own->rank() + 2);
      const double x[4] = {};
      ASSERT_TRUE((*file)->write(0, &n));
      ASSERT_TRUE((*file)->write(1, x));
      ASSERT_TRUE(session.close(std::move(*file)));
      const Block& block = kept.groups.at(0).blocks.at(1);
      EXPECT_EQ(block.global_shape, Shape{9});
      EXPECT_EQ(block.offsets, Shape{own->rank() * (own->rank() + 3) / 2});
    });
}

TEST_F(SessionTest, MemoryThatIsHandedOutIsWrittenAtClose) {
  declare(session_, group());
  auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
  ASSERT_TRUE(file);
  const int32_t n = 3;
  ASSERT_TRUE((*file)->write(0, &n));
  const auto memory = (*file)->hand_out(1, 0);
  ASSERT_TRUE(memory);
  ASSERT_EQ(memory->size(), 24u);
  const double x[3] = {1, 2, 4};
  std::memcpy(memory->data(), x, sizeof x);
  ASSERT_TRUE(session_.close(std::move(*file)));
  EXPECT_EQ(kept.groups.at(0).blocks.at(1).characteristics.max, 4);
  EXPECT_EQ(kept.values.at(0).at(1).size(), 24u);
}

TEST_F(SessionTest, PathsCanBeChanged) {
  declare(session_, group());
  auto file = session_.open("g", "file", OpenMode::write, single_process(), false);
  ASSERT_TRUE(file);
  const int32_t n = 1;
  const double x = 0;
  (*file)->set_path("/all");
  (*file)->set_path(1, "one/");
  ASSERT_TRUE((*file)->write(0, &n));
  ASSERT_TRUE((*file)->write(1, &x));
  ASSERT_TRUE(session_.close(std::move(*file)));
  EXPECT_EQ(kept.groups.at(0).blocks.at(0).name, "/all/n");
  EXPECT_EQ(kept.groups.at(0).blocks.at(1).name, "one/x");
}

TEST_F(SessionTest, WhatIsNotThereIsNamed) {
  declare(session_, group());
  const auto unknown = session_.open("h", "file", OpenMode::write, single_process(), false);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::invalid_group);
  const auto found = session_.find("g");
  ASSERT_TRUE(found);
  const auto method = session_.add_method(**found, {.name = "KEP"});
  ASSERT_FALSE(method);
  EXPECT_EQ(method.error().code, Code::unknown_method);
  EXPECT_EQ(method.error().error.hint, "did you mean KEEP?");
  const auto path = session_.add_method(**found, {.name = "KEEP", .base_path = "dir"});
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, Code::invalid_method_choice);
}

}  // namespace
}  // namespace forebay::io

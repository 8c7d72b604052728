#include "engine/pack/lossy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "engine/inspect/repair.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

TEST(LossyRules, AreParsed) {
  const auto rule = LossyRule::parse("/Grid*/a=b=rel:1e-4");
  ASSERT_TRUE(rule) << rule.error().message();
  EXPECT_EQ(rule->glob, "/Grid*/a=b");
  EXPECT_EQ(rule->bound, (ErrorBound{BoundKind::relative, 1e-4}));
  EXPECT_EQ(rule->text, "/Grid*/a=b=rel:1e-4");
  EXPECT_TRUE(LossyRule::parse("*=abs:1e6"));
  EXPECT_TRUE(LossyRule::parse("*=range:0.5"));
}

TEST(LossyRules, ThatMakeNoSenseAreRefused) {
  for (const char* text : {"", "*", "=abs:1", "*=", "*=abs", "*=abs:", "*=abs:0", "*=abs:-1", "*=abs:nan", "*=abs:inf",
                           "*=abs:1x", "*=abs: 1", "*=ABS:1", "*=psnr:60", "*=rel:1", "*=range:2", "*=abs:1e999"}) {
    const auto rule = LossyRule::parse(text);
    ASSERT_FALSE(rule) << text;
    EXPECT_EQ(rule.error().kind, ErrorKind::invalid_argument);
  }
}

class LossyPack : public SetTest {
 protected:
  void SetUp() override {
    if (!codec::can_encode_lossy()) GTEST_SKIP() << "this build lacks zfp";
  }

  static std::vector<double> smooth(double phase) {
    std::vector<double> values(kRows * kColumns);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1000 + 300 * std::sin(phase + static_cast<double>(i % kColumns) / 17) *
                             std::cos(static_cast<double>(i / kColumns) / 23);
    return values;
  }

  // Two ranks, each with a smooth field and one of another name.
  void write_fields() {
    for (int rank = 0; rank < 2; ++rank) {
      write_field("smooth", rank, smooth(rank));
      write_field("other", rank, smooth(rank + 10));
    }
  }

  void write_field(const std::string& name, int rank, const std::vector<double>& values) const {
    write(field_path(tree(), name, rank), "{\"" + name + "\": {\"dtype\":\"F64\",\"shape\":[" + std::to_string(kRows) +
                                              "," + std::to_string(kColumns) + "],\"data_offsets\":[0," +
                                              std::to_string(8 * values.size()) + "]}}");
    std::string text = read_text(field_path(tree(), name, rank));
    const uint64_t size = text.size();
    std::string whole(reinterpret_cast<const char*>(&size), sizeof size);
    write(field_path(tree(), name, rank), whole + text + to_text(values));
  }

  static std::string field_path(const std::string& root, const std::string& name, int rank) {
    return root + "/" + name + "." + std::to_string(rank) + ".safetensors";
  }

  // The values at the end of a file of write_field().
  static std::vector<double> values_in(const std::string& path) {
    const std::string text = read_text(path);
    std::vector<double> values(kRows * kColumns);
    std::memcpy(values.data(), text.data() + text.size() - 8 * values.size(), 8 * values.size());
    return values;
  }

  double largest_error(const std::string& target, const std::string& name, int rank) const {
    const auto before = values_in(field_path(tree(), name, rank)),
               after = values_in(field_path(path(target), name, rank));
    double largest = 0;
    for (size_t i = 0; i < before.size(); ++i) largest = std::max(largest, std::abs(before[i] - after[i]));
    return largest;
  }

  bool is_same(const std::string& target, const std::string& name, int rank) const {
    return read_text(field_path(tree(), name, rank)) == read_text(field_path(path(target), name, rank));
  }

  PackOptions with_rules(std::initializer_list<const char*> rules) const {
    PackOptions pack_options = options();
    for (const char* rule : rules) pack_options.lossy.push_back(*LossyRule::parse(rule));
    return pack_options;
  }

  Result<PackReport> try_pack(const PackOptions& pack_options) const {
    SoloTeam team;
    return pack(pack_options, team);
  }

  static constexpr size_t kRows = 96, kColumns = 120;
};

TEST_F(LossyPack, ChangesOnlyWhatTheRuleNamesAndVerifies) {
  write_fields();
  const PackReport plain = pack_ok(options());
  PackOptions pack_options = with_rules({"/smooth=abs:1e-3"});
  pack_options.name = "lossy";
  const PackReport report = pack_ok(pack_options);
  ASSERT_EQ(report.lossy.size(), 1u);
  EXPECT_EQ(report.lossy[0].matches, 2u);
  EXPECT_EQ(report.lossy[0].variables, 2u);
  EXPECT_GT(report.lossy[0].error, 0);
  EXPECT_LT(report.stored_bytes, plain.stored_bytes * 3 / 4);
  EXPECT_TRUE(verify_ok("lossy").damages.empty());
  ASSERT_TRUE(restore_to("back", "lossy"));
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(is_same("back", "smooth", rank));
    EXPECT_LE(largest_error("back", "smooth", rank), report.lossy[0].error);
    EXPECT_TRUE(is_same("back", "other", rank));
  }
  EXPECT_LT(report.lossy[0].error, 1e-3);
  const OpenSet set = open("lossy");
  EXPECT_EQ(set.manifest.lossy, std::vector<std::string>{"/smooth=abs:1e-3"});
  double noted = 0;
  for (const container::FrameEntry& frame : set.containers[0].index().frames)
    if (frame.lossy) noted = std::max(noted, frame.lossy->error);
  EXPECT_EQ(noted, report.lossy[0].error);
}

TEST_F(LossyPack, OfFramesThatAreNotFiniteIsLossless) {
  write_fields();
  std::vector<double> values = smooth(0);
  values[5] = std::numeric_limits<double>::quiet_NaN();
  write_field("smooth", 0, values);
  const PackReport report = pack_ok(with_rules({"/smooth=abs:1e-3"}));
  EXPECT_EQ(report.lossy[0].frames, 0u);
  EXPECT_TRUE(open().manifest.lossy.empty());
  ASSERT_TRUE(restore_to("back"));
  EXPECT_EQ(expect_subset("back"), 4u);
}

TEST_F(LossyPack, TakesTheFirstRuleThatMatches) {
  write_fields();
  const PackReport report = pack_ok(with_rules({"/smo*=abs:1e-3", "*=abs:100"}));
  EXPECT_EQ(report.lossy[0].matches, 2u);
  EXPECT_EQ(report.lossy[1].matches, 2u);
  EXPECT_LT(report.lossy[0].error, 1e-3);
  EXPECT_GT(report.lossy[1].error, 1e-3);
}

TEST_F(LossyPack, IsStillToldAfterTheIndexWasLost) {
  write_fields();
  pack_ok(with_rules({"/smooth=range:1e-4"}));
  const auto notes = [](const OpenSet& set) {
    std::vector<std::optional<LossyNote>> all;
    for (const container::FrameEntry& frame : set.containers[0].index().frames) all.push_back(frame.lossy);
    return all;
  };
  const auto before = notes(open());
  EXPECT_TRUE(std::ranges::any_of(before, &std::optional<LossyNote>::has_value));
  const std::string container = container_path("set", 0);
  std::filesystem::resize_file(container, std::filesystem::file_size(container) - 100);
  const auto repaired = repair(open_store(), "set", "repaired", resources());
  ASSERT_TRUE(repaired.has_value()) << repaired.error().message();
  const OpenSet set = open("repaired");
  EXPECT_EQ(notes(set), before);
  EXPECT_EQ(set.manifest.lossy, std::vector<std::string>{"/smooth=range:1e-4"});
  EXPECT_TRUE(verify_ok("repaired").damages.empty());
}

TEST_F(LossyPack, OfAVariableThatIsNotThereFails) {
  write_fields();
  const auto report = try_pack(with_rules({"/smooth=abs:1e-3", "/Temperature=abs:1"}));
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::not_found);
  EXPECT_NE(report.error().what.find("/Temperature=abs:1"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(set_path("set")));
}

TEST_F(LossyPack, NeedsToKnowOfVariables) {
  write_fields();
  PackOptions pack_options = with_rules({"*=abs:1"});
  pack_options.scheme = *SchemeChoice::parse("agnostic");
  EXPECT_EQ(try_pack(pack_options).error().kind, ErrorKind::invalid_argument);
}

TEST_F(LossyPack, DoesNotDependOnTheThreads) {
  write_fields();
  std::vector<std::string> contents;
  for (const unsigned threads : {1u, 5u}) {
    PackOptions pack_options = with_rules({"*=range:1e-4"});
    pack_options.name = "threads" + std::to_string(threads);
    pack_options.resources.threads = threads;
    pack_ok(pack_options);
    contents.push_back(read_text(container_path(pack_options.name, 0)));
  }
  EXPECT_EQ(contents[0], contents[1]);
}

TEST_F(LossyPack, IsLosslessWhereVariablesOfOtherRulesShareTheFrame) {
  // Small variables of several keys lie in one frame.
  for (const char* name : {"a", "b"}) write(tree() + "/" + name + ".npy", npy_file(std::vector<double>(50, 0.1), {50}));
  Catalogue catalogue;
  const Variable small{.path = "/a",
                       .type = {Kind::floating, ByteOrder::little, 8},
                       .shape = {50},
                       .block = {50},
                       .extents = {{0, 400}}};
  Variable other = small;
  other.path = "/b";
  other.extents = {{400, 400}};
  const std::vector<std::string> keys = {"a", "b"};
  catalogue.add({.name = "f", .size = 800}, {.format = "raw", .variables = {small, other}}, keys);
  std::vector<double> values = smooth(0);
  values.resize(100);
  const std::string text = to_text(values);
  const merge::Slice first{{0, 0, 400}, 0, 400}, second{{0, 1, 400}, 0, 400};
  const FrameShape shape{small.type, {Block{{1, 1, 1, 50}}, Block{{1, 1, 1, 50}}}};
  const auto encode = [&](std::vector<LossyRule> rules, std::vector<merge::Slice> slices) {
    return LossyVariables(rules, catalogue).encode(slices, shape, as_bytes(text), text.size()).has_value();
  };
  const LossyRule all = *LossyRule::parse("*=abs:1"), only_a = *LossyRule::parse("/a=abs:1");
  EXPECT_TRUE(encode({all}, {first, second}));
  EXPECT_FALSE(encode({only_a}, {first, second}));
  EXPECT_FALSE(encode({only_a, all}, {first, second}));
  EXPECT_FALSE(encode({all}, {first, {{0, merge::kSkeleton, 400}, 0, 400}}));
  EXPECT_FALSE(encode({}, {first, second}));
  EXPECT_TRUE(encode({only_a}, {first, first}));
}

TEST(LossyVariables, AreUnfilteredNumbersOutsideOfArchives) {
  Catalogue catalogue;
  const std::vector<LossyRule> rules = {*LossyRule::parse("*=abs:1")};
  const auto add = [&](const std::string& name, const char* type, bool filtered, const char* format) {
    const DataType datatype = *DataType::parse(type);
    const Variable variable{.path = "/v",
                            .type = datatype,
                            .shape = {1},
                            .block = {1},
                            .extents = {{0, datatype.size}},
                            .filtered = filtered};
    const std::vector<std::string> keys = {std::string("v") + type};
    catalogue.add({.name = name, .size = 100}, {.format = format, .variables = {variable}}, keys);
  };
  add("a", "f8", false, "hdf5");
  add("b", ">f4", false, "npy");
  EXPECT_EQ(LossyVariables(rules, catalogue).outcomes()[0].matches, 2u);
  add("c", "f2", false, "npy");
  add("d", "i8", false, "npy");
  add("e", "f8", true, "hdf5");
  add("f", "f8", false, "npz");
  EXPECT_EQ(LossyVariables(rules, catalogue).outcomes()[0].matches, 2u);
}

}  // namespace
}  // namespace forebay::engine

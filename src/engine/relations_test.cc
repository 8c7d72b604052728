#include "engine/relations.h"

#include <algorithm>
#include <random>

#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

// Variables of one file, and the file.
class Tensors {
 public:
  void add(const std::string& name, const std::vector<double>& values, const std::string& shape) {
    const size_t begin = data_.size();
    data_ += to_text(values);
    header_ += fmt::format(R"({}"{}":{{"dtype":"F64","shape":[{}],"data_offsets":[{},{}]}})",
                           header_.empty() ? "" : ",", name, shape, begin, data_.size());
  }
  std::string file() const {
    const std::string header = "{" + header_ + "}";
    return to_text(std::vector<uint64_t>{header.size()}) + header + data_;
  }

 private:
  std::string header_, data_;
};

class RelationsTest : public SetTest {
 protected:
  static constexpr size_t kPlanes = 12, kRows = 20, kColumns = 24;

  // Densities of a gas, of which `share` is hydrogen, at random speeds.
  void write_gas(double share) const {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> any(1, 2);
    for (int rank = 0; rank < 3; ++rank) {
      std::vector<double> density, hydrogen, helium, speed, energy;
      for (size_t i = 0; i < kPlanes * kRows * kColumns; ++i) {
        density.push_back(any(random));
        hydrogen.push_back(share * density.back());
        helium.push_back(density.back() - hydrogen.back());
        speed.push_back(any(random) - 1.5);
        energy.push_back(3e-5 * density.back() + 0.5 * speed.back() * speed.back());
      }
      Tensors tensors;
      const std::string shape = fmt::format("{},{},{}", kPlanes, kRows, kColumns);
      for (const auto& [name, values] :
           {std::pair("density", &density), std::pair("hydrogen", &hydrogen), std::pair("helium", &helium),
            std::pair("speed", &speed), std::pair("energy", &energy)})
        tensors.add(name, *values, shape);
      write(tree() + fmt::format("/dump.{}.safetensors", rank), tensors.file());
    }
  }

  PackOptions named(const std::string& name) const {
    PackOptions options = this->options("auto", "max");
    options.name = name;
    return options;
  }

  // The first frame that is predicted from another one, and that other one.
  static std::pair<uint32_t, uint32_t> dependent_and_reference(const OpenContainer& container) {
    const auto& frames = container.index().frames;
    for (uint32_t number = 0; number < frames.size(); ++number)
      if (!frames[number].references.empty()) return {number, frames[number].references.front()};
    throw std::runtime_error("no frame refers to another one");
  }

  void damage_frame(const OpenContainer& container, uint32_t number) const {
    constexpr uint64_t kIntoTheMeta = 56 + 16;
    flip_bit(container.path, container.index().frames[number].record_offset + kIntoTheMeta, 3);
  }
};

TEST_F(RelationsTest, AreFoundStoredAndUndone) {
  write_gas(0.76);
  const PackReport exact = pack_ok(named("set"));
  const PackReport alone = pack_ok([&] {
    PackOptions options = this->options("auto", "balanced");
    options.name = "alone";
    return options;
  }());
  EXPECT_LT(exact.stored_bytes * 2, alone.stored_bytes) << "three of five variables follow from the others";

  const OpenSet set = open();
  const auto relations = relations_of(set.containers.front());
  EXPECT_EQ(relations.size(), 3u);
  for (const NamedRelation& relation : relations) EXPECT_LT(relation.bits_per_element, 16) << relation.target;
  const auto& frames = set.containers.front().index().frames;
  for (const auto& frame : frames)
    for (const uint32_t reference : frame.references) EXPECT_TRUE(frames[reference].references.empty());

  EXPECT_TRUE(verify_ok().damages.empty());
  ASSERT_TRUE(restore_to("out"));
  EXPECT_EQ(expect_subset("out"), 3u);
  ASSERT_TRUE(restore_to("some", "set", {"dump.1.*"}));
  EXPECT_EQ(expect_subset("some"), 1u);
}

TEST_F(RelationsTest, AreRememberedUntilTheyDoNotHold) {
  write_gas(0.76);
  pack_ok(named("first"));
  const auto first = relations_of(open("first").containers.front());
  pack_ok(named("second"));
  const auto second = relations_of(open("second").containers.front());
  ASSERT_EQ(second.size(), first.size());
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(second[i].relation, first[i].relation);

  write_gas(0.5);  // other coefficients: hydrogen and helium are the same now
  pack_ok(named("third"));
  ASSERT_TRUE(restore_to("out", "third"));
  EXPECT_EQ(expect_subset("out"), 3u);
  const auto third = relations_of(open("third").containers.front());
  EXPECT_EQ(third.size(), 3u);
}

TEST_F(RelationsTest, ADamagedReferenceIsTheCause) {
  write_gas(0.76);
  pack_ok(named("set"));
  const auto [dependent, reference] = [&] {
    const OpenSet set = open();
    const auto pair = dependent_and_reference(set.containers.front());
    damage_frame(set.containers.front(), pair.second);
    return pair;
  }();
  const VerifyReport report = verify_ok();
  const auto of_frame = [&](uint32_t number) {
    return std::ranges::find_if(report.damages, [&](const Damage& damage) { return damage.frame == number; });
  };
  ASSERT_NE(of_frame(reference), report.damages.end());
  ASSERT_NE(of_frame(dependent), report.damages.end());
  EXPECT_NE(of_frame(dependent)->what.find(fmt::format("from frame {}, which is damaged", reference)),
            std::string::npos)
      << of_frame(dependent)->what;
  const auto restored = restore_to("out");
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().kind, ErrorKind::corrupt);
}

TEST_F(RelationsTest, WorkInLittleMemoryAndOnManyThreads) {
  write_gas(0.76);
  PackOptions little = named("little");
  little.resources.memory_bytes = 96 << 20;
  little.resources.threads = 3;
  pack_ok(little);
  ASSERT_TRUE(restore_to("out", "little"));
  EXPECT_EQ(expect_subset("out"), 3u);
}

}  // namespace
}  // namespace forebay::engine

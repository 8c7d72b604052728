#include "engine/pack/relations.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "base/posix/file_sink.h"
#include "engine/inspect/repair.h"
#include "engine/pack/set_before.h"
#include "engine/set/decoded_frames.h"
#include "engine/set/frame_io.h"
#include "engine/test_gas.h"
#include "store/files.h"

namespace forebay::engine {
namespace {

class RelationsTest : public GasTest {
 protected:
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

TEST_F(RelationsTest, ManyContainersShareTheirRoomForDecodedFrames) {
  constexpr uint64_t kMemory = 4 << 20;
  write_gas(0.76, 40);
  PackOptions options = named("set");
  options.group_size = 2;
  pack_ok(options);
  const auto set = open_set(find(), kMemory);
  ASSERT_TRUE(set) << set.error().message();
  ASSERT_NE(set->decoded, nullptr);
  EXPECT_LE(set->decoded->memory_bytes(), kMemory / 8);
  EXPECT_LT(memory_of(*set), kMemory / 2);
  for (const OpenContainer& container : set->containers) {
    EXPECT_EQ(container.decoded, set->decoded);
    ASSERT_TRUE(read_frame(container, dependent_and_reference(container).first));
  }
}

TEST_F(RelationsTest, APredictedVariableIsExtracted) {
  write_gas(0.76);
  pack_ok(named("set"));
  const OpenSet set = open();
  const auto energy = find_variables(set, "/energy", 1), density = find_variables(set, "/density", 1),
             speed = find_variables(set, "/speed", 1);
  ASSERT_EQ(energy.size(), 1u);
  const auto values_of = [&](const Found& found) {
    const auto extracted = extract(set, found, 16 << 20);
    if (!extracted) throw std::runtime_error(extracted.error().message());
    std::vector<double> values(extracted->bytes.size() / sizeof(double));
    std::memcpy(values.data(), extracted->bytes.data(), extracted->bytes.size());
    return values;
  };
  const auto energies = values_of(energy[0]), densities = values_of(density.at(0)), speeds = values_of(speed.at(0));
  ASSERT_EQ(energies.size(), kPlanes * kRows * kColumns);
  for (size_t i = 0; i < energies.size(); ++i)
    ASSERT_DOUBLE_EQ(energies[i], 3e-5 * densities[i] + 0.5 * speeds[i] * speeds[i]) << i;
}

TEST_F(RelationsTest, ARepairTellsWhatWasPredictedFromALostFrame) {
  write_gas(0.76, 6);
  PackOptions options = named("set");
  options.group_size = 2;
  pack_ok(options);
  const std::string container = container_path("set", 1);
  damage_frame(open().containers[1], dependent_and_reference(open().containers[1]).second);
  const auto expect_repaired_as = [&](const std::string& name) {
    const auto report = repair(open_store(), "set", name, resources());
    ASSERT_TRUE(report) << report.error().message();
    EXPECT_EQ(report->whole_files.size(), 4u) << "those of the other two containers";
    EXPECT_EQ(report->lost_files.size(), 2u);
    ASSERT_TRUE(restore_to("of-" + name, name, report->whole_files));
    EXPECT_EQ(expect_subset("of-" + name), 4u);
    EXPECT_FALSE(restore_to("lost", name, {"dump.2.*"}));
  };
  expect_repaired_as("repaired");
  std::filesystem::resize_file(container, std::filesystem::file_size(container) - 1);  // and the index with it
  expect_repaired_as("rebuilt");
}

// Containers with references that pack() never writes.
class HostileReferencesTest : public RelationsTest {
 protected:
  // Writes the set's only container again; the frame gets other references. Returns its number.
  uint32_t refer(const std::function<void(uint32_t number, std::vector<uint32_t>& references)>& change) const {
    const std::string path = container_path("set", 0), copy = path + ".copy";
    const auto from = open_container(*store::open_stored(path), 64 << 20);
    if (!from) throw std::runtime_error(from.error().message());
    const uint32_t changed = dependent_and_reference(*from).first;
    const container::Index& index = from->index();
    auto writer = container::Writer::create(*FileSink::create(copy), index.catalogue, index.plan);
    for (uint32_t number = 0; number < index.frames.size(); ++number) {
      const container::FrameEntry& entry = index.frames[number];
      const auto stored = fetch_frame(*from, number);
      std::vector<uint32_t> references = entry.references;
      if (number == changed) change(number, references);
      EXPECT_TRUE((*writer)->append({.number = number,
                                     .raw_bytes = entry.raw_bytes,
                                     .raw_hash = entry.raw_hash,
                                     .recipe = stored->stored.recipe,
                                     .chain = index.chains[entry.chain],
                                     .references = references,
                                     .payload = stored->stored.payload,
                                     .lossy = {}}));
    }
    EXPECT_TRUE((*writer)->finish(index.file_crcs, index.characteristics));
    std::filesystem::rename(copy, path);
    std::filesystem::remove(set_path("set") + "/manifest");  // it lists another container
    return changed;
  }

  // That the frame alone is damaged, and that the next set does not trip over it.
  void expect_refused(uint32_t number) const {
    const VerifyReport report = verify_ok();
    EXPECT_TRUE(std::ranges::any_of(report.damages, [&](const Damage& damage) { return damage.frame == number; }));
    for (const Damage& damage : report.damages) EXPECT_TRUE(!damage.frame || damage.frame == number) << damage.what;
    relations_of(*open_container(*store::open_stored(container_path("set", 0)), 64 << 20));
    remember(find().files, "00000-of-00001.fbc", 64 << 20);
  }
};

TEST_F(HostileReferencesTest, ToAFrameThatRefersToOthers) {
  write_gas(0.76);
  pack_ok(named("set"));
  const OpenSet set = open();
  const auto& frames = set.containers.front().index().frames;
  uint32_t last = 0;
  for (uint32_t number = 0; number < frames.size(); ++number)
    if (!frames[number].references.empty()) last = number;
  expect_refused(refer([&](uint32_t, auto& references) { references.back() = last; }));
}

TEST_F(HostileReferencesTest, TooMany) {
  write_gas(0.76);
  pack_ok(named("set"));
  expect_refused(refer([](uint32_t, auto& references) { references.assign(1000, references.front()); }));
}

TEST_F(HostileReferencesTest, None) {
  write_gas(0.76);
  pack_ok(named("set"));
  expect_refused(refer([](uint32_t, auto& references) { references.clear(); }));
}

TEST_F(HostileReferencesTest, ToAFrameOfAnotherSize) {
  write_gas(0.76);
  pack_ok(named("set"));
  const OpenSet set = open();
  const auto& frames = set.containers.front().index().frames;
  const auto smallest = std::ranges::min_element(frames, {}, &container::FrameEntry::raw_bytes);
  const auto number = static_cast<uint32_t>(smallest - frames.begin());
  expect_refused(refer([&](uint32_t, auto& references) { references.back() = number; }));
}

}  // namespace
}  // namespace forebay::engine

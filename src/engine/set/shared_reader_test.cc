#include "engine/set/shared_reader.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "engine/set/parent_frames.h"
#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

constexpr uint64_t kPlanes = 24, kRows = 100, kColumns = 90;  // 1.7 MB, entries of 3 planes
constexpr uint64_t kPlaneBytes = kRows * kColumns * sizeof(double);
constexpr uint64_t kMostEntry = 512 << 10;

// Two variables of each rank, of which the second follows from the first one.
class SharedReaderTest : public SetTest {
 protected:
  static constexpr int kRanks = 3;

  SharedReaderTest() {
    for (int rank = 0; rank < kRanks; ++rank)
      for (const char* name : {"density", "pressure"})
        write(tree() + "/" + name + "." + std::to_string(rank) + ".npy", file(name, rank));
  }

  static std::vector<double> values(const std::string& name, int rank) {
    std::vector<double> all(kPlanes * kRows * kColumns);
    std::mt19937 random(static_cast<unsigned>(rank));
    for (size_t i = 0; i < all.size(); ++i) {
      const double at = static_cast<double>(i) / 1e4;
      all[i] = 2 + std::sin(at) + 1e-9 * static_cast<double>(random() % 1000) + rank;
      if (name == "pressure") all[i] = 0.4 * all[i] + 1;
    }
    return all;
  }
  static std::string file(const std::string& name, int rank) {
    return npy_file(values(name, rank), {kPlanes, kRows, kColumns});
  }

  void pack(const std::string& profile, const std::string& parent = {}) {
    PackOptions wanted = options("aware", profile);
    wanted.name = parent.empty() ? "set" : "next";
    wanted.parent = parent;
    pack_ok(wanted);
  }

  SharedReader reader(const std::string& set = "set", uint64_t memory = 64 << 20,
                      uint64_t most_entry_bytes = UINT64_MAX) const {
    return {open(set), std::make_shared<FrameCache>(memory, most_entry_bytes), 2};
  }

  // The number of a file, and of its one variable.
  static std::pair<uint32_t, uint32_t> find(const SharedReader& reader, const std::string& name) {
    const Catalogue& catalogue = reader.set().containers[0].catalogue();
    for (uint32_t i = 0; i < catalogue.files.size(); ++i)
      if (catalogue.files[i].name.ends_with(name)) return {i, catalogue.files[i].first_variable};
    throw std::runtime_error("no " + name);
  }

  static SharedReader::BoxRead box_of(const SharedReader& reader, const std::string& name, const Box& box, Bytes& out) {
    const auto [file, variable] = find(reader, name);
    SharedReader::BoxRead read{0, *BoxPlan::make(reader.frames(0), file, variable, box), {}};
    out.resize(read.plan.bytes());
    read.put = [&out](uint64_t at, std::span<const std::byte> bytes) {
      std::ranges::copy(bytes, out.begin() + static_cast<ptrdiff_t>(at));
    };
    return read;
  }

  // One plane, checked; the cost of reading it.
  static FrameCost read_plane(const SharedReader& reader, const std::string& name, int rank, uint64_t plane) {
    Bytes out;
    const auto read =
        box_of(reader, name + "." + std::to_string(rank) + ".npy", {{plane, 0, 0}, {1, kRows, kColumns}}, out);
    const FrameCost cost =
        reader.read({&read, 1}, [](size_t, const Error& error) { ADD_FAILURE() << error.message(); });
    const auto all = values(name, rank);
    EXPECT_EQ(0, std::memcmp(out.data(), all.data() + plane * kRows * kColumns, kPlaneBytes)) << name << " " << plane;
    return cost;
  }
};

TEST_F(SharedReaderTest, DecodesWhatAPlaneNeedsAndNoMore) {
  for (const char* profile : {"fast", "balanced", "max"}) {
    std::filesystem::remove_all(store_path());
    pack(profile);
    const SharedReader one = reader();
    for (const uint64_t plane : {uint64_t{7}, kPlanes - 1, uint64_t{0}}) {
      const FrameCost cost = read_plane(one, "density", 1, plane);
      EXPECT_LE(cost.decoded_bytes, kMostEntry) << profile;
      EXPECT_GT(cost.decoded_bytes, 0u) << profile;
      EXPECT_LE(cost.read_bytes, kMostEntry) << profile;
    }
    EXPECT_EQ(read_plane(one, "density", 1, 7).decoded_bytes, 0u) << profile;
    EXPECT_LE(read_plane(one, "pressure", 2, 9).decoded_bytes, kMostEntry) << profile;
  }
}

TEST_F(SharedReaderTest, ReadsAFewBytesOfAFileFromOneEntry) {
  pack("balanced");
  const SharedReader one = reader();
  const uint32_t number = find(one, "density.2.npy").first;
  const std::string content = file("density", 2);
  for (const size_t at : {size_t{0}, content.size() / 2, content.size() - 4096}) {
    Bytes out(4096);
    const auto cost = one.read_file(0, number, at, out);
    ASSERT_TRUE(cost) << cost.error().message();
    EXPECT_LE(cost->decoded_bytes, kMostEntry);
    EXPECT_EQ(as_text(out), content.substr(at, out.size()));
  }
  Bytes all(content.size());
  ASSERT_TRUE(one.read_file(0, number, 0, all));
  EXPECT_EQ(as_text(all), content);
}

TEST_F(SharedReaderTest, KeepsFewEntriesWhereAllIsReadOnce) {
  pack("max");
  const SharedReader one = reader("set", 64 << 20, kMostEntry);
  for (int again = 0; again < 2; ++again)
    for (int rank = 0; rank < kRanks; ++rank) read_plane(one, "density", rank, 7);
  EXPECT_EQ(read_plane(one, "density", kRanks - 1, 7).decoded_bytes, 0u);
}

TEST_F(SharedReaderTest, ReadsSkeletonsWithoutVariables) {
  pack("max");
  const SharedReader one = reader();
  const uint32_t number = find(one, "density.2.npy").first;
  std::string expected = file("density", 2);
  const size_t head = expected.size() - kPlanes * kPlaneBytes;
  std::fill(expected.begin() + static_cast<ptrdiff_t>(head), expected.end(), '\0');
  Bytes out(expected.size());
  const auto cost = one.read_skeleton(0, number, 0, out);
  ASSERT_TRUE(cost);
  EXPECT_EQ(as_text(out), expected);
  EXPECT_LE(cost->decoded_bytes, 1000u);
  const SkeletonSource source(one, 0, number);
  EXPECT_TRUE(source.read_at(head - 10, std::span(out).first(20)));
  EXPECT_EQ(as_text(out).substr(0, 20), expected.substr(head - 10, 20));
  EXPECT_EQ(source.read_at(source.size() - 5, std::span(out).first(6)).error().kind, ErrorKind::invalid_argument);
}

TEST_F(SharedReaderTest, ReadsEntriesThatLieInAnotherSet) {
  pack("balanced");
  write(tree() + "/notes.txt", "step 2\n");
  pack("balanced", "set");
  const SharedReader one = reader("next");
  ASSERT_TRUE(is_parent_frame(one.set().containers[0], 0));
  const FrameCost cost = read_plane(one, "pressure", 0, 5);
  EXPECT_LE(cost.decoded_bytes, kMostEntry);
}

TEST_F(SharedReaderTest, LosesOnlyTheEntriesThatAreDamaged) {
  pack("balanced");
  {
    const OpenSet set = open();
    const OpenContainer& container = set.containers[0];
    const auto parts = find_parts(container, 0);
    ASSERT_TRUE(parts && parts->count() > 4);
    const auto& place = parts->table->places[2];
    flip_bit(container_path("set", 0), parts->payload_offset + place.offset + place.size / 2, 3);
  }
  const SharedReader one = reader();
  const merge::Stream lost = one.set().containers[0].plan->slices(one.set().containers[0].plan->frames()[0])[0].stream;
  const std::string name = one.set().containers[0].catalogue().files[lost.file].name;
  std::vector<Bytes> planes(kPlanes);
  std::vector<SharedReader::BoxRead> reads;
  for (uint64_t plane = 0; plane < kPlanes; ++plane)
    reads.push_back(box_of(one, name, {{plane, 0, 0}, {1, kRows, kColumns}}, planes[plane]));
  std::vector<bool> failed(kPlanes);
  one.read(reads, [&](size_t box, const Error& error) {
    failed[box] = true;
    EXPECT_EQ(error.kind, ErrorKind::corrupt);
    EXPECT_NE(error.what.find("frame 0: entry 2"), std::string::npos) << error.what;
  });
  const std::string content = read_text(tree() + "/" + name.substr(name.rfind('/') + 1));
  const size_t head = content.size() - kPlanes * kPlaneBytes;
  for (uint64_t plane = 0; plane < kPlanes; ++plane)
    EXPECT_TRUE(failed[plane] || as_text(planes[plane]) == content.substr(head + plane * kPlaneBytes, kPlaneBytes));
  const auto count = std::ranges::count(failed, true);
  EXPECT_GE(count, 1);
  EXPECT_LE(count, 4);
  EXPECT_FALSE(verify_ok().intact());
}

TEST_F(SharedReaderTest, ReadsWithLittleMemory) {
  pack("fast");
  const SharedReader one = reader("set", 3 << 20);
  for (int rank = 0; rank < kRanks; ++rank)
    for (uint64_t plane = 0; plane < kPlanes; plane += 5) read_plane(one, "density", rank, plane);
}

}  // namespace
}  // namespace forebay::engine

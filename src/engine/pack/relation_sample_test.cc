#include "engine/pack/relation_sample.h"

#include <algorithm>
#include <limits>
#include <map>

#include "engine/pack/read_group.h"
#include "engine/pack/relations.h"
#include "engine/pack/source_pool.h"
#include "engine/pack/tree.h"
#include "engine/test_gas.h"
#include "merge/companions.h"

namespace forebay::engine {
namespace {

using codec::FieldSample;
using codec::RelationKind;

class RelationSampleTest : public GasTest {
 protected:
  // The samples of the tree's only family, by the last names of their variables.
  std::map<std::string, FieldSample> sample() const {
    const std::vector<std::string> roots = {tree()};
    const SourceTree sources_tree = *scan_tree(roots);
    SourcePool sources(sources_tree.files);
    const auto group = *read_group(sources_tree.files, sources, {}, {}, 64 << 20, 1);
    const merge::Plan plan = *merge::Plan::make(group.catalogue, {.scheme = Scheme::aware, .share_bytes = 0});
    const auto families = merge::companion_groups(plan);
    if (families.size() != 1) throw std::runtime_error("not one family");
    const auto fields = *sample_family(plan, families[0], sources);
    std::map<std::string, FieldSample> named;
    for (size_t i = 0; i < fields.size(); ++i) {
      const std::string key = key_of(plan, families[0][i]);
      named[key.substr(1, key.find('_') - 1)] = fields[i];
    }
    return named;
  }

  static constexpr size_t kCells = kPlanes * kRows * kColumns;

  void write_pair(const std::vector<double>& a, const std::vector<double>& b) const {
    Tensors tensors;
    const std::string shape = fmt::format("{},{},{}", kPlanes, kRows, kColumns);
    tensors.add("a", a, shape);
    tensors.add("b", b, shape);
    write(tree() + "/dump.0.safetensors", tensors.file());
  }
};

TEST_F(RelationSampleTest, AllFieldsAreSampledAtTheSameCells) {
  write_gas(0.5);  // halves are exact
  const auto fields = sample();
  ASSERT_EQ(fields.size(), 5u);
  const FieldSample &density = fields.at("density"), &hydrogen = fields.at("hydrogen");
  const size_t cells = density.column(RelationKind::value, false).size();
  EXPECT_GE(cells, 1000u);
  for (const auto& [name, field] : fields)
    for (const RelationKind kind : {RelationKind::value, RelationKind::change})
      for (const bool squared : {false, true}) EXPECT_EQ(field.column(kind, squared).size(), cells) << name;
  for (size_t i = 0; i < cells; ++i) {
    const double value = density.column(RelationKind::value, false)[i];
    EXPECT_EQ(density.column(RelationKind::value, true)[i], value * value);
    EXPECT_EQ(hydrogen.column(RelationKind::value, false)[i], 0.5 * value);
    EXPECT_EQ(hydrogen.column(RelationKind::change, false)[i], 0.5 * density.column(RelationKind::change, false)[i]);
    EXPECT_EQ(hydrogen.column(RelationKind::change, true)[i], 0.25 * density.column(RelationKind::change, true)[i]);
  }
}

TEST_F(RelationSampleTest, ChangesAreThoseFromTheNeighbours) {
  std::vector<double> a(kCells), b(kCells);
  for (size_t z = 0, i = 0; z < kPlanes; ++z)
    for (size_t y = 0; y < kRows; ++y)
      for (size_t x = 0; x < kColumns; ++x, ++i) {
        a[i] = static_cast<double>(x * y * z);  // its Lorenzo residual is 1 everywhere
        b[i] = static_cast<double>(x + 2 * y + 4 * z);
      }
  write_pair(a, b);
  const auto fields = sample();
  const auto changes = fields.at("a").column(RelationKind::change, false);
  ASSERT_FALSE(changes.empty());
  EXPECT_TRUE(std::ranges::all_of(changes, [](double change) { return change == 1; }));
  EXPECT_TRUE(std::ranges::all_of(fields.at("b").column(RelationKind::change, false),
                                  [](double change) { return change == 0; }));
}

TEST_F(RelationSampleTest, CellsThatTellNothingAreLeftOut) {
  write_pair(std::vector<double>(kCells, 3), std::vector<double>(kCells, 4));
  EXPECT_TRUE(sample().at("a").column(RelationKind::value, false).empty());
  write_pair(field(1, kCells), std::vector<double>(kCells, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(sample().at("a").column(RelationKind::value, false).empty());
  write_pair(field(1, kCells), std::vector<double>(kCells, 1e200));
  EXPECT_TRUE(sample().at("a").column(RelationKind::value, false).empty());
}

}  // namespace
}  // namespace forebay::engine

#include "engine/pack/advise.h"

#include <algorithm>

#include "engine/test_sets.h"

namespace forebay::engine {
namespace {

class AdviseTest : public SetTest {
 protected:
  Result<Advice> advise_on(uint64_t sample_bytes, double min_mb_per_s = 0.001) const {
    return advise(
        {.sources = {tree()}, .sample_bytes = sample_bytes, .min_mb_per_s = min_mb_per_s, .resources = resources()});
  }
};

TEST_F(AdviseTest, TriesSchemesProfilesAndGroupSizes) {
  write_ranks(9, 40, 40);
  const auto advice = advise_on(64 << 20);
  ASSERT_TRUE(advice.has_value()) << advice.error().message();
  EXPECT_EQ(advice->ranks, 9u);
  EXPECT_EQ(advice->sampled_bytes, advice->total_bytes);
  EXPECT_EQ(advice->trials[0].scheme, "agnostic");
  EXPECT_EQ(advice->trials[0].profile, "gzip");
  const auto has = [&](auto member, const auto& value) {
    return std::ranges::count(advice->trials, value, member) > 0;
  };
  for (const char* scheme : kSchemes) EXPECT_TRUE(has(&Trial::scheme, std::string(scheme))) << scheme;
  for (const char* profile : {"gzip", "paper", "fast", "balanced", "max"})
    EXPECT_TRUE(has(&Trial::profile, std::string(profile))) << profile;
  for (const uint64_t size : {1, 2, 8}) EXPECT_TRUE(has(&Trial::group_size, size)) << size;
  EXPECT_FALSE(has(&Trial::group_size, uint64_t{32}));
  for (const Trial& trial : advice->trials) {
    EXPECT_GT(trial.ratio(), 0.5);
    EXPECT_LE(trial.ratio(), advice->recommended.ratio());
  }
}

TEST_F(AdviseTest, TriesASampleOfALargeSet) {
  write_ranks(150, 40, 40);
  const auto advice = advise_on(100'000);
  ASSERT_TRUE(advice.has_value()) << advice.error().message();
  EXPECT_EQ(advice->ranks, 150u);
  EXPECT_LT(advice->sampled_bytes, advice->total_bytes);
  EXPECT_TRUE(std::ranges::count(advice->trials, 64u, &Trial::group_size) > 0);
}

// Frames that are larger than the sample would make each scheme's bytes others.
TEST_F(AdviseTest, ASmallSampleIsTakenFromSeveralPlacesUnderEveryScheme) {
  constexpr uint64_t kSample = 1 << 20;
  write_ranks(4, 400, 400);
  const auto advice = advise_on(kSample);
  ASSERT_TRUE(advice.has_value()) << advice.error().message();
  ASSERT_GT(advice->total_bytes, 4 * kSample);
  for (const Trial& trial : advice->trials) EXPECT_LT(trial.raw_bytes, kSample * 3 / 2) << trial.scheme;
}

TEST_F(AdviseTest, RecommendsTheFastestIfNothingIsFastEnough) {
  write_ranks(2, 40, 40);
  const auto advice = advise_on(1 << 20, 1e9);
  ASSERT_TRUE(advice.has_value());
  const auto speed = [](const Trial& trial) { return static_cast<double>(trial.raw_bytes) / trial.encode_seconds; };
  for (const Trial& trial : advice->trials) EXPECT_LE(speed(trial), speed(advice->recommended));
}

TEST(Recommend, TakesTheBestRatioOfThoseThatAreFastEnough) {
  const auto trial = [](const char* profile, uint64_t stored, double seconds) {
    return Trial{.scheme = "auto",
                 .profile = profile,
                 .raw_bytes = 1'000'000,
                 .stored_bytes = stored,
                 .encode_seconds = seconds};
  };
  const std::vector<Trial> trials = {trial("gzip", 480'000, 0.02), trial("fast", 500'000, 0.001),
                                     trial("balanced", 490'000, 0.004), trial("max", 400'000, 0.05)};
  EXPECT_EQ(recommend(trials, 500).profile, "fast");
  EXPECT_EQ(recommend(trials, 200).profile, "balanced");
  EXPECT_EQ(recommend(trials, 50).profile, "gzip");
  EXPECT_EQ(recommend(trials, 1).profile, "max");
  EXPECT_EQ(recommend(trials, 1e9).profile, "fast");  // none is fast enough
}

TEST_F(AdviseTest, NamesTheBestRatioThatIsPassedOver) {
  write_ranks(2, 40, 40);
  for (const double least : {0.001, 1e9}) {
    const auto advice = advise_on(1 << 20, least);
    ASSERT_TRUE(advice.has_value());
    for (const Trial& trial : advice->trials) EXPECT_LE(trial.ratio(), advice->best_ratio.ratio());
    if (advice->recommended.mb_per_s() >= least) {
      EXPECT_EQ(advice->best_ratio.ratio(), advice->recommended.ratio());
    }
  }
}

TEST_F(AdviseTest, NeedsBytes) {
  write(tree() + "/empty", "");
  EXPECT_EQ(advise_on(1 << 20).error().kind, ErrorKind::invalid_argument);
}

}  // namespace
}  // namespace forebay::engine

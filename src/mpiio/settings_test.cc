#include "mpiio/settings.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forebay::lock::mpiio {
namespace {

Lookup lookup(std::map<std::string, std::string, std::less<>> values) {
  return [values = std::move(values)](std::string_view name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Settings, AnEmptyEnvironmentLeavesFilesAloneUntilTheyAreSetAtomic) {
  const auto settings = settings_from(lookup({}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->atomic, Atomic::asked);
  EXPECT_EQ(settings->nonatomic, Nonatomic::native);
  EXPECT_EQ(settings->lock, Locking::list);
  EXPECT_EQ(settings->sieve, Sieving::automatic);
  EXPECT_EQ(settings->keep, Keeping::automatic);
  EXPECT_TRUE(settings->may_act());
}

TEST(Settings, EveryVariableIsRead) {
  const auto settings = settings_from(lookup({{"FOREBAY_MPIIO_ATOMIC", "always"},
                                              {"FOREBAY_MPIIO_NONATOMIC", "safe"},
                                              {"FOREBAY_MPIIO_LOCK", "expanded"},
                                              {"FOREBAY_MPIIO_SIEVE", "never"},
                                              {"FOREBAY_MPIIO_KEEP", "never"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->atomic, Atomic::always);
  EXPECT_EQ(settings->nonatomic, Nonatomic::safe);
  EXPECT_EQ(settings->lock, Locking::expanded);
  EXPECT_EQ(settings->sieve, Sieving::never);
  EXPECT_EQ(settings->keep, Keeping::never);
}

TEST(Settings, AnEmptyVariableIsAsIfItWereNotThere) {
  EXPECT_TRUE(settings_from(lookup({{"FOREBAY_MPIIO_ATOMIC", ""}})));
}

TEST(Settings, AWrongValueIsNamedWithWhatIsAllowed) {
  const auto settings = settings_from(lookup({{"FOREBAY_MPIIO_LOCK", "lists"}}));
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(settings.error().what, "FOREBAY_MPIIO_LOCK=lists is not list, expanded, range, file or none");
}

TEST(Settings, HintsGoOverTheEnvironmentAndUnknownOnesArePassedOver) {
  Settings settings;
  settings.lock = Locking::file;
  const Settings hinted = with_hints(settings, lookup({{"forebay_atomic", "never"},
                                                       {"forebay_nonatomic", "unsafe"},
                                                       {"forebay_sieve", "always"},
                                                       {"forebay_collective", "independent"},
                                                       {"cb_nodes", "12"}}));
  EXPECT_EQ(hinted.atomic, Atomic::never);
  EXPECT_EQ(hinted.nonatomic, Nonatomic::native);
  EXPECT_EQ(hinted.lock, Locking::file);
  EXPECT_EQ(hinted.sieve, Sieving::always);
  EXPECT_EQ(hinted.collective, Collective::independent);
  EXPECT_EQ(hinted.aggregators, 12);
  EXPECT_FALSE(hinted.may_act());
}

TEST(Settings, ANumberOfAggregatorsThatIsNoneIsPassedOver) {
  for (const char* text : {"", "x", "3x", "-1", "70000"})
    EXPECT_EQ(with_hints(Settings{}, lookup({{"cb_nodes", text}})).aggregators, 0) << text;
}

TEST(Settings, HintsThatAreShownCanBeGivenAgain) {
  for (const Locking lock : {Locking::list, Locking::expanded, Locking::range, Locking::file, Locking::none}) {
    Settings settings;
    settings.lock = lock;
    settings.atomic = Atomic::always;
    std::map<std::string, std::string, std::less<>> shown;
    for (const Hint& hint : hints_of(settings)) shown[hint.key] = hint.value;
    const Settings again = with_hints(Settings{}, lookup(shown));
    EXPECT_EQ(again.lock, lock);
    EXPECT_EQ(again.atomic, Atomic::always);
  }
}

}  // namespace
}  // namespace forebay::lock::mpiio

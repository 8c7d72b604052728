#include "launch/rules/order.h"

#include <gmock/gmock.h>

namespace forebay::launch::rules {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kMinute = 60'000'000'000;
constexpr int64_t kNoon = 1'700'000'000'000'000'000;

struct Labelled {
  std::string label;
  int64_t minutes = 0;  // after noon
};

struct Named {
  std::vector<std::string> labels, notes;
};

Named ordered(std::string_view rule, const std::vector<Labelled>& labels, int64_t now = 24 * 60) {
  std::vector<DatedSet> sets;
  for (const auto& [label, minutes] : labels) sets.push_back({{.label = label}, kNoon + minutes * kMinute});
  const SetOrder order = order_of(*parse_rule(rule), sets, kNoon + now * kMinute);
  Named named{.labels = {}, .notes = order.notes};
  for (const size_t index : order.order) named.labels.push_back(labels[index].label);
  return named;
}

TEST(Order, IsThatOfNumbersAndDates) {
  const Named times = ordered("{set:time}/**", {{"1.1", 3}, {"0.9", 1}, {"1", 2}, {"0.8", 0}});
  EXPECT_THAT(times.labels, ElementsAre("0.8", "0.9", "1", "1.1"));
  EXPECT_THAT(times.notes, IsEmpty());
  EXPECT_THAT(ordered("{set:time}/**", {{"0.0001", 0}, {"1e-05", 0}, {"2e-05", 0}}).labels,
              ElementsAre("1e-05", "2e-05", "0.0001"));
  EXPECT_THAT(ordered("{set:date}/**", {{"2000-02-01", 0}, {"2000-01-30", 0}}).labels,
              ElementsAre("2000-01-30", "2000-02-01"));
}

TEST(Order, AWordHasNoPlaceAmongNumbers) {
  const Named named = ordered("kh.{set:00000}.rst; kh.{set:final}.rst", {{"00011", 0}, {"final", 5}, {"00012", 30}});
  EXPECT_THAT(named.labels, ElementsAre("00011", "final", "00012"));
  EXPECT_THAT(named.notes, IsEmpty());
}

TEST(Order, OfNamesUsedInTurnIsTime) {
  const Named named = ordered("chk{set:0|1}/**", {{"0", 30}, {"1", 20}});
  EXPECT_THAT(named.labels, ElementsAre("1", "0"));
  EXPECT_THAT(named.notes, IsEmpty());
}

TEST(Order, OfACounterThatGoesRoundIsTimeAndSaysSo) {
  const Named named = ordered("s_hdf5_chk_{set:0000}", {{"0002", 0}, {"0000", 10}, {"0001", 20}});
  EXPECT_THAT(named.labels, ElementsAre("0002", "0000", "0001"));
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("0002 was written before 0000")));
}

TEST(Order, OfTimesInTheFutureIsNamesAndSaysSo) {
  const Named named = ordered("iter_{set:0000000}/**", {{"0000100", 24 * 60}, {"0000200", 0}}, 1);
  EXPECT_THAT(named.labels, ElementsAre("0000100", "0000200"));
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("the time of 0000100 lies in the future")));
}

TEST(Order, AsksWhetherWhatIsMuchOlderIsOfAnotherRun) {
  const Named named = ordered("{set:time}/**", {{"0.5", 0}, {"0.6", 10}, {"9.5", -7 * 24 * 60}});
  EXPECT_THAT(named.labels, ElementsAre("9.5", "0.5", "0.6"));
  EXPECT_THAT(named.notes, ElementsAre(HasSubstr("9.5 is much older than what follows it")));
}

}  // namespace
}  // namespace forebay::launch::rules

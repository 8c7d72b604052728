#include "job/worker/stream_tuner.h"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

using Rate = std::function<double(uint32_t)>;  // MB/s of all streams together, by their number

// Sets of `containers` containers of 100 MB each; the number of streams after all of them.
uint32_t after_sets(uint32_t most, const Rate& rate, uint32_t containers, int sets) {
  StreamTuner tuner(most);
  StreamTuner::Time now{};
  for (int set = 0; set < sets; ++set) {
    for (uint32_t left = containers; left > 0;) {
      const uint32_t at_once = std::min(left, tuner.streams());
      for (uint32_t i = 0; i < at_once; ++i) tuner.began(now);
      now += std::chrono::microseconds(static_cast<int64_t>(1e8 * at_once / rate(at_once)));
      for (uint32_t i = 0; i < at_once; ++i) tuner.ended(100'000'000, now);
      left -= at_once;
    }
    now += std::chrono::minutes(1);
  }
  return tuner.streams();
}

TEST(StreamTuner, TakesTheMostWhereEachStreamHasAShareOfItsOwn) {
  const auto kept = after_sets(4, [](uint32_t streams) { return 30.0 * streams; }, 12, 100);
  EXPECT_GE(kept, 3u);  // it may be on trial
}

TEST(StreamTuner, OneStreamIsEnoughWhereOthersBringNothing) {
  EXPECT_LE(after_sets(4, [](uint32_t) { return 30.0; }, 12, 200), 2u);
}

TEST(StreamTuner, FindsTheNumberFromWhichOnMoreAreSlower) {
  const Rate rate = [](uint32_t streams) { return streams <= 3 ? 30.0 * streams : 90.0 - 10.0 * (streams - 3); };
  const auto kept = after_sets(8, rate, 24, 300);
  EXPECT_GE(kept, 2u);
  EXPECT_LE(kept, 4u);
}

TEST(StreamTuner, StreamsThatWereNeverAllInUseAreNotJudged) {
  EXPECT_EQ(after_sets(4, [](uint32_t) { return 30.0; }, 1, 500), 4u);
}

TEST(StreamTuner, OneStreamStaysOne) {
  EXPECT_EQ(after_sets(1, [](uint32_t) { return 30.0; }, 4, 100), 1u);
}

}  // namespace
}  // namespace forebay::job

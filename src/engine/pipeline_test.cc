#include "engine/pipeline.h"

#include <atomic>
#include <chrono>

#include <gtest/gtest.h>

namespace forebay::engine {
namespace {

struct Job {
  size_t number = 0;
  uint64_t value = 0;
};

using Stages = Pipeline<Job>::Stages;

Stages squares(std::vector<uint64_t>& delivered) {
  return {.cost = [](size_t number) { return 1 + number % 7; },
          .fetch = [](size_t number) -> Result<Job> { return Job{number, number}; },
          .work = [](Job& job) -> Result<void> {
            if (job.number % 5 == 0) std::this_thread::yield();
            job.value *= job.value;
            return {};
          },
          .put = [&delivered](Job& job) -> Result<void> {
            delivered.push_back(job.value);
            return {};
          }};
}

TEST(Pipeline, DeliversEveryJobInOrder) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    std::vector<uint64_t> delivered;
    ASSERT_TRUE(Pipeline<Job>::run(1000, 20, {.fetch = threads, .work = threads}, squares(delivered)).has_value());
    ASSERT_EQ(delivered.size(), 1000u);
    for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(delivered[i], i * i);
  }
}

TEST(Pipeline, HoldsTheBudgetFromFetchToDelivery) {
  std::atomic<int64_t> in_flight = 0, peak = 0;
  const Stages stages{.cost = [](size_t) { return 10; },
                      .fetch = [&](size_t number) -> Result<Job> {
                        int64_t now = in_flight += 10;
                        for (int64_t old = peak; now > old && !peak.compare_exchange_weak(old, now);) {
                        }
                        return Job{number};
                      },
                      .work = [](Job&) -> Result<void> { return {}; },
                      .put = [&](Job&) -> Result<void> {
                        std::this_thread::sleep_for(std::chrono::microseconds(100));
                        in_flight -= 10;
                        return {};
                      }};
  ASSERT_TRUE(Pipeline<Job>::run(300, 35, {.fetch = 4, .work = 4}, stages).has_value());
  EXPECT_LE(peak, 40) << "three leases, and one that is being given back";
}

TEST(Pipeline, NothingToDo) {
  std::vector<uint64_t> delivered;
  EXPECT_TRUE(Pipeline<Job>::run(0, 0, {}, squares(delivered)).has_value());
}

// Whichever stage fails, and whenever: its error comes back, and run() ends.
TEST(Pipeline, AnErrorInAnyStageEndsTheRun) {
  for (int stage = 0; stage < 4; ++stage) {
    for (const size_t at : {0u, 1u, 50u, 99u}) {
      std::vector<uint64_t> delivered;
      Stages stages = squares(delivered);
      const auto boom = [&](size_t number) -> Result<void> {
        if (number == at) return fail(ErrorKind::io, "boom " + std::to_string(stage));
        return {};
      };
      if (stage == 0)
        stages.fetch = [&](size_t n) -> Result<Job> {
          FOREBAY_CHECK(boom(n));
          return Job{n, n};
        };
      if (stage == 1) stages.work = [&](Job& job) { return boom(job.number); };
      if (stage == 2) stages.put = [&](Job& job) { return boom(job.number); };
      if (stage == 3) stages.cost = [&](size_t n) { return n == at ? 1000u : 1u; };
      const auto result = Pipeline<Job>::run(100, 20, {.fetch = 2, .work = 2}, stages);
      ASSERT_FALSE(result.has_value());
      EXPECT_EQ(result.error().kind, stage == 3 ? ErrorKind::limit : ErrorKind::io);
    }
  }
}

TEST(Pipeline, AnExceptionInAThreadBecomesAnError) {
  std::vector<uint64_t> delivered;
  Stages stages = squares(delivered);
  stages.work = [](Job& job) -> Result<void> {
    if (job.number == 7) throw std::bad_alloc();
    return {};
  };
  EXPECT_EQ(Pipeline<Job>::run(100, 20, {.fetch = 2, .work = 2}, stages).error().kind, ErrorKind::limit);
}

}  // namespace
}  // namespace forebay::engine

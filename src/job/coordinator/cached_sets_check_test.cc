// The protocol of caches through all orders of steps, crashes and losses: test_cache_checker.h.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/coordinator/test_cache_checker.h"

namespace forebay::job {
namespace {

using cache_check::Checker;
using cache_check::Variant;

TEST(CacheProtocol, HoldsWhateverHappensWhen) {
  for (const bool flush : {false, true}) {
    Checker checker({.nodes = 3, .sets = 2, .crashes = flush ? 1u : 2u, .flush = flush});
    EXPECT_EQ(checker.run(), "");
    EXPECT_GT(checker.states(), 1000u);
  }
}

TEST(CacheProtocol, HoldsOnManyWaysOfMoreNodesAndSets) {
  Checker checker({.nodes = 4, .sets = 3, .crashes = 3});
  EXPECT_EQ(checker.sample(400, 1), "");
}

struct Naive {
  Variant variant;
  unsigned crashes;  // that it takes
  const char* fault;
};
class CacheProtocolVariants : public testing::TestWithParam<Naive> {};

TEST_P(CacheProtocolVariants, AreCaught) {
  const auto& [variant, crashes, fault] = GetParam();
  const bool flush = variant == Variant::committed_before_all || variant == Variant::removed_while_due;
  Checker checker({.nodes = 3, .sets = 2, .crashes = crashes, .flush = flush, .losses = true, .variant = variant});
  EXPECT_THAT(checker.run(), testing::HasSubstr(fault));
}

INSTANTIATE_TEST_SUITE_P(Of, CacheProtocolVariants,
                         testing::Values(Naive{Variant::protected_before_encoded, 1, "was promised"},
                                         Naive{Variant::removed_before_sealed, 1, "was promised"},
                                         Naive{Variant::room_at_begin, 1, "was promised"},
                                         Naive{Variant::no_write_number, 2, "not whole"},
                                         Naive{Variant::marker_before_data, 1, "not whole"},
                                         Naive{Variant::encoded_before_complete, 1, "not whole"},
                                         Naive{Variant::any_seal_believed, 2, "not whole"},
                                         Naive{Variant::restored_without_encoding, 2, "was promised"},
                                         Naive{Variant::committed_before_all, 2, "store's set is not whole"},
                                         Naive{Variant::removed_while_due, 0, "never stored"}));

}  // namespace
}  // namespace forebay::job

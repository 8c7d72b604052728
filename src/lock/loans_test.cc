#include "lock/loans.h"

#include <gmock/gmock.h>

namespace forebay::lock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using ServedHow = Loans::Served;

Region loaned(uint64_t first, uint64_t length) {
  Region region;
  EXPECT_TRUE(region.add(first, length));
  return region;
}

class LoansTest : public testing::Test {
 protected:
  ServedHow serve(uint64_t request, uint64_t first, uint64_t length, Access access = Access::exclusive,
                  bool only_try = false) {
    return loans_.serve("f", request, loaned(first, length), access, only_try);
  }
  void lend() { loans_.lend("f", 1, loaned(0, 10), Access::exclusive); }

  // "1 held", "2 waits".
  std::vector<std::string> returned(uint64_t loan) {
    std::vector<std::string> list;
    const auto message = loans_.give_back(loan);
    EXPECT_TRUE(message);
    if (message)
      for (const auto& part : message->parts)
        list.push_back(std::to_string(part.request) + (part.held ? " held" : " waits"));
    return list;
  }

  Loans loans_;
};

TEST_F(LoansTest, ServesFilesThatAreLent) {
  EXPECT_EQ(serve(7, 0, 1), ServedHow::no);
  lend();
  EXPECT_EQ(loans_.serve("g", 8, loaned(0, 1), Access::shared, false), ServedHow::no);
  EXPECT_EQ(serve(2, 10, 10), ServedHow::held);
  EXPECT_THAT(loans_.release("f", 2), Optional(IsEmpty()));
  EXPECT_THAT(loans_.release("f", 1), Optional(IsEmpty()));
  EXPECT_EQ(serve(3, 0, 100), ServedHow::held);
  EXPECT_EQ(loans_.release("f", 99), std::nullopt);
}

TEST_F(LoansTest, ServesInTheOrderOfArrival) {
  lend();
  EXPECT_EQ(serve(2, 5, 10, Access::shared), ServedHow::waits);
  EXPECT_EQ(serve(3, 12, 10, Access::shared), ServedHow::held);
  EXPECT_EQ(serve(4, 14, 1), ServedHow::waits) << "behind 2, which waits, and 3";
  EXPECT_EQ(serve(5, 14, 1, Access::shared), ServedHow::waits) << "behind 4";
  EXPECT_EQ(serve(6, 14, 1, Access::shared, true), ServedHow::busy);
  EXPECT_EQ(serve(7, 30, 1, Access::exclusive, true), ServedHow::held);
  EXPECT_THAT(loans_.release("f", 1), Optional(ElementsAre(2u)));
  EXPECT_THAT(loans_.release("f", 3), Optional(IsEmpty()));
  EXPECT_THAT(loans_.release("f", 2), Optional(ElementsAre(4u)));
  EXPECT_THAT(loans_.release("f", 4), Optional(ElementsAre(5u)));
}

TEST_F(LoansTest, ReturnsWhatIsInUse) {
  lend();
  EXPECT_EQ(serve(2, 20, 10), ServedHow::held);
  EXPECT_EQ(serve(3, 25, 10), ServedHow::waits);
  loans_.release("f", 1);
  EXPECT_THAT(returned(1), ElementsAre("2 held", "3 waits"));
  EXPECT_EQ(serve(4, 100, 1), ServedHow::no);
  EXPECT_EQ(loans_.release("f", 2), std::nullopt) << "the server has to know";
  EXPECT_EQ(loans_.give_back(1), std::nullopt);
}

TEST_F(LoansTest, KnowsWhatIsLostWhenALoanIsTaken) {
  lend();
  EXPECT_EQ(serve(2, 5, 10), ServedHow::waits);
  EXPECT_THAT(loans_.taken(1), ElementsAre(2u));
  EXPECT_TRUE(loans_.lost(1));
  EXPECT_FALSE(loans_.lost(2));
  loans_.forget(1);
  EXPECT_FALSE(loans_.any_lost());
}

TEST_F(LoansTest, KnowsWhatIsLostWhenTheReturnCrossesTheTaking) {
  lend();
  EXPECT_EQ(serve(2, 5, 10), ServedHow::waits);
  EXPECT_EQ(serve(3, 20, 10), ServedHow::held);
  EXPECT_THAT(returned(1), ElementsAre("1 held", "2 waits", "3 held"));
  loans_.forget(3);  // released meanwhile
  EXPECT_THAT(loans_.taken(1), IsEmpty()) << "the server refuses the one that waits";
  EXPECT_TRUE(loans_.lost(1));
  EXPECT_FALSE(loans_.lost(3));
}

TEST_F(LoansTest, IsBounded) {
  lend();
  loans_.release("f", 1);
  for (uint64_t i = 0; i < Loans::kMostRequests; ++i) EXPECT_EQ(serve(10 + i, i, 1), ServedHow::held);
  EXPECT_EQ(serve(9, 1000, 1), ServedHow::too_many);
  EXPECT_THAT(loans_.loan_of("f", loaned(1000, 1), Access::exclusive), Optional(1u));
}

TEST_F(LoansTest, MakesRoomByWhatLayIdleLongest) {
  for (uint64_t i = 1; i <= Loans::kMostLoans; ++i) {
    EXPECT_TRUE(loans_.may_ask());
    loans_.lend("f" + std::to_string(i), i, loaned(0, 1), Access::shared);
  }
  EXPECT_FALSE(loans_.may_ask()) << "all are in use";
  EXPECT_THAT(loans_.to_make_room(), IsEmpty());
  loans_.release("f3", 3);
  loans_.release("f2", 2);
  EXPECT_EQ(loans_.serve("f2", 1000, loaned(0, 1), Access::shared, false), ServedHow::held);
  loans_.release("f2", 1000);
  EXPECT_TRUE(loans_.may_ask());
  loans_.lend("g", 2000, loaned(0, 1), Access::shared);
  EXPECT_THAT(loans_.to_make_room(), ElementsAre(3u));
}

TEST_F(LoansTest, ServesFromElementsOfAProgression) {
  loans_.lend("f", 1, loaned(100, 10), Access::exclusive, 50, 4);
  EXPECT_EQ(serve(2, 250, 10), ServedHow::held);
  EXPECT_EQ(serve(3, 150, 5, Access::shared), ServedHow::held) << "a part of one";
  EXPECT_EQ(serve(4, 155, 10), ServedHow::no) << "bytes beyond it";
  EXPECT_EQ(serve(5, 300, 10), ServedHow::no) << "the fifth";
  EXPECT_EQ(serve(6, 252, 2), ServedHow::waits);
  EXPECT_THAT(loans_.release("f", 2), Optional(ElementsAre(6u)));
  loans_.lend("f", 7, loaned(1000, 10), Access::shared, 50, 4);
  EXPECT_EQ(serve(8, 1050, 10), ServedHow::no) << "that is to read only";
  EXPECT_EQ(serve(8, 1050, 10, Access::shared), ServedHow::held);
}

TEST_F(LoansTest, KeepsOfAProgressionWhatIsNeitherWantedNorInUse) {
  loans_.lend("f", 1, loaned(0, 10), Access::exclusive, 50, 20);
  EXPECT_EQ(serve(2, 250, 10), ServedHow::held);
  uint64_t next = 100;
  const auto message = loans_.give_back(1, {10, 12}, [&next] { return next++; });
  ASSERT_TRUE(message);
  EXPECT_EQ(message->parts.size(), 2u) << "the first request is held, too";
  ASSERT_EQ(message->kept.size(), 3u);
  EXPECT_EQ(message->kept[0].which, (Elements{1, 5}));
  EXPECT_EQ(message->kept[1].which, (Elements{6, 10}));
  EXPECT_EQ(message->kept[2].which, (Elements{12, 20}));
  EXPECT_EQ(serve(3, 250, 10), ServedHow::no);
  EXPECT_EQ(serve(4, 500, 10), ServedHow::no);
  EXPECT_EQ(serve(5, 950, 10), ServedHow::held);
  EXPECT_EQ(loans_.release("f", 2), std::nullopt) << "the server's";
  EXPECT_THAT(loans_.taken(1), IsEmpty()) << "it crossed the return";
  EXPECT_TRUE(loans_.lost(2));
  EXPECT_TRUE(loans_.lost(5));
  EXPECT_FALSE(loans_.any());
}

TEST_F(LoansTest, HasFewLoansOfAFile) {
  for (uint64_t i = 1; i <= Loans::kMostOfFile; ++i) {
    loans_.lend("f", i, loaned(i * 1000, 10), Access::exclusive, 50, 4);
    loans_.release("f", i);
  }
  EXPECT_THAT(loans_.to_make_room(), IsEmpty());
  loans_.lend("f", 10, loaned(9000, 10), Access::exclusive, 50, 4);
  EXPECT_THAT(loans_.to_make_room(), ElementsAre(1u));
}

TEST_F(LoansTest, ReturnsAllThatIsBeyondTheMost) {
  for (uint64_t i = 1; i <= Loans::kMostOfFile + 2; ++i)
    loans_.lend("f", i, loaned(i * 1000, 10), Access::exclusive, 50, 4);
  loans_.release("f", 3);
  EXPECT_THAT(loans_.to_make_room(), ElementsAre(3u, 1u));
}

TEST_F(LoansTest, KeepsNoMoreThanThereIsRoomFor) {
  for (uint64_t i = 1; i <= Loans::kMostOfFile; ++i) {
    loans_.lend("f", i, loaned(i * 10'000, 10), Access::exclusive, 50, 20);
    loans_.release("f", i);
  }
  uint64_t next = 100;
  const auto message = loans_.give_back(1, {10, 12}, [&next] { return next++; });
  ASSERT_TRUE(message);
  ASSERT_EQ(message->kept.size(), 1u);
  EXPECT_EQ(message->kept[0].which, (Elements{12, 20})) << "what is needed next";
  EXPECT_EQ(loans_.all().size(), Loans::kMostOfFile);
}

TEST_F(LoansTest, FindsWhatIsIdle) {
  lend();
  EXPECT_THAT(loans_.idle(), IsEmpty());
  EXPECT_THAT(loans_.idle(), IsEmpty()) << "in use";
  loans_.release("f", 1);
  EXPECT_THAT(loans_.idle(), ElementsAre(1u));
  EXPECT_EQ(serve(2, 0, 1), ServedHow::held);
  loans_.release("f", 2);
  EXPECT_THAT(loans_.idle(), IsEmpty()) << "used since";
  EXPECT_THAT(loans_.idle(), ElementsAre(1u));
}

}  // namespace
}  // namespace forebay::lock

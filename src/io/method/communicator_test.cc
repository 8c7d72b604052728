// What ranks do together, with threads as ranks and the collectives that are built on messages.
#include "io/method/communicator.h"

#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "io/method/agreement.h"

namespace forebay::io {
namespace {

void on_ranks(uint32_t size, const std::function<void(Communicator&)>& run) {
  auto ranks = thread_ranks(size);
  std::vector<std::jthread> threads;
  for (auto& rank : ranks) threads.emplace_back([&run, own = std::move(rank)] { run(*own); });
}

std::string text_of(const Bytes& bytes) { return std::string(as_text(bytes)); }

TEST(Communicator, BroadcastReachesAllFromEveryRoot) {
  for (const uint32_t size : {1u, 2u, 5u, 8u})
    for (uint32_t root = 0; root < size; ++root)
      on_ranks(size, [&](Communicator& comm) {
        const auto word = as_bytes("from the root");
        Bytes bytes;
        if (comm.rank() == root) bytes.assign(word.begin(), word.end());
        ASSERT_TRUE(comm.broadcast(bytes, root));
        EXPECT_EQ(text_of(bytes), "from the root") << size << " " << root;
      });
}

TEST(Communicator, GatherKeepsOrderAndLengths) {
  on_ranks(4, [](Communicator& comm) {
    const std::string mine(comm.rank(), static_cast<char>('a' + comm.rank()));
    const auto all = comm.gather(as_bytes(mine), 2);
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), comm.rank() == 2 ? 4u : 0u);
    if (comm.rank() == 2) {
      EXPECT_EQ(text_of((*all)[0]), "");
      EXPECT_EQ(text_of((*all)[3]), "ddd");
    }
  });
}

TEST(Communicator, ScanAndReductions) {
  on_ranks(5, [](Communicator& comm) {
    EXPECT_EQ(comm.exclusive_scan(comm.rank() + 1), comm.rank() * (comm.rank() + 1) / 2);
    EXPECT_EQ(comm.all_reduce(comm.rank() + 1, Reduction::sum), 15u);
    EXPECT_EQ(comm.all_reduce(comm.rank() + 1, Reduction::min), 1u);
    EXPECT_EQ(comm.all_reduce(comm.rank() + 1, Reduction::max), 5u);
  });
}

TEST(Communicator, AScanMayBeBegunByOneRankAfterTheOther) {
  on_ranks(3, [](Communicator& comm) {
    for (uint64_t round = 1; round < 3; ++round) {
      std::unique_ptr<PendingScan> scan;
      for (uint32_t turn = 0; turn < comm.size(); ++turn) {  // the last rank begins
        const bool is_mine = comm.rank() == comm.size() - 1 - turn;
        if (is_mine) {
          auto begun = comm.begin_exclusive_scan(round * (comm.rank() + 1));
          ASSERT_TRUE(begun);
          scan = std::move(*begun);
          const auto sum = scan->wait_for(std::chrono::microseconds(0));
          ASSERT_TRUE(sum);
          EXPECT_EQ(sum->has_value(), comm.rank() == 0);  // nobody before it has begun
        }
        ASSERT_TRUE(comm.barrier());
      }
      const uint64_t expected = round * comm.rank() * (comm.rank() + 1) / 2;
      EXPECT_EQ(*scan->wait_for(std::chrono::microseconds(0)), expected);
      EXPECT_EQ(*scan->wait(), expected);
    }
  });
}

TEST(Communicator, SplitOrdersByKey) {
  on_ranks(6, [](Communicator& comm) {
    auto part = comm.split(comm.rank() % 2, 10 - comm.rank());
    ASSERT_TRUE(part);
    EXPECT_EQ((*part)->size(), 3u);
    EXPECT_EQ((*part)->rank(), 2 - comm.rank() / 2);
    EXPECT_EQ((*part)->all_reduce(comm.rank(), Reduction::sum), comm.rank() % 2 ? 9u : 6u);
  });
}

TEST(Communicator, ARankThatIsGoneIsNoHang) {
  on_ranks(2, [](Communicator& comm) {
    if (comm.rank() == 1) return;  // and its communicator goes
    const auto message = comm.receive(1);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().kind, ErrorKind::disconnected);
  });
}

TEST(Agreement, TheRootTellsWhatItHasOrWhyNot) {
  on_ranks(3, [](Communicator& comm) {
    for (const bool works : {true, false}) {
      Outcome<Bytes> mine = Bytes();
      if (comm.rank() == 1 && works) mine = Bytes(700, std::byte{7});
      if (comm.rank() == 1 && !works) mine = refuse(Code::write, "no room");
      const Outcome<Bytes> told = tell(comm, mine, 1);
      ASSERT_EQ(told.has_value(), works);
      if (works) {
        EXPECT_EQ(*told, Bytes(700, std::byte{7}));
      } else {
        EXPECT_EQ(told.error().error.what, "no room");
      }
    }
  });
}

TEST(Agreement, AllHearOfTheFirstThatFailed) {
  on_ranks(4, [](Communicator& comm) {
    Outcome<void> mine;
    if (comm.rank() >= 2) mine = refuse(Code::write, "no room", "make room", "f");
    const Outcome<void> all = agree(comm, mine);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().code, Code::write);
    EXPECT_EQ(all.error().error.what, "no room [rank 2]");
    EXPECT_EQ(all.error().error.hint, "make room");
    EXPECT_EQ(all.error().error.path, "f");
    EXPECT_EQ(all.error().told_ranks, 4u);
    EXPECT_EQ(all.error().is_heard, comm.rank() != 2) << "the rank that failed says it for all";
    EXPECT_TRUE(agree(comm, {}));
  });
}

TEST(Agreement, AllHearOfTheFirstThatDoesSomethingElse) {
  on_ranks(4, [](Communicator& comm) {
    EXPECT_TRUE(agree_on(comm, "opens a", {}));
    const Outcome<void> differs = agree_on(comm, comm.rank() == 2 ? "opens b" : "opens a", {});
    ASSERT_FALSE(differs);
    EXPECT_EQ(differs.error().error.what, "this rank opens b, and rank 0 opens a [rank 2]");
    Outcome<void> mine;
    if (comm.rank() == 3) mine = refuse(Code::invalid_mode, "no mode");
    const Outcome<void> fails = agree_on(comm, "opens a", mine);
    ASSERT_FALSE(fails);
    EXPECT_EQ(fails.error().code, Code::invalid_mode);
    const Outcome<void> alike = agree_on(comm, "opens a", refuse(Code::invalid_group, "no group"));
    ASSERT_FALSE(alike);
    EXPECT_EQ(alike.error().error.what, "no group [rank 0]");
    EXPECT_EQ(alike.error().is_heard, comm.rank() != 0);
  });
}

}  // namespace
}  // namespace forebay::io

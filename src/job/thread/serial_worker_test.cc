#include "job/thread/serial_worker.h"

#include <filesystem>
#include <new>
#include <optional>
#include <queue>
#include <stdexcept>

#include <gtest/gtest.h>

namespace forebay::job {
namespace {

// The thread that waits for results.
class Waiting {
 public:
  void post(std::function<void()> what) {
    {
      const std::lock_guard lock(mutex_);
      posted_.push(std::move(what));
    }
    changed_.notify_one();
  }
  void take_one() {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, std::chrono::seconds(10), [&] { return !posted_.empty(); }));
    auto what = std::move(posted_.front());
    posted_.pop();
    lock.unlock();
    what();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> posted_;
};

class SerialWorkerTest : public testing::Test {
 protected:
  template <class Thrown>
  std::optional<Error> error_after(Thrown thrown) {
    std::optional<Error> found;
    chores_.add([thrown]() -> Result<int> { throw thrown; },
                [&](const Result<int>& result) {
                  if (!result) found = result.error();
                });
    waiting_.take_one();
    return found;
  }

  Waiting waiting_;
  SerialWorker chores_{[this](auto what) { waiting_.post(std::move(what)); }};
};

TEST_F(SerialWorkerTest, AreDoneInOrderElsewhereAndTheirResultsHandedOver) {
  std::vector<int> seen;
  std::thread::id where;
  for (int i = 0; i < 3; ++i)
    chores_.add(
        [&where, i]() -> Result<int> {
          where = std::this_thread::get_id();
          if (i == 1) return fail(ErrorKind::io, "broken");
          return i;
        },
        [&seen](Result<int> result) { seen.push_back(result.value_or(-1)); });
  for (int i = 0; i < 3; ++i) waiting_.take_one();
  EXPECT_EQ(seen, (std::vector<int>{0, -1, 2}));
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST_F(SerialWorkerTest, ExceptionsAreErrorsAndTheNextOneIsDone) {
  const auto limit = error_after(std::bad_alloc());
  ASSERT_TRUE(limit);
  EXPECT_EQ(limit->kind, ErrorKind::limit);
  const auto other = error_after(std::filesystem::filesystem_error("cannot list", std::error_code()));
  ASSERT_TRUE(other);
  EXPECT_NE(other->what.find("cannot list"), std::string::npos);
  bool done = false;
  chores_.add([]() -> Result<void> { return {}; }, [&](const Result<void>& result) { done = result.has_value(); });
  waiting_.take_one();
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace forebay::job

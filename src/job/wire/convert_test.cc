#include "job/wire/convert.h"

#include <gtest/gtest.h>

namespace forebay::job::wire {
namespace {

TEST(Convert, AFileComesBackAsItWas) {
  const FileRow row{.name = "dir/link",
                    .kind = FileKind::symlink,
                    .mode = 0751,
                    .mtime_s = -7,
                    .mtime_ns = 999'999'999,
                    .size = 1ull << 40,
                    .link_target = "../there",
                    .rank = 12};
  const FileRow back = row_of(file_of(row, 12));
  EXPECT_EQ(back.name, row.name);
  EXPECT_EQ(back.kind, row.kind);
  EXPECT_EQ(back.mode, row.mode);
  EXPECT_EQ(back.mtime_s, row.mtime_s);
  EXPECT_EQ(back.mtime_ns, row.mtime_ns);
  EXPECT_EQ(back.size, row.size);
  EXPECT_EQ(back.link_target, row.link_target);
  EXPECT_EQ(back.rank, 12u);
  EXPECT_EQ(file_of(row, -1).rank, -1);
  EXPECT_EQ(row_of(file_of(row, -1)).rank, 0u);
}

TEST(Convert, AnErrorComesBackWithItsWholeMessage) {
  const Error error{ErrorKind::io, "write", "/store/x", 4096, "make room"};
  const RefusedT refused = refusal_of(error, 3);
  EXPECT_EQ(refused.attempt, 3u);
  EXPECT_EQ(error_of(refused).kind, ErrorKind::io);
  EXPECT_EQ(error_of(refused).what, error.message());
  TaskDoneT done;
  set_error(done, error);
  EXPECT_TRUE(done.failed);
  EXPECT_EQ(error_of(done).kind, ErrorKind::io);
  EXPECT_EQ(error_of(done).what, error.message());
}

TEST(Convert, AKindThatIsNotKnownIsInternal) {
  RefusedT refused;
  refused.error_kind = 200;
  EXPECT_EQ(error_of(refused).kind, ErrorKind::internal);
  TaskDoneT done;
  done.error_kind = 200;
  EXPECT_EQ(error_of(done).kind, ErrorKind::internal);
}

}  // namespace
}  // namespace forebay::job::wire

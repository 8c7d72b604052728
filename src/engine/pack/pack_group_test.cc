#include "engine/pack/pack_group.h"

#include <thread>

#include "engine/pack/headers.h"
#include "engine/pack/source_pool.h"
#include "engine/test_gas.h"
#include "engine/test_memory_sources.h"

namespace forebay::engine {
namespace {

class PackGroupTest : public GasTest {
 protected:
  PackGroupTest() {
    write_gas(0.7);
    write(tree() + "/notes.txt", "not a tensor\n");
    write(tree() + "/broken.1.h5", "\x89HDF\r\n\x1a\n and nothing else");
    std::filesystem::create_symlink("notes.txt", tree() + "/link");
    files_ = scan_tree(std::vector{tree()})->files;
    options_ = options("auto", "max");
    // Cost and frame size follow from the memory, which pack() takes a part of for the process.
    resources_.memory_bytes = *buffer_bytes(resources_.memory_bytes);
  }

  Result<GroupReport> pack_to(const std::string& file, Sources& sources, const GroupHooks& hooks = {},
                              RateLimit* limit = nullptr,
                              const std::function<Result<GroupCatalogue>(uint64_t)>& catalogue = {}) const {
    return pack_group({.files = files_, .sources = sources, .catalogue = catalogue},
                      {.set = staged_->containers(), .name = file, .limit = limit}, options_, resources_, nullptr, {},
                      hooks);
  }

  std::vector<SourceFile> files_;
  std::unique_ptr<store::StagedSet> staged_ = *store::Store::open_for_writing(path("other"))->stage("other");
  PackOptions options_;
  Resources resources_ = SetTest::resources();
};

TEST_F(PackGroupTest, SourcesElsewhereMakeTheContainerThatPackMakes) {
  pack_ok(options_);
  MemorySources sources(files_);
  uint64_t delivered = 0, bytes = 0;
  const auto report = pack_to("temporary", sources, {.delivered = [&](uint64_t raw, uint64_t) { delivered += raw; }});
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(read_text(staged_->containers().path_of("temporary")), read_text(container_path("set", 0)));
  EXPECT_EQ(report->entry.name, "temporary");
  EXPECT_EQ(report->entry.tail_hash, find().manifest->containers[0].tail_hash);
  for (const SourceFile& file : files_) bytes += file.row.size;
  EXPECT_EQ(delivered, bytes);
  EXPECT_EQ(sources.checks, 1);
}

TEST_F(PackGroupTest, HeadersOfSeveralNodesMakeTheSameContainer) {
  pack_ok(options_);
  MemorySources sources(files_);
  // Each file on a node of its own, which sends its layout as bytes.
  std::vector<Headers> headers;
  for (const SourceFile& file : files_) {
    MemorySources own({&file, 1});
    headers.push_back(
        *decode_headers(*encode_headers(*read_headers({&file, 1}, own, options_.format, 64 << 20, 1)), 1 << 20));
  }
  const auto report = pack_to("temporary", sources, {}, nullptr, [&](uint64_t memory_bytes) {
    return merge_headers(headers, files_, options_.similarity, memory_bytes, 2);
  });
  ASSERT_TRUE(report) << report.error().message();
  EXPECT_EQ(sources.gets, 0);
  EXPECT_EQ(read_text(staged_->containers().path_of("temporary")), read_text(container_path("set", 0)));
  SourcePool pool(files_);
  EXPECT_EQ(report->remarks, pack_to("again", pool)->remarks);
  EXPECT_EQ(report->remarks.size(), 1u);  // of the broken file
}

TEST_F(PackGroupTest, AnErrorOfTheSourcesEndsIt) {
  MemorySources sources(files_);
  sources.before_read = [](int read) -> Result<void> {
    return read == 3 ? fail(ErrorKind::disconnected, "the node is gone") : Result<void>();
  };
  EXPECT_EQ(pack_to("temporary", sources).error().kind, ErrorKind::disconnected);
}

TEST_F(PackGroupTest, AStopEndsItBetweenReads) {
  std::stop_source stop;
  MemorySources sources(files_);
  sources.before_read = [&](int read) {
    if (read == 2) stop.request_stop();
    return Result<void>();
  };
  EXPECT_EQ(pack_to("temporary", sources, {.stop = stop.get_token()}).error().kind, ErrorKind::cancelled);
  EXPECT_LE(sources.reads, 3);
}

TEST_F(PackGroupTest, AStopEndsItWhileItWaitsForTheRateLimit) {
  std::stop_source stop;
  RateLimit limit(1);
  MemorySources sources(files_);
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  EXPECT_EQ(pack_to("temporary", sources, {.stop = stop.get_token()}, &limit).error().kind, ErrorKind::cancelled);
}

TEST_F(PackGroupTest, TheRateLimitHoldsForAllThatIsWritten) {
  options_ = options("agnostic", "fast");
  options_.scheme.frame_bytes = 32 << 10;
  MemorySources sources(files_);
  const auto unlimited = pack_to("unlimited", sources);
  ASSERT_TRUE(unlimited);
  const uint64_t rate = unlimited->entry.bytes * 4;
  RateLimit limit(rate);
  const auto start = std::chrono::steady_clock::now();
  const auto report = pack_to("limited", sources, {}, &limit);
  ASSERT_TRUE(report);
  EXPECT_TRUE(limit.take(1));  // waits for what the index took
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(seconds, static_cast<double>(report->entry.bytes) / static_cast<double>(rate) - 0.1);
  EXPECT_EQ(read_text(path("limited")), read_text(path("unlimited")));
}

TEST_F(PackGroupTest, TheRateLimitReachesTheReads) {
  options_ = options("agnostic", "fast");
  options_.scheme.frame_bytes = 32 << 10;
  MemorySources sources(files_);
  RateLimit limit(1);  // the first frame is owed for longer than the test lasts
  std::stop_source stop;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    stop.request_stop();
  });
  resources_.memory_bytes = 1 << 20;
  const auto catalogue = [&](uint64_t) { return read_group(files_, sources, {}, {}, 64 << 20, 1); };
  EXPECT_EQ(pack_to("temporary", sources, {.stop = stop.get_token()}, &limit, catalogue).error().kind,
            ErrorKind::cancelled);
  uint64_t bytes = 0;
  for (const SourceFile& file : files_) bytes += file.row.size;
  EXPECT_LT(static_cast<uint64_t>(sources.reads) * (32 << 10), bytes / 2);
}

}  // namespace
}  // namespace forebay::engine

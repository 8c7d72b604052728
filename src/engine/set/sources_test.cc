#include "engine/set/sources.h"

#include <algorithm>

#include <sys/resource.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/pack/read_group.h"
#include "engine/pack/source_pool.h"
#include "engine/set/frame_io.h"
#include "engine/test_memory_sources.h"

namespace forebay::engine {
namespace {

// What every implementation of Sources does; each makes sources of a tree's files.
class SourcesContract : public SetTest, public testing::WithParamInterface<const char*> {
 protected:
  SourcesContract() {
    write(tree() + "/a.0", "0123456789");
    write(tree() + "/a.1", "abcdefghij");
    write(tree() + "/a.2", "");
    files_ = scan_tree(std::vector{tree()})->files;
  }

  std::unique_ptr<Sources> sources() const {
    if (std::string(GetParam()) == "memory") return std::make_unique<MemorySources>(files_);
    return std::make_unique<SourcePool>(files_);
  }

  static std::string read(Sources& sources, const std::vector<SourcePiece>& pieces) {
    size_t bytes = 0;
    for (const SourcePiece& piece : pieces) bytes += piece.length;
    std::string out(bytes, '?');
    const auto done = sources.read(pieces, std::as_writable_bytes(std::span(out)));
    return done ? out : done.error().message();
  }

  std::vector<SourceFile> files_;
};

TEST_P(SourcesContract, PiecesComeOneAfterAnother) {
  const auto all = sources();
  EXPECT_EQ(read(*all, {{0, 2, 3}, {1, 0, 2}, {0, 9, 1}, {0, 0, 1}, {1, 0, 10}}), "234ab90abcdefghij");
  EXPECT_TRUE(all->check_unchanged());
}

TEST_P(SourcesContract, FilesCanBeReadAtRandom) {
  const auto all = sources();
  const auto file = all->get(1);
  ASSERT_TRUE(file);
  EXPECT_EQ((*file)->size(), 10u);
  EXPECT_EQ((*file)->name(), tree() + "/a.1");
  std::string out(3, '?');
  EXPECT_TRUE((*file)->read_at(7, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(out, "hij");
  EXPECT_EQ((*file)->read_at(8, std::as_writable_bytes(std::span(out))).error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ((*all->get(2))->size(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, SourcesContract, testing::Values("pool", "memory"),
                         [](const auto& test) { return std::string(test.param); });

class SourcePoolTest : public SourcesContract {};

// As many descriptors as are open, and a few: for as long as this lives.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Fd next(::dup(0));  // the lowest number that is free
    const rlimit limit{static_cast<rlim_t>(next.get()) + more, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_{};
};

TEST_F(SourcePoolTest, ManyFilesAreReadWithFewDescriptors) {
  for (int i = 3; i < 40; ++i) write(tree() + "/a." + std::to_string(i), "content " + std::to_string(i));
  files_ = scan_tree(std::vector{tree()})->files;
  // Sanitizers look into the table of each type once, for which they need descriptors.
  const auto use = [&](SourcePool& pool, uint32_t i) {
    const auto size = static_cast<uint32_t>(files_[i].row.size);
    EXPECT_EQ(read(pool, {{i, 0, size}}).size(), size);
    EXPECT_TRUE(pool.get(i)) << pool.get(i).error().message();
  };
  SourcePool unbounded(files_);
  for (uint32_t i = 0; i < 2; ++i) use(unbounded, i);
  EXPECT_TRUE(unbounded.check_unchanged());
  unbounded.close_all();
  SourcePool pool(files_);  // which would keep all of them open
  const FewDescriptors few(4);
  std::vector<std::shared_ptr<ByteSource>> kept;  // others' descriptors
  for (uint32_t i = 0; i < 2; ++i) kept.push_back(*pool.get(i));
  for (int round = 0; round < 2; ++round)
    for (uint32_t i = 0; i < files_.size(); ++i) use(pool, i);
  EXPECT_TRUE(pool.check_unchanged());
  pool.close_all();
  EXPECT_TRUE(pool.get(0));
}

TEST_F(SourcePoolTest, AFileThatChangedIsNotRead) {
  SourcePool pool(files_);
  write(tree() + "/a.1", "other bytes");
  std::string out(1, '?');
  const std::vector<SourcePiece> pieces = {{1, 0, 1}};
  const auto read = pool.read(pieces, std::as_writable_bytes(std::span(out)));
  EXPECT_EQ(read.error().kind, ErrorKind::changed);
  EXPECT_EQ(read.error().path, tree() + "/a.1");
  EXPECT_TRUE(pool.check_unchanged());  // it was not used
}

TEST_F(SourcePoolTest, AFileThatChangesAfterItWasReadIsNoticed) {
  SourcePool pool(files_);
  std::string out(1, '?');
  const std::vector<SourcePiece> pieces = {{1, 0, 1}};
  ASSERT_TRUE(pool.read(pieces, std::as_writable_bytes(std::span(out))));
  write(tree() + "/a.1", "other bytes");
  EXPECT_EQ(pool.check_unchanged().error().kind, ErrorKind::changed);
}

// Notes what it is asked for.
class NotingSources final : public Sources {
 public:
  Result<std::shared_ptr<ByteSource>> get(size_t) override { return fail(ErrorKind::internal, "not asked for"); }
  Result<void> read(std::span<const SourcePiece> pieces, std::span<std::byte> out) override {
    calls.emplace_back(pieces.begin(), pieces.end());
    filled += out.size();
    if (calls.size() == fail_at) return fail(ErrorKind::io, "it fails");
    return {};
  }
  Result<void> check_unchanged() override { return {}; }

  std::vector<std::vector<SourcePiece>> calls;
  size_t filled = 0, fail_at = 0;
};

TEST(PieceReader, StretchesThatTouchAreOnePiece) {
  NotingSources sources;
  Bytes out(32);
  PieceReader reader(sources, out);
  for (const SourcePiece& piece :
       {SourcePiece{0, 0, 4}, {0, 4, 4}, {0, 8, 0}, {1, 8, 4}, {1, 16, 4}, {0, 8, 4}, {0, 4, 8}, {0, 12, 4}})
    EXPECT_TRUE(reader.add(piece.file, piece.offset, piece.length));
  EXPECT_TRUE(sources.calls.empty());
  EXPECT_TRUE(reader.finish());
  const std::vector<SourcePiece> expected = {{0, 0, 8}, {1, 8, 4}, {1, 16, 4}, {0, 8, 4}, {0, 4, 12}};
  ASSERT_EQ(sources.calls.size(), 1u);
  EXPECT_EQ(sources.calls[0], expected);
  EXPECT_EQ(sources.filled, out.size());
}

TEST(PieceReader, NothingIsNotAskedFor) {
  NotingSources sources;
  PieceReader reader(sources, {});
  EXPECT_TRUE(reader.add(3, 5, 0));
  EXPECT_TRUE(reader.finish());
  EXPECT_TRUE(sources.calls.empty());
}

TEST(PieceReader, VeryManyPiecesAreSeveralCalls) {
  NotingSources sources;
  const size_t pieces = 2 * kMaxPiecesPerRead + 1;
  Bytes out(pieces);
  PieceReader reader(sources, out);
  for (size_t i = 0; i < pieces; ++i) EXPECT_TRUE(reader.add(0, 2 * i, 1));
  EXPECT_TRUE(reader.finish());
  ASSERT_EQ(sources.calls.size(), 3u);
  EXPECT_EQ(sources.calls[0].size(), kMaxPiecesPerRead);
  EXPECT_EQ(sources.calls[2].size(), 1u);
  EXPECT_EQ(sources.filled, pieces);
}

TEST(PieceReader, ErrorsArePassedOn) {
  NotingSources sources;
  sources.fail_at = 1;
  Bytes out(8);
  PieceReader reader(sources, out);
  EXPECT_TRUE(reader.add(0, 0, 8));
  EXPECT_EQ(reader.finish().error().kind, ErrorKind::io);
}

class GatherTest : public SetTest {};

TEST_F(GatherTest, AFrameIsOneCall) {
  write_ranks(5, 40, 50);
  const auto files = scan_tree(std::vector{tree()})->files;
  MemorySources memory(files);
  SourcePool pool(files);
  const auto group = *read_group(files, memory, {}, {}, 64 << 20, 1);
  for (const Scheme scheme : {Scheme::agnostic, Scheme::agnostic_block, Scheme::aware, Scheme::aware_block}) {
    const auto plan = *merge::Plan::make(group.catalogue, {.scheme = scheme, .block_bytes = 512, .frame_bytes = 16384});
    memory.reads = 0;
    for (uint32_t number = 0; number < plan.frames().size(); ++number) {
      const auto frame = gather(plan, number, memory), same = gather(plan, number, pool);
      ASSERT_TRUE(frame && same);
      EXPECT_TRUE(std::ranges::equal(frame->raw.span(), same->raw.span()));
    }
    EXPECT_EQ(memory.reads, static_cast<int>(plan.frames().size()));
  }
}

}  // namespace
}  // namespace forebay::engine

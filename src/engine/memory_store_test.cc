// A set that is packed into a store without files, and restored from it.
#include "engine/inspect/verify.h"
#include "engine/pack/pack_group.h"
#include "engine/pack/source_pool.h"
#include "engine/restore/directory_target.h"
#include "engine/restore/write_files.h"
#include "engine/test_sets.h"
#include "store/test_memory_backend.h"

namespace forebay::engine {
namespace {

class MemoryStoreTest : public SetTest {};

TEST_F(MemoryStoreTest, APackedSetIsVerifiedAndRestoredFromIt) {
  write_ranks(4, 100, 10);
  const SourceTree scanned = *scan_tree(std::vector{tree()});
  const store::Store store(std::make_shared<store::MemoryBackend>());
  const auto staged = *store.stage("set");
  const auto joined = *store.join(staged->id());
  SourcePool sources(scanned.files);
  const auto report =
      pack_group({.files = scanned.files, .sources = sources}, {.set = *joined, .name = "00000-of-00001.fbc"},
                 options(), resources(), nullptr, {}, {});
  ASSERT_TRUE(report) << report.error().message();
  store::Manifest manifest{.name = "set", .ranks = 4, .group_size = 4, .containers = {report->entry}};
  ASSERT_TRUE(staged->commit(manifest));

  const store::SetInfo set = *store.find("set");
  const auto verified = verify(set, resources());
  ASSERT_TRUE(verified) << verified.error().message();
  EXPECT_TRUE(verified->intact());
  EXPECT_EQ(verified->files, 5u);
  {
    auto target = *DirectoryTarget::open(path("back"), false);
    const auto written = write_container_files(set, manifest.containers[0], {0, 1, 2, 3}, target, resources());
    ASSERT_TRUE(written) << written.error().message();
    ASSERT_TRUE(target.finish());
  }
  EXPECT_EQ(expect_subset("back"), 5u);
}

}  // namespace
}  // namespace forebay::engine

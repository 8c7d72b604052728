#include "job/delivery/delivered_stage.h"

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/catalogue.h"
#include "engine/restore/directory_target.h"
#include "job/client/stage_names.h"
#include "job/delivery/delivery.h"
#include "store/files.h"
#include "store/safe_tree.h"

namespace forebay::job {
namespace {

constexpr std::string_view kReplaced = ".replaced.";  // begins the name of what a published set has replaced

std::string restore_directory(std::string_view stage) { return fmt::format("{}/{}/restore", stage, kOwnDirectory); }

Result<void> check_set(const std::string& set) {
  if (is_safe_name(set) && set.find('/') == std::string::npos && set.front() != '.') return {};
  return fail(ErrorKind::invalid_argument, fmt::format("'{}' cannot be the name of a set in a stage", set));
}

// Takes away what files are written in, also of workers that were given up and do not know: they cannot give a name to
// any of their files afterwards.
Result<void> end_deliveries(const std::string& delivered) {
  std::error_code error;
  std::vector<std::string> unfinished;
  for (std::filesystem::directory_iterator at(delivered, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(store::kRestoreLabel)) unfinished.push_back(at->path().string());
  if (error) return fail_errno(error.value(), "list", delivered);
  for (const std::string& path : unfinished) FOREBAY_CHECK(store::remove_tree(AT_FDCWD, path, path));
  return {};
}

class DeliveredTarget final : public engine::Target {
 public:
  explicit DeliveredTarget(engine::DirectoryTarget directory) : directory_(std::move(directory)) {}

  Result<std::unique_ptr<engine::TargetFile>> create_file(const FileRow& file) override {
    return directory_.create_file(file);
  }
  Result<void> make_directory(const FileRow& directory) override {
    FileRow writable = directory;
    writable.mode |= kOwnerMayAll;
    return directory_.make_directory(writable);
  }
  Result<void> make_symlink(const FileRow& link) override { return directory_.make_symlink(link); }
  Result<void> finish() override { return directory_.finish(); }

 private:
  engine::DirectoryTarget directory_;
};

}  // namespace

std::string delivered_path(std::string_view stage, std::string_view stored) {
  return fmt::format("{}/{}", restore_directory(stage), stored);
}

Result<std::string> make_way_for_delivery(const std::string& stage, const std::string& stored) {
  FOREBAY_CHECK(check_set(stored));
  const std::string way = restore_directory(stage);
  if (::mkdir(way.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", way);
  return delivered_path(stage, stored);
}

Result<std::unique_ptr<engine::Target>> open_delivered(const std::string& stage, const std::string& stored) {
  FOREBAY_TRY(const std::string path, make_way_for_delivery(stage, stored));
  FOREBAY_TRY(auto directory, engine::DirectoryTarget::open(path, true));
  return std::make_unique<DeliveredTarget>(std::move(directory));
}

Result<void> publish_delivered(const std::string& stage, const std::string& stored, const std::string& set) {
  FOREBAY_CHECK(check_set(stored));
  FOREBAY_CHECK(check_set(set));
  const std::string from = delivered_path(stage, stored);
  const std::string to = fmt::format("{}/{}", stage, set);
  struct stat info{};
  if (::stat(from.c_str(), &info) != 0) return fail_errno(errno, "find the delivered set", from);
  FOREBAY_CHECK(end_deliveries(from));
  const std::string name = fmt::format("{}{}.{}", kReplaced, set, store::random_token());
  const std::string replaced = delivered_path(stage, name);
  if (::rename(to.c_str(), replaced.c_str()) != 0 && errno != ENOENT)
    return fail_errno(errno, "move away what the set replaces", to);
  FOREBAY_CHECK(store::rename_new(AT_FDCWD, from, AT_FDCWD, to, to));
  FOREBAY_CHECK(store::sync_directory(stage));
  (void)discard_delivered(stage);  // the set is there; workers of one that was passed over may still be writing
  return {};
}

Result<void> discard_delivered(const std::string& stage) {
  const std::string path = restore_directory(stage);
  return store::remove_tree(AT_FDCWD, path, path);
}

}  // namespace forebay::job

#include "launch/gather/put_back.h"

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <map>
#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/gather/copy_file.h"
#include "launch/gather/set_note.h"
#include "launch/gather/tree.h"
#include "launch/recipes/present_files.h"
#include "store/files.h"
#include "store/may_replace.h"

namespace forebay::launch {
namespace {

namespace fs = std::filesystem;

void compare_with_set(const std::string& set_directory, rules::RestoreInput& input) {
  std::map<std::string, uint64_t> members;
  for (const auto& file : input.sets.back().members) members.emplace(file.path, file.size);
  for (rules::PresentFile& file : input.files)
    if (const auto member = members.find(file.path); member != members.end() && member->second == file.size)
      file.is_same = is_same_file(input.root + "/" + file.path, set_directory + "/" + file.path);
}

void read_pointers(const rules::Resume& resume, rules::RestoreInput& input) {
  if (std::ranges::none_of(resume.points, &rules::Resume::Point::is_cut)) return;
  for (rules::PresentFile& file : input.files)
    if (file.size <= rules::Evaluator::kMostText)
      if (const auto end = read_text_end(input.root, file.path)) file.text = end->text;
}

// A file or link, and nothing of a store, whatever a rule or --restore-to says.
Result<void> may_write(const std::string& path) {
  return store::may_replace(path, {.becomes = store::Thing::file, .right = store::Right::named});
}

Result<void> may_go_aside(const std::string& path) {
  struct stat info{};
  const bool is_directory = ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  if (!is_directory) return may_write(path);
  if (!store::lies_in_store(path)) return {};
  return fail(ErrorKind::exists, "this is a store, or a part of one", path, {}, "restore to another directory");
}

// What it is called until it has its name. Another call replaces what one that was interrupted left.
std::string temporary_of(const fs::path& path) {
  return (path.parent_path() / (".forebay-put." + path.filename().string())).string();
}

Result<void> sync_file_at(const std::string& path) {
  FOREBAY_TRY(const Fd fd, store::open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, path));
  return store::sync_file(fd.get(), path);
}

bool is_link(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

class Executor {
 public:
  Executor(std::string root, std::string set_directory, PutBack& done)
      : root_(std::move(root)), set_(std::move(set_directory)), done_(done) {}

  Result<void> run(const rules::RestorePlan& plan) {
    FOREBAY_CHECK(check(plan));
    for (const std::string& path : plan.aside) FOREBAY_CHECK(move_aside(path));
    for (const auto& put : plan.put) FOREBAY_CHECK(this->put(put));
    for (const auto& cut : plan.cut) FOREBAY_CHECK(this->cut(cut));
    for (const auto& link : plan.links) FOREBAY_CHECK(this->link(link));
    FOREBAY_CHECK(sync_names());  // what the texts name is durable before they are
    for (const auto& text : plan.texts) FOREBAY_CHECK(write(text));
    return sync_names();
  }

 private:
  Result<void> check(const rules::RestorePlan& plan) const {
    for (const std::string& path : plan.aside) FOREBAY_CHECK(may_go_aside(root_ + "/" + path));
    for (const auto& put : plan.put) FOREBAY_CHECK(may_write(root_ + "/" + put.to));
    for (const auto& cut : plan.cut) FOREBAY_CHECK(may_write(root_ + "/" + cut.path));
    for (const auto& link : plan.links) FOREBAY_CHECK(may_write(root_ + "/" + link.path));
    for (const auto& text : plan.texts) FOREBAY_CHECK(may_write(root_ + "/" + text.path));
    return {};
  }

  // The directories down to the path have a name that sync_names() makes durable.
  void gave_name(const std::string& path) {
    for (fs::path above = fs::path(path).parent_path(); above.string().size() >= root_.size();
         above = above.parent_path())
      if (!unsynced_.insert(above.string()).second) return;
  }

  Result<void> sync_names() {
    for (const std::string& directory : unsynced_) FOREBAY_CHECK(store::sync_directory(directory));
    unsynced_.clear();
    return {};
  }

  Result<std::string> aside_path(const std::string& path) {
    if (done_.aside.empty()) {
      char stamp[32] = "now";
      const std::time_t now = std::time(nullptr);
      std::tm parts{};
      if (::gmtime_r(&now, &parts) != nullptr) std::strftime(stamp, sizeof stamp, "%Y-%m-%dT%H-%M-%SZ", &parts);
      done_.aside = fmt::format("{}/.forebay-aside/{}.{}", root_, stamp, ::getpid());
    }
    const std::string to = done_.aside + "/" + path;
    FOREBAY_CHECK(make_parents(to));
    gave_name(to);
    return to;
  }

  static Result<void> make_parents(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    return error ? fail_errno(error.value(), "mkdir", path.parent_path().string()) : Result<void>();
  }

  Result<void> move_aside(const std::string& path) {
    const std::string from = root_ + "/" + path;
    struct stat info{};
    if (::lstat(from.c_str(), &info) != 0) return {};
    FOREBAY_TRY(const std::string to, aside_path(path));
    FOREBAY_CHECK(store::rename_new(AT_FDCWD, from, AT_FDCWD, to, from));
    gave_name(from);
    done_.moved.push_back(path);
    return {};
  }

  // What is there goes aside first, so that no byte of the user's is lost.
  Result<void> put(const rules::RestorePlan::Put& put) {
    const std::string to = root_ + "/" + put.to, from = set_ + "/" + put.stored, temporary = temporary_of(to);
    if (is_same_file(from, to)) return is_link(to) ? Result<void>() : sync_file_at(to);
    FOREBAY_CHECK(remove_temporary(temporary));
    FOREBAY_CHECK(copy_file(from, temporary, {}));
    if (!is_link(temporary)) FOREBAY_CHECK(sync_file_at(temporary));
    return give_name(temporary, put.to);
  }

  static Result<void> remove_temporary(const std::string& path) {
    FOREBAY_CHECK(may_write(path));
    return ::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR ? Result<void>()
                                                                              : fail_errno(errno, "unlink", path);
  }

  Result<void> give_name(const std::string& temporary, const std::string& path) {
    const std::string to = root_ + "/" + path;
    FOREBAY_CHECK(move_aside(path));
    FOREBAY_CHECK(store::rename_new(AT_FDCWD, temporary, AT_FDCWD, to, to));
    gave_name(to);
    return {};
  }

  // What is cut off is durable aside before it is.
  Result<void> cut(const rules::RestorePlan::Cut& cut) {
    const std::string path = root_ + "/" + cut.path;
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0) return fail_errno(errno, "stat", path);
    if (static_cast<uint64_t>(info.st_size) == cut.length) return {};
    FOREBAY_TRY(const std::string whole, aside_path(cut.path));
    FOREBAY_CHECK(copy_file(path, whole, {}));
    FOREBAY_CHECK(sync_file_at(whole));
    FOREBAY_CHECK(sync_names());
    done_.moved.push_back(cut.path);
    FOREBAY_TRY(const Fd fd, store::open_at(AT_FDCWD, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK, path));
    if (::ftruncate(fd.get(), static_cast<off_t>(cut.length)) != 0) return fail_errno(errno, "truncate", path);
    return store::sync_file(fd.get(), path);
  }

  Result<void> link(const rules::RestorePlan::Link& link) {
    const std::string path = root_ + "/" + link.path, temporary = temporary_of(path);
    FOREBAY_CHECK(remove_temporary(temporary));
    FOREBAY_CHECK(make_parents(path));
    if (::symlink(link.target.c_str(), temporary.c_str()) != 0) return fail_errno(errno, "symlink", path);
    return give_name(temporary, link.path);
  }

  Result<void> write(const rules::RestorePlan::Text& text) {
    const fs::path path = fs::path(root_) / text.path;
    FOREBAY_CHECK(make_parents(path));
    FOREBAY_CHECK(move_aside(text.path));
    gave_name(path.string());
    return store::write_text(path.parent_path().string(), path.filename().string(), text.text);
  }

  const std::string root_, set_;
  PutBack& done_;
  std::set<std::string> unsynced_;  // directories that got names
};

}  // namespace

Result<PutBack> put_back(const std::string& set_directory, const std::string& directory, const rules::Rule& rule,
                         const rules::Resume& resume, const std::vector<rules::SetId>& known) {
  const std::string note_path = set_directory + "/" + std::string(kSetNote);
  FOREBAY_TRY(const std::string text, store::read_text(note_path, kMostSetNote));
  FOREBAY_TRY(SetNote note, parse_set_note(text, note_path));
  rules::RestoreInput input{.root = directory, .files = {}, .directories = {}, .known = known, .sets = {note.set}};
  FOREBAY_TRY(auto present, present_files(directory, rule));
  input.files = std::move(present.files);
  input.directories = std::move(present.directories);
  compare_with_set(set_directory, input);
  read_pointers(resume, input);
  PutBack done;
  const bool is_put = resume.is_in_place || !resume.directory.empty();
  if (is_put || !resume.as.empty() || !resume.points.empty() || !resume.aside.empty()) {
    FOREBAY_TRY(const auto plan, rules::plan_restore(rule, resume, input));
    FOREBAY_CHECK(Executor(directory, set_directory, done).run(plan));
  }
  FOREBAY_TRY(done.command, rules::resumed_command(rule, resume, is_put ? directory : set_directory, note.set));
  return done;
}

}  // namespace forebay::launch

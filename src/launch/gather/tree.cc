#include "launch/gather/tree.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "store/files.h"

namespace forebay::launch {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

bool is_below(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

// A read lease can be had only while nobody has the file open for writing (fcntl(2), F_SETLEASE). Where the file system
// knows no leases, a file that was written to within the last second counts as open.
bool is_open_for_writing(const std::string& path, const TreeFile& file) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return false;
  if (::fcntl(fd.get(), F_SETLEASE, F_RDLCK) == 0) {
    ::fcntl(fd.get(), F_SETLEASE, F_UNLCK);
    return false;
  }
  if (errno == EAGAIN) return true;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * kSecond + now.tv_nsec - file.mtime_ns < kSecond;
}

class TreeScan {
 public:
  TreeScan(std::string root, const std::set<FileId>& leave_out, const std::function<bool(std::string_view)>& wants,
           const Tree& before)
      : root_(std::move(root)), leave_out_(leave_out), wants_(wants), before_(before) {}

  Result<void> add_children(const std::string& directory) {
    auto names = store::names_in(directory.empty() ? root_ : root_ + "/" + directory);
    if (!names && names.error().kind == ErrorKind::not_found && !directory.empty()) return {};
    if (!names) return std::unexpected(std::move(names).error());
    for (const std::string& name : *names) FOREBAY_CHECK(add(directory.empty() ? name : directory + "/" + name, name));
    return {};
  }

  Tree take() { return std::move(tree_); }

 private:
  Result<void> add(const std::string& path, std::string_view name) {
    struct stat info{};
    if (name.starts_with(".forebay") || ::lstat((root_ + "/" + path).c_str(), &info) != 0) return {};
    if (S_ISDIR(info.st_mode))
      return leave_out_.contains({info.st_dev, info.st_ino}) ? Result<void>() : add_children(path);
    if ((!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) || !wants_(path)) return {};
    if (tree_.size() == kMostTreeFiles) return fail(ErrorKind::limit, "there are too many files below it", root_);
    TreeFile file = tree_file_of(info);
    const auto known = before_.find(path);
    const bool is_news = known == before_.end() || !known->second.is_as(file) || known->second.is_open;
    if (!file.is_link && is_news) file.is_open = is_open_for_writing(root_ + "/" + path, file);
    tree_.emplace(path, file);
    return {};
  }

  const std::string root_;
  const std::set<FileId>& leave_out_;
  const std::function<bool(std::string_view)>& wants_;
  const Tree& before_;
  Tree tree_;
};

// A name of another file, as one and the same move takes it along.
std::string renamed_path(const Moved& move, std::string_view path) {
  return move.to + std::string(path.substr(move.from.size()));
}

class Changes {
 public:
  Changes(rules::Evaluator& evaluator, Tree before, const Tree& now, rules::Time at, const TextOf& text_of)
      : evaluator_(evaluator), known_(std::move(before)), now_(now), at_(at), text_of_(text_of) {}

  // What a code appends before a member gets its name may be seen in the same look as the name. Taken for later, it
  // would be cut off at a restart; a few bytes too many do less harm.
  void grow_companions() {
    for (const auto& [path, file] : now_)
      if (rules::role_of(evaluator_.rule(), path).kind == rules::Item::Kind::companion) report_write(path, file);
  }

  void move(const Moved& moved) {
    std::vector<rules::Evaluator::Move> moves;
    Tree arrived;
    for (auto at = known_.lower_bound(moved.from); at != known_.end() && at->first.starts_with(moved.from);) {
      if (at->first != moved.from && !is_below(at->first, moved.from)) {
        ++at;
        continue;
      }
      std::string to = renamed_path(moved, at->first);
      moves.push_back({at->first, to, at->second.size});
      arrived.emplace(std::move(to), at->second);
      at = known_.erase(at);
    }
    // What was made and got its name between the two looks.
    for (auto at = now_.lower_bound(moved.to); at != now_.end() && at->first.starts_with(moved.to); ++at) {
      if ((at->first != moved.to && !is_below(at->first, moved.to)) || arrived.contains(at->first)) continue;
      if (const auto there = known_.find(at->first); there != known_.end() && there->second.is_as(at->second)) continue;
      moves.push_back({moved.from + at->first.substr(moved.to.size()), at->first, at->second.size});
      TreeFile closed = at->second;
      closed.is_open = false;
      arrived.emplace(at->first, closed);
    }
    if (moves.empty()) return;
    evaluator_.renamed(moves, at_);
    for (auto& [path, file] : arrived) known_.insert_or_assign(path, file);
  }

  // A file that nobody saw being renamed: it has another name, and its old one is gone.
  void move_unseen() {
    std::map<FileId, std::string> gone;
    for (const auto& [path, file] : known_)
      if (!now_.contains(path)) gone.emplace(FileId{file.device, file.inode}, path);
    if (gone.empty()) return;
    for (const auto& [path, file] : now_) {
      const auto from = gone.find({file.device, file.inode});
      if (from == gone.end() || known_.contains(path)) continue;
      move({from->second, path});
      gone.erase(from);
    }
  }

  void remove_and_write() {
    for (const auto& [path, file] : known_)
      if (!now_.contains(path)) evaluator_.removed(path, at_);
    for (const auto& [path, file] : now_) report_write(path, file);
    for (const std::string& path : texts_)
      if (const auto end = text_of_(path)) evaluator_.text(path, end->text, end->offset, at_);
  }

 private:
  void report_write(const std::string& path, const TreeFile& file) {
    const auto known = known_.find(path);
    const bool is_changed = known == known_.end() || !known->second.is_as(file);
    if (is_changed || (file.is_open && !known->second.is_open)) evaluator_.written(path, file.size, at_);
    if (!file.is_open && (is_changed || known->second.is_open)) evaluator_.closed(path, file.size, at_);
    if (is_changed && evaluator_.wants_text(path)) texts_.push_back(path);
    known_.insert_or_assign(path, file);
  }

  rules::Evaluator& evaluator_;
  std::vector<std::string> texts_;  // files whose lines are to be read, after everything else
  Tree known_;
  const Tree& now_;
  rules::Time at_;
  const TextOf& text_of_;
};

}  // namespace

TreeFile tree_file_of(const struct stat& info) {
  return {.size = static_cast<uint64_t>(info.st_size),
          .mtime_ns = int64_t{info.st_mtim.tv_sec} * kSecond + info.st_mtim.tv_nsec,
          .device = info.st_dev,
          .inode = info.st_ino,
          .is_open = false,
          .is_link = S_ISLNK(info.st_mode)};
}

Result<Tree> look_at_tree(const std::string& directory, const std::set<FileId>& leave_out,
                          const std::function<bool(std::string_view path)>& wants, const Tree& before) {
  TreeScan scan(directory, leave_out, wants, before);
  FOREBAY_CHECK(scan.add_children(""));
  return scan.take();
}

void report_changes(rules::Evaluator& evaluator, Tree before, const Tree& now, std::span<const Moved> moves,
                    rules::Time at, const TextOf& text_of) {
  Changes changes(evaluator, std::move(before), now, at, text_of);
  changes.grow_companions();
  for (const Moved& moved : moves) changes.move(moved);
  changes.move_unseen();
  changes.remove_and_write();
}

std::optional<TextEnd> read_text_end(const std::string& directory, const std::string& path) {
  const std::string full = directory + "/" + path;
  struct stat info{};
  if (::lstat(full.c_str(), &info) != 0) return std::nullopt;
  if (S_ISLNK(info.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = ::readlink(full.c_str(), target, sizeof target);
    if (size < 0) return std::nullopt;
    return TextEnd{std::string(target, static_cast<size_t>(size)), 0};
  }
  const Fd fd(::open(full.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  TextEnd end;
  const auto size = static_cast<uint64_t>(info.st_size);
  end.offset = size > rules::Evaluator::kMostText ? size - rules::Evaluator::kMostText : 0;
  end.text.resize(size - end.offset);
  size_t got = 0;
  while (got < end.text.size()) {
    const ssize_t one =
        ::pread(fd.get(), end.text.data() + got, end.text.size() - got, static_cast<off_t>(end.offset + got));
    if (one < 0 && errno == EINTR) continue;
    if (one <= 0) break;
    got += static_cast<size_t>(one);
  }
  end.text.resize(got);
  return end;
}

}  // namespace forebay::launch

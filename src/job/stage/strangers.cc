#include "job/stage/strangers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job/client/marker.h"
#include "job/client/stage_names.h"
#include "job/stage/stage_notes.h"
#include "job/stage/stage_scan.h"
#include "store/files.h"
#include "store/names.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kFoundTag = "forebay-found";
constexpr uint64_t kFoundVersion = 1;
constexpr uint64_t kMostFoundBytes = 256 << 20;
constexpr const char* kFoundName = "found";
constexpr int64_t kSecond = 1'000'000'000;
constexpr std::chrono::nanoseconds kOutlives = std::chrono::seconds(60);  // an application its agent

std::string own_directory(const std::string& stage) { return fmt::format("{}/{}", stage, kOwnDirectory); }

// What cannot be looked into holds something, for all that is known.
bool holds_anything(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(path, error))) return true;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error))
    if (!fs::is_directory(at->symlink_status(error))) return true;
  return static_cast<bool>(error);
}

bool is_set(const std::string& path) {
  std::error_code ignored;
  const fs::path there(path);
  return store::is_job_name(there.filename().string()) && fs::is_directory(fs::symlink_status(there, ignored));
}

int64_t found_wall_ns() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Result<Strangers::Seen> Strangers::see(const std::string& path) {
  struct statx info{};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_CTIME | STATX_BTIME, &info) != 0)
    return fail_errno(errno, "stat", path);
  const auto ns = [](const statx_timestamp& time) { return time.tv_sec * kSecond + time.tv_nsec; };
  const bool tells_birth = (info.stx_mask & STATX_BTIME) != 0;
  return Seen{{info.stx_ino, tells_birth ? ns(info.stx_btime) : 0}, ns(info.stx_ctime)};
}

std::string Strangers::note_path() const { return fmt::format("{}/{}", own_directory(stage_), kFoundName); }

Result<Strangers> Strangers::find(const std::string& stage, const std::string& run) {
  Strangers strangers(stage);
  auto before = strangers.read_note();
  if (before && before->run == run) {
    strangers.found_ = std::move(before->names);
    strangers.since_ns_ = before->since_ns;
  } else {
    FOREBAY_CHECK(strangers.look(run, before));
  }
  return strangers;
}

// What nobody can read is as none: then everything unknown is left alone.
std::optional<Strangers::Note> Strangers::read_note() const {
  const std::string path = note_path();
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) return std::nullopt;
  const auto text = store::read_text(path, kMostFoundBytes);
  if (!text) return std::nullopt;
  const auto body = store::unseal(kFoundTag, *text, kFoundVersion, path);
  if (!body) return std::nullopt;
  try {
    Note note{.run = body->at("run").get<std::string>(),
              .since_ns = body->at("since_ns").get<int64_t>(),
              .alive_ns = info.st_mtim.tv_sec * kSecond + info.st_mtim.tv_nsec,
              .names = {}};
    for (const json& row : body->at("names"))
      note.names[row.at(0).get<std::string>()] = {row.at(1).get<uint64_t>(), row.at(2).get<int64_t>()};
    return note;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

bool Strangers::came_with(const Note& before, const std::string& name, const Seen& seen) {
  const auto found = before.names.find(name);
  const bool was_there = found != before.names.end() && found->second == seen.identity;
  return !was_there && seen.changed_ns >= before.since_ns && seen.changed_ns <= before.alive_ns + kOutlives.count();
}

Result<void> Strangers::look(const std::string& run, const std::optional<Note>& before) {
  are_new_ = true;
  since_ns_ = found_wall_ns();
  FOREBAY_TRY(const auto names, store::names_in(stage_));
  json rows = json::array();
  for (const std::string& name : names) {
    if (name.starts_with('.') || !is_utf8(name) || is_known(stage_, name)) continue;
    const std::string path = stage_ + "/" + name;
    const auto seen = see(path);
    if (!seen) continue;  // it has gone
    if (!holds_anything(path)) continue;
    if (before && came_with(*before, name, *seen)) {
      if (is_set(path)) FOREBAY_CHECK(note_seen(stage_, name));  // also for the runs after this one
      continue;
    }
    found_[name] = seen->identity;
    rows.push_back(json::array({name, seen->identity.inode, seen->identity.born_ns}));
  }
  const json body{{"version", kFoundVersion}, {"run", run}, {"since_ns", since_ns_}, {"names", std::move(rows)}};
  return store::write_text(own_directory(stage_), kFoundName, store::seal(kFoundTag, body));
}

void Strangers::renew() const { ::utimensat(AT_FDCWD, note_path().c_str(), nullptr, AT_SYMLINK_NOFOLLOW); }

bool Strangers::has(const std::string& name) const {
  const auto found = found_.find(name);
  if (found == found_.end()) return false;
  const auto now = see(stage_ + "/" + name);
  return now && now->identity == found->second;
}

bool Strangers::was_changed(const std::string& name) const {
  const auto newest = last_change_of(stage_, name);
  return newest && *newest > since_ns_;
}

std::vector<std::string> Strangers::names() const {
  std::vector<std::string> names;
  for (const auto& [name, identity] : found_) names.push_back(name);
  return names;
}

void end_run(const std::string& stage) { ::unlink((own_directory(stage) + "/" + kFoundName).c_str()); }

std::string listed(const std::vector<std::string>& names, size_t most) {
  const size_t count = std::min(names.size(), names.size() == most + 1 ? most + 1 : most);
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(count), ", "));
  return count == names.size() ? text : fmt::format("{} and {} more", text, names.size() - count);
}

}  // namespace forebay::job

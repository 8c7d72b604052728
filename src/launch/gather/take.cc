#include "launch/gather/take.h"

#include <cerrno>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/catalogue.h"
#include "job/stage/stage_notes.h"
#include "launch/gather/copy_file.h"
#include "launch/gather/set_note.h"
#include "store/files.h"
#include "store/names.h"

namespace forebay::launch {
namespace {

bool is_text(const std::string& path) {
  return nlohmann::json(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::ignore).size() ==
         nlohmann::json(path).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).size();
}

SetNote note_of(const rules::Rule& rule, const rules::Verdict& verdict, int64_t complete_ns) {
  SetNote note{.rule = rules::print_rule(rule),
               .set = {.id = verdict.id, .members = verdict.members, .companions = {}, .complete_ns = complete_ns},
               .suspicion = verdict.state == rules::Verdict::State::suspect ? verdict.reason : std::string()};
  for (const auto& one : verdict.companions)
    note.set.companions.push_back({one.path, one.length, one.is_appended, !one.is_appended});
  return note;
}

Result<void> copy_all(const std::string& directory, const std::string& to, const SetNote& note) {
  for (const auto& file : note.set.members) {
    if (!is_text(file.path)) return fail(ErrorKind::unsupported, "its name is not UTF-8", file.path);
    FOREBAY_CHECK(
        copy_file(directory + "/" + file.path, to + "/" + file.path, {.size = file.size, .most = std::nullopt}));
  }
  for (const auto& one : note.set.companions) {
    if (!is_text(one.path)) return fail(ErrorKind::unsupported, "its name is not UTF-8", one.path);
    if (one.is_stored)
      FOREBAY_CHECK(copy_file(directory + "/" + one.path, to + "/" + one.path, {.size = {}, .most = std::nullopt}));
  }
  return store::write_unseen_text(to, std::string(kSetNote), encode_set_note(note));
}

// A file that was rewritten between the verdict and its copy belongs to a set after this one, though it has its size.
Result<void> check_unchanged(const std::string& directory, const SetNote& note, const Tree& seen) {
  for (const auto& file : note.set.members) {
    const auto judged = seen.find(file.path);
    if (judged == seen.end()) continue;
    const std::string path = directory + "/" + file.path;
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0 || !judged->second.is_as(tree_file_of(info)))
      return fail(ErrorKind::changed, "it was written to before the set was copied", path);
  }
  return {};
}

// Never over something that is there. A suspicion is noted before an agent can see the set.
Result<std::string> publish(const std::string& part, const std::string& stage, const std::string& name,
                            const std::string& suspicion) {
  for (uint64_t number = 1;; ++number) {
    const std::string wanted = number == 1 ? name : fmt::format("{}-{}", name, number);
    struct stat info{};
    if (::lstat((stage + "/" + wanted).c_str(), &info) == 0) continue;
    if (!suspicion.empty()) FOREBAY_CHECK(job::note_suspicion(stage, wanted, suspicion));
    const auto done = store::rename_new(AT_FDCWD, part, AT_FDCWD, stage + "/" + wanted, stage + "/" + wanted);
    if (done) return wanted;
    if (done.error().kind != ErrorKind::exists) return std::unexpected(done.error());
  }
}

}  // namespace

Result<std::string> take_set(const std::string& directory, const std::string& stage, const rules::Rule& rule,
                             const rules::Verdict& verdict, const Tree& seen, const std::string& otherwise_named,
                             int64_t complete_ns) {
  const std::string name = rules::name_of(verdict.id, otherwise_named);
  FOREBAY_CHECK(store::check_job_name(name));
  const std::string part_name = fmt::format(".{}.{}.part", name, store::random_token());
  const std::string part = stage + "/" + part_name;
  if (::mkdir(part.c_str(), 0777) != 0) return fail_errno(errno, "mkdir", part);
  const SetNote note = note_of(rule, verdict, complete_ns);
  auto copied = copy_all(directory, part, note);
  if (copied) copied = check_unchanged(directory, note, seen);
  auto published = copied ? publish(part, stage, name, note.suspicion) : std::unexpected(copied.error());
  if (!published) (void)store::remove_tree(AT_FDCWD, part, part);
  return published;
}

}  // namespace forebay::launch

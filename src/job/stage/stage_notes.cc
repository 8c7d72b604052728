#include "job/stage/stage_notes.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/posix/ownership.h"
#include "job/client/stage_names.h"
#include "job/stage/levels.h"
#include "job/stage/stage.h"
#include "store/files.h"
#include "store/names.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

using nlohmann::json;
using wire::SetState;

constexpr std::string_view kOutcomeTag = "forebay-outcome", kBeginTag = "forebay-begin", kPlaceTag = "forebay-place";
constexpr uint64_t kVersion = 1;
constexpr uint64_t kMaxNote = 1 << 20;
constexpr mode_t kOwnersAlone = 0700;
constexpr const char* kBeginFile = "begun";
constexpr const char* kOutcomeFile = "outcome";
constexpr const char* kSuspectFile = "suspect";
constexpr const char* kSeenFile = "seen";
constexpr const char* kPlaceFile = "place";
constexpr const char* kReasonFile = "reason";
constexpr std::pair<SetState, const char*> kFinal[] = {{SetState::durable, "durable"},
                                                       {SetState::skipped, "skipped"},
                                                       {SetState::failed, "failed"},
                                                       {SetState::cached, "cached"}};

std::string own_path(const std::string& stage, std::string_view name) {
  return fmt::format("{}/{}/{}", stage, kOwnDirectory, name);
}
std::string bin_path(const std::string& stage) { return own_path(stage, "bin"); }

Result<void> make_directory(const std::string& path, mode_t mode) {
  if (::mkdir(path.c_str(), mode) == 0 || errno == EEXIST) return {};
  return fail_errno(errno, "mkdir", path);
}

std::optional<int64_t> number_in(const json& body, const char* name) {
  const auto found = body.find(name);
  if (found == body.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

uint64_t ordinal_in(const json& body) {
  return static_cast<uint64_t>(std::max<int64_t>(0, number_in(body, "ordinal").value_or(0)));
}

std::string text_in(const json& body, const char* name) {
  const auto found = body.find(name);
  return found != body.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Numbers of 64 bits without a sign are texts: JSON's are not exact everywhere.
json json_of(const wire::SetPolicyT& policy) {
  return {{"write", fmt::format("{:016x}", policy.write)},
          {"scheme", static_cast<int64_t>(policy.scheme)},
          {"group_size", policy.group_size},
          {"losses", policy.losses},
          {"failure_group", policy.failure_group},
          {"level", policy.level},
          {"flush", static_cast<int64_t>(policy.flush)}};
}

std::optional<wire::SetPolicyT> policy_in(const json& body) {
  const auto found = body.find("policy");
  if (found == body.end() || !found->is_object()) return std::nullopt;
  const auto bounded = [&](const char* name, int64_t most) {
    const int64_t value = number_in(*found, name).value_or(0);
    return value >= 0 && value <= most ? value : 0;
  };
  wire::SetPolicyT policy;
  policy.write = std::strtoull(text_in(*found, "write").c_str(), nullptr, 16);
  policy.scheme = static_cast<wire::Scheme>(bounded("scheme", static_cast<int64_t>(wire::Scheme::MAX)));
  policy.group_size = static_cast<uint32_t>(bounded("group_size", 256));
  policy.losses = static_cast<uint32_t>(bounded("losses", 256));
  policy.failure_group = text_in(*found, "failure_group");
  policy.level = text_in(*found, "level");
  policy.flush = static_cast<wire::FlushWish>(bounded("flush", static_cast<int64_t>(wire::FlushWish::MAX)));
  return policy;
}

std::optional<SetState> state_in(const json& body) {
  const std::string text = text_in(body, "state");
  for (const auto& [state, name] : kFinal)
    if (text == name) return state;
  return std::nullopt;
}

Result<void> write_note(const std::string& stage, const std::string& set, const char* file, const std::string& text) {
  const std::string directory = notes_path(stage, set);
  FOREBAY_CHECK(make_directory(directory, kOwnersAlone));
  return store::write_text(directory, file, text);
}

Result<std::vector<std::string>> names_if_there(const std::string& path) {
  auto names = store::names_in(path);
  if (!names && names.error().kind == ErrorKind::not_found) return std::vector<std::string>();
  return names;
}

}  // namespace

bool is_final(SetState state) {
  return state == SetState::durable || state == SetState::skipped || state == SetState::failed ||
         state == SetState::cached;
}

std::string encode_outcome(const Outcome& outcome) {
  json body{{"version", kVersion},
            {"stored_as", outcome.stored_as},
            {"message", outcome.message},
            {"fingerprint", outcome.fingerprint},
            {"ended_ns", outcome.ended_ns}};
  for (const auto& [state, name] : kFinal)
    if (outcome.state == state) body["state"] = name;
  if (outcome.step) body["step"] = *outcome.step;
  if (outcome.ordinal != 0) body["ordinal"] = outcome.ordinal;
  if (outcome.restored_ns != 0) body["restored_ns"] = outcome.restored_ns;
  if (outcome.written_ns != 0) body["written_ns"] = outcome.written_ns;
  return store::seal(kOutcomeTag, body);
}

Result<Outcome> decode_outcome(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const json body, store::unseal(kOutcomeTag, text, kVersion, path));
  const auto state = state_in(body);
  const auto ended = body.find("ended_ns");
  if (!state || ended == body.end() || !ended->is_number_integer())
    return fail(ErrorKind::corrupt, "is no outcome of a set", path);
  return Outcome{.state = *state,
                 .stored_as = text_in(body, "stored_as"),
                 .message = text_in(body, "message"),
                 .fingerprint = text_in(body, "fingerprint"),
                 .step = number_in(body, "step"),
                 .ordinal = ordinal_in(body),
                 .ended_ns = ended->get<int64_t>(),
                 .restored_ns = number_in(body, "restored_ns").value_or(0),
                 .written_ns = number_in(body, "written_ns").value_or(0)};
}

Result<void> prepare_stage(const std::string& stage) {
  FOREBAY_CHECK(make_private_parents(stage));  // a node may come back empty
  FOREBAY_CHECK(make_directory(stage, kOwnersAlone));
  FOREBAY_CHECK(check_own_directory(stage, "the stage", "name another directory as the stage"));
  const std::string own = fmt::format("{}/{}", stage, kOwnDirectory);
  FOREBAY_CHECK(make_directory(own, kOwnersAlone));
  FOREBAY_CHECK(check_private_directory(own, "Forebay's own directory in the stage", "name another stage"));
  FOREBAY_CHECK(make_directory(own_path(stage, "sets"), kOwnersAlone));
  FOREBAY_CHECK(make_directory(bin_path(stage), kOwnersAlone));
  return {};
}

Result<void> note_begin(const std::string& stage, const std::string& set, std::optional<int64_t> step,
                        const wire::SetPolicyT* policy, const std::string& place) {
  const std::string link = stage + "/" + set;
  struct stat info{};
  const bool is_link = ::lstat(link.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
  if (is_link && ::unlink(link.c_str()) != 0) return fail_errno(errno, "unlink", link);
  if (place.empty()) FOREBAY_CHECK(make_directory(link, 0777));
  json body{{"version", kVersion}};
  if (step) body["step"] = *step;
  if (policy != nullptr) body["policy"] = json_of(*policy);
  if (!place.empty()) body["place"] = place;
  FOREBAY_CHECK(write_note(stage, set, kBeginFile, store::seal(kBeginTag, body)));
  if (!place.empty() && ::symlink(place.c_str(), link.c_str()) != 0) return fail_errno(errno, "symlink", link);
  return {};
}

static Result<std::optional<Begin>> read_begin_note(const std::string& path) {
  const auto text = store::read_text(path, kMaxNote);
  if (!text && text.error().kind == ErrorKind::not_found) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  FOREBAY_TRY(const json body, store::unseal(kBeginTag, *text, kVersion, path));
  return Begin{number_in(body, "step"), policy_in(body), text_in(body, "place")};
}

Result<std::optional<Begin>> read_begin(const std::string& stage, const std::string& set) {
  return read_begin_note(notes_path(stage, set) + "/" + kBeginFile);
}

Result<void> note_suspicion(const std::string& stage, const std::string& set, const std::string& why) {
  return write_note(stage, set, kSuspectFile, why);
}

std::string read_suspicion(const std::string& stage, const std::string& set) {
  return store::read_text(notes_path(stage, set) + "/" + kSuspectFile, kMaxNote).value_or(std::string());
}

Result<void> note_seen(const std::string& stage, const std::string& set) {
  const std::string directory = notes_path(stage, set), path = directory + "/" + kSeenFile;
  FOREBAY_CHECK(make_directory(directory, kOwnersAlone));
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  return file ? Result<void>() : fail_errno(errno, "open", path);
}

void forget_seen(const std::string& stage, const std::string& set) {
  const std::string directory = notes_path(stage, set);
  if (::unlink(fmt::format("{}/{}", directory, kSeenFile).c_str()) == 0) ::rmdir(directory.c_str());
}

bool is_known(const std::string& stage, const std::string& set) {
  const std::string notes = notes_path(stage, set);
  const auto is_there = [&](const char* file) {
    return ::access(fmt::format("{}/{}", notes, file).c_str(), F_OK) == 0;
  };
  return is_there(kBeginFile) || is_there(kSeenFile);
}

Result<void> note_outcome(const std::string& stage, const std::string& set, const Outcome& outcome) {
  return write_note(stage, set, kOutcomeFile, encode_outcome(outcome));
}

std::optional<Outcome> read_outcome(const std::string& stage, const std::string& set) {
  const std::string path = notes_path(stage, set) + "/" + kOutcomeFile;
  const auto text = store::read_text(path, kMaxNote);
  if (!text) return std::nullopt;
  auto outcome = decode_outcome(*text, path);
  return outcome ? std::optional(std::move(*outcome)) : std::nullopt;
}

Result<void> note_place(const std::string& stage, const std::string& set, const NotedPlace& place) {
  const json body{{"version", kVersion}, {"ordinal", place.ordinal}, {"fingerprint", place.fingerprint}};
  return write_note(stage, set, kPlaceFile, store::seal(kPlaceTag, body));
}

std::optional<NotedPlace> read_noted_place(const std::string& stage, const std::string& set) {
  const std::string path = notes_path(stage, set) + "/" + kPlaceFile;
  const auto text = store::read_text(path, kMaxNote);
  if (!text) return std::nullopt;
  const auto body = store::unseal(kPlaceTag, *text, kVersion, path);
  if (!body) return std::nullopt;
  return NotedPlace{ordinal_in(*body), text_in(*body, "fingerprint")};
}

Result<void> put_into_bin(const std::string& stage, const std::string& path) {
  const std::string to = bin_path(stage) + "/" + store::random_token();
  if (::rename(path.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  return fail_errno(errno, "rename", path);
}

Result<void> discard_files(const std::string& stage, const std::string& set, const std::string& own_marker) {
  const bool goes_with_set = own_marker.starts_with(set + "/");
  if (!own_marker.empty() && !goes_with_set) FOREBAY_CHECK(put_into_bin(stage, stage + "/" + own_marker));
  FOREBAY_CHECK(release_place(stage, set));
  FOREBAY_CHECK(put_into_bin(stage, stage + "/" + set));
  FOREBAY_TRY(const auto ranks, marked_ranks(stage, set));
  for (const uint32_t rank : ranks) remove_marker(stage, set, rank);
  forget_seen(stage, set);
  return put_into_bin(stage, notes_path(stage, set) + "/" + kBeginFile);
}

Result<void> discard_notes(const std::string& stage, const std::string& set) {
  // Without its note nobody would know the link for the agent's.
  if (place_of(stage, set)) ::unlink((stage + "/" + set).c_str());
  return put_into_bin(stage, notes_path(stage, set));
}

Result<void> empty_bin(const std::string& stage) {
  const std::string bin = bin_path(stage);
  FOREBAY_TRY(const Fd directory, store::open_at(AT_FDCWD, bin, O_RDONLY | O_DIRECTORY, bin));
  FOREBAY_TRY(const auto names, store::names_in(bin));
  for (const std::string& name : names) FOREBAY_CHECK(store::remove_tree(directory.get(), name, bin + "/" + name));
  return {};
}

Result<void> put_into_quarantine(const std::string& stage, const std::string& set, const std::string& reason) {
  FOREBAY_TRY(const bool is_there, has_set(stage, set));
  if (!is_there) return discard_notes(stage, set);
  FOREBAY_CHECK(make_directory(own_path(stage, "quarantine"), kOwnersAlone));
  FOREBAY_CHECK(discard_quarantined(stage, set));
  const std::string to = own_path(stage, "quarantine/" + set);
  FOREBAY_CHECK(make_directory(to, kOwnersAlone));
  FOREBAY_CHECK(store::write_text(to, kReasonFile, reason));
  // The notes first: they tell where the files of a cache level are.
  const std::pair<std::string, std::string> moves[] = {{notes_path(stage, set), to + "/notes"},
                                                       {stage + "/" + set, to + "/files"}};
  for (const auto& [from, there] : moves)
    if (::rename(from.c_str(), there.c_str()) != 0 && errno != ENOENT) return fail_errno(errno, "rename", from);
  return {};
}

Result<std::vector<Quarantined>> quarantined_sets(const std::string& stage) {
  FOREBAY_TRY(auto names, names_if_there(own_path(stage, "quarantine")));
  std::ranges::sort(names);
  std::vector<Quarantined> sets;
  for (std::string& name : names) {
    const std::string path = own_path(stage, "quarantine/" + name + "/" + kReasonFile);
    struct stat info{};
    const bool has_time = ::stat(path.c_str(), &info) == 0;
    sets.push_back({.set = std::move(name),
                    .reason = store::read_text(path, kMaxNote).value_or(std::string()),
                    .since_ns = has_time ? FileSource::identity_of(info).ctime_ns : 0});
  }
  return sets;
}

std::string quarantined_place(const std::string& stage, const std::string& set) {
  const auto begun = read_begin_note(own_path(stage, fmt::format("quarantine/{}/notes/{}", set, kBeginFile)));
  return begun && *begun ? (*begun)->place : std::string();
}

Result<void> discard_quarantined(const std::string& stage, const std::string& set) {
  if (const std::string place = quarantined_place(stage, set); !place.empty()) FOREBAY_CHECK(release_place(place));
  return put_into_bin(stage, own_path(stage, "quarantine/" + set));
}

Result<std::vector<uint32_t>> marked_ranks(const std::string& stage, const std::string& set) {
  FOREBAY_TRY(const auto names, names_if_there(notes_path(stage, set)));
  std::vector<uint32_t> ranks;
  for (const std::string& name : names)
    if (const auto rank = marker_rank(name)) ranks.push_back(*rank);
  std::ranges::sort(ranks);
  return ranks;
}

void remove_marker(const std::string& stage, const std::string& set, uint32_t rank) {
  ::unlink(marker_path(stage, set, rank).c_str());
}

Result<bool> has_set(const std::string& stage, const std::string& set) {
  struct stat info{};
  const std::string path = stage + "/" + set;
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISLNK(info.st_mode)) return S_ISDIR(info.st_mode);
    return place_of(stage, set).has_value() && ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  }
  if (errno == ENOENT) return false;
  return fail_errno(errno, "stat", path);
}

Result<std::vector<std::string>> noted_sets(const std::string& stage) {
  FOREBAY_TRY(auto names, store::names_in(own_path(stage, "sets")));
  std::erase_if(names, [](const std::string& name) { return !store::is_job_name(name); });
  return names;
}

}  // namespace forebay::job

// What lies in the directory:
//   secret               the job's secret (fabric/credentials.h)
//   run                  which run of the job it is, a text
//   encrypted            is there if the job encrypts what goes over TCP
//   coordinator.<n>      the place of the coordinator of generation n, sealed; the highest n counts
//   decisions.<n>        what the coordinator of generation n has decided (job/decisions)
//   aggregator.<h>.<p>   the place of an aggregator: h is 16 hexadecimal digits made from its host, p its process
// Each is written under a hidden name and renamed, never over another (an aggregator's: over its own).
#include "job/rendezvous/rendezvous.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/posix/ownership.h"
#include "fabric/address.h"
#include "fabric/remote.h"
#include "job/decisions/decision_log.h"
#include "job/wire/messages.h"
#include "store/files.h"
#include "store/sealed_text.h"

namespace forebay::job {
namespace {

constexpr std::string_view kPlaceTag = "forebay-place";
constexpr uint64_t kPlaceVersion = 1;
constexpr uint64_t kMaxPlaceBytes = 64 << 10;
constexpr std::string_view kSecret = "secret";
constexpr std::string_view kRun = "run";
constexpr uint64_t kMostRunBytes = 64;
constexpr std::string_view kEncrypted = "encrypted";
constexpr std::string_view kCoordinator = "coordinator.";
constexpr std::string_view kAggregator = "aggregator.";
constexpr std::string_view kNew = "new-";
constexpr uint64_t kMaxGeneration = 1'000'000'000'000;

std::string coordinator_name(uint64_t generation) { return fmt::format("{}{}", kCoordinator, generation); }

std::string aggregator_name(const Place& place) {
  return fmt::format("{}{:016x}.{}", kAggregator, hash64(as_bytes(place.host)), place.pid);
}

std::optional<uint64_t> generation_of(std::string_view name) {
  if (!name.starts_with(kCoordinator)) return {};
  const std::string_view digits = name.substr(kCoordinator.size());
  uint64_t generation = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), generation);
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  if (digits.front() == '0' || generation > kMaxGeneration) return {};
  return generation;
}

Result<void> check_owner(const std::string& path) {
  return check_private_directory(path, "the rendezvous directory", "name another one");
}

std::string hidden_name() { return fmt::format(".{}{}", kNew, store::random_token()); }

// false if there is such a file already.
Result<bool> make_once(const std::string& from, const std::string& to) {
  const auto renamed = store::rename_new(AT_FDCWD, from, AT_FDCWD, to, to);
  if (!renamed) ::unlink(from.c_str());
  if (renamed) return true;
  if (renamed.error().kind == ErrorKind::exists) return false;
  return std::unexpected(renamed.error());
}

Result<fabric::Secret> make_secret(const std::string& directory) {
  const std::string path = fmt::format("{}/{}", directory, kSecret);
  auto secret = fabric::read_secret(path);
  if (secret || secret.error().kind != ErrorKind::not_found) return secret;
  const std::string temporary = directory + "/" + hidden_name();
  FOREBAY_CHECK(fabric::write_secret(temporary, fabric::new_secret()));
  FOREBAY_CHECK(make_once(temporary, path));
  return fabric::read_secret(path);
}

Result<Place> read_place(const std::string& path) {
  FOREBAY_TRY(const std::string text, store::read_text(path, kMaxPlaceBytes));
  return parse_place(text, path);
}

// Whether the job of that directory is noted as one that encrypts.
Result<bool> is_noted(const std::string& directory) {
  const auto noted = store::read_text(fmt::format("{}/{}", directory, kEncrypted), 0);
  if (!noted && noted.error().kind != ErrorKind::not_found) return std::unexpected(noted.error());
  return noted.has_value();
}

Result<void> check_that_all_encrypt(const Rendezvous& rendezvous) {
  FOREBAY_TRY(const auto others, rendezvous.aggregators());
  for (const Place& other : others)
    if (!other.encrypts)
      return fail(ErrorKind::invalid_argument,
                  fmt::format("this process is to encrypt, and process {} on {} has joined the job and does not",
                              other.pid, other.host),
                  rendezvous.path(), {},
                  "start all of the job with --encrypt, or none; if that process is gone, remove its aggregator file "
                  "there or use another rendezvous directory");
  return {};
}

}  // namespace

std::string seal_place(const Place& place) {
  nlohmann::json body = {{"version", kPlaceVersion},
                         {"addresses", place.addresses},
                         {"host", place.host},
                         {"node", place.node},
                         {"pid", place.pid}};
  if (place.encrypts) body["encrypts"] = true;
  return store::seal(kPlaceTag, std::move(body));
}

Result<Place> parse_place(std::string_view text, const std::string& path) {
  FOREBAY_TRY(const nlohmann::json body, store::unseal(kPlaceTag, text, kPlaceVersion, path));
  Place place;
  const auto read = [&](const char* key, std::string& to) {
    const auto member = body.find(key);
    if (member == body.end() || !member->is_string()) return false;
    to = member->get<std::string>();
    return true;
  };
  const auto pid = body.find("pid");
  if (!read("addresses", place.addresses) || !read("host", place.host) || !read("node", place.node) ||
      pid == body.end() || !pid->is_number_unsigned())
    return fail(ErrorKind::corrupt, "a member is missing or of the wrong type", path);
  place.pid = pid->get<uint64_t>();
  place.encrypts = body.value("encrypts", nlohmann::json(false)) == true;
  if (place.addresses.empty()) return place;  // of a coordinator that resigned
  if (const auto addresses = fabric::parse_addresses(place.addresses); !addresses)
    return fail(ErrorKind::corrupt, addresses.error().what, path);
  return place;
}

Result<Rendezvous> Rendezvous::open(std::string path, bool encrypt) {
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno(errno, "mkdir", path);
  FOREBAY_CHECK(check_owner(path));
  FOREBAY_TRY(const fabric::Secret secret, make_secret(path));
  Rendezvous rendezvous(std::move(path), secret);
  FOREBAY_CHECK(rendezvous.find_encryption());
  if (encrypt && !rendezvous.encrypts_) FOREBAY_CHECK(rendezvous.note_encryption());
  return rendezvous;
}

Result<Rendezvous> Rendezvous::open_existing(std::string path) {
  FOREBAY_CHECK(check_owner(path));
  FOREBAY_TRY(const fabric::Secret secret, fabric::read_secret(fmt::format("{}/{}", path, kSecret)));
  Rendezvous rendezvous(std::move(path), secret);
  FOREBAY_CHECK(rendezvous.find_encryption());
  return rendezvous;
}

Result<void> Rendezvous::find_encryption() {
  FOREBAY_TRY(encrypts_, is_noted(path_));
  return {};
}

Result<void> Rendezvous::check_encryption(bool encrypts) const {
  FOREBAY_TRY(const bool noted, is_noted(path_));
  if (noted == encrypts) return {};
  return fail(ErrorKind::invalid_argument,
              noted ? "the job encrypts by now, and this process, which was started before, does not"
                    : "this process encrypts, and the job is no longer noted as one that does",
              fmt::format("{}/{}", path_, kEncrypted), {}, "end this process and start it again");
}

// Who joins looks for the note behind the own file, and who makes the note looks for files behind it: of two that do so
// at once and differ, one at least sees the other.
Result<void> Rendezvous::note_encryption() {
  FOREBAY_CHECK(check_that_all_encrypt(*this));
  FOREBAY_CHECK(store::write_text(path_, std::string(kEncrypted), ""));
  if (const auto checked = check_that_all_encrypt(*this); !checked) {
    ::unlink(fmt::format("{}/{}", path_, kEncrypted).c_str());
    return checked;
  }
  encrypts_ = true;
  return {};
}

Result<fabric::Credentials> Rendezvous::credentials(bool munge, bool ucx) const {
  if (encrypts_ && (munge || ucx))
    return fail(
        ErrorKind::invalid_argument,
        fmt::format("the job encrypts with keys from its secret, which {} does without",
                    munge ? "--munge" : "--fabric ucx"),
        fmt::format("{}/{}", path_, kEncrypted), {},
        fmt::format("leave out {}, or --encrypt in all of the job; if a job that was killed has left this file, "
                    "remove it",
                    munge ? "--munge" : "--fabric ucx"));
  fabric::Credentials credentials{.secret = {}, .munge = munge, .encrypt = encrypts_};
  if (!munge) credentials.secret = secret_;
  return credentials;
}

Result<std::string> Rendezvous::run() const {
  const std::string path = fmt::format("{}/{}", path_, kRun);
  auto run = store::read_text(path, kMostRunBytes);
  if (run || run.error().kind != ErrorKind::not_found) return run;
  const std::string temporary = hidden_name();
  FOREBAY_CHECK(store::write_text(path_, temporary, store::random_token()));
  FOREBAY_CHECK(make_once(path_ + "/" + temporary, path));
  return store::read_text(path, kMostRunBytes);
}

Result<void> Rendezvous::begin_run() const {
  return store::write_text(path_, std::string(kRun), store::random_token());
}

Result<std::optional<CoordinatorFile>> Rendezvous::coordinator() const {
  FOREBAY_TRY(const auto names, store::names_in(path_));
  uint64_t highest = 0;
  for (const std::string& name : names) highest = std::max(highest, generation_of(name).value_or(0));
  if (highest == 0) return std::nullopt;
  return CoordinatorFile{highest, read_place(path_ + "/" + coordinator_name(highest))};
}

Result<bool> Rendezvous::take(uint64_t generation, const Place& place) const {
  if (generation == 0 || generation > kMaxGeneration)
    return fail(ErrorKind::limit, fmt::format("there is no generation {}", generation), path_);
  const std::string temporary = hidden_name();
  FOREBAY_CHECK(store::write_text(path_, temporary, seal_place(place)));
  FOREBAY_TRY(const bool made, make_once(path_ + "/" + temporary, path_ + "/" + coordinator_name(generation)));
  if (!made) return false;
  if (const auto names = store::names_in(path_))
    for (const std::string& name : *names)
      if (generation_of(name).value_or(generation) < generation) ::unlink((path_ + "/" + name).c_str());
  return true;
}

Result<void> Rendezvous::join(const Place& place) const {
  Place own = place;
  own.encrypts = encrypts_;
  FOREBAY_CHECK(store::write_text(path_, aggregator_name(own), seal_place(own)));
  const auto checked = check_encryption(encrypts_);
  if (!checked) leave(own);
  return checked;
}

void Rendezvous::leave(const Place& place) const { ::unlink((path_ + "/" + aggregator_name(place)).c_str()); }

Result<std::vector<Place>> Rendezvous::aggregators() const {
  FOREBAY_TRY(const auto names, store::names_in(path_));
  std::vector<Place> places;
  for (const std::string& name : names)
    if (name.starts_with(kAggregator))
      if (auto place = read_place(path_ + "/" + name)) places.push_back(*std::move(place));
  return places;
}

bool Rendezvous::is_name(std::string_view name) {
  while (name.starts_with('.')) name.remove_prefix(1);
  const auto is_or_was_to_be = [&](std::string_view one) {  // what is written gets a dot and a token behind it first
    return name.starts_with(one) && (name.size() == one.size() || name[one.size()] == '.');
  };
  return name == kSecret || is_or_was_to_be(kRun) || is_or_was_to_be(kEncrypted) || name.starts_with(kCoordinator) ||
         name.starts_with(kAggregator) || name.starts_with(kNew);
}

void Rendezvous::remove_from(const std::string& path) {
  DecisionLog::remove_from(path);
  if (const auto names = store::names_in(path))
    for (const std::string& name : *names)
      if (is_name(name) && name != kEncrypted) ::unlink((path + "/" + name).c_str());
  ::unlink(fmt::format("{}/{}", path, kEncrypted).c_str());  // behind the secret: without it nobody joins in the clear
  ::rmdir(path.c_str());
}

Result<Reached> reach_coordinator(const Rendezvous& rendezvous, const fabric::Credentials& credentials,
                                  std::chrono::milliseconds patience) {
  FOREBAY_TRY(const auto file, rendezvous.coordinator());
  if (!file)
    return fail(ErrorKind::not_found, "the job has no coordinator yet", rendezvous.path(), {},
                "start `forebay aggregator`");
  FOREBAY_CHECK(file->place);
  if (file->place->addresses.empty())
    return fail(ErrorKind::disconnected,
                fmt::format("the coordinator on {} has stepped down, and there is no other one yet", file->place->host),
                rendezvous.path());
  FOREBAY_TRY(const auto addresses, fabric::parse_addresses(file->place->addresses));
  auto link = fabric::Link::open(addresses, credentials, wire::kPurpose, patience);
  if (link) return Reached{file->generation, *std::move(link)};
  Error error = std::move(link).error();
  const bool is_local =
      std::ranges::all_of(addresses, [](const auto& one) { return one.kind == fabric::Address::Kind::unix_socket; });
  if (const auto here = fabric::node_identity(); is_local && here && *here != file->place->node)
    error.hint = fmt::format("only processes on {} reach this job; 'forebay run --listen tcp:*:0' lets others",
                             file->place->host);
  return std::unexpected(std::move(error));
}

}  // namespace forebay::job

#include "job/decisions/decision_log.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

namespace forebay::job {
namespace {

constexpr std::string_view kDirectory = "decisions.";
constexpr std::string_view kNew = ".new-";
constexpr uint64_t kMostFileBytes = 4 << 20;
constexpr uint64_t kMostFiles = 256;  // then one takes the place of all

std::string path_of(const std::string& directory, uint64_t generation) {
  return fmt::format("{}/{}{}", directory, kDirectory, generation);
}

std::optional<uint64_t> number_in(std::string_view digits) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || digits.front() == '0' || error != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  return number;
}

std::optional<uint64_t> generation_in(std::string_view name) {
  return name.starts_with(kDirectory) ? number_in(name.substr(kDirectory.size())) : std::nullopt;
}

// In their order; none if there is no such directory.
Result<std::vector<uint64_t>> numbers_in(const std::string& path) {
  auto names = store::names_in(path);
  if (!names && names.error().kind == ErrorKind::not_found) return std::vector<uint64_t>();
  FOREBAY_CHECK(names);
  std::vector<uint64_t> numbers;
  for (const std::string& name : *names)
    if (const auto number = number_in(name)) numbers.push_back(*number);
  std::ranges::sort(numbers);
  return numbers;
}

std::string file_of(const std::string& path, uint64_t number) { return fmt::format("{}/{}", path, number); }

Result<std::vector<Decision>> read_file(const std::string& path) {
  FOREBAY_TRY(const auto source, store::open_stored(path));
  if (source->size() > kMostFileBytes)
    return fail(ErrorKind::corrupt, "it is larger than any that a coordinator makes", path);
  FOREBAY_TRY(const std::string text, store::read_text(*source, kMostFileBytes));
  return parse_decisions(text, path);
}

// False if there is such a file, which says something else. One that says the same is ours: of a call before that
// failed after it had made it.
Result<bool> link_file(const std::string& path, uint64_t number, const std::string& text) {
  const std::string temporary = fmt::format("{}{}", kNew, store::random_token()), to = file_of(path, number);
  const std::string from = fmt::format("{}/{}", path, temporary);
  auto linked = store::write_unseen_text(path, temporary, text);
  if (linked) linked = store::rename_new(AT_FDCWD, from, AT_FDCWD, to, to);
  if (!linked) {
    ::unlink(from.c_str());
    if (linked.error().kind != ErrorKind::exists) return std::unexpected(linked.error());
    const auto there = store::read_text(to, kMostFileBytes);
    if (!there || *there != text) return false;
  }
  FOREBAY_CHECK(store::sync_directory(path));
  return true;
}

// A log that ends with this, or with a file that cannot be read, is written to by nobody any more.
bool is_closed(const std::string& path, uint64_t last) {
  const auto records = read_file(file_of(path, last));
  return records && !records->empty() && std::holds_alternative<decided::Closed>(records->back());
}

// Also where nobody has begun it: who was to do so is slow, or dead. The numbers in it then, but for the closing one.
Result<std::vector<uint64_t>> close_log(const std::string& path, uint64_t by) {
  FOREBAY_CHECK(store::make_directory(path));
  const Decision closed = decided::Closed{by};
  const std::string text = seal_decisions(std::span(&closed, 1));
  for (;;) {
    FOREBAY_TRY(auto numbers, numbers_in(path));
    if (!numbers.empty() && is_closed(path, numbers.back())) {
      numbers.pop_back();
      return numbers;
    }
    FOREBAY_TRY(const bool made, link_file(path, numbers.empty() ? 1 : numbers.back() + 1, text));
    if (made) return numbers;
  }
}

struct LogText {
  Facts facts;
  bool was_begun = false;
  std::vector<std::string> warnings;
};

bool is_damage(ErrorKind kind) { return kind == ErrorKind::corrupt || kind == ErrorKind::unsupported; }

// Errors of the file system: what it does not give now is not lost.
Result<LogText> read_log(const std::string& path, const std::vector<uint64_t>& numbers, const std::string& run) {
  LogText log;
  bool is_other_run = true;  // until a file of this run is read: each log begins with the name of its run
  for (const uint64_t number : numbers) {
    const auto records = read_file(file_of(path, number));
    // One that is gone was replaced by a later one.
    if (!records && records.error().kind == ErrorKind::not_found) continue;
    if (!records && !is_damage(records.error().kind)) return std::unexpected(records.error());
    if (!records) {
      log.warnings.push_back(
          fmt::format("decisions of the coordinator before are lost, and the job goes on without "
                      "them: {}",
                      records.error().message()));
      continue;
    }
    log.was_begun = true;
    for (const Decision& record : *records) {
      if (const auto* opened = std::get_if<decided::Opened>(&record)) is_other_run = opened->run != run;
      log.facts.apply(record);
    }
  }
  if (is_other_run) log.facts = {};
  return log;
}

// Not where somebody has put a link.
void remove_files(const std::string& path, uint64_t below) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return;
  const auto names = store::names_in(path);
  if (!names) return;
  for (const std::string& name : *names)
    if (const auto number = number_in(name); name.starts_with(kNew) || (number && *number < below))
      ::unlink(fmt::format("{}/{}", path, name).c_str());
}

}  // namespace

DecisionLog::DecisionLog(std::string directory, uint64_t generation, std::string run)
    : directory_(std::move(directory)),
      path_(path_of(directory_, generation)),
      generation_(generation),
      run_(std::move(run)) {}

Result<DecisionLog::Start> DecisionLog::open(std::string directory, uint64_t generation, std::string run) {
  DecisionLog log(std::move(directory), generation, std::move(run));
  const auto replaced = [&] {
    return fail(ErrorKind::cancelled, fmt::format("coordinator {} has been replaced", generation), log.path_);
  };
  FOREBAY_TRY(const auto names, store::names_in(log.directory_));
  std::vector<uint64_t> earlier;
  for (const std::string& name : names) {
    const auto one = generation_in(name);
    if (one && *one > generation) return replaced();
    if (one && *one < generation) earlier.push_back(*one);
  }
  LogText before;
  for (uint64_t one = generation - 1; one > 0 && !before.was_begun; --one) {
    FOREBAY_TRY(const auto numbers, close_log(path_of(log.directory_, one), generation));
    FOREBAY_TRY(auto text, read_log(path_of(log.directory_, one), numbers, log.run_));
    before.warnings.insert(before.warnings.end(), text.warnings.begin(), text.warnings.end());
    before.was_begun = text.was_begun;
    before.facts = std::move(text.facts);
  }
  FOREBAY_CHECK(store::make_directory(log.path_));
  FOREBAY_CHECK(store::sync_directory(log.directory_));
  log.facts_ = before.facts;
  FOREBAY_TRY(const bool made, log.add({}));
  if (!made) return replaced();
  // What closes a log stays: who was to begin it may wake up.
  for (const uint64_t one : earlier)
    if (const auto numbers = numbers_in(path_of(log.directory_, one)); numbers && !numbers->empty())
      remove_files(path_of(log.directory_, one), numbers->back());
  return Start{std::move(log), std::move(before.facts), std::move(before.warnings)};
}

// The first file, and now and then another one, begins with all that holds; those before it are not needed then.
Result<bool> DecisionLog::add(std::span<const Decision> records) {
  std::vector<Decision> all;
  const bool is_whole = next_ % kMostFiles == 1;
  if (is_whole) {
    all = records_of(facts_);
    all.insert(all.begin(), decided::Opened{generation_, run_});
  }
  all.insert(all.end(), records.begin(), records.end());
  FOREBAY_TRY(const bool made, link_file(path_, next_, seal_decisions(all)));
  if (!made) return false;
  if (is_whole) remove_files(path_, next_);
  ++next_;
  return true;
}

Result<bool> DecisionLog::append(std::span<const Decision> records) {
  auto added = add(records);
  // Its directory goes when the job is over.
  if (!added && added.error().kind == ErrorKind::not_found) return false;
  if (added.value_or(false))
    for (const Decision& record : records) facts_.apply(record);
  return added;
}

void DecisionLog::remove_from(const std::string& directory) {
  const auto names = store::names_in(directory);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!generation_in(name)) continue;
    const std::string path = fmt::format("{}/{}", directory, name);
    remove_files(path, UINT64_MAX);
    ::rmdir(path.c_str());
  }
}

}  // namespace forebay::job

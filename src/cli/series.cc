#include "cli/series.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "cli/common.h"
#include "store/series.h"

namespace forebay::cli {
namespace {

using Words = std::vector<std::string>;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_launcher(const std::string& word) {
  constexpr std::array<std::string_view, 11> kLaunchers = {"mpiexec", "mpiexec.hydra", "mpirun",  "srun",
                                                           "orterun", "prterun",       "prun",    "aprun",
                                                           "jsrun",   "ibrun",         "flux-run"};
  return std::ranges::find(kLaunchers, base_name(word)) != kLaunchers.end();
}

// From the program that a launcher starts on: the first word after it that is neither an option nor, as the values of
// options are, something that cannot be executed.
std::span<const std::string> program_of(const SeriesBasis& basis) {
  const std::span<const std::string> all(basis.words);
  if (all.empty() || !is_launcher(all[0])) return all;
  const auto is_it = [&](const std::string& word) { return !word.starts_with('-') && basis.is_program(word); };
  const auto found = std::find_if(all.begin() + 1, all.end(), is_it);
  return found == all.end() ? all : all.subspan(static_cast<size_t>(found - all.begin()));
}

bool is_executable_file(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

bool is_program_here(const std::string& word) {
  if (word.find('/') != word.npos) return is_executable_file(word);
  const std::string path = of_environment("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin && is_executable_file(path.substr(begin, end - begin) + "/" + word)) return true;
    begin = end + 1;
  }
  return false;
}

Error why_not_executed(const std::string& word) {
  const bool is_there = word.find('/') != word.npos && ::access(word.c_str(), F_OK) == 0;
  return {is_there ? ErrorKind::permission : ErrorKind::not_found,
          is_there ? "this is no program that can be executed" : "there is no such program",
          word,
          {},
          is_there ? "'chmod +x' makes a file one" : "give its path, or add its directory to $PATH"};
}

void declare_series(Syntax& syntax, std::string& series) {
  syntax.option("--series", "NAME", "Only sets of this series. Default: $FOREBAY_SERIES.", set_text(series));
}

Result<std::string> series_or(const std::string& given, const std::string& otherwise) {
  const std::string series = given.empty() ? of_environment("FOREBAY_SERIES") : given;
  if (series.empty()) return otherwise;
  FOREBAY_CHECK(store::check_series_name(series));
  return series;
}

Result<std::vector<store::SetInfo>> all_or_series(const store::Store& store, const std::vector<store::SetInfo>& sets,
                                                  const std::string& given) {
  FOREBAY_TRY(const std::string wanted, series_or(given, ""));
  if (wanted.empty()) return sets;
  // That of the environment is a job's, which may have no set yet.
  if (!given.empty()) FOREBAY_CHECK(store::choose_series(sets, wanted, store.path()));
  return store::of_series(sets, wanted);
}

Result<std::vector<store::SetInfo>> sets_of_series(const store::Store& store, const std::string& given) {
  FOREBAY_TRY(const std::string wanted, series_or(given, ""));
  FOREBAY_TRY(const auto sets, store.list());
  FOREBAY_TRY(const std::string series, store::choose_series(sets, wanted, store.path()));
  return store::of_series(sets, series);
}

store::Origin origin_of(std::string series, std::string run, const Words& words) {
  constexpr size_t kMost = 2000;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::string command = fmt::format("{}", fmt::join(words, " "));
  if (command.size() > kMost) command = command.substr(0, kMost) + "...";
  return {.series = std::move(series), .run = std::move(run), .host = host.data(), .command = std::move(command)};
}

Json json_origin(const store::Origin& origin) {
  const auto text = [](const std::string& one) { return one.empty() ? Json() : json_text(one); };
  return {{"series", text(origin.series)},
          {"run", text(origin.run)},
          {"host", text(origin.host)},
          {"command", text(origin.command)}};
}

std::string default_series(const SeriesBasis& basis) {
  constexpr size_t kMostOfName = 60;
  std::string text = fmt::format("{}\n{}", basis.user, basis.directory);
  for (std::string word : program_of(basis)) {
    for (const std::string& id : basis.job_ids)
      for (size_t at = 0; (at = word.find(id, at)) != word.npos;) word.replace(at, id.size(), "\1");
    text += '\0' + word;
  }
  std::string name = base_name(basis.directory).substr(0, kMostOfName);
  std::ranges::replace_if(name, [](char c) { return !store::is_series_name(std::string("x") + c); }, '-');
  if (name.empty() || name.front() == '.') name.insert(0, "-");
  return fmt::format("{}-{:08x}", name, hash64(as_bytes(text)) & 0xffffffff);
}

std::vector<std::string> program_words(const Words& words) {
  const SeriesBasis basis{.words = words, .directory = {}, .job_ids = {}, .is_program = is_program_here};
  const auto program = program_of(basis);
  return {program.begin(), program.end()};
}

std::string default_series_of(const Words& words) {
  constexpr size_t kLeastDigits = 3;  // a shorter one stands in words by chance
  SeriesBasis basis;
  basis.words = words;
  basis.user = ::getuid();
  basis.is_program = is_program_here;
  std::error_code error;
  basis.directory = std::filesystem::current_path(error).string();
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"})
    if (std::string id = of_environment(name); id.size() >= kLeastDigits) basis.job_ids.push_back(std::move(id));
  return default_series(basis);
}

}  // namespace forebay::cli

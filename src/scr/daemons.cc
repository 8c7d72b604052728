#include "scr/daemons.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/posix/own_code.h"
#include "fabric/credentials.h"
#include "fabric/remote.h"
#include "job/client/client.h"
#include "job/client/stage_names.h"
#include "job/rendezvous/rendezvous.h"
#include "scr/scr.h"
#include "store/files.h"

extern char** environ;

namespace forebay::scr {
namespace {

constexpr const char* kLingerSeconds = "120";
constexpr std::chrono::milliseconds kCoordinatorPatience{1000};
constexpr uint64_t kMostLogBytes = 64u << 20;

// The directory above which the installation is, by where this library was loaded from.
std::string installation() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&SCR_Init), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string file = info.dli_fname;
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? std::string() : file.substr(0, slash) + "/" + FOREBAY_SCR_UP;
}

// Without what makes a program believe that it is a rank of an MPI job, and without preloaded libraries.
std::vector<char*> environment_of_daemons() {
  std::vector<char*> all;
  for (char** one = environ; *one != nullptr; ++one) {
    bool is_of_mpi = false;
    for (const char* start : {"PMI", "OMPI_", "PRTE_", "HYDI_", "HYDRA_", "MPI_LOCAL", "LD_PRELOAD="})
      is_of_mpi |= std::strncmp(*one, start, std::strlen(start)) == 0;
    if (!is_of_mpi) all.push_back(*one);
  }
  all.push_back(nullptr);
  return all;
}

std::string last_line_of(const std::string& log) {
  auto text = store::read_text(log, kMostLogBytes).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

// Runs the command to its end, with its output in `log`, in a session of its own and with no descriptor of this
// process.
Result<void> run_command(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t child = 0;
  auto environment = environment_of_daemons();
  const int fault = ::posix_spawnp(&child, arguments[0], &files, &attributes, arguments.data(), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (fault != 0) return fail_errno(fault, "start", words[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return fail_errno(errno, "waitpid", words[0]);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorKind::disconnected, fmt::format("'{} {}' has failed: {}", words[0], words[1], last_line_of(log)),
              log);
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

bool is_answered(const std::string& stage) {
  fabric::Credentials credentials;
  if (auto secret = fabric::read_secret(job::secret_path(stage))) credentials.secret = *secret;
  const fabric::Address address{fabric::Address::Kind::unix_socket, "", 0, job::agent_socket(stage)};
  return fabric::Link::open({address}, credentials, job::wire::kPurpose, kCoordinatorPatience).has_value();
}

bool is_coordinated(const std::string& rendezvous) {
  const auto there = job::Rendezvous::open_existing(rendezvous);
  const auto credentials = there ? there->credentials(false) : std::unexpected(there.error());
  return credentials && job::reach_coordinator(*there, *credentials, kCoordinatorPatience).has_value();
}

Result<void> add_encryption(const Config& config, std::vector<std::string>& words) {
  FOREBAY_TRY(const int64_t encrypt, config.number("FOREBAY_SCR_ENCRYPT"));
  if (encrypt != 0 && encrypt != 1)
    return fail(ErrorKind::invalid_argument, "FOREBAY_SCR_ENCRYPT is 0 or 1", std::to_string(encrypt));
  if (encrypt == 1) words.emplace_back("--encrypt");
  return {};
}

Result<void> start_aggregator(const Config& config, const Places& places) {
  const std::string log = fmt::format("{}/aggregator.{}.log", places.logs, host_name());
  FOREBAY_TRY(const std::string command, command_path(config));
  FOREBAY_TRY(const int64_t backlog, config.number("FOREBAY_SCR_BACKLOG"));
  std::vector<std::string> words{command,
                                 "aggregator",
                                 "--store",
                                 places.store,
                                 "--rendezvous",
                                 places.rendezvous,
                                 "--series",
                                 places.series,
                                 "--flush-every",
                                 "0",
                                 "--backlog",
                                 "block",
                                 "--backlog-sets",
                                 std::to_string(backlog),
                                 "--linger",
                                 kLingerSeconds,
                                 "--background",
                                 "--log",
                                 log};
  FOREBAY_CHECK(add_encryption(config, words));
  return run_command(words, log);
}

}  // namespace

std::string system_file() {
  const std::string directory = installation();
  return directory.empty() ? directory : directory + "/etc/scr.conf";
}

Result<std::string> command_path(const Config& config) {
  if (auto named = config.get("FOREBAY_COMMAND")) return *named;
  auto installed = trusted_file(installation() + "/bin/forebay");
  if (!installed && installed.error().kind == ErrorKind::not_found) return "forebay";
  return installed;
}

Result<void> ensure_agent(const Config& config, const Places& places) {
  if (is_answered(places.stage)) return {};
  FOREBAY_TRY(const int64_t kept, cache_size_of(config));
  const std::string log = fmt::format("{}/agent.{}.log", places.logs, host_name());
  FOREBAY_TRY(const std::string command, command_path(config));
  std::vector<std::string> words{command,        "agent",        "--stage",
                                 places.stage,   "--rendezvous", places.rendezvous,
                                 "--linger",     kLingerSeconds, "--series",
                                 places.series,  "--keep",       std::to_string(std::max<int64_t>(kept, 1)),
                                 "--background", "--log",        log};
  FOREBAY_TRY(const auto levels, levels_of(config));
  for (const LevelOfNode& level : levels) {
    const std::string directory = directory_on(level.store, places.stage);
    (void)make_stage_directory(directory);  // the agent tells if it cannot be used
    words.insert(words.end(), {"--level", fmt::format("{},keep={}", directory, level.keep)});
  }
  if (const std::string groups = config.groups_of(host_name()); !groups.empty())
    words.insert(words.end(), {"--failure-groups", groups});
  FOREBAY_CHECK(add_encryption(config, words));
  auto started = run_command(words, log);
  if (!started && is_answered(places.stage)) return {};  // somebody else was faster
  return started;
}

Result<void> ensure_aggregator(const Config& config, const Places& places) {
  return is_coordinated(places.rendezvous) ? Result<void>{} : start_aggregator(config, places);
}

Result<void> add_aggregator(const Config& config, const Places& places) {
  const auto there = job::Rendezvous::open_existing(places.rendezvous);
  const auto all = there ? there->aggregators() : std::unexpected(there.error());
  const auto node = fabric::node_identity();
  const auto is_here = [&](const job::Place& place) {
    return node && place.node == *node && (::kill(static_cast<pid_t>(place.pid), 0) == 0 || errno != ESRCH);
  };
  return all && std::ranges::any_of(*all, is_here) ? Result<void>{} : start_aggregator(config, places);
}

Result<void> flush_and_stop(const Config& config, const Places& places) {
  FOREBAY_TRY(const std::string command, command_path(config));
  return run_command({command, "stop", "--drain", "--settle", "--rendezvous", places.rendezvous},
                     places.logs + "/stop.log");
}

}  // namespace forebay::scr

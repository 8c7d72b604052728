#include "cli/shared_directory.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/run/processes.h"
#include "store/files.h"

namespace forebay::cli {
namespace {

constexpr std::chrono::seconds kPatience{30};
constexpr const char* kLook = R"(if test -e "$1"; then echo forebay: shared; else echo forebay: apart; fi)";

// A new empty file, which the watcher of the directory does not look at.
class Probe {
 public:
  static Result<Probe> make(const std::string& directory) {
    std::string path = fmt::format("{}/.forebay-probe-{}", directory, store::random_token());
    const Fd file(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!file) return fail_errno(errno, "create", path);
    return Probe(std::move(path));
  }
  ~Probe() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  Probe(Probe&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  Probe& operator=(Probe&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit Probe(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace

Result<void> check_shared_directory(const RunOptions& options, const std::function<void(const std::string&)>& say) {
  if (!options.gathering) return {};
  const auto other = std::ranges::find_if(options.nodes.hosts, [](const std::string& host) { return !is_own(host); });
  if (other == options.nodes.hosts.end()) return {};
  const std::string& directory = options.gathering->directory;
  const auto unknown = [&](const Error& error) {
    say(fmt::format("warning: whether {} is the same directory on {} cannot be found out: {}", directory, *other,
                    error.message()));
    return Result<void>();
  };
  const auto probe = Probe::make(directory);
  if (!probe) return unknown(probe.error());
  const auto answer =
      launch::output_of(options.launcher.command(*other, "/", {"sh", "-c", kLook, "sh", probe->path()}), kPatience);
  if (!answer) return unknown(answer.error());
  if (answer->find("forebay: apart") == answer->npos) return {};
  return fail(ErrorKind::invalid_argument,
              fmt::format("{0} is another directory on {1} than here: what is written there would be missing in every "
                          "set, for all of a set is gathered on this node",
                          directory, *other),
              {}, {}, "let the code work in a directory that all nodes share, or run it on one node");
}

}  // namespace forebay::cli

// forebay mount: a store as a file system.
#include <fmt/format.h>
#include <unistd.h>

#include "cli/common.h"
#include "cli/daemon.h"
#include "cli/extension.h"
#include "cli/json.h"
#include "cli/mount/verbs.h"
#include "cli/series.h"
#include "cli/text.h"
#include "mount/file_system.h"
#include "mount/mounted_store.h"

namespace forebay::cli {
namespace {

constexpr VerbText kMountText = {
    .name = "mount",
    .summary = find_extension("mount")->summary,
    .usage = "STORE DIR [--latest] [--background]",
    .description =
        "Mounts STORE on the directory DIR, to be read only (FUSE 3): each set is a directory\n"
        "of the files that were packed, byte for byte, which are decoded as they are read, and\n"
        "'latest' is a link to the newest one. Programs open them with nothing restored. A\n"
        "damaged frame is an I/O error of the bytes that it holds, and is logged. Sets that are\n"
        "removed from the store while files of theirs are open stay readable through these.\n"
        "\n"
        "Serves until it is interrupted (Ctrl-C, SIGTERM), or until DIR is unmounted with\n"
        "'fusermount3 -u DIR'; with --background it returns as soon as DIR shows the sets.\n",
    .examples =
        "  forebay mount st /mnt/checkpoints --background\n"
        "  h5ls -r /mnt/checkpoints/latest/DD0008.cpu0000\n"
        "  fusermount3 -u /mnt/checkpoints\n"
        "  forebay mount st here --latest --series blast --background --log mount.log\n",
};

class MountVerb final : public Verb {
 public:
  const VerbText& text() const override { return kMountText; }

  void declare(Syntax& syntax) override {
    syntax.operands(operands_);
    declare_store(syntax, store_);
    declare_series(syntax, options_.series);
    syntax.flag("--latest", options_.latest, "Show the newest set in DIR itself, whichever that is at the time.");
    syntax.flag("--allow-other", allow_other_, "Let other users look in, as far as the files' modes allow it.");
    declare_memory(syntax, options_.resources);
    declare_threads(syntax, options_.resources);
    declare_daemon(syntax, daemon_);
  }

  Result<ExitCode> run(const Console& console) override {
    FOREBAY_TRY(const Operands operands, split_operands(operands_, store_, {1, 1, {"DIR"}}));
    FOREBAY_TRY(options_.series, series_or(options_.series, std::string()));
    return run_daemon("mount", daemon_, console, [&](Daemon& daemon) { return serve_mount(daemon, operands); });
  }

 private:
  Result<ExitCode> serve_mount(Daemon& daemon, const Operands& operands) {
    const auto log = [&daemon](const std::string& text) { daemon.log(LogLevel::warning, text); };
    FOREBAY_TRY(auto store, mount::MountedStore::open(operands.store, options_, log));
    FOREBAY_TRY(const auto mounted, mount::FileSystem::mount(std::move(store), operands.own[0], allow_other_));
    FOREBAY_CHECK(daemon.ready(
        fmt::format("{} is mounted on {} until {}`fusermount3 -u {}`", printable(operands.store),
                    printable(operands.own[0]), daemon_.background ? "" : "this is interrupted (Ctrl-C), or until ",
                    printable(shell_word(operands.own[0]))),
        {{"store", json_text(operands.store)}, {"directory", json_text(operands.own[0])}, {"pid", ::getpid()}}));
    FOREBAY_CHECK(serve(daemon, {[&](const std::stop_token& stop) { return mounted->serve(stop); }}, kTidySeconds));
    return ExitCode::ok;
  }

  std::vector<std::string> operands_;
  std::string store_;
  mount::MountOptions options_;
  bool allow_other_ = false;
  DaemonOptions daemon_;
};

}  // namespace

std::unique_ptr<Verb> make_mount() { return std::make_unique<MountVerb>(); }

}  // namespace forebay::cli

#include "cli/doctor_place.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

constexpr uint64_t kSmallStage = 256 << 20, kSmallStore = uint64_t{1} << 30;
constexpr uint64_t kFewFreeFiles = 1000;

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::ranges::find(types, type) != types.end();
}

bool is_nfs(const PlaceFacts& place) { return place.file_system.starts_with("nfs"); }
bool is_memory(const PlaceFacts& place) { return is_one_of(place.file_system, {"tmpfs", "ramfs"}); }

bool is_network(const PlaceFacts& place) {
  return is_nfs(place) ||
         is_one_of(place.file_system, {"lustre", "gpfs", "beegfs", "beegfs_nodev", "ceph", "fuse.ceph",
                                       "fuse.ceph-fuse", "fuse.glusterfs", "cifs", "smb3", "pvfs2", "orangefs", "afs",
                                       "wekafs", "panfs", "9p", "fuse.sshfs", "gfs2", "ocfs2"});
}

bool has_option(const PlaceFacts& place, std::string_view option) {
  return std::ranges::find(place.options, option) != place.options.end();
}

// Locks work, but a process of another node does not see them.
bool locks_are_local(const PlaceFacts& place) {
  if (is_nfs(place))
    return has_option(place, "local_lock=all") || has_option(place, "local_lock=flock") || has_option(place, "nolock");
  return place.file_system == "lustre" && has_option(place, "localflock");
}

const char* name_of(Role role) {
  constexpr std::array<const char*, 3> kNames = {"store", "stage", "rendezvous"};
  return kNames[static_cast<size_t>(role)];
}

const char* option_of(Role role) {
  constexpr std::array<const char*, 3> kOptions = {"--store", "--stage", "--rendezvous"};
  return kOptions[static_cast<size_t>(role)];
}

class PlaceJudge {
 public:
  explicit PlaceJudge(const PlaceFacts& place)
      : place_(place), topic_(fmt::format("{} {}", name_of(place.role), printable(place.path))) {}

  std::vector<Finding> judge() {
    if (!place_.look.empty()) {
      add(Verdict::stop, place_.look, "nothing can be kept there", other_place());
      return std::move(findings_);
    }
    judge_itself();
    judge_access();
    if (place_.write.empty()) {
      judge_room();
      if (place_.role == Role::store) judge_locks();
      if (place_.role == Role::store) judge_rename();
    }
    judge_file_system();
    return std::move(findings_);
  }

 private:
  void add(Verdict verdict, std::string found, std::string use, std::string change = {}) {
    findings_.push_back({topic_, verdict, std::move(found), std::move(use), std::move(change)});
  }

  std::string other_place() const { return fmt::format("choose another directory with {}", option_of(place_.role)); }

  std::string file_system() const {
    return fmt::format("{} at {}", printable(place_.file_system), printable(place_.mount_point));
  }

  void judge_itself() {
    const bool is_there = place_.probed == place_.path;
    const std::string where = fmt::format("{}{}, {} of {} free", is_there ? "" : "not there yet; ", file_system(),
                                          format_bytes(place_.free_bytes), format_bytes(place_.bytes));
    switch (place_.role) {
      case Role::store:
        if (!place_.store.empty())
          add(Verdict::stop, place_.store, "sets cannot be kept there",
              place_.store_change.empty() ? other_place() : place_.store_change);
        else
          add(Verdict::ok, where,
              place_.is_store ? "sets are kept in this store" : "the first pack or run makes a store");
        break;
      case Role::stage:
        add(Verdict::ok, where,
            is_memory(place_) ? "checkpoints lie there, in the node's memory, until they are durable in the store"
                              : "checkpoints lie there until they are durable in the store");
        if (!place_.refused.empty())
          add(Verdict::stop, place_.refused, "agents refuse it: sets there would not be this user's alone",
              place_.refused_change.empty() ? other_place() : place_.refused_change);
        break;
      case Role::rendezvous:
        add(Verdict::ok, where, "the job's processes find each other there, and keep their secret there");
        if (is_there && (place_.foreign_owner || place_.open_to_others))
          add(Verdict::stop, place_.foreign_owner ? "belongs to another user" : "others may read or write it",
              "the job's processes refuse it: it holds their secret",
              place_.foreign_owner ? other_place() : fmt::format("chmod 700 {}", shell_word(place_.path)));
        break;
    }
  }

  void judge_access() {
    if (!place_.write.empty())
      add(Verdict::stop, place_.write, "nothing can be written there",
          fmt::format("let this user write to {}, or {}", printable(place_.probed), other_place()));
    else if (!place_.sync.empty())
      add(Verdict::stop, place_.sync, "nothing there can be made durable, and so no set is ever reported durable",
          other_place());
  }

  void judge_room() {
    const uint64_t small = place_.role == Role::store ? kSmallStore : kSmallStage;
    if (place_.role != Role::rendezvous && place_.bytes > 0 && place_.free_bytes < small)
      add(Verdict::warning, fmt::format("only {} are free", format_bytes(place_.free_bytes)),
          place_.role == Role::store
              ? "a set that does not fit is not stored, and pack exits with 6"
              : "the stage must hold the set that is being written beside the newest durable one (--keep)",
          is_memory(place_)
              ? "make it larger (mount -o remount,size=SIZE; of a container: --shm-size), or " + other_place()
              : "make room, or " + other_place());
    if (place_.files > 0 && place_.free_files < kFewFreeFiles)
      add(Verdict::warning, fmt::format("only {} more can be made (inodes)", plural(place_.free_files, "file")),
          "every checkpoint file of a stage, and every container of a store, is a file",
          "remove files there, or " + other_place());
  }

  void judge_locks() {
    const bool is_lustre = place_.file_system == "lustre";
    if (!place_.lock.empty())
      add(Verdict::warning, "locks on files do not work: " + place_.lock,
          "unfinished work counts as abandoned when nothing in it has changed for 24 hours, and stays until then",
          is_lustre ? "have it mounted with the option flock"
                    : "have it mounted with locks, if the file system has any");
    else if (!place_.lock_excludes)
      add(Verdict::stop, "two processes can lock one file at the same time",
          "what one process is writing would be removed by the next one as abandoned", other_place());
    else if (locks_are_local(place_))
      add(Verdict::warning, "locks on files are not seen by other nodes, as it is mounted",
          "nodes of one name could remove each other's unfinished work",
          fmt::format("have it mounted {}, or give every node a name of its own",
                      is_lustre ? "with flock in place of localflock" : "without nolock and local_lock"));
    else
      add(Verdict::ok, "locks on files work",
          "whether the process that left unfinished work lives is known by its lock");
  }

  void judge_rename() {
    if (!place_.rename_new.empty())
      add(Verdict::note, "cannot rename without replacing: " + place_.rename_new,
          "sets get their names by links or by plain renames, which do not replace a set either");
  }

  void judge_file_system() {
    if (place_.role == Role::store && is_memory(place_))
      add(Verdict::warning, "a file system in memory", "all sets are lost with this node",
          "use a directory on a disk or on the parallel file system");
    if (place_.role == Role::store && place_.file_system == "overlay")
      add(Verdict::warning, "the writable layer of a container", "all sets are removed with the container",
          "use a directory that is mounted into the container");
    if (place_.role == Role::store && place_.file_system == "fuse.glusterfs")
      add(Verdict::warning,
          "GlusterFS, which with sharding lost the ends of files although it had reported them durable",
          "jobs read the end of each container back before they call it durable; that does not find lost middles",
          "keep features.shard off for this volume, and read a first set back with 'forebay verify'");
    if (place_.role == Role::store && is_nfs(place_))
      add(Verdict::note, "NFS", "a restore that reads a set while it is pruned gets an error");
    if (place_.role == Role::stage && is_network(place_))
      add(Verdict::warning, "a network file system",
          "each checkpoint crosses the network twice, and the application waits for the first time",
          "use a directory in memory (/dev/shm) or on a disk of the node");
  }

  const PlaceFacts& place_;
  std::string topic_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> judge_place(const PlaceFacts& place) { return PlaceJudge(place).judge(); }

}  // namespace forebay::cli

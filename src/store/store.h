// A store: a directory of committed checkpoint sets (docs/store.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "store/backend.h"
#include "store/set_order.h"

namespace forebay::store {

// The lowest and the highest rank of some files.
struct RankRange {
  uint32_t first = 0, last = 0;
  bool operator==(const RankRange&) const = default;
};

// A container of a set, as the manifest lists it.
struct ContainerEntry {
  std::string name;  // file name inside the set's directory: as is_set_name() wants it, and not "manifest"
  uint64_t bytes = 0;
  uint64_t raw_bytes = 0;  // of the files in it
  uint64_t files = 0;
  uint64_t tail_hash = 0;  // tail_hash() of the container, so that another valid container in its place is noticed
  std::optional<RankRange> ranks = {};  // of the files in it; none: not told
  std::vector<std::string> names = {};  // what these are called (docs/store.md, "Names"); empty: not told
};

// hash64 of the last 64 bytes of `container`, or of all if it is shorter: of the trailer, which holds the index'
// checksum, which covers the rest. No more than the trailer, so that damage to a frame near the end stays that frame's.
// Fails as read_at() does.
Result<uint64_t> tail_hash(const ByteSource& container);

// Another set that holds frames of a set (docs/store.md, "Parents").
struct ParentEntry {
  std::string name;
  int64_t created_ns = 0;  // as its manifest says: tells it from another set that has the name later
  uint64_t frames = 0;     // of the set, that lie there
  uint64_t raw_bytes = 0;  // of these frames
};

// The series of sets that do not say theirs.
inline constexpr std::string_view kDefaultSeries = "default";

// Who wrote a set (decision 0021).
struct Origin {
  std::string series{kDefaultSeries};  // the runs that continue one another; as is_series_name() wants it
  std::string run, host, command;      // for people; empty: not known
};

// What one stage of a set's way into the store took.
struct StageTime {
  std::string stage;      // "gather", "encode": as is_set_name() wants it
  uint64_t clock_ns = 0;  // 0: not told
  uint64_t cpu_ns = 0;    // of all processors together; 0: not told
  bool operator==(const StageTime&) const = default;
};

// What a set says of itself.
struct Manifest {
  std::string name;
  std::string application_name;  // as who wrote the set called it; empty: it does not say (application_name())
  std::optional<int64_t> step;   // a label, by which the set can be found; it orders nothing
  uint64_t ordinal = 0;          // the set's place in its series, from 1 (docs/store.md, "Order"); 0: none
  int64_t created_ns = 0;        // nanoseconds since 1970, UTC
  std::string software;          // "forebay 0.1.0"
  std::string profile, scheme;   // as the user asked, for `ls`
  uint64_t ranks = 0, group_size = 0;
  std::optional<int64_t> since_chosen;  // by how many sets the one is ahead whose choices were tried first for this one
  std::vector<ContainerEntry> containers;    // in rank-group order
  std::vector<std::string> lossy;            // the rules by which variables were stored with loss, for `ls`
  std::vector<std::string> sources;          // of a job's set: a hash for each node's files, by which the same files
                                             // are known when they are offered again
  std::vector<std::string> lost_containers;  // that the set had before a repair, which could save nothing of them
  std::string repaired_from;                 // the set that this one was saved from by a repair; empty if it was packed
  uint64_t damaged_files = 0;                // of those of a repaired set, that lack bytes
  std::vector<ParentEntry> parents;          // without which the set cannot be restored
  uint64_t since_full = 0;        // 0 without parents; else by how many sets the last one without is ahead of this one
  std::vector<StageTime> stages;  // in their order; empty: not told
  std::string suspicion;  // why it may not be whole, though all of it is stored; empty: nothing speaks against it
  Origin origin;

  Age age() const { return {ordinal, created_ns}; }
  uint64_t bytes() const;  // sums over the containers
  uint64_t raw_bytes() const;
  uint64_t files() const;
};

// The manifest as a file's content, and back. Every flipped bit is noticed: corrupt. A newer format: unsupported. In
// what parse_manifest() returns the names are valid and distinct, and the sums fit.
std::string serialise(const Manifest& manifest);
Result<Manifest> parse_manifest(std::string_view text, const std::string& path);

// What a commit does about the place of a set in its series.
enum class Place : uint8_t {
  next,     // it is behind all sets of the series that there are
  as_said,  // the manifest says it, or that it has none
};

// A set being written, which no reader sees. If it is destroyed without commit(), or its process dies, nothing of it
// becomes visible; Store::open_for_writing() removes what the dead left. The process that staged the set is the one to
// commit; other processes, on any node, may write containers into it (Store::join()) as long as it lives.
class StagedSet {
 public:
  StagedSet(std::shared_ptr<const Backend> backend, std::string name, std::unique_ptr<Staging> staging);

  // By which other processes join the set: Store::join().
  const std::string& id() const { return staging_->id(); }

  // What the containers are written into. They must be finished before commit().
  StagedContainers& containers() { return *staging_; }

  // Tells everybody that the set will refer to these sets, some of them perhaps: from now on remove() refuses them, and
  // commit() fails with changed if one that the manifest lists was removed or replaced all the same. changed if one of
  // them is not there now. To be called once at most, before commit().
  Result<void> announce(std::span<const ParentEntry> parents);

  // Writes the manifest, makes everything durable and makes the set visible under its name, in one instant. exists if
  // the name was taken meanwhile; invalid_argument if the manifest names another set or is not one that
  // parse_manifest() accepts; corrupt if a container is not there with the size that the manifest gives. After success
  // the set survives a power cut; after an error nothing is visible, and it may be called again. Errors of
  // Store::outline(), which tells the next place.
  Result<void> commit(const Manifest& manifest, Place place = Place::next);

  // commit() of a set from Store::restage(), in the place of the one that has the name, in one instant. changed if that
  // is no longer the one that was made when the manifest says; unsupported where the store cannot exchange two sets.
  Result<void> replace(const Manifest& manifest);

 private:
  Result<std::string> complete(const Manifest& manifest) const;
  Result<Manifest> placed(Manifest manifest) const;
  Result<std::string> checked_text(const Manifest& manifest) const;
  std::shared_ptr<const Backend> backend_;
  std::string name_;
  std::unique_ptr<Staging> staging_;
  std::vector<ParentEntry> announced_;
};

// The files of a committed set, wherever they lie. Cheap to copy, thread-safe.
class SetFiles {
 public:
  SetFiles() = default;  // of no set
  SetFiles(std::shared_ptr<const Backend> backend, std::string set);

  // What messages call the set, and one of its files.
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view file) const { return path_ + "/" + std::string(file); }

  // A container of the set. not_found if it is not there; corrupt if what is there is no regular file.
  Result<std::unique_ptr<ByteSource>> open(const std::string& container) const;

  // The names of what lies there, the manifest among it. Empty if there is something else in the place of the set.
  Result<std::vector<std::string>> names() const;

  // As Backend::written_ns(): about when a set was completed whose manifest cannot be read.
  std::optional<int64_t> written_ns() const;

  // Those of another set of the same store, which need not be there.
  SetFiles of(const std::string& other) const;

 private:
  std::shared_ptr<const Backend> backend_;
  std::string set_, path_;
};

struct SetInfo {
  std::string name;
  SetFiles files;
  Result<Manifest> manifest;                // or why it cannot be read
  Stamp stamp = {};                         // of the manifest, when it was read
  std::optional<std::string> refused = {};  // why no restart takes it (Store::set_aside()); never told by an outline
};

// Thread-safe; any number of processes may use one store at once.
class Store {
 public:
  // Opens an existing store. not_found with a hint if there is none at `path`; unsupported for a newer version.
  static Result<Store> open(const std::string& path);

  // Opens a store to write to it, making it first if `path` does not exist or is an empty directory. Removes staging
  // directories whose process is dead. invalid_argument if `path` is a directory with other content.
  static Result<Store> open_for_writing(const std::string& path);

  // A store on `backend`, which is one.
  explicit Store(std::shared_ptr<const Backend> backend) : backend_(std::move(backend)) {}

  const std::string& path() const { return backend_->path(); }
  const std::shared_ptr<const Backend>& backend() const { return backend_; }

  // All committed sets in the order of sort_oldest_first(). A set that cannot be read is listed with its error.
  Result<std::vector<SetInfo>> list() const;

  // The same, with no more of each manifest than tells one set from another: names, step, times, series, profile,
  // scheme, numbers of ranks, parents. Among thousands of sets it takes a few system calls, for the store keeps it in a
  // file (docs/store.md, "The listing"): a manifest that was damaged or changed in its place since is told as it was.
  Result<std::vector<SetInfo>> outline() const;

  // Reads the set that `choose` names among the outlines, or none if it names none. If that set turns out to be another
  // one than its outline says, or cannot be read, `choose` is asked again, of outlines that were read anew. Errors of
  // `choose`, and those of reading the store.
  using Choice = std::function<Result<std::optional<std::string>>(std::span<const SetInfo> outlines)>;
  Result<std::optional<SetInfo>> choose(const Choice& choose) const;

  // The names of all sets, those that cannot be read among them, sorted. Takes one look at a directory.
  Result<std::vector<std::string>> names() const;

  // Whether there is a set of that name. Takes no longer where there are many sets.
  Result<bool> has(std::string_view name) const;

  // One set by name. not_found with the nearest names in the hint.
  Result<SetInfo> find(std::string_view name) const;

  // The files of the set of that name, which need not be there.
  SetFiles files_of(const std::string& name) const { return SetFiles(backend_, name); }

  // From now on no restart takes the set, whatever process asks for one; it stays, with this reason (docs/store.md,
  // "Sets that were set aside"). not_found as find().
  Result<void> set_aside(const std::string& name, std::string_view reason) const;
  // Restarts take the set again, if that was the reason; if not, nothing changes. not_found as find().
  Result<void> take_back(const std::string& name, std::string_view reason) const;

  // Begins a new set. exists if the name is taken, invalid_argument if is_set_name() says no.
  Result<std::unique_ptr<StagedSet>> stage(const std::string& name) const;

  // Begins a set that is to take the place of one that is there, with all that refers to it (StagedSet::replace()).
  // not_found if it is not.
  Result<std::unique_ptr<StagedSet>> restage(const std::string& name) const;

  // A set that a process has staged, of which StagedSet::id() is told, to write containers into. not_found if it is
  // staged no longer, or in another store; invalid_argument if that is no id.
  Result<std::unique_ptr<StagedContainers>> join(const std::string& id) const;

  // Makes durable which sets there are, where others committed them and may not have come to it.
  Result<void> sync() const;

  // What is known of the sets that are being written: their names, and the parents that they have announced. May list
  // sets that are being removed, too.
  Result<std::vector<Manifest>> staged() const;

  // Of a set that was removed: what kept some of its files from being deleted. They are out of sight, and go when the
  // store is opened for writing and that is over.
  struct Removed {
    std::optional<Error> left = {};
  };

  // Removes a set: out of sight in one rename, then its files. not_found as find(); invalid_argument if another set,
  // committed or announced, has it as a parent; exists if something else lies in it, or in its place, that Forebay did
  // not put there. Whoever has the set's files open keeps reading them (on NFS: may get an io error instead, never
  // wrong bytes).
  Result<Removed> remove(const std::string& name) const;

  // remove() of many sets, in this order: those that refer to others of them must come before these. `known` is what
  // list() told, or nothing: what has changed since is looked for, and nothing else is read. One result a name; what
  // cannot be removed does not keep the others, but for what it refers to.
  std::vector<Result<Removed>> remove(std::span<const std::string> names, std::vector<SetInfo> known) const;

 private:
  std::shared_ptr<const Backend> backend_;
};

// A name of one path component of at most 200 bytes of UTF-8: characters that printable() leaves as they are, not '/',
// no '.' at the beginning and no blank at either end; not "latest", and not beginning with "step:".
bool is_set_name(std::string_view name);

// Sets that cannot be read come first, by name. Those of a series are in the order of their ages (set_order.h), then
// names; the last one is the newest. Series are merged by the time of creation, each keeping its order.
void sort_oldest_first(std::vector<SetInfo>& sets);

struct Retention {
  uint64_t keep_last = 0;
  uint64_t keep_every = 0;
};

// A set that stays for the sake of another one.
struct Needed {
  std::string name;
  std::string by;
  bool operator==(const Needed&) const = default;
};

struct PrunePlan {
  std::vector<std::string> removed;  // oldest first, but every set before its parents
  std::vector<Needed> needed;        // what the policy alone would have removed
};

// Which sets a retention policy removes: all but the newest `keep_last`, those whose step is a multiple of `keep_every`
// (0: none for that reason), `newest_good`, the newest set that was verified, and the parents of all that stay. Sets
// newer than that one are damaged or set aside: they neither count nor go, and neither do sets that cannot be read.
// Older ones that were set aside go as others, but do not count. `others` tells the parents of sets of which `sets`
// does not: those that cannot be read, and those that are being written. Nothing goes if `newest_good` is not among the
// sets. Pure. `sets` as sort_oldest_first() leaves them.
PrunePlan to_prune(std::span<const SetInfo> sets, const Retention& retention, std::string_view newest_good,
                   std::span<const Manifest> others = {});

// Whether `manifest` has the set `name`, made at `created_ns`, as a parent.
bool refers_to(const Manifest& manifest, std::string_view name, int64_t created_ns);

}  // namespace forebay::store

// What a store lies on: the few operations that committing, reading and removing sets are made of (store.cc). A
// directory tree (posix_backend.h) today; a further place for sets, such as an object store, is one more
// implementation, which backend_contract_test.cc tests.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/error.h"

namespace forebay::store {

// Tells one state of something in a store from another, as far as its backend can. One that was never set equals none.
struct Stamp {
  std::array<uint64_t, 4> parts{};
  bool is_set() const { return parts != decltype(parts){}; }
  bool operator==(const Stamp& other) const { return is_set() && parts == other.parts; }
};

inline constexpr uint64_t kMaxManifestBytes = 16 << 20;  // about 90,000 containers

// A manifest's text, and the stamp that it had when it was read.
struct StampedText {
  std::string text;
  Stamp stamp;
};

// The containers of a set that is being written. Those of different names may be written at once, by any threads and
// any processes.
class StagedContainers {
 public:
  virtual ~StagedContainers() = default;

  // By which Store::join() finds the set in any process, as long as it is staged. One path component.
  virtual const std::string& id() const = 0;

  // What messages call the container, or with an empty name the set's place.
  virtual std::string path_of(std::string_view name) const = 0;

  // Begins a container. It counts when it is finished, and is durable then. exists if the name is taken, by an
  // unfinished one, too.
  virtual Result<std::unique_ptr<ByteSink>> create(const std::string& name) = 0;

  // Reads a container that was finished: what is stored, rather than what this machine remembers of having written, as
  // far as the backend can tell them apart.
  virtual Result<std::unique_ptr<ByteSource>> open(const std::string& name) const = 0;

  // Puts in a container of the committed set `set`, durably: as a second name of the same bytes where possible. exists
  // and not_found as expected.
  virtual Result<void> copy_from(const std::string& set, const std::string& name) = 0;

  // Removes a container, finished or not. Fine if it is not there.
  virtual Result<void> remove(const std::string& name) = 0;

  // The names of what lies there, the manifest perhaps among it. Empty if the set is staged no longer.
  virtual Result<std::vector<std::string>> names() const = 0;
};

// A set that is being written, for the process that began it. If it is destroyed before publish() succeeded, or the
// process dies, nothing of it becomes visible, and its remains are removed, now or by the next clean().
class Staging : public StagedContainers {
 public:
  // corrupt or not_found unless the container is there and has so many bytes.
  virtual Result<void> check(const std::string& name, uint64_t bytes) const = 0;

  // Puts the manifest beside the containers, where Backend::announced() finds it, in every process, when this returns.
  virtual Result<void> announce(std::string_view manifest) = 0;

  // Puts the manifest there, in place of one that was announced, and makes the set visible under its name, all of it in
  // one instant. exists if the name was taken meanwhile. After success it survives a power cut; after an error nothing
  // is visible, and it may be called again.
  virtual Result<void> publish(std::string_view manifest) = 0;

  // publish() in the place of the set that has the name: in one instant the one is visible and the other is not, which
  // then is removed as unfinished work is. `is_meant` is asked of the manifest of the set that was there; if it says
  // no, and after an error, all is as before: changed, not_found if there is no such set, unsupported where two names
  // cannot be exchanged.
  virtual Result<void> replace(std::string_view manifest,
                               const std::function<bool(std::string_view manifest)>& is_meant) = 0;
};

// A set that was taken out of sight. If it is destroyed before put_back(), or the process dies, the set is gone for
// good, and its remains are removed, now or by the next clean().
class Withdrawn {
 public:
  virtual ~Withdrawn() = default;
  virtual const std::string& id() const = 0;  // as StagedContainers::id(): its manifest is among the announced ones
  virtual Result<void> put_back() = 0;
  virtual Result<void> purge() = 0;  // removes its remains now, and tells what keeps them
};

// All members are thread-safe, and any number of processes may use one place at once. Names of sets are as
// is_set_name() wants them, and names of containers, too.
class Backend {
 public:
  virtual ~Backend() = default;

  // What messages call the store, and a set.
  virtual const std::string& path() const = 0;
  std::string path_of(std::string_view set) const { return path() + "/sets/" + std::string(set); }

  // The names of the sets that are visible, and of whatever else lies in their place.
  virtual Result<std::vector<std::string>> set_names() const = 0;
  virtual Result<bool> has(const std::string& set) const = 0;

  // Changes whenever a set becomes visible or goes out of sight, except perhaps for changes that follow upon each other
  // closely. Not set if the backend cannot tell.
  virtual Stamp sets_stamp() const = 0;

  // Whether the change that sets_stamp() tells of is so long ago that no further one can go without another stamp.
  virtual bool is_settled(const Stamp& sets_stamp) const = 0;

  // The manifest of a set. limit if it has more than kMaxManifestBytes; not_found if there is no such set; corrupt if
  // it has no manifest, or is no set.
  virtual Result<StampedText> manifest(const std::string& set) const = 0;

  // The stamp that manifest() would give. Not set if it cannot be told: manifest() tells why.
  virtual Stamp manifest_stamp(const std::string& set) const = 0;

  // When the last file of a set but its manifest was written, in nanoseconds since 1970; nothing if that cannot be
  // found out.
  virtual std::optional<int64_t> written_ns(const std::string& set) const = 0;

  // A container of a set. not_found if it is not there; corrupt if it is something else.
  virtual Result<std::unique_ptr<ByteSource>> open(const std::string& set, const std::string& container) const = 0;

  // The names of what lies in a set. Empty if there is something else in its place, or nothing.
  virtual Result<std::vector<std::string>> names_in(const std::string& set) const = 0;

  // Notes durably why the set is set aside, in place of what was noted before; and what was, of at most `most` bytes:
  // not_found if nothing is. The note goes with the set. not_found if there is no such set.
  virtual Result<void> set_aside(const std::string& set, std::string_view note) const = 0;
  virtual Result<std::string> why_set_aside(const std::string& set, uint64_t most) const = 0;
  // Removes the note durably. Fine if there is none; not_found if there is no such set.
  virtual Result<void> take_back(const std::string& set) const = 0;

  // Begins a set. join() finds one that any process has begun: not_found if it is staged no longer, or was never;
  // invalid_argument if that is no id.
  virtual Result<std::unique_ptr<Staging>> stage(const std::string& set) const = 0;
  virtual Result<std::unique_ptr<StagedContainers>> join(const std::string& id) const = 0;

  // The manifests of all sets that are staged, or were withdrawn, with their ids. Those that cannot be read are left
  // out.
  struct Announced {
    std::string id, manifest;
  };
  virtual Result<std::vector<Announced>> announced() const = 0;

  // Takes a set out of sight in one instant. not_found if it is not there.
  virtual Result<std::unique_ptr<Withdrawn>> withdraw(const std::string& set) const = 0;

  // Makes it durable that the sets which are gone from sight are gone, and those that are visible, visible.
  virtual Result<void> sync_sets() const = 0;

  // What the store keeps of its list of sets (listing.h), of at most `most` bytes; and keeping another text, by which
  // readers get the old one or the new one, or after a power cut any part of it. Nobody relies on it: put_listing()
  // does nothing where it cannot.
  virtual Result<std::string> listing(uint64_t most) const = 0;
  virtual void put_listing(std::string_view text) const = 0;

  // Removes what dead processes left.
  virtual void clean() const = 0;
};

}  // namespace forebay::store

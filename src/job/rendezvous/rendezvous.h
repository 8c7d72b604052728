// The rendezvous directory of a job: where its processes find each other, and the secret by which they know each other
// (decision 0019; docs/wire.md, "Rendezvous"). All nodes see it, and only its owner. It works on network file systems:
// files appear whole, by a rename that never replaces, and nothing is locked.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "fabric/credentials.h"
#include "fabric/link.h"

namespace forebay::job {

// A process of the job.
struct Place {
  std::string addresses;  // as fabric::parse_addresses() reads them; empty: of a coordinator that has stepped down
  std::string host;
  std::string node;  // fabric::node_identity()
  uint64_t pid = 0;
  bool encrypts = false;  // of an aggregator: what it sends over TCP
  bool operator==(const Place&) const = default;
};

// The file of a place as text, and back. `text` is hostile: corrupt unless it is what seal_place() makes.
std::string seal_place(const Place& place);
Result<Place> parse_place(std::string_view text, const std::string& path);

struct CoordinatorFile {
  uint64_t generation = 0;
  Result<Place> place;  // or why it cannot be read: its maker may have died before it was written
};

// Thread-safe. Every call may wait as long as the file system does.
class Rendezvous {
 public:
  // Opens the directory, made with mode 0700 if it is not there (its parent must be), and the job's secret, made if
  // there is none. permission if it belongs to another user, or if others can do anything in it.
  // With `encrypt` the job is noted as one that encrypts, from now on; invalid_argument if processes have joined it
  // that do not.
  static Result<Rendezvous> open(std::string path, bool encrypt = false);
  // Opens the one of a job that was started before. not_found if the directory or the secret is not there.
  static Result<Rendezvous> open_existing(std::string path);

  const std::string& path() const { return path_; }
  const fabric::Secret& secret() const { return secret_; }
  bool encrypts() const { return encrypts_; }  // what goes over TCP, as it was noted when this was opened
  // invalid_argument if the job is noted by now as one that encrypts and `encrypts` is false, or the other way round.
  Result<void> check_encryption(bool encrypts) const;

  // What a process of the job shows to others: the job's secret, or with `munge` that instead. invalid_argument if the
  // job encrypts and `munge` or `ucx` is wished, which do without its secret.
  Result<fabric::Credentials> credentials(bool munge, bool ucx = false) const;

  // Tells the runs of a job that have the same directory from each other: agents of one run have the same. It is made
  // once, and anew by whoever begins another run.
  Result<std::string> run() const;
  Result<void> begin_run() const;

  // The coordinator of the highest generation; nothing if there was none so far.
  Result<std::optional<CoordinatorFile>> coordinator() const;

  // Makes the file coordinator.<generation>: false if somebody else has made it already. Afterwards files of earlier
  // generations are removed: they matter to nobody.
  Result<bool> take(uint64_t generation, const Place& place) const;

  // A file for an aggregator, whoever coordinates. A second one from the same host and process replaces the first.
  // Errors as of check_encryption() with encrypts(), and no file then.
  Result<void> join(const Place& place) const;
  void leave(const Place& place) const;
  // What has joined and not left, in no order: processes that were killed may be among them. Unreadable files are left
  // out.
  Result<std::vector<Place>> aggregators() const;

  // At the end of the job: removes all that this class has made, the log of decisions, and the directory if it is empty
  // then.
  void remove() const { remove_from(path_); }
  // The same where the secret may be gone already, as after an end that was interrupted.
  static void remove_from(const std::string& path);
  // Whether something of that name is a file that this class has made, or what a kill left of one.
  static bool is_name(std::string_view name);

 private:
  Rendezvous(std::string path, const fabric::Secret& secret) : path_(std::move(path)), secret_(secret) {}
  Result<void> find_encryption();
  Result<void> note_encryption();

  std::string path_;
  fabric::Secret secret_;
  bool encrypts_ = false;
};

// A connection with the coordinator of the highest generation, through the handshake.
struct Reached {
  uint64_t generation = 0;
  fabric::Link link;
};

// not_found if there is no coordinator; disconnected or timeout if it does not answer within `patience`; the errors of
// reading its file. Who goes on with it looks whether Welcome has the same generation.
Result<Reached> reach_coordinator(const Rendezvous& rendezvous, const fabric::Credentials& credentials,
                                  std::chrono::milliseconds patience);

}  // namespace forebay::job

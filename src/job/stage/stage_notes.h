// What an agent writes down below STAGE/.forebay, so that one that comes after it goes on (docs/wire.md, "Stage").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/wire/messages.h"

namespace forebay::job {

// How a set ended.
struct Outcome {
  wire::SetState state = wire::SetState::durable;  // a final one
  std::string stored_as, message;
  std::string fingerprint;  // of the content (Content::fingerprint) that ended so
  std::optional<int64_t> step;
  uint64_t ordinal = 0;     // the set's place in its series (store/set_order.h); 0: none
  int64_t ended_ns = 0;     // wall clock
  int64_t restored_ns = 0;  // wall clock: when a restart had brought it; 0: the application wrote it
  int64_t written_ns = 0;   // Content::written_ns
};

bool is_final(wire::SetState state);

// As sealed text, and back. corrupt or unsupported as of store::unseal().
std::string encode_outcome(const Outcome& outcome);
Result<Outcome> decode_outcome(std::string_view text, const std::string& path);

// Makes the stage, if it is not there, and in it what an agent needs, for the owner alone. permission if the stage is
// another user's, or others can remove what is in it (base/posix/ownership.h).
Result<void> prepare_stage(const std::string& stage);

// STAGE/SET and the directory of its notes, with the note that forebay_begin() was called for it.
// `policy`: null if it was begun without one. `place`: where its files are to lie instead, which was made for it
// (levels.h); empty: in the stage.
Result<void> note_begin(const std::string& stage, const std::string& set, std::optional<int64_t> step,
                        const wire::SetPolicyT* policy = nullptr, const std::string& place = {});

struct Begin {
  std::optional<int64_t> step;
  std::optional<wire::SetPolicyT> policy;
  std::string place;  // on a cache level; empty: the stage
};
Result<std::optional<Begin>> read_begin(const std::string& stage, const std::string& set);

// Why a set that is about to come, or is there, is not the first choice of a restart: it may not be whole.
Result<void> note_suspicion(const std::string& stage, const std::string& set, const std::string& why);
// Empty if nobody has noted any.
std::string read_suspicion(const std::string& stage, const std::string& set);

Result<void> note_outcome(const std::string& stage, const std::string& set, const Outcome& outcome);

// Nothing if there is none that can be read.
std::optional<Outcome> read_outcome(const std::string& stage, const std::string& set);

// Notes that an agent has seen STAGE/SET come, which was not begun by forebay_begin(); and that it is there no more.
Result<void> note_seen(const std::string& stage, const std::string& set);
void forget_seen(const std::string& stage, const std::string& set);
// Whether the notes say that what lies in STAGE/SET came while Forebay was there: begun, seen, or brought by a restart.
bool is_known(const std::string& stage, const std::string& set);

// The place in its series that a set with this content has (Content::fingerprint), before it has ended.
struct NotedPlace {
  uint64_t ordinal = 0;
  std::string fingerprint;
};
Result<void> note_place(const std::string& stage, const std::string& set, const NotedPlace& place);
std::optional<NotedPlace> read_noted_place(const std::string& stage, const std::string& set);

// Takes the files of a set, its markers and its outcome, or `own_marker` (relative to the stage; empty: none), out of
// sight, in an instant. What comes back is to be removed with empty_bin(), which may take long.
Result<void> discard_files(const std::string& stage, const std::string& set, const std::string& own_marker);
Result<void> discard_notes(const std::string& stage, const std::string& set);
Result<void> empty_bin(const std::string& stage);
// Takes a file or directory of the stage's file system out of sight. Fine if it is not there.
Result<void> put_into_bin(const std::string& stage, const std::string& path);

// Sets a set aside, with its notes, in STAGE/.forebay/quarantine/SET: whatever lies there of that name goes. Fine if
// there is nothing of it.
Result<void> put_into_quarantine(const std::string& stage, const std::string& set, const std::string& reason);
struct Quarantined {
  std::string set, reason;
  int64_t since_ns = 0;  // wall clock: when it was set aside
};
Result<std::vector<Quarantined>> quarantined_sets(const std::string& stage);
// On which cache level its files are; empty: on none.
std::string quarantined_place(const std::string& stage, const std::string& set);
Result<void> discard_quarantined(const std::string& stage, const std::string& set);

// The ranks whose markers are there.
Result<std::vector<uint32_t>> marked_ranks(const std::string& stage, const std::string& set);
void remove_marker(const std::string& stage, const std::string& set, uint32_t rank);

// Whether STAGE/SET is there, wherever its files lie.
Result<bool> has_set(const std::string& stage, const std::string& set);

// All sets with notes.
Result<std::vector<std::string>> noted_sets(const std::string& stage);

}  // namespace forebay::job

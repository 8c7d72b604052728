// How a simulation hands its checkpoints to Forebay, which drains them in the background, and gets them back when it is
// started again. All that Forebay asks of a program is here: by forebay.h in staging.cc, by scr.h in
// ../tiers/staging.cc.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

struct forebay_client;

namespace mini_sim {

// All functions throw std::runtime_error with what Forebay says.
class Staging {
 public:
  // Null if the program does not run under Forebay, which sets $FOREBAY_STAGE.
  static std::unique_ptr<Staging> connect(int rank, int ranks);
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // The path of `file` of the newest checkpoint that is intact; empty if there is none. All ranks call it, and find the
  // same checkpoint.
  std::filesystem::path newest(const std::string& file);

  // The file of newest() was read by all ranks.
  void loaded();

  // Where to write `file` of the checkpoint `set`. When it is closed, call complete() and leave it alone.
  std::filesystem::path begin(const std::string& set, int step, const std::string& file);
  void complete();

  // Waits until the checkpoint is in the store, or was left out for the sake of a newer one. Nobody needs to.
  void wait(const std::string& set);

 private:
  explicit Staging(forebay_client* client) : client_(client) {}

  [[maybe_unused]] forebay_client* client_;  // not by scr.h
};

}  // namespace mini_sim

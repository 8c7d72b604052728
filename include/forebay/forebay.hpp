// RAII over forebay.h, whose head explains jobs, sets and the order of calls, and the exception of all of Forebay's C++
// headers. Header-only, C++14. A rank that goes on where its newest checkpoint set was written:
//
//     #include <fstream>
//     #include <string>
//
//     #include <forebay/forebay.hpp>
//
//     int main() {
//       const int rank = 0, ranks = 1;  // under MPI those of MPI_COMM_WORLD
//       const std::string file = "state.rank" + std::to_string(rank);
//       double state = 0;
//       std::int64_t step = 0;
//       forebay::JobClient job(rank, ranks);
//       if (job.has_job()) {
//         const forebay::JobClient::Restart found = job.restart();
//         if (found.found) {
//           step = found.step;
//           std::ifstream(job.restart_path(file)) >> state;
//         }
//       }
//       while (step < 10) {
//         state += 1.0 / static_cast<double>(++step);
//         if (!job.has_job()) continue;
//         job.begin("dump_" + std::to_string(step), step);
//         std::ofstream(job.path(file)) << state;
//         job.complete();
//       }
//       return 0;
//     }
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "forebay/forebay.h"

namespace forebay {

// A code of forebay.h with the text of forebay_message().
class CallError : public std::runtime_error {
 public:
  CallError(int code, const std::string& text) : std::runtime_error(text), code_(code) {}

  int code() const noexcept { return code_; }

 private:
  int code_;
};

// Throws CallError for what a function of Forebay's C headers has returned, unless that is FOREBAY_OK.
inline void check(int code) {
  if (code != FOREBAY_OK) throw CallError(code, forebay_message());
}

// One rank's connection to the agent of its node, as forebay_client: used by one thread at a time, and by the process
// that made it. Movable; one that was moved from has no job. All functions throw CallError with the codes of the
// function of forebay.h that they call, but for those that they return. Timeouts are milliseconds, < 0 is for ever.
class JobClient {
 public:
  // As forebay_connect(); without a job has_job() is false, and nothing else is to be called.
  JobClient(int rank, int ranks, const char* agent = nullptr) {
    forebay_client* client = nullptr;
    const int code = forebay_connect(agent, rank, ranks, &client);
    client_.reset(client);
    if (code != FOREBAY_NO_JOB) check(code);
  }

  bool has_job() const noexcept { return client_ != nullptr; }

  struct Restart {
    bool found;         // false: the program begins from scratch
    std::string set;    // its name
    std::int64_t step;  // -1: it has none
    int ranks;          // of the set; 0 from restart(), where they are as many as the job's
  };

  // As forebay_restart(): all ranks call it.
  Restart restart(std::int64_t timeout_ms = -1) {
    Restart restart = {false, std::string(kMostName, '\0'), -1, 0};
    return answer(forebay_restart(get(), &restart.set[0], kMostName, &restart.step, timeout_ms), restart);
  }

  // As forebay_restart_any(), for programs that read sets of any number of ranks.
  Restart restart_any(std::int64_t timeout_ms = -1) {
    Restart restart = {false, std::string(kMostName, '\0'), -1, 0};
    return answer(forebay_restart_any(get(), &restart.set[0], kMostName, &restart.step, &restart.ranks, timeout_ms),
                  restart);
  }

  // As forebay_restart_path(), of the set that was found.
  std::string restart_path(const std::string& file) const {
    return path_of([&](char* path, std::size_t size) { return forebay_restart_path(get(), file.c_str(), path, size); });
  }

  // As forebay_begin(), forebay_path() and forebay_complete().
  void begin(const std::string& set, std::int64_t step, std::int64_t timeout_ms = -1) {
    check(forebay_begin(get(), set.c_str(), step, timeout_ms));
  }
  std::string path(const std::string& file) const {
    return path_of([&](char* path, std::size_t size) { return forebay_path(get(), file.c_str(), path, size); });
  }
  // False: there is no agent now, and one that comes will drain the set.
  bool complete() {
    const int code = forebay_complete(get());
    if (code == FOREBAY_NO_AGENT) return false;
    check(code);
    return true;
  }

  // As forebay_wait(). Returns FOREBAY_OK (durable), _TIMEOUT, _SKIPPED, _SET_FAILED or _CACHED; the text of the last
  // four is forebay_message()'s.
  int wait(const std::string& set, std::int64_t timeout_ms = -1) {
    const int code = forebay_wait(get(), set.c_str(), timeout_ms);
    if (code != FOREBAY_TIMEOUT && code != FOREBAY_SKIPPED && code != FOREBAY_SET_FAILED && code != FOREBAY_CACHED)
      check(code);
    return code;
  }

  // Stays this object's; null without a job.
  forebay_client* get() const noexcept { return client_.get(); }

 private:
  static constexpr std::size_t kMostName = 256, kMostPath = 4096 + 1;  // with the final NUL

  static Restart answer(int code, Restart& restart) {
    if (code != FOREBAY_NONE) check(code);
    restart.found = code == FOREBAY_OK;
    restart.set.resize(restart.found ? std::char_traits<char>::length(restart.set.c_str()) : 0);
    return restart;
  }

  template <class Ask>
  static std::string path_of(const Ask& ask) {
    std::string path(kMostPath, '\0');
    check(ask(&path[0], path.size()));
    path.resize(std::char_traits<char>::length(path.c_str()));
    return path;
  }

  struct Disconnect {
    void operator()(forebay_client* client) const noexcept { forebay_disconnect(client); }
  };
  std::unique_ptr<forebay_client, Disconnect> client_;
};

}  // namespace forebay

// The ranks of an MPI job, as a module of its own: linking MPI into the command would cost every start of it more than
// listing a store takes (docs/decisions/0009-mpi-is-a-module.md). make_team() loads it under an MPI launcher.
#include <algorithm>
#include <string>
#include <vector>

#include <mpi.h>

#include "engine/pack/team.h"

namespace forebay::engine {
namespace {

// MPI's own error handler ends the job with a message: there is nobody left to report a broken communicator to.
class MpiTeam final : public Team {
 public:
  MpiTeam() {
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiTeam() override { MPI_Finalize(); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::string broadcast(std::string text) override {
    unsigned long length = text.size();
    MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    text.resize(length);
    constexpr unsigned long kMost = 1ul << 30;  // MPI counts with int
    for (unsigned long at = 0; at < length; at += kMost)
      MPI_Bcast(text.data() + at, static_cast<int>(std::min(kMost, length - at)), MPI_CHAR, 0, MPI_COMM_WORLD);
    return text;
  }

  std::vector<std::string> gather(const std::string& text) override {
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(rank_ == 0 ? size_ : 0), offsets(lengths.size());
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    int total = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      offsets[i] = total;
      total += lengths[i];
    }
    std::string all(static_cast<size_t>(total), '\0');
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (size_t i = 0; i < lengths.size(); ++i)
      texts.push_back(all.substr(static_cast<size_t>(offsets[i]), static_cast<size_t>(lengths[i])));
    return texts;
  }

 private:
  int rank_ = 0, size_ = 1;
};

}  // namespace
}  // namespace forebay::engine

// The caller owns the team, and deletes it before the process ends.
extern "C" __attribute__((visibility("default"))) forebay::engine::Team* forebay_make_mpi_team() {
  return new forebay::engine::MpiTeam();
}

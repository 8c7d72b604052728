#include "scr/mpi/ranks.h"

#include <algorithm>
#include <numeric>

#include <mpi.h>

#include "base/mpi/error_text.h"

namespace forebay::scr {
namespace {

constexpr int kMostBytes = 1 << 30;  // MPI counts with int

Result<void> checked(int code, const char* call) {
  return code == MPI_SUCCESS ? Result<void>() : fail(ErrorKind::disconnected, mpi_error_text(code, call));
}

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiRanks() override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (!is_over) MPI_Comm_free(&comm_);
  }

  uint32_t rank() const override { return static_cast<uint32_t>(rank_); }
  uint32_t size() const override { return static_cast<uint32_t>(size_); }

  Result<std::string> of_first(const std::string& text) override {
    uint64_t length = text.size();
    FOREBAY_CHECK(checked(MPI_Bcast(&length, 1, MPI_UINT64_T, 0, comm_), "MPI_Bcast"));
    std::string all = rank_ == 0 ? text : std::string(length, '\0');
    for (uint64_t at = 0; at < length; at += kMostBytes) {
      const int count = static_cast<int>(std::min<uint64_t>(kMostBytes, length - at));
      FOREBAY_CHECK(checked(MPI_Bcast(all.data() + at, count, MPI_BYTE, 0, comm_), "MPI_Bcast"));
    }
    return all;
  }

  Result<std::vector<std::string>> to_first(const std::string& text) override {
    FOREBAY_TRY(const auto lengths, of_all(text.size()));
    const uint64_t total = std::accumulate(lengths.begin(), lengths.end(), uint64_t{0});
    if (total > static_cast<uint64_t>(kMostBytes))
      return fail(ErrorKind::limit, "the ranks have too many files to tell of at once");
    std::vector<int> counts(lengths.begin(), lengths.end()), offsets(lengths.size(), 0);
    for (size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
    std::string together(rank_ == 0 ? total : 0, '\0');
    FOREBAY_CHECK(checked(MPI_Gatherv(const_cast<char*>(text.data()), static_cast<int>(text.size()), MPI_BYTE,
                                      together.data(), counts.data(), offsets.data(), MPI_BYTE, 0, comm_),
                          "MPI_Gatherv"));
    std::vector<std::string> texts;
    if (rank_ != 0) return texts;
    for (size_t i = 0; i < counts.size(); ++i)
      texts.push_back(together.substr(static_cast<size_t>(offsets[i]), static_cast<size_t>(counts[i])));
    return texts;
  }

  Result<std::vector<uint64_t>> of_all(uint64_t number) override {
    std::vector<uint64_t> numbers(size());
    FOREBAY_CHECK(
        checked(MPI_Allgather(&number, 1, MPI_UINT64_T, numbers.data(), 1, MPI_UINT64_T, comm_), "MPI_Allgather"));
    return numbers;
  }

  Result<bool> all(bool mine) override {
    int value = mine ? 1 : 0, least = 0;
    FOREBAY_CHECK(checked(MPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, comm_), "MPI_Allreduce"));
    return least == 1;
  }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

Result<std::unique_ptr<Ranks>> Ranks::world() {
  int is_ready = 0, is_over = 0;
  MPI_Initialized(&is_ready);
  MPI_Finalized(&is_over);
  if (!is_ready || is_over)
    return fail(ErrorKind::invalid_argument, "MPI is not initialised", {}, {}, "call MPI_Init() before SCR_Init()");
  MPI_Comm own = MPI_COMM_NULL;
  FOREBAY_CHECK(checked(MPI_Comm_dup(MPI_COMM_WORLD, &own), "MPI_Comm_dup"));
  return std::make_unique<MpiRanks>(own);
}

}  // namespace forebay::scr

#include "adios/mpi/communicator.h"

#ifndef _NOMPI
#include <algorithm>
#include <string>
#include <utility>
#endif

namespace forebay::adios {

#ifdef _NOMPI

Result<std::unique_ptr<io::Communicator>> wrap(MPI_Comm) { return io::single_process(); }

bool is_alone(MPI_Comm comm) { return comm != MPI_COMM_WORLD; }

#else

namespace {

constexpr int kTag = 1;
constexpr uint64_t kPiece = uint64_t{1} << 30;  // MPI counts with int

Result<void> checked(int code, const char* call) {
  if (code == MPI_SUCCESS) return {};
  char words[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  return fail(ErrorKind::disconnected, std::string(call) + ": " + words);
}

// Calls `transfer(bytes, count)` for the pieces of `bytes`.
template <class Byte, class Transfer>
Result<void> in_pieces(std::span<Byte> bytes, const Transfer& transfer) {
  for (uint64_t at = 0; at < bytes.size(); at += kPiece) {
    const auto piece = bytes.subspan(at, std::min<uint64_t>(kPiece, bytes.size() - at));
    FOREBAY_CHECK(transfer(piece.data(), static_cast<int>(piece.size())));
  }
  return {};
}

class MpiRanks final : public io::Communicator {
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

  Result<void> send(std::span<const std::byte> message, uint32_t to) override {
    uint64_t length = message.size();
    const int other = static_cast<int>(to);
    FOREBAY_CHECK(checked(MPI_Send(&length, 1, MPI_UINT64_T, other, kTag, comm_), "MPI_Send"));
    return in_pieces(message, [&](const std::byte* data, int count) {
      return checked(MPI_Send(const_cast<std::byte*>(data), count, MPI_BYTE, other, kTag, comm_), "MPI_Send");
    });
  }

  Result<Bytes> receive(uint32_t from) override {
    uint64_t length = 0;
    const int other = static_cast<int>(from);
    FOREBAY_CHECK(checked(MPI_Recv(&length, 1, MPI_UINT64_T, other, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv"));
    Bytes message(length);
    FOREBAY_CHECK(in_pieces(std::span(message), [&](std::byte* data, int count) {
      return checked(MPI_Recv(data, count, MPI_BYTE, other, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    }));
    return message;
  }

  Result<void> broadcast(Bytes& bytes, uint32_t root) override {
    uint64_t length = bytes.size();
    const int from = static_cast<int>(root);
    FOREBAY_CHECK(checked(MPI_Bcast(&length, 1, MPI_UINT64_T, from, comm_), "MPI_Bcast"));
    bytes.resize(length);
    return in_pieces(std::span(bytes), [&](std::byte* data, int count) {
      return checked(MPI_Bcast(data, count, MPI_BYTE, from, comm_), "MPI_Bcast");
    });
  }

  // The lengths come together; the bytes do if they are few, and else one rank after the other.
  Result<std::vector<Bytes>> gather(std::span<const std::byte> mine, uint32_t root) override {
    uint64_t length = mine.size();
    const bool is_root = rank() == root;
    std::vector<uint64_t> lengths(is_root ? size() : 1);
    const int to = static_cast<int>(root);
    FOREBAY_CHECK(
        checked(MPI_Gather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, to, comm_), "MPI_Gather"));
    std::vector<Bytes> all(is_root ? size() : 0);
    if (!is_root) {
      FOREBAY_CHECK(in_pieces(mine, [&](const std::byte* data, int count) {
        return checked(MPI_Send(const_cast<std::byte*>(data), count, MPI_BYTE, to, kTag, comm_), "MPI_Send");
      }));
      return all;
    }
    for (uint32_t from = 0; from < size(); ++from) {
      if (from == root) {
        all[from].assign(mine.begin(), mine.end());
        continue;
      }
      all[from].resize(lengths[from]);
      FOREBAY_CHECK(in_pieces(std::span(all[from]), [&](std::byte* data, int count) {
        return checked(MPI_Recv(data, count, MPI_BYTE, static_cast<int>(from), kTag, comm_, MPI_STATUS_IGNORE),
                       "MPI_Recv");
      }));
    }
    return all;
  }

  Result<uint64_t> exclusive_scan(uint64_t mine) override {
    uint64_t before = 0;
    FOREBAY_CHECK(checked(MPI_Exscan(&mine, &before, 1, MPI_UINT64_T, MPI_SUM, comm_), "MPI_Exscan"));
    return rank_ == 0 ? 0 : before;  // what rank 0 gets is undefined
  }

  Result<uint64_t> all_reduce(uint64_t mine, io::Reduction reduction) override {
    const MPI_Op op = reduction == io::Reduction::min ? MPI_MIN : reduction == io::Reduction::max ? MPI_MAX : MPI_SUM;
    uint64_t value = 0;
    FOREBAY_CHECK(checked(MPI_Allreduce(&mine, &value, 1, MPI_UINT64_T, op, comm_), "MPI_Allreduce"));
    return value;
  }

  Result<void> barrier() override { return checked(MPI_Barrier(comm_), "MPI_Barrier"); }

  Result<std::unique_ptr<io::Communicator>> split(uint32_t colour, uint32_t key) override {
    MPI_Comm part = MPI_COMM_NULL;
    const int code = MPI_Comm_split(comm_, static_cast<int>(colour), static_cast<int>(key), &part);
    FOREBAY_CHECK(checked(code, "MPI_Comm_split"));
    return std::make_unique<MpiRanks>(part);
  }

  Result<std::unique_ptr<io::Communicator>> duplicate() override { return wrap(comm_); }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

bool is_alone(MPI_Comm comm) { return comm == MPI_COMM_SELF || comm == MPI_COMM_NULL; }

Result<std::unique_ptr<io::Communicator>> wrap(MPI_Comm comm) {
  if (is_alone(comm)) return io::single_process();
  int is_ready = 0;
  MPI_Initialized(&is_ready);
  if (!is_ready) return fail(ErrorKind::invalid_argument, "MPI is not initialised", {}, {}, "call MPI_Init() before");
  MPI_Comm own = MPI_COMM_NULL;
  FOREBAY_CHECK(checked(MPI_Comm_dup(comm, &own), "MPI_Comm_dup"));
  return std::make_unique<MpiRanks>(own);
}

#endif

}  // namespace forebay::adios

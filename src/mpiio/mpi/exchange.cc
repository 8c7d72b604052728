#include "mpiio/mpi/exchange.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "mpiio/memory_stream.h"
#include "mpiio/mpi/checked.h"
#include "mpiio/mpi/shared_lease.h"
#include "mpiio/two_phase.h"
#include "mpiio/window.h"

namespace forebay::lock::mpiio {
namespace {

constexpr int kListTag = 1, kDataTag = 2;

// All windows of a round together have at most about this size, so that no rank needs more memory than that.
constexpr uint64_t kRoundBytes = 64u << 20, kLeastWindow = 256u << 10, kMostWindow = 4u << 20;

uint64_t window_bytes(int aggregators) {
  return std::clamp(kRoundBytes / static_cast<uint64_t>(aggregators), kLeastWindow, kMostWindow);
}

// What goes from one rank to one aggregator in a round, or back.
struct Share {
  Extent data;  // of this rank's access
  std::vector<Segment> pieces;
  Bytes bytes;
  uint64_t size() const { return data.end - data.first; }
};

// The collective access of one rank, as rank and, if it is one, as aggregator.
class Exchange {
 public:
  Exchange(const CollectiveAccess& access, Extent range)
      : access_(access),
        lease_(access),
        memory_(access.memory),
        rounds_(range, access.aggregators, window_bytes(access.aggregators)) {}

  // Locks for all ranks and finds out where this one is.
  Result<void> begin(Extent range, Access access) {
    FOREBAY_TRY(ranks_, size_of(access_.comm));
    FOREBAY_TRY(rank_, rank_in(access_.comm));
    for (int a = 0; a < access_.aggregators; ++a)
      if (rank_of_aggregator(a, access_.aggregators, ranks_) == rank_) own_ = a;
    return lease_.take(range, access);
  }

  Result<uint64_t> write() {
    const Extent wanted{access_.data_begin, access_.data_begin + access_.memory.size()};
    for (uint64_t round = 0; round < rounds_.count(); ++round) {
      FOREBAY_CHECK(start_round(round, wanted));
      for (Share& share : shares_) {
        share.bytes.resize(share.size());
        memory_.copy_to(share.bytes.data(), share.size());  // shares follow upon each other in the data
      }
      Requests requests;
      FOREBAY_CHECK(send_lists(requests));
      for (int a = 0; a < access_.aggregators; ++a)
        if (!shares_[a].pieces.empty()) FOREBAY_CHECK(send(shares_[a].bytes, place(a), kDataTag, requests));
      FOREBAY_CHECK(collect_and_write(round));
      FOREBAY_CHECK(requests.wait());
    }
    FOREBAY_CHECK(finish());
    return wanted.end - wanted.first;
  }

  Result<uint64_t> read() {
    const Extent wanted{access_.data_begin, std::clamp(data_bytes_before(access_.view, lease_.file_size()),
                                                       access_.data_begin, access_.data_begin + access_.memory.size())};
    for (uint64_t round = 0; round < rounds_.count(); ++round) {
      FOREBAY_CHECK(start_round(round, wanted));
      Requests requests;
      FOREBAY_CHECK(send_lists(requests));
      for (int a = 0; a < access_.aggregators; ++a) {
        Share& share = shares_[a];
        share.bytes.resize(share.size());
        if (!share.pieces.empty()) FOREBAY_CHECK(receive_later(share.bytes, place(a), requests));
      }
      FOREBAY_CHECK(read_and_deal_out(round));
      FOREBAY_CHECK(requests.wait());
      for (const Share& share : shares_) memory_.copy_from(share.bytes.data(), share.size());
    }
    FOREBAY_CHECK(finish());
    return wanted.end - wanted.first;
  }

 private:
  class Requests {
   public:
    MPI_Request* next() { return &list_.emplace_back(MPI_REQUEST_NULL); }
    Result<void> wait() {
      return checked(PMPI_Waitall(static_cast<int>(list_.size()), list_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    }

   private:
    std::vector<MPI_Request> list_;
  };

  int place(int aggregator) const { return rank_of_aggregator(aggregator, access_.aggregators, ranks_); }

  // Tells every aggregator how many pieces it will get, and renews the lease while all are here.
  Result<void> start_round(uint64_t round, Extent wanted) {
    const auto entered = Clock::now();
    shares_.assign(static_cast<size_t>(access_.aggregators), {});
    std::vector<int64_t> sent(static_cast<size_t>(ranks_)), coming(sent.size());
    for (int a = 0; a < access_.aggregators; ++a) {
      const Extent window = rounds_.window(a, round);
      if (window == Extent{}) continue;
      Share& share = shares_[a];
      share.data = data_within(access_.view, wanted, window);
      Cursor cursor(access_.view.filetype, access_.view.displacement, share.data.first, share.data.end);
      for (Segment piece; cursor.next(piece);) share.pieces.push_back(piece);
      sent[place(a)] = static_cast<int64_t>(share.pieces.size());
    }
    FOREBAY_CHECK(checked(PMPI_Alltoall(sent.data(), 1, MPI_INT64_T, coming.data(), 1, MPI_INT64_T, access_.comm),
                          "MPI_Alltoall"));
    coming_ = std::move(coming);
    return lease_.renew(entered);
  }

  Result<void> send(std::span<const std::byte> bytes, int rank, int tag, Requests& requests) {
    return checked(
        PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, access_.comm, requests.next()),
        "MPI_Isend");
  }

  Result<void> receive(std::span<std::byte> bytes, int rank, int tag) {
    return checked(
        PMPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, access_.comm, MPI_STATUS_IGNORE),
        "MPI_Recv");
  }

  Result<void> receive_later(std::span<std::byte> bytes, int rank, Requests& requests) {
    return checked(PMPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, kDataTag, access_.comm,
                              requests.next()),
                   "MPI_Irecv");
  }

  Result<void> send_lists(Requests& requests) {
    for (int a = 0; a < access_.aggregators; ++a)
      if (!shares_[a].pieces.empty())
        FOREBAY_CHECK(send(std::as_bytes(std::span(shares_[a].pieces)), place(a), kListTag, requests));
    return {};
  }

  Result<std::vector<Segment>> receive_list(int rank) {
    std::vector<Segment> pieces(static_cast<size_t>(coming_[rank]));
    FOREBAY_CHECK(receive(std::as_writable_bytes(std::span(pieces)), rank, kListTag));
    return pieces;
  }

  // As an aggregator. An error of the file is kept for finish(): the other ranks rely on this one's messages.
  Result<void> collect_and_write(uint64_t round) {
    if (own_ < 0) return {};
    Window window(rounds_.window(own_, round));
    Bytes bytes;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (coming_[rank] == 0) continue;
      FOREBAY_TRY(const auto pieces, receive_list(rank));
      bytes.resize(total_length(pieces));
      FOREBAY_CHECK(receive(bytes, rank, kDataTag));
      keep_error(window.put(pieces, bytes));
    }
    keep_error(window.write(access_.fd, [this] { return lease_.before_call(); }));
    return {};
  }

  Result<void> read_and_deal_out(uint64_t round) {
    if (own_ < 0) return {};
    Window window(rounds_.window(own_, round));
    std::vector<std::vector<Segment>> lists(static_cast<size_t>(ranks_));
    for (int rank = 0; rank < ranks_; ++rank) {
      if (coming_[rank] == 0) continue;
      FOREBAY_TRY(lists[rank], receive_list(rank));
      keep_error(window.expect(lists[rank]));
    }
    keep_error(window.read(access_.fd, [this] { return lease_.before_call(); }));
    for (int rank = 0; rank < ranks_; ++rank) {
      if (lists[rank].empty()) continue;
      const Bytes bytes = window.get(lists[rank]);
      FOREBAY_CHECK(checked(
          PMPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, kDataTag, access_.comm), "MPI_Send"));
    }
    return {};
  }

  void keep_error(Result<void> result) {
    if (!result && !error_) error_ = std::move(result).error();
  }

  // All ranks have stopped after this; then the lock goes back, and every rank knows whether all is well.
  Result<void> finish() {
    int failed = error_ ? 1 : 0;
    FOREBAY_CHECK(checked(PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, access_.comm), "MPI_Allreduce"));
    keep_error(lease_.give_back());
    if (error_) return std::unexpected(*error_);
    if (failed) return fail(ErrorKind::io, "another rank of the collective access failed", access_.lock_name);
    return {};
  }

  const CollectiveAccess& access_;
  SharedLease lease_;
  MemoryStream memory_;
  Rounds rounds_;
  int ranks_ = 1, rank_ = 0, own_ = -1;  // own_: this rank's number as an aggregator
  std::vector<Share> shares_;            // by aggregator, of this round
  std::vector<int64_t> coming_;          // pieces by rank, to this aggregator in this round
  std::optional<Error> error_;
};

}  // namespace

Result<std::optional<Extent>> agree_on_two_phases(const CollectiveAccess& access, bool possible) {
  Demand own;
  if (possible) own = demand_of(access.view, access.data_begin, access.data_begin + access.memory.size());
  uint64_t least[] = {own.first, ~own.end, own.ordered && possible};
  uint64_t sums[] = {own.bytes, own.pieces, own.span};
  FOREBAY_CHECK(checked(PMPI_Allreduce(MPI_IN_PLACE, least, 3, MPI_UINT64_T, MPI_MIN, access.comm), "MPI_Allreduce"));
  FOREBAY_CHECK(checked(PMPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_UINT64_T, MPI_SUM, access.comm), "MPI_Allreduce"));
  const Demand all{.first = least[0],
                   .end = ~least[1],
                   .bytes = sums[0],
                   .pieces = sums[1],
                   .span = sums[2],
                   .ordered = least[2] != 0};
  if (!exchange_pays(all)) return std::optional<Extent>();
  return std::optional(Extent{all.first, all.end});
}

Result<uint64_t> write_in_two_phases(const CollectiveAccess& access, Extent range) {
  Exchange exchange(access, range);
  FOREBAY_CHECK(exchange.begin(range, Access::exclusive));
  return exchange.write();
}

Result<uint64_t> read_in_two_phases(const CollectiveAccess& access, Extent range) {
  Exchange exchange(access, range);
  FOREBAY_CHECK(exchange.begin(range, Access::shared));
  return exchange.read();
}

}  // namespace forebay::lock::mpiio

#include "adios/mpi/communicator.h"

#ifndef _NOMPI
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sched.h>

#include "base/mpi/error_text.h"
#endif

namespace forebay::adios {

#ifdef _NOMPI

Result<std::unique_ptr<io::Communicator>> wrap(MPI_Comm) { return io::single_process(); }
Result<Wrapped> wrap(MPI_Comm, uint64_t) { return Wrapped{io::single_process(), {}}; }

bool is_alone(MPI_Comm comm) { return comm != MPI_COMM_WORLD; }

#else

namespace {

constexpr int kTag = 1;
constexpr uint64_t kPiece = uint64_t{1} << 30;  // MPI counts with int
constexpr uint64_t kFew = uint64_t{4} << 10;    // MPI sends so much before somebody asks for it

Result<void> checked(int code, const char* call) {
  return code == MPI_SUCCESS ? Result<void>() : fail(ErrorKind::disconnected, mpi_error_text(code, call));
}

// A rank that waits long leaves its processor to those that it waits for, or to the program's other threads: MPI itself
// polls without a pause. It wakes up late by a part of the time that it has waited, and by a millisecond at most.
class Patience {
 public:
  void pause() {
    using namespace std::chrono;
    const auto waited = steady_clock::now() - start_;
    if (waited < milliseconds(10))
      sched_yield();
    else
      std::this_thread::sleep_for(std::min<steady_clock::duration>(waited / 32, milliseconds(1)));
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Waits for `request`, which a call began that returned `code`.
Result<void> finish(int code, MPI_Request& request, const char* call) {
  FOREBAY_CHECK(checked(code, call));
  Patience patience;
  for (int is_done = 0;; patience.pause()) {
    FOREBAY_CHECK(checked(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), call));
    if (is_done) return {};
  }
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

// MPI may write into what a scan is made of for as long as it is not done.
class MpiScan final : public io::PendingScan {
 public:
  static Result<std::unique_ptr<io::PendingScan>> begin(MPI_Comm comm, uint64_t mine, bool is_first) {
    std::unique_ptr<MpiScan> scan(new MpiScan);
    scan->numbers_->mine = mine;
    const int code =
        MPI_Iexscan(&scan->numbers_->mine, &scan->numbers_->before, 1, MPI_UINT64_T, MPI_SUM, comm, &scan->request_);
    FOREBAY_CHECK(checked(code, "MPI_Iexscan"));
    scan->is_first_ = is_first;
    return scan;
  }
  ~MpiScan() override {
    if (!is_done_) (void)numbers_.release();
  }

  Result<std::optional<uint64_t>> wait_for(std::chrono::microseconds patience) override {
    FOREBAY_CHECK(wait_until(std::chrono::steady_clock::now() + patience));
    if (!is_done_) return std::nullopt;
    return before();
  }

  Result<uint64_t> wait() override {
    FOREBAY_CHECK(wait_until(std::chrono::steady_clock::time_point::max()));
    return before();
  }

 private:
  struct Numbers {
    uint64_t mine = 0, before = 0;
  };
  MpiScan() = default;
  uint64_t before() const { return is_first_ ? 0 : numbers_->before; }  // what the first gets is undefined

  Result<void> wait_until(std::chrono::steady_clock::time_point end) {
    Patience patience;
    while (!is_done_) {
      int is_done = 0;
      FOREBAY_CHECK(checked(MPI_Test(&request_, &is_done, MPI_STATUS_IGNORE), "MPI_Iexscan"));
      is_done_ = is_done != 0;
      if (is_done_ || std::chrono::steady_clock::now() >= end) break;
      patience.pause();
    }
    return {};
  }

  std::unique_ptr<Numbers> numbers_ = std::make_unique<Numbers>();
  MPI_Request request_ = MPI_REQUEST_NULL;
  bool is_done_ = false, is_first_ = false;
};

// Duplicates of a program's communicator that files were opened on, to be used again: making one costs several rounds
// of messages. There are some from the second open on, since each takes one of the few numbers that MPI has for
// communicators. They live until the program frees its own and no file is open on them.
class Duplicates {
 public:
  // Those of `comm`, which they are attached to.
  static Result<std::shared_ptr<Duplicates>> of(MPI_Comm comm) {
    static const int key = [] {
      int made = MPI_KEYVAL_INVALID;
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr);
      return made;
    }();
    std::shared_ptr<Duplicates>* attached = nullptr;
    int is_there = 0;
    FOREBAY_CHECK(checked(MPI_Comm_get_attr(comm, key, static_cast<void*>(&attached), &is_there), "MPI_Comm_get_attr"));
    if (is_there) return *attached;
    auto owner = std::make_unique<std::shared_ptr<Duplicates>>(std::make_shared<Duplicates>());
    FOREBAY_CHECK(checked(MPI_Comm_set_attr(comm, key, owner.get()), "MPI_Comm_set_attr"));
    return *owner.release();  // forget() has it
  }

  Duplicates() = default;
  ~Duplicates() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over) return;
    for (Part& part : parts_) MPI_Comm_free(&part.comm);
    for (MPI_Comm& duplicate : made_) MPI_Comm_free(&duplicate);
    if (control_ != MPI_COMM_NULL) MPI_Comm_free(&control_);
  }
  Duplicates(const Duplicates&) = delete;
  Duplicates& operator=(const Duplicates&) = delete;

  // Collective over `comm`. The first one that no rank has a file open on, which ranks ask each other since each may
  // close files in an order of its own; or a new one. In the same round the numbers of all ranks are added up.
  struct Taken {
    MPI_Comm comm;
    std::optional<uint64_t> sum;
  };
  Result<Taken> take(MPI_Comm comm, uint64_t number) {
    if (opens_++ == 0) {
      FOREBAY_TRY(const MPI_Comm only, duplicate(comm));
      return Taken{only, {}};
    }
    if (control_ == MPI_COMM_NULL) {
      FOREBAY_TRY(control_, duplicate(comm));
    }
    uint64_t mine = 0, all = 0;
    {
      const std::lock_guard lock(mutex_);
      mine = idle_;
    }
    uint64_t sum = 0;
    MPI_Request request, second;
    const int adds = MPI_Iallreduce(&number, &sum, 1, MPI_UINT64_T, MPI_SUM, control_, &second);
    const int asks = MPI_Iallreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BAND, control_, &request);
    FOREBAY_CHECK(finish(asks, request, "MPI_Iallreduce"));
    FOREBAY_CHECK(finish(adds, second, "MPI_Iallreduce"));
    if (all != 0) {
      const std::lock_guard lock(mutex_);
      const int place = std::countr_zero(all);
      idle_ &= ~(uint64_t{1} << place);
      return Taken{made_[static_cast<size_t>(place)], sum};
    }
    FOREBAY_TRY(const MPI_Comm fresh, duplicate(control_));
    const std::lock_guard lock(mutex_);
    if (made_.size() < 64) made_.push_back(fresh);
    return Taken{fresh, sum};
  }

  // Collective over `parent`, which is one of the duplicates: as MPI_Comm_split(), the split number `nth` of this file.
  // What an earlier file was split into is used again if all ranks want the same.
  Result<MPI_Comm> part(MPI_Comm parent, uint32_t nth, uint32_t colour, uint32_t key) {
    const auto is_it = [&](const Part& part) { return part.parent == parent && part.nth == nth; };
    Part before;
    {
      const std::lock_guard lock(mutex_);
      const auto known = std::ranges::find_if(parts_, is_it);
      if (known != parts_.end()) before = *known;
    }
    const uint64_t is_same = before.comm != MPI_COMM_NULL && before.colour == colour && before.key == key;
    uint64_t are_same = 0;
    MPI_Request request;
    const int code = MPI_Iallreduce(&is_same, &are_same, 1, MPI_UINT64_T, MPI_MIN, parent, &request);
    FOREBAY_CHECK(finish(code, request, "MPI_Iallreduce"));
    if (are_same != 0) return before.comm;
    if (before.comm != MPI_COMM_NULL) MPI_Comm_free(&before.comm);  // at all ranks: all have split before, or none
    Part part{.parent = parent, .nth = nth, .colour = colour, .key = key};
    const int split = MPI_Comm_split(parent, static_cast<int>(colour), static_cast<int>(key), &part.comm);
    const std::lock_guard lock(mutex_);
    std::erase_if(parts_, is_it);
    FOREBAY_CHECK(checked(split, "MPI_Comm_split"));
    parts_.push_back(part);
    return part.comm;
  }

  bool has(MPI_Comm comm) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(made_, comm) != made_.end();
  }

  void give_back(MPI_Comm comm) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(parts_, comm, &Part::comm) != parts_.end()) return;
    const auto known = std::ranges::find(made_, comm);
    if (known == made_.end())
      MPI_Comm_free(&comm);
    else
      idle_ |= uint64_t{1} << (known - made_.begin());
  }

 private:
  // Of the ranks of a file, for as long as that is open.
  struct Part {
    MPI_Comm parent = MPI_COMM_NULL;
    uint32_t nth = 0, colour = 0, key = 0;
    MPI_Comm comm = MPI_COMM_NULL;
  };

  static Result<MPI_Comm> duplicate(MPI_Comm comm) {
    MPI_Comm made = MPI_COMM_NULL;
    FOREBAY_CHECK(checked(MPI_Comm_dup(comm, &made), "MPI_Comm_dup"));
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
  }

  static int forget(MPI_Comm, int, void* attached, void*) {
    delete static_cast<std::shared_ptr<Duplicates>*>(attached);
    return MPI_SUCCESS;
  }

  std::atomic<uint64_t> opens_ = 0;
  MPI_Comm control_ = MPI_COMM_NULL;
  std::mutex mutex_;            // guards what follows
  std::vector<MPI_Comm> made_;  // in the same order at all ranks
  uint64_t idle_ = 0;           // a bit for each of them
  std::vector<Part> parts_;
};

class MpiRanks final : public io::Communicator {
 public:
  // `duplicates`: whoever gets the communicator back; without, it is freed.
  explicit MpiRanks(MPI_Comm comm, std::shared_ptr<Duplicates> duplicates = nullptr)
      : comm_(comm), duplicates_(std::move(duplicates)) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
  }
  ~MpiRanks() override {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over) return;
    if (duplicates_)
      duplicates_->give_back(comm_);
    else
      MPI_Comm_free(&comm_);
  }

  uint32_t rank() const override { return static_cast<uint32_t>(rank_); }
  uint32_t size() const override { return static_cast<uint32_t>(size_); }

  // The length is waited for with patience. Whoever got it is there: the bytes pass without a pause. Few bytes are sent
  // whether or not he is there.
  Result<void> send(std::span<const std::byte> message, uint32_t to) override {
    uint64_t length = message.size();
    const int other = static_cast<int>(to);
    MPI_Request request;
    const auto begin = length > kFew ? MPI_Issend : MPI_Isend;
    FOREBAY_CHECK(finish(begin(&length, 1, MPI_UINT64_T, other, kTag, comm_, &request), request, "MPI_Isend"));
    return in_pieces(message, [&](const std::byte* data, int count) {
      return checked(MPI_Send(const_cast<std::byte*>(data), count, MPI_BYTE, other, kTag, comm_), "MPI_Send");
    });
  }

  Result<Bytes> receive(uint32_t from) override {
    uint64_t length = 0;
    const int other = static_cast<int>(from);
    MPI_Request request;
    const int code = MPI_Irecv(&length, 1, MPI_UINT64_T, other, kTag, comm_, &request);
    FOREBAY_CHECK(finish(code, request, "MPI_Irecv"));
    Bytes message(length);
    FOREBAY_CHECK(in_pieces(std::span(message), [&](std::byte* data, int count) {
      return checked(MPI_Recv(data, count, MPI_BYTE, other, kTag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
    }));
    return message;
  }

  Result<void> broadcast(Bytes& bytes, uint32_t root) override {
    // A short message goes with its length.
    struct {
      uint64_t length = 0;
      std::array<std::byte, 504> bytes{};
    } start;
    const int from = static_cast<int>(root);
    if (rank() == root) {
      start.length = bytes.size();
      std::copy_n(bytes.begin(), std::min(bytes.size(), start.bytes.size()), start.bytes.begin());
    }
    MPI_Request request;
    FOREBAY_CHECK(finish(MPI_Ibcast(&start, sizeof start, MPI_BYTE, from, comm_, &request), request, "MPI_Ibcast"));
    bytes.resize(start.length);
    const uint64_t short_bytes = std::min(bytes.size(), start.bytes.size());
    std::copy_n(start.bytes.begin(), short_bytes, bytes.begin());
    return in_pieces(std::span(bytes).subspan(short_bytes), [&](std::byte* data, int count) {
      return checked(MPI_Bcast(data, count, MPI_BYTE, from, comm_), "MPI_Bcast");
    });
  }

  // The lengths come together; the bytes do if they are few, and else one rank after the other.
  Result<std::vector<Bytes>> gather(std::span<const std::byte> mine, uint32_t root) override {
    uint64_t length = mine.size();
    const bool is_root = rank() == root;
    std::vector<uint64_t> lengths(is_root ? size() : 1);
    const int to = static_cast<int>(root);
    MPI_Request request;
    const int code = MPI_Igather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, to, comm_, &request);
    FOREBAY_CHECK(finish(code, request, "MPI_Igather"));
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
    FOREBAY_TRY(const auto scan, begin_exclusive_scan(mine));
    return scan->wait();
  }

  Result<std::unique_ptr<io::PendingScan>> begin_exclusive_scan(uint64_t mine) override {
    return MpiScan::begin(comm_, mine, rank_ == 0);
  }

  Result<uint64_t> all_reduce(uint64_t mine, io::Reduction reduction) override {
    const MPI_Op op = reduction == io::Reduction::min ? MPI_MIN : reduction == io::Reduction::max ? MPI_MAX : MPI_SUM;
    uint64_t value = 0;
    MPI_Request request;
    const int code = MPI_Iallreduce(&mine, &value, 1, MPI_UINT64_T, op, comm_, &request);
    FOREBAY_CHECK(finish(code, request, "MPI_Iallreduce"));
    return value;
  }

  Result<void> barrier() override {
    MPI_Request request;
    return finish(MPI_Ibarrier(comm_, &request), request, "MPI_Ibarrier");
  }

  Result<std::unique_ptr<io::Communicator>> split(uint32_t colour, uint32_t key) override {
    if (duplicates_ && duplicates_->has(comm_)) {
      FOREBAY_TRY(const MPI_Comm known, duplicates_->part(comm_, splits_++, colour, key));
      return std::make_unique<MpiRanks>(known, duplicates_);
    }
    MPI_Comm part = MPI_COMM_NULL;
    const int code = MPI_Comm_split(comm_, static_cast<int>(colour), static_cast<int>(key), &part);
    FOREBAY_CHECK(checked(code, "MPI_Comm_split"));
    return std::make_unique<MpiRanks>(part);
  }

  Result<std::unique_ptr<io::Communicator>> duplicate() override { return wrap(comm_); }

 private:
  MPI_Comm comm_;
  const std::shared_ptr<Duplicates> duplicates_;
  int rank_ = 0, size_ = 1;
  uint32_t splits_ = 0;
};

}  // namespace

bool is_alone(MPI_Comm comm) { return comm == MPI_COMM_SELF || comm == MPI_COMM_NULL; }

Result<std::unique_ptr<io::Communicator>> wrap(MPI_Comm comm) {
  FOREBAY_TRY(Wrapped wrapped, wrap(comm, 0));
  return std::move(wrapped.ranks);
}

Result<Wrapped> wrap(MPI_Comm comm, uint64_t number) {
  if (is_alone(comm)) return Wrapped{io::single_process(), {}};
  int is_ready = 0;
  MPI_Initialized(&is_ready);
  if (!is_ready) return fail(ErrorKind::invalid_argument, "MPI is not initialised", {}, {}, "call MPI_Init() before");
  FOREBAY_TRY(const std::shared_ptr<Duplicates> duplicates, Duplicates::of(comm));
  FOREBAY_TRY(const Duplicates::Taken taken, duplicates->take(comm, number));
  return Wrapped{std::make_unique<MpiRanks>(taken.comm, duplicates), taken.sum};
}

#endif

}  // namespace forebay::adios

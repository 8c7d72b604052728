#include "job/cache/step_runner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/buffer.h"
#include "base/checksum.h"
#include "redundancy/coding.h"

namespace forebay::job {
namespace {

using redundancy::Geometry;
using redundancy::kPieceBytes;
using redundancy::Step;
using redundancy::StepEnd;

constexpr size_t kRoom = 64;  // before each result: kPieceRoom, and the bytes stay aligned
static_assert(kRoom >= kPieceRoom);

uint64_t bytes_of(const Step& step) {
  uint64_t most = 0;
  for (const auto* ends : {&step.in, &step.out})
    for (const StepEnd& end : *ends) most = std::max(most, end.range.length);
  return most;
}

// Steps whose inputs are read together.
struct Batch {
  std::vector<Step> steps;
  std::vector<std::vector<std::byte*>> in;  // of each step, for each of its inputs
};

class Runner {
 public:
  Runner(uint64_t count, const std::function<Step(uint64_t)>& at, StepIo& io, const std::stop_token& stop)
      : count_(count), at_(at), io_(io), stop_(stop) {
    const Step first = at(0);
    ins_ = std::max<size_t>(first.in.size(), 1);
    outs_ = std::max<size_t>(first.out.size(), 1);
    const uint64_t slots = kStepMemory / kPieceBytes;
    steps_at_once_ = std::clamp<uint64_t>(slots / (2 * ins_ + outs_), 1, std::min(kMostStepsAtOnce, count));
    for (Buffer& buffer : in_) buffer = Buffer(steps_at_once_ * ins_ * kPieceBytes);
  }

  Result<void> run() {
    FOREBAY_TRY(Batch now, begin());
    while (!now.steps.empty()) {
      FOREBAY_CHECK(io_.finish());
      if (stop_.stop_requested()) return fail(ErrorKind::cancelled, "it is not wanted any more");
      FOREBAY_TRY(Batch next, begin());
      for (size_t i = 0; i < now.steps.size(); ++i) FOREBAY_CHECK(compute(now.steps[i], now.in[i]));
      now = std::move(next);
    }
    return {};
  }

 private:
  struct Wanted {
    size_t step, in;
  };

  // What a member has of the batch lies together, so that it is asked for at once.
  Result<Batch> begin() {
    Batch batch;
    for (; next_ < count_ && batch.steps.size() < steps_at_once_; ++next_) batch.steps.push_back(at_(next_));
    std::map<std::pair<unsigned, bool>, std::vector<Wanted>> by_file;
    for (size_t i = 0; i < batch.steps.size(); ++i) {
      batch.in.emplace_back(batch.steps[i].in.size(), nullptr);
      for (size_t j = 0; j < batch.steps[i].in.size(); ++j) {
        const StepEnd& end = batch.steps[i].in[j];
        if (end.range.length > 0) by_file[{end.member, end.range.is_parity}].push_back({i, j});
      }
    }
    turn_ = !turn_;
    std::byte* free = in_[turn_ ? 1 : 0].data();
    for (const auto& [file, wanted] : by_file) FOREBAY_CHECK(begin(batch, file.first, wanted, free));
    return batch;
  }

  Result<void> begin(Batch& batch, unsigned member, const std::vector<Wanted>& wanted, std::byte*& free) {
    std::vector<Geometry::Range> ranges;
    std::byte* end = nullptr;
    std::byte* first = free;
    const auto flush = [&]() -> Result<void> {
      if (ranges.empty()) return {};
      FOREBAY_CHECK(io_.begin(member, ranges, {first, end}));
      ranges.clear();
      return {};
    };
    for (const auto& [step, in] : wanted) {
      if (free != end) {
        FOREBAY_CHECK(flush());
        first = free;
      }
      const Geometry::Range& range = batch.steps[step].in[in].range;
      batch.in[step][in] = free;
      ranges.push_back(range);
      end = free + range.length;
      free += kPieceBytes;
    }
    return flush();
  }

  Result<void> compute(const Step& step, const std::vector<std::byte*>& in) {
    const uint64_t bytes = bytes_of(step);
    std::vector<std::span<const std::byte>> sources(in.size());
    size_t there = 0;
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i] == nullptr) continue;
      const uint64_t length = step.in[i].range.length;
      FOREBAY_CHECK(io_.seen(step, step.in[i], crc64({in[i], length})));
      std::fill(in[i] + length, in[i] + std::max(bytes, length), std::byte{0});
      sources[i] = {in[i], bytes};
      ++there;
    }
    // One source that is taken as it is needs no computing.
    if (step.out.size() == 1 && there == 1 && io_.is_here(step.out[0].member))
      for (size_t i = 0; i < in.size(); ++i)
        if (in[i] != nullptr && step.coefficients[i] == 1) return io_.bring(step, step.out[0], in[i]);
    if (out_.size() < step.out.size() * (kPieceBytes + kRoom)) out_ = Buffer(step.out.size() * (kPieceBytes + kRoom));
    std::vector<std::span<std::byte>> results;
    for (size_t j = 0; j < step.out.size(); ++j)
      results.emplace_back(out_.data() + j * (kPieceBytes + kRoom) + kRoom, bytes);
    redundancy::combine(step.coefficients, sources, results);
    for (size_t j = 0; j < step.out.size(); ++j)
      if (step.out[j].range.length > 0) FOREBAY_CHECK(io_.bring(step, step.out[j], results[j].data()));
    return {};
  }

  const uint64_t count_;
  const std::function<Step(uint64_t)>& at_;
  StepIo& io_;
  const std::stop_token& stop_;
  size_t ins_ = 1, outs_ = 1;
  uint64_t steps_at_once_ = 1, next_ = 0;
  Buffer in_[2], out_;
  bool turn_ = false;
};

}  // namespace

Result<void> run_steps(uint64_t count, const std::function<Step(uint64_t)>& at, StepIo& io,
                       const std::stop_token& stop) {
  return count == 0 ? Result<void>() : Runner(count, at, io, stop).run();
}

}  // namespace forebay::job

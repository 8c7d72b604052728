#include "job/worker/stream_tuner.h"

#include <algorithm>
#include <utility>

namespace forebay::job {
namespace {

constexpr std::chrono::seconds kTunedOver{2};
constexpr double kWorse = 0.95;   // of the rate before: fewer streams may be so much slower
constexpr double kBetter = 1.05;  // more streams are so much faster

}  // namespace

void StreamTuner::began(Time now) {
  if (under_way_++ == 0) since_ = now;
  peak_ = std::max(peak_, under_way_);
}

void StreamTuner::ended(uint64_t bytes, Time now) {
  busy_ += now - std::exchange(since_, now);
  --under_way_;
  bytes_ += bytes;
  if (++ended_ < 2 * streams_ || busy_ < kTunedOver) return;
  const double rate = static_cast<double>(bytes_) / std::chrono::duration<double>(busy_).count();
  // Streams that were never all in use are not judged.
  if (peak_ >= streams_) end_of_window(rate);
  peak_ = under_way_;
  ended_ = 0;
  bytes_ = 0;
  busy_ = {};
}

void StreamTuner::end_of_window(double rate) {
  if (is_trial_) return end_of_trial(rate);
  rate_ = rate;
  if (++windows_ >= pause_) begin_trial();
}

void StreamTuner::end_of_trial(double rate) {
  if (rate >= rate_ * (streams_ < kept_ ? kWorse : kBetter)) {
    kept_ = streams_;
    pause_ = kFirstPause;
  } else {
    is_upward_ = !is_upward_;
    pause_ = std::min(2 * pause_, kMostPause);
  }
  streams_ = kept_;
  is_trial_ = false;
  windows_ = 0;
}

void StreamTuner::begin_trial() {
  if (most_ == 1) return;
  if (kept_ == 1) is_upward_ = true;
  if (kept_ == most_) is_upward_ = false;
  streams_ = is_upward_ ? kept_ + 1 : kept_ - 1;
  is_trial_ = true;
}

}  // namespace forebay::job

#include "codec/fitted/fitted_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "codec/codec.h"
#include "codec/fitted/fitted_arithmetic.h"
#include "codec/fitted/fitted_sample.h"

namespace forebay::codec {
namespace {

using namespace fitted;

constexpr uint64_t kRunElements = 12'000;   // a run's blocks have at least as many, for stencils take room
constexpr uint64_t kLeastElements = 2'000;  // smaller runs are not worth the time of a fit
constexpr uint64_t kMostFits = 180;         // a frame of equal blocks has half as many
constexpr size_t kLorenzoRunBytes = 11;
static_assert(kMostFits * (sizeof(PlaneStencil) + sizeof(VolumeStencil) + 2 * kLorenzoRunBytes) + 64 <
              kMaxParameterBytes);
constexpr size_t kVolumeSamples = 360, kPlaneSamples = 240;
constexpr size_t kFaceSamples = 120;  // for the planes of volumes' first rows
constexpr size_t kFitLanes = 4;       // samples or columns that are worked on at once
static_assert(kColumns % kFitLanes == 0);

// The normal equations of weighted least squares, the last column being the right-hand side; above the diagonal.
struct Equations {
  double at[kColumns][kColumns];
};

struct Accumulate {
  FOREBAY_KERNEL static void run(const Samples* samples, const double* weights, Equations* equations) {
    *equations = {};
    for (size_t i = 0; i + kFitLanes <= samples->count(); i += kFitLanes) {
      const double* row = samples->row(i);
      for (size_t j = 0; j < samples->taps; ++j) {
        double weighted[kFitLanes];
        for (size_t l = 0; l < kFitLanes; ++l) weighted[l] = weights[i + l] * row[l * kColumns + j];
        double* __restrict sums = equations->at[j];
        for (size_t k = j / kFitLanes * kFitLanes; k < kColumns; ++k)
          sums[k] += (weighted[0] * row[k] + weighted[1] * row[kColumns + k]) +
                     (weighted[2] * row[2 * kColumns + k] + weighted[3] * row[3 * kColumns + k]);
      }
    }
  }
};

// What a stencil predicts of the differences to the elements above.
struct Predict {
  FOREBAY_KERNEL static void run(const Samples* samples, const double* stencil, double* predictions) {
    for (size_t i = 0; i < samples->count(); ++i) {
      const double* row = samples->row(i);
      double sums[kFitLanes] = {};
      for (size_t j = 0; j < kColumns; j += kFitLanes)
        for (size_t l = 0; l < kFitLanes; ++l) sums[l] += stencil[j + l] * row[j + l];
      predictions[i] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
  }
};

// Cholesky's method. False if the equations are singular.
bool solve(Equations& equations, size_t n, double* solution) {
  constexpr double kRidge = 1e-12;
  auto& a = equations.at;
  for (size_t j = 0; j < n; ++j) {
    double pivot = a[j][j] == 0 ? 1 : a[j][j] * (1 + kRidge);  // 1 for a column of zeros
    for (size_t k = 0; k < j; ++k) pivot -= a[k][j] * a[k][j];
    if (!(pivot > 0)) return false;
    a[j][j] = std::sqrt(pivot);
    for (size_t k = 0; k < j; ++k)
      for (size_t i = j + 1; i <= n; ++i) a[j][i] -= a[k][j] * a[k][i];
    for (size_t i = j + 1; i <= n; ++i) a[j][i] /= a[j][j];
  }
  for (size_t i = n; i-- > 0;) {
    solution[i] = a[i][n];
    for (size_t k = i + 1; k < n; ++k) solution[i] -= a[i][k] * solution[k];
    solution[i] /= a[i][i];
  }
  return true;
}

constexpr double kMostCoefficient = 1e6;

void round_to_floats(std::span<double> stencil) {
  for (double& coefficient : stencil) coefficient = static_cast<double>(static_cast<float>(coefficient));
}

// The bits per element that a stencil saves, by how its coefficients are stored.
struct Gain {
  double doubles = 0, floats = 0;
};

// Finds the stencil that leaves the least bits over in the samples, by reweighted least squares from Lorenzo's on.
template <class E>
class Fitter {
 public:
  using A = FittedArithmetic<E>;
  using U = typename E::Unsigned;

  explicit Fitter(Samples samples) : samples_(std::move(samples)) {}

  // Makes `stencil`, which is Lorenzo's, the best one.
  Gain improve(std::span<double> stencil) {
    constexpr int kReweightings = 4;
    if (samples_.count() < 4 * samples_.taps) return {};
    errors_.assign(samples_.count(), 0);
    predictions_.resize(samples_.count());
    const uint64_t lorenzo_bits = judge(stencil);
    uint64_t best_bits = lorenzo_bits;
    std::vector<double> trial(stencil.begin(), stencil.end());
    for (int i = 0; i < kReweightings && next(trial); ++i) {
      const uint64_t bits = judge(trial);
      if (bits >= best_bits) continue;
      best_bits = bits;
      std::ranges::copy(trial, stencil.begin());
    }
    std::ranges::copy(stencil, trial.begin());
    round_to_floats(trial);
    const auto per_element = [&](uint64_t bits) {
      return (static_cast<double>(lorenzo_bits) - static_cast<double>(bits)) / static_cast<double>(samples_.count());
    };
    return {.doubles = per_element(best_bits), .floats = per_element(judge(trial))};
  }

 private:
  // The stencil that fits best where the last one did not fail. Weights between those that minimise the sum of
  // magnitudes and those that minimise the sum of logarithms.
  bool next(std::span<double> stencil) {
    std::vector<double> weights(samples_.count());
    for (size_t i = 0; i < weights.size(); ++i) weights[i] = 1 / (errors_[i] * std::sqrt(std::sqrt(errors_[i])));
    Equations equations;
    run_kernel<Accumulate>(&samples_, weights.data(), &equations);
    double solution[kColumns];
    if (!solve(equations, samples_.taps, solution)) return false;
    std::copy_n(solution, stencil.size(), stencil.begin());
    return std::ranges::all_of(stencil, [](double c) { return std::abs(c) < kMostCoefficient; });
  }

  // The bits of the residuals that `stencil` leaves. Mixes their sizes into `errors_`.
  uint64_t judge(std::span<const double> stencil) {
    constexpr double kMemory = 0.1;
    constexpr double kSpacing = std::numeric_limits<typename A::F>::epsilon() / 2;
    constexpr double kLeast = 1e-200;
    double padded[kColumns] = {};
    std::ranges::copy(stencil, padded);
    run_kernel<Predict>(&samples_, static_cast<const double*>(padded), predictions_.data());
    uint64_t bits = 0;
    for (size_t i = 0; i < samples_.count(); ++i) {
      const double above = samples_.above[i], prediction = predictions_[i];
      const U residual = static_cast<U>(static_cast<U>(samples_.integers[i]) - A::rounded(above + prediction));
      bits += static_cast<uint64_t>(std::bit_width(E::zigzag(residual)));
      errors_[i] = std::abs(samples_.row(i)[stencil.size()] - prediction) + kMemory * errors_[i] +
                   kSpacing * std::abs(above) + kLeast;
    }
    return bits;
  }

  Samples samples_;
  std::vector<double> errors_, predictions_;
};

template <class E>
FittedRun fit_places(std::span<const Place> places) {
  FittedRun run{.blocks = places.size(),
                .form = form_of(places.front().array),
                .plane = lorenzo_plane(),
                .volume = lorenzo_volume()};
  const bool volume = run.form == FittedForm::volume;
  Sampler<E> sampler(places);
  Gain gain = Fitter<E>(sampler.planes(volume ? kFaceSamples : kPlaneSamples, volume)).improve(run.plane);
  if (volume) gain = Fitter<E>(sampler.volumes(kVolumeSamples)).improve(run.volume);
  uint64_t elements = 0;
  for (const Place& place : places) elements += place.array.count();
  // The samples flatter the stencil that was fitted to them: count its room twice.
  const double room = 2 * 8 * sizeof(float) * static_cast<double>(run.plane.size() + (volume ? run.volume.size() : 0));
  const double saved = gain.floats * static_cast<double>(elements) - room;
  const double doubles_saved = gain.doubles * static_cast<double>(elements) - 2 * room;
  if (std::max(saved, doubles_saved) <= 0) return {.blocks = run.blocks, .form = FittedForm::lorenzo};
  run.doubles = doubles_saved > saved;
  if (!run.doubles) {
    round_to_floats(run.plane);
    round_to_floats(run.volume);
  }
  return run;
}

FittedRun fit_type(const DataType& type, std::span<const Place> places) {
  const bool big = type.order == ByteOrder::big;
  if (type.size == sizeof(float))
    return big ? fit_places<Elements<uint32_t, true, true>>(places)
               : fit_places<Elements<uint32_t, true, false>>(places);
  return big ? fit_places<Elements<uint64_t, true, true>>(places) : fit_places<Elements<uint64_t, true, false>>(places);
}

// Collects blocks into runs.
class RunMaker {
 public:
  RunMaker(const DataType& type, uint64_t element_total)
      : type_(type), enough_(std::max(kRunElements, element_total / (kMostFits / 2))) {}

  void add(const LorenzoArray& array, FittedForm form, const std::byte* elements) {
    if (!places_.empty() && form != form_) finish();
    form_ = form;
    places_.push_back({array, elements});
    elements_ += array.count();
    if (elements_ >= enough_) finish();
  }

  std::vector<FittedRun> take() && {
    finish();
    return std::move(runs_);
  }

 private:
  void finish() {
    if (places_.empty()) return;
    FittedRun run{.blocks = places_.size()};
    if (elements_ >= kLeastElements && fits_ < kMostFits) {
      run = fit_type(type_, places_);
      ++fits_;
    }
    if (run.form == FittedForm::lorenzo && !runs_.empty() && runs_.back().form == FittedForm::lorenzo)
      runs_.back().blocks += run.blocks;
    else
      runs_.push_back(run);
    places_.clear();
    elements_ = 0;
  }

  DataType type_;
  uint64_t enough_, elements_ = 0, fits_ = 0;
  FittedForm form_ = FittedForm::lorenzo;
  std::vector<Place> places_;
  std::vector<FittedRun> runs_;
};

}  // namespace

std::vector<FittedRun> fit_runs(const FrameShape& shape, std::span<const std::byte> in) {
  RunMaker maker(shape.type, shape.element_total());
  const std::byte* at = in.data();
  for (const Block& block : shape.blocks) {
    const LorenzoArray array = lorenzo_array(block, 0);
    const FittedForm form = form_of(array);
    if (form != FittedForm::lorenzo) maker.add(array, form, at);
    at += array.count() * shape.type.size;
  }
  return std::move(maker).take();
}

}  // namespace forebay::codec

#include "codec/relation/relation_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "codec/fitted/least_squares.h"

namespace forebay::codec {
namespace {

constexpr double kWorthwhileBits = 0.4;  // a relation must save this much an element
constexpr double kTermBits = 0.05;       // and each further term this much
constexpr double kHope = 0.5;            // how much a harm counts that may never come
constexpr int kReweightings = 3;
constexpr int kPatience = 3;  // terms in a row that may save nothing, before the next one does

// log2 of a number of at least 1, its fraction interpolated.
double rough_log2(double x) {
  constexpr int kMantissaBits = 52, kBias = 1023;
  const auto bits = std::bit_cast<uint64_t>(x);
  const auto exponent = static_cast<double>(static_cast<int64_t>(bits >> kMantissaBits) - kBias);
  const uint64_t mantissa = bits & ((uint64_t{1} << kMantissaBits) - 1);
  return exponent + std::bit_cast<double>(mantissa | uint64_t{kBias} << kMantissaBits) - 1;
}

// The distances between neighbouring numbers of the type, at each of `values`.
std::vector<double> spacings(std::span<const double> values, const DataType& type) {
  constexpr int kLeastExponent = -900;
  const int mantissa_bits = type.size == 4 ? 23 : 52;
  std::vector<double> all;
  all.reserve(values.size());
  for (const double value : values) {
    const int exponent = value == 0 ? kLeastExponent : std::max(std::ilogb(value), kLeastExponent);
    all.push_back(std::ldexp(1.0, exponent - mantissa_bits));
  }
  return all;
}

// The bits that integers of these sizes have, on average.
double mean_bits(std::span<const double> errors, std::span<const double> spacing) {
  double bits = 0;
  for (size_t i = 0; i < errors.size(); ++i)
    bits += rough_log2(1 + std::min(2 * std::abs(errors[i]) / spacing[i], 1e18));
  return errors.empty() ? 0 : bits / static_cast<double>(errors.size());
}

double mean_magnitude(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += std::abs(value);
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// What one term of a relation may be.
struct Candidate {
  size_t field;
  bool squared;
};

// A relation of one target, with what it leaves over.
struct Model {
  std::vector<RelationTerm> terms;
  std::vector<double> errors;
  double bits = 0;
};

// The relations of one kind that one target may have, fitted for the least bits by reweighting least squares.
class Fitter {
 public:
  Fitter(std::span<const FieldSample> fields, std::span<const double> spacing, size_t target, RelationKind kind,
         std::vector<Candidate> candidates)
      : spacing_(spacing), kind_(kind), candidates_(std::move(candidates)) {
    target_ = fields[target].column(kind, false);
    for (const Candidate& candidate : candidates_)
      columns_.push_back(fields[candidate.field].column(kind, candidate.squared));
    weigh_by_size();
  }

  // The best of the relations to fields that may_refer() allows.
  template <class MayRefer>
  Model best(const MayRefer& may_refer) const {
    Model best{.terms = {}, .errors = {target_.begin(), target_.end()}, .bits = mean_bits(target_, spacing_)};
    double least = best.bits;
    int in_vain = 0;
    equations_.front().select(
        kMaxRelationTerms,
        [&](std::span<const size_t> selected, size_t column) {
          return may_refer(candidates_[column].field) && has_room(selected, candidates_[column].field);
        },
        [&](const NormalEquations::Solution& solution) {
          Model model = model_of(solution);
          const double cost = model.bits + kTermBits * static_cast<double>(model.terms.size());
          if (cost >= least) return ++in_vain < kPatience;
          least = cost;
          best = std::move(model);
          in_vain = 0;
          return true;
        });
    return best;
  }

  // Lets elements count that `model` tells well: from squares to bits.
  void reweigh(const Model& model) {
    std::vector<double> weights;
    weights.reserve(spacing_.size());
    for (size_t i = 0; i < spacing_.size(); ++i) weights.push_back(1 / (std::abs(model.errors[i]) + spacing_[i] / 2));
    make_equations(weights);
  }

  RelationKind kind() const { return kind_; }

 private:
  void weigh_by_size() {
    constexpr double kFloor = 1e-3;
    const double floor = kFloor * mean_magnitude(target_);
    std::vector<double> weights;
    weights.reserve(target_.size());
    for (size_t i = 0; i < target_.size(); ++i) weights.push_back(1 / (std::abs(target_[i]) + floor + spacing_[i]));
    make_equations(weights);
  }

  void make_equations(std::span<const double> weights) {
    equations_.clear();
    equations_.emplace_back(columns_, target_, weights);
  }

  bool has_room(std::span<const size_t> selected, size_t field) const {
    std::vector<size_t> references;
    for (const size_t column : selected) {
      const size_t other = candidates_[column].field;
      if (other == field) return true;
      if (std::ranges::find(references, other) == references.end()) references.push_back(other);
    }
    return references.size() < kMaxRelationReferences;
  }

  Model model_of(const NormalEquations::Solution& solution) const {
    Model model{.terms = {}, .errors = {target_.begin(), target_.end()}};
    for (size_t k = 0; k < solution.columns.size(); ++k) {
      const Candidate& candidate = candidates_[solution.columns[k]];
      const double coefficient = solution.coefficients[k];
      model.terms.push_back({static_cast<uint8_t>(candidate.field), candidate.squared, coefficient});
      const std::span<const double> column = columns_[solution.columns[k]];
      for (size_t i = 0; i < column.size(); ++i) model.errors[i] -= coefficient * column[i];
    }
    model.bits = mean_bits(model.errors, spacing_);
    return model;
  }

  std::span<const double> spacing_, target_;
  RelationKind kind_;
  std::vector<Candidate> candidates_;
  std::vector<std::span<const double>> columns_;
  std::vector<NormalEquations> equations_;  // one
};

std::vector<Candidate> all_candidates(size_t fields, size_t target) {
  std::vector<Candidate> candidates;
  for (size_t field = 0; field < fields; ++field)
    if (field != target) candidates.insert(candidates.end(), {{field, false}, {field, true}});
  return candidates;
}

// Everything that is known of one field while relations are looked for.
struct Field {
  double own_bits = 0;
  std::vector<Fitter> fitters;  // one per kind
  bool refers = false;          // to others; else others may refer to it
  RelationKind kind = RelationKind::value;
  Model model;  // the best relation to fields that do not refer to others

  double gain() const { return own_bits - model.bits; }
  bool uses(size_t field) const {
    return std::ranges::any_of(model.terms, [&](const RelationTerm& term) { return term.reference == field; });
  }
};

class Search {
 public:
  Search(std::span<const FieldSample> samples, const DataType& type) : fields_(samples.size()) {
    for (size_t f = 0; f < samples.size(); ++f) {
      spacing_.push_back(spacings(samples[f].column(RelationKind::value, false), type));
      fields_[f].own_bits = mean_bits(samples[f].column(RelationKind::change, false), spacing_[f]);
      for (const RelationKind kind : {RelationKind::value, RelationKind::change}) {
        Fitter fitter(samples, spacing_[f], f, kind, all_candidates(samples.size(), f));
        for (int i = 0; i < kReweightings; ++i) fitter.reweigh(fitter.best([](size_t) { return true; }));
        fields_[f].fitters.push_back(std::move(fitter));
      }
      find_best(f);
    }
  }

  // Makes one field after the other refer to the rest: each time the one that saves most, less what others lose that
  // cannot refer to it any more.
  void run() {
    while (true) {
      size_t chosen = fields_.size();
      double most = kWorthwhileBits;
      for (size_t f = 0; f < fields_.size(); ++f) {
        if (fields_[f].refers || fields_[f].gain() <= most) continue;
        const double gain = fields_[f].gain() - harm_without(f);
        if (gain <= most) continue;
        most = gain;
        chosen = f;
      }
      if (chosen == fields_.size()) return;
      fields_[chosen].refers = true;
      for (size_t f = 0; f < fields_.size(); ++f)
        if (fields_[f].uses(chosen)) find_best(f);
    }
  }

  std::span<const Field> fields() const { return fields_; }

 private:
  // The best relation of `f` to fields that do not refer to others, `without` apart.
  std::pair<RelationKind, Model> best_of(size_t f, size_t without) const {
    const auto may_refer = [&](size_t field) { return field != without && !fields_[field].refers; };
    std::pair<RelationKind, Model> best;
    bool is_first = true;
    for (const Fitter& fitter : fields_[f].fitters) {
      Model model = fitter.best(may_refer);
      if (!is_first && model.bits >= best.second.bits) continue;
      best = {fitter.kind(), std::move(model)};
      is_first = false;
    }
    return best;
  }

  void find_best(size_t f) { std::tie(fields_[f].kind, fields_[f].model) = best_of(f, fields_.size()); }

  double harm_without(size_t field) const {
    double harm = 0;
    for (size_t f = 0; f < fields_.size(); ++f) {
      const Field& other = fields_[f];
      if (f == field || !other.uses(field) || other.gain() < kWorthwhileBits) continue;
      const double loss = std::min(best_of(f, field).second.bits - other.model.bits, other.gain());
      harm += (other.refers ? 1 : kHope) * std::max(loss, 0.0);
    }
    return harm;
  }

  std::vector<std::vector<double>> spacing_;
  std::vector<Field> fields_;
};

}  // namespace

std::vector<std::optional<FieldRelation>> find_relations(std::span<const FieldSample> fields, const DataType& type) {
  std::vector<std::optional<FieldRelation>> found(fields.size());
  if (fields.size() < 2 || fields.front().column(RelationKind::value, false).empty()) return found;
  Search search(fields, type);
  search.run();
  for (size_t f = 0; f < fields.size(); ++f) {
    const Field& field = search.fields()[f];
    if (field.refers) found[f] = fit_relation(fields, type, f, {field.kind, field.model.terms});
  }
  return found;
}

FieldRelation fit_relation(std::span<const FieldSample> fields, const DataType& type, size_t target,
                           const Relation& known) {
  const std::vector<double> spacing = spacings(fields[target].column(RelationKind::value, false), type);
  std::vector<Candidate> candidates;
  for (const RelationTerm& term : known.terms) candidates.push_back({term.reference, term.squared});
  Fitter fitter(fields, spacing, target, known.kind, std::move(candidates));
  const auto any = [](size_t) { return true; };
  Model best = fitter.best(any);
  for (int i = 0; i < kReweightings; ++i) {
    fitter.reweigh(best);
    Model model = fitter.best(any);
    if (model.bits < best.bits) best = std::move(model);
  }
  return {.relation = {known.kind, std::move(best.terms)},
          .bits = best.bits,
          .own_bits = mean_bits(fields[target].column(RelationKind::change, false), spacing)};
}

}  // namespace forebay::codec

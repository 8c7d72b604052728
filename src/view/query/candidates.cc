#include "view/query/candidates.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/nearest.h"
#include "view/query/narrow.h"
#include "view/read/cover.h"

namespace forebay::view {
namespace {

constexpr size_t kMostCandidates = size_t{1} << 21;
constexpr size_t kMostBoxes = size_t{1} << 17;  // of one part of an array

std::string text_of(const Shape& shape) {
  return shape.empty() ? "one value" : fmt::format("{}", fmt::join(shape, "x"));
}

bool is_in_place(const Array& array, const Block& block) {
  const auto& [begin, count] = block.place;
  if (begin.size() != count.size()) return false;
  if (array.form != Form::global) return array.form == Form::local || begin.empty();
  if (begin.size() != array.shape.size()) return false;
  for (size_t d = 0; d < begin.size(); ++d)
    if (count[d] > array.shape[d] || begin[d] > array.shape[d] - count[d]) return false;
  return true;
}

// One variable of the query, in this step.
struct Operand {
  size_t array = 0;
  std::vector<Block> blocks;
  std::vector<std::vector<Truth>> truths;  // of each block: of each condition on this variable, in order
  std::vector<size_t> conditions;          // which these are
};

class Finder {
 public:
  Finder(const Step& step, const Expression& expression) : step_(step), expression_(expression) {}

  Result<Candidates> find() {
    for (size_t v = 0; v < expression_.variables.size(); ++v) FOREBAY_CHECK(add_operand(v));
    FOREBAY_CHECK(check_forms());
    if (found_.scattered)
      add_scattered();
    else if (found_.form == Form::global)
      FOREBAY_CHECK(add_global());
    else
      FOREBAY_CHECK(add_by_rank());
    return std::move(found_);
  }

 private:
  const Array& array_of(const Operand& operand) const { return step_.arrays()[operand.array]; }

  Result<void> add_operand(size_t variable) {
    const std::string& name = expression_.variables[variable];
    FOREBAY_TRY(const size_t array, find_array(step_, name));
    const ElementType& type = step_.arrays()[array].type;
    if (!type.data.is_number())
      return fail(ErrorKind::unsupported,
                  fmt::format("'{}' is {}: only numbers can be compared", name, to_string(type)));
    Operand operand{.array = array};
    FOREBAY_TRY(operand.blocks, step_.characterised_blocks(array));
    for (size_t c = 0; c < expression_.conditions.size(); ++c)
      if (expression_.conditions[c].variable == variable) operand.conditions.push_back(c);
    for (const Block& block : operand.blocks) {
      if (!is_in_place(step_.arrays()[array], block))
        return fail(ErrorKind::corrupt,
                    fmt::format("a block of '{}', of rank {}, lies outside of the array", name, block.rank));
      judge_block(operand, type, block);
    }
    found_.arrays.push_back(array);
    operands_.push_back(std::move(operand));
    return {};
  }

  void judge_block(Operand& operand, const ElementType& type, const Block& block) {
    const uint64_t elements = element_count(block.place.count);
    // With ghost cells, characteristics are of more elements than the block has.
    const uint64_t stored = block.stored.shape.empty() ? elements : element_count(block.stored.shape);
    std::vector<Truth> truths;
    for (const size_t c : operand.conditions)
      truths.push_back(judge(expression_.conditions[c], type.data, block.characteristics, std::max(elements, stored)));
    operand.truths.push_back(std::move(truths));
    ++found_.blocks;
    found_.value_bytes += elements * type.bytes();
  }

  Result<void> check_forms() {
    const Operand* leader = nullptr;  // the first one that is an array
    for (const Operand& operand : operands_) {
      const Array& array = array_of(operand);
      if (array.form == Form::scalar) continue;
      const auto is_scattered = [](const Block& block) { return block.indices != nullptr; };
      if (array.form == Form::global && std::ranges::any_of(operand.blocks, is_scattered)) found_.scattered = true;
      if (!leader) {
        leader = &operand;
        found_.form = array.form;
        if (array.form == Form::global) found_.shape = array.shape;
        continue;
      }
      const Array& first = array_of(*leader);
      if (array.form != first.form || (array.form == Form::global && array.shape != first.shape))
        return no_common_elements(first, array);
    }
    return {};
  }

  static std::unexpected<Error> no_common_elements(const Array& a, const Array& b) {
    const auto described = [](const Array& array) {
      return fmt::format("'{}' is a {} array of {}", array.name, array.form == Form::global ? "global" : "local",
                         text_of(array.shape));
    };
    return fail(ErrorKind::invalid_argument,
                fmt::format("{}, and {}: they have no elements in common", described(a), described(b)), {}, {},
                "ask for them in two queries, or say with --layout where their blocks lie");
  }

  // What is known of a part in which these variables have these blocks; nothing is of the others.
  Truth truth_of(const std::vector<size_t>& blocks, const std::vector<bool>& known) {
    truths_.assign(expression_.conditions.size(), Truth::maybe);
    for (size_t v = 0; v < operands_.size(); ++v)
      for (size_t i = 0; known[v] && i < operands_[v].conditions.size(); ++i)
        truths_[operands_[v].conditions[i]] = operands_[v].truths[blocks[v]][i];
    return judge(expression_, truths_);
  }

  // The block of a scalar that goes with a rank's blocks of other variables: its own, or the only one.
  std::optional<size_t> scalar_of(const Operand& operand, uint32_t rank) const {
    if (operand.blocks.size() == 1) return 0;
    std::optional<size_t> last;
    for (size_t i = 0; i < operand.blocks.size(); ++i)
      if (operand.blocks[i].rank == rank) last = i;
    return last;
  }

  void finish(std::vector<Candidate> parts) {
    const std::vector<bool> known(operands_.size(), true);
    for (Candidate& part : parts) {
      if (is_empty(part.box)) continue;
      part.truth = truth_of(part.blocks, known);
      if (part.truth == Truth::none) continue;
      for (size_t v = 0; v < operands_.size(); ++v) part.ranks.push_back(operands_[v].blocks[part.blocks[v]].rank);
      std::ranges::sort(part.ranks);
      const auto repeated = std::ranges::unique(part.ranks);
      part.ranks.erase(repeated.begin(), repeated.end());
      if (part.truth == Truth::maybe)
        add_narrowed(part);
      else
        found_.candidates.push_back(std::move(part));
    }
  }

  // The part, or what is left of it by the cubes of its blocks.
  void add_narrowed(const Candidate& part) {
    std::vector<KnownBlock> blocks;
    std::vector<std::shared_ptr<const StoredCubes>> held;
    for (size_t v = 0; v < operands_.size(); ++v) {
      const Operand& operand = operands_[v];
      const Block& block = operand.blocks[part.blocks[v]];
      const bool is_array = array_of(operand).form != Form::scalar;
      held.push_back(is_array ? step_.cubes(block) : nullptr);
      blocks.push_back({.type = array_of(operand).type.data,
                        .block = &block,
                        .cubes = held.back().get(),
                        .conditions = operand.conditions,
                        .truths = operand.truths[part.blocks[v]]});
    }
    const size_t most = std::min(kMostBoxes, kMostCandidates - std::min(kMostCandidates, found_.candidates.size()));
    std::vector<Narrowed> narrowed = narrow(expression_, blocks, part.box, most);
    for (Narrowed& one : narrowed) {
      found_.candidates.push_back(part);
      found_.candidates.back().box = std::move(one.box);
      found_.candidates.back().truth = one.truth;
    }
  }

  // Cuts the array by the blocks of one variable after the other, and leaves out what cannot hold as soon as that
  // shows.
  Result<void> add_global() {
    std::vector<Candidate> parts{{.box = engine::whole_box(found_.shape)}};
    parts.front().blocks.resize(operands_.size());
    std::vector<size_t> order;  // scalars last: they need the rank of an array's block
    for (const bool global : {true, false})
      for (size_t v = 0; v < operands_.size(); ++v)
        if ((array_of(operands_[v]).form == Form::global) == global) order.push_back(v);
    std::vector<bool> known(operands_.size());
    const size_t leader = order.front();
    for (const size_t v : order) {
      known[v] = true;
      if (array_of(operands_[v]).form == Form::scalar) {
        parts = with_scalar(parts, v, leader);
      } else {
        FOREBAY_TRY(parts, cut(parts, v));
      }
      std::erase_if(parts, [&](const Candidate& part) { return truth_of(part.blocks, known) == Truth::none; });
      if (parts.size() > kMostCandidates)
        return fail(ErrorKind::limit, fmt::format("more than {} parts of arrays to look at", kMostCandidates), {}, {},
                    "ask for fewer variables at once");
    }
    finish(std::move(parts));
    return {};
  }

  Result<std::vector<Candidate>> cut(const std::vector<Candidate>& parts, size_t variable) {
    std::vector<Box> places;
    for (const Block& block : operands_[variable].blocks) places.push_back(block.place);
    const BlockIndex index(std::move(places));
    std::vector<Candidate> next;
    for (const Candidate& part : parts) {
      FOREBAY_TRY(auto covered, cover(index, part.box));
      for (Share& share : covered.shares) {
        next.push_back({.box = std::move(share.box), .blocks = part.blocks});
        next.back().blocks[variable] = share.block;
      }
      if (next.size() > kMostCandidates) break;
    }
    return next;
  }

  std::vector<Candidate> with_scalar(const std::vector<Candidate>& parts, size_t variable, size_t leader) const {
    std::vector<Candidate> next;
    for (const Candidate& part : parts) {
      const uint32_t rank = operands_[leader].blocks[part.blocks[leader]].rank;
      if (const auto block = scalar_of(operands_[variable], rank)) {
        next.push_back(part);
        next.back().blocks[variable] = *block;
      }
    }
    return next;
  }

  // The n-th block that a rank wrote of one variable goes with its n-th of another; a scalar with all of its rank.
  Result<void> add_by_rank() {
    const bool has_local = found_.form == Form::local;
    std::optional<size_t> leader;
    for (size_t v = 0; v < operands_.size() && !leader; ++v)
      if (!has_local || array_of(operands_[v]).form == Form::local) leader = v;
    std::vector<std::map<std::pair<uint32_t, size_t>, size_t>> by_rank(operands_.size());
    for (size_t v = 0; v < operands_.size(); ++v) {
      std::map<uint32_t, size_t> seen;
      for (size_t i = 0; i < operands_[v].blocks.size(); ++i)
        by_rank[v][{operands_[v].blocks[i].rank, has_local ? seen[operands_[v].blocks[i].rank]++ : 0}] = i;
    }
    std::vector<Candidate> parts;
    for (const auto& [key, first] : by_rank[*leader]) {
      Candidate part{.box = operands_[*leader].blocks[first].place, .blocks = std::vector<size_t>(operands_.size())};
      bool whole = true;
      for (size_t v = 0; v < operands_.size() && whole; ++v) {
        std::optional<size_t> block;
        if (array_of(operands_[v]).form == Form::scalar) {
          block = scalar_of(operands_[v], key.first);
        } else if (const auto at = by_rank[v].find(key); at != by_rank[v].end()) {
          block = at->second;
          if (operands_[v].blocks[*block].place.count != part.box.count) return other_shape(v, *leader, key.first);
        }
        whole = block.has_value();
        part.blocks[v] = block.value_or(0);
      }
      if (whole) parts.push_back(std::move(part));
    }
    std::ranges::sort(parts, {}, [&](const Candidate& part) { return part.blocks[*leader]; });
    finish(std::move(parts));
    return {};
  }

  std::unexpected<Error> other_shape(size_t variable, size_t leader, uint32_t rank) const {
    return fail(ErrorKind::invalid_argument,
                fmt::format("'{}' and '{}' have other shapes on rank {}: they have no elements in common",
                            array_of(operands_[leader]).name, array_of(operands_[variable]).name, rank));
  }

  void add_scattered() {
    truths_.assign(expression_.conditions.size(), Truth::maybe);
    Candidate all{.box = engine::whole_box(found_.shape), .blocks = std::vector<size_t>(operands_.size())};
    for (const Operand& operand : operands_) {
      for (const Block& block : operand.blocks) all.ranks.push_back(block.rank);
      for (size_t i = 0; i < operand.conditions.size(); ++i) {
        const auto none = [&](const auto& truths) { return truths[i] == Truth::none; };
        if (std::ranges::all_of(operand.truths, none)) truths_[operand.conditions[i]] = Truth::none;
        const auto whole = [&](const auto& truths) { return truths[i] == Truth::all; };
        if (std::ranges::all_of(operand.truths, whole) && !operand.truths.empty())
          truths_[operand.conditions[i]] = Truth::all;
      }
    }
    std::ranges::sort(all.ranks);
    const auto repeated = std::ranges::unique(all.ranks);
    all.ranks.erase(repeated.begin(), repeated.end());
    if (is_empty(all.box) || judge(expression_, truths_) == Truth::none) return;
    all.truth = Truth::maybe;  // there may be elements that nobody wrote
    found_.candidates.push_back(std::move(all));
  }

  const Step& step_;
  const Expression& expression_;
  std::vector<Operand> operands_;
  std::vector<Truth> truths_;
  Candidates found_;
};

}  // namespace

Result<Candidates> find_candidates(const Step& step, const Expression& expression) {
  return Finder(step, expression).find();
}

}  // namespace forebay::view

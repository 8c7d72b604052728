#include "cli/arrays/query_rows.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/common.h"
#include "cli/json_stream.h"
#include "cli/table.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

using view::Candidate;
using view::Candidates;
using view::Hits;
using view::QuerySummary;
using view::StepInfo;
using view::Truth;

std::string number_text(const view::Number& number) {
  return std::visit([](auto value) { return fmt::format("{}", value); }, number);
}

std::string time_text(const StepInfo& info) { return info.time ? fmt::format("{}", *info.time) : "-"; }

// "0-3 7"
std::string ranks_text(const std::vector<uint32_t>& ranks, const char* separator) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : separator, ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

// As --box takes it.
std::string box_text(const view::Box& box) {
  std::string text;
  for (size_t d = 0; d < box.begin.size(); ++d)
    text += fmt::format("{}{}:{}", d > 0 ? "," : "", box.begin[d], box.begin[d] + box.count[d]);
  return text.empty() ? "-" : text;
}

std::vector<std::string> hit_values(const Hits& hits, size_t hit) {
  std::vector<std::string> texts;
  const size_t each = hits.values.size() / hits.count;
  for (size_t v = 0; v < each; ++v) texts.push_back(number_text(hits.values[hit * each + v]));
  return texts;
}

std::span<const uint64_t> hit_index(const Hits& hits, size_t hit) {
  const size_t each = hits.indices.size() / hits.count;
  return std::span(hits.indices).subspan(hit * each, each);
}

std::string where_it_failed(const StepInfo& info, const Candidate& candidate) {
  return fmt::format("step {}, rank {}, box {}", info.number, ranks_text(candidate.ranks, " "),
                     box_text(candidate.box));
}

std::string step_failure_text(const StepInfo& info, const Error& error) {
  return info.damage ? error.message() : fmt::format("step {}: {}", info.number, error.message());
}

class TextRows final : public QueryRows {
 public:
  TextRows(const std::vector<std::string>& variables, bool values, uint64_t limit)
      : values_(values), limit_(limit), table_(columns_for(variables, values)) {}

  void step(const StepInfo& info, const view::Step&, const Candidates& found) override {
    if (!values_ && !first_) first_ = info;
    for (size_t i = 0; i < found.candidates.size() && !values_; ++i)
      if (const Candidate& candidate = found.candidates[i]; counts())
        add(info, candidate, {box_text(candidate.box), candidate.truth == Truth::all ? "everywhere" : "perhaps"});
  }

  void hits(const StepInfo& info, const Candidates& found, const Hits& hits) override {
    if (!first_) first_ = info;
    for (size_t i = 0; i < hits.count; ++i) {
      if (!counts()) continue;
      const auto index = hit_index(hits, i);
      std::vector<std::string> cells{index.empty() ? "-" : fmt::format("{}", fmt::join(index, ","))};
      for (std::string& value : hit_values(hits, i)) cells.push_back(std::move(value));
      add(info, found.candidates[hits.candidate], std::move(cells));
    }
  }

  void failed(const StepInfo& info, const Candidate& candidate, const Error& error) override {
    note_failure(error);
    warn(printable(fmt::format("{}: {}", where_it_failed(info, candidate), error.message())));
  }

  void step_failed(const StepInfo& info, const Error& error) override {
    if (!is_left_out(error)) note_failure(error);
    warn(printable(step_failure_text(info, error)));
  }

  void finish(const QuerySummary& summary) override {
    if (rows_ > 0) table_.for_each_line([](const std::string& line) { fmt::print("{}\n", line); });
    if (rows_ > limit_) fmt::print("and {} more; --limit shows more of them\n", rows_ - limit_);
    fmt::print("{}\n{}\n", found_text(summary), cost_text(summary));
  }

 private:
  static std::vector<Table::Column> columns_for(const std::vector<std::string>& variables, bool values) {
    std::vector<Table::Column> columns = {
        {"STEP", Align::right}, {"SET"}, {"TIME", Align::right}, {"RANK", Align::right}, {values ? "INDEX" : "BOX"}};
    for (const std::string& name : variables)
      if (values) columns.push_back({printable(name), Align::right});
    if (!values) columns.push_back({"HOLDS"});
    return columns;
  }

  bool counts() { return rows_++ < limit_; }

  void add(const StepInfo& info, const Candidate& candidate, std::vector<std::string> cells) {
    std::vector<std::string> row = {fmt::format("{}", info.number), info.set.empty() ? "-" : printable(info.set),
                                    time_text(info), ranks_text(candidate.ranks, " ")};
    row.insert(row.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
    table_.add(std::move(row));
  }

  std::string found_text(const QuerySummary& summary) const {
    const std::string steps = plural(summary.steps, "step");
    if (!first_) return fmt::format("holds nowhere in {}", steps);
    const std::string set = first_->set.empty() ? "" : fmt::format(", set {}", printable(first_->set));
    const std::string time = first_->time ? fmt::format(", time {}", *first_->time) : "";
    const std::string first = fmt::format("first in step {}{}{}", first_->number, set, time);
    if (values_)
      return fmt::format("holds for {} in {} of {}, {}", plural(summary.hits, "element"), summary.steps_found, steps,
                         first);
    const bool certain = summary.certain == summary.candidates;
    return fmt::format("{} in {} of {}, {}{}", certain ? "holds" : "may hold", summary.steps_found, steps, first,
                       certain ? "" : "; --values reads where it does");
  }

  std::string cost_text(const QuerySummary& summary) const {
    const std::string boxes = summary.candidates == 1 ? "1 box" : fmt::format("{} boxes", summary.candidates);
    const std::string of =
        fmt::format("{} of {} of {}", boxes, plural(summary.blocks, "block"), format_bytes(summary.value_bytes));
    if (!values_) return fmt::format("no values were read; the indices leave {}", of);
    return fmt::format("read {} and decoded {}; the indices left {}", format_bytes(summary.cost.read_bytes),
                       format_bytes(summary.cost.decoded_bytes), of);
  }

  bool values_;
  uint64_t limit_, rows_ = 0;
  Table table_;
  std::optional<StepInfo> first_;
};

class CsvRows final : public QueryRows {
 public:
  CsvRows(const std::vector<std::string>& variables, bool values, uint64_t limit)
      : variables_(variables), values_(values), limit_(limit) {}

  void step(const StepInfo& info, const view::Step&, const Candidates& found) override {
    const Shape& shape = found.candidates.front().box.count;
    if (!std::exchange(has_titles_, true)) print_titles(shape.size());
    for (const Candidate& candidate : found.candidates) {
      if (values_ || rows_ == limit_) return;
      std::string line = start(info, candidate);
      for (size_t d = 0; d < shape.size(); ++d)
        line += fmt::format(",{},{}", candidate.box.begin[d], candidate.box.count[d]);
      print(line + (candidate.truth == Truth::all ? ",everywhere" : ",perhaps"));
    }
  }

  void hits(const StepInfo& info, const Candidates& found, const Hits& hits) override {
    for (size_t i = 0; i < hits.count && rows_ < limit_; ++i) {
      std::string line = start(info, found.candidates[hits.candidate]);
      for (const uint64_t index : hit_index(hits, i)) line += fmt::format(",{}", index);
      for (const std::string& value : hit_values(hits, i)) line += "," + value;
      print(line);
    }
  }

  void failed(const StepInfo& info, const Candidate& candidate, const Error& error) override {
    note_failure(error);
    warn(printable(fmt::format("{}: {}", where_it_failed(info, candidate), error.message())));
  }

  void step_failed(const StepInfo& info, const Error& error) override {
    if (!is_left_out(error)) note_failure(error);
    warn(printable(step_failure_text(info, error)));
  }

  void finish(const QuerySummary&) override {
    if (!has_titles_) print_titles(0);
  }

 private:
  static std::string quoted(const std::string& name) {
    const std::string text = printable(name);
    if (text.find_first_of(",\"\r\n") == text.npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + "\"";
  }

  void print_titles(size_t dimensions) const {
    std::string line = "number,step,time,set,ranks";
    for (size_t d = 0; d < dimensions; ++d)
      line += values_ ? fmt::format(",index{}", d) : fmt::format(",begin{0},count{0}", d);
    for (const std::string& name : variables_)
      if (values_) line += "," + quoted(name);
    fmt::print("{}{}\n", line, values_ ? "" : ",holds");
  }

  std::string start(const StepInfo& info, const Candidate& candidate) const {
    return fmt::format("{},{},{},{},{}", info.number, info.step ? fmt::format("{}", *info.step) : "",
                       info.time ? fmt::format("{}", *info.time) : "", quoted(info.set),
                       ranks_text(candidate.ranks, " "));
  }

  void print(const std::string& line) {
    ++rows_;
    fmt::print("{}\n", line);
  }

  std::vector<std::string> variables_;
  bool values_;
  uint64_t limit_, rows_ = 0;
  bool has_titles_ = false;
};

// NaN and the infinities, which JSON cannot write, as text.
Json json_number(const view::Number& number) {
  return std::visit(
      [](auto value) -> Json {
        if constexpr (std::is_floating_point_v<decltype(value)>)
          if (!std::isfinite(value)) return fmt::format("{}", value);
        return value;
      },
      number);
}

class JsonRows final : public QueryRows {
 public:
  JsonRows(const std::string& path, const std::string& expression, const std::vector<std::string>& variables,
           bool values, uint64_t limit)
      : values_(values), limit_(limit) {
    stream_.member("store", json_text(path));
    stream_.member("query", json_text(expression));
    stream_.member("variables", json_texts(variables));
    stream_.begin_list("steps");
  }

  void step(const StepInfo& info, const view::Step&, const Candidates& found) override {
    end_step();
    in_step_ = true;
    stream_.begin_object();
    stream_.member("number", info.number);
    stream_.member("step", info.step ? Json(*info.step) : Json());
    stream_.member("time", info.time ? Json(*info.time) : Json());
    stream_.member("set", info.set.empty() ? Json() : json_text(info.set));
    stream_.member("shape", found.shape);
    stream_.begin_list(values_ ? "hits" : "candidates");
    for (const Candidate& candidate : found.candidates) {
      if (values_ || rows_++ >= limit_) continue;
      stream_.element({{"ranks", candidate.ranks},
                       {"begin", candidate.box.begin},
                       {"shape", candidate.box.count},
                       {"holds", candidate.truth == Truth::all ? "everywhere" : "perhaps"}});
    }
  }

  void hits(const StepInfo&, const Candidates& found, const Hits& hits) override {
    const size_t each = hits.values.size() / hits.count;
    for (size_t i = 0; i < hits.count; ++i) {
      if (rows_++ >= limit_) continue;
      Json values = Json::array();
      for (size_t v = 0; v < each; ++v) values.push_back(json_number(hits.values[i * each + v]));
      const auto index = hit_index(hits, i);
      stream_.element({{"ranks", found.candidates[hits.candidate].ranks},
                       {"index", std::vector<uint64_t>(index.begin(), index.end())},
                       {"values", std::move(values)}});
    }
  }

  void failed(const StepInfo& info, const Candidate& candidate, const Error& error) override {
    Json json = {{"number", info.number},
                 {"ranks", candidate.ranks},
                 {"begin", candidate.box.begin},
                 {"shape", candidate.box.count}};
    add_failure(std::move(json), error);
  }

  void step_failed(const StepInfo& info, const Error& error) override {
    if (is_left_out(error)) {
      left_out_.push_back(info);
      left_out_.back().damage = std::make_shared<const Error>(error);
      return;
    }
    add_failure({{"number", info.number}, {"ranks", Json()}, {"begin", Json()}, {"shape", Json()}}, error);
  }

  void finish(const QuerySummary& summary) override {
    end_step();
    stream_.end();
    stream_.member("unlisted_count", rows_ > limit_ ? rows_ - limit_ : 0);
    stream_.member("step_count", summary.steps);
    stream_.member("step_without_variable_count", summary.steps_without);
    stream_.member("found_step_count", summary.steps_found);
    stream_.member("block_count", summary.blocks);
    stream_.member("candidate_count", summary.candidates);
    stream_.member("certain_count", summary.certain);
    stream_.member("hit_count", values_ ? Json(summary.hits) : Json());
    stream_.member("raw_bytes", summary.value_bytes);
    stream_.member("read_bytes", summary.cost.read_bytes);
    stream_.member("decoded_bytes", summary.cost.decoded_bytes);
    stream_.member("frame_count", summary.cost.frames);
    stream_.member("failures", failures_);
    stream_.member("left_out", json_left_out(left_out_));
    stream_.finish();
  }

 private:
  void end_step() {
    if (!std::exchange(in_step_, false)) return;
    stream_.end();
    stream_.end();
  }

  void add_failure(Json where, const Error& error) {
    note_failure(error);
    where.update(json_error(error));
    failures_.push_back(std::move(where));
  }

  bool values_;
  uint64_t limit_, rows_ = 0;
  bool in_step_ = false;
  JsonStream stream_;
  Json failures_ = Json::array();
  std::vector<StepInfo> left_out_;
};

}  // namespace

std::unique_ptr<QueryRows> QueryRows::make(RowForm form, const std::string& path, const std::string& expression,
                                           const std::vector<std::string>& variables, bool values, uint64_t limit) {
  switch (form) {
    case RowForm::text:
      return std::make_unique<TextRows>(variables, values, limit);
    case RowForm::csv:
      return std::make_unique<CsvRows>(variables, values, limit);
    case RowForm::json:
      break;
  }
  return std::make_unique<JsonRows>(path, expression, variables, values, limit);
}

}  // namespace forebay::cli

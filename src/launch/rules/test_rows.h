// Rows of rows.txt: events as they are written there, a small file system that makes calls of an Evaluator of them, and
// verdicts as they are written there.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "launch/rules/evaluator.h"

namespace forebay::launch::rules::test {

struct Row {
  std::string code, number, events;
  std::vector<std::string> sets, left;  // as expected, sorted
};

struct Rows {
  std::map<std::string, std::string> rules;
  std::vector<Row> rows;
};

inline std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// `text` cut at `separator`, but not within quotes.
inline std::vector<std::string> cut(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  bool is_quoted = false;
  for (const char c : text) {
    is_quoted ^= c == '"';
    if (c == separator && !is_quoted)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string& part : parts) part = trimmed(part);
  std::erase(parts, "");
  return parts;
}

inline Rows read_rows(const std::string& path) {
  Rows found;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind, name, rest;
    words >> kind >> name;
    std::getline(words, rest);
    if (kind == "R") found.rules[name] = trimmed(rest);
    if (kind != "T") continue;
    const size_t arrow = rest.rfind("=>");
    Row row{name.substr(0, name.rfind('.')), name.substr(name.rfind('.') + 1), trimmed(rest.substr(0, arrow)), {}, {}};
    std::istringstream expected(rest.substr(arrow + 2));
    for (std::string word; expected >> word;) {
      if (word.starts_with("left:"))
        row.left.push_back(word.substr(5));
      else if (word != "nothing")
        row.sets.push_back(word);
    }
    std::ranges::sort(row.sets);
    found.rows.push_back(row);
  }
  return found;
}

inline uint64_t size_of(const std::string& text) {
  uint64_t size = std::stoull("0" + text);
  if (text.ends_with('k')) size *= 1000;
  if (text.ends_with('M')) size *= 1000 * 1000;
  return size;
}

inline std::string as_written(const Verdict& verdict) {
  const std::string name = to_string(verdict.id);
  if (verdict.state == Verdict::State::unfinished) return name + "-";
  return fmt::format("{}{}@{:.6g}", name, verdict.state == Verdict::State::suspect ? "?" : "",
                     std::chrono::duration<double>(verdict.at).count());
}

class Play {
 public:
  explicit Play(Rule rule) : evaluator_(std::move(rule)) {}

  void run(const std::string& events) {
    for (const std::string& event : cut(events, ';')) {
      std::string body = event;
      if (size_t used = 0;
          (event[0] >= '0' && event[0] <= '9') || (event[0] == '-' && event[1] >= '0' && event[1] <= '9')) {
        at_ = std::chrono::duration_cast<Time>(std::chrono::microseconds(std::llround(std::stod(event, &used) * 1e6)));
        body = event.substr(used);
      }
      for (const std::string& each : cut(body, ',')) happen(each);
      take();
    }
    evaluator_.passed(at_ + std::chrono::hours(3));
    take();
    for (const Waiting& waiting : evaluator_.waiting()) sets_.push_back(to_string(waiting.id) + "-");
    std::ranges::sort(sets_);
  }

  const std::vector<std::string>& sets() const { return sets_; }
  const std::vector<Verdict>& verdicts() const { return verdicts_; }
  std::vector<std::string> losses() const {
    std::vector<std::string> names;
    for (const Verdict& verdict : verdicts_)
      if (verdict.is_loss) names.push_back(to_string(verdict.id));
    return names;
  }
  bool is_left(const std::string& path) const {
    return files_.contains(path) && !role_of(evaluator_.rule(), path).is_member();
  }

 private:
  void take() {
    for (Verdict& verdict : evaluator_.take_verdicts()) {
      sets_.push_back(as_written(verdict));
      verdicts_.push_back(std::move(verdict));
    }
  }

  void happen(const std::string& event) {
    if (event == "!") return evaluator_.killed(at_);
    if (event == ".") return evaluator_.ended(at_);
    if (!std::string("+=-^").contains(event[0])) return rename(event);
    const size_t quote = event.find('"');
    std::istringstream words(event.substr(1, quote == std::string::npos ? quote : quote - 1));
    std::string path, size;
    words >> path >> size;
    if (event[0] == '-') return remove(path);
    const bool has_text = quote != std::string::npos;
    std::string text = has_text ? event.substr(quote + 1, event.rfind('"') - quote - 1) : "";
    for (size_t at = 0; (at = text.find("\\n", at)) != std::string::npos;) text.replace(at, 2, "\n");
    files_[path] = has_text ? text.size() : size_of(size);
    if (event[0] == '^') return evaluator_.there(path, files_[path]);
    if (event[0] == '+') evaluator_.written(path, files_[path], at_);
    if (event[0] == '=') evaluator_.closed(path, files_[path], at_);
    if (has_text && evaluator_.wants_text(path)) evaluator_.text(path, text, 0, at_);
  }

  std::vector<std::string> below(const std::string& path) const {
    std::vector<std::string> found;
    for (const auto& [name, size] : files_)
      if (name == path || name.starts_with(path + "/")) found.push_back(name);
    return found;
  }

  void rename(const std::string& event) {
    const size_t arrow = event.find('>');
    const std::string from = event.substr(0, arrow), to = event.substr(arrow + 1);
    auto moved = below(from);
    if (moved.empty()) moved = {from};  // written where nobody looked
    std::vector<Evaluator::Move> moves;
    for (const std::string& path : moved) {
      const std::string name = to + path.substr(from.size());
      files_[name] = files_[path];
      files_.erase(path);
      moves.push_back({path, name, files_[name]});
    }
    evaluator_.renamed(moves, at_);
  }

  void remove(const std::string& path) {
    for (const std::string& each : below(path)) {
      files_.erase(each);
      evaluator_.removed(each, at_);
    }
  }

  Evaluator evaluator_;
  Time at_{};
  std::map<std::string, uint64_t> files_;
  std::vector<std::string> sets_;
  std::vector<Verdict> verdicts_;
};

}  // namespace forebay::launch::rules::test

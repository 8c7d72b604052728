// A rule (the first line) and what happens (the others: a letter, then paths): any text is refused or is a rule that
// prints as it reads, and whatever happens then is judged in bounded time.
#include <cstdlib>
#include <string_view>

#include "launch/rules/evaluator.h"
#include "launch/rules/resume.h"

using namespace forebay::launch::rules;

namespace {

std::string_view line_of(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void check_texts(std::string_view text) {
  if (const auto as = parse_as(text); as && *parse_as(print_as(*as)) != *as) std::abort();
  if (const auto point = parse_point(text); point && *parse_point(print_point(*point)) != *point) std::abort();
  if (const auto link = parse_link(text); link && *parse_link(print_link(*link)) != *link) std::abort();
}

void happen(Evaluator& evaluator, std::string_view line, Time at) {
  if (line.empty()) return evaluator.passed(at);
  const std::string_view path = line.substr(1);
  switch (line[0]) {
    case '^':
      return evaluator.there(path, path.size());
    case '+':
      return evaluator.written(path, path.size(), at);
    case '-':
      return evaluator.removed(path, at);
    case '!':
      return evaluator.killed(at);
    case '.':
      return evaluator.ended(at);
    case '"':
      return evaluator.text(path.substr(0, path.find('"')), path, 0, at);
    case '>': {
      const size_t arrow = std::min(path.find('>'), path.size());
      const Evaluator::Move move{std::string(path.substr(0, arrow)),
                                 std::string(path.substr(std::min(arrow + 1, path.size()))), 1};
      return evaluator.renamed({&move, 1}, at);
    }
    default:
      return evaluator.closed(path, path.size(), at);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = line_of(text);
  check_texts(first);
  const auto rule = parse_rule(first);
  if (!rule) return 0;
  const auto again = parse_rule(print_rule(*rule));
  if (!again || *again != *rule) std::abort();
  Evaluator evaluator(*rule);
  Time at{};
  for (int events = 0; !text.empty() && events < 200; ++events) {
    happen(evaluator, line_of(text), at);
    at += std::chrono::milliseconds(700);
    for (const Verdict& verdict : evaluator.take_verdicts())
      if (verdict.members.empty() || (verdict.state != Verdict::State::complete) == verdict.reason.empty())
        std::abort();
    for (const Waiting& waiting : evaluator.waiting())
      if (waiting.reason.empty()) std::abort();
  }
  evaluator.ended(at);
  if (!evaluator.waiting().empty() || evaluator.again()) std::abort();
  return 0;
}

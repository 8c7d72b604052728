// What somebody asks: it is refused, or is an expression whose nodes come behind their children and whose numbers name
// what is there.
#include <cstdlib>
#include <string_view>

#include "view/query/truth.h"

using namespace forebay::view;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto expression = parse_expression({reinterpret_cast<const char*>(data), size});
  if (!expression) return 0;
  for (const Condition& condition : expression->conditions)
    if (condition.variable >= expression->variables.size()) std::abort();
  for (size_t n = 0; n < expression->nodes.size(); ++n) {
    const Expression::Node& node = expression->nodes[n];
    if (node.join == Expression::Join::condition ? node.condition >= expression->conditions.size()
                                                 : node.children.empty())
      std::abort();
    for (const size_t child : node.children)
      if (child >= n) std::abort();
  }
  std::vector<Truth> truths(expression->conditions.size());
  for (const Truth truth : {Truth::none, Truth::maybe, Truth::all}) {
    truths.assign(truths.size(), truth);
    (void)judge(*expression, truths);
  }
  return 0;
}

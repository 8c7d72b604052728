// forebay-tiers-model [efficiency|losses|scale|coding]...: all of them if none is named.
#include <cstdio>
#include <cstring>
#include <utility>

#include "tables.h"

int main(int argc, char** argv) {
  using namespace forebay::bench;
  const std::pair<const char*, void (*)()> tables[] = {
      {"efficiency", print_efficiency}, {"losses", print_losses}, {"scale", print_scale}, {"coding", print_coding}};
  bool is_known = true;
  for (int i = 1; i < argc; ++i) {
    bool found = false;
    for (const auto& [name, print] : tables) found |= std::strcmp(argv[i], name) == 0;
    is_known &= found;
  }
  if (!is_known) {
    std::fprintf(stderr, "usage: forebay-tiers-model [efficiency|losses|scale|coding]...\n");
    return 2;
  }
  for (const auto& [name, print] : tables) {
    bool wanted = argc == 1;
    for (int i = 1; i < argc; ++i) wanted |= std::strcmp(argv[i], name) == 0;
    if (wanted) print();
  }
  return 0;
}

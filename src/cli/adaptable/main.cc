// Verbs for what adaptable I/O reads and writes.
#include "cli/adaptable/verbs.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace forebay::cli;
  static constexpr VerbFactory kVerbs[] = {make_config, make_info_file, make_repair_file};
  return run_program({.verbs = kVerbs, .extensions = {}}, argc, argv);
}

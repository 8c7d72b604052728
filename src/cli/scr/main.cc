// The verb `scr`.
#include "cli/program.h"
#include "cli/scr/verbs.h"

int main(int argc, char** argv) {
  using namespace forebay::cli;
  static constexpr VerbFactory kVerbs[] = {make_scr};
  return run_program({.verbs = kVerbs, .extensions = {}}, argc, argv);
}

// The verb `mount`.
#include "cli/mount/verbs.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace forebay::cli;
  static constexpr VerbFactory kVerbs[] = {make_mount};
  return run_program({.verbs = kVerbs, .extensions = {}}, argc, argv);
}

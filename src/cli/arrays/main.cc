// Verbs that read, find, compare and convert arrays.
#include "cli/arrays/verbs.h"
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace forebay::cli;
  static constexpr VerbFactory kVerbs[] = {
      make_extract, make_read, make_query, make_convert, make_report, make_diff, make_verify_consistency};
  return run_program({.verbs = kVerbs, .extensions = {}}, argc, argv);
}

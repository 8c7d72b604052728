// The core of the command.
#include "cli/program.h"

int main(int argc, char** argv) {
  using namespace forebay::cli;
  static constexpr VerbFactory kVerbs[] = {
      make_pack,  make_restore, make_ls,         make_info,   make_verify, make_advise, make_repair, make_reject,
      make_prune, make_remove,  make_lockd,      make_locks,  make_run,    make_watch,  make_status, make_settle,
      make_stop,  make_agent,   make_aggregator, make_gather, make_fetch,  make_plan,   make_doctor, make_recipes};
  return run_program({.verbs = kVerbs, .extensions = kExtensions}, argc, argv);
}

// A verb of the command: pack, restore, ls, ...
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/json.h"
#include "cli/syntax.h"

namespace forebay::cli {

struct VerbText {
  std::string_view name;
  std::string_view summary;       // one clause
  std::string_view usage;         // what follows "forebay NAME "
  std::string_view description;   // lines, each with its line feed
  std::string_view examples;      // lines, likewise
  bool is_interruptible = false;  // its work is nothing that goes on without it: Ctrl-C ends it (interruptible.h)
};

// How to answer.
struct Console {
  bool json = false;
  std::vector<std::string> words;  // of the command line, the verb first
};

class Verb {
 public:
  virtual ~Verb() = default;
  virtual const VerbText& text() const = 0;

  // Declares operands and options; --json and --help are declared by the caller.
  virtual void declare(Syntax& syntax) = 0;

  // Called with `words` of the command line that do not parse, before the caller prints why.
  virtual void refuse(const std::vector<std::string>& /*words*/, const Error& /*why*/) {}

  // Does the work and prints the result. An Error is printed by the caller.
  virtual Result<ExitCode> run(const Console& console) = 0;
};

using VerbFactory = std::unique_ptr<Verb> (*)();

std::unique_ptr<Verb> make_pack();
std::unique_ptr<Verb> make_restore();
std::unique_ptr<Verb> make_ls();
std::unique_ptr<Verb> make_info();
std::unique_ptr<Verb> make_verify();
std::unique_ptr<Verb> make_advise();
std::unique_ptr<Verb> make_repair();
std::unique_ptr<Verb> make_reject();
std::unique_ptr<Verb> make_prune();
std::unique_ptr<Verb> make_remove();
std::unique_ptr<Verb> make_lockd();
std::unique_ptr<Verb> make_locks();
std::unique_ptr<Verb> make_run();
std::unique_ptr<Verb> make_watch();
std::unique_ptr<Verb> make_status();
std::unique_ptr<Verb> make_stop();
std::unique_ptr<Verb> make_settle();
std::unique_ptr<Verb> make_agent();
std::unique_ptr<Verb> make_aggregator();
std::unique_ptr<Verb> make_fetch();
std::unique_ptr<Verb> make_gather();
std::unique_ptr<Verb> make_plan();
std::unique_ptr<Verb> make_doctor();
std::unique_ptr<Verb> make_recipes();

// `forebay VERB --help`, and the same for programs (docs/json.md).
std::string verb_help(Verb& verb);
Json help_json(Verb& verb);

// `forebay --version`: version, then what this build contains. And `forebay --version --json`.
std::string version_text();
Json version_json();

}  // namespace forebay::cli

// Which series of runs a verb means (decision 0021).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/json.h"
#include "cli/syntax.h"
#include "store/store.h"

namespace forebay::cli {

// --series, of verbs that look for "latest".
void declare_series(Syntax& syntax, std::string& series);

// `given`, else $FOREBAY_SERIES, else `otherwise`. invalid_argument if that cannot be the name of a series; `otherwise`
// is not looked at.
Result<std::string> series_or(const std::string& given, const std::string& otherwise);

// Those of `sets` that verbs without the name of a set work on: of the series that is given, or of $FOREBAY_SERIES,
// else all. not_found if there are sets, but none of the series that is given.
Result<std::vector<store::SetInfo>> all_or_series(const store::Store& store, const std::vector<store::SetInfo>& sets,
                                                  const std::string& given);

// The sets of `store` in which a verb looks for "latest": of the series that is given, or of $FOREBAY_SERIES, or of the
// only one. Errors as store::choose_series() has them.
Result<std::vector<store::SetInfo>> sets_of_series(const store::Store& store, const std::string& given);

// "series", "run", "host" and "command"; null what is not known.
Json json_origin(const store::Origin& origin);

// What this process writes into the sets that it makes. `words` are the command that wrote the files.
store::Origin origin_of(std::string series, std::string run, const std::vector<std::string>& words);

// Whether `word` names a program that this process can execute, as a path or along $PATH.
bool is_program_here(const std::string& word);
// Of a word for which that is false: permission (there is such a file) or not_found, with a hint.
Error why_not_executed(const std::string& word);

// A command from its program on: without the launcher (mpiexec, srun) and its options.
std::vector<std::string> program_words(const std::vector<std::string>& words);

// What a series is called by default: the same for the same program, arguments, directory and user; for a program that
// a launcher starts without the launcher and its options. Pure.
struct SeriesBasis {
  std::vector<std::string> words;  // the command's
  std::string directory;           // in which it starts
  uint64_t user = 0;
  std::vector<std::string> job_ids;  // what in words stands for the batch job, and is another text each time
  std::function<bool(const std::string&)> is_program;  // whether a word names something that can be executed
};
std::string default_series(const SeriesBasis& basis);

// The same of this process and its environment.
std::string default_series_of(const std::vector<std::string>& words);

}  // namespace forebay::cli

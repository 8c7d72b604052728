// The file of `--json-file`: a verb's document by itself, where what others print on standard output does not precede
// it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/json.h"

namespace forebay::cli {

class JsonFile {
 public:
  // For the option; stays empty if there is to be no file.
  std::string& path() { return path_; }

  // Whether the file can be written, before a job has run for days: exists, permission, not_found or io if not.
  Result<void> check();

  // Writes it whole or not at all; a failure is a warning, since the verb's own end is more important.
  void put(const Json& document) const;

 private:
  std::string path_;
};

// The FILE of the last --json-file among the words of a command line that has not been parsed, before its "--"; empty
// if there is none. Pure.
std::string json_file_of(const std::vector<std::string>& words);

}  // namespace forebay::cli

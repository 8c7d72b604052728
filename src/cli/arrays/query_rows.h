// What a query found, as lines for people, as CSV, or as JSON.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arrays/read_options.h"
#include "cli/json.h"
#include "view/query/query.h"

namespace forebay::cli {

enum class RowForm : uint8_t { text, csv, json };

// Prints steps, candidates or hits as they come (text: at the end, to fit the columns), and counts what is left out.
class QueryRows : public view::QueryVisitor {
 public:
  // Of the store, or the file, at `path`. At most `limit` rows: of hits if `values` are read, of candidates otherwise.
  static std::unique_ptr<QueryRows> make(RowForm form, const std::string& path, const std::string& expression,
                                         const std::vector<std::string>& variables, bool values, uint64_t limit);

  // From now on steps that are damaged are no failures: they are named and left out.
  void skip_damaged() { skips_damaged_ = true; }

  // Ends the output.
  virtual void finish(const view::QuerySummary& summary) = 0;

  // The kind of the first failure, if there was one.
  const std::optional<ErrorKind>& failure() const { return failure_; }

 protected:
  void note_failure(const Error& error) {
    if (!failure_) failure_ = error.kind;
  }
  bool is_left_out(const Error& of_step) const { return skips_damaged_ && is_damage(of_step); }

 private:
  std::optional<ErrorKind> failure_;
  bool skips_damaged_ = false;
};

}  // namespace forebay::cli

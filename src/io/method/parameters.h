// The parameters of a method, as a configuration gives them: "num_aggregators=2;verbose=1".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "io/group/failure.h"

namespace forebay::io {

// Of every method: what they say is meant for the interface that programs call (adios/configuration.h).
inline constexpr std::array<std::string_view, 4> kGeneralParameters = {"verbose", "quiet", "logfile", "abort_on_error"};

class Parameters {
 public:
  Parameters() = default;

  // Pairs are separated by ';', or by ',' if there is no ';' in the text; names count in any case, blanks around names
  // and values do not. A name without '=' has the value "1". The value of io_parameters goes up to the next ';'.
  explicit Parameters(std::string_view text);

  // nullptr if it was not given.
  const std::string* find(std::string_view name) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::string text(std::string_view name, std::string otherwise) const;

  // A whole number, possibly with one of the units k, m, g (of 1024). invalid_argument if it is something else.
  Outcome<uint64_t> number(std::string_view name, uint64_t otherwise) const;

  // 1, yes, true, on; 0, no, false, off.
  Outcome<bool> flag(std::string_view name, bool otherwise) const;

  const std::map<std::string, std::string>& all() const { return values_; }  // names in lower case

  // What stands in the text before a name that was given; of one given twice, before the last.
  std::string_view text_before(std::string_view name) const;

 private:
  std::string text_;
  std::map<std::string, std::string> values_;
  std::map<std::string, size_t> places_;  // of the names in the text
};

}  // namespace forebay::io

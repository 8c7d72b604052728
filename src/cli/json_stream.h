// A JSON document that is too large to be held as a whole, written piece by piece.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "cli/json.h"

namespace forebay::cli {

// Writes to standard output exactly what print_json() would print of the whole document. Each begin_...() has its
// end(); members belong to objects, elements to lists. The outermost is an object, which begins with this.
class JsonStream {
 public:
  JsonStream();

  void member(std::string_view key, const Json& value);
  void begin_list(std::string_view key);
  void begin_object();  // as an element
  void element(const Json& value);
  void end();

  // Ends the outermost object, and the line.
  void finish();

 private:
  struct Level {
    char closing;
    bool is_empty = true;
  };

  void next();
  void key(std::string_view key);
  void open(char opening, char closing);
  void value(const Json& value);
  void flush();

  std::vector<Level> levels_;
  std::string text_;  // not written yet
};

}  // namespace forebay::cli

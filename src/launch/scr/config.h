// SCR's configuration: keys with values from the environment, the user's file, calls of SCR_Config, and the system's
// file, in this order (docs/scr.md). Files are read by read_files(); everything else is pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace forebay::scr {

// The value of a variable of the environment, or null.
using Environment = std::function<const char*(const char*)>;

// getenv() of this process.
Environment process_environment();

// A line with several items, such as "CKPT=0 TYPE=XOR SET_SIZE=16".
struct ConfigLine {
  std::string id;                            // "0"
  std::map<std::string, std::string> items;  // TYPE, SET_SIZE
  std::string where = {};                    // "FILE:LINE" of its last item that a file has; else empty
};

// What a text for SCR_Config asks for.
struct ConfigRequest {
  enum class Kind : uint8_t { query, set, unset };
  struct Item {
    std::string name;                  // of the line's item; empty: the key itself
    std::optional<std::string> value;  // nothing: it is to be unset
  };
  Kind kind = Kind::query;
  std::string key, id;  // id: of a line with several items
  std::vector<Item> items;
};

// invalid_argument if it makes no sense.
Result<ConfigRequest> parse_request(std::string_view text);

class Config {
 public:
  explicit Config(Environment environment = process_environment()) : environment_(std::move(environment)) {}

  // SCR_Config: sets, unsets what a call has set, or gives the value of what is asked for, if there is one; nothing for
  // the others. The defaults are not told.
  Result<std::optional<std::string>> call(std::string_view text);

  // The user's file ($SCR_CONF_FILE, else .scrconf in the prefix) and the system's, which may be empty or not there.
  // Once. The errors name file and line; keys that nobody knows are no error (warnings()). permission if others than
  // the user can write a file that says which program is to be run.
  Result<void> read_files(const std::string& system_file);
  bool has_read_files() const { return has_read_files_; }

  // The value of a key, by the order of the sources, or its default; nothing if it has none.
  std::optional<std::string> get(std::string_view key) const;
  std::string text(std::string_view key) const { return get(key).value_or(""); }
  // invalid_argument, with key and value, if it is no whole number, and 0 if there is none.
  Result<int64_t> number(std::string_view key) const;
  Result<double> real(std::string_view key) const;
  Result<bool> flag(std::string_view key) const;

  // "FILE:LINE" or "the environment", for messages; empty: the default, a call, or the values of another rank.
  std::string where(std::string_view key) const;

  // "power=psu1,switch=0" of the node's GROUPS line, as `forebay agent --failure-groups` takes it; empty: none.
  std::string groups_of(std::string_view host) const;

  // The lines of a key with several items (GROUPS, STORE, CKPT), by their ids.
  std::vector<ConfigLine> lines(std::string_view key) const;

  // "FILE:LINE: nobody knows the key SCR_FLUHS; did you mean SCR_FLUSH?"
  std::span<const std::string> warnings() const { return warnings_; }

  // Everything but defaults as a text, and back: how ranks agree. What it was replaces calls, files and environment.
  std::string flattened() const;
  void take_flattened(std::string_view text);

 private:
  struct Value {
    std::string text, where;  // where: "FILE:LINE"; empty: a call
  };
  using Layer = std::map<std::string, Value>;  // by "KEY", or "KEY ID" and "KEY ID ITEM"

  static void apply(const ConfigRequest& request, const std::string& where, Layer& layer);
  Result<void> read_file(const std::string& path, bool is_named, Layer& to);
  std::optional<Value> look_up(const std::string& name) const;
  std::optional<std::string> find(const std::string& name) const;

  Environment environment_;
  Layer user_, calls_, system_;
  bool has_read_files_ = false, is_flat_ = false;
  std::vector<std::string> warnings_;
};

// $NAME and ${NAME} replaced by what the environment has, or by nothing.
std::string replace_variables(std::string_view text, const Environment& environment);

}  // namespace forebay::scr

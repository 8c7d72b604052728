// The methods that there are, by name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/group/definition.h"
#include "io/method/method.h"
#include "io/method/parameters.h"

namespace forebay::io {

struct MethodEntry {
  std::string name;                     // as programs are told
  std::vector<std::string> aliases;     // further names
  std::vector<std::string> parameters;  // names of those it knows, in lower case, beside the general ones
  std::function<Outcome<std::unique_ptr<Method>>(const Parameters&)> make;  // invalid_argument for a wrong value
};

struct MadeMethod {
  std::unique_ptr<Method> method;
  // Parameters that the method does not know, with place and the nearest name; general ones that make no sense.
  std::vector<std::string> warnings;
};

// Names count in any case. Thread-safe.
class MethodRegistry {
 public:
  // Of this process, with the methods of this folder. More can be added.
  static MethodRegistry& instance();

  // Replaces one of the same name.
  void add(MethodEntry entry);

  // Looks for a method that is not there by that name; asked before find() fails. At first, plug-ins are found so.
  using Finder = std::function<Outcome<MethodEntry>(const std::string& name)>;
  void set_finder(Finder finder);

  // unknown_method with the nearest name; what the finder says, if it found a file and cannot use it.
  Outcome<MethodEntry> find(const std::string& name);

  // What find() or the method says, with the place and the group that the choice names.
  Outcome<MadeMethod> make(const MethodChoice& choice);

  // Those that were added, in the order of adding, without aliases.
  std::vector<std::string> names() const;

  // The same, and behind them plug-ins in the directories that are searched. These are loaded.
  struct Available {
    std::vector<std::string> names;
    std::vector<Failure> unusable;  // files that are there and cannot be used
  };
  Available available();

  MethodRegistry(const MethodRegistry&) = delete;
  MethodRegistry& operator=(const MethodRegistry&) = delete;

 private:
  MethodRegistry();
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace forebay::io

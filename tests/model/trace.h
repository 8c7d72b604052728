// What happened, as lines to read: messages, decisions, and what the application and `run` do.
#pragma once

#include <string>
#include <vector>

#include "job/wire/messages.h"

namespace forebay::job::model {

// One line: the message's name and what matters in it.
std::string to_text(const wire::MessageT& message);
// Whether a reader of a scenario has no use for it: it only says that somebody is alive, or repeats an answer.
bool is_small_talk(const wire::MessageT& message);

class Trace {
 public:
  explicit Trace(bool is_on) : is_on_(is_on) {}
  bool is_on() const { return is_on_; }
  // Messages with the same text, one after another, are one line.
  void sent(const std::string& from, const std::string& to, const std::string& text);
  void add(const std::string& who, const std::string& what);
  // Since the last call, and forgets it.
  std::string take();

 private:
  struct Entry {
    std::vector<std::string> from, to;
    std::string text;
  };
  bool is_on_;
  std::vector<Entry> entries_;
};

}  // namespace forebay::job::model

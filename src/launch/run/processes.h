// Processes that end with their starter.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "base/fd.h"
#include "launch/run/relaunch.h"

namespace forebay::launch {

struct ProcessSpec {
  std::vector<std::string> words;                                // the first is looked up in $PATH
  std::vector<std::pair<std::string, std::string>> environment;  // set beside this process's own
  int death_signal = 0;      // what it gets when the thread that started it ends, however; 0: nothing
  bool own_session = false;  // signals of the terminal do not reach it
  bool piped = false;        // its standard input and output are pipes to this process: Process::in and out
  std::string log;           // its standard error is appended there; empty: this process's
};

struct Process {
  pid_t pid = 0;
  Fd in;   // closed when the process may end: its standard input ends then
  Fd out;  // nonblocking
};

// With no signal blocked, and all handled as usual. not_found and the like if the program cannot be run. `words` is not
// empty.
Result<Process> spawn(const ProcessSpec& spec);

// What a program prints, which is waited for. The errors of running it; timeout, after it was killed; disconnected if
// it does not end well, with how it did. What it says on standard error goes to this process's.
Result<std::string> output_of(const std::vector<std::string>& words, std::chrono::milliseconds patience);

struct Ended {
  pid_t pid = 0;
  Ending ending;
};

// The children that have ended and were not asked for before.
std::vector<Ended> reap();

// From now on processes whose parents have ended become children of this one, so that none is forgotten.
void adopt_orphans();

// The children of this process, ended ones that were not reaped included.
std::vector<pid_t> children();

// Does something in a child, for a file system may hang: whether it was done in that time. The calling thread must be
// the only one.
bool done_in_child(const std::function<void()>& action, std::chrono::milliseconds patience);

// What a launcher such as ssh, which gives its arguments to a shell, has to be given for one word: the word itself
// where a shell leaves it alone, else in quotes.
std::string shell_word(const std::string& word);

// Words with blanks between them, as they are in an environment variable or an option; single and double quotes keep
// blanks. invalid_argument if a quote has no end.
Result<std::vector<std::string>> split_words(const std::string& text);

}  // namespace forebay::launch

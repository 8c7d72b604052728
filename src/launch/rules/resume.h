// How a code is resumed from a set (docs/rules.md, "How the code is resumed"). Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "launch/rules/rule.h"
#include "launch/rules/template.h"

namespace forebay::launch::rules {

struct Resume {
  // A member under another name as well, by copy: "REVCON -> CONFIG".
  struct As {
    Pattern from;
    Template to;
    bool operator==(const As&) const = default;
  };
  // A file that says which set is the newest: 'latest "{set}"' is written, 'checkpoints.txt += "{step}"' is cut behind
  // that line.
  struct Point {
    Template file, text;
    bool is_cut = false;
    bool operator==(const Point&) const = default;
  };
  // A symbolic link, one for each {rank} if it has that: "RE/rstrtdat.n{rank} -> rst-{set}.n{rank}".
  struct Link {
    Template file, target;
    bool operator==(const Link&) const = default;
  };

  bool is_in_place = false;       // the set is put where it was written
  std::string directory;          // or where a directory of the user's has it: relative to the stage, or absolute
  std::vector<Template> args;     // words that are appended to the command
  std::vector<Template> command;  // words that replace it
  std::map<std::string, Template> env;
  std::vector<As> as;
  std::vector<Point> points;
  std::vector<Link> links;
  std::vector<Pattern> aside;  // files that would stop the code or send it astray
  bool operator==(const Resume&) const = default;
};

// Of a line of a recipe. invalid_argument with the column.
Result<Resume::As> parse_as(std::string_view text);
Result<Resume::Point> parse_point(std::string_view text);
Result<Resume::Link> parse_link(std::string_view text);
std::string print_as(const Resume::As& as);
std::string print_point(const Resume::Point& point);
std::string print_link(const Resume::Link& link);

// invalid_argument, with the text, if it uses a word that neither the rule has nor a restart knows.
Result<void> check_resume(const Resume& resume, const Rule& rule);

// With words replaced by what they are on this run.
Result<Resume> with_words(const Resume& resume, const Words& words);

}  // namespace forebay::launch::rules

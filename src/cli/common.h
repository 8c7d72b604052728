// What several verbs share: which store and set is meant, and the options for memory and threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/syntax.h"
#include "engine/options.h"
#include "store/store.h"

namespace forebay::cli {

// How many operands a verb has beside the store.
struct OperandCount {
  size_t least = 0, most = 0;
  std::vector<std::string> names = {};  // of the first `least` of them, as the usage has them: "NAME" is that of a set
};

struct Operands {
  std::string store;
  std::vector<std::string> own;
};

// Tells the store from the verb's own operands. The store is --store; else the first operand, if there is one more than
// the verb can use; else $FOREBAY_STORE; else again the first operand. With a choice left between the last two, an
// operand that is a store counts as one. invalid_argument if there are too few, with what is missing, or too many.
Result<Operands> split_operands(std::vector<std::string> typed, const std::string& store_option,
                                const OperandCount& count);

void declare_store(Syntax& syntax, std::string& store);
void declare_memory(Syntax& syntax, engine::Resources& resources);
void declare_threads(Syntax& syntax, engine::Resources& resources);

// A variable of the environment, or empty.
std::string of_environment(const char* name);
std::string store_of_environment();  // $FOREBAY_STORE

// The set `name`, where "latest" is the newest whose manifest can be read, and "step:40" the newest that has that step,
// both of the series that is meant (cli/series.h). not_found otherwise.
Result<store::SetInfo> find_set(const store::Store& store, const std::string& name, const std::string& series);

// What a repair left of a set, in words: "repaired from DD0008, 3 files damaged". Empty if none wrote it.
std::string repair_text(const store::Manifest& manifest);

// "forebay: warning: TEXT" on standard error.
void warn(std::string_view text);

}  // namespace forebay::cli

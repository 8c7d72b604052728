// The tables of docs/job.md, as the code has them.
#pragma once

#include <string>

#include "base/error.h"

namespace forebay::job::model {

// The page with the text between "<!-- table: NAME -->" and "<!-- end -->" as it is to be. invalid_argument for a name
// that is none.
Result<std::string> with_tables(const std::string& page);

// Whether the file is so; `update` writes it. What is wrong is printed.
bool run_page(const std::string& file, bool update);

}  // namespace forebay::job::model

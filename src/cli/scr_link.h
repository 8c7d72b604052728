// The names by which job scripts know `forebay scr`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forebay::cli {

// The words that the command stands for when it is called by this name: scr_run [--OPTION=VALUE...] LAUNCHER... is
// "scr run [OPTIONS] -- LAUNCHER...", scr_srun ... "scr run -- srun ...", and scr_prerun, scr_postrun, scr_halt and
// scr_index are "scr prerun" and so on; scr_halt's --unset-CONDITION is --unset CONDITION. The words as they are for
// every other name.
std::vector<std::string> words_of_link(std::string_view called, std::vector<std::string> words);

}  // namespace forebay::cli

// Process groups as files that wait to be packed into a set, one for each rank.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/group/failure.h"
#include "io/group/process_group.h"
#include "io/method/shared_file.h"

namespace forebay::io {

// What the set of a step is called: the name of the file that the program meant to write, without ".bp", and the time
// index. Characters that names of sets cannot have become '_'.
std::string staged_set_name(const std::string& path, uint64_t time_index);

// The largest time index of the sets among `sets` that are steps of the file `path`, whoever wrote them; 0 if there are
// none.
uint64_t last_time_index(std::span<const std::string> sets, const std::string& path);

// "rank000007.pg"
std::string staged_file_name(uint32_t rank);

// The process groups of one rank as a file of its own, whose blocks lie there in one piece each. Transforms are named,
// not done. Errors of writing; those of EncodedPart::make().
Outcome<void> write_staged(const std::string& path, std::span<const ProcessGroup> groups);

// The same in steps: process groups may be spilled into the file in between. It has its name when it is finished. With
// `memory` it is one of those files, if one can be had.
Outcome<std::unique_ptr<SharedFile>> open_staged(const std::string& path, ReusedFiles* memory = nullptr);
Outcome<void> finish_staged(SharedFile& file, std::span<const ProcessGroup> groups);

}  // namespace forebay::io

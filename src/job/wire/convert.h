// What messages carry in a form of their own, to that form and back: both directions of each side by side. Pure.
#pragma once

#include <cstdint>

#include "base/catalogue.h"
#include "base/error.h"
#include "job/wire/messages.h"

namespace forebay::job::wire {

// An error as the answer to a request: its kind, and its whole message. Back, the message is the error's `what`, and a
// kind that this version does not know is internal. `attempt`: as RefusedT has it.
RefusedT refusal_of(const Error& error, uint64_t attempt = 0);
Error error_of(const RefusedT& refused);

// Likewise the error of a task that failed.
void set_error(TaskDoneT& done, const Error& error);
Error error_of(const TaskDoneT& done);

// A file of a set. `rank`: the one that wrote it, or -1 if that is to be told from its name; in a row it is 0 then. A
// row's format and variables are not sent.
FileT file_of(const FileRow& row, int64_t rank);
FileRow row_of(const FileT& file);

}  // namespace forebay::job::wire

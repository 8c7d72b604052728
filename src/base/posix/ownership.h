// Whose files and directories are: what other users can have made, or can change, is not to be trusted.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include "base/error.h"

namespace forebay {

// Whether it is this user or root, who can do everything anyway.
bool is_trusted_owner(uid_t owner);

// A directory that is this user's alone: nobody else may even look into it. `path` itself is no link. invalid_argument
// if it is no directory; permission, with `hint`, if it is another user's, or others can use it. `what` is what
// messages call it: "the rendezvous directory".
Result<void> check_private_directory(const std::string& path, std::string_view what, const std::string& hint);

// A directory of this user's or root's in which nobody else can remove or rename what this user has there: others may
// look into it, and write to it if it is sticky. A group that has its owner's number is the owner's alone. Where `path`
// is a link, that is this user's or root's, too. Errors as above.
Result<void> check_own_directory(const std::string& path, std::string_view what, const std::string& hint);

// The directories above `path` that are not there, for this user alone. io errors, also of what is in the way.
Result<void> make_private_parents(const std::string& path);

}  // namespace forebay

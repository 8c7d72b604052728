// What a build without UCX has in place of it.
#ifndef FOREBAY_WITH_UCX

#include "fabric/remote.h"

namespace forebay::fabric {

Result<std::unique_ptr<Road>> ucx_road(Link, Link::Patience) {
  return fail(ErrorKind::unsupported, "UCX is asked for, but this build leaves it out");
}

}  // namespace forebay::fabric

#endif

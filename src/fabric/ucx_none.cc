// What a build without UCX has in place of it.
#ifndef FOREBAY_WITH_UCX

#include "fabric/libraries.h"
#include "fabric/remote.h"
#include "fabric/ucx_server.h"

namespace forebay::fabric {

static std::unexpected<Error> left_out() {
  return fail(ErrorKind::unsupported, "UCX cannot be used: this build leaves it out");
}

Result<std::unique_ptr<Transport>> ucx_transport(Link, Link::Patience) { return left_out(); }

Result<std::shared_ptr<UcxServer>> UcxServer::create(Exposures&, Hub&) { return left_out(); }

Result<std::string> ucx_version() { return left_out(); }

}  // namespace forebay::fabric

#endif

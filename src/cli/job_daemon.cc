#include "cli/job_daemon.h"

#include <unistd.h>

#include "cli/job_options.h"
#include "cli/json.h"

namespace forebay::cli {

Result<ExitCode> serve_job(Daemon& daemon,
                           const std::function<Result<void>(const Listening& listening, std::stop_token stop)>& work) {
  Result<void> told;
  const Listening listening = [&](const std::vector<fabric::Address>& addresses) {
    const std::string text = joined(addresses);
    told = daemon.ready(text, {{"addresses", json_addresses(addresses)}, {"pid", ::getpid()}});
    if (!told) daemon.end(told.error().message());
  };
  FOREBAY_CHECK(serve(daemon, {[&](std::stop_token stop) { return work(listening, stop); }}, kTidySeconds));
  FOREBAY_CHECK(std::move(told));
  return ExitCode::ok;
}

}  // namespace forebay::cli

#include "adios/configuration.h"

#include "adios/report.h"
#include "io/method/parameters.h"

namespace forebay::adios {

void heed(const std::string& text) {
  const io::Parameters parameters(text);
  if (const auto level = parameters.number("verbose", 2); parameters.has("verbose") && level)
    set_verbosity(static_cast<int>(std::min<uint64_t>(*level, 4)));
  if (parameters.flag("quiet", false).value_or(false)) set_verbosity(0);
  if (parameters.flag("abort_on_error", false).value_or(false)) set_abort_on_error(true);
  if (parameters.flag("skip_damaged", false).value_or(false)) set_skip_damaged(true);
  if (const std::string* path = parameters.find("logfile")) set_log_file(*path);
}

}  // namespace forebay::adios

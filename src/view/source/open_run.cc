#include <sys/stat.h>

#include "bp/index.h"
#include "view/place/layout_text.h"
#include "view/source/bp_run.h"
#include "view/source/growing_run.h"
#include "view/source/run.h"
#include "view/source/store_run.h"

namespace forebay::view {

Result<std::unique_ptr<Run>> open_run(const std::string& path, const RunOptions& given) {
  RunOptions options = given;
  options.resources = given.resources.resolved();
  FOREBAY_TRY(options.resources.memory_bytes, engine::buffer_bytes(options.resources.memory_bytes));
  if (!options.layout.empty()) FOREBAY_CHECK(parse_layout(options.layout));
  struct stat status{};
  if (stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) {
    FOREBAY_TRY(const auto source, FileSource::open(path));
    FOREBAY_TRY(const auto footer, bp::read_footer(*source));
    return footer ? open_bp_run(path, options) : open_growing_run(path, options);
  }
  return open_store_run(path, options);
}

}  // namespace forebay::view

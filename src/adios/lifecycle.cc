// From adios_init() to adios_finalize().
#include <optional>

#include <adios.h>

#include "adios/configuration.h"
#include "adios/mpi/communicator.h"
#include "adios/program.h"
#include "adios/report.h"
#include "io/config/config.h"
#include "io/method/agreement.h"

namespace forebay::adios {
namespace {

using io::Outcome;

// Rank 0 reads the file and tells all, or why it cannot.
Outcome<std::string> text_for_all(io::Communicator& everybody, const std::string& path) {
  Outcome<std::string> text;
  if (everybody.rank() == 0) text = io::read_config_text(path);
  FOREBAY_CHECK(io::tell_failure(everybody, text ? Outcome<void>{} : std::unexpected(text.error()), 0));
  Bytes bytes;
  if (everybody.rank() == 0) bytes.assign(as_bytes(*text).begin(), as_bytes(*text).end());
  FOREBAY_CHECK(everybody.broadcast(bytes, 0));
  return std::string(as_text(bytes));
}

// Communicators that MPI still knows; what was there before stays.
Outcome<std::shared_ptr<io::Communicator>> begin(MPI_Comm comm) {
  FOREBAY_TRY(std::shared_ptr<io::Communicator> everybody, wrap(comm));
  Program& program = Program::instance();
  if (!program.is_initialized()) program.begin(everybody);
  return everybody;
}

Outcome<void> configure(const std::string& path, MPI_Comm comm) {
  FOREBAY_TRY(const std::shared_ptr<io::Communicator> everybody, begin(comm));
  FOREBAY_TRY(const std::string text, text_for_all(*everybody, path));
  // All ranks have the same text, and find the same in it.
  const bool speaks = everybody->rank() == 0;
  std::vector<std::string> of_refused;
  Outcome<io::Config> parsed = io::parse_config(text, path, io::free_memory_now(), &of_refused);
  if (speaks)
    for (const std::string& warning : of_refused) warn(warning);
  if (!parsed) return std::unexpected(io::of_all(*everybody, parsed.error()));
  io::Config& config = *parsed;
  for (const io::GroupDefinition& group : config.groups)  // before anything is said
    for (const io::MethodChoice& choice : group.methods) heed(choice.parameters);
  if (speaks)
    for (const std::string& warning : config.warnings) warn(warning);
  FOREBAY_TRY(io::Session* const session, Program::instance().session());
  std::optional<io::Failure> transform;  // the first that is refused: the call returns it, as ADIOS's does
  for (io::GroupDefinition& group : config.groups) {
    const io::Session::Declared declared = session->declare(std::move(group));
    for (const io::Failure& problem : declared.problems) {
      if (!transform && problem.code == io::Code::unknown_transform)
        transform = problem;
      else
        report(io::of_all(*everybody, problem));
    }
    if (speaks)
      for (const std::string& warning : declared.warnings) warn(warning);
  }
  if (config.max_buffer_bytes) session->set_buffer_limit(config.max_buffer_bytes);
  if (transform) return std::unexpected(io::of_all(*everybody, *transform));
  return {};
}

}  // namespace
}  // namespace forebay::adios

using namespace forebay::adios;

extern "C" {

int adios_init(const char* config, MPI_Comm comm) {
  return guarded([&] { return configure(text_of(config), comm); });
}

int adios_init_noxml(MPI_Comm comm) {
  return guarded([&]() -> forebay::io::Outcome<void> {
    FOREBAY_CHECK(begin(comm));
    return {};
  });
}

int adios_is_initialized(void) { return Program::instance().is_initialized(); }

int adios_finalize(int) {
  return guarded([]() -> forebay::io::Outcome<void> {
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    forebay::io::Outcome<void> finalized = session->finalize();
    Program::instance().end();
    return finalized;
  });
}

int adios_start_calculation(void) {
  return guarded([]() -> forebay::io::Outcome<void> {
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    session->begin_calculation();
    return {};
  });
}

int adios_stop_calculation(void) {
  return guarded([]() -> forebay::io::Outcome<void> {
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    session->end_calculation();
    return {};
  });
}

int adios_end_iteration(void) {
  return guarded([]() -> forebay::io::Outcome<void> {
    FOREBAY_TRY(forebay::io::Session* const session, Program::instance().session());
    session->end_iteration();
    return {};
  });
}
}

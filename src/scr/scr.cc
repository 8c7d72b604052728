// scr.h: what programs call. Looks after the order of calls, says what went wrong, and leaves the rest to Session.
#include "scr/scr.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "scr/phases.h"
#include "scr/session.h"

namespace {

using namespace forebay;
using namespace forebay::scr;

constexpr int kFailure = 1;

struct Program {
  Config config;
  Phases phases;
  std::unique_ptr<Session> session;  // null: SCR_ENABLE=0, or not between SCR_Init and SCR_Finalize
  bool is_off = false;
  int64_t calls_when_off = 0;
  bool is_inside = false;  // of a call: what a program's own open() asks meanwhile is not meant
};

Program& program() {
  static Program one;
  return one;
}

int told(const std::string& message) {
  std::fprintf(stderr, "SCR: %s\n", message.c_str());
  return kFailure;
}

int told(const Error& error) {
  // What another rank has failed at is told by that rank, and by rank 0.
  const bool is_told = !program().session || !program().session->is_first();
  if (error.kind == ErrorKind::cancelled && is_told) return kFailure;
  return told(error.message());
}

class Inside {
 public:
  Inside() : before_(std::exchange(program().is_inside, true)) {}
  ~Inside() { program().is_inside = before_; }

 private:
  bool before_;
};

// The call, if it is in its order: `body` returns Result<void>, and is not called where SCR is switched off.
template <class Body>
int in_order(Call call, const Body& body) {
  Program& one = program();
  if (one.is_inside) return told("a call within a call");
  if (const auto fault = one.phases.fault(call)) return told(*fault);
  if (one.is_off) {
    one.phases.done(call);
    return SCR_SUCCESS;
  }
  const Inside inside;
  try {
    const Result<void> done = body(*one.session);
    const bool ends_a_phase = call == Call::complete_output || call == Call::complete_restart || call == Call::finalize;
    if (done || ends_a_phase) one.phases.done(call);
    return done ? SCR_SUCCESS : told(done.error());
  } catch (const std::exception& error) {
    return told(fmt::format("memory is used up, or a fault of Forebay: {}", error.what()));
  }
}

int missing(const char* what) { return told(fmt::format("{} is missing", what)); }

Result<void> copy(const std::string& text, char* to) {
  if (to == nullptr) return {};
  if (text.size() >= SCR_MAX_FILENAME)
    return fail(ErrorKind::limit, fmt::format("'{}' is longer than SCR_MAX_FILENAME", text));
  std::memcpy(to, text.c_str(), text.size() + 1);
  return {};
}

// SCR_HALT_EXIT: ends the program where it is to end.
void exit_if_asked(bool is_enabled) {
  Program& one = program();
  if (!is_enabled || one.is_off || !one.session) return;
  const auto wanted = one.config.flag("SCR_HALT_EXIT");
  if (!wanted || !*wanted) return;
  const auto why = one.session->why_exit();
  if (!why || why->empty()) return;
  if (one.session->is_first()) told("ends the job: " + *why);
  SCR_Finalize();
  std::exit(0);
}

}  // namespace

extern "C" {

int SCR_Init(void) {
  Program& one = program();
  if (const auto fault = one.phases.fault(Call::init)) return told(*fault);
  // The environment alone decides before MPI is asked: all ranks have the same.
  try {
    const Inside inside;
    const auto is_on = one.config.flag("SCR_ENABLE");
    if (!is_on) return told(is_on.error());
    one.is_off = !*is_on;
    if (!one.is_off) {
      auto session = Session::open(one.config);
      if (!session) return told(session.error());
      const auto still_on = one.config.flag("SCR_ENABLE");
      one.is_off = still_on && !*still_on;
      if (!one.is_off) one.session = std::move(*session);
    }
    one.phases.done(Call::init);
  } catch (const std::exception& error) {
    return told(error.what());
  }
  exit_if_asked(true);
  return SCR_SUCCESS;
}

int SCR_Finalize(void) {
  const int code = in_order(Call::finalize, [](Session& session) { return session.finish(); });
  if (program().phases.phase() == Phases::Phase::after) program().session.reset();
  return code;
}

const char* SCR_Config(const char* config_string) {
  Program& one = program();
  if (config_string == nullptr) {
    missing("the text of SCR_Config");
    return nullptr;
  }
  const Inside inside;
  try {
    const auto request = parse_request(config_string);
    if (!request) {
      told(request.error());
      return nullptr;
    }
    const bool asks = request->kind == ConfigRequest::Kind::query;
    if (const auto fault = one.phases.fault(Call::config_set); !asks && fault) {
      told(*fault);
      return nullptr;
    }
    const auto value = one.config.call(config_string);
    return value && *value ? ::strdup((*value)->c_str()) : nullptr;
  } catch (const std::exception& error) {
    told(error.what());
    return nullptr;
  }
}

const char* SCR_Configf(const char* format, ...) {
  if (format == nullptr) {
    missing("the format of SCR_Configf");
    return nullptr;
  }
  va_list arguments;
  va_start(arguments, format);
  char* text = nullptr;
  const int length = ::vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) {
    told("the text of SCR_Configf cannot be made");
    return nullptr;
  }
  const char* value = SCR_Config(text);
  std::free(text);
  return value;
}

int SCR_Route_file(const char* name, char* file) {
  if (name == nullptr || file == nullptr) return missing("an argument of SCR_Route_file");
  Program& one = program();
  try {
    const auto phase = one.phases.phase();
    Result<std::string> path{name};
    if (one.session && !one.is_inside && (phase == Phases::Phase::output || phase == Phases::Phase::restart)) {
      const Inside inside;
      path = phase == Phases::Phase::output ? one.session->route_output(name) : one.session->route_restart(name);
    }
    if (!path) return told(path.error());
    const auto copied = copy(*path, file);
    return copied ? SCR_SUCCESS : told(copied.error());
  } catch (const std::exception& error) {
    return told(error.what());
  }
}

int SCR_Need_checkpoint(int* flag) {
  if (flag == nullptr) return missing("the flag of SCR_Need_checkpoint");
  Program& one = program();
  *flag = 0;
  if (one.is_off) {
    const auto interval = one.config.number("SCR_CHECKPOINT_INTERVAL").value_or(0);
    *flag = interval <= 0 || ++one.calls_when_off % interval == 0 ? 1 : 0;
  }
  return in_order(Call::need_checkpoint, [&](Session& session) -> Result<void> {
    FOREBAY_TRY(const bool needs, session.need_checkpoint());
    *flag = needs ? 1 : 0;
    return {};
  });
}

int SCR_Start_output(const char* name, int flags) {
  return in_order(Call::start_output, [&](Session& session) {
    return session.start_output(name != nullptr ? name : "", (flags & SCR_FLAG_CHECKPOINT) != 0,
                                (flags & SCR_FLAG_OUTPUT) != 0);
  });
}

int SCR_Complete_output(int valid) {
  const int code =
      in_order(Call::complete_output, [&](Session& session) { return session.complete_output(valid != 0); });
  exit_if_asked(code == SCR_SUCCESS);
  return code;
}

int SCR_Start_checkpoint(void) { return SCR_Start_output(nullptr, SCR_FLAG_CHECKPOINT); }

int SCR_Complete_checkpoint(int valid) { return SCR_Complete_output(valid); }

int SCR_Have_restart(int* flag, char* name) {
  if (flag == nullptr) return missing("the flag of SCR_Have_restart");
  *flag = 0;
  return in_order(Call::have_restart, [&](Session& session) -> Result<void> {
    FOREBAY_TRY(const auto found, session.have_restart());
    if (!found) return {};
    FOREBAY_CHECK(copy(*found, name));
    *flag = 1;
    return {};
  });
}

int SCR_Start_restart(char* name) {
  return in_order(Call::start_restart, [&](Session& session) -> Result<void> {
    FOREBAY_TRY(const auto found, session.start_restart());
    return copy(found, name);
  });
}

int SCR_Complete_restart(int valid) {
  return in_order(Call::complete_restart, [&](Session& session) { return session.complete_restart(valid != 0); });
}

int SCR_Current(const char* name) {
  if (name == nullptr) return missing("the name of SCR_Current");
  return in_order(Call::current, [&](Session& session) { return session.set_current(name); });
}

int SCR_Drop(const char* name) {
  if (name == nullptr) return missing("the name of SCR_Drop");
  return in_order(Call::drop, [&](Session& session) { return session.drop(name); });
}

int SCR_Delete(const char* name) {
  if (name == nullptr) return missing("the name of SCR_Delete");
  return in_order(Call::remove, [&](Session& session) { return session.remove(name); });
}

int SCR_Should_exit(int* flag) {
  if (flag == nullptr) return missing("the flag of SCR_Should_exit");
  *flag = 0;
  return in_order(Call::should_exit, [&](Session& session) -> Result<void> {
    FOREBAY_TRY(const std::string why, session.why_exit());
    if (!why.empty() && session.is_first()) std::fprintf(stderr, "SCR: it is time to end: %s\n", why.c_str());
    *flag = why.empty() ? 0 : 1;
    return {};
  });
}

char* SCR_Get_version(void) {
  static char version[] = SCR_VERSION;
  return version;
}

}  // extern "C"

#include "adios/report.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/printable.h"

int adios_errno = err_no_error;

namespace forebay::adios {
namespace {

std::atomic<int> verbosity = 2;
std::atomic<bool> aborts_on_error = false;
std::atomic<bool> leaves_damaged_out = false;
std::mutex log_mutex;
std::FILE* log_file = nullptr;  // stderr
thread_local std::string last_message;

void print(const char* kind, const std::string& text) {
  const std::lock_guard lock(log_mutex);
  std::FILE* const file = log_file ? log_file : stderr;
  std::fprintf(file, "%s: %s\n", kind, printable(text).c_str());
  std::fflush(file);
}

std::string words_of(uint32_t ranks) { return " (told to all " + std::to_string(ranks) + " ranks)"; }

}  // namespace

void set_verbosity(int level) { verbosity = level; }

void set_abort_on_error(bool aborts) { aborts_on_error = aborts; }

void set_skip_damaged(bool skips) { leaves_damaged_out = skips; }
bool skips_damaged() { return leaves_damaged_out; }

void set_log_file(const std::string& path) {
  std::FILE* const file = path.empty() ? nullptr : std::fopen(path.c_str(), "ae");
  if (!path.empty() && !file) return warn("the log file " + path + " cannot be opened: messages go to stderr");
  const std::lock_guard lock(log_mutex);
  if (log_file) std::fclose(log_file);
  log_file = file;
}

// Of the process, as programs know it: threads set it beside each other.
static void set_errno(int number) { __atomic_store_n(&adios_errno, number, __ATOMIC_RELAXED); }

void begin_call() { set_errno(err_no_error); }

int report(const io::Failure& failure) {
  const int number = static_cast<int>(failure.code);
  set_errno(number);
  last_message = failure.error.message();
  // A stream that has no other step yet, or none any more, is nothing that went wrong.
  if (number == err_step_notready || number == err_end_of_stream) return number;
  // Of what all ranks are told one rank speaks; before an abort nobody waits for it.
  const std::string to_all = failure.told_ranks > 1 ? words_of(failure.told_ranks) : std::string();
  if (verbosity >= 1 && (!failure.is_heard || aborts_on_error)) print("ERROR", last_message + to_all);
  if (aborts_on_error) std::abort();
  return number;
}

void warn(const std::string& text) {
  if (verbosity >= 2) print("WARN", text);
}

namespace {

std::string formatted(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int length = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? static_cast<size_t>(length) : 0, '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

void report_text(enum ADIOS_ERRCODES code, std::string text) {
  report(io::Failure(static_cast<io::Code>(code), Error{ErrorKind::invalid_argument, std::move(text), {}, {}, {}}));
}

}  // namespace

}  // namespace forebay::adios

extern "C" {

const char* adios_get_last_errmsg(void) { return forebay::adios::last_message.c_str(); }

void adios_clear_error(void) {
  adios_errno = err_no_error;
  forebay::adios::last_message.clear();
}

void adios_error(enum ADIOS_ERRCODES errcode, char* fmt, ...) {
  std::va_list arguments;
  va_start(arguments, fmt);
  forebay::adios::report_text(errcode, forebay::adios::formatted(fmt, arguments));
  va_end(arguments);
}

void adios_error_at_line(enum ADIOS_ERRCODES errcode, const char* filename, unsigned int linenum, char* fmt, ...) {
  std::va_list arguments;
  va_start(arguments, fmt);
  const std::string place = std::string(filename ? filename : "") + ":" + std::to_string(linenum) + ": ";
  forebay::adios::report_text(errcode, place + forebay::adios::formatted(fmt, arguments));
  va_end(arguments);
}
}

// SCR's calls as Fortran makes them: names with a '_' behind them, arguments by address, the lengths of texts behind
// all others. Texts lose the blanks at their ends, and get them.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

#include "scr/scr.h"

namespace {

std::string from_text(const char* text, size_t length) {
  std::string result(text, length);
  result.erase(result.find_last_not_of(' ') + 1);
  return result;
}

int to_text(const char* text, char* to, size_t length, int code) {
  const size_t size = std::strlen(text);
  if (size > length) return 1;
  std::memset(to, ' ', length);
  std::memcpy(to, text, size);
  return code;
}

}  // namespace

extern "C" {

void scr_init_(int* ierror) { *ierror = SCR_Init(); }
void scr_finalize_(int* ierror) { *ierror = SCR_Finalize(); }

void scr_config_(const char* text, char* value, int* ierror, size_t text_length, size_t value_length) {
  const char* found = SCR_Config(from_text(text, text_length).c_str());
  *ierror = to_text(found != nullptr ? found : "", value, value_length, SCR_SUCCESS);
  std::free(const_cast<char*>(found));
}

void scr_route_file_(const char* name, char* file, int* ierror, size_t name_length, size_t file_length) {
  char path[SCR_MAX_FILENAME] = "";
  *ierror = SCR_Route_file(from_text(name, name_length).c_str(), path);
  if (*ierror == SCR_SUCCESS) *ierror = to_text(path, file, file_length, SCR_SUCCESS);
}

void scr_need_checkpoint_(int* flag, int* ierror) { *ierror = SCR_Need_checkpoint(flag); }
void scr_start_output_(const char* name, const int* flags, int* ierror, size_t name_length) {
  const std::string text = from_text(name, name_length);
  *ierror = SCR_Start_output(text.empty() ? nullptr : text.c_str(), *flags);
}
void scr_complete_output_(const int* valid, int* ierror) { *ierror = SCR_Complete_output(*valid); }
void scr_start_checkpoint_(int* ierror) { *ierror = SCR_Start_checkpoint(); }
void scr_complete_checkpoint_(const int* valid, int* ierror) { *ierror = SCR_Complete_checkpoint(*valid); }

void scr_have_restart_(int* flag, char* name, int* ierror, size_t name_length) {
  char found[SCR_MAX_FILENAME] = "";
  *ierror = SCR_Have_restart(flag, found);
  if (*ierror == SCR_SUCCESS && *flag != 0) *ierror = to_text(found, name, name_length, SCR_SUCCESS);
}
void scr_start_restart_(char* name, int* ierror, size_t name_length) {
  char found[SCR_MAX_FILENAME] = "";
  *ierror = SCR_Start_restart(found);
  if (*ierror == SCR_SUCCESS) *ierror = to_text(found, name, name_length, SCR_SUCCESS);
}
void scr_complete_restart_(const int* valid, int* ierror) { *ierror = SCR_Complete_restart(*valid); }

void scr_current_(const char* name, int* ierror, size_t length) {
  *ierror = SCR_Current(from_text(name, length).c_str());
}
void scr_drop_(const char* name, int* ierror, size_t length) { *ierror = SCR_Drop(from_text(name, length).c_str()); }
void scr_delete_(const char* name, int* ierror, size_t length) {
  *ierror = SCR_Delete(from_text(name, length).c_str());
}
void scr_should_exit_(int* flag, int* ierror) { *ierror = SCR_Should_exit(flag); }
void scr_get_version_(char* version, int* ierror, size_t length) {
  *ierror = to_text(SCR_Get_version(), version, length, SCR_SUCCESS);
}

}  // extern "C"

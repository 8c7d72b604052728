#include "io/method/plugin.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <dlfcn.h>

#include "base/posix/own_code.h"
#include "forebay/forebay_method.h"
#include "io/method/plugin_method.h"

namespace forebay::io {
namespace {

constexpr const char* kEntry = "forebay_method_entry";
constexpr size_t kLongestName = 64;

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// A name becomes a file's: nothing in it may lead elsewhere.
bool is_file_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName &&
         std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

std::unexpected<Failure> refuse_plugin(const std::string& path, std::string what, std::string hint = {}) {
  return refuse(Code::unknown_method, "this plug-in cannot be used: " + std::move(what), std::move(hint), path,
                ErrorKind::unsupported);
}

// Where the methods lie of an installation whose command is in PREFIX/bin and whose libraries are in PREFIX/lib or in a
// directory of their MPI, PREFIX/lib/adios/NAME. Told by the place of the code itself, so that an installation can be
// moved. Empty where this code is in no such place: what lies around it may be anybody's.
std::string installed_methods(const std::filesystem::path& own_code) {
  const std::filesystem::path directory = own_code.parent_path(), library(FOREBAY_LIBRARY_DIRECTORY);
  for (const std::filesystem::path& below :
       {std::filesystem::path(FOREBAY_BINARY_DIRECTORY), library, library / "adios" / directory.filename()}) {
    const std::string end = "/" + below.string(), text = directory.string();
    if (text.ends_with(end))
      return text.substr(0, text.size() - end.size()) + "/" + library.string() + "/forebay/methods";
  }
  return {};
}

Outcome<void> check_table(const forebay_method* table, const std::string& path) {
  const std::string wanted = std::to_string(FOREBAY_METHOD_VERSION);
  if (!table)
    return refuse_plugin(path, "it knows no method of this name in version " + wanted + " of the interface",
                         "build it with forebay/forebay_method.h of this Forebay");
  if (table->version != FOREBAY_METHOD_VERSION || table->size != sizeof(forebay_method))
    return refuse_plugin(path,
                         "it is made for version " + std::to_string(table->version) + " of the interface (" +
                             std::to_string(table->size) + " bytes), and this is version " + wanted + " (" +
                             std::to_string(sizeof(forebay_method)) + " bytes)",
                         "build it with forebay/forebay_method.h of this Forebay");
  if (!table->name || !table->make || !table->unmake || !table->open || !table->close || !table->abandon)
    return refuse_plugin(path, "its table lacks a function that every method has");
  return {};
}

Outcome<MethodEntry> load(const std::string& path, const std::string& name) {
  // Never closed: what it loaded may have threads and handlers.
  const auto loaded = load_code(path, RTLD_NOW | RTLD_LOCAL);
  if (!loaded) return refuse_plugin(path, loaded.error().what, loaded.error().hint);
  void* const library = *loaded;
  void* const symbol = ::dlsym(library, kEntry);
  if (!symbol) return refuse_plugin(path, std::string("it has no function ") + kEntry);
  const auto entry = reinterpret_cast<forebay_method_entry_function>(symbol);
  const forebay_method* const table = entry(name.c_str(), FOREBAY_METHOD_VERSION);
  FOREBAY_CHECK(check_table(table, path));

  MethodEntry made{.name = table->name, .aliases = {}, .parameters = {}, .make = {}};
  for (const char* const* parameter = table->parameters; parameter && *parameter; ++parameter)
    made.parameters.emplace_back(*parameter);
  made.make = [table](const Parameters& parameters) { return make_plugin_method(*table, parameters); };
  return made;
}

}  // namespace

std::vector<std::string> plugin_directories() {
  std::vector<std::string> directories;
  if (std::string installed = installed_methods(own_command()); !installed.empty())
    directories.push_back(std::move(installed));
  if (const char* path = std::getenv("FOREBAY_METHOD_PATH")) {
    std::istringstream words(path);
    for (std::string word; std::getline(words, word, ':');)
      if (!word.empty()) directories.push_back(word);
  }
  return directories;
}

std::vector<std::string> plugin_names() {
  std::vector<std::string> names;
  for (const std::string& directory : plugin_directories()) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().stem().string();
      if (it->path().extension() == ".so" && is_file_name(name) && lower_case(name) == name) names.push_back(name);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

Outcome<MethodEntry> find_plugin(const std::string& name) {
  const std::string file = lower_case(name);
  if (!is_file_name(file)) return refuse(Code::unknown_method, "no method has the name \"" + name + "\"");
  std::string tried;
  for (const std::string& directory : plugin_directories()) {
    const std::string path = directory + "/" + file + ".so";
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return load(path, file);
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return refuse(Code::unknown_method, "there is no plug-in for the method \"" + name + "\"", "looked for " + tried);
}

MethodEntry plugin_method(std::string name, std::string hint) {
  const auto find = [name, hint](const Parameters& parameters) -> Outcome<std::unique_ptr<Method>> {
    Outcome<MethodEntry> entry = find_plugin(name);
    if (!entry) {
      if (entry.error().error.path.empty()) entry.error().error.hint = hint + "; " + entry.error().error.hint;
      return std::unexpected(std::move(entry).error());
    }
    return entry->make(parameters);
  };
  return {.name = std::move(name), .aliases = {}, .parameters = {}, .make = find};
}

}  // namespace forebay::io

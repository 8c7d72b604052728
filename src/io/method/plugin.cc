#include "io/method/plugin.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include "forebay/forebay_method.h"
#include "io/method/plugin_method.h"

namespace forebay::io {
namespace {

constexpr const char* kEntry = "forebay_method_entry";
constexpr size_t kLongestName = 64;
constexpr int kLevels = 3;  // of directories above a library, its own among them

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

// The directory of the library or program that has this code in it. Of a program, only the kernel knows its file: its
// own name for itself may have been found through PATH.
std::filesystem::path own_directory() {
  Dl_info self{};
  void* entry = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(&find_plugin), &self, &entry, RTLD_DL_LINKMAP) == 0 || !entry) return {};
  const char* const name = static_cast<const link_map*>(entry)->l_name;  // "" for the program
  std::error_code ignored;
  const auto path = std::filesystem::canonical(name && *name ? name : "/proc/self/exe", ignored);
  return ignored ? std::filesystem::path{} : path.parent_path();
}

Outcome<void> check_file(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return refuse_plugin(path, "it is not a file");
  if (facts.st_mode & S_IWOTH)
    return refuse_plugin(path, "everybody can write it", "chmod o-w if it is what you mean to run");
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
  FOREBAY_CHECK(check_file(path));
  // Never closed: what it loaded may have threads and handlers.
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return refuse_plugin(path, ::dlerror());
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
  if (const char* path = std::getenv("FOREBAY_METHOD_PATH")) {
    std::istringstream words(path);
    for (std::string word; std::getline(words, word, ':');)
      if (!word.empty()) directories.push_back(word);
  }
  // Told relative to this code's own place, so that an installation can be moved: beside a library, which may lie in a
  // directory of its MPI (lib/adios/NAME), or from a program.
  if (const auto own = own_directory(); !own.empty()) {
    auto above = own;
    for (int level = 0; level < kLevels; ++level, above = above.parent_path())
      directories.push_back((above / "forebay/methods").string());
    directories.push_back((own / FOREBAY_METHODS_FROM_BIN).lexically_normal().string());
  }
  directories.push_back(FOREBAY_METHODS_DIRECTORY);
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

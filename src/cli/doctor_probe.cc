#include "cli/doctor_probe.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <ranges>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/posix/own_code.h"
#include "cli/apart.h"
#include "cli/common.h"
#include "cli/control_group.h"
#include "cli/system_text.h"
#include "cli/verb.h"
#include "codec/codec.h"
#include "engine/options.h"
#include "fabric/libraries.h"
#include "fabric/munge.h"
#include "forebay/version.h"
#include "launch/run/batch.h"

namespace forebay::cli {
namespace {

namespace fs = std::filesystem;

// "N kB" after "NAME:" in /proc/meminfo, in bytes.
uint64_t memory_line(const std::string& meminfo, std::string_view name) {
  const size_t at = meminfo.find(fmt::format("{}:", name));
  return at == std::string::npos ? 0 : std::strtoull(meminfo.c_str() + at + name.size() + 1, nullptr, 10) * 1024;
}

std::optional<uint64_t> limit_of(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
  return limit.rlim_cur;
}

BuildFacts build_facts() {
  const Json version = version_json();
  BuildFacts build{.version = version["version"],
                   .compiler = version["compiler"],
                   .formats = version["formats"],
                   .codecs = version["codecs"],
                   .mpi = version["mpi"]};
  for (const char* optional : {"fpzip", "lz4", "zfp"})
    if (std::ranges::find(build.codecs, optional) == build.codecs.end()) build.missing_codecs.emplace_back(optional);
  return build;
}

ProcessorFacts processor_facts(const GroupLimits& group) {
  ProcessorFacts processors{.quota = group.processors, .threads = engine::Resources{}.resolved().threads};
  processors.online = static_cast<unsigned>(std::max(1l, ::sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t set;
  CPU_ZERO(&set);
  processors.allowed =
      ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : processors.online;
  return processors;
}

MemoryFacts memory_facts(const GroupLimits& group) {
  const std::string text = text_of_file("/proc/meminfo");
  return {.total = memory_line(text, "MemTotal"),
          .available = memory_line(text, "MemAvailable"),
          .group_limit = group.memory,
          .address_space = limit_of(RLIMIT_AS),
          .budget = engine::Resources{}.resolved().memory_bytes};
}

SystemFacts system_facts() {
  SystemFacts system;
  utsname name{};
  if (::uname(&name) == 0) system.kernel = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  const std::string choices = text_of_file("/sys/kernel/mm/transparent_hugepage/enabled");  // "always [madvise] never"
  if (const size_t open = choices.find('['), close = choices.find(']'); open < close && close != std::string::npos)
    system.huge_pages = choices.substr(open + 1, close - open - 1);
  if (const Fd inotify(::inotify_init1(IN_CLOEXEC)); !inotify)
    system.inotify = fail_errno(errno, "inotify_init", {}).error().message();
  system.watches = std::strtoull(text_of_file("/proc/sys/fs/inotify/max_user_watches").c_str(), nullptr, 10);
  return system;
}

LimitFacts limit_facts() {
  LimitFacts limits{.locked_memory = limit_of(RLIMIT_MEMLOCK), .file_size = limit_of(RLIMIT_FSIZE)};
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) {
    limits.open_files = files.rlim_cur;
    limits.most_open_files = files.rlim_max;
  }
  return limits;
}

// Of this installation, or of the build tree.
std::string library_path(const char* name) {
  return (fs::path(own_command()).parent_path() / FOREBAY_LIB_FROM_BIN / name).lexically_normal().string();
}

PartFacts file_part(const char* name, const char* file) {
  PartFacts part{.name = name, .found = library_path(file)};
  std::error_code ignored;
  if (!fs::exists(part.found, ignored)) part.failure = part.found + " is not there";
  return part;
}

PartFacts part_of(const char* name, const Result<std::string>& found) {
  return found ? PartFacts{.name = name, .found = *found} : PartFacts{.name = name, .failure = found.error().message()};
}

// Loaded as the command would load it, but apart: with an MPI library in the process others may not work any more.
PartFacts mpi_module() {
  const PartFacts part = file_part("mpi", "forebay/forebay-mpi.so");
  if (!part.failure.empty()) return part;
  return part_of("mpi", try_apart([&]() -> Result<std::string> {
                   FOREBAY_CHECK(load_code(part.found, RTLD_NOW | RTLD_GLOBAL));
                   return part.found;
                 }));
}

PartFacts ucx_facts() { return part_of("ucx", try_apart(fabric::ucx_version)); }

PartFacts munge_facts() {
  return part_of("munge", try_apart([]() -> Result<std::string> {
                   FOREBAY_CHECK(fabric::munge_voucher().make(fabric::Statement{}));
                   return "works";
                 }));
}

bool is_in_path(const char* program) {
  const std::string path = of_environment("PATH");
  return std::ranges::any_of(path | std::views::split(':'), [&](const auto& part) {
    return ::access(fmt::format("{}/{}", std::string_view(part.begin(), part.end()), program).c_str(), X_OK) == 0;
  });
}

BatchFacts batch_facts() {
  BatchFacts batch;
  if (const auto job = launch::batch_job(of_environment)) {
    batch.job = job->name;
    for (const char* program : {"scontrol", "squeue", "srun"})
      if (!is_in_path(program)) batch.missing_programs.emplace_back(program);
    return batch;
  }
  for (const char* name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"})
    if (!of_environment(name).empty()) batch.nodes_file = name;
  return batch;
}

}  // namespace

Facts probe_machine() {
  const GroupLimits group = group_limits(text_of_file("/proc/self/cgroup"), text_of_file);
  std::error_code ignored;
  return {.build = build_facts(),
          .processors = processor_facts(group),
          .memory = memory_facts(group),
          .system = system_facts(),
          .limits = limit_facts(),
          .mpi_module = mpi_module(),
          .mpiio_library = file_part("mpi-io", "libforebay_mpiio.so"),
          .mpiio_modules = {file_part("MPICH", "forebay/forebay-mpiio-mpich.so"),
                            file_part("Open MPI", "forebay/forebay-mpiio-openmpi.so")},
          .ucx = ucx_facts(),
          .munge = munge_facts(),
          .infiniband = fs::directory_iterator("/sys/class/infiniband", ignored) != fs::directory_iterator(),
          .batch = batch_facts(),
          .is_root = ::geteuid() == 0,
          .places = {}};
}

}  // namespace forebay::cli

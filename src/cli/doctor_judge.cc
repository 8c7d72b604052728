#include "cli/doctor_judge.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/doctor_place.h"
#include "cli/text.h"
#include "cli/units.h"

namespace forebay::cli {
namespace {

constexpr uint64_t kFewFiles = 4096;    // descriptors; a daemon needs one per connection and open file
constexpr uint64_t kFewWatches = 8192;  // the kernel's default on small machines
constexpr uint64_t kSmallFile = uint64_t{64} << 30;
constexpr uint64_t kLeastBudget = 64 << 20;  // of any operation

Finding judge_build(const BuildFacts& build) {
  const std::string found = fmt::format("forebay {} ({})", build.version, build.compiler);
  const std::string use = fmt::format("reads {}; compresses with {}; no library is needed to read HDF5 or netCDF",
                                      fmt::join(build.formats, ", "), fmt::join(build.codecs, ", "));
  if (build.missing_codecs.empty()) return {"build", Verdict::ok, found, use, {}};
  return {"build",
          Verdict::note,
          fmt::format("{}, without {}", found, fmt::join(build.missing_codecs, ", ")),
          use + "; sets that were packed with the others cannot be restored by this build",
          {}};
}

Finding judge_processors(const ProcessorFacts& processors) {
  const unsigned quota = processors.quota > 0 ? static_cast<unsigned>(std::ceil(processors.quota)) : processors.online;
  const unsigned usable = std::max(1u, std::min(processors.allowed, quota));
  std::string found = fmt::format("{} online", processors.online);
  if (processors.allowed < processors.online) found += fmt::format(", {} of them for this process", processors.allowed);
  if (processors.quota > 0) found += fmt::format(", the time of {:g} in its control group", processors.quota);
  const std::string use = fmt::format("computes with {} (--threads)", plural(processors.threads, "thread"));
  if (processors.threads <= usable) return {"processors", Verdict::ok, found, use, {}};
  return {"processors", Verdict::warning, found, use + ", more than there are processors for",
          fmt::format("give --threads {}", usable)};
}

Finding judge_memory(const MemoryFacts& memory) {
  const uint64_t limit =
      std::min(memory.group_limit.value_or(memory.total), memory.address_space.value_or(memory.total));
  std::string found = fmt::format("{}, {} of it available", format_bytes(memory.total), format_bytes(memory.available));
  if (memory.group_limit && *memory.group_limit < memory.total)
    found += fmt::format("; the control group allows {}", format_bytes(*memory.group_limit));
  if (memory.address_space && *memory.address_space < memory.total)
    found += fmt::format("; ulimit -v allows {}", format_bytes(*memory.address_space));
  const std::string use = fmt::format("an operation takes {} at most (--memory)", format_bytes(memory.budget));
  if (limit < kLeastBudget)
    return {"memory", Verdict::stop, found, "no operation works with less than 64 MiB", "raise the limit"};
  const uint64_t given = std::max(kLeastBudget, std::min(limit, memory.available) / 2);
  if (memory.budget > std::min(limit / 4 * 3, memory.available))
    return {"memory", Verdict::warning, found, use + ", more than it may get",
            fmt::format("give --memory {}M", given >> 20)};
  return {"memory", Verdict::ok, found, use, {}};
}

std::vector<Finding> judge_system(const SystemFacts& system) {
  std::vector<Finding> findings;
  if (system.huge_pages == "never")
    findings.push_back({"kernel",
                        Verdict::note,
                        system.kernel + ", huge pages are off",
                        "the first buffers take some thousand page faults more",
                        {}});
  else
    findings.push_back(
        {"kernel",
         Verdict::ok,
         system.kernel,
         system.huge_pages.empty() ? "buffers are in pages of ordinary size" : "asks for huge pages for its buffers",
         {}});
  if (!system.inotify.empty())
    findings.push_back({"inotify", Verdict::stop, system.inotify, "agents cannot watch a stage",
                        "raise fs.inotify.max_user_instances (sysctl)"});
  else if (system.watches > 0 && system.watches < kFewWatches)
    findings.push_back(
        {"inotify", Verdict::warning, plural(system.watches, "watch") + " for each user",
         "an agent takes one for each directory of its stage, and looks every few seconds when there are none left",
         "raise fs.inotify.max_user_watches (sysctl)"});
  else
    findings.push_back({"inotify", Verdict::ok, "works", "agents hear when a file in the stage changes", {}});
  return findings;
}

std::vector<Finding> judge_limits(const LimitFacts& limits) {
  std::vector<Finding> findings;
  const std::string found =
      limits.open_files == limits.most_open_files
          ? fmt::format("{} (ulimit -n)", limits.open_files)
          : fmt::format("{}, which can be raised to {} (ulimit -n)", limits.open_files, limits.most_open_files);
  const char* use = "daemons raise it to the most, and take a descriptor for each connection";
  if (limits.most_open_files < kFewFiles)
    findings.push_back({"open files", Verdict::warning, found, use,
                        fmt::format("raise the hard limit to {} or more (limits.conf)", kFewFiles)});
  else
    findings.push_back({"open files", Verdict::ok, found, use, {}});
  if (limits.file_size && *limits.file_size < kSmallFile)
    findings.push_back(
        {"file size", Verdict::warning, fmt::format("{} at most (ulimit -f)", format_bytes(*limits.file_size)),
         "a container that would become larger is an error, and pack exits with 6", "ulimit -f unlimited"});
  return findings;
}

Finding judge_mpi(const BuildFacts& build, const PartFacts& module) {
  if (!build.mpi)
    return {"mpi",
            Verdict::note,
            "this build leaves it out",
            "'mpiexec forebay pack' refuses to run; one process packs with all threads",
            {}};
  if (!module.failure.empty())
    return {"mpi", Verdict::warning, module.failure, "'mpiexec forebay pack' fails; without mpiexec nothing is missing",
            "install the MPI library that the module was built with, and the module beside the command"};
  return {"mpi", Verdict::ok, module.found, "'mpiexec forebay pack' spreads rank groups over processes", {}};
}

Finding judge_mpiio(const PartFacts& library, const std::vector<PartFacts>& modules) {
  std::vector<std::string> there;
  for (const PartFacts& module : modules)
    if (module.failure.empty()) there.push_back(module.name);
  if (!library.failure.empty())
    return {"mpi-io",
            Verdict::note,
            library.failure,
            "MPI programs cannot preload atomic MPI-IO from this installation",
            {}};
  if (there.empty())
    return {"mpi-io", Verdict::warning, fmt::format("{}, without a module for any MPI", library.found),
            "programs that preload it get the MPI library's own MPI-IO",
            "build Forebay with -DFOREBAY_MPIIO=ON where MPICH or Open MPI is installed"};
  return {"mpi-io",
          Verdict::ok,
          fmt::format("{}, for {}", library.found, fmt::join(there, " and ")),
          "MPI programs that preload it get atomic MPI-IO",
          {}};
}

std::vector<Finding> judge_fabric(const Facts& facts) {
  std::vector<Finding> findings;
  if (!facts.ucx.failure.empty())
    findings.push_back(
        {"ucx", Verdict::note, facts.ucx.failure, "bytes go to other nodes by TCP; --fabric ucx fails", {}});
  else if (facts.infiniband && facts.limits.locked_memory)
    findings.push_back({"ucx", Verdict::warning,
                        fmt::format("UCX {} and an RDMA device, but only {} may be locked (ulimit -l)", facts.ucx.found,
                                    format_bytes(*facts.limits.locked_memory)),
                        "--fabric ucx fails, or is slow",
                        "ulimit -l unlimited (limits.conf; for Slurm also PropagateResourceLimits)"});
  else
    findings.push_back(
        {"ucx", Verdict::ok, "UCX " + facts.ucx.found, "bytes go to other nodes by it with --fabric ucx", {}});
  if (!facts.munge.failure.empty())
    findings.push_back({"munge",
                        Verdict::note,
                        facts.munge.failure,
                        "processes know each other by a secret in a file; --munge fails",
                        {}});
  else
    findings.push_back(
        {"munge", Verdict::ok, "works", "vouches for users with --munge, in place of a secret in a file", {}});
  return findings;
}

Finding judge_encryption(std::optional<bool> encrypts) {
  if (encrypts.value_or(false))
    return {"encryption",
            Verdict::ok,
            "the job of this rendezvous directory encrypts",
            "what goes over TCP can be neither read nor changed on the way",
            {}};
  return {
      "encryption",
      Verdict::ok,
      encrypts ? "the job of this rendezvous directory does not encrypt" : "off, as it is by default",
      "processes of a job prove who they are, and what they send over TCP afterwards can be read and changed on the "
      "way; 'forebay run --encrypt' prevents both",
      {}};
}

Finding judge_batch(const BatchFacts& batch) {
  if (!batch.nodes_file.empty())
    return {"batch system",
            Verdict::ok,
            "$" + batch.nodes_file,
            fmt::format("'forebay run --nodes-file ${}' takes the nodes from it", batch.nodes_file),
            {}};
  if (batch.job.empty())
    return {"batch system",
            Verdict::ok,
            "not in a job of one",
            "'forebay run' uses this node, or those of --nodes-file",
            {}};
  if (!batch.missing_programs.empty())
    return {"batch system", Verdict::stop,
            fmt::format("{}, but PATH has no {}", batch.job, fmt::join(batch.missing_programs, ", ")),
            "'forebay run' cannot ask for the job's nodes",
            "add the directory of Slurm's commands to PATH, or give --nodes-file"};
  return {"batch system",
          Verdict::ok,
          batch.job,
          "'forebay run' takes the nodes from it, and with --deadline auto the time limit",
          {}};
}

Finding judge_user(bool is_root) {
  if (!is_root) return {"user", Verdict::ok, "not root", "needs no privileges", {}};
  return {"user", Verdict::note, "root", "needs no privileges; what a restore writes will be root's", {}};
}

}  // namespace

const char* to_string(Verdict verdict) {
  constexpr std::array<const char*, 4> kNames = {"ok", "note", "warning", "stop"};
  return kNames[static_cast<size_t>(verdict)];
}

std::vector<Finding> judge(const Facts& facts) {
  std::vector<Finding> findings;
  const auto add_all = [&](std::vector<Finding> more) { std::ranges::move(more, std::back_inserter(findings)); };
  findings.push_back(judge_build(facts.build));
  findings.push_back(judge_processors(facts.processors));
  findings.push_back(judge_memory(facts.memory));
  add_all(judge_system(facts.system));
  add_all(judge_limits(facts.limits));
  findings.push_back(judge_user(facts.is_root));
  findings.push_back(judge_mpi(facts.build, facts.mpi_module));
  findings.push_back(judge_mpiio(facts.mpiio_library, facts.mpiio_modules));
  add_all(judge_fabric(facts));
  findings.push_back(judge_encryption(facts.encrypts));
  findings.push_back(judge_batch(facts.batch));
  for (const PlaceFacts& place : facts.places) add_all(judge_place(place));
  return findings;
}

Verdict gravest(std::span<const Finding> findings) {
  Verdict worst = Verdict::ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
  return worst;
}

}  // namespace forebay::cli

// What facts about a machine mean.
#include "cli/doctor_judge.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace forebay::cli {
namespace {

using testing::HasSubstr;

PlaceFacts good_place(Role role, const std::string& path) {
  return {.role = role,
          .path = path,
          .probed = path,
          .file_system = role == Role::stage ? "tmpfs" : "ext4",
          .mount_point = "/",
          .options = {"rw"},
          .bytes = uint64_t{1} << 40,
          .free_bytes = uint64_t{1} << 39,
          .files = 1'000'000,
          .free_files = 900'000,
          .lock_excludes = true};
}

Facts good_machine() {
  Facts facts;
  facts.build = {.version = "0.1.0", .compiler = "GNU", .formats = {"hdf5"}, .codecs = {"zstd"}, .mpi = true};
  facts.processors = {.online = 8, .allowed = 8, .threads = 8};
  facts.memory = {.total = uint64_t{64} << 30, .available = uint64_t{60} << 30, .budget = uint64_t{16} << 30};
  facts.system = {.kernel = "Linux 6.1.0 x86_64", .huge_pages = "madvise", .watches = 500'000};
  facts.limits = {.open_files = 1024, .most_open_files = 1 << 20};
  facts.mpi_module.found = "lib/forebay/forebay-mpi.so";
  facts.mpiio_library.found = "lib/libforebay_mpiio.so";
  facts.mpiio_modules = {{.name = "MPICH"}, {.name = "Open MPI", .failure = "is not there"}};
  facts.ucx.found = "1.13.1";
  facts.places = {good_place(Role::store, "/scratch/st"), good_place(Role::stage, "/dev/shm/ck")};
  return facts;
}

// The gravest finding whose topic begins so.
Finding worst_of(const Facts& facts, const std::string& topic) {
  Finding worst{.topic = "none", .found = "nothing of " + topic};
  for (const Finding& finding : judge(facts))
    if (finding.topic.starts_with(topic) && (worst.topic == "none" || finding.verdict > worst.verdict)) worst = finding;
  return worst;
}

TEST(Doctor, FindsNothingWrongWithAGoodMachine) {
  const auto findings = judge(good_machine());
  for (const Finding& finding : findings) {
    EXPECT_EQ(finding.verdict, Verdict::ok) << finding.topic << ": " << finding.found;
    EXPECT_FALSE(finding.found.empty()) << finding.topic;
    EXPECT_FALSE(finding.use.empty()) << finding.topic;
  }
  EXPECT_EQ(gravest(findings), Verdict::ok);
  EXPECT_EQ(gravest({}), Verdict::ok);
}

TEST(Doctor, CountsTheProcessorsThatTheProcessMayUse) {
  Facts facts = good_machine();
  facts.processors.allowed = 2;
  EXPECT_EQ(worst_of(facts, "processors").verdict, Verdict::warning);
  EXPECT_THAT(worst_of(facts, "processors").change, HasSubstr("--threads 2"));
  facts.processors.quota = 0.5;
  EXPECT_THAT(worst_of(facts, "processors").change, HasSubstr("--threads 1"));
  facts.processors.threads = 1;
  EXPECT_EQ(worst_of(facts, "processors").verdict, Verdict::ok);
}

TEST(Doctor, KnowsTheTightestLimitOfMemory) {
  Facts facts = good_machine();
  facts.memory.group_limit = uint64_t{8} << 30;
  EXPECT_EQ(worst_of(facts, "memory").verdict, Verdict::warning);
  EXPECT_THAT(worst_of(facts, "memory").change, HasSubstr("--memory 4096M"));
  facts.memory.address_space = uint64_t{2} << 30;
  EXPECT_THAT(worst_of(facts, "memory").change, HasSubstr("--memory 1024M"));
  facts.memory.group_limit = 32 << 20;
  EXPECT_EQ(worst_of(facts, "memory").verdict, Verdict::stop);
  facts = good_machine();
  facts.memory.available = uint64_t{1} << 30;
  EXPECT_THAT(worst_of(facts, "memory").change, HasSubstr("--memory 512M"));
}

TEST(Doctor, TellsLimitsOfTheSystem) {
  Facts facts = good_machine();
  facts.system.inotify = "inotify_init: Too many open files";
  EXPECT_EQ(worst_of(facts, "inotify").verdict, Verdict::stop);
  facts.system = {.huge_pages = "never", .watches = 100};
  EXPECT_EQ(worst_of(facts, "kernel").verdict, Verdict::note);
  EXPECT_EQ(worst_of(facts, "inotify").verdict, Verdict::warning);
  facts.limits = {.open_files = 256, .most_open_files = 256, .file_size = 1 << 20};
  EXPECT_EQ(worst_of(facts, "open files").verdict, Verdict::warning);
  EXPECT_EQ(worst_of(facts, "file size").verdict, Verdict::warning);
  facts.is_root = true;
  EXPECT_EQ(worst_of(facts, "user").verdict, Verdict::note);
}

TEST(Doctor, TellsWhatABuildLeavesOutAndWhatIsMissing) {
  Facts facts = good_machine();
  facts.build.mpi = false;
  facts.build.missing_codecs = {"zfp"};
  facts.mpiio_library.failure = "is not there";
  facts.ucx.failure = facts.munge.failure = "is not installed";
  for (const char* topic : {"build", "mpi", "mpi-io", "ucx", "munge"})
    EXPECT_EQ(worst_of(facts, topic).verdict, Verdict::note) << topic;
  facts = good_machine();
  facts.mpi_module.failure = "libmpi.so.12: cannot open shared object file";
  facts.mpiio_modules[0].failure = "is not there";
  EXPECT_EQ(worst_of(facts, "mpi").verdict, Verdict::warning);
  EXPECT_EQ(worst_of(facts, "mpi-io").verdict, Verdict::warning);
}

TEST(Doctor, ShowsWhetherTheJobEncrypts) {
  Facts facts = good_machine();
  EXPECT_EQ(worst_of(facts, "encryption").found, "off, as it is by default");
  EXPECT_THAT(worst_of(facts, "encryption").use, testing::HasSubstr("'forebay run --encrypt' prevents both"));
  facts.encrypts = false;
  EXPECT_EQ(worst_of(facts, "encryption").found, "the job of this rendezvous directory does not encrypt");
  facts.encrypts = true;
  EXPECT_EQ(worst_of(facts, "encryption").found, "the job of this rendezvous directory encrypts");
}

TEST(Doctor, WantsLockedMemoryForRdmaOnly) {
  Facts facts = good_machine();
  facts.limits.locked_memory = 8 << 20;
  EXPECT_EQ(worst_of(facts, "ucx").verdict, Verdict::ok);
  facts.infiniband = true;
  EXPECT_EQ(worst_of(facts, "ucx").verdict, Verdict::warning);
  facts.limits.locked_memory = {};
  EXPECT_EQ(worst_of(facts, "ucx").verdict, Verdict::ok);
}

TEST(Doctor, KnowsBatchSystems) {
  Facts facts = good_machine();
  facts.batch.job = "Slurm job 7";
  EXPECT_EQ(worst_of(facts, "batch system").verdict, Verdict::ok);
  facts.batch.missing_programs = {"scontrol"};
  EXPECT_EQ(worst_of(facts, "batch system").verdict, Verdict::stop);
  EXPECT_THAT(worst_of(facts, "batch system").found, HasSubstr("scontrol"));
  facts.batch = {.nodes_file = "PBS_NODEFILE"};
  EXPECT_THAT(worst_of(facts, "batch system").use, HasSubstr("--nodes-file $PBS_NODEFILE"));
}

// What is wrong with a place, and the verdict.
struct Wrong {
  const char* what;
  Role role;
  void (*spoil)(PlaceFacts&);
  Verdict verdict;
};

class DoctorOfPlaces : public testing::TestWithParam<Wrong> {};

TEST_P(DoctorOfPlaces, NamesThePlaceAndWhatToChange) {
  Facts facts = good_machine();
  facts.places = {good_place(GetParam().role, "/x")};
  GetParam().spoil(facts.places[0]);
  const auto findings = judge(facts);
  EXPECT_EQ(gravest(findings), GetParam().verdict);
  for (const Finding& finding : findings) {
    if (finding.verdict > Verdict::ok) {
      EXPECT_THAT(finding.topic, HasSubstr("/x"));
    }
    EXPECT_EQ(finding.change.empty(), finding.verdict <= Verdict::note) << finding.found;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Places, DoctorOfPlaces,
    testing::Values(
        Wrong{"NoDirectory", Role::store, [](PlaceFacts& at) { at.look = "/x: is not a directory"; }, Verdict::stop},
        Wrong{"OtherFiles", Role::store, [](PlaceFacts& at) { at.store = "is no store"; }, Verdict::stop},
        Wrong{"NotWritable", Role::stage, [](PlaceFacts& at) { at.write = "Permission denied"; }, Verdict::stop},
        Wrong{"NotDurable", Role::store, [](PlaceFacts& at) { at.sync = "Invalid argument"; }, Verdict::stop},
        Wrong{"FullStore", Role::store, [](PlaceFacts& at) { at.free_bytes = 5 << 20; }, Verdict::warning},
        Wrong{"SmallStage", Role::stage, [](PlaceFacts& at) { at.free_bytes = 64 << 20; }, Verdict::warning},
        Wrong{"NoInodes", Role::stage, [](PlaceFacts& at) { at.free_files = 10; }, Verdict::warning},
        Wrong{"InodesNotCounted", Role::stage, [](PlaceFacts& at) { at.files = at.free_files = 0; }, Verdict::ok},
        Wrong{"NoLocks", Role::store, [](PlaceFacts& at) { at.lock = "Function not implemented"; }, Verdict::warning},
        Wrong{"LocksThatExcludeNobody", Role::store, [](PlaceFacts& at) { at.lock_excludes = false; }, Verdict::stop},
        Wrong{"StageNeedsNoLocks", Role::stage, [](PlaceFacts& at) { at.lock = "no"; }, Verdict::ok},
        Wrong{"LustreLocalflock", Role::store,
              [](PlaceFacts& at) {
                at.file_system = "lustre";
                at.options.emplace_back("localflock");
              },
              Verdict::warning},
        Wrong{"LustreFlock", Role::store,
              [](PlaceFacts& at) {
                at.file_system = "lustre";
                at.options.emplace_back("flock");
              },
              Verdict::ok},
        Wrong{"NfsLocalLock", Role::store,
              [](PlaceFacts& at) {
                at.file_system = "nfs";
                at.options.emplace_back("local_lock=all");
              },
              Verdict::warning},
        Wrong{"Nfs", Role::store, [](PlaceFacts& at) { at.file_system = "nfs4"; }, Verdict::note},
        Wrong{"Gluster", Role::store, [](PlaceFacts& at) { at.file_system = "fuse.glusterfs"; }, Verdict::warning},
        Wrong{"StoreInMemory", Role::store, [](PlaceFacts& at) { at.file_system = "tmpfs"; }, Verdict::warning},
        Wrong{"StoreInContainer", Role::store, [](PlaceFacts& at) { at.file_system = "overlay"; }, Verdict::warning},
        Wrong{"StageOnNetwork", Role::stage, [](PlaceFacts& at) { at.file_system = "lustre"; }, Verdict::warning},
        Wrong{"StageOfOthers", Role::stage, [](PlaceFacts& at) { at.refused = "it is another user's"; }, Verdict::stop},
        Wrong{"NoRenameNew", Role::store, [](PlaceFacts& at) { at.rename_new = "Invalid argument"; }, Verdict::note},
        Wrong{"RendezvousOfOthers", Role::rendezvous, [](PlaceFacts& at) { at.foreign_owner = true; }, Verdict::stop},
        Wrong{"OpenRendezvous", Role::rendezvous, [](PlaceFacts& at) { at.open_to_others = true; }, Verdict::stop},
        Wrong{"RendezvousToBe", Role::rendezvous,
              [](PlaceFacts& at) {
                at.probed = "/";
                at.open_to_others = at.foreign_owner = true;
              },
              Verdict::ok}),
    [](const auto& wrong) { return wrong.param.what; });

}  // namespace
}  // namespace forebay::cli

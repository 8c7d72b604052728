// Ranks write and read through random views that overlap, in atomic mode; every word that is written carries the number
// of its write. Rank 0 then looks for a serial order that explains all that was found (serial_order.h).
//
//   torture FILE [SECONDS] [SEED] [atomic|nonatomic] [simple]
//
// simple: views that plain ROMIO can serve.
//
// A round has its views and its accesses from the seed: all ranks know all of them. Steps of a round may be collective.
#include "access.h"
#include "random_types.h"
#include "serial_order.h"

enum { kWords = serial_words, kSteps = 10, kMost = 400 };

// What one rank does in one step.
struct step {
  int kind, writes, spread;
  int begin, count;  // etypes of the view
  int number;        // of the access in the history
};

struct plan {
  MPI_Datatype type;
  int displacement;  // words
  int positions[kWords];
  int length;
  struct step steps[kSteps];
};

static struct plan plans[8];
static int initial[kWords];
static int buffer[2 * kWords];

// The word numbers of a view in the order of its data; 0 if one comes twice.
static int list_positions(struct plan* plan) {
  static int indices[kWords];
  MPI_Aint lower, extent;
  int size = 0;
  MPI_Type_get_true_extent(plan->type, &lower, &extent);
  MPI_Type_size(plan->type, &size);
  const int room = kWords - plan->displacement - (int)((lower + extent) / (MPI_Aint)sizeof(int));
  if (room < 0) return 0;
  const int instances = 1 + room / random_extent(plan->type);
  plan->length = instances * size / (int)sizeof(int);
  if (plan->length > kWords) return 0;
  for (int i = 0; i < kWords; ++i) indices[i] = i;
  access_pack(indices + plan->displacement, instances, plan->type, plan->positions, plan->length * (int)sizeof(int));
  for (int i = 1; i < plan->length; ++i)
    if (plan->positions[i] <= plan->positions[i - 1]) return 0;
  return 1;
}

static void make_plan(struct plan* plan, uint64_t* state, int rank) {
  for (;;) {
    plan->type = random_type(state, 600);
    plan->displacement = random_in(state, 0, 50);
    if (list_positions(plan)) break;
    MPI_Type_free(&plan->type);
  }
  for (int i = 0; i < kSteps; ++i) {
    struct step* step = &plan->steps[i];
    step->kind = random_in(state, 0, access_independent_kinds - 1);
    step->writes = random_in(state, 0, 99) < 55;
    step->spread = random_in(state, 0, 3) == 0;
    step->begin = random_in(state, 0, plan->length / 2);
    step->count = plan->length - step->begin;
    if (step->count > kMost) step->count = kMost;
    step->count = random_in(state, step->count / 2, step->count);
    step->number = 1 + rank * kSteps + i;
  }
}

static void make_plans(uint64_t seed) {
  uint64_t state = seed;
  for (int rank = 0; rank < check_ranks; ++rank) make_plan(&plans[rank], &state, rank);
  for (int i = 0; i < kSteps; ++i) {
    if (random_in(&state, 0, 4) != 0) continue;
    const int kind = random_in(&state, access_independent_kinds, access_kinds - 1), writes = random_in(&state, 0, 1);
    for (int rank = 0; rank < check_ranks; ++rank)
      plans[rank].steps[i].kind = kind, plans[rank].steps[i].writes = writes;
  }
}

static int stamp_of(int round, int number) { return (round << 8 | number) * 2654435761u >> 1; }

// The number of the access that wrote this; 0 for what was there before, -1 for what nobody wrote.
static int number_of(int round, int value, int word) {
  if (value == initial[word]) return 0;
  for (int number = 1; number <= check_ranks * kSteps; ++number)
    if (value == stamp_of(round, number)) return number;
  return -1;
}

// What this rank found, step by step, goes one after another into `found`.
static int run_steps(MPI_File file, int round, int* found) {
  const struct plan* plan = &plans[check_rank];
  int length = 0;
  MPI_Datatype spread;
  MPI_Type_create_resized(MPI_INT, 0, 8, &spread);
  MPI_Type_commit(&spread);
  for (int i = 0; i < kSteps; ++i) {
    const struct step* step = &plan->steps[i];
    const int stride = step->spread ? 2 : 1;
    const MPI_Datatype type = step->spread ? spread : MPI_INT;
    MPI_Status status;
    for (int word = 0; word < stride * step->count; ++word)
      buffer[word] = step->writes ? stamp_of(round, step->number) : -1;
    if (step->writes)
      OK(access_write(file, step->kind, step->begin, buffer, step->count, type, &status));
    else
      OK(access_read(file, step->kind, step->begin, buffer, step->count, type, &status));
    EXPECT_EQ(check_count(&status, type), step->count);
    for (int word = 0; !step->writes && word < step->count; ++word) found[length++] = buffer[stride * word];
  }
  MPI_Type_free(&spread);
  return length;
}

static void add(struct serial_history* history, int rank, int step, int writes, int count, int* words, int* found) {
  struct serial_access* access = &history->accesses[history->count++];
  memset(access, 0, sizeof *access);
  access->rank = rank;
  access->step = step;
  access->writes = writes;
  access->count = count;
  access->words = words;
  access->found = found;
  for (int i = 0; i < count; ++i) access->covers[words[i] / 64] |= (uint64_t)1 << (words[i] % 64);
}

// Turns values into the numbers of accesses; whether all of them were written where they were found.
static int recognise(const struct serial_history* history, int round, int rank, int step, const int* words, int* values,
                     int count) {
  for (int i = 0; i < count; ++i) {
    const int value = values[i];
    values[i] = number_of(round, value, words[i]);
    if (values[i] >= 0 && values[i] < history->count && history->accesses[values[i]].writes &&
        serial_covers(&history->accesses[values[i]], words[i]))
      continue;
    EXPECT(0, "rank %d, step %d: nobody wrote 0x%x at word %d", rank, step, (unsigned)value, words[i]);
    return 0;
  }
  return 1;
}

// On rank 0: `found` has what all ranks found, `last` the words of the file in the end.
static void judge(uint64_t seed, int round, int* found, int* last) {
  static struct serial_history history;
  static int all[kWords];
  history.count = 0;
  for (int i = 0; i < kWords; ++i) all[i] = i;
  add(&history, -1, -1, 1, kWords, all, NULL);
  for (int rank = 0; rank < check_ranks; ++rank) {
    for (int i = 0; i < kSteps; ++i) {
      const struct step* step = &plans[rank].steps[i];
      add(&history, rank, i, step->writes, step->count, plans[rank].positions + step->begin, found);
      if (!step->writes) found += step->count;
    }
  }
  int sound = 1;
  for (int i = 1; sound && i < history.count; ++i) {
    struct serial_access* access = &history.accesses[i];
    if (!access->writes)
      sound = recognise(&history, round, access->rank, access->step, access->words, (int*)access->found, access->count);
  }
  static int numbers[kWords];
  memcpy(numbers, last, sizeof numbers);
  sound = sound && recognise(&history, round, -2, kSteps, all, numbers, kWords);
  add(&history, -2, kSteps, 0, kWords, all, numbers);
  if (sound && !serial_explained(&history)) {
    sound = 0;
    EXPECT(0, "%s", history.problem);
  }
  if (!sound) fprintf(stderr, "  in round %d of seed %llu\n", round, (unsigned long long)seed);
}

// ROMIO 4.0 flattens some legal types wrongly and refuses them as views, on one rank while the others wait for it. So
// every rank tries its view on a file of its own first; rounds with views that are refused are left out.
static int accepted(void) {
  char suffix[32];
  snprintf(suffix, sizeof suffix, ".probe.%d", check_rank);
  const struct plan* plan = &plans[check_rank];
  MPI_File file;
  OK(MPI_File_open(MPI_COMM_SELF, check_name(suffix), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                   MPI_INFO_NULL, &file));
  int fine =
      MPI_File_set_view(file, 4 * plan->displacement, MPI_INT, plan->type, "native", MPI_INFO_NULL) == MPI_SUCCESS;
  OK(MPI_File_close(&file));
  MPI_Allreduce(MPI_IN_PLACE, &fine, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return fine;
}

static void free_plans(void) {
  for (int rank = 0; rank < check_ranks; ++rank) MPI_Type_free(&plans[rank].type);
}

// Whether the views were accepted.
static int one_round(MPI_File file, uint64_t seed, int round) {
  static int found[kSteps * kMost], everything[8 * kSteps * kMost], last[kWords];
  int lengths[8], places[8];
  make_plans(seed ^ ((uint64_t)round << 32));
  if (!accepted()) {
    free_plans();
    return 0;
  }
  OK(MPI_File_set_view(file, 4 * plans[check_rank].displacement, MPI_INT, plans[check_rank].type, "native",
                       MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
  int length = run_steps(file, round, found);
  MPI_Gather(&length, 1, MPI_INT, lengths, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int rank = 0, sum = 0; rank < check_ranks && check_rank == 0; sum += lengths[rank], ++rank) places[rank] = sum;
  MPI_Gatherv(found, length, MPI_INT, everything, lengths, places, MPI_INT, 0, MPI_COMM_WORLD);
  OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  if (check_rank == 0) {
    OK(MPI_File_read_at(file, 0, last, kWords, MPI_INT, MPI_STATUS_IGNORE));
    judge(seed, round, everything, last);
    memcpy(initial, last, sizeof initial);
  }
  free_plans();
  return 1;
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const double seconds = argc > 2 ? atof(argv[2]) : 5;
  const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
  const int atomic = argc <= 4 || strcmp(argv[4], "nonatomic") != 0;
  random_simple = argc > 5 && strcmp(argv[5], "simple") == 0;
  if (check_ranks * kSteps + 2 > serial_most) {
    fprintf(stderr, "too many ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_File file = check_open_new();
  if (atomic) OK(MPI_File_set_atomicity(file, 1));
  if (check_rank == 0) OK(MPI_File_write_at(file, 0, initial, kWords, MPI_INT, MPI_STATUS_IGNORE));
  const double end = MPI_Wtime() + seconds;
  int round = 0, judged = 0;
  for (int more = 1; more; ++round) {
    judged += one_round(file, seed, round + 1);
    more = MPI_Wtime() < end && check_failures == 0;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  if (check_rank == 0) printf("%d rounds, %d of them with views that were refused\n", round, round - judged);
  EXPECT(judged > round / 2, "%d of %d", judged, round);
  OK(MPI_File_close(&file));
  return check_end();
}

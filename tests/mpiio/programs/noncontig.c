// Ranks interleave their ints in one file; memory, file, both or neither are noncontiguous; every kind of access.
// What is between a rank's pieces, in memory and in the file, stays as it was.
#include "access.h"

enum { kInts = 1000 };

// Every `step`-th int.
static MPI_Datatype strided(int step) {
  MPI_Datatype vector, type;
  MPI_Type_vector(kInts, 1, step, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, (MPI_Aint)sizeof(int) * step * kInts, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&vector);
  return type;
}

static int value_of(int rank, int i) { return rank * 100000 + i; }

static void one(int in_memory, int in_file, int kind) {
  const int step = in_memory ? 3 : 1;
  static int memory[3 * kInts];
  MPI_Datatype memory_type = strided(step);
  MPI_Datatype filetype = strided(in_file ? check_ranks : 1);
  MPI_File file = check_open_new();
  const MPI_Offset displacement = (MPI_Offset)sizeof(int) * (in_file ? check_rank : check_rank * kInts);
  OK(MPI_File_set_view(file, displacement, MPI_INT, filetype, "native", MPI_INFO_NULL));

  for (int i = 0; i < step * kInts; ++i) memory[i] = i % step == 0 ? value_of(check_rank, i / step) : -7;
  MPI_Status status;
  OK(access_write(file, kind, 0, memory, 1, memory_type, &status));
  EXPECT_EQ(check_count(&status, memory_type), 1);
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  check_publish(file, MPI_COMM_WORLD);

  for (int i = 0; i < step * kInts; ++i) memory[i] = -9;
  OK(access_read(file, kind, 0, memory, 1, memory_type, &status));
  EXPECT_EQ(check_count(&status, MPI_INT), kInts);
  for (int i = 0; i < step * kInts; ++i) {
    const int wanted = i % step == 0 ? value_of(check_rank, i / step) : -9;
    if (memory[i] == wanted) continue;
    EXPECT(0, "%s, memory %d, file %d: int %d is %d, should be %d", access_names[kind], in_memory, in_file, i,
           memory[i], wanted);
    break;
  }
  OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    static int image[16 * kInts];
    EXPECT_EQ(check_load(check_path, image, sizeof image), (long)sizeof(int) * kInts * check_ranks);
    for (int i = 0; i < kInts * check_ranks; ++i) {
      const int wanted = in_file ? value_of(i % check_ranks, i / check_ranks) : value_of(i / kInts, i % kInts);
      if (image[i] == wanted) continue;
      EXPECT(0, "%s, memory %d, file %d: int %d of the file is %d, should be %d", access_names[kind], in_memory,
             in_file, i, image[i], wanted);
      break;
    }
  }
  MPI_Type_free(&memory_type);
  MPI_Type_free(&filetype);
}

// "independent": independent kinds alone, which lose updates where writes sieve and do not lock.
int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int independent = argc > 2 && strcmp(argv[2], "independent") == 0;
  const int begin = independent ? 0 : access_independent_kinds;
  const int end = independent ? access_independent_kinds : access_kinds;
  for (int kind = begin; kind < end; ++kind)
    for (int both = 0; both < 4; ++both) one(both & 1, both >> 1, kind);
  return check_end();
}

/* One run of bench/adaptable-io: ranks write through adios.h, or with parallel HDF5 (-DWITH_HDF5), and in turns with it
 * the same bytes by plain write(), each rank into a file of its own, and all ranks into one file, each at a place of
 * its own. It is built once for each library that is measured.
 *
 * usage: workload WORKLOAD METHOD PARAMETERS DIRECTORY BYTES STEPS REPEAT COMPUTE
 *   WORKLOAD    gts: 5 variables; chimera: 1,000; xgc: 50, one append a step; s3d: 16 boxes of one global array each;
 *               long: 100, one append a step, and out.bp stays in the directory
 *   METHOD      as in adios_select_method; "none" writes nothing at all
 *   BYTES       of one variable of one rank; STEPS outputs a repetition; COMPUTE seconds between outputs
 * Prints a line of JSON for each repetition: seconds from open to close summed over the steps, those of write() into
 * files of their own ("plain") and into one ("shared"), those of the whole loop, and the memory that a rank has taken
 * at most, in bytes. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef WITH_HDF5
#include <hdf5.h>
#else
#include "adios.h"
#endif

struct workload {
  const char *name, *method, *parameters, *directory;
  int variables, is_box, steps, repeat;
  uint64_t elements; /* of one variable of one rank */
  double compute;
};

static int rank_, ranks_;
static struct workload work_;
static double* values_; /* of all variables: each rank's memory of its simulation */

static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s\n", rank_, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Ranks as a line of boxes (gts and the like), or as near to a cube as it gets. */
static void decompose(int dims[3]) {
  dims[0] = dims[1] = dims[2] = work_.is_box ? 0 : 1;
  if (!work_.is_box) dims[0] = ranks_;
  MPI_Dims_create(ranks_, 3, dims);
}

static void place(uint64_t local[3], uint64_t whole[3], uint64_t offset[3]) {
  int dims[3];
  decompose(dims);
  const uint64_t side = work_.is_box ? (uint64_t)llround(cbrt((double)work_.elements)) : 1;
  local[0] = local[1] = local[2] = side;
  if (!work_.is_box) local[0] = work_.elements;
  const int at[3] = {rank_ / (dims[1] * dims[2]), rank_ / dims[2] % dims[1], rank_ % dims[2]};
  for (int i = 0; i < 3; ++i) {
    whole[i] = local[i] * (uint64_t)dims[i];
    offset[i] = local[i] * (uint64_t)at[i];
  }
}

#ifdef WITH_HDF5

static void library_begin(void) {}
static void library_end(void) {}

/* A file a step, as parallel HDF5 is used: datasets made by all, each rank writes its part, collectively. */
static void library_write(int step, const char* path) {
  uint64_t local[3], whole[3], offset[3];
  char name[4200];
  place(local, whole, offset);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS), transfer = H5Pcreate(H5P_DATASET_XFER);
  H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL);
  H5Pset_dxpl_mpio(transfer, strcmp(work_.method, "independent") ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT);
  const hid_t file =
      step == 0 ? H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access) : H5Fopen(path, H5F_ACC_RDWR, access);
  if (file < 0) fail("H5Fcreate");
  const int dimensions = work_.is_box ? 3 : 1;
  hsize_t extent[3], start[3], count[3];
  for (int i = 0; i < 3; ++i) extent[i] = whole[i], start[i] = offset[i], count[i] = local[i];
  const hid_t space = H5Screate_simple(dimensions, extent, NULL), memory = H5Screate_simple(dimensions, count, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, count, NULL);
  for (int v = 0; v < work_.variables; ++v) {
    snprintf(name, sizeof name, "v%d_%d", v, step);
    const hid_t data = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Dwrite(data, H5T_NATIVE_DOUBLE, memory, space, transfer, values_ + v * work_.elements) < 0) fail("H5Dwrite");
    H5Dclose(data);
  }
  H5Sclose(space), H5Sclose(memory), H5Pclose(access), H5Pclose(transfer);
  if (H5Fclose(file) < 0) fail("H5Fclose");
}

#else

static void dimension_text(char* text, const uint64_t numbers[3]) {
  if (work_.is_box) {
    sprintf(text, "%llu,%llu,%llu", (unsigned long long)numbers[0], (unsigned long long)numbers[1],
            (unsigned long long)numbers[2]);
  } else {
    sprintf(text, "%llu", (unsigned long long)numbers[0]);
  }
}

static void library_begin(void) {
  uint64_t local[3], whole[3], offset[3];
  char texts[3][80], name[32];
  int64_t group;
  place(local, whole, offset);
  dimension_text(texts[0], local), dimension_text(texts[1], whole), dimension_text(texts[2], offset);
  if (adios_init_noxml(MPI_COMM_WORLD)) fail("adios_init_noxml");
  adios_set_max_buffer_size(8192);
  adios_declare_group(&group, work_.name, "", adios_stat_default);
  if (adios_select_method(group, work_.method, work_.parameters, "")) fail("adios_select_method");
  for (int v = 0; v < work_.variables; ++v) {
    sprintf(name, "v%d", v);
    if (!adios_define_var(group, name, "", adios_double, texts[0], texts[1], texts[2])) fail("adios_define_var");
  }
}

static void library_end(void) { adios_finalize(rank_); }

static void library_write(int step, const char* path) {
  int64_t file;
  uint64_t total;
  char name[32];
  if (adios_open(&file, work_.name, path, step == 0 ? "w" : "a", MPI_COMM_WORLD)) fail("adios_open");
  adios_group_size(file, (uint64_t)work_.variables * work_.elements * sizeof(double), &total);
  for (int v = 0; v < work_.variables; ++v) {
    sprintf(name, "v%d", v);
    if (adios_write(file, name, values_ + v * work_.elements)) fail("adios_write");
  }
  if (adios_close(file)) fail("adios_close");
}

#endif

static void plain_write(int step, const char* path) {
  char own[4200];
  snprintf(own, sizeof own, "%s.%d", path, rank_);
  const int file = open(own, O_CREAT | O_WRONLY | (step == 0 ? O_TRUNC : O_APPEND), 0666);
  if (file < 0) fail("open");
  for (int v = 0; v < work_.variables; ++v) {
    const char* bytes = (const char*)(values_ + v * work_.elements);
    for (uint64_t left = work_.elements * sizeof(double); left > 0;) {
      const ssize_t written = write(file, bytes, left);
      if (written <= 0) fail("write");
      bytes += written, left -= (uint64_t)written;
    }
  }
  if (close(file)) fail("close");
}

static void shared_write(int step, const char* path) {
  const uint64_t bytes = (uint64_t)work_.variables * work_.elements * sizeof(double);
  uint64_t at = ((uint64_t)step * (uint64_t)ranks_ + (uint64_t)rank_) * bytes;
  const int file = open(path, O_CREAT | O_WRONLY, 0666);
  if (file < 0) fail("open");
  for (int v = 0; v < work_.variables; ++v) {
    const char* values = (const char*)(values_ + v * work_.elements);
    for (uint64_t left = work_.elements * sizeof(double); left > 0;) {
      const ssize_t written = pwrite(file, values, left, (off_t)at);
      if (written <= 0) fail("pwrite");
      values += written, at += (uint64_t)written, left -= (uint64_t)written;
    }
  }
  if (close(file)) fail("close");
}

/* Works until so much time of this rank's processor is used: what others take does not shorten it. */
static void compute(double seconds) {
  if (seconds <= 0) return;
  struct rusage usage;
  volatile double x = 1;
  getrusage(RUSAGE_THREAD, &usage);
  const double until = usage.ru_utime.tv_sec + 1e-6 * usage.ru_utime.tv_usec + seconds;
  do {
    for (int i = 0; i < 20000; ++i) x = x * 1.0000001 + 1e-9;
    getrusage(RUSAGE_THREAD, &usage);
  } while (usage.ru_utime.tv_sec + 1e-6 * usage.ru_utime.tv_usec < until);
}

static void remove_old(const char* path) {
  char command[8600];
  MPI_Barrier(MPI_COMM_WORLD);
  snprintf(command, sizeof command, "rm -rf '%s' '%s.dir' '%s'.[0-9]*", path, path, path);
  if (rank_ == 0 && system(command) != 0) fail("rm");
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The seconds that all outputs of a repetition took, and those of the whole loop. */
static double measure(void (*write_step)(int, const char*), const char* path, double* whole) {
  double blocked = 0;
  remove_old(path);
  const double began = MPI_Wtime();
  for (int step = 0; step < work_.steps; ++step) {
    compute(work_.compute);
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = MPI_Wtime();
    if (write_step) write_step(step, path);
    MPI_Barrier(MPI_COMM_WORLD);
    blocked += MPI_Wtime() - before;
    for (uint64_t v = 0; v < (uint64_t)work_.variables; ++v) values_[v * work_.elements] += 1;
  }
  *whole = MPI_Wtime() - began;
  return blocked;
}

static double peak_memory(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double mine = usage.ru_maxrss * 1024.0, most = 0;
  MPI_Reduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return most;
}

static void read_arguments(char** argv) {
  const char* name = argv[1];
  work_ = (struct workload){.name = name,
                            .method = argv[2],
                            .parameters = argv[3],
                            .directory = argv[4],
                            .elements = strtoull(argv[5], NULL, 10) / sizeof(double),
                            .steps = atoi(argv[6]),
                            .repeat = atoi(argv[7]),
                            .compute = atof(argv[8])};
  work_.is_box = strcmp(name, "s3d") == 0;
  work_.variables = strcmp(name, "gts") == 0       ? 5
                    : strcmp(name, "chimera") == 0 ? 1000
                    : strcmp(name, "xgc") == 0     ? 50
                    : strcmp(name, "long") == 0    ? 100
                                                   : 16;
  if (work_.is_box) {
    const uint64_t side = (uint64_t)llround(cbrt((double)work_.elements));
    work_.elements = side * side * side;
  }
}

int main(int argc, char** argv) {
  char path[4096], plain[4096];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (argc != 9) fail("usage: workload WORKLOAD METHOD PARAMETERS DIRECTORY BYTES STEPS REPEAT COMPUTE");
  read_arguments(argv);
  snprintf(path, sizeof path, "%s/out.bp", work_.directory);
  snprintf(plain, sizeof plain, "%s/plain", work_.directory);
  const uint64_t count = (uint64_t)work_.variables * work_.elements;
  values_ = malloc(count * sizeof *values_);
  if (!values_) fail("malloc");
  for (uint64_t i = 0; i < count; ++i)
    values_[i] = sin((double)i * 0.001) * (rank_ + 1) + (double)(i * 2654435761u % 4096) * 1e-6;

  const int is_none = strcmp(work_.method, "none") == 0;
  if (!is_none) library_begin();
  for (int i = 0; i < work_.repeat; ++i) {
    double loop, plain_loop;
    /* Last, so that what is measured does not find the memory that write() has just filled. */
    const double seconds = measure(is_none ? NULL : library_write, path, &loop);
    if (strcmp(work_.name, "long") != 0) remove_old(path);
    const double compute_seconds = work_.compute;
    work_.compute = 0;
    const double raw = is_none ? 0 : measure(plain_write, plain, &plain_loop);
    remove_old(plain);
    const double shared = is_none ? 0 : measure(shared_write, plain, &plain_loop);
    work_.compute = compute_seconds;
    remove_old(plain);
    const double memory = peak_memory();
    if (rank_ == 0)
      printf(
          "{\"seconds\": %.6f, \"plain\": %.6f, \"shared\": %.6f, \"whole\": %.6f, \"memory\": %.0f, \"data\": %.0f}\n",
          seconds, raw, shared, loop, memory, (double)count * sizeof *values_),
          fflush(stdout);
  }
  if (!is_none) library_end();
  free(values_);
  MPI_Finalize();
  return 0;
}

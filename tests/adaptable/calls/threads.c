/* Threads that write files of different groups at the same time, without MPI: what each wrote is what is read.
   usage: threads DIRECTORY */
#include <adios.h>
#include <adios_read.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4
#define STEPS 30
#define MOST 20000

static const char* directory;
static const char* const methods[THREADS] = {"MPI", "POSIX", "MPI_AGGREGATE", "MPI"};
static atomic_int faults;
static pthread_barrier_t together;

static void expect(int thread, const char* what, long long got, long long wanted) {
  if (got == wanted) return;
  printf("thread %d: %s is %lld, not %lld (%s)\n", thread, what, got, wanted, adios_get_last_errmsg());
  faults++;
}

static void group_name(int thread, char* name) { sprintf(name, "group%d", thread); }

static void path_of(int thread, char* path, size_t size) { snprintf(path, size, "%s/%d.fb", directory, thread); }

static int length_in(int step, int thread) { return 1 + (step * 7919 + thread * 104729) % MOST; }

static double value_of(int thread, int step, int i) { return 1e6 * thread + 1e3 * step + i; }

static void declare(int thread) {
  int64_t group, x;
  char name[32];
  group_name(thread, name);
  expect(thread, "adios_declare_group", adios_declare_group(&group, name, "", adios_stat_full), 0);
  expect(thread, "adios_select_method", adios_select_method(group, methods[thread], "verbose=0", ""), 0);
  adios_define_var(group, "n", "", adios_integer, "", "", "");
  adios_define_var(group, "word", "", adios_string, "", "", "");
  x = adios_define_var(group, "x", "", adios_double, "n", "n", "0");
  if (thread == 3) expect(thread, "adios_set_transform", adios_set_transform(x, "zlib:1"), 0);
}

static void* write_steps(void* argument) {
  const int thread = (int)(intptr_t)argument;
  char name[32], path[4096], word[64], text[80];
  double* x = malloc(MOST * sizeof *x);
  group_name(thread, name);
  path_of(thread, path, sizeof path);
  pthread_barrier_wait(&together);
  for (int step = 0; step < STEPS; step++) {
    const int n = length_in(step, thread);
    int64_t file;
    uint64_t total;
    for (int i = 0; i < n; i++) x[i] = value_of(thread, step, i);
    sprintf(word, "step %d of thread %d", step, thread);
    expect(thread, "adios_open", adios_open(&file, name, path, step == 0 ? "w" : "a", MPI_COMM_SELF), 0);
    expect(thread, "adios_group_size", adios_group_size(file, 8 * (uint64_t)n, &total), 0);
    expect(thread, "write of n", adios_write(file, "n", &n), 0);
    expect(thread, "write of word", adios_write(file, "word", word), 0);
    expect(thread, "write of x", adios_write(file, "x", x), 0);
    /* Errors are a thread's own. */
    sprintf(text, "nothing of thread %d", thread);
    expect(thread, "write of nothing", adios_write(file, text, x), err_invalid_varname);
    if (!strstr(adios_get_last_errmsg(), text)) expect(thread, "its own message", 0, 1);
    expect(thread, "adios_close", adios_close(file), 0);
  }
  free(x);
  return NULL;
}

static void read_steps(int thread) {
  char path[4096], word[64], expected[64];
  path_of(thread, path, sizeof path);
  ADIOS_FILE* file = adios_read_open(path, ADIOS_READ_METHOD_BP, MPI_COMM_SELF, ADIOS_LOCKMODE_NONE, 0);
  double* x = malloc(MOST * sizeof *x);
  int step = 0;
  for (; file && step < STEPS; step++) {
    const int n = length_in(step, thread);
    int read = 0;
    expect(thread, "read of n", adios_schedule_read(file, NULL, "n", 0, 1, &read), 0);
    expect(thread, "read of word", adios_schedule_read(file, NULL, "word", 0, 1, word), 0);
    expect(thread, "read of x", adios_schedule_read(file, NULL, "x", 0, 1, x), 0);
    expect(thread, "adios_perform_reads", adios_perform_reads(file, 1), 0);
    expect(thread, "n", read, n);
    sprintf(expected, "step %d of thread %d", step, thread);
    expect(thread, "word", strcmp(word, expected), 0);
    for (int i = 0; i < n; i++)
      if (x[i] != value_of(thread, step, i)) {
        expect(thread, "x", (long long)x[i], (long long)value_of(thread, step, i));
        break;
      }
    if (step + 1 < STEPS) expect(thread, "adios_advance_step", adios_advance_step(file, 0, 0), 0);
  }
  expect(thread, "steps", step, STEPS);
  if (file) adios_read_close(file);
  free(x);
}

int main(int argc, char** argv) {
  pthread_t threads[THREADS];
  directory = argc > 1 ? argv[1] : ".";
  expect(-1, "adios_init_noxml", adios_init_noxml(MPI_COMM_WORLD), 0);
  for (int i = 0; i < THREADS; i++) declare(i);
  pthread_barrier_init(&together, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, write_steps, (void*)(intptr_t)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  expect(-1, "adios_finalize", adios_finalize(0), 0);
  for (int i = 0; i < THREADS; i++) read_steps(i);
  return faults > 0;
}

/* Series of many variables in one adios_perform_reads(), scheduled in every order: right values, each step opened once.
 */
#include <adios.h>
#include <adios_read.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int failures = 0;
#define CHECK(condition)                                                                               \
  do {                                                                                                 \
    if (!(condition)) {                                                                                \
      printf("line %d: %s (adios_errno %d: %s)\n", __LINE__, #condition, adios_errno, adios_errmsg()); \
      ++failures;                                                                                      \
    }                                                                                                  \
  } while (0)

enum { VARIABLES = 100, STEPS = 60, LENGTH = 8 };
static double value(int variable, int step, int i) { return 1000. * variable + step + i / 10.; }

static void write_file(const char* path) {
  int64_t group, fd;
  char name[16];
  int v, s, i;
  CHECK(adios_init_noxml(0) == 0);
  CHECK(adios_declare_group(&group, "g", "", adios_stat_default) == 0);
  CHECK(adios_select_method(group, "POSIX", "", "") == 0);
  for (v = 0; v < VARIABLES; ++v) {
    sprintf(name, "v%d", v);
    adios_define_var(group, name, "", adios_double, "8", "8", "0");
  }
  for (s = 0; s < STEPS; ++s) {
    CHECK(adios_open(&fd, "g", path, s ? "a" : "w", 0) == 0);
    for (v = 0; v < VARIABLES; ++v) {
      double values[LENGTH];
      for (i = 0; i < LENGTH; ++i) values[i] = value(v, s, i);
      sprintf(name, "v%d", v);
      CHECK(adios_write(fd, name, values) == 0);
    }
    CHECK(adios_close(fd) == 0);
  }
  adios_finalize(0);
}

enum order { BY_STEP, BY_VARIABLE, BY_VARIABLE_BACKWARDS, WHOLE_SERIES };

/* Seconds of the processor that element 3 of all variables in all steps took. */
static double read_all(const char* path, enum order order) {
  static double out[VARIABLES][STEPS];
  const uint64_t start = 3, count = 1;
  int i, wrong = 0;
  ADIOS_FILE* f = adios_read_open_file(path, ADIOS_READ_METHOD_BP, 0);
  ADIOS_SELECTION* box = adios_selection_boundingbox(1, &start, &count);
  CHECK(f != NULL);
  if (!f) return 0;
  const clock_t begin = clock();
  for (i = 0; i < (order == WHOLE_SERIES ? VARIABLES : VARIABLES * STEPS); ++i) {
    const int v = order == BY_STEP ? i % VARIABLES : order == WHOLE_SERIES ? i : i / STEPS;
    int s = order == BY_STEP ? i / VARIABLES : order == WHOLE_SERIES ? 0 : i % STEPS;
    char name[16];
    if (order == BY_VARIABLE_BACKWARDS) s = STEPS - 1 - s;
    sprintf(name, "v%d", v);
    CHECK(adios_schedule_read(f, box, name, s, order == WHOLE_SERIES ? STEPS : 1, &out[v][s]) == 0);
  }
  CHECK(adios_perform_reads(f, 1) == 0);
  const clock_t end = clock();
  for (i = 0; i < VARIABLES * STEPS; ++i) {
    wrong += out[i / STEPS][i % STEPS] != value(i / STEPS, i % STEPS, 3);
    out[i / STEPS][i % STEPS] = -1;
  }
  CHECK(wrong == 0);
  adios_selection_delete(box);
  CHECK(adios_read_close(f) == 0);
  return (double)(end - begin) / CLOCKS_PER_SEC;
}

int main(int argc, char** argv) {
  char path[4096];
  enum order order;
  if (argc != 2) return 2;
  snprintf(path, sizeof path, "%s/series.bp", argv[1]);
  write_file(path);
  CHECK(adios_read_init_method(ADIOS_READ_METHOD_BP, 0, "") == 0);
  const double by_step = read_all(path, BY_STEP);
  for (order = BY_VARIABLE; order <= WHOLE_SERIES; ++order) {
    const double seconds = read_all(path, order);
    printf("order %d: %.3f s of the processor, step by step %.3f s\n", (int)order, seconds, by_step);
    CHECK(seconds < 5 * by_step + 0.05); /* each step as often as it is mentioned: tens of times as much */
  }
  adios_read_finalize_method(ADIOS_READ_METHOD_BP);
  return failures != 0;
}

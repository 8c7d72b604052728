/* What adios.h promises when things go wrong: one scenario for each run, at all ranks. calls.py looks at the files.
   usage: calls SCENARIO [METHOD] */
#include <adios.h>
#include <adios_transform_methods.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME "out.fb"

static int rank, size, faults;
static MPI_Comm comm;

static void expect(const char* what, long long got, long long wanted) {
  if (got == wanted) return;
  printf("rank %d: %s is %lld, not %lld (%s)\n", rank, what, got, wanted, adios_get_last_errmsg());
  fflush(stdout);
  faults++;
}

/* Group "g": n, and x of n doubles of a global array. */
static int64_t declare(const char* text) {
  int64_t group;
  char method[64];
  const char* parameters = text ? strchr(text, ':') : NULL; /* METHOD:PARAMETERS */
  snprintf(method, sizeof method, "%.*s", text ? (int)strcspn(text, ":") : 0, text ? text : "");
  expect("adios_declare_group", adios_declare_group(&group, "g", "", adios_stat_default), 0);
  if (text) expect("adios_select_method", adios_select_method(group, method, parameters ? parameters + 1 : "", ""), 0);
  adios_define_var(group, "n", "", adios_integer, "", "", "");
  adios_define_var(group, "total", "", adios_integer, "", "", "");
  adios_define_var(group, "at", "", adios_integer, "", "", "");
  adios_define_var(group, "x", "", adios_double, "n", "total", "at");
  return group;
}

static int write_x(int64_t file, int n) {
  const int total = n * size, at = n * rank;
  double* x = malloc(sizeof(double) * (size_t)(n > 0 ? n : 1));
  for (int i = 0; i < n; i++) x[i] = 1000.0 * rank + i;
  expect("write of n", adios_write(file, "n", &n), 0);
  expect("write of total", adios_write(file, "total", &total), 0);
  expect("write of at", adios_write(file, "at", &at), 0);
  const int code = adios_write(file, "x", x);
  free(x);
  return code;
}

static void step(const char* mode, int n) {
  int64_t file;
  expect("adios_open", adios_open(&file, "g", FILE_NAME, mode, comm), 0);
  expect("write of x", write_x(file, n), 0);
  expect("adios_close", adios_close(file), 0);
}

static void names(const char* method) {
  int64_t group = declare(method), file = 7, variable;
  uint64_t total;
  double x[4] = {0};
  expect("open of no group", adios_open(&file, "h", FILE_NAME, "w", comm), err_invalid_group);
  expect("its handle", file, 0);
  expect("open in no mode", adios_open(&file, "g", FILE_NAME, "rw", comm), err_invalid_file_mode);
  expect("update of no file", adios_open(&file, "g", FILE_NAME, "u", comm), err_file_not_found);
  expect("write into no file", adios_write(0, "n", &rank), err_invalid_file_pointer);
  expect("close of no file", adios_close(12345), err_invalid_file_pointer);
  expect("no method", adios_select_method(group, "MPPI", "", ""), err_invalid_write_method);
  if (!strstr(adios_get_last_errmsg(), "MPI")) expect("nearest name", 0, 1);
  expect("no base path", adios_select_method(group, method, "", "dir"), err_invalid_method);
  expect("no variable of the group", adios_define_var(group, "y", "", adios_double, "m", "", ""), 0);
  expect("adios_errno", adios_errno, err_invalid_dimension);
  variable = adios_define_var(group, "y", "p", adios_double, "4", "", "");
  if (variable == 0) expect("adios_define_var", 0, 1);
  expect("no transform", adios_set_transform(variable, "zlip:5"), err_invalid_transform_type);
  expect("adios_set_transform", adios_set_transform(variable, "zlib:5"), 0);
  expect("adios_expected_var_size", (long long)adios_expected_var_size(variable), 32);
  expect("adios_open", adios_open(&file, "g", FILE_NAME, "w", comm), 0);
  expect("adios_group_size", adios_group_size(file, 8, &total), 0); /* far less than is written */
  if (total <= 8) expect("total size", (long long)total, 9);
  expect("write before its dimension", adios_write(file, "x", x), err_invalid_var_as_dimension);
  expect("write of no variable", adios_write(file, "/p/y", x), err_invalid_varname);
  expect("write of nothing", adios_write(file, "p/y", NULL), err_invalid_argument);
  expect("write of x", write_x(file, 1000), 0);
  expect("adios_write_byid", adios_write_byid(file, variable, x), 0);
  expect("write of n", adios_write(file, "n", &(int){-1}), 0);
  if (adios_write(file, "x", x) == 0) expect("write of a negative size", 0, 1);
  expect("read from a file to be written", adios_read(file, "p/y", x, 32), err_operation_not_supported);
  expect("adios_close", adios_close(file), 0);
  expect("adios_errno", adios_errno, 0);
  expect("second close", adios_close(file), err_invalid_file_pointer);
  expect("adios_delete_vardefs", adios_delete_vardefs(group), 0);
  expect("size of a deleted variable", (long long)adios_expected_var_size(variable), 0);
}

/* 40,000 bytes each, of which one fits into what is left of 1 MB twice; see calls.py. */
static void overflow(const char* method) {
  int64_t file;
  const int is_posix = strcmp(method, "POSIX") == 0, is_aggregate = strcmp(method, "MPI_AGGREGATE") == 0;
  adios_set_max_buffer_size(1);
  declare(method);
  expect("adios_open", adios_open(&file, "g", FILE_NAME, "w", comm), 0);
  for (int i = 0; i < 3; i++) expect("write of x", write_x(file, 50000), is_posix || i < 2 ? 0 : err_buffer_overflow);
  expect("adios_close", adios_close(file), is_aggregate ? err_buffer_overflow : 0);
  step("a", 10); /* the next step has all of the buffer again */
}

/* Two steps; in the third, rank 1 is gone before it closes. */
static void killed(const char* method) {
  int64_t file;
  declare(method);
  step("w", 100);
  step("a", 200);
  expect("adios_open", adios_open(&file, "g", FILE_NAME, "a", comm), 0);
  expect("write of x", write_x(file, 300), 0);
  MPI_Barrier(comm);
  if (rank == 1) kill(getpid(), SIGKILL);
  adios_close(file);
}

/* No file of rank 1 can be longer than 4 MB; the third step is. */
static void full(const char* method) {
  int64_t file;
  declare(method);
  step("w", 100);
  step("a", 200);
  signal(SIGXFSZ, SIG_IGN);
  if (rank == 1) setrlimit(RLIMIT_FSIZE, &(struct rlimit){4 << 20, 4 << 20});
  expect("adios_open", adios_open(&file, "g", FILE_NAME, "a", comm), 0);
  if (write_x(file, 1 << 20) != 0 && (rank != 1 || strcmp(method, "POSIX") != 0)) expect("write of x", adios_errno, 0);
  if (adios_close(file) == 0) expect("close of what does not fit", 0, err_write_error);
  if (!strstr(adios_get_last_errmsg(), "rank 1")) expect("the rank that is told", 0, 1);
}

/* The disk is full for all (calls.py makes a small one): at a step that is appended, and at a new file. A set of the
   method FOREBAY is refused where it is staged. */
static void disk(const char* method) {
  int64_t file;
  declare(method);
  step("w", 100);
  step("a", 200);
  for (int i = 0; i < 2; i++) {
    const int opened = adios_open(&file, "g", FILE_NAME, i == 0 ? "a" : "w", comm);
    if (i == 0) expect("adios_open", opened, 0); /* then there may be no room for a file either */
    if (opened == 0) {
      const int written = write_x(file, 1 << 20); /* large enough to go out at once, where there is room set aside */
      if (written != 0) expect("write of x", written, err_write_error);
      if (adios_close(file) == 0) expect("close of what does not fit", 0, err_write_error);
    }
    if (!strstr(adios_get_last_errmsg(), "No space left on device")) expect("the reason in the message", 0, 1);
  }
}

/* The ranks do not open the same: all get an error, which one of them prints. calls.py counts the lines. */
static void differ(const char* method) {
  int64_t file = 7;
  declare(method);
  expect("open of two names", adios_open(&file, "g", rank == 1 ? "other.fb" : FILE_NAME, "w", comm),
         err_invalid_argument);
  expect("its handle", file, 0);
  if (!strstr(adios_get_last_errmsg(), "other.fb") || !strstr(adios_get_last_errmsg(), "rank 1"))
    expect("names in the message", 0, 1);
  expect("open in two modes", adios_open(&file, "g", FILE_NAME, rank == 2 ? "a" : "w", comm), err_invalid_argument);
  expect("open in no mode", adios_open(&file, "g", FILE_NAME, rank == 2 ? "rw" : "w", comm), err_invalid_file_mode);
  expect("open of no group", adios_open(&file, rank == 0 ? "h" : "g", FILE_NAME, "w", comm), err_invalid_group);
  expect("update of no file", adios_open(&file, "g", FILE_NAME, "u", comm), err_file_not_found);
  step("w", 10);
}

/* Rank 0 announces what it has, rank 1 too little, rank 2 too much; then one of them alone announces something. */
static void announced(const char* method) {
  const int n = 700000; /* goes out at once where it may */
  declare(method);
  for (int i = 0; i < 4; i++) {
    int64_t file;
    uint64_t total, bytes = sizeof(double) * (uint64_t)n;
    if (rank == 1) bytes = 8;
    if (rank == 2) bytes *= 3;
    expect("adios_open", adios_open(&file, "g", FILE_NAME, i == 0 ? "w" : "a", comm), 0);
    if (i == 0 || rank == i - 1) expect("adios_group_size", adios_group_size(file, bytes, &total), 0);
    expect("write of x", write_x(file, n), 0);
    if (i == 2) adios_timing_write_xml(file, "times.xml");
    expect("adios_close", adios_close(file), 0);
  }
}

static void two_writers(const char* method) {
  int64_t first, second;
  declare(method);
  step("w", 100);
  for (int i = 0; i < 2; i++) {
    const char* mode = i == 0 ? "a" : "w";
    expect("first open", adios_open(&first, "g", FILE_NAME, mode, comm), 0);
    if (adios_open(&second, "g", FILE_NAME, mode, comm) == 0) expect("second open", 0, err_file_open_error);
    expect("write of x", write_x(first, 10), 0);
    expect("adios_close", adios_close(first), 0);
  }
}

static void read_back(const char* method) {
  int64_t file;
  int n = 0;
  double x[200];
  declare(method);
  step("w", 100);
  step("a", 200);
  expect("adios_open", adios_open(&file, "g", FILE_NAME, "r", comm), 0);
  expect("adios_read", adios_read(file, "n", &n, sizeof n), 0);
  expect("adios_read", adios_read(file, "x", x, sizeof x), 0);
  expect("adios_close", adios_close(file), 0);
  expect("n", n, 200);
  for (int i = 0; i < 200; i++) expect("x", (long long)x[i], 1000 * rank + i);
}

static void no_config(void) {
  expect("adios_init without a file", adios_init("not_there.xml", comm), err_missing_config_file);
  if (!strstr(adios_get_last_errmsg(), "not_there.xml")) expect("the name in the message", 0, 1);
}

/* run.xml (calls.py) asks for a transform that is not there: the call says so, and values are stored as they are. */
static void config(void) {
  expect("adios_init", adios_init("run.xml", comm), err_invalid_transform_type);
  expect("adios_errno", adios_errno, err_invalid_transform_type);
  if (!strstr(adios_get_last_errmsg(), "run.xml:6:53: group 'g', variable 'x': transform \"zlip:5\""))
    expect("place in the message", 0, 1);
  expect("adios_is_initialized", adios_is_initialized(), 1);
  step("w", 10);
  step("a", 20);
}

/* run.xml has a dimension by a variable whose element is not one. */
static void wrong_config(void) { expect("adios_init", adios_init("run.xml", comm), err_invalid_dimension); }

/* What the parameters of methods say to the library itself; calls.py looks at where the messages went. */
static void general(const char* method) {
  int64_t group = declare(method), file;
  const char* parameters = "verbose=1;logfile=errors.log";
  for (int i = 0; i < 3; i++) {
    const char* name = i == 0 ? "to the log" : "to nobody";
    expect("adios_open", adios_open(&file, name, FILE_NAME, "w", comm), err_invalid_group);
    if (i == 0) expect("adios_select_method", adios_select_method(group, "NULL", "verbose=0", ""), 0);
    if (i == 1) expect("adios_select_method", adios_select_method(group, "NULL", "verbose=2;quiet", ""), 0);
  }
  expect("adios_select_method", adios_select_method(group, "NULL", parameters, ""), 0);
  expect("adios_open", adios_open(&file, "to the log", FILE_NAME, "w", comm), err_invalid_group);
  step("w", 10);
}

static void aborts(const char* method) {
  int64_t file;
  declare(method);
  expect("adios_open", adios_open(&file, "no group", FILE_NAME, "w", comm), err_invalid_group);
  printf("the process went on\n");
}

static int is_among(char** names, int count, const char* name) {
  for (int i = 0; i < count; i++)
    if (names[i] && strcmp(names[i], name) == 0) return 1;
  return 0;
}

static void lists(void) {
  ADIOS_AVAILABLE_WRITE_METHODS* methods = adios_available_write_methods();
  ADIOS_AVAILABLE_TRANSFORM_METHODS* transforms = adios_available_transform_methods();
  expect("MPI among the methods", is_among(methods->name, methods->nmethods, "MPI"), 1);
  expect("POSIX among the methods", is_among(methods->name, methods->nmethods, "POSIX"), 1);
  expect("zlib among the transforms", is_among(transforms->name, transforms->ntransforms, "zlib"), 1);
  expect("none among the transforms", is_among(transforms->name, transforms->ntransforms, "none"), 1);
  for (int i = 0; i < transforms->ntransforms; i++)
    if (!transforms->description[i] || !transforms->description[i][0]) expect("a description", 0, 1);
  adios_available_write_methods_free(methods);
  adios_available_write_methods_free(NULL);
  adios_available_transform_methods_free(transforms);
  adios_available_transform_methods_free(NULL);
}

static long long size_of_file(void) {
  struct stat facts;
  return stat(FILE_NAME, &facts) == 0 ? (long long)facts.st_size : -1;
}

/* Calls that no other scenario makes. */
static void further(const char* method) {
  int64_t group = declare(method), other, file;
  const int n = 1000, total = n * size, at = n * rank;
  uint64_t bytes = 0;
  double* x = NULL;
  long long before;
  lists();
  adios_define_attribute(group, "dropped", "", adios_integer, "1", "");
  expect("adios_delete_attrdefs", adios_delete_attrdefs(group), 0);
  expect("adios_define_attribute", adios_define_attribute(group, "kept", "", adios_integer, "2", ""), 0);
  expect("adios_delete_attrdefs of no group", adios_delete_attrdefs(12345), err_invalid_group);

  expect("adios_open", adios_open(&file, "g", FILE_NAME, "w", comm), 0);
  expect("buffer before its dimension", adios_get_write_buffer(file, "x", &bytes, (void**)&x),
         err_invalid_var_as_dimension);
  expect("write of n", adios_write(file, "n", &n), 0);
  expect("adios_set_path", adios_set_path(file, "below"), 0);
  expect("write of total", adios_write(file, "total", &total), 0);
  expect("adios_set_path_var", adios_set_path_var(file, "aside", "at"), 0);
  expect("adios_set_path_var of none", adios_set_path_var(file, "aside", "nothing"), err_invalid_varname);
  expect("write of at", adios_write(file, "at", &at), 0);
  expect("adios_set_path_var", adios_set_path_var(file, "", "x"), 0);
  bytes = sizeof(double) * (uint64_t)n + 1;
  expect("too large a buffer", adios_get_write_buffer(file, "x", &bytes, (void**)&x), err_expected_read_size_mismatch);
  bytes = 0;
  expect("adios_get_write_buffer", adios_get_write_buffer(file, "x", &bytes, (void**)&x), 0);
  expect("its size", (long long)bytes, (long long)(sizeof(double) * (size_t)n));
  for (int i = 0; x && i < n; i++) x[i] = 1000.0 * rank + i;
  expect("adios_close", adios_close(file), 0);

  /* Two steps are kept until the end: less than a megabyte. */
  expect("adios_set_time_aggregation", adios_set_time_aggregation(group, 1 << 20, 0), 0);
  before = size_of_file();
  step("a", 200);
  step("a", 300);
  expect("size of the file that waits", size_of_file(), before);
  expect("adios_set_time_aggregation", adios_set_time_aggregation(12345, 1 << 20, 0), err_invalid_group);

  expect("adios_declare_group", adios_declare_group(&other, "other", "", adios_stat_no), 0);
  expect("adios_select_method", adios_select_method(other, "MPI", "", ""), 0);
  adios_define_var(other, "large", "", adios_byte, "2000000", "", "");
  expect("adios_allocate_buffer", adios_allocate_buffer(ADIOS_BUFFER_ALLOC_NOW, 1), 0);
  expect("adios_open", adios_open(&file, "other", "other.fb", "w", comm), 0);
  x = calloc(2000000, 1);
  expect("write of more than the buffer has", adios_write(file, "large", x), err_buffer_overflow);
  free(x);
  expect("adios_close", adios_close(file), 0);
  expect("adios_free_group", adios_free_group(other), 0);
  expect("open of a group that is gone", adios_open(&file, "other", "other.fb", "w", comm), err_invalid_group);
  expect("second adios_free_group", adios_free_group(other), err_invalid_group);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const char* scenario = argc > 1 ? argv[1] : "";
  const char* method = argc > 2 ? argv[2] : "MPI";
  expect("adios_is_initialized", adios_is_initialized(), 0);
  if (strcmp(scenario, "no_config") == 0) {
    no_config();
  } else if (strcmp(scenario, "config") == 0) {
    config();
  } else if (strcmp(scenario, "wrong_config") == 0) {
    wrong_config();
  } else {
    expect("adios_init_noxml", adios_init_noxml(comm), 0);
    expect("adios_is_initialized", adios_is_initialized(), 1);
  }
  if (strcmp(scenario, "names") == 0) names(method);
  if (strcmp(scenario, "general") == 0) general(method);
  if (strcmp(scenario, "aborts") == 0) aborts(method);
  if (strcmp(scenario, "further") == 0) further(method);
  if (strcmp(scenario, "overflow") == 0) overflow(method);
  if (strcmp(scenario, "killed") == 0) killed(method);
  if (strcmp(scenario, "announced") == 0) announced(method);
  if (strcmp(scenario, "full") == 0) full(method);
  if (strcmp(scenario, "disk") == 0) disk(method);
  if (strcmp(scenario, "differ") == 0) differ(method);
  if (strcmp(scenario, "two_writers") == 0) two_writers(method);
  if (strcmp(scenario, "read_back") == 0) read_back(method);
  expect("adios_finalize", adios_finalize(rank), 0);
  MPI_Finalize();
  return faults > 0;
}

/* A program with checkpoints as those that SCR's interface was made for: each rank writes files whose bytes follow from
 * set and rank, and checks all of them after a restart. program [--sets N] [--bytes N] [--flags checkpoint|output|both]
 * [--old] [--null] [--current NAME] [--names flat|deep]
 *           [--until SET] [--work MS] [--die-in SET] [--invalid SET] [--restart-fails NAME] [--delete NAME] [--drop
 * NAME]
 *           [--delete-last 1] [--pad TEXT] [--ask 1] [--stay 1] [--shared 1] [--count 1] [--config TEXT]
 * --pad: before each set's name; --ask: whether there is a restart after each set; --stay: computes for ever in the
 * end;
 * --shared: one file of all ranks; --count: how often the library has read the bytes of a set to complete and to find
 * it. Prints one line for each thing that happens, of rank 0. */
#include <fcntl.h>
#include <mpi.h>
#include <scr.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank = 0, ranks = 1;
static long bytes = 100000;
static int deep = 1, shared = 0;
static const char* pad = "";

static int must(int code, const char* what) {
  if (code == SCR_SUCCESS) return code;
  if (rank == 0) printf("failed: %s\n", what);
  fflush(stdout);
  usleep(200000); /* what other ranks say is lost after MPI_Abort */
  MPI_Abort(MPI_COMM_WORLD, 3);
  return code;
}

static void say(const char* what, const char* name) {
  if (rank != 0) return;
  printf("%s %s\n", what, name);
  fflush(stdout);
}

static void file_name(const char* set, int part, char* name) {
  set += strlen(pad);
  if (shared && part == 0)
    snprintf(name, SCR_MAX_FILENAME, "%s/all.ckpt", set);
  else if (deep)
    snprintf(name, SCR_MAX_FILENAME, "%s/part_%d/rank_%d.ckpt", set, part, rank);
  else
    snprintf(name, SCR_MAX_FILENAME, "%s.%d.rank_%d.ckpt", set, part, rank);
}

static unsigned char byte_of(const char* set, int part, long at) {
  unsigned long long value = (unsigned long long)at * 2654435761u + (unsigned)rank * 97u + (unsigned)part * 31u;
  for (const char* c = set; *c; ++c) value += (unsigned char)*c;
  return (unsigned char)(value >> 7);
}

static long size_of(int part) { return part == 0 ? bytes + 1000 * rank : 17 + rank; }

/* Where this rank's bytes begin: in a file of all ranks, after those of the ranks before. */
static long start_of(int part) {
  long at = 0;
  for (int before = 0; shared && part == 0 && before < rank; ++before) at += bytes + 1000 * before;
  return at;
}

static int write_files(const char* set) {
  for (int part = 0; part < 2; ++part) {
    char name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
    file_name(set, part, name);
    if (SCR_Route_file(name, path) != SCR_SUCCESS) return 0;
    const int fd = open(path, O_WRONLY | O_CREAT | (shared ? 0 : O_TRUNC), 0666);
    FILE* file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (file == NULL || fseek(file, start_of(part), SEEK_SET) != 0) return 0;
    for (long at = 0; at < size_of(part); ++at) fputc(byte_of(set, part, at), file);
    if (fclose(file) != 0) return 0;
  }
  return 1;
}

static int read_files(const char* set) {
  for (int part = 0; part < 2; ++part) {
    char name[SCR_MAX_FILENAME], path[SCR_MAX_FILENAME];
    long at = 0;
    int c;
    file_name(set, part, name);
    if (SCR_Route_file(name, path) != SCR_SUCCESS) return 0;
    FILE* file = fopen(path, "rb");
    if (file == NULL || fseek(file, start_of(part), SEEK_SET) != 0) return 0;
    while (!(shared && at == size_of(part)) && (c = fgetc(file)) != EOF) {
      if (c != byte_of(set, part, at++)) {
        printf("rank %d: wrong byte %ld in %s\n", rank, at - 1, path);
        fclose(file);
        return 0;
      }
    }
    fclose(file);
    if (at != size_of(part)) {
      printf("rank %d: %ld bytes in %s\n", rank, at, path);
      return 0;
    }
  }
  return 1;
}

static int counts = 0;

/* What all ranks have read so far. */
static long long read_so_far(void) {
  long long mine = 0, all = 0;
  FILE* file = fopen("/proc/self/io", "r");
  if (file == NULL || fscanf(file, "rchar: %lld", &mine) != 1) mine = 0;
  if (file != NULL) fclose(file);
  MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* Prints how often the bytes of a set were read since `before`, in tenths. */
static void say_reads(long long before) {
  char text[64];
  long long set = 0;
  if (!counts) return;
  for (int one = 0; one < ranks; ++one) set += bytes + 1000 * one + 17 + one;
  snprintf(text, sizeof text, "%.1f times", (double)(read_so_far() - before) / (double)set);
  say("reads", text);
}

static const char *current = NULL, *restart_fails = "", *deletes = NULL, *drops = NULL;

/* The number of the set that was loaded; 0: none. */
static int restart(void) {
  int flag = 0;
  char name[SCR_MAX_FILENAME] = "";
  if (current != NULL) must(SCR_Current(current), "SCR_Current");
  for (;;) {
    const long long before = read_so_far();
    must(SCR_Have_restart(&flag, name), "SCR_Have_restart");
    if (!flag) break;
    say_reads(before);
    must(SCR_Start_restart(name), "SCR_Start_restart");
    int valid = read_files(name);
    if (strcmp(name, restart_fails) == 0 && rank == ranks - 1) valid = 0;
    if (SCR_Complete_restart(valid) == SCR_SUCCESS) {
      say("restarted", name);
      return atoi(strrchr(name, '.') + 1);
    }
    say("passed over", name);
  }
  say("restarted", "nothing");
  return 0;
}

int main(int argc, char** argv) {
  int sets = 3, until = 0, work = 0, flags = SCR_FLAG_CHECKPOINT, old = 0, null = 0, die_in = 0, invalid = 0, flag = 0;
  int asks = 0, stays = 0, deletes_last = 0;
  char last_name[SCR_MAX_FILENAME] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--sets") == 0) sets = atoi(value);
    if (strcmp(argv[i], "--until") == 0) until = atoi(value);
    if (strcmp(argv[i], "--work") == 0) work = atoi(value);
    if (strcmp(argv[i], "--bytes") == 0) bytes = atol(value);
    if (strcmp(argv[i], "--flags") == 0) flags = value[0] == 'o' ? SCR_FLAG_OUTPUT : value[0] == 'b' ? 3 : 1;
    if (strcmp(argv[i], "--old") == 0) old = 1;
    if (strcmp(argv[i], "--null") == 0) null = 1;
    if (strcmp(argv[i], "--current") == 0) current = value;
    if (strcmp(argv[i], "--names") == 0) deep = value[0] == 'd';
    if (strcmp(argv[i], "--die-in") == 0) die_in = atoi(value);
    if (strcmp(argv[i], "--invalid") == 0) invalid = atoi(value);
    if (strcmp(argv[i], "--restart-fails") == 0) restart_fails = value;
    if (strcmp(argv[i], "--delete") == 0) deletes = value;
    if (strcmp(argv[i], "--drop") == 0) drops = value;
    if (strcmp(argv[i], "--pad") == 0) pad = value;
    if (strcmp(argv[i], "--ask") == 0) asks = 1;
    if (strcmp(argv[i], "--delete-last") == 0) deletes_last = 1;
    if (strcmp(argv[i], "--stay") == 0) stays = 1;
    if (strcmp(argv[i], "--shared") == 0) shared = 1;
    if (strcmp(argv[i], "--count") == 0) counts = 1;
    if (strcmp(argv[i], "--config") == 0) SCR_Config(value);
  }
  must(SCR_Init(), "SCR_Init");
  if (deletes != NULL) must(SCR_Delete(deletes), "SCR_Delete");
  if (drops != NULL) must(SCR_Drop(drops), "SCR_Drop");
  const int first = restart() + 1;
  const int last = until > 0 ? until : first + sets - 1;
  for (int number = first; number <= last; ++number) {
    char name[SCR_MAX_FILENAME];
    usleep(1000u * (unsigned)work);
    const char* kind = old || null ? "scr.dataset" : flags == SCR_FLAG_OUTPUT ? "output" : "ckpt";
    snprintf(name, sizeof name, "%s%s.%d", pad, kind, number);
    strcpy(last_name, name);
    must(SCR_Need_checkpoint(&flag), "SCR_Need_checkpoint");
    if (!flag) {
      say("no need of", name);
      continue;
    }
    must(old ? SCR_Start_checkpoint() : SCR_Start_output(null ? NULL : name, flags), "SCR_Start_output");
    const int ok = write_files(name);
    if (number == die_in) {
      MPI_Barrier(MPI_COMM_WORLD);
      say("dies in", name);
      kill(getpid(), SIGKILL);
    }
    const int valid = ok && !(number == invalid && rank == ranks - 1);
    const long long before = read_so_far();
    const int code = old ? SCR_Complete_checkpoint(valid) : SCR_Complete_output(valid);
    say(code == SCR_SUCCESS ? "completed" : "not completed", name);
    say_reads(before);
    if (asks) {
      char found[SCR_MAX_FILENAME] = "nothing";
      must(SCR_Have_restart(&flag, found), "SCR_Have_restart");
      say("has", found);
    }
    must(SCR_Should_exit(&flag), "SCR_Should_exit");
    if (flag) {
      say("exits after", name);
      break;
    }
  }
  if (deletes_last) must(SCR_Delete(last_name), "SCR_Delete");
  if (stays) say("stays", "");
  while (stays) pause();
  must(SCR_Finalize(), "SCR_Finalize");
  MPI_Finalize();
  return 0;
}

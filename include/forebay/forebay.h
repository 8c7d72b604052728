/* Forebay's native C interface: checkpoint sets of a running job, drained in the background.
 *
 * A complete program, which computes with `forebay run` around it and without, and goes on where its newest checkpoint
 * set was written. It is one rank of one; under MPI all ranks do just this, each with its number in MPI_COMM_WORLD, and
 * with a file of its own:
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     #include <stdlib.h>
 *
 *     #include <forebay/forebay.h>
 *
 *     static void check(int ok, const char* why) {
 *       if (ok) return;
 *       fprintf(stderr, "%s\n", why);
 *       exit(1);
 *     }
 *
 *     int main(int argc, char** argv) {
 *       const int rank = 0, ranks = 1;
 *       const int64_t steps = argc > 1 ? atoll(argv[1]) : 10;
 *       int64_t step = 0;
 *       double state = 0;
 *       char file[64], set[64], path[4096];
 *       FILE* out;
 *       forebay_client* client;
 *       int code = forebay_connect(NULL, rank, ranks, &client);
 *       check(code == FOREBAY_OK || code == FOREBAY_NO_JOB, forebay_message());
 *
 *       snprintf(file, sizeof file, "state.rank%04d", rank);
 *       if (client != NULL) {
 *         code = forebay_restart(client, NULL, 0, &step, -1);
 *         check(code == FOREBAY_OK || code == FOREBAY_NONE, forebay_message());
 *         if (code == FOREBAY_OK) {
 *           check(forebay_restart_path(client, file, path, sizeof path) == FOREBAY_OK, forebay_message());
 *           FILE* in = fopen(path, "rb");
 *           check(in != NULL && fread(&state, sizeof state, 1, in) == 1, path);
 *           fclose(in);
 *           printf("goes on after step %" PRId64 "\n", step);
 *         }
 *       }
 *       while (step < steps) {
 *         ++step;
 *         state += 1.0 / (double)step;
 *         if (client == NULL) continue;
 *         snprintf(set, sizeof set, "dump_%04" PRId64, step);
 *         check(forebay_begin(client, set, step, -1) == FOREBAY_OK, forebay_message());
 *         check(forebay_path(client, file, path, sizeof path) == FOREBAY_OK, forebay_message());
 *         out = fopen(path, "wb");
 *         check(out != NULL && fwrite(&state, sizeof state, 1, out) == 1 && fclose(out) == 0, path);
 *         code = forebay_complete(client);  // returns at once; the file must not be touched any more
 *         check(code == FOREBAY_OK || code == FOREBAY_NO_AGENT, forebay_message());
 *       }
 *       printf("%" PRId64 " steps: %.17g\n", step, state);
 *       forebay_disconnect(client);
 *       return 0;
 *     }
 *
 * Functions that can fail return FOREBAY_OK or another code, and forebay_message() says why. None prints, exits,
 * aborts, throws or starts a thread. Times are milliseconds; a timeout < 0 waits for ever, as long as there is an
 * agent. An agent that has ended is looked for again, since others may start it again, until the call's timeout is
 * over, but for 60 seconds at most ($FOREBAY_AGENT_TIMEOUT, in seconds); only then a call gives NO_AGENT. One that is
 * there but says nothing holds a call no longer than its timeout and 2 seconds, or 30 seconds. All files stay below the
 * stage, a directory of the node that the agent watches. A Fortran module is beside this file: forebay.f90. */
#ifndef FOREBAY_FOREBAY_H
#define FOREBAY_FOREBAY_H

#include <stddef.h>
#include <stdint.h>

#include "forebay/version.h"

#if defined(__GNUC__)
#define FOREBAY_API __attribute__((visibility("default")))
#else
#define FOREBAY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that was linked, as FOREBAY_VERSION is written: "0.2.0". The text is the library's and
 * never changes. Thread-safe. */
FOREBAY_API const char* forebay_version(void);

/* The options that the library was built with, for problem reports, in one line for people to read:
 * "forebay 0.2.0, GNU 12.2.0 Release, fpzip ON, lz4 ON, zfp ON, mpi OFF". The text is the library's and never changes.
 * Thread-safe. */
FOREBAY_API const char* forebay_build_info(void);

/* The codes that the functions of all of Forebay's headers return; each function names those that it can give. Another
 * code may be added, and none is ever given another number. */
enum {
  FOREBAY_OK = 0,
  FOREBAY_ARGUMENT = 1,    /* the call makes no sense: a pointer is missing, say, or what is selected is not there */
  FOREBAY_FAILED = 2,      /* anything else: an error of the system, or no memory is left */
  FOREBAY_TIMEOUT = 3,     /* the time is over; the call may be made again */
  FOREBAY_NOT_FOUND = 4,   /* there is no such store, set, step or array */
  FOREBAY_DENIED = 5,      /* the server does not let this process in, or the secret cannot be read */
  FOREBAY_LIMIT = 6,       /* more than the memory allows that the call, or a server, may take */
  FOREBAY_DAMAGED = 7,     /* stored bytes are not what was written; the text names what is damaged */
  FOREBAY_UNSUPPORTED = 8, /* written by a newer version, or in a way that this build cannot read */

  /* Of jobs (forebay.h). */
  FOREBAY_NO_JOB = 16,      /* forebay_connect: the program does not run under Forebay */
  FOREBAY_NO_AGENT = 17,    /* there is no agent, and none has come in time; the call may be made again */
  FOREBAY_NONE = 18,        /* forebay_restart: there is nothing to restart from */
  FOREBAY_OTHER_RANKS = 19, /* forebay_restart: the newest set is of another number of ranks */
  FOREBAY_SKIPPED = 20,     /* forebay_wait: the set was left out for the sake of a newer one */
  FOREBAY_SET_FAILED = 21,  /* forebay_wait: the set failed; forebay_message() says why */
  FOREBAY_CACHED = 22,      /* forebay_wait: complete and protected in the nodes' caches, and not to be stored */

  /* Of locks (forebay_lock.h). */
  FOREBAY_BUSY = 32, /* forebay_lock_try: the bytes are not free */
  FOREBAY_LOST = 33, /* the lock server is lost, or the lease has ended: others may have the bytes */

  /* Of reading (forebay_read.h). */
  FOREBAY_GONE = 48 /* the step was removed from the store meanwhile */
};

/* The reason why the last call of this thread that failed did so, in one line for people, whichever of Forebay's
 * headers declares the function; empty if none has failed. The library owns the text. Valid until this thread's next
 * call that fails. Thread-safe. */
FOREBAY_API const char* forebay_message(void);

/* One rank's connection to the agent of its node. Used by one thread at a time, and only by the process that made it:
 * in a child of fork() all calls but forebay_disconnect() give ARGUMENT. A process may have several, as of several
 * ranks, and use them in different threads at once.
 *
 * The order of calls: forebay_restart() once at the beginning, and forebay_restart_path() after it; then for each set
 * forebay_begin(), forebay_path() for each file, forebay_complete(), and forebay_wait() for any set that was completed,
 * at any time later. Paths are below the stage, absolute or relative as the stage was given, and are written with a NUL
 * at their end into `size` bytes that the caller owns. Every call gives ARGUMENT where a pointer is missing that may
 * not be NULL, and FAILED where memory is used up. */
typedef struct forebay_client forebay_client;

/* `agent` is the path of the agent's stage; NULL stands for $FOREBAY_STAGE. `rank` of `ranks` is this process's in the
 * whole job. Codes: NO_JOB (neither is given: the program writes its files as without Forebay), NO_AGENT (a stage is
 * given; without waiting if there is no such directory), ARGUMENT (there is no such rank), FAILED (the agent is another
 * user's, or of another version). On success *client is to be given to forebay_disconnect(); after an error it is NULL.
 * Thread-safe. The environment is read in this call only. */
FOREBAY_API int forebay_connect(const char* agent, int rank, int ranks, forebay_client** client);

/* Frees the client. NULL is ignored. Sets that are complete are drained all the same; one that was begun and not
 * completed is not a set. Waits for nobody. */
FOREBAY_API void forebay_disconnect(forebay_client* client);

/* Begins this rank's part of the set `set`: a name of at most 128 bytes of UTF-8, without '/' and characters that
 * cannot be shown, that does not start with '.' or "step:" nor end with ".tmp", ".temp", ".part" or "~", has no blank
 * at either end, and is not "latest". All ranks give the same name and step. A
 * part that was begun and not completed is discarded. A set of this name that all ranks of the node had completed is
 * written anew: what the stage has of it is removed, so a set that forebay_restart() has found must have been read
 * before. `step` is a label, by which the set can be found; the newest set is the one that all ranks completed last,
 * whatever its step. May wait where the drain is slower than the checkpoints (`--backlog block`). Codes: TIMEOUT
 * (nothing is begun; the call may be made again), NO_AGENT, ARGUMENT (no name of a set), FAILED (also where the stage
 * has something of that name that was there before the job, or that is another user's: that is never written over). */
FOREBAY_API int forebay_begin(forebay_client* client, const char* set, int64_t step, int64_t timeout_ms);

/* Where to write the file `file` of the set that was begun: a relative name in UTF-8, with '/' where directories are
 * wanted, that no other rank of the job uses; its directories are made. The file itself is the caller's to make, and
 * belongs to the set from this call on: forebay_complete() wants it to be there. To be called between forebay_begin()
 * and forebay_complete(). Needs no agent. Codes: ARGUMENT (no set is begun, no name for a file, or `size` bytes are too
 * few), FAILED (a directory cannot be made). */
FOREBAY_API int forebay_path(forebay_client* client, const char* file, char* path, size_t size);

/* The files that were asked for since forebay_begin() are written and closed: this rank's part is complete, and must
 * not be touched any more before it is durable. All ranks call it, also those without files. Waits for nobody. Nothing
 * is synced: the stage's files need not survive a power cut, the set in the store does. Codes: NO_AGENT (it is
 * remembered: an agent that comes drains it), ARGUMENT (nothing was begun, or a file is not there), FAILED. After the
 * latter two the call may be made again. */
FOREBAY_API int forebay_complete(forebay_client* client);

/* Waits until the set is durable: all ranks' files are in the store, and will survive a power cut. A timeout of 0 asks.
 * To be called after forebay_complete(). OK stays true whatever fails afterwards. Codes: TIMEOUT, SKIPPED, SET_FAILED
 * (also if its files were changed or removed before), CACHED (the job keeps this set in the nodes' caches only: it
 * outlives the crashes and losses of nodes that it is protected against, until newer ones have taken its place),
 * NO_AGENT, ARGUMENT (this rank has begun and not completed it, or no set of this name is known; the last 256 sets are,
 * and all that are in the stage), FAILED. */
FOREBAY_API int forebay_wait(forebay_client* client, const char* set, int64_t timeout_ms);

/* All ranks of the job call this, and all get the same answer: the newest set that is intact, whose files lie in the
 * stage now. `set` gets its name, `size` bytes at most, and *step its step, or -1 if it has none. Both may be NULL.
 * Whatever was begun before is discarded. A rank whose call was over in time may call again, and gets the answer that
 * the others have got. Only sets of the job's series count (forebay run --series). NONE: it has none, and the program
 * begins from scratch. OTHER_RANKS: the newest one was written by another number of ranks, and nothing is taken: the
 * program must end with forebay_message(), not begin from scratch, or use forebay_restart_any(). Codes: NONE,
 * OTHER_RANKS, TIMEOUT, NO_AGENT, ARGUMENT (also if `size` bytes are too few), FAILED. */
FOREBAY_API int forebay_restart(forebay_client* client, char* set, size_t size, int64_t* step, int64_t timeout_ms);

/* As forebay_restart(), for applications that can read the files of any number of ranks. If the newest set is of
 * another number of ranks than the job, the files of all its ranks lie in the stage of each node, under the names that
 * forebay_path() was given; if it is of as many, each node has those of its ranks, as with forebay_restart().
 * *set_ranks gets the set's number of ranks; it may be NULL. All ranks of the job must call this function, and not
 * forebay_restart(): where one calls that, OTHER_RANKS is for all. Codes: as forebay_restart(). */
FOREBAY_API int forebay_restart_any(forebay_client* client, char* set, size_t size, int64_t* step, int* set_ranks,
                                    int64_t timeout_ms);

/* The path of a file of the set that forebay_restart() or forebay_restart_any() found, by the name that forebay_path()
 * was given. The file stays until the application has written a newer set that is durable, or begins the set anew; it
 * is to be read, not written. To be called after one of the two was OK. Needs no agent. Codes: ARGUMENT (nothing was
 * found, no such file on this node, or `size` bytes are too few). */
FOREBAY_API int forebay_restart_path(forebay_client* client, const char* file, char* path, size_t size);

#ifdef __cplusplus
}
#endif

#endif

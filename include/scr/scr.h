/* The interface of the Scalable Checkpoint/Restart library, version 3.1, by Forebay (docs/scr.md): programs that were
 * written for it are compiled against this header and linked with -lscr.
 *
 * Every function that returns int gives SCR_SUCCESS, or another value after a message on standard error. All are
 * collective over MPI_COMM_WORLD and give the same answer on all ranks, but for SCR_Route_file, SCR_Config, SCR_Configf
 * and SCR_Get_version, which are local. They are called by one thread of each rank. */
#ifndef SCR_H
#define SCR_H

#define SCR_MAJOR_VERSION "3"
#define SCR_MINOR_VERSION "1"
#define SCR_PATCH_VERSION "0"
#define SCR_VERSION "v3.1.0"

#define SCR_SUCCESS (0)
#define SCR_MAX_FILENAME 1024

#define SCR_FLAG_NONE (0)
#define SCR_FLAG_CHECKPOINT (1 << 0) /* the set can be restarted from */
#define SCR_FLAG_OUTPUT (1 << 1)     /* its files must reach the prefix under the names that were given */

#ifdef __cplusplus
extern "C" {
#endif

/* After MPI_Init, once: reads the configuration, and sees to it that agents serve the caches. */
int SCR_Init(void);

/* Before MPI_Finalize, once: what is to be flushed is flushed when it returns. */
int SCR_Finalize(void);

/* "KEY=value" and "KEY=0 ITEM=value ..." set, "KEY=" unsets what such a call had set: before SCR_Init only; the result
 * is NULL. "KEY" and "KEY=0 ITEM" ask: the value, to be freed by the caller, or NULL if nobody has given one. */
const char* SCR_Config(const char* config_string);
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
const char*
SCR_Configf(const char* format, ...);

/* Where to write a file of the set that was started, or to read it in a restart: `file` holds SCR_MAX_FILENAME bytes.
 */
int SCR_Route_file(const char* name, char* file);

int SCR_Need_checkpoint(int* flag);
int SCR_Start_output(const char* name, int flags);
int SCR_Complete_output(int valid);
int SCR_Start_checkpoint(void);
int SCR_Complete_checkpoint(int valid);

/* `name` may be NULL, or holds SCR_MAX_FILENAME bytes. */
int SCR_Have_restart(int* flag, char* name);
int SCR_Start_restart(char* name);
int SCR_Complete_restart(int valid);

int SCR_Current(const char* name);
int SCR_Drop(const char* name);
int SCR_Delete(const char* name);

int SCR_Should_exit(int* flag);

/* Not to be freed. */
char* SCR_Get_version(void);

#ifdef __cplusplus
}
#endif

#endif

// Every exported symbol of libforebay_mpiio.so: a jump through its slot. Written in assembly because a trampoline has
// to pass on whatever arguments there are, and because several symbols (a Fortran name in four manglings) share a shape
// but not a slot. A slot that is still empty goes the long way once: registers that can hold arguments of MPI functions
// (integers and pointers only) are saved, forebay_mpiio_target() is asked, and the jump is made.
//
// The slot in the assembly is `struct Slot` of dispatch.h: target, name, entry.

#define FOREBAY_SLOT(symbol, entry)               \
  ".section .rodata.str1.1,\"aMS\",%progbits,1\n" \
  ".Lname_" #symbol ": .asciz \"" #symbol         \
  "\"\n"                                          \
  ".Lentry_" #symbol ": .asciz \"" #entry         \
  "\"\n"                                          \
  ".data\n"                                       \
  ".balign 8\n"                                   \
  ".Lslot_" #symbol                               \
  ": .quad 0\n"                                   \
  ".quad .Lname_" #symbol                         \
  "\n"                                            \
  ".quad .Lentry_" #symbol                        \
  "\n"                                            \
  ".text\n"                                       \
  ".balign 16\n"                                  \
  ".globl " #symbol                               \
  "\n"                                            \
  ".type " #symbol ", %function\n" #symbol ":\n"
#define FOREBAY_SLOT_END(symbol) ".size " #symbol ", .-" #symbol "\n"

#if defined(__x86_64__)

#define FOREBAY_TRAMPOLINE(symbol, entry) \
  asm(FOREBAY_SLOT(symbol, entry)               \
      "endbr64\n"                               \
      "movq .Lslot_" #symbol "(%rip), %r11\n"   \
      "testq %r11, %r11\n"                      \
      "jz 1f\n"                                 \
      "jmp *%r11\n"                             \
      "1: leaq .Lslot_" #symbol "(%rip), %r11\n" \
      "jmp forebay_mpiio_first_call\n"          \
      FOREBAY_SLOT_END(symbol));

asm(".text\n"
    ".type forebay_mpiio_first_call, %function\n"
    "forebay_mpiio_first_call:\n"
    "pushq %rbp\n"
    "movq %rsp, %rbp\n"
    "pushq %rdi\n"
    "pushq %rsi\n"
    "pushq %rdx\n"
    "pushq %rcx\n"
    "pushq %r8\n"
    "pushq %r9\n"
    "movq %r11, %rdi\n"
    "call forebay_mpiio_target\n"
    "movq %rax, %r11\n"
    "popq %r9\n"
    "popq %r8\n"
    "popq %rcx\n"
    "popq %rdx\n"
    "popq %rsi\n"
    "popq %rdi\n"
    "popq %rbp\n"
    "jmp *%r11\n"
    ".size forebay_mpiio_first_call, .-forebay_mpiio_first_call\n");

#elif defined(__aarch64__)

#define FOREBAY_TRAMPOLINE(symbol, entry) \
  asm(FOREBAY_SLOT(symbol, entry)                    \
      "hint 34\n" /* bti c */                        \
      "adrp x16, .Lslot_" #symbol "\n"               \
      "add x16, x16, :lo12:.Lslot_" #symbol "\n"     \
      "ldr x17, [x16]\n"                             \
      "cbz x17, 1f\n"                                \
      "br x17\n"                                     \
      "1: b forebay_mpiio_first_call\n"              \
      FOREBAY_SLOT_END(symbol));

asm(".text\n"
    ".type forebay_mpiio_first_call, %function\n"
    "forebay_mpiio_first_call:\n"
    "stp x29, x30, [sp, #-96]!\n"
    "mov x29, sp\n"
    "stp x0, x1, [sp, #16]\n"
    "stp x2, x3, [sp, #32]\n"
    "stp x4, x5, [sp, #48]\n"
    "stp x6, x7, [sp, #64]\n"
    "str x8, [sp, #80]\n"
    "mov x0, x16\n"
    "bl forebay_mpiio_target\n"
    "mov x16, x0\n"
    "ldp x0, x1, [sp, #16]\n"
    "ldp x2, x3, [sp, #32]\n"
    "ldp x4, x5, [sp, #48]\n"
    "ldp x6, x7, [sp, #64]\n"
    "ldr x8, [sp, #80]\n"
    "ldp x29, x30, [sp], #96\n"
    "br x16\n"
    ".size forebay_mpiio_first_call, .-forebay_mpiio_first_call\n");

#else
#error "no trampolines for this processor: build with FOREBAY_MPIIO=OFF"
#endif

// A Fortran function has a name for each way in which compilers spell it, and Open MPI has more of them for itself and
// for its bindings of Fortran 2008.
#define FOREBAY_FORTRAN(lower, upper, mixed)            \
  FOREBAY_TRAMPOLINE(mpi_##lower, mpi_##lower##_)       \
  FOREBAY_TRAMPOLINE(mpi_##lower##_, mpi_##lower##_)    \
  FOREBAY_TRAMPOLINE(mpi_##lower##__, mpi_##lower##_)   \
  FOREBAY_TRAMPOLINE(MPI_##upper, mpi_##lower##_)       \
  FOREBAY_TRAMPOLINE(MPI_##mixed##_f, mpi_##lower##_)   \
  FOREBAY_TRAMPOLINE(MPI_##mixed##_f08, mpi_##lower##_) \
  FOREBAY_TRAMPOLINE(ompi_##lower##_f, mpi_##lower##_)

// Those of Fortran 2008 that take no buffer: MPICH's call the profiling interface, past what is intercepted.
// clang-format off
#define FOREBAY_EVERY_NAME(lower, upper)                   \
  FOREBAY_TRAMPOLINE(MPI_File_##lower, MPI_File_##lower)   \
  FOREBAY_FORTRAN(file_##lower, FILE_##upper, File_##lower)
#define FOREBAY_MPI_PLAIN(lower, upper)  \
  FOREBAY_EVERY_NAME(lower, upper)       \
  FOREBAY_TRAMPOLINE(mpi_file_##lower##_f08_, mpi_file_##lower##_f08_)
#define FOREBAY_MPI_COUNTED(lower, upper)                          \
  FOREBAY_TRAMPOLINE(MPI_File_##lower##_c, MPI_File_##lower##_c)   \
  FOREBAY_EVERY_NAME(lower, upper)
#include "mpiio/preload/functions.inc"
// clang-format on

FOREBAY_TRAMPOLINE(MPI_Init, MPI_Init)
FOREBAY_TRAMPOLINE(MPI_Init_thread, MPI_Init_thread)
FOREBAY_TRAMPOLINE(mpi_init_f08_, mpi_init_f08_)
FOREBAY_TRAMPOLINE(mpi_init_thread_f08_, mpi_init_thread_f08_)
FOREBAY_FORTRAN(init, INIT, Init)
FOREBAY_FORTRAN(init_thread, INIT_THREAD, Init_thread)

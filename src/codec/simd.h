// One kernel, compiled for the vectors that every machine has and for wider ones, chosen at run time.
#pragma once

namespace forebay::codec {

#if defined(__x86_64__) && defined(__GNUC__)

// Calls Kernel::run(args...), which must be marked FOREBAY_KERNEL. Not ifunc-based target_clones: those run before the
// sanitizers are set up. Kernels compute on integers, or in floating point in a fixed order without contraction, so
// every path gives the same bytes.
template <class Kernel, class... Args>
struct Multiversion {
  [[gnu::target("avx2,bmi,bmi2,lzcnt")]] static void run_avx2(Args... args) { Kernel::run(args...); }
  static void run_baseline(Args... args) { Kernel::run(args...); }
};

inline bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  return has;
}

template <class Kernel, class... Args>
void run_kernel_on(bool avx2, Args... args) {
  if (avx2) return Multiversion<Kernel, Args...>::run_avx2(args...);
  Multiversion<Kernel, Args...>::run_baseline(args...);
}

#define FOREBAY_KERNEL [[gnu::always_inline]] inline

#else

inline bool has_avx2() { return false; }

template <class Kernel, class... Args>
void run_kernel_on(bool /*avx2*/, Args... args) {
  Kernel::run(args...);
}

#define FOREBAY_KERNEL inline

#endif

template <class Kernel, class... Args>
void run_kernel(Args... args) {
  run_kernel_on<Kernel, Args...>(has_avx2(), args...);
}

}  // namespace forebay::codec

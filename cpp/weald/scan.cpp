#include "scan.hpp"

// Two versions of the one loop where wide vectors pay: for any x86-64, and for those with AVX2, chosen
// when the library is loaded. The same bits either way, since fused arithmetic is off. Sanitizers do not
// get along with the choice at load time.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WEALD_WIDE __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define WEALD_WIDE
#endif

namespace weald {

WEALD_WIDE double find_excess(const Pair* left, std::size_t n, double G, double H, double bar,
                              double* excess) {
  for (std::size_t k = 0; k < n; ++k) {
    const double hl = left[k].h, gl = left[k].g, hr = H - hl, gr = G - gl;
    excess[k] = gl * gl * hr + gr * gr * hl - bar * (hl * hr);
  }
  double most = -1;
  for (std::size_t k = 0; k < n; ++k) most = excess[k] > most ? excess[k] : most;
  return most;
}

}  // namespace weald

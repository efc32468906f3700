// Which vector instructions may be used. A build with WEALD_PORTABLE uses none, and must grow the same models.
//
// Loops where wide vectors pay are compiled twice: for any x86-64, and for those with AVX2, chosen when
// the library is loaded. The same bits either way, since fused arithmetic is off. Sanitizers do not get
// along with the choice at load time.
//
// WEALD_WIDEST: once more, with AVX-512. Boosting takes 1 to 6 % less time so; forests, whose loops are shorter, up to 15 %
// more.
#pragma once

#if !defined(WEALD_PORTABLE) && (defined(__GNUC__) || defined(__clang__))
#define WEALD_HAS_VECTORS 1  // types of several numbers, for which the compiler finds instructions
#endif

#if defined(WEALD_HAS_VECTORS) && defined(__SSE2__)
#define WEALD_HAS_SSE2 1  // sixteen bytes at a time, on every x86-64
#include <emmintrin.h>
#endif

// WEALD_WITHOUT_WIDE: to see what they are worth (bench/paths.py).
#if !defined(WEALD_WITHOUT_WIDE) && defined(WEALD_HAS_VECTORS) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WEALD_WIDE __attribute__((target_clones("default", "arch=x86-64-v3")))
#define WEALD_WIDEST __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
// Functions called from such loops become part of all versions.
#define WEALD_INLINE [[gnu::always_inline]] inline
#define WEALD_INLINE_LAMBDA __attribute__((always_inline))
#else
#define WEALD_WIDE
#define WEALD_WIDEST
#define WEALD_INLINE inline
#define WEALD_INLINE_LAMBDA
#endif

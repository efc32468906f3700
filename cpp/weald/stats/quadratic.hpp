// The score S = G^2 / H, which gini, squared error and gradients have in common, in the forms that the walks over
// cuts need. H contains lambda where there is one: with it, S is the score of second-order boosting (Chen &
// Guestrin 2016, eq. 6).
//
//   S(left) + S(right)           = G_l^2 / H_l + G_r^2 / H_r
//                  - S(node)     = D^2 / (H H_l H_r)            D = G_l H - G H_l, a whole number if the sums are
//
// For two classes G is the weight of the second: sum_k G_k^2 / H = H - 2G + 2 G^2 / H, whose first terms cancel in
// a gain, so that one channel gives half the gain of two.
#pragma once

namespace weald {

inline double quadratic(double g, double h) { return g * g / h; }

// Of both sides of a cut.
inline double quadratic(double gl, double hl, double gr, double hr) { return quadratic(gl, hl) + quadratic(gr, hr); }

// The same where G^2 may overflow: rounded once more.
inline double wide_quadratic(double g, double h) { return g * (g / h); }

// False only if the score of both sides is at most `best` for certain. `gl2` and `gr2`: squares, or sums of them.
// Multiplied out, since a division costs more than the rest.
inline bool quadratic_may_beat(double gl2, double hl, double gr2, double hr, double best) {
  constexpr double kSlack = 1 - 1e-12;
  return gl2 * hr + gr2 * hl > best * (hl * hr) * kSlack;
}

// D and H_l H_r of a cut in a node that adds up to G and H, in whole numbers or any others.
template <class T>
constexpr T gain_root(T gl, T hl, T G, T H) {
  return gl * H - G * hl;
}
template <class T>
constexpr T gain_room(T hl, T H) {
  return hl * (H - hl);
}

// H times the gain, by which the cuts of a node can be compared.
template <class T>
constexpr T gain_ratio(T gl, T hl, T G, T H) {
  const T D = gain_root(gl, hl, G, H);
  return D * D / gain_room(hl, H);
}

}  // namespace weald

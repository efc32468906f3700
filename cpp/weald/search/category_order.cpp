#include "weald/search/category_order.hpp"

namespace weald {

namespace {

// Every sum is made in the order of categories or of channels; several are made at once.
WEALD_WIDE void multiply_means(const double* rows, const double* turned, const double* weights, std::size_t n,
                               std::size_t width, const double* v, double* out) {
  for (std::size_t k = 0; k < width; ++k) out[k] = 0;
  for (std::size_t c = 0; c < n; c += kDoubles) {
    Doubles along{}, x, h;
    for (std::size_t k = 0; k < width; ++k) read(turned + k * n + c, x), along += x * v[k];
    read(weights + c, h);
    double times[kDoubles];
    write(h * along, times);
    for (std::size_t k = 0; k < width; k += kDoubles) {
      Doubles sum;
      read(out + k, sum);
      for (std::size_t i = 0; i < kDoubles; ++i) read(rows + (c + i) * width + k, x), sum += times[i] * x;
      write(sum, out + k);
    }
  }
}

}  // namespace

void MeanVectors::multiply(const double* v, double* out) const {
  multiply_means(rows_.data(), turned_.data(), weights_.data(), n_, width_, v, out);
}

}  // namespace weald

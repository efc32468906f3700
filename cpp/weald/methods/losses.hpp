// The built-in losses: value, gradient and second derivative of every row with respect to its scores.
// The same formulas as in weald.losses, where they are explained; here for speed.
#pragma once

#include <cstddef>
#include <string>

namespace weald {

// The table of losses: what each is called in here and outside, and its formula (losses.cpp), made from the parameter x.
#define WEALD_LOSSES(ROW)                              \
  ROW(Squared, "squared_error", SquaredLoss{})         \
  ROW(Absolute, "absolute_error", AbsoluteLoss{})      \
  ROW(Quantile, "quantile", QuantileLoss{x})           \
  ROW(Huber, "huber", HuberLoss{x})                    \
  ROW(LogCosh, "log_cosh", LogCoshLoss{})              \
  ROW(Poisson, "poisson", PoissonLoss{})               \
  ROW(Gamma, "gamma", GammaLoss{})                     \
  ROW(Tweedie, "tweedie", TweedieLoss{x})              \
  ROW(Logistic, "log_loss", LogisticLoss{})            \
  ROW(Exponential, "exponential", ExponentialLoss{})   \
  ROW(SmoothHinge, "smooth_hinge", SmoothHingeLoss{x}) \
  ROW(Focal, "focal", FocalLoss{x})                    \
  ROW(Softmax, "softmax", SoftmaxLoss{})

#define WEALD_KIND(kind, name, formula) kind,
enum class LossKind { WEALD_LOSSES(WEALD_KIND) };
#undef WEALD_KIND

struct LossSpec {
  LossKind kind = LossKind::Squared;
  double parameter = 0;  // quantile, delta, power, smoothness or gamma
};

// Throws std::invalid_argument if there is no such loss.
LossSpec loss_of(const std::string& name, double parameter);

// Scores, gradients and hessians are K arrays of n, one after another.
struct LossArrays {
  std::size_t n_rows = 0, n_scores = 1;
  const double* targets = nullptr;  // numbers, 0 or 1, or class codes
  const double* scores = nullptr;
  double* gradients = nullptr;  // null: not wanted; both or none
  double* hessians = nullptr;
  const double* weights = nullptr;  // null: 1
};

// Fills gradients and hessians of the rows begin .. end - 1; the weighted sum of their losses.
double differentiate(const LossSpec& loss, const LossArrays& arrays, std::size_t begin, std::size_t end);

}  // namespace weald

// Whole subtrees of few rows: by best cuts (few_rows.hpp) or by random ones (random_subtrees.hpp).
#pragma once

#include <variant>

#include "weald/grow/few_rows.hpp"
#include "weald/grow/random_subtrees.hpp"

namespace weald {

// The one that fits the statistics and the rule of a growth, if any.
class SmallSubtrees {
 public:
  explicit SmallSubtrees(const Plan& plan) { choose(plan, grower_); }

  bool grow(const OpenNode& node, View<Row> rows, Subtree& tree) {
    return std::visit([&](auto& grower) { return grower && grower->grow(node, rows, tree); }, grower_);
  }

 private:
  template <class... Growers>
  using OneOf = std::variant<std::unique_ptr<Growers>...>;

  // The first that fits.
  template <class... Growers>
  static void choose(const Plan& plan, OneOf<Growers...>& out) {
    ((Growers::fits(plan) && (out = std::make_unique<Growers>(plan), true)) || ...);
  }

  OneOf<FewRows<TwoClassSums>, FewRows<ClassSums>, FewRows<NumberSums>, RandomGrower<LightTwoClasses>,
        RandomGrower<RandomClasses<std::int16_t>>, RandomGrower<RandomClasses<Lane>>, RandomGrower<RandomNumbers>>
      grower_;
};

}  // namespace weald

// Which rows and columns each member of an ensemble sees: a pure function of (draw, seed, member), so
// nothing about it has to be stored with a model.
#pragma once

#include <vector>

#include "weald/base/random.hpp"
#include "weald/base/threads.hpp"
#include "weald/base/types.hpp"

namespace weald {

enum class Drawing { All, Bootstrap, Pasting };  // every row once; with replacement; without

struct Draw {
  Drawing kind = Drawing::All;
  std::size_t size = 0;                   // units drawn, from each pool
  std::vector<double> weights;            // per row: chance of being drawn; empty: equal
  std::vector<std::uint32_t> unit_of;     // per row: its group, drawn as a whole; empty: rows are the units
  std::size_t n_units = 0;                // all of them are below it; checked at the door
  std::vector<std::uint32_t> stratum_of;  // per row: the pool it belongs to; empty: one pool
  std::size_t n_strata = 0;               // as n_units
  std::size_t columns = 0;                // per member; 0: all
  bool columns_replace = false;
};

// The key of all random numbers of one member.
inline std::uint64_t member_key(std::uint64_t seed, std::uint64_t member) {
  return combine(combine(seed, kMemberKey), member);
}

// The pools of units and their chances, laid out once for all members.
class RowSampler {
 public:
  RowSampler(const Draw& draw, std::size_t n_rows, Interrupt& interrupt);  // throws std::invalid_argument
  // How often each row is drawn for the member with this key.
  void draw(std::uint64_t key, std::uint32_t* counts, Interrupt& interrupt) const;

 private:
  struct Pool {
    std::vector<Row> units;          // empty: units are 0..n-1
    std::vector<double> cumulative;  // of the chances; empty: equal
    std::size_t n = 0;
    Row unit(std::size_t k) const { return units.empty() ? static_cast<Row>(k) : units[k]; }
  };
  void with_replacement(const Pool& pool, Stream stream, std::uint32_t* counts, Interrupt& interrupt) const;
  void without_replacement(const Pool& pool, Stream stream, std::uint32_t* counts, Interrupt& interrupt) const;

  const Draw& draw_;
  std::size_t n_rows_;
  std::vector<Pool> pools_;
};

// The columns of one member, ascending. Empty: all.
std::vector<std::uint32_t> draw_columns(const Draw& draw, std::size_t n_columns, std::uint64_t key);

}  // namespace weald

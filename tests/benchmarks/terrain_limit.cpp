// Queries of a height map by hand, for vectors of 16 floats: how fast the machine could be.
//
// `terrain_limit.py` builds this as a library, and beside it nothing does. It answers the questions
// of one benchmark and no others: a square map with cells of 1 m from the origin on, all split from
// a to c, no holes, no ground outside; one thread; no bad input. Results go to arrays that the
// caller keeps.
//
// Shapes: a lane is half a cell. Halves are alike: both have a right angle (at b or at d), one leg
// along x and one along z; half 0 is half 1 turned by 180 degrees about the y axis. So all is in
// coordinates from the right angle along the legs, the sizes of which are 1. float32 decides but
// where it is in doubt; the same function decides there in double.
//
// Heights and rays are in double; float32 finds the cells that a ray may hit. Memory is slower than
// all of this: it is asked for some shapes or rays ahead.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#ifdef __AVX512DQ__
#include <immintrin.h>
#endif

namespace {

constexpr int kLanes = 16;
constexpr float kDoubt = 2e-5f;  // meters: more than float32 is off
constexpr double kPad = 1e-6;    // cells that a shape's bounds are wider
constexpr int kAhead = 16;       // shapes or rays whose heights are fetched ahead

// Halves at a time: they stay in the first-level cache, their columns not a power of two apart.
constexpr int kRoom = 1024 + 16;

typedef float Lanes __attribute__((vector_size(64)));
typedef int Ints __attribute__((vector_size(64)));
typedef float Eight __attribute__((vector_size(32)));

constexpr Lanes kHalf = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
constexpr Lanes kSign = 2 * kHalf - 1;  // of x and z along the legs
constexpr Ints kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr Lanes kCell = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};

template <class T> T least(T a, T b) { return a < b ? a : b; }
template <class T> T most(T a, T b) { return a > b ? a : b; }
template <class T> T size(T a) { return most(a, -a); }
template <class T> T within(T low, T a, T high) { return least(most(a, low), high); }

Lanes root(Lanes values) {
  for (int k = 0; k < kLanes; ++k) values[k] = std::sqrt(values[k]);
  return values;
}

template <class V> V load(const void* from) {
  V values;
  std::memcpy(&values, from, sizeof values);
  return values;
}

template <class V> void store(void* to, const V& values) { std::memcpy(to, &values, sizeof values); }

unsigned bits_of(Ints mask) {
#ifdef __AVX512DQ__
  return _mm512_movepi32_mask((__m512i)mask);
#else
  unsigned bits = 0;
  for (int k = 0; k < kLanes; ++k) bits |= (mask[k] & 1u) << k;
  return bits;
#endif
}

// Writes the lanes whose bits are set one behind the other; what lies behind them is overwritten.
template <class T, class V> void store_packed(T* to, V values, unsigned bits) {
#ifdef __AVX512DQ__
  values = (V)_mm512_maskz_compress_epi32(bits, (__m512i)values);
#else
  for (int k = 0, n = 0; k < kLanes; ++k)
    if (bits >> k & 1) values[n++] = values[k];
#endif
  typedef T Wide __attribute__((vector_size(kLanes * sizeof(T))));
  store(to, __builtin_convertvector(values, Wide));
}

// T is float or a smaller type; the 32 bits at each place are read.
template <class T> Ints gathered(const T* from, Ints places) {
#ifdef __AVX512DQ__
  return (Ints)_mm512_mask_i32gather_epi32(__m512i{}, -1, (__m512i)places, from, sizeof(T));
#else
  Ints values;
  for (int k = 0; k < kLanes; ++k) std::memcpy(&values[k], from + places[k], sizeof(int));
  return values;
#endif
}

Lanes interleaved(Eight even, Eight odd) {
  return __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
}

// The least or the greatest heights of cells, and of blocks of 8 x 8. Those of cells are rounded to
// 16 bits, towards less or more, and those of a block are in two lines of memory.
class Limits {
 public:
  Limits(const float* heights, int cells, bool greatest)
      : last(cells - 1), across(last / 8 + 1), blocks_(across * across, NAN),
        cells_(64 * blocks_.size() + 1) {
    const auto [least, most] = std::minmax_element(heights, heights + (cells + 1) * (cells + 1));
    low_ = *least, unit_ = std::max((*most - *least) / 65000, 1e-6f);
    for (int row = 0; row < cells; ++row)
      for (int column = 0; column < cells; ++column) {
        const float *top = heights + row * (cells + 1) + column, *bottom = top + cells + 1;
        const auto [low, high] = std::minmax({top[0], top[1], bottom[0], bottom[1]});
        float& block = blocks_[row / 8 * across + column / 8];
        block = greatest ? std::fmax(block, high) : std::fmin(block, low);
        cells_[place(row, column)] = ((greatest ? high : low) - low_) / unit_ + greatest;
      }
  }

  Lanes of_blocks(Ints rows, Ints columns) const {
    return (Lanes)gathered(blocks_.data(), rows * across + columns);
  }
  Lanes of_cells(Ints rows, Ints columns) const {
    const Ints levels = gathered(cells_.data(), place(rows, columns)) & 0xffff;
    return low_ + unit_ * __builtin_convertvector(levels, Lanes);
  }
  void fetch(int block_row, int block_column) const {
    const auto* line = cells_.data() + 64 * (block_row * across + block_column);
    __builtin_prefetch(line);
    __builtin_prefetch(line + 32);
  }

  const int last, across;

 private:
  template <class T> T place(T row, T column) const {
    return ((row >> 3) * across + (column >> 3)) * 64 + (row & 7) * 8 + (column & 7);
  }

  float low_, unit_;
  std::vector<float> blocks_;
  std::vector<uint16_t> cells_;
};

class Land {
 public:
  Land(const float* heights, int side)
      : cells(side - 1), width(side), least(heights, cells, false), most(heights, cells, true),
        heights_(heights, heights + side * side) {
    heights_.resize(heights_.size() + kLanes);  // loads are eight heights wide
  }

  const float* at(int row) const { return heights_.data() + row * width; }

  // Has the memory around a place brought nearer.
  void fetch(double x, double z) const {
    const int column = within(0, static_cast<int>(x), cells);
    for (int row = static_cast<int>(z) - 1; row <= static_cast<int>(z) + 1; ++row)
      __builtin_prefetch(at(within(0, row, cells)) + column);
  }

  const int cells, width;
  const Limits least, most;

 private:
  std::vector<float> heights_;
};

// The halves of cells that shapes may touch, one shape after the other.
struct Halves {
  alignas(64) float x[kRoom], y[kRoom], z[kRoom];  // the shape's center from the right angle
  alignas(64) float rise_x[kRoom], rise_z[kRoom];  // of the legs
  alignas(64) float corner_x[kRoom], corner_y[kRoom], corner_z[kRoom];  // the right angle
  alignas(64) float radius[kRoom];
  alignas(64) int who[kRoom], triangle[kRoom];
  int count = 0;

  bool has_room(int more) const { return count + more + kLanes <= kRoom; }
  unsigned used(int k) const { return (1u << std::min(kLanes, count - k)) - 1; }
};

struct Range {
  int row, last_row, column, last_column;
  int halves() const {
    return 2 * std::max(last_row - row + 1, 0) * std::max(last_column - column + 1, 0);
  }
};

Range cells_of(const Land& land, double x, double z, double reach_x, double reach_z) {
  const auto first = [](double place) { return std::max<int>(std::floor(place - kPad), 0); };
  const auto last = [&](double place) {
    return std::min<int>(std::floor(place + kPad), land.cells - 1);
  };
  return {first(z - reach_z), last(z + reach_z), first(x - reach_x), last(x + reach_x)};
}

// `corners` tells whether to write the corners and ids, which nobody needs who counts.
template <bool corners>
void put_halves(const Land& land, const Range& range, const double* center, float radius, int who,
                Halves& to) {
  const Lanes away = 1 - kHalf;
  const float y = center[1];
  for (int row = range.row; row <= range.last_row; ++row)
    for (int column = range.column; column <= range.last_column; column += 8) {
      const float *top = land.at(row) + column, *bottom = top + land.width;
      const Eight a = load<Eight>(bottom), b = load<Eight>(bottom + 1);
      const Eight c = load<Eight>(top + 1), d = load<Eight>(top);
      const Lanes corner = interleaved(b, d);
      const int n = to.count;
      store(to.x + n, kSign * (static_cast<float>(center[0] - column) - kCell) + away);
      store(to.y + n, y - corner);
      store(to.z + n, kSign * static_cast<float>(center[2] - row) + away);
      store(to.rise_x + n, interleaved(a, c) - corner);
      store(to.rise_z + n, interleaved(c, a) - corner);
      store(to.radius + n, Lanes{} + radius);
      store(to.who + n, Ints{} + who);
      store(to.triangle + n, 2 * (row * land.cells + column) + kLane);
      if (corners) {
        store(to.corner_x + n, static_cast<float>(column) + kCell + away);
        store(to.corner_y + n, corner);
        store(to.corner_z + n, static_cast<float>(row) + away);
      }
      to.count += 2 * std::min(8, range.last_column - column + 1);
    }
}

// A half in double, where float32 is in doubt.
struct Exact {
  double x, y, z, rise_x, rise_z;

  Exact(const Land& land, int triangle, const double* center) {
    const int half = triangle & 1, step = 2 * half - 1;
    const int row = triangle / 2 / land.cells + 1 - half;
    const int column = triangle / 2 % land.cells + 1 - half;
    const double corner = land.at(row)[column];
    x = step * (center[0] - column), y = center[1] - corner, z = step * (center[2] - row);
    rise_x = land.at(row)[column + step] - corner;
    rise_z = land.at(row + step)[column] - corner;
  }
};

// Adds those lanes in doubt to the touched ones for which a function says so.
template <class Decide> unsigned settled(unsigned touched, unsigned doubt, Decide is_touched) {
  for (; doubt; doubt &= doubt - 1)
    if (const int lane = __builtin_ctz(doubt); is_touched(lane)) touched |= 1u << lane;
  return touched;
}

// Balls

template <class T> struct Nearest {
  T square, x, y, z;          // of the distance; the point
  T inside, over, steepness;  // >= 0 if the point is in the face; height over the plane; of that
};

template <class T> Nearest<T> nearest(T x, T y, T z, T rise_x, T rise_z) {
  const T none = x * 0, one = none + 1, rise = rise_z - rise_x;
  const T steepness = 1 + rise_x * rise_x + rise_z * rise_z;
  const T size_x = 1 + rise_x * rise_x, size_z = 1 + rise_z * rise_z, size = 2 + rise * rise;
  // One division instead of four.
  const T both = size_x * size_z, others = size * steepness, inverse = 1 / (both * others);
  const T by_legs = inverse * others, by_others = inverse * both;
  const T along_x = within(none, (x + y * rise_x) * (by_legs * size_z), one);
  const T along_z = within(none, (z + y * rise_z) * (by_legs * size_x), one);
  const T along = within(none, ((1 - x) + z + (y - rise_x) * rise) * (by_others * steepness), one);
  Nearest<T> best;
  best.square = none + 1e30f;
  const auto take = [&](T px, T py, T pz) {
    const T square = (x - px) * (x - px) + (y - py) * (y - py) + (z - pz) * (z - pz);
    best.x = square < best.square ? px : best.x;
    best.y = square < best.square ? py : best.y;
    best.z = square < best.square ? pz : best.z;
    best.square = least(square, best.square);
  };
  take(along_x, along_x * rise_x, none);
  take(none, along_z * rise_z, along_z);
  take(1 - along, rise_x + along * rise, along);
  best.over = y - rise_x * x - rise_z * z;
  best.steepness = steepness;
  const T share = best.over * (by_others * size);
  const T foot_x = x + rise_x * share, foot_z = z + rise_z * share;
  best.inside = least(least(foot_x, foot_z), 1 - foot_x - foot_z);
  best.x = best.inside >= none ? foot_x : best.x;
  best.y = best.inside >= none ? rise_x * foot_x + rise_z * foot_z : best.y;
  best.z = best.inside >= none ? foot_z : best.z;
  best.square = best.inside >= none ? best.over * share : best.square;
  return best;
}

Nearest<Lanes> nearest_of(const Halves& from, int k) {
  return nearest(load<Lanes>(from.x + k), load<Lanes>(from.y + k), load<Lanes>(from.z + k),
                 load<Lanes>(from.rise_x + k), load<Lanes>(from.rise_z + k));
}

// Returns which of 16 halves are touched by their balls.
unsigned touched_by_balls(const Land& land, const double* balls, const Halves& from, int k,
                          Lanes square) {
  const Lanes radius = load<Lanes>(from.radius + k), far = radius + kDoubt, near = radius - kDoubt;
  const unsigned maybe = bits_of(square <= far * far) & from.used(k);
  const unsigned sure = bits_of((square < near * near) & (near > 0)) & from.used(k);
  return settled(sure, maybe & ~sure, [&](int lane) {
    const double* ball = balls + 4L * from.who[k + lane];
    const Exact half(land, from.triangle[k + lane], ball);
    const auto found = nearest(half.x, half.y, half.z, half.rise_x, half.rise_z);
    return found.square <= ball[3] * ball[3];
  });
}

// Calls a function until all balls are done: with the halves of as many as have room, the first of
// these, and where the halves of each end, then -1.
template <bool corners, class Use>
void for_balls(const Land& land, const double* balls, long count, Use use) {
  Halves halves;
  int ends[kRoom + 1], *end = ends;
  long first = 0;
  for (long k = 0; k <= count; ++k) {
    const double *ball = balls + 4 * k;
    const Range range = k < count ? cells_of(land, ball[0], ball[2], ball[3], ball[3]) : Range();
    if (k == count || end == ends + kRoom || !halves.has_room(range.halves())) {
      *end = -1;
      use(halves, first, ends);
      halves.count = 0, first = k, end = ends;
    }
    if (k + kAhead < count) land.fetch(ball[4 * kAhead], ball[4 * kAhead + 2]);
    if (k < count) put_halves<corners>(land, range, ball, ball[3], k, halves);
    *end++ = halves.count;
  }
}

// Where contacts are written: T is float or double, I an integer of that size.
template <class T, class I> struct Rows {
  I *queries, *triangles;
  T* numbers;  // nine columns of `room`: penetrations, normals, points
  long room;
};

template <class T, class I>
void put_contacts(const Halves& from, int k, const Nearest<Lanes>& at, unsigned touched,
                  const Rows<T, I>& rows, long n) {
  const auto column = [&](const float* values) { return load<Lanes>(values + k); };
  const Lanes none{};
  const Ints on_face = at.inside >= 0;
  const Lanes square = most(on_face ? at.steepness : at.square, none + 1e-30f);
  const Lanes unit = 1 / root(square);
  const Lanes x = kSign * unit * (on_face ? -column(from.rise_x) : column(from.x) - at.x);
  const Lanes y = unit * (on_face ? none + 1 : column(from.y) - at.y);
  const Lanes z = kSign * unit * (on_face ? -column(from.rise_z) : column(from.z) - at.z);
  // The ground is solid: what is behind a face is deep in it.
  const Lanes depth = most(column(from.radius) - unit * (on_face ? at.over : square), none);
  const Lanes numbers[9] = {depth * x, depth * y, depth * z, x, y, z,
                            column(from.corner_x) + kSign * at.x, column(from.corner_y) + at.y,
                            column(from.corner_z) + kSign * at.z};
  for (int part = 0; part < 9; ++part)
    store_packed(rows.numbers + part * rows.room + n, numbers[part], touched);
  store_packed(rows.queries + n, load<Ints>(from.who + k), touched);
  store_packed(rows.triangles + n, load<Ints>(from.triangle + k), touched);
}

// Returns how many there are, or -1 if there is not enough room; 16 more than needed is enough.
template <class T, class I>
long contacts_of_balls(const Land& land, const double* balls, long count, const Rows<T, I>& rows) {
  long n = 0;
  for_balls<true>(land, balls, count, [&](const Halves& halves, long, const int*) {
    for (int k = 0; k < halves.count && n >= 0; k += kLanes) {
      const Nearest<Lanes> at = nearest_of(halves, k);
      const unsigned touched = touched_by_balls(land, balls, halves, k, at.square);
      if (n + kLanes > rows.room) n = -1;
      if (n < 0 || !touched) continue;
      put_contacts(halves, k, at, touched, rows, n);
      n += __builtin_popcount(touched);
    }
  });
  return n;
}

void count_balls(const Land& land, const double* balls, long count, int64_t* counts) {
  for_balls<false>(land, balls, count, [&](const Halves& halves, long first, const int* ends) {
    uint64_t touched[kRoom / 64 + 1] = {};
    int before[kRoom / 64 + 1];
    for (int k = 0; k < halves.count; k += kLanes) {
      const Lanes square = nearest_of(halves, k).square;
      touched[k / 64] |= uint64_t(touched_by_balls(land, balls, halves, k, square)) << k % 64;
    }
    for (int word = 0, total = 0; word <= halves.count / 64; ++word)
      before[word] = total, total += __builtin_popcountll(touched[word]);
    int total = 0;
    for (int k = 0; *ends >= 0; ++k, ++ends) {
      const int word = *ends / 64, part = *ends % 64;
      const int next = before[word] + __builtin_popcountll(touched[word] & ((1ull << part) - 1));
      counts[first + k] = next - total, total = next;
    }
  });
}

// Boxes

template <class T> struct Axes { T x[3], y[3], z[3]; };  // of the world, in the frame of the box

template <class T, class S> T gap(T first, T second, T reach, S unit) {
  return (most(least(first, second), -most(first, second)) - reach) * unit;
}

// Returns the greatest gap on the 13 axes, in units of no less than the length of the axis;
// below 0 where all overlap.
template <class T, class S>
T box_gap(T x, T y, T z, T rise_x, T rise_z, const Axes<T>& world, const S* half) {
  T corner[3], edges[3][3], normal[3];
  for (int i = 0; i < 3; ++i) {
    corner[i] = -(x * world.x[i] + y * world.y[i] + z * world.z[i]);
    edges[0][i] = world.x[i] + rise_x * world.y[i];
    edges[1][i] = world.z[i] + rise_z * world.y[i];
    edges[2][i] = edges[1][i] - edges[0][i];
    normal[i] = world.y[i] - rise_x * world.x[i] - rise_z * world.z[i];
  }
  const auto times = [&](const T* a, const T* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
  const T reach = size(normal[0]) * half[0] + size(normal[1]) * half[1] + size(normal[2]) * half[2];
  T widest = (size(times(normal, corner)) - reach) / (1 + size(rise_x) + size(rise_z));
  for (int i = 0; i < 3; ++i) {
    const T one = corner[i], two = one + edges[0][i], three = one + edges[1][i];
    const T low = least(least(one, two), three), high = most(most(one, two), three);
    widest = most(widest, most(low, -high) - half[i]);
  }
  for (int e = 0; e < 3; ++e) {
    const T* edge = edges[e];
    const T unit = 1 / (size(edge[0]) + size(edge[1]) + size(edge[2]));
    for (int i = 0; i < 3; ++i) {
      const int j = (i + 1) % 3, k = (i + 2) % 3;
      // Products with the edge's start and with the corner that is not on it.
      const T* across = edges[e == 0 ? 1 : 0];
      const T other = edge[k] * across[j] - edge[j] * across[k];
      const T own = edge[k] * corner[j] - edge[j] * corner[k];
      const T start = e == 2 ? own + other : own, end = e == 2 ? own : own + other;
      widest = most(widest, gap(start, end, size(edge[k]) * half[j] + size(edge[j]) * half[k], unit));
    }
  }
  return widest;
}

void count_boxes(const Land& land, const double* centers, const double* half,
                 const double* rotations, long count, int64_t* counts) {
  Halves halves;
  const float narrow_half[3] = {float(half[0]), float(half[1]), float(half[2])};
  for (long who = 0; who < count; ++who) {
    const double *center = centers + 3 * who, *turn = rotations + 9 * who;
    const auto reach = [&](int axis) {
      return std::fabs(turn[3 * axis]) * half[0] + std::fabs(turn[3 * axis + 1]) * half[1] +
             std::fabs(turn[3 * axis + 2]) * half[2];
    };
    halves.count = 0;
    put_halves<false>(land, cells_of(land, center[0], center[2], reach(0), reach(2)), center, 0, 0,
                      halves);
    Axes<Lanes> world;
    for (int i = 0; i < 3; ++i) {
      world.x[i] = kSign * static_cast<float>(turn[i]);
      world.y[i] = Lanes{} + static_cast<float>(turn[3 + i]);
      world.z[i] = kSign * static_cast<float>(turn[6 + i]);
    }
    counts[who] = 0;
    for (int k = 0; k < halves.count; k += kLanes) {
      const auto column = [&](const float* values) { return load<Lanes>(values + k); };
      const Lanes widest = box_gap(column(halves.x), column(halves.y), column(halves.z),
                                   column(halves.rise_x), column(halves.rise_z), world, narrow_half);
      const unsigned maybe = bits_of(widest <= kDoubt) & halves.used(k);
      const unsigned sure = bits_of(widest < -kDoubt) & halves.used(k);
      counts[who] += __builtin_popcount(settled(sure, maybe & ~sure, [&](int lane) {
        const int triangle = halves.triangle[k + lane], sign = 2 * (triangle & 1) - 1;
        const Exact at(land, triangle, center);
        Axes<double> exact;
        for (int i = 0; i < 3; ++i)
          exact.x[i] = sign * turn[i], exact.y[i] = turn[3 + i], exact.z[i] = sign * turn[6 + i];
        return box_gap(at.x, at.y, at.z, at.rise_x, at.rise_z, exact, half) <= 0;
      }));
    }
  }
}

// Heights and rays

struct Place { double height, slope_x, slope_z; int triangle; };

// Within the cells of the map. Half 0 is computed from corner b, half 1 from d.
inline Place place_at(const float* heights, int cells, double x, double z) {
  const int column = static_cast<int>(x), row = static_cast<int>(z);
  const double u = x - column, v = z - row;
  const int at = row * (cells + 1) + column;
  const double d = heights[at], c = heights[at + 1];
  const double a = heights[at + cells + 1], b = heights[at + cells + 2];
  const bool second = u + v <= 1;
  const double slope_x = second ? c - d : b - a, slope_z = second ? a - d : b - c;
  const double height = second ? d + u * slope_x + v * slope_z
                               : b - (1 - u) * slope_x - (1 - v) * slope_z;
  return {height, slope_x, slope_z, 2 * (row * cells + column) + second};
}

// Hits as columns of `count`: distances, points, normals.
struct Hits {
  double* numbers;
  int64_t* triangles;
  long count;

  void put(long k, double distance, double x, double y, double z, double slope_x, double slope_z,
           long triangle) const {
    const double flat = 1 / std::sqrt(1 + slope_x * slope_x + slope_z * slope_z);
    const double row[7] = {distance, x, y, z, -slope_x * flat, flat, -slope_z * flat};
    for (int part = 0; part < 7; ++part) numbers[part * count + k] = row[part];
    triangles[k] = triangle;
  }
};

void heights_at(const Land& land, const double* xs, const double* zs, long count, double* out) {
  const float* heights = land.at(0);
  const int cells = land.cells;
#pragma omp simd
  for (long k = 0; k < count; ++k) out[k] = place_at(heights, cells, xs[k], zs[k]).height;
}

// Rays that begin above the ground.
void rays_down(const Land& land, const double* origins, const Hits& hits) {
  const float* heights = land.at(0);
  const int cells = land.cells;
#pragma omp simd
  for (long k = 0; k < hits.count; ++k) {
    const double x = origins[3 * k], y = origins[3 * k + 1], z = origins[3 * k + 2];
    const Place at = place_at(heights, cells, x, z);
    hits.put(k, y - at.height, x, at.height, z, at.slope_x, at.slope_z, at.triangle);
  }
}

// A ray that is not vertical. Its way is cut into slabs, which are one block or cell
// wide along the axis along which it goes faster: so it passes two blocks in each, or one. It
// begins above the ground, or below, and may hit only a block as high, or as low, as itself.
class Cast {
 public:
  Cast(const Land& land, const double* origin, const double* direction, double longest)
      : land_(land), along_x_(std::fabs(direction[0]) >= std::fabs(direction[2])),
        u_(origin[along_x_ ? 0 : 2]), v_(origin[along_x_ ? 2 : 0]), y_(origin[1]),
        rate_u_(direction[along_x_ ? 0 : 2]), rate_v_(direction[along_x_ ? 2 : 0]),
        rate_y_(direction[1]), inverse_u_(1 / rate_u_), inverse_v_(rate_v_ ? 1 / rate_v_ : 1e300),
        step_(rate_u_ > 0 ? 1 : -1),
        above_(y_ >= place_at(land.at(0), land.cells, origin[0], origin[2]).height) {
    const auto border = [&](double rate) { return rate > 0 ? land_.cells : 0; };
    end_ = std::min({longest, (border(rate_u_) - u_) * inverse_u_,
                     rate_v_ ? (border(rate_v_) - v_) * inverse_v_ : longest});
  }

  // Finds the blocks that are as high as the ray, and has the cells of the first brought nearer.
  void begin() {
    near_ = near_blocks(first_block());
    if (!near_) return;
    const int slab = first_block() + step_ * __builtin_ctz(near_);
    const int across = within(0, across_at(slab, 8) >> 3, limits().across - 1);
    limits().fetch(along_x_ ? across : slab, along_x_ ? slab : across);
  }

  // Finds the cells in it that are, and has the corners of the first brought nearer.
  void look() {
    if (!near_) return;
    hits_ = near_cells(first_cell(first_block(), near_));
    if (!hits_) return;
    const int cell = first_cell(first_block(), near_) + step_ * __builtin_ctz(hits_);
    const int across = within(0, across_at(cell, 1), limits().last);
    const float* corner = land_.at(along_x_ ? across : cell) + (along_x_ ? cell : across);
    __builtin_prefetch(corner);
    __builtin_prefetch(corner + land_.width);
  }

  void finish(const Hits& hits, long k) const {
    unsigned near = near_, hit = hits_;
    for (int slab = first_block();;) {
      while (near) {
        const int cell = first_cell(slab, near);
        for (; hit; hit &= hit - 1)
          if (meets_column(cell + step_ * __builtin_ctz(hit), hits, k)) return;
        near &= ~(3u << __builtin_ctz(near));  // the cells were those of two blocks
        if (near) hit = near_cells(first_cell(slab, near));
      }
      slab += kLanes * step_;
      if (entry(slab, 8) > end_) break;
      near = near_blocks(slab);
      if (near) hit = near_cells(first_cell(slab, near));
    }
    hits.put(k, NAN, NAN, NAN, NAN, NAN, NAN, -1);
  }

 private:
  int first_block() const { return static_cast<int>(u_) / 8; }
  int first_cell(int slab, unsigned near) const {
    return 8 * (slab + step_ * __builtin_ctz(near)) + (step_ < 0 ? 7 : 0);
  }
  int across_at(int slab, int size) const {
    return v_ + std::min(std::max(entry(slab, size), 0.0), end_) * rate_v_;
  }
  const Limits& limits() const { return above_ ? land_.most : land_.least; }
  double entry(int slab, int size) const {
    return ((slab + (step_ < 0)) * size - u_) * inverse_u_;
  }

  unsigned near_blocks(int slab) const {
    return near_slabs(slab, 8, limits().across - 1, [this](Ints rows, Ints columns) {
      return limits().of_blocks(rows, columns);
    });
  }
  unsigned near_cells(int slab) const {
    return near_slabs(slab, 1, limits().last, [this](Ints rows, Ints columns) {
      return limits().of_cells(rows, columns);
    });
  }

  // Returns in which of 16 slabs of a size the ray may hit something.
  template <class Limit> unsigned near_slabs(int slab, float size, int last, Limit limit) const {
    constexpr float kWider = 4e-3f;  // blocks and meters: more than float32 is off
    const Lanes none{}, steps = __builtin_convertvector(kLane, Lanes) * float(step_);
    const Lanes line = (float(slab + (step_ < 0)) + steps) * size;
    const Lanes inverse = none + float(inverse_u_), end = none + float(end_);
    const Lanes enter = most((line - float(u_)) * inverse, none);
    const Lanes leave = least((line + size * step_ - float(u_)) * inverse, end);
    const Lanes v = float(v_) + enter * float(rate_v_), far_v = float(v_) + leave * float(rate_v_);
    const Lanes y = float(y_) + enter * float(rate_y_), far_y = float(y_) + leave * float(rate_y_);
    const Ints zero{}, all = zero + last;
    const auto slab_at = [&](Lanes place) {
      return within(zero, __builtin_convertvector(place * (1 / size), Ints), all);
    };
    const Ints one = slab_at(least(v, far_v) - kWider), other = slab_at(most(v, far_v) + kWider);
    const Ints along = within(zero, slab + kLane * step_, all);
    const Lanes first = along_x_ ? limit(one, along) : limit(along, one);
    const Lanes second = along_x_ ? limit(other, along) : limit(along, other);
    const Ints reaches = above_ ? least(y, far_y) - kWider <= most(first, second)
                                : most(y, far_y) + kWider >= least(first, second);
    return bits_of((enter <= end) & (reaches | (other > one + 1)));
  }

  bool meets_column(int column, const Hits& hits, long k) const {
    const double enter = std::max(entry(column, 1), 0.0);
    const double leave = std::min(entry(column + step_, 1), end_);
    if (enter > leave || unsigned(column) >= unsigned(land_.cells)) return false;
    const auto row_at = [&](double way) {
      return within<int>(0, std::floor(v_ + way * rate_v_), land_.cells - 1);
    };
    // One row more on each side: those that it does not pass take no time of it.
    const int down = rate_v_ > 0 ? 1 : -1, behind = row_at(leave) + down;
    for (int row = row_at(enter) - down;; row += down) {
      const double here = (row + (down < 0) - v_) * inverse_v_;
      const double from = rate_v_ ? std::max(enter, here) : enter;
      const double to = rate_v_ ? std::min(leave, here + std::fabs(inverse_v_)) : leave;
      if (from <= to && unsigned(row) < unsigned(land_.cells) &&
          meets_cell(along_x_ ? column : row, along_x_ ? row : column, from, to, hits, k))
        return true;
      if (row == behind) return false;
    }
  }

  // Looks in each half for a change of sides; the halves meet where u + v = 1.
  bool meets_cell(int column, int row, double enter, double leave, const Hits& hits,
                  long k) const {
    const float *top = land_.at(row) + column, *bottom = top + land_.width;
    const double d = top[0], c = top[1], a = bottom[0], b = bottom[1];
    const double x = (along_x_ ? u_ : v_) - column, rate_x = along_x_ ? rate_u_ : rate_v_;
    const double z = (along_x_ ? v_ : u_) - row, rate_z = along_x_ ? rate_v_ : rate_u_;
    const auto beyond = [&](double way) { return x + way * rate_x + z + way * rate_z - 1; };
    const double near = beyond(enter), far = beyond(leave);
    const bool crosses = (near > 0) != (far > 0);
    const double middle = crosses ? enter + (leave - enter) * near / (near - far) : leave;
    for (int part = 0; part <= crosses; ++part) {
      const bool second = (part ? far : near) <= 0;
      const double slope_x = second ? c - d : b - a, slope_z = second ? a - d : b - c;
      const double corner = second ? d : b - slope_x - slope_z;
      const double start = y_ - corner - x * slope_x - z * slope_z;
      const double rate = rate_y_ - rate_x * slope_x - rate_z * slope_z;
      const double from = part ? middle : enter, to = part ? leave : middle;
      if ((start + from * rate > 0) == above_ && (start + to * rate > 0) == above_) continue;
      const double way = rate ? within(from, -start / rate, to) : from;
      hits.put(k, way, x + column + way * rate_x, y_ + way * rate_y_, z + row + way * rate_z,
               slope_x, slope_z, 2 * (row * land_.cells + column) + second);
      return true;
    }
    return false;
  }

  const Land& land_;
  const bool along_x_;
  const double u_, v_, y_, rate_u_, rate_v_, rate_y_, inverse_u_, inverse_v_;
  const int step_;
  const bool above_;
  double end_;
  unsigned near_ = 0, hits_ = 0;  // the first 16 blocks, and cells in the first of them
};

// Some rays at a time, step by step, while memory brings what the next step reads.
void cast_rays(const Land& land, const double* origins, const double* directions, double longest,
               const Hits& hits) {
  std::vector<Cast> casts;
  for (long first = 0; first < hits.count; first += kAhead) {
    const long last = std::min(first + kAhead, hits.count);
    casts.clear();
    for (long k = first; k < last; ++k) {
      const double* origin = origins + 3 * k;
      if (k + kAhead < hits.count) land.fetch(origin[3 * kAhead], origin[3 * kAhead + 2]);
      casts.emplace_back(land, origin, directions + 3 * k, longest).begin();
    }
    for (Cast& cast : casts) cast.look();
    for (long k = first; k < last; ++k) casts[k - first].finish(hits, k);
  }
}

}  // namespace

extern "C" {

Land* land_new(const float* heights, long side) { return new Land(heights, side); }
void land_delete(Land* land) { delete land; }

void limit_balls_counted(const Land* land, const double* balls, long count, int64_t* counts) {
  count_balls(*land, balls, count, counts);
}

long limit_balls_in_float(const Land* land, const double* balls, long count, long room,
                          int32_t* ints, float* numbers) {
  return contacts_of_balls<float, int32_t>(*land, balls, count,
                                           {ints, ints + room, numbers, room});
}

long limit_balls_in_double(const Land* land, const double* balls, long count, long room,
                           int64_t* ints, double* numbers) {
  return contacts_of_balls<double, int64_t>(*land, balls, count,
                                            {ints, ints + room, numbers, room});
}

void limit_boxes_counted(const Land* land, const double* centers, const double* half,
                         const double* rotations, long count, int64_t* counts) {
  count_boxes(*land, centers, half, rotations, count, counts);
}

void limit_heights(const Land* land, const double* xs, const double* zs, long count, double* out) {
  heights_at(*land, xs, zs, count, out);
}

void limit_rays_down(const Land* land, const double* origins, long count, double* numbers,
                     int64_t* triangles) {
  rays_down(*land, origins, {numbers, triangles, count});
}

void limit_rays(const Land* land, const double* origins, const double* directions, double longest,
                long count, double* numbers, int64_t* triangles) {
  cast_rays(*land, origins, directions, longest, {numbers, triangles, count});
}

}  // extern "C"

// Counts touched triangles with CGAL's AABB tree, on one thread: what the counter is compared with.
//
// Standard input holds a problem as text: n and q, then n triangles of nine numbers, then q spheres
// r x y z. Standard output gets q counts; standard error gets the seconds of build and of queries.
// Reading and writing are not timed. Spheres are taken in the given order; in doubles, so ties may
// come out differently.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include <CGAL/AABB_traits.h>
#include <CGAL/AABB_tree.h>
#include <CGAL/AABB_triangle_primitive.h>
#include <CGAL/Simple_cartesian.h>

using Kernel = CGAL::Simple_cartesian<double>;
using Point = Kernel::Point_3;
using Triangle = Kernel::Triangle_3;
using Primitive = CGAL::AABB_triangle_primitive<Kernel, std::vector<Triangle>::const_iterator>;
using Tree = CGAL::AABB_tree<CGAL::AABB_traits<Kernel, Primitive>>;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kTolerance = 1e-10;

double squared(double value) { return value * value; }
struct Sphere { double radius; Point center; };

// Visits only what may touch the surface: nodes wholly outside or wholly inside are left out.
class ShellVisitor {
 public:
  explicit ShellVisitor(const Sphere& sphere)
      : outer_(squared(sphere.radius + kTolerance)),
        inner_(squared(std::max(sphere.radius - kTolerance, 0.0))) {}

  bool go_further() const { return true; }

  template <class Node>
  bool do_intersect(const Sphere& sphere, const Node& node) const {
    const CGAL::Bbox_3 box = node.bbox();
    double nearest = 0.0, farthest = 0.0;
    for (int axis = 0; axis < 3; ++axis) {
      const double below = box.min(axis) - sphere.center[axis];
      const double above = sphere.center[axis] - box.max(axis);
      nearest += squared(std::max({below, above, 0.0}));
      farthest += squared(std::min(below, above));  // To the far side; negative.
    }
    return nearest <= outer_ && farthest >= inner_;
  }

  void intersection(const Sphere& sphere, const Primitive& primitive) {
    const Triangle& triangle = primitive.datum();
    double farthest = 0.0;
    for (int corner = 0; corner < 3; ++corner)
      farthest = std::max(farthest, CGAL::squared_distance(sphere.center, triangle[corner]));
    count += farthest >= inner_ && CGAL::squared_distance(sphere.center, triangle) <= outer_;
  }

  long count = 0;
 private:
  const double outer_, inner_;  // Squared.
};

bool read(double* values, int count) {
  while (count > 0 && std::scanf("%lf", values++) == 1) --count;
  return count == 0;
}

int main() {
  long n, q;
  if (std::scanf("%ld %ld", &n, &q) != 2) return 2;
  std::vector<Triangle> triangles;
  std::vector<Sphere> spheres;
  double v[9];
  while (n-- > 0) {
    if (!read(v, 9)) return 2;
    const Point a(v[0], v[1], v[2]), b(v[3], v[4], v[5]), c(v[6], v[7], v[8]);
    triangles.emplace_back(a, b, c);
  }
  while (q-- > 0) {
    if (!read(v, 4)) return 2;
    spheres.push_back({v[0], Point(v[1], v[2], v[3])});
  }

  std::vector<long> counts;
  const auto start = Clock::now();
  Tree tree(triangles.cbegin(), triangles.cend());
  tree.build();
  const auto built = Clock::now();
  for (const Sphere& sphere : spheres) {
    ShellVisitor visitor(sphere);
    tree.traversal(sphere, visitor);
    counts.push_back(visitor.count);
  }
  const auto end = Clock::now();
  for (const long count : counts) std::printf("%ld\n", count);
  std::fprintf(stderr, "%.9f %.9f\n", Seconds(built - start).count(), Seconds(end - built).count());
}

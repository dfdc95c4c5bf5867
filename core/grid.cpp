#include "grid.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace burstline {
namespace {

using Cube = std::array<std::int64_t, max_dimensions>;
using Point = std::array<double, max_dimensions>;

// Two points at distance <= reach are at most floor(sqrt(3)) + 1 cubes apart.
constexpr std::int64_t neighbour_steps = 2;
// Keeps the diagonal of a cube below reach in spite of rounding.
constexpr double safety = 1.0 - 1e-9;
constexpr double furthest_cube = 4503599627370496.0;  // 2^52

struct Box {
    Point low, high;
};

/// Disjoint sets, joined by size, with path halving.
class Components {
  public:
    explicit Components(std::size_t count) : parent_(count), size_(count, 1) {
        std::iota(parent_.begin(), parent_.end(), std::size_t{0});
    }

    std::size_t find(std::size_t member) {
        while (parent_[member] != member) {
            parent_[member] = parent_[parent_[member]];
            member = parent_[member];
        }
        return member;
    }

    void join(std::size_t a, std::size_t b) {
        a = find(a);
        b = find(b);
        if (a == b) return;
        if (size_[a] < size_[b]) std::swap(a, b);
        parent_[b] = a;
        size_[a] += size_[b];
    }

  private:
    std::vector<std::size_t> parent_;
    std::vector<std::size_t> size_;
};

/// The points, sorted by cube, and where each cube's points begin.
struct Grid {
    std::vector<Point> points;
    std::vector<std::size_t> original;  // position of each sorted point in the input
    std::vector<Cube> cubes;
    std::vector<std::size_t> begin;  // one more than there are cubes
    double reach_squared = 0.0;

    [[nodiscard]] Box box(std::size_t cube) const {
        Box result{points[begin[cube]], points[begin[cube]]};
        for (std::size_t i = begin[cube] + 1; i < begin[cube + 1]; ++i)
            for (std::size_t d = 0; d < max_dimensions; ++d) {
                result.low[d] = std::min(result.low[d], points[i][d]);
                result.high[d] = std::max(result.high[d], points[i][d]);
            }
        return result;
    }
};

double distance_squared(const Point& a, const Point& b) {
    double sum = 0.0;
    for (std::size_t d = 0; d < max_dimensions; ++d) sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

/// Distance from a point to the nearest place of a box: no point in it is nearer.
double distance_squared(const Point& point, const Box& box) {
    double sum = 0.0;
    for (std::size_t d = 0; d < max_dimensions; ++d) {
        const double off = point[d] - std::clamp(point[d], box.low[d], box.high[d]);
        sum += off * off;
    }
    return sum;
}

Cube cube_of(const Point& point, double side) {
    Cube cube{};
    for (std::size_t d = 0; d < max_dimensions; ++d) {
        const double step = std::floor(point[d] / side);
        if (!(std::abs(step) <= furthest_cube))
            throw std::invalid_argument("a coordinate is not finite, or too large for its reach");
        cube[d] = static_cast<std::int64_t>(step);
    }
    return cube;
}

Grid make_grid(std::span<const double> coordinates, std::size_t dimensions, double reach) {
    const std::size_t count = coordinates.size() / dimensions;
    const double side = reach * safety / std::sqrt(static_cast<double>(dimensions));
    std::vector<Point> points(count, Point{});
    std::vector<Cube> cubes(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::copy_n(coordinates.begin() + static_cast<std::ptrdiff_t>(i * dimensions), dimensions,
                    points[i].begin());
        cubes[i] = cube_of(points[i], side);
    }

    Grid grid;
    grid.reach_squared = reach * reach;
    grid.original.resize(count);
    std::iota(grid.original.begin(), grid.original.end(), std::size_t{0});
    std::sort(grid.original.begin(), grid.original.end(),
              [&](std::size_t a, std::size_t b) { return cubes[a] < cubes[b]; });
    grid.points.reserve(count);
    for (std::size_t sorted = 0; sorted < count; ++sorted) {
        const std::size_t i = grid.original[sorted];
        if (grid.cubes.empty() || grid.cubes.back() != cubes[i]) {
            grid.cubes.push_back(cubes[i]);
            grid.begin.push_back(sorted);
        }
        grid.points.push_back(points[i]);
    }
    grid.begin.push_back(count);
    return grid;
}

bool any_pair_within(const Grid& grid, std::size_t a, std::size_t b) {
    const Box around_b = grid.box(b);
    for (std::size_t i = grid.begin[a]; i < grid.begin[a + 1]; ++i) {
        if (distance_squared(grid.points[i], around_b) > grid.reach_squared) continue;
        for (std::size_t j = grid.begin[b]; j < grid.begin[b + 1]; ++j)
            if (distance_squared(grid.points[i], grid.points[j]) <= grid.reach_squared) return true;
    }
    return false;
}

/// Steps to the cubes that come later in the order, so that a pair is met once.
std::vector<Cube> later_neighbours(std::size_t dimensions) {
    std::vector<Cube> steps;
    const auto span_of = [&](std::size_t d) { return d < dimensions ? neighbour_steps : 0; };
    for (std::int64_t x = -span_of(0); x <= span_of(0); ++x)
        for (std::int64_t y = -span_of(1); y <= span_of(1); ++y)
            for (std::int64_t z = -span_of(2); z <= span_of(2); ++z)
                if (const Cube step{x, y, z}; step > Cube{}) steps.push_back(step);
    return steps;
}

}  // namespace

std::vector<std::int64_t> connected_within(std::span<const double> coordinates,
                                           std::size_t dimensions, double reach) {
    if (dimensions < 1 || dimensions > max_dimensions)
        throw std::invalid_argument("points have 1 to 3 dimensions");
    if (coordinates.size() % dimensions != 0)
        throw std::invalid_argument("the coordinates are not a whole number of points");
    if (!(reach > 0.0) || !std::isfinite(reach))
        throw std::invalid_argument("reach must be positive and finite");

    const Grid grid = make_grid(coordinates, dimensions, reach);
    Components components(grid.cubes.size());
    const std::vector<Cube> steps = later_neighbours(dimensions);
    for (std::size_t a = 0; a < grid.cubes.size(); ++a)
        for (const Cube& step : steps) {
            Cube wanted = grid.cubes[a];
            for (std::size_t d = 0; d < max_dimensions; ++d) wanted[d] += step[d];
            const auto found = std::lower_bound(grid.cubes.begin(), grid.cubes.end(), wanted);
            if (found == grid.cubes.end() || *found != wanted) continue;
            const auto b = static_cast<std::size_t>(found - grid.cubes.begin());
            if (components.find(a) != components.find(b) && any_pair_within(grid, a, b))
                components.join(a, b);
        }

    const std::size_t count = grid.points.size();
    std::vector<std::size_t> component(count);
    for (std::size_t cube = 0; cube < grid.cubes.size(); ++cube)
        for (std::size_t i = grid.begin[cube]; i < grid.begin[cube + 1]; ++i)
            component[grid.original[i]] = components.find(cube);

    std::vector<std::int64_t> number(grid.cubes.size(), -1);
    std::vector<std::int64_t> labels(count);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t& mine = number[component[i]];
        if (mine < 0) mine = next++;
        labels[i] = mine;
    }
    return labels;
}

}  // namespace burstline

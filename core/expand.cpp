#include "expand.hpp"

#include <stdexcept>

namespace burstline {
namespace {

using std::int32_t;
using std::int64_t;

/// Symbols, and for each the execution of the body around that it belongs to.
struct Executed {
    std::vector<int32_t> symbols;
    std::vector<int64_t> places;
};

void append(const Runs& runs, std::size_t sequence, std::vector<int64_t>& numbers) {
    for (int64_t run = runs.begin[sequence]; run < runs.begin[sequence + 1]; ++run)
        for (int64_t k = 0; k < runs.count[run]; ++k)
            numbers.push_back(runs.first[run] + k * runs.step[run]);
}

class Expander {
  public:
    Expander(const Program& program, std::size_t lane) : program_(program), lane_(lane) {
        const std::size_t nodes = program.symbol.size(), cells = nodes * program.lanes;
        if (program.end.size() != nodes || program.executions.size() != cells ||
            program.knows_when.size() != nodes || program.knows_trips.size() != nodes ||
            lane >= program.lanes)
            throw std::invalid_argument("every node of a program is known on every lane");
        check(program.when, cells);
        check(program.trips, cells);
    }

    /// Expands the nodes of a body that is executed so often.
    Executed body(std::size_t begin, std::size_t end, int64_t times) {
        Executed all;
        for (std::size_t node = begin; node < end;) {
            const auto behind = static_cast<std::size_t>(program_.end[node]);
            if (behind <= node || behind > end)
                throw std::invalid_argument("a node ends inside of the node around it");
            const int64_t executed = program_.executions[node * program_.lanes + lane_];
            if (executed > 0) add(node, behind, executed, times, all);
            node = behind;
        }
        return sorted(std::move(all), times);
    }

  private:
    static void check(const Runs& runs, std::size_t cells) {
        const std::size_t stored = runs.first.size();
        if (runs.begin.size() != cells + 1 || runs.step.size() != stored ||
            runs.count.size() != stored)
            throw std::invalid_argument("every node has a sequence on every lane");
        int64_t before = 0;
        for (const int64_t begin : runs.begin) {
            if (begin < before || begin > static_cast<int64_t>(stored))
                throw std::invalid_argument("sequences follow one another");
            before = begin;
        }
    }

    void add(std::size_t node, std::size_t behind, int64_t executed, int64_t times, Executed& all) {
        const std::vector<int64_t> places = places_of(node, executed, times);
        if (program_.symbol[node] >= 0) {
            all.symbols.insert(all.symbols.end(), places.size(), program_.symbol[node]);
            all.places.insert(all.places.end(), places.begin(), places.end());
            return;
        }
        const Executed inner = body(node + 1, behind, executed);
        all.symbols.insert(all.symbols.end(), inner.symbols.begin(), inner.symbols.end());
        for (const int64_t place : inner.places) all.places.push_back(places[place]);
    }

    /// Gives the execution of the body around of each execution of a node.
    std::vector<int64_t> places_of(std::size_t node, int64_t executed, int64_t times) const {
        std::vector<int64_t> places;
        const std::size_t sequence = node * program_.lanes + lane_;
        if (program_.knows_when[node] == 0) {
            for (int64_t time = 0; time < times; ++time)
                places.insert(places.end(), (time + 1) * executed / times - time * executed / times,
                              time);
        } else if (program_.knows_trips[node] == 0) {
            append(program_.when, sequence, places);
        } else {
            std::vector<int64_t> when, trips;
            append(program_.when, sequence, when);
            append(program_.trips, sequence, trips);
            if (when.size() != trips.size())
                throw std::invalid_argument("a loop iterates each time it is entered");
            for (std::size_t k = 0; k < when.size(); ++k) {
                if (trips[k] < 0 || trips[k] > executed)
                    throw std::invalid_argument("a loop iterates as often as its body");
                places.insert(places.end(), trips[k], when[k]);
            }
        }
        if (static_cast<int64_t>(places.size()) != executed)
            throw std::invalid_argument("a node is executed as often as it says");
        for (const int64_t place : places)
            if (place < 0 || place >= times)
                throw std::invalid_argument("a node is executed when the body around it is");
        return places;
    }

    /// Puts symbols in the order of their places; those of one place stay in their order.
    static Executed sorted(Executed&& all, int64_t times) {
        std::vector<std::size_t> next(static_cast<std::size_t>(times) + 1, 0);
        for (const int64_t place : all.places) ++next[place + 1];
        for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
        Executed ordered{std::vector<int32_t>(all.symbols.size()),
                         std::vector<int64_t>(all.places.size())};
        for (std::size_t k = 0; k < all.symbols.size(); ++k) {
            const std::size_t to = next[all.places[k]]++;
            ordered.symbols[to] = all.symbols[k];
            ordered.places[to] = all.places[k];
        }
        return ordered;
    }

    const Program& program_;
    std::size_t lane_;
};

}  // namespace

std::vector<int32_t> expand(const Program& program, std::size_t lane) {
    return Expander(program, lane).body(0, program.symbol.size(), 1).symbols;
}

}  // namespace burstline

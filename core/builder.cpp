// builder.cpp -- see builder.hpp.
#include "builder.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "messages.hpp"
#include "varint.hpp"
#include "walk.hpp"

namespace burstline {

std::vector<Builder::Rows> Builder::offsets(const Journal& journal, const Layout& layout,
                                            std::size_t first, std::size_t last, bool raw,
                                            bool states) {
    std::vector<Rows> result{Rows{}};
    for (auto location = layout.bucket_begin(first); location < layout.bucket_begin(last);
         ++location) {
        Rows rows = result.back();
        const LocationCounts& counts = journal.counts(location);
        rows.calls += counts.calls;
        rows.readings += counts.readings;
        rows.regions += counts.regions;
        rows.bursts += counts.calls > 0 ? counts.calls - 1 : 0;
        rows.events += raw ? counts.pairs : 0;
        rows.states += states ? counts.states : 0;
        rows.sends += counts.sends;
        rows.receives += counts.receives;
        result.push_back(rows);
    }
    return result;
}

Builder::Builder(Journal& journal, const Layout& layout, const Vocabulary& vocabulary,
                 PathTable& paths, std::size_t first_bucket, std::size_t last_bucket, bool raw,
                 bool states)
    : Builder(journal, layout, vocabulary, paths, layout.bucket_begin(first_bucket),
              first_bucket == 0 && last_bucket == layout.buckets(), raw, states,
              offsets(journal, layout, first_bucket, last_bucket, raw, states)) {}

Builder::Builder(Journal& journal, const Layout& layout, const Vocabulary& vocabulary,
                 PathTable& paths, std::int32_t first_location, bool joined, bool raw, bool states,
                 std::vector<Rows> offset)
    : calls(offset.back().calls), readings(offset.back().readings, vocabulary.counters),
      regions(offset.back().regions), bursts(offset.back().bursts, vocabulary.counters),
      events(offset.back().events), states(offset.back().states), sends(offset.back().sends),
      receives(offset.back().receives, !joined), journal_(&journal), layout_(&layout),
      vocabulary_(&vocabulary), paths_(&paths), first_location_(first_location), raw_(raw),
      keep_states_(states), joined_(joined), total_(offset.back()), offset_(std::move(offset)),
      filled_(offset_.size() - 1) {
    if (!joined_) return;
    for (const Rows& rows : offset_) send_offset_.push_back(rows.sends);
}

void Builder::build(std::size_t bucket) {
    Extras extras;
    {
        const BucketIndex index = journal_->open(bucket);
        for (auto location = layout_->bucket_begin(bucket);
             location < layout_->bucket_begin(bucket + 1); ++location) {
            build_location(index, location, extras);
        }
    }
    const std::lock_guard lock(mutex_);
    journal_->release(bucket);
    merge(std::move(extras));
}

namespace {

/// Hands out the event lines of a location: as packed, or sorted by time if they are not.
class LineReader {
  public:
    explicit LineReader(const std::vector<Bytes>& parts) : parts_(parts) {}

    template <class Take>
    void in_file_order(Take&& take) {
        for (const Bytes& part : parts_) {
            std::int64_t time = 0;
            for (const std::uint8_t* at = part.begin; at < part.end;) {
                time += unfold_sign(get_varint(at));
                const auto pairs = static_cast<std::size_t>(get_varint(at));
                if (codes_.size() < pairs) codes_.resize(pairs), values_.resize(pairs);
                for (std::size_t k = 0; k < pairs; ++k) {
                    codes_[k] = static_cast<std::uint32_t>(get_varint(at));
                    values_[k] = unfold_sign(get_varint(at));
                }
                take(time, codes_.data(), values_.data(), pairs);
            }
        }
    }

    template <class Take>
    void by_time(Take&& take) {
        struct Line {
            std::int64_t time;
            std::size_t first, pairs;
        };
        std::vector<Line> lines;
        std::vector<std::uint32_t> codes;
        std::vector<std::int64_t> values;
        in_file_order([&](std::int64_t time, const std::uint32_t* c, const std::int64_t* v,
                          std::size_t pairs) {
            lines.push_back({time, codes.size(), pairs});
            codes.insert(codes.end(), c, c + pairs);
            values.insert(values.end(), v, v + pairs);
        });
        std::ranges::stable_sort(lines, {}, &Line::time);
        for (const Line& line : lines)
            take(line.time, codes.data() + line.first, values.data() + line.first, line.pairs);
    }

  private:
    const std::vector<Bytes>& parts_;
    std::vector<std::uint32_t> codes_;
    std::vector<std::int64_t> values_;
};

}  // namespace

void Builder::build_location(const BucketIndex& index, std::int32_t location, Extras& extras) {
    const auto at = static_cast<std::size_t>(location - index.first_location);
    const LocationCounts& counts = journal_->counts(location);
    if (counts.event_lines > 0 && counts.first_event > 0) {
        extras.gaps.push_back({location, 0, counts.first_event, not_created_gap});
    }
    LocationWalk walk(*this, location, extras);
    LineReader lines(index.events[at]);
    const auto take = [&](std::int64_t time, const std::uint32_t* codes, const std::int64_t* values,
                          std::size_t pairs) { walk.line(time, codes, values, pairs); };
    const std::int64_t end = std::max(counts.last_event, counts.latest_end);
    if (counts.events_sorted) {
        lines.in_file_order(take);
    } else {
        lines.by_time(take);
        extras.report("events_out_of_order", location, counts.first_event);
    }
    walk.finish(std::min(std::max<std::int64_t>(end, 0), vocabulary_->end_of_time));
    MessageSides messages(*this, location, walk.calls(), extras);
    messages.fill_sends(index.sends[at]);
    messages.fill_receives(index.receives[at]);
    for (auto row = offset_[local(location)].calls;
         row < offset_[local(location)].calls + walk.calls(); ++row) {
        if (calls.peer[row] < unknown) calls.peer[row] = unknown;
    }
    auto& filled = filled_[local(location)];
    filled.sends = index.sends[at].size();
    filled.receives = index.receives[at].size();
    if (keep_states_) build_states(index.states[at], location);
}

void Builder::build_states(const std::vector<Bytes>& parts, std::int32_t location) {
    const auto first = static_cast<std::size_t>(offset_[local(location)].states);
    auto row = first;
    for (const Bytes& part : parts) {
        std::int64_t begin = 0;
        for (const std::uint8_t* at = part.begin; at < part.end; ++row) {
            begin += unfold_sign(get_varint(at));
            const auto length = get_varint(at);
            states.location[row] = location;
            states.begin_ns[row] = begin;
            states.end_ns[row] = length == 0 ? -1 : begin + static_cast<std::int64_t>(length - 1);
            states.state[row] = unfold_sign(get_varint(at));
        }
    }
    filled_[local(location)].states = row - first;
    if (journal_->counts(location).states_sorted) return;
    std::vector<std::size_t> order(row - first);
    std::iota(order.begin(), order.end(), first);
    std::ranges::stable_sort(order, {}, [&](std::size_t at) { return states.begin_ns[at]; });
    for (Int64s* column : {&states.begin_ns, &states.end_ns, &states.state}) {
        std::vector<std::int64_t> sorted;
        for (const auto from : order) sorted.push_back((*column)[from]);
        std::ranges::copy(sorted, column->data() + first);
    }
}

void Builder::merge(Extras&& extras) {
    extras_.gaps.insert(extras_.gaps.end(), extras.gaps.begin(), extras.gaps.end());
    extras_.locks.insert(extras_.locks.end(), extras.locks.begin(), extras.locks.end());
    const auto append = [](auto& all, const auto& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    append(extras_.samples.location, extras.samples.location);
    append(extras_.samples.path, extras.samples.path);
    append(extras_.samples.time, extras.samples.time);
    append(extras_.samples.periods, extras.samples.periods);
    extras_.set_members.merge(extras.set_members);
    for (const auto& [kind, defect] : extras.defects) {
        auto& all = extras_.defects[kind];
        const bool earlier = all.count == 0 || defect.location < all.location;
        if (earlier) all.location = defect.location, all.time = defect.time;
        all.count += defect.count;
    }
}

namespace {

/// Moves the rows of every location to where the rows before them end.
template <class Table>
std::uint64_t close_holes(Table& table, const std::vector<Builder::Rows>& offset,
                          const std::vector<Builder::Rows>& filled,
                          std::uint64_t Builder::Rows::* count) {
    std::uint64_t end = 0;
    bool holes = false;
    for (std::size_t k = 0; k < filled.size(); ++k) {
        holes |= offset[k].*count != end;
        end += filled[k].*count;
    }
    if (!holes) return end;
    table.each([&](const auto&, auto& column) {
        std::uint64_t to = 0;
        if (column.rows() == 0) return;
        for (std::size_t k = 0; k < filled.size(); ++k) {
            const auto rows = filled[k].*count;
            std::memmove(column.data() + to, column.data() + offset[k].*count,
                         rows * sizeof *column.data());
            to += rows;
        }
    });
    return end;
}

}  // namespace

void Builder::finish() {
    total_.calls = close_holes(calls, offset_, filled_, &Rows::calls);
    total_.readings = close_holes(readings, offset_, filled_, &Rows::readings);
    total_.regions = close_holes(regions, offset_, filled_, &Rows::regions);
    total_.bursts = close_holes(bursts, offset_, filled_, &Rows::bursts);
    std::ranges::stable_sort(extras_.gaps, {},
                             [](const auto& gap) { return std::pair(gap.location, gap.start); });
    std::ranges::stable_sort(extras_.locks, {}, [](const auto& lock) {
        return std::pair(lock.location, lock.acquire_seq);
    });
}

}  // namespace burstline

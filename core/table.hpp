// table.hpp -- Tables of columns that have names, whatever memory the columns are of.
// Knows integers of some widths; knows nothing of what they mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace burstline {

/// A table, whose columns are its members; each is given to it when it is made.
template <template <class> class Column>
class TableOf {
  public:
    explicit TableOf(std::size_t rows) : rows_(rows) {}
    TableOf(const TableOf&) = delete;
    TableOf& operator=(const TableOf&) = delete;

    std::size_t rows() const { return rows_; }

    template <class T>
    void add(std::string name, Column<T>& column) {
        columns_.emplace_back(std::move(name), &column);
    }

    /// Visits all columns by their names, in the order of their making.
    template <class Visit>
    void each(Visit&& visit) {
        for (auto& [name, column] : columns_)
            std::visit([&, &name = name](auto* const one) { visit(name, *one); }, column);
    }

  protected:
    /// Columns that are called by their numbers.
    std::vector<Column<std::int64_t>> numbered(std::size_t count) {
        std::vector<Column<std::int64_t>> made;
        made.reserve(count);
        for (std::size_t k = 0; k < count; ++k) made.emplace_back(*this, std::to_string(k));
        return made;
    }

  private:
    using Any = std::variant<Column<std::int8_t>*, Column<std::uint8_t>*, Column<std::int16_t>*,
                             Column<std::int32_t>*, Column<std::int64_t>*>;
    std::size_t rows_;
    std::vector<std::pair<std::string, Any>> columns_;
};

}  // namespace burstline

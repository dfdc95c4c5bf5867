// otf2_writing.cpp -- see otf2_writing.hpp.
#include "otf2_writing.hpp"

#include <stdexcept>
#include <vector>

namespace burstline::otf2 {

namespace {

using Byte = std::uint8_t;
using Ref = std::uint32_t;
using Wide = std::uint64_t;

constexpr Byte mode_write = 0, substrate_posix = 1, compression_none = 1, do_flush = 1;
constexpr Byte recorder_cpu = 2, synchronous_strict = 0;
constexpr Wide event_chunk = 1 << 18;  // the least there is: every location takes one
constexpr Ref nowhere = ~Ref{0}, none = 0;

struct FlushCallbacks {
    Byte (*before)(void*, Byte, Wide, void*, bool);
    Wide (*after)(void*, Byte, Wide);
};

Byte before_flush(void*, Byte, Wide, void*, bool) { return do_flush; }

// Without a time of its own a flush leaves no event behind.
constexpr FlushCallbacks flushing{before_flush, nullptr};

/// The integers of a definition, each in the width that the library takes.
class Row {
  public:
    explicit Row(std::span<const std::int64_t> numbers) : numbers_(numbers) {}
    std::int64_t operator[](std::size_t k) const {
        if (k >= numbers_.size()) throw std::invalid_argument("a definition cut short");
        return numbers_[k];
    }
    Ref ref(std::size_t k) const { return static_cast<Ref>((*this)[k]); }
    Byte byte(std::size_t k) const { return static_cast<Byte>((*this)[k]); }
    Wide wide(std::size_t k) const { return static_cast<Wide>((*this)[k]); }
    template <class T>
    std::vector<T> from(std::size_t k) const {
        (*this)[k - 1];
        return {numbers_.begin() + static_cast<std::ptrdiff_t>(k), numbers_.end()};
    }

  private:
    std::span<const std::int64_t> numbers_;
};

std::string words_at(std::span<const char> text, std::int64_t first, std::int64_t count) {
    const auto begin = static_cast<std::size_t>(first), size = static_cast<std::size_t>(count);
    if (begin > text.size() || size > text.size() - begin) {
        throw std::invalid_argument("a text that is not there");
    }
    return {text.data() + begin, size};
}

}  // namespace

template <class Function>
Function* ArchiveWriter::function(const char* name) const {
    return library_.find(name);
}

template <class... Arguments>
void ArchiveWriter::put(const char* what, Arguments... arguments) {
    const auto name = std::string("OTF2_GlobalDefWriter_Write") + what;
    check(function<Status(void*, Arguments...)>(name.c_str())(definitions_, arguments...), what);
}

void ArchiveWriter::check(Status status, const char* what) {
    if (status == 0) return;
    if (said_.message[0] != 0) status = static_cast<Status>(said_.status);
    const auto* const name = library_.error_name(status);
    throw std::runtime_error(std::string(what) + ": " + said_.message + " (" +
                             (name == nullptr ? "" : name) + ")");
}

ArchiveWriter::ArchiveWriter(const std::string& library, const std::string& folder,
                             const std::string& name, std::uint64_t chunk)
    : library_(library) {
    library_.on_error(keep_complaint, &said_);
    using Open = void*(const char*, const char*, Byte, Wide, Wide, Byte, Byte);
    archive_ =
        function<Open>("OTF2_Archive_Open")(folder.c_str(), name.c_str(), mode_write, event_chunk,
                                            chunk, substrate_posix, compression_none);
    if (archive_ == nullptr) check(-1, "the archive cannot be opened");
    check(function<Status(void*, const void*, void*)>("OTF2_Archive_SetFlushCallbacks")(
              archive_, &flushing, nullptr),
          "the archive");
    check(function<Status(void*)>("OTF2_Archive_SetSerialCollectiveCallbacks")(archive_),
          "the archive");
    check(function<Status(void*, const char*)>("OTF2_Archive_SetCreator")(archive_, "burstline"),
          "the archive");
    check(function<Status(void*)>("OTF2_Archive_OpenEvtFiles")(archive_), "files of events");
}

ArchiveWriter::~ArchiveWriter() {
    if (archive_ != nullptr) function<Status(void*)>("OTF2_Archive_Close")(archive_);
    library_.on_error(nullptr, nullptr);
}

void ArchiveWriter::write(std::uint64_t location, const Happened& happened) {
    const auto count = happened.kind.size();
    if (happened.time.size() != count || happened.arguments.size() != count * EventWriter::width) {
        throw std::invalid_argument("columns of different lengths");
    }
    void* const writer =
        function<void*(void*, Wide)>("OTF2_Archive_GetEvtWriter")(archive_, location);
    if (writer == nullptr) check(-1, "events of a location");
    EventWriter events(library_, writer, happened.values);
    for (std::size_t k = 0; k < count; ++k) {
        check(events.write(static_cast<Written>(happened.kind[k]),
                           static_cast<std::uint64_t>(happened.time[k]),
                           &happened.arguments[k * EventWriter::width]),
              "an event");
    }
    check(function<Status(void*, void*)>("OTF2_Archive_CloseEvtWriter")(archive_, writer),
          "events of a location");
}

void ArchiveWriter::finish(std::span<const std::int64_t> rows, std::span<const char> text,
                           std::span<const std::uint64_t> locations) {
    const auto plain = [this](const char* name) {
        check(function<Status(void*)>(name)(archive_), name);
    };
    plain("OTF2_Archive_CloseEvtFiles");
    plain("OTF2_Archive_OpenDefFiles");
    for (const auto location : locations) {
        void* const local =
            function<void*(void*, Wide)>("OTF2_Archive_GetDefWriter")(archive_, location);
        if (local == nullptr) check(-1, "definitions of a location");
        check(function<Status(void*, void*)>("OTF2_Archive_CloseDefWriter")(archive_, local),
              "definitions of a location");
    }
    plain("OTF2_Archive_CloseDefFiles");
    definitions_ = function<void*(void*)>("OTF2_Archive_GetGlobalDefWriter")(archive_);
    if (definitions_ == nullptr) check(-1, "definitions");
    for (std::size_t at = 0; at + 2 <= rows.size();) {
        const auto length = static_cast<std::size_t>(rows[at + 1]);
        if (length > rows.size() - at - 2) throw std::invalid_argument("a row cut short");
        define(static_cast<Defined>(rows[at]), rows.subspan(at + 2, length), text);
        at += 2 + length;
    }
    void* const archive = archive_;
    archive_ = nullptr;
    check(function<Status(void*)>("OTF2_Archive_Close")(archive), "the archive");
    // What it complains of while it closes files, it does not always return.
    check(static_cast<Status>(said_.status), "the archive");
}

void ArchiveWriter::define(Defined what, std::span<const std::int64_t> numbers,
                           std::span<const char> text) {
    const Row row(numbers);
    switch (what) {
        case Defined::clock:
            return put("ClockProperties", row.wide(0), row.wide(1), row.wide(2), ~Wide{0});
        case Defined::text:
            return put("String", row.ref(0), words_at(text, row[1], row[2]).c_str());
        case Defined::node:
            return put("SystemTreeNode", row.ref(0), row.ref(1), row.ref(2), row.ref(3));
        case Defined::location_group:
            return put("LocationGroup", row.ref(0), row.ref(1), row.byte(2), row.ref(3), nowhere);
        case Defined::location:
            return put("Location", row.wide(0), row.ref(1), row.byte(2), row.wide(3), row.ref(4));
        default:
            return define_more(what, numbers);
    }
}

void ArchiveWriter::define_more(Defined what, std::span<const std::int64_t> numbers) {
    const Row row(numbers);
    switch (what) {
        case Defined::region:
            return put("Region", row.ref(0), row.ref(1), row.ref(2), none, row.byte(3), row.byte(4),
                       none, row.ref(5), row.ref(6), row.ref(7));
        case Defined::group: {
            const auto members = row.from<Wide>(5);
            return put("Group", row.ref(0), row.ref(1), row.byte(2), row.byte(3), row.ref(4),
                       static_cast<Ref>(members.size()), members.data());
        }
        case Defined::metric_member:
            return put("MetricMember", row.ref(0), row.ref(1), none, row.byte(2), row.byte(3),
                       row.byte(4), row.byte(5), row[6], row.ref(7));
        case Defined::metric_class: {
            const auto members = row.from<Ref>(2);
            return put("MetricClass", row.ref(0), static_cast<Byte>(members.size()), members.data(),
                       synchronous_strict, recorder_cpu);
        }
        case Defined::parameter:
            return put("Parameter", row.ref(0), row.ref(1), row.byte(2));
        case Defined::attribute:
            return put("Attribute", row.ref(0), row.ref(1), none, row.byte(2));
        case Defined::communicator:
            return put("Comm", row.ref(0), row.ref(1), row.ref(2), row.ref(3), none);
        case Defined::source_code_location:
            return put("SourceCodeLocation", row.ref(0), row.ref(1), row.ref(2));
        case Defined::calling_context:
            return put("CallingContext", row.ref(0), row.ref(1), row.ref(2), row.ref(3));
        case Defined::paradigm:
            return put("Paradigm", row.byte(0), row.ref(1), row.byte(2));
        default:
            throw std::invalid_argument("no such definition");
    }
}

}  // namespace burstline::otf2

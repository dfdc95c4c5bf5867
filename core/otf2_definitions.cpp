// otf2_definitions.cpp -- see otf2_definitions.hpp.
#include "otf2_definitions.hpp"

#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <span>

namespace burstline::otf2 {

namespace {

using Ref = std::uint32_t;

/// Writes rows: kind, length, then as many integers.
class Writer {
  public:
    Writer(Definitions& into, Report& report, std::size_t integers, std::size_t characters)
        : into_(into), report_(report), integers_(integers), characters_(characters) {}

    void row(Defined kind, std::initializer_list<std::int64_t> values) {
        row(kind, values, std::span<const std::uint64_t>());
    }

    template <class T>
    void row(Defined kind, std::initializer_list<std::int64_t> values, std::span<const T> more) {
        const auto length = values.size() + more.size();
        if (report_.rows + length + 2 > integers_) {
            ++report_.full;
            return;
        }
        auto at = report_.rows;
        into_.rows[at++] = static_cast<std::int64_t>(kind);
        into_.rows[at++] = static_cast<std::int64_t>(length);
        for (const auto value : values) into_.rows[at++] = value;
        for (const auto value : more) into_.rows[at++] = static_cast<std::int64_t>(value);
        report_.rows = at;
    }

    void text(Ref ref, const char* string) {
        const auto length = string == nullptr ? 0 : std::strlen(string);
        if (report_.bytes + length > characters_) {
            ++report_.full;
            return;
        }
        if (length > 0) std::memcpy(into_.text.data() + report_.bytes, string, length);
        row(Defined::text,
            {ref, static_cast<std::int64_t>(report_.bytes), static_cast<std::int64_t>(length)});
        report_.bytes += length;
    }

  private:
    Definitions& into_;
    Report& report_;
    std::size_t integers_, characters_;
};

std::int64_t wide(std::uint64_t value) { return static_cast<std::int64_t>(value); }

/// What the library calls for each definition: `Write` says what becomes of its values.
template <class Write, class... Values>
Status on_definition(void* data, Values... values) {
    Write{}(*static_cast<Writer*>(data), values...);
    return 0;
}

class Registering {
  public:
    Registering(const Library& library, void* callbacks)
        : library_(library), callbacks_(callbacks) {}

    template <class Write>
    void on(const char* what, Write) const {
        on_call(what, &Write::operator());
    }

  private:
    template <class Write, class... Values>
    void on_call(const char* what, void (Write::*)(Writer&, Values...) const) const {
        using Function = Status(void*, Values...);
        const auto name = std::string("OTF2_GlobalDefReaderCallbacks_Set") + what + "Callback";
        Status (*const set)(void*, Function*) = library_.find(name);
        set(callbacks_, &on_definition<Write, Values...>);
    }

    const Library& library_;
    void* callbacks_;
};

/// What becomes of the definitions of each kind.
void* callbacks_of(const Library& library) {
    void* const made = library.new_definition_callbacks();
    const Registering to(library, made);
    to.on("ClockProperties",
          [](Writer& writer, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length) {
              writer.row(Defined::clock, {wide(resolution), wide(offset), wide(length)});
          });
    to.on("String",
          [](Writer& writer, Ref self, const char* string) { writer.text(self, string); });
    to.on("SystemTreeNode", [](Writer& writer, Ref self, Ref name, Ref kind, Ref parent) {
        writer.row(Defined::node, {self, name, kind, parent});
    });
    to.on("SystemTreeNodeDomain", [](Writer& writer, Ref node, std::uint8_t domain) {
        writer.row(Defined::node_domain, {node, domain});
    });
    to.on("LocationGroup",
          [](Writer& writer, Ref self, Ref name, std::uint8_t type, Ref node, Ref creator) {
              writer.row(Defined::location_group, {self, name, type, node, creator});
          });
    to.on("Location", [](Writer& writer, std::uint64_t self, Ref name, std::uint8_t type,
                         std::uint64_t events, Ref group) {
        writer.row(Defined::location, {wide(self), name, type, wide(events), group});
    });
    to.on("Region", [](Writer& writer, Ref self, Ref name, Ref canonical, Ref, std::uint8_t role,
                       std::uint8_t paradigm, std::uint32_t, Ref file, std::uint32_t begin,
                       std::uint32_t end) {
        writer.row(Defined::region, {self, name, canonical, role, paradigm, file, begin, end});
    });
    to.on("Group", [](Writer& writer, Ref self, Ref name, std::uint8_t type, std::uint8_t paradigm,
                      std::uint32_t flags, std::uint32_t count, const std::uint64_t* members) {
        writer.row(Defined::group, {self, name, type, paradigm, flags},
                   std::span<const std::uint64_t>(members, count));
    });
    to.on("MetricMember", [](Writer& writer, Ref self, Ref name, Ref, std::uint8_t type,
                             std::uint8_t mode, std::uint8_t value, std::uint8_t base,
                             std::int64_t exponent, Ref unit) {
        writer.row(Defined::metric_member, {self, name, type, mode, value, base, exponent, unit});
    });
    to.on("MetricClass", [](Writer& writer, Ref self, std::uint8_t count, const Ref* members,
                            std::uint8_t occurrence) {
        writer.row(Defined::metric_class, {self, occurrence}, std::span<const Ref>(members, count));
    });
    to.on("MetricInstance", [](Writer& writer, Ref self, Ref kind, std::uint64_t recorder,
                               std::uint8_t scope_kind, std::uint64_t scope) {
        writer.row(Defined::metric_instance, {self, kind, wide(recorder), scope_kind, wide(scope)});
    });
    to.on("Comm", [](Writer& writer, Ref self, Ref name, Ref group, Ref parent) {
        writer.row(Defined::communicator, {self, name, group, parent});
    });
    to.on("InterComm", [](Writer& writer, Ref self, Ref name, Ref first, Ref second, Ref common) {
        writer.row(Defined::inter_communicator, {self, name, first, second, common});
    });
    to.on("Parameter", [](Writer& writer, Ref self, Ref name, std::uint8_t type) {
        writer.row(Defined::parameter, {self, name, type});
    });
    to.on("RmaWin", [](Writer& writer, Ref self, Ref name, Ref communicator) {
        writer.row(Defined::window, {self, name, communicator});
    });
    to.on("Attribute", [](Writer& writer, Ref self, Ref name, Ref, std::uint8_t type) {
        writer.row(Defined::attribute, {self, name, type});
    });
    to.on("CallingContext", [](Writer& writer, Ref self, Ref region, Ref place, Ref parent) {
        writer.row(Defined::calling_context, {self, region, place, parent});
    });
    to.on("SourceCodeLocation", [](Writer& writer, Ref self, Ref file, std::uint32_t line) {
        writer.row(Defined::source_code_location, {self, file, line});
    });
    return made;
}

Status read_all(const Library& library, const std::string& anchor, Writer& writer) {
    void* const reader = library.open(anchor.c_str());
    if (reader == nullptr) return -1;
    std::uint8_t substrate = 0, compression = 0, version[3] = {};
    library.substrate(reader, &substrate);
    library.compression(reader, &compression);
    library.version(reader, version, version + 1, version + 2);
    writer.row(Defined::archive,
               {substrate, compression, version[0] * 10000 + version[1] * 100 + version[2]});
    library.set_serial(reader);
    void* const definitions = library.global_definitions(reader);
    if (definitions == nullptr) return -1;
    library.register_definitions(reader, definitions, callbacks_of(library), &writer);
    std::uint64_t read = 0;
    return library.read_definitions(reader, definitions, &read);
}

}  // namespace

Definitions::Definitions(std::size_t integers, std::size_t characters)
    : rows(integers), text(characters), report_(sizeof(Report)), integers_(integers),
      characters_(characters) {
    new (report_.data()) Report();
}

Status keep_complaint(void* data, const char*, std::uint64_t, const char*, Status status,
                      const char* format, std::va_list arguments) {
    auto& report = *static_cast<Report*>(data);
    if (report.message[0] == 0 && format != nullptr) {
        std::vsnprintf(report.message, sizeof report.message, format, arguments);
        report.status = status;
    }
    return status;
}

int Definitions::read(const Library& library, const std::string& anchor, const Limits& limits,
                      const std::function<bool()>& is_over) {
    auto& report = *static_cast<Report*>(report_.data());
    return run_in_child(
        [&] {
            library.on_error(keep_complaint, &report);
            Writer writer(*this, report, integers_, characters_);
            report.status = read_all(library, anchor, writer);
        },
        limits, is_over);
}

}  // namespace burstline::otf2

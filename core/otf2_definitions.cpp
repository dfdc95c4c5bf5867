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

Writer& to(void* data) { return *static_cast<Writer*>(data); }

Status on_clock(void* data, std::uint64_t resolution, std::uint64_t offset, std::uint64_t length) {
    to(data).row(Defined::clock, {wide(resolution), wide(offset), wide(length)});
    return 0;
}
Status on_text(void* data, Ref self, const char* string) {
    to(data).text(self, string);
    return 0;
}
Status on_node(void* data, Ref self, Ref name, Ref kind, Ref parent) {
    to(data).row(Defined::node, {self, name, kind, parent});
    return 0;
}
Status on_node_domain(void* data, Ref node, std::uint8_t domain) {
    to(data).row(Defined::node_domain, {node, domain});
    return 0;
}
Status on_location_group(void* data, Ref self, Ref name, std::uint8_t type, Ref node, Ref creator) {
    to(data).row(Defined::location_group, {self, name, type, node, creator});
    return 0;
}
Status on_location(void* data, std::uint64_t self, Ref name, std::uint8_t type,
                   std::uint64_t events, Ref group) {
    to(data).row(Defined::location, {wide(self), name, type, wide(events), group});
    return 0;
}
Status on_region(void* data, Ref self, Ref name, Ref canonical, Ref, std::uint8_t role,
                 std::uint8_t paradigm, std::uint32_t, Ref file, std::uint32_t begin,
                 std::uint32_t end) {
    to(data).row(Defined::region, {self, name, canonical, role, paradigm, file, begin, end});
    return 0;
}
Status on_group(void* data, Ref self, Ref name, std::uint8_t type, std::uint8_t paradigm,
                std::uint32_t flags, std::uint32_t count, const std::uint64_t* members) {
    to(data).row(Defined::group, {self, name, type, paradigm, flags},
                 std::span<const std::uint64_t>(members, count));
    return 0;
}
Status on_metric_member(void* data, Ref self, Ref name, Ref, std::uint8_t type, std::uint8_t mode,
                        std::uint8_t value, std::uint8_t base, std::int64_t exponent, Ref unit) {
    to(data).row(Defined::metric_member, {self, name, type, mode, value, base, exponent, unit});
    return 0;
}
Status on_metric_class(void* data, Ref self, std::uint8_t count, const Ref* members,
                       std::uint8_t occurrence) {
    to(data).row(Defined::metric_class, {self, occurrence}, std::span<const Ref>(members, count));
    return 0;
}
Status on_metric_instance(void* data, Ref self, Ref kind, std::uint64_t recorder,
                          std::uint8_t scope_kind, std::uint64_t scope) {
    to(data).row(Defined::metric_instance, {self, kind, wide(recorder), scope_kind, wide(scope)});
    return 0;
}
Status on_communicator(void* data, Ref self, Ref name, Ref group, Ref parent) {
    to(data).row(Defined::communicator, {self, name, group, parent});
    return 0;
}
Status on_inter_communicator(void* data, Ref self, Ref name, Ref first, Ref second, Ref common) {
    to(data).row(Defined::inter_communicator, {self, name, first, second, common});
    return 0;
}
Status on_parameter(void* data, Ref self, Ref name, std::uint8_t type) {
    to(data).row(Defined::parameter, {self, name, type});
    return 0;
}
Status on_window(void* data, Ref self, Ref name, Ref communicator) {
    to(data).row(Defined::window, {self, name, communicator});
    return 0;
}
Status on_attribute(void* data, Ref self, Ref name, Ref, std::uint8_t type) {
    to(data).row(Defined::attribute, {self, name, type});
    return 0;
}
Status on_calling_context(void* data, Ref self, Ref region, Ref place, Ref parent) {
    to(data).row(Defined::calling_context, {self, region, place, parent});
    return 0;
}
Status on_source_code_location(void* data, Ref self, Ref file, std::uint32_t line) {
    to(data).row(Defined::source_code_location, {self, file, line});
    return 0;
}

template <class Function>
void on(const Library& library, void* callbacks, const char* what, Function* function) {
    const auto name = std::string("OTF2_GlobalDefReaderCallbacks_Set") + what + "Callback";
    reinterpret_cast<Status (*)(void*, Function*)>(library.find(name))(callbacks, function);
}

void* callbacks_of(const Library& library) {
    void* const made = library.new_definition_callbacks();
    on(library, made, "ClockProperties", on_clock);
    on(library, made, "String", on_text);
    on(library, made, "SystemTreeNode", on_node);
    on(library, made, "SystemTreeNodeDomain", on_node_domain);
    on(library, made, "LocationGroup", on_location_group);
    on(library, made, "Location", on_location);
    on(library, made, "Region", on_region);
    on(library, made, "Group", on_group);
    on(library, made, "MetricMember", on_metric_member);
    on(library, made, "MetricClass", on_metric_class);
    on(library, made, "MetricInstance", on_metric_instance);
    on(library, made, "Comm", on_communicator);
    on(library, made, "InterComm", on_inter_communicator);
    on(library, made, "Parameter", on_parameter);
    on(library, made, "RmaWin", on_window);
    on(library, made, "Attribute", on_attribute);
    on(library, made, "CallingContext", on_calling_context);
    on(library, made, "SourceCodeLocation", on_source_code_location);
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

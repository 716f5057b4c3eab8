// pprof_format.hpp - writes the profile that `go tool pprof`, Pyroscope, Parca and others read.
//
// Room:     formats (floor 12), not malloc-safe
// Called:   by the user, and by formats/format_list.hpp
// Threads:  any
// Memory:   see formats/format_job.hpp; the tables of frames, functions and strings
//
//     allocscope::write_pprof(window.stats(), "heap.pb.gz");
//
// The file is a gzipped profile.proto with the four values that Go's heap profiles have, in the
// same order: alloc_objects, alloc_space, inuse_objects, inuse_space. A return address is one
// location; the calls inlined there are its lines. Each sample has the label `type`. Facts for
// which the format has no field (totals, losses, intervals) are comments; `pprof -comments` prints
// them.
//
// A window with details has more values in the middle, because viewers look at the first or the
// last one: temporary_objects; lifetime (how long the objects lived, added up); and, if the peak is
// known, peak_objects and peak_space (what was alive then). If the threads are known, a sample is
// what one thread allocated at a stack. Its label `thread` has the thread's name and number,
// `thread_id` has the number.
//
// In a profile, strings, functions and locations may stand after the samples. So they are collected
// while the samples are written. The values of a difference may be negative.

#ifndef ALLOCSCOPE_FORMATS_PPROF_FORMAT_HPP
#define ALLOCSCOPE_FORMATS_PPROF_FORMAT_HPP

#include <allocscope/base/options.hpp>
#include <allocscope/config.hpp>
#include <allocscope/formats/format_job.hpp>
#include <allocscope/formats/frame_text.hpp>
#include <allocscope/formats/gzip_stream.hpp>
#include <allocscope/formats/location_book.hpp>
#include <allocscope/formats/protobuf_message.hpp>
#include <allocscope/formats/summary_lines.hpp>
#include <allocscope/grouping/frame_book.hpp>
#include <allocscope/grouping/stack_numbers.hpp>
#include <allocscope/grouping/stack_source.hpp>
#include <allocscope/grouping/thread_parts.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/plain/text_numbers.hpp>
#include <allocscope/plain/text_out.hpp>
#include <allocscope/snapshot/numbered_function.hpp>
#include <allocscope/snapshot/snapshot.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>   // string

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

// The numbers of the fields in profile.proto.
namespace pprof_field {
namespace profile {
constexpr std::uint32_t sample_type = 1, sample = 2, mapping = 3, location = 4, function = 5,
                        string_table = 6, drop_frames = 7, time_nanos = 9, duration_nanos = 10,
                        period_type = 11, period = 12, comment = 13, default_sample_type = 14;
}
namespace value_type {
constexpr std::uint32_t type = 1, unit = 2;
}
namespace sample {
constexpr std::uint32_t location_id = 1, value = 2, label = 3;
}
namespace label {
constexpr std::uint32_t key = 1, str = 2, num = 3;
}
namespace mapping {
constexpr std::uint32_t id = 1, memory_start = 2, memory_limit = 3, filename = 5, build_id = 6,
                        has_functions = 7, has_filenames = 8, has_line_numbers = 9,
                        has_inline_frames = 10;
}
namespace location {
constexpr std::uint32_t id = 1, mapping_id = 2, address = 3, line = 4;
}
namespace line {
constexpr std::uint32_t function_id = 1, line = 2, column = 3;
}
namespace function {
constexpr std::uint32_t id = 1, name = 2, filename = 4;
}
}  // namespace pprof_field

// The frames between a container and operator new do not show who allocates. pprof leaves these
// frames out and gives their numbers to their callers. The names have template arguments.
constexpr const char* pprof_dropped_frames =
    "(std|__gnu_cxx)::(__new_allocator|new_allocator|allocator|allocator_traits|__alloc_traits)<.*>"
    "::(_S_)?allocate|std::.*::_M_allocate|std::__allocate_guarded<.*>"
    "|std::__1::(allocator|allocator_traits)<.*>::allocate"
    "|std::__1::__libcpp_(allocate|operator_new)(<.*>)?";

class pprof_profile {
public:
    pprof_profile(format_job& job, piecewise_text& out)
        : job_(job),
          pieces_(out),
          out_(out.gathered),
          locations_(job.memory),
          strings_(job.memory),
          functions_(job.memory),
          functions_by_address_(job.memory),
          mappings_(job.memory),
          thread_labels_(job.memory),
          numbers_(job.memory),
          message_(job.memory),
          inner_(job.memory),
          type_label_(job.memory) {
        strings_.number_of_text("");  // the first string of a profile must be empty
    }

    void write() {
        write_head();
        type_key_ = string("type");
        make_thread_labels();
        for_each_stack_by_numbers(
            job_, [this](const snapshot::stack& stack, const numbered_frames& frames) {
                write_samples(stack, frames);
                sum_.add(numbers_of(stack));
                pieces_.may_go();
            });
        gather_mappings();
        for (std::uint32_t i = 1; i <= locations_.size(); ++i) {
            if (locations_.is_met(i)) write_location(i);
        }
        std::uint32_t number = 0;
        for (const auto& each : functions_) write_function(++number, each.key);
        for (std::size_t i = 0; i < mappings_.size(); ++i) write_mapping(i);
        write_comments();
        for (std::size_t i = 0; i < strings_.size(); ++i) {
            write_field(out_, pprof_field::profile::string_table, strings_[i]);
            pieces_.may_go();
        }
    }

private:
    static constexpr std::size_t most_values = 8;

    struct function_key {
        std::uint32_t name, file;
    };
    // A function has a frame for each of its lines. These frames have the same texts, so it is
    // found by the addresses of its texts.
    struct function_address {
        const char *name, *file;
    };
    struct mapping {
        snapshot::module module;
        bool has_functions, has_files, has_lines, has_inlined;
    };

    // The number of a text that lives as long as the writer.
    std::uint64_t string(const text& kept) { return strings_.number_of_text(kept); }

    // The number of a name. Characters that cannot be printed are escaped.
    std::uint64_t printable_string(const char* shown) {
        bool is_plain = true;
        std::size_t length = 0;
        for (; shown[length] != '\0' && is_plain; ++length) {
            is_plain = shown[length] >= ' ' && shown[length] <= '~';
        }
        if (is_plain) return string(text{shown, length});
        text_out printable{job_.memory};
        write_printable(printable, shown);
        return string(printable.view());
    }

    void write_value_type(std::uint32_t field, const text& type, const text& unit) {
        message_.cut(0);
        write_field(message_, pprof_field::value_type::type, string(type));
        write_field(message_, pprof_field::value_type::unit, string(unit));
        write_field(out_, field, message_.view());
    }

    void write_head() {
        using namespace pprof_field;
        const snapshot::window_info& info = job_.rows.info();
        write_value_type(profile::sample_type, "alloc_objects", "count");
        write_value_type(profile::sample_type, "alloc_space", "bytes");
        if (info.has_details) {
            write_value_type(profile::sample_type, "temporary_objects", "count");
            write_value_type(profile::sample_type, "lifetime", "microseconds");
        }
        if (info.has_peak_details) {
            write_value_type(profile::sample_type, "peak_objects", "count");
            write_value_type(profile::sample_type, "peak_space", "bytes");
        }
        write_value_type(profile::sample_type, "inuse_objects", "count");
        write_value_type(profile::sample_type, "inuse_space", "bytes");
        write_value_type(profile::period_type, "space", "bytes");
        write_field(out_, profile::period, info.sample_bytes != 0 ? info.sample_bytes : 1);
        write_field(out_, profile::default_sample_type, string("inuse_space"));
        write_field(out_, profile::drop_frames, string(pprof_dropped_frames));
        write_field(out_, profile::time_nanos, static_cast<std::uint64_t>(info.taken_unix_ns));
        write_field(out_, profile::duration_nanos, info.duration_ns);
    }

    // Makes the labels of each thread, in the form in which a sample has them.
    void make_thread_labels() {
        with_threads(job_, [this](const snapshot::thread* threads, std::size_t count) {
            if (count == 0) return;
            const std::uint64_t name_key = string("thread");
            const std::uint64_t number_key = string("thread_id");
            const thread_names names{job_.memory, threads, count};
            for (std::size_t i = 0; i < count; ++i) {
                text_out labels{job_.memory};
                write_label(labels, name_key, pprof_field::label::str,
                            printable_string(copy_of(job_.memory, names[i]).data()));
                if (threads[i].number != 0) {
                    write_label(labels, number_key, pprof_field::label::num, threads[i].number);
                }
                thread_labels_.push_back(labels.view());
            }
        });
    }

    void write_label(text_out& out, std::uint64_t key, std::uint32_t kind, std::uint64_t value) {
        inner_.cut(0);
        write_field(inner_, pprof_field::label::key, key);
        write_field(inner_, kind, value);
        write_field(out, pprof_field::sample::label, inner_.view());
    }

    // Writes one sample, or one for each thread that allocated there.
    void write_samples(const snapshot::stack& stack, const numbered_frames& frames) {
        using namespace pprof_field;
        if (numbers_.size() < frames.count * longest_varint) {
            numbers_.resize(frames.count * longest_varint);
        }
        char* end = numbers_.data();
        for (std::size_t i = 0; i < frames.count;) {
            end = put_varint(end, locations_.next_location(frames, i));
        }
        message_.cut(0);
        write_field(message_, sample::location_id, text_up_to(end, numbers_.data()));
        const std::size_t end_of_locations = message_.size();
        bool has_threads = false;
        for_each_thread(stack, [&](std::size_t thread, const stack_numbers& numbers) {
            has_threads = true;
            message_.cut(end_of_locations);
            write_sample(numbers, stack.type, thread_labels_[thread]);
        });
        if (!has_threads) write_sample(numbers_of(stack), stack.type, {});
    }

    // message_ already has the locations.
    void write_sample(const stack_numbers& numbers, const char* type, const text& thread_labels) {
        using namespace pprof_field;
        char values[most_values * longest_varint];
        char* end = put_varint(values, numbers.allocations);
        end = put_varint(end, numbers.bytes_allocated);
        if (job_.rows.info().has_details) {
            end = put_varint(end, numbers.temporary);
            end = put_varint(end, numbers.lifetime_us);
        }
        if (job_.rows.info().has_peak_details) {
            end = put_varint(end, numbers.peak_objects);
            end = put_varint(end, numbers.peak_bytes);
        }
        end = put_varint(end, numbers.objects);
        end = put_varint(end, numbers.bytes);
        write_field(message_, sample::value, text_up_to(end, values));
        message_ << label_of_type(type) << thread_labels;
        write_field(out_, profile::sample, message_.view());
    }

    // Neighbouring stacks often have the same type. An unknown type has no label.
    text label_of_type(const char* type) {
        if (type != last_type_) {
            last_type_ = type;
            type_label_.cut(0);
            if (type[0] != '?') {
                write_label(type_label_, type_key_, pprof_field::label::str,
                            printable_string(type));
            }
        }
        return type_label_.view();
    }

    std::uint32_t function_of(const snapshot::frame& frame) {
        const by_bytes<function_address> here{{frame.function, frame.file}};
        if (const std::uint32_t* known = functions_by_address_.find(here)) return *known;
        const std::uint32_t number = new_function_of(frame);
        if (!is_empty(frame.function)) functions_by_address_[here] = number;
        return number;
    }
    std::uint32_t new_function_of(const snapshot::frame& frame) {
        std::uint64_t name = 0;
        if (!is_empty(frame.function)) {
            name = printable_string(frame.function);
        } else {
            text_out shown{job_.memory};
            write_frame_name(shown, frame);
            name = string(shown.view());
        }
        const std::uint64_t file = is_empty(frame.file) ? 0 : printable_string(frame.file);
        const auto known = functions_.insert(
            {{static_cast<std::uint32_t>(name), static_cast<std::uint32_t>(file)}});
        if (known.is_new) known.value = static_cast<std::uint32_t>(functions_.size());
        return known.value;
    }

    // pprof believes what the file says about a mapping and does not read the module. So everything
    // that is known is written.
    void gather_mappings() {
        for_each_module(job_, [this](const snapshot::module& module) {
            mappings_.push_back({module, false, false, false, false});
        });
        const frame_book& frames = locations_.frames();
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const snapshot::frame& frame = frames[i];
            if (is_empty(frame.module)) continue;
            if (mapping_of(frame) == 0) add_mapping_of(frame);
            mapping& here = mappings_[mapping_of(frame) - 1];
            // Any frame with an address says where its module begins.
            if (frame.address != 0) here.module.address = frame.address - frame.offset;
            if (frame.offset >= here.module.size) here.module.size = frame.offset + 1;
            here.has_functions =
                here.has_functions || (!is_empty(frame.function) && !is_numbered(frame));
            here.has_files = here.has_files || !is_empty(frame.file);
            here.has_lines = here.has_lines || frame.line != 0;
            here.has_inlined = here.has_inlined || frame.is_inlined;
        }
    }

    void add_mapping_of(const snapshot::frame& frame) {
        mappings_.push_back({{frame.module, "", 0, 0}, false, false, false, false});
        last_module_ = nullptr;
    }

    // The number of the mapping, from 1, or 0 if there is none. A loop is enough: modules are few.
    std::size_t mapping_of(const snapshot::frame& frame) const {
        if (frame.module == last_module_) return last_mapping_;
        last_module_ = frame.module;
        last_mapping_ = 0;
        for (std::size_t i = 0; i < mappings_.size() && last_mapping_ == 0; ++i) {
            if (!is_empty(frame.module) && text{mappings_[i].module.path} == text{frame.module}) {
                last_mapping_ = i + 1;
            }
        }
        return last_mapping_;
    }

    void write_line(const snapshot::frame& frame) {
        using namespace pprof_field;
        char fields[3 * longest_field];
        char* end = put_field(fields, line::function_id, function_of(frame));
        end = put_field(end, line::line, static_cast<std::uint64_t>(frame.line));
        end = put_field(end, line::column, static_cast<std::uint64_t>(frame.column));
        write_field(message_, location::line, text_up_to(end, fields));
    }

    void write_location(std::uint32_t number) {
        using namespace pprof_field;
        const snapshot::frame& outermost = locations_.outermost(number);
        message_.cut(0);
        char fields[3 * longest_field];
        char* end = put_field(fields, location::id, number);
        end = put_field(end, location::mapping_id, mapping_of(outermost));
        end = put_field(end, location::address, outermost.address);
        message_ << text_up_to(end, fields);
        locations_.for_each_frame(number,
                                  [this](const snapshot::frame& each) { write_line(each); });
        write_field(out_, profile::location, message_.view());
        pieces_.may_go();
    }

    void write_function(std::uint32_t number, const function_key& key) {
        using namespace pprof_field;
        message_.cut(0);
        write_field(message_, function::id, number);
        write_field(message_, function::name, key.name);
        // system_name stays empty: if it equals the name, pprof demangles the name again.
        write_field(message_, function::filename, key.file);
        write_field(out_, profile::function, message_.view());
        pieces_.may_go();
    }

    void write_mapping(std::size_t index) {
        using namespace pprof_field;
        const mapping& here = mappings_[index];
        message_.cut(0);
        write_field(message_, pprof_field::mapping::id, index + 1);
        write_field(message_, pprof_field::mapping::memory_start, here.module.address);
        write_field(message_, pprof_field::mapping::memory_limit,
                    here.module.address + here.module.size);
        write_field(message_, pprof_field::mapping::filename, printable_string(here.module.path));
        write_field(message_, pprof_field::mapping::build_id, string(here.module.build_id));
        write_field(message_, pprof_field::mapping::has_functions, here.has_functions ? 1 : 0);
        write_field(message_, pprof_field::mapping::has_filenames, here.has_files ? 1 : 0);
        write_field(message_, pprof_field::mapping::has_line_numbers, here.has_lines ? 1 : 0);
        write_field(message_, pprof_field::mapping::has_inline_frames, here.has_inlined ? 1 : 0);
        write_field(out_, profile::mapping, message_.view());
    }

    void write_comments() {
        for_each_summary_line(job_, sum_, [this](const text& line) {
            write_field(out_, pprof_field::profile::comment, string(copy_of(job_.memory, line)));
        });
    }

    format_job& job_;
    piecewise_text& pieces_;
    text_out& out_;
    location_book locations_;
    text_numbers strings_;
    table<by_bytes<function_key>, std::uint32_t> functions_;
    table<by_bytes<function_address>, std::uint32_t> functions_by_address_;
    list<mapping> mappings_;
    list<text> thread_labels_;
    stack_numbers sum_;
    list<char> numbers_;  // room for the numbers of a sample's locations
    text_out message_;
    text_out inner_;
    std::uint64_t type_key_ = 0;
    const char* last_type_ = nullptr;
    text_out type_label_;  // of that type
    mutable const char* last_module_ = nullptr;
    mutable std::size_t last_mapping_ = 0;
};

inline bool write_pprof_body(format_job& job) {
    if (!has_stacks_to_write(job)) return false;
    gzip_stream zipped{job.memory, job.pieces};
    piecewise_text raw{job.memory, &gzip_stream::put_piece, &zipped};
    pprof_profile{job, raw}.write();
    raw.finish();
    zipped.finish();
    return true;
}

}  // namespace detail

// Writes to a path, a descriptor, a FILE* or a stream, like write_text(); throws report_error.
template <class Target>
void write_pprof(const snapshot& rows, Target&& target) {
    detail::write_or_throw(detail::write_pprof_body, rows, target);
}
// The same without exceptions: returns false, with the reason in `error`.
template <class Target>
bool write_pprof(const snapshot& rows, Target&& target, std::string& error) {
    return detail::try_write(detail::write_pprof_body, rows, target, error);
}

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_FORMATS_PPROF_FORMAT_HPP

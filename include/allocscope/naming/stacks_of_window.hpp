// stacks_of_window.hpp - all stacks of a window; their names are found when somebody asks.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   through snapshot_data::stacks, by snapshot::stacks() and snapshot::modules()
// Threads:  any; one at a time, under the naming lock
// Memory:   184 bytes for each stack; the names are in the name book
//
//     rows of stats()      stacks with live objects; their names are found at once
//     snapshot::stacks()   these, and the stacks whose objects have all been freed
//
// A window that has been open for long has many more stacks of the second kind than of the first,
// and most users of stats() never ask for them. So their names are found later.

#ifndef ALLOCSCOPE_NAMING_STACKS_OF_WINDOW_HPP
#define ALLOCSCOPE_NAMING_STACKS_OF_WINDOW_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/live_window.hpp>
#include <allocscope/naming/name_book.hpp>
#include <allocscope/naming/process_names.hpp>
#include <allocscope/naming/threads_of_window.hpp>
#include <allocscope/places/shorten_paths.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/snapshot/estimates.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/snapshot/snapshot_block.hpp>
#include <allocscope/snapshot/stack_order.hpp>
#include <allocscope/windows/uncharged_work.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint64_t, uintptr_t

ALLOCSCOPE_COLD_BEGIN

namespace detail {

// The path of a file and the name for it in the rows.
struct file_name {
    const char* path;
    const char* file;
};

// What is kept of a window until somebody asks for its stacks. It all lies in the snapshot's block.
struct kept_stacks {
    list<live_site> sites;     // with live objects
    list<named_stack*> names;  // of these
    list<live_site> gone;
    list<live_part> parts;
    list<snapshot::stack_details> details;
    list<std::uintptr_t> frames;
    list<file_name> files;
    std::uint32_t stack_frames;  // options::stack_frames
    bool is_sampled;
};

// --- files ---

// Names of files, consistent with the rows: the directory that the rows cut off is cut off here,
// too. A path outside of that directory stays whole.
class files_like_rows {
public:
    files_like_rows(const list<file_name>& known, const list<named_stack*>& others, arena& memory)
        : files_(memory) {
        for (const file_name& each : known) {
            const text path = each.path;
            const text file = each.file;
            files_[path] = file;
            if (path.ends_with(file)) cut_of(path) = path.substr(0, path.size() - file.size());
        }
        if (!files_.empty()) return;
        list<text> names{memory};
        for (const named_stack* stack : others) {
            if (files_.insert(stack->path).is_new) names.push_back(stack->path);
        }
        symbolize::shorten_paths(memory, names);
        std::size_t at = 0;
        for (auto& each : files_) each.value = names[at++];
    }

    text operator()(const text& path) {
        if (const text* known = files_.find(path)) return *known;
        const text cut = cut_of(path);
        return path.starts_with(cut) ? path.substr(cut.size()) : path;
    }

private:
    ALLOCSCOPE_INLINE text& cut_of(const text& path) noexcept {
        return cuts_[path.starts_with("/") ? 1 : 0];
    }

    table<text, text> files_;
    text cuts_[2];  // of relative paths and of absolute paths
};

// --- stacks ---

inline snapshot::stack stack_of(const live_site& site, const named_stack& named, const char* file,
                                const kept_stacks& kept) noexcept {
    snapshot::stack made{};
    show_stack(made, named, file, site.frame_count, kept.stack_frames);
    made.objects = site.objects;
    made.bytes = site.bytes;
    made.allocations = site.allocations;
    made.bytes_allocated = site.bytes_allocated;
    if (kept.is_sampled) {
        set_estimates(made, *site.samples);
    } else {
        set_exact(made);
    }
    return made;
}

// --- modules ---

inline const char* text_of(arena& memory, const build_id& id) {
    text_out out{memory};
    for (std::size_t i = 0; i < id.size; ++i) {
        out << "0123456789abcdef"[id.bytes[i] >> 4U] << "0123456789abcdef"[id.bytes[i] & 15U];
    }
    return out.c_str();
}

// Adds the modules of frames, in the order of the loader, which begins with the program.
inline void add_modules(list<snapshot::module>& modules, name_book& book,
                        const list<snapshot::stack>& stacks, arena& scratch) {
    table<text, bool> met{scratch};
    for (const snapshot::stack& stack : stacks) {
        for (std::size_t i = 0; i < stack.frame_count; ++i) met[stack.frames[i].module];
    }
    book.for_each_module(
        [&](const text& path, std::uint64_t base, std::uint64_t size, const build_id& id) {
            bool* const is_wanted = met.find(path);
            if (is_wanted == nullptr || *is_wanted) return;
            *is_wanted = true;  // and is loaded now
            modules.push_back({book.keep(path), text_of(modules.memory(), id), base, size});
        });
}

// --- all together ---

inline void let_go_of_book(void* book) {
    drop_book(*static_cast<name_book*>(book));
}

inline void name_all(const kept_stacks& kept, name_book& book, std::uint64_t process_id,
                     later_stacks& made) {
    arena scratch;
    book.refresh();
    book.forget_new();
    list<named_stack*> gone{scratch};
    for (const live_site& site : kept.gone) {
        gone.push_back(&name_stack(book, stack_of(site, kept.frames.data() + site.first_frame)));
        named_stack& named = *gone.back();
        if (!named.depends_on_size()) continue;
        const sample_block mean{
            0, mean_bytes(site.bytes_allocated, site.allocations, kept.is_sampled)};
        if (mean.bytes != 0) book.settle_type(named, &mean, 0, 0);
    }
    files_like_rows file_of{kept.files, gone, scratch};
    list<snapshot::stack> stacks{made.memory};
    stacks.reserve(kept.sites.size() + kept.gone.size());
    threads_of_window threads{made.memory, scratch, process_id};
    threads.meet(kept.sites, kept.parts.data());
    threads.meet(kept.gone, kept.parts.data());
    threads.name_them();
    const auto add = [&](const list<live_site>& sites, const list<named_stack*>& names) {
        for (std::size_t i = 0; i < sites.size(); ++i) {
            const live_site& site = sites[i];
            const named_stack& named = *names[i];
            const char* file = named.path[0] != '\0' ? book.keep(file_of(named.path)) : named.place;
            snapshot::stack& stack = stacks.push_back(stack_of(site, named, file, kept));
            threads.add_to(stack, site, kept.parts.data(), kept.is_sampled, kept.details.data());
            if (site.details != 0) stack.details = kept.details.data() + site.details - 1;
        }
    };
    add(kept.sites, kept.names);
    add(kept.gone, gone);
    sort_stacks(stacks, scratch, false);
    list<snapshot::module> modules{made.memory};
    add_modules(modules, book, stacks, scratch);
    book.rest();
    made.table = {stacks.data(),  stacks.size(),        modules.data(),
                  modules.size(), threads.all().data(), threads.all().size()};
    hold_book(book);
    made.kept = {&book, &let_go_of_book};
}

inline void find_stacks_of_window(const snapshot_data& of, const void* source, later_stacks& made) {
    const uncharged_work meanwhile;
    names_at_work names;
    name_all(*static_cast<const kept_stacks*>(source), names.book(), of.info.process_id, made);
    names.done();
}

}  // namespace detail

ALLOCSCOPE_COLD_END

#endif  // ALLOCSCOPE_NAMING_STACKS_OF_WINDOW_HPP

// stack_namer.hpp - finds the names of a stack: its frames, its place and its type.
//
// Room:     naming (floor 10), not malloc-safe
// Called:   by naming/name_book.hpp, once for each stack
// Threads:  one at a time, under the naming lock
// Memory:   results, in the arena of the book; until rest() some hundred bytes for each address and
//           function of the stacks of a report
//
// Most stacks of a report differ only in their innermost frames:
//
//     work_7 <- unit_0 <- main <- __libc_start_call_main       each address is looked up once, and
//     work_8 <- unit_0 <- main <- __libc_start_call_main       the results for it are copied

#ifndef ALLOCSCOPE_NAMING_STACK_NAMER_HPP
#define ALLOCSCOPE_NAMING_STACK_NAMER_HPP

#include <allocscope/base/compiler.hpp>
#include <allocscope/naming/book_texts.hpp>
#include <allocscope/naming/described_types.hpp>
#include <allocscope/naming/named_stack.hpp>
#include <allocscope/naming/stack_modules.hpp>
#include <allocscope/places/closing_bracket.hpp>
#include <allocscope/places/frame_rule.hpp>
#include <allocscope/places/initialised_member.hpp>
#include <allocscope/places/known_frames.hpp>
#include <allocscope/places/library_files.hpp>
#include <allocscope/places/module_rule.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/list.hpp>
#include <allocscope/plain/table.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/snapshot/snapshot.hpp>
#include <allocscope/source/source_cache.hpp>
#include <allocscope/state/process_state.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/symbolizer.hpp>
#include <allocscope/types/coroutine_frame.hpp>
#include <allocscope/types/exception_pool.hpp>
#include <allocscope/types/library_calls.hpp>
#include <allocscope/types/only_new.hpp>
#include <allocscope/types/read_names.hpp>
#include <allocscope/types/short_type.hpp>
#include <allocscope/types/type_ladder.hpp>
#include <allocscope/types/wrapped_request.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t, uintptr_t
#include <cstring>  // memcpy

ALLOCSCOPE_COOL_BEGIN

namespace detail {

class stack_namer {
public:
    // All arguments must outlive this object. The symbolizer keeps its texts in `kept`.
    stack_namer(arena& kept, arena& scratch, symbolize::symbolizer& symbols,
                book_texts& texts) noexcept
        : kept_(kept), scratch_(scratch), symbols_(symbols), texts_(texts) {}
    stack_namer(const stack_namer&) = delete;
    stack_namer& operator=(const stack_namer&) = delete;

    // Sets everything that depends only on the stack. Its hash, modules, tag and rule are already
    // set.
    void name(named_stack& stack, const known_stack& asked, const stack_modules& modules,
              const symbolize::frame_rule& rule) {
        const borrowed_memory meanwhile{scratch_};
        list<code_frame> frames{scratch_};
        list<const met_address*> owners{scratch_};     // of each frame
        frames.reserve(asked.count * std::size_t{2});  // more if more calls were inlined
        owners.reserve(asked.count * std::size_t{2});
        gather(stack, asked, modules, frames, owners);
        const symbolize::wrapped_request request = symbolize::find_wrapped_request(
            names_, frames, symbolize::asking_frame(names_, frames), sources_);
        const std::size_t asking = request.frame;
        stack.asking_frame = static_cast<std::uint16_t>(asking);
        find_place(stack, frames, owners, rule);
        text coroutine;
        if (asking < frames.size()) {
            coroutine = symbolize::coroutine_frame(scratch_, frames[asking], sources_);
        }
        if (stack.user_frame < frames.size()) {
            leave_closing_brace(frames, owners, stack.user_frame);
        }
        snapshot::frame* const kept = keep_frames(stack, frames, owners);
        const std::uint16_t told[] = {stack.asking_frame, stack.user_frame};
        text files[2];
        for (int i = 0; i < 2; ++i) {
            if (told[i] < frames.size()) files[i] = frames[told[i]].file;
        }
        find_type(stack, frames, owners, request, coroutine);
        if (stack.user_frame < frames.size()) {
            code_frame& frame = frames[stack.user_frame];
            const symbolize::found_token initialiser =
                symbolize::find_initialiser(scratch_, frames, stack.user_frame, sources_);
            symbolize::leave_last_token(frame, sources_);
            if (initialiser.at != 0) {
                frame.line = initialiser.file->tokens()[initialiser.at].line;
                frame.column = 0;
                frame.file = initialiser.file->path;
            }
        }
        // The source may have given these frames another line, perhaps in another file.
        for (int i = 0; i < 2; ++i) {
            if (told[i] >= frames.size()) continue;
            code_frame& frame = frames[told[i]];
            kept[told[i]].line = frame.line;
            kept[told[i]].column = frame.column;
            // A path of the sources is given back with them.
            frame.file = frame.file == files[i] ? files[i] : text{texts_.keep(frame.file)};
            if (frame.file != files[i]) kept[told[i]].file = texts_.tidy_path(frame.file);
        }
        if (stack.user_frame < frames.size()) {
            place(stack, frames[stack.user_frame], *owners[stack.user_frame]->location);
        }
    }

    void set_type(named_stack& stack, const symbolize::type_answer& answer) {
        const char* name = answer.is_known() ? texts_.keep(answer.name) : named_stack::no_type;
        stack.type = answer.is_known() ? printed_type(stack, name) : named_stack::no_type;
        stack.kept_answer = answer.candidate.empty()
                                ? name
                                : texts_.keep(joined(scratch_, name, "\n", answer.candidate));
        stack.evidence = answer.evidence;
        stack.is_array = answer.is_array;
    }
    // The answer that set_type() was given.
    static symbolize::type_answer answer_of(const named_stack& stack) {
        const text kept = stack.kept_answer;
        const std::size_t end = kept.find('\n');
        symbolize::type_answer answer{kept.substr(0, end), stack.evidence, stack.is_array};
        if (end != text::npos) answer.candidate = kept.substr(end + 1);
        return answer;
    }

    // Frees what was read: it is not needed until the next new stack.
    void rest() {
        sources_.release();
        names_.clear();
        addresses_ = table<std::uint64_t, met_address*>{meanwhile_};
        last_ = list<met_address*>{meanwhile_};
        short_types_ = table<by_bytes<type_in_unit>, const char*>{meanwhile_};
        meanwhile_.release();
    }

private:
    using code_frame = symbolize::code_frame;
    using code_location = symbolize::code_location;

    // An address that stacks of this report have, and what rows show for it.
    struct met_address {
        const code_location* location;
        const met_module* home;
        symbolize::frame_owner owner;
        std::size_t frame_count;
        snapshot::frame* frames;
        // What stands for an address of the function that begins at `callee` in this call.
        std::uint64_t callee;
        const met_address* folded;  // null: that function itself, whatever the address
        // The answer of jumped_from() for `jumps_to`; of a function that jumped, the one around it.
        const met_address* jumped;
        const code_location* jumps_to;
        bool is_asked_for_jump;
    };

    static constexpr std::uint64_t first_key = std::uint64_t{1} << 48U;  // as in the symbolizer
    static constexpr std::uint64_t not_asked = 1;                        // where no function begins
    static constexpr std::size_t no_frame = ~std::size_t{0};

    // --- frames ---

    void gather(named_stack& stack, const known_stack& asked, const stack_modules& modules,
                list<code_frame>& frames, list<const met_address*>& owners) {
        const std::size_t before = last_.size();
        list<met_address*> addresses{scratch_};
        addresses.resize(asked.count);
        std::size_t shared = 0;  // the number of outermost frames that are shared
        while (shared < before && shared < asked.count) {
            met_address* const same = last_[before - 1 - shared];
            const auto at = asked.count - 1 - static_cast<std::uint32_t>(shared);
            if (same->location->address != asked.addresses[at] - 1 || same->home != modules[at])
                break;
            addresses[at] = same;
            ++shared;
        }
        for (std::uint32_t i = 0; i + shared < asked.count; ++i) {
            addresses[i] = &met(asked.addresses[i] - 1, modules[i], i + outermost < asked.count);
        }
        last_.clear();
        last_.append(addresses);
        keep_homes(stack, asked, modules);
        const met_address* inner = nullptr;
        std::size_t inner_at = 0;  // its first frame
        folded_at_ = no_frame;
        bool is_own = false;  // there is a line that is not the library's
        for (met_address* const each : addresses) {
            if (each->location->is_unloaded) stack.is_lasting = false;  // its file may come back
            const met_address* jumped = is_own ? nullptr : jumped_from(*each, inner);
            for (; jumped != nullptr; jumped = jumped->jumped) {
                inner = jumped;
                inner_at = frames.size();
                add_frames(*jumped, frames, owners);
                is_own = has_own_line(frames);
            }
            const met_address* const folded = is_own ? nullptr : folded_by(*each, inner);
            if (folded != nullptr) rename(frames, owners, inner_at, *folded);
            is_own = is_own || has_own_line(frames);
            inner = each;
            inner_at = frames.size();
            add_frames(*each, frames, owners);
        }
    }

    // Puts a frame in place of those from `at` on. If that function asked for the memory, its
    // source may tell where.
    void rename(list<code_frame>& frames, list<const met_address*>& owners, std::size_t at,
                const met_address& folded) {
        const std::size_t asking = symbolize::asking_frame(names_, frames);
        const bool is_own = asking + 1 >= frames.size();
        const bool is_asking =
            is_own || (asking >= at && frames[asking].file == folded.location->frames[0].file);
        const code_frame kept = frames.back();
        frames.cut(at);
        owners.cut(at);
        add_frames(folded, frames, owners);
        code_frame& frame = frames.back();
        const bool is_in_other_unit = frame.is_nearby;  // where its names may mean something else
        frame.is_nearby = true;                         // has no type
        asked_place asked{
            symbols_, folded.location->address, folded.home, frame.function, frame.file, true};
        if (is_asking) symbolize::find_only_new(names_, frame, sources_, asked.knowledge(), is_own);
        if (frame.is_nearby) symbolize::stay_in_template(names_, frame, kept, sources_);
        frame.is_nearby = frame.is_nearby || is_in_other_unit;
        folded_at_ = at;
    }

    static void add_frames(const met_address& from, list<code_frame>& frames,
                           list<const met_address*>& owners) {
        if (from.location->frames.empty()) frames.push_back({});
        frames.append(from.location->frames);
        for (std::size_t n = 0; n < from.frame_count; ++n) owners.push_back(&from);
    }
    static bool has_own_line(const list<code_frame>& frames) {
        for (const code_frame& frame : frames) {
            if (frame.line != 0 && !symbolize::is_standard_header(frame.file)) return true;
        }
        return false;
    }

    // What `inner` stands for, which is called; null: for itself. See folded_functions.hpp.
    const met_address* folded_by(met_address& call, const met_address* inner) {
        if (inner == nullptr) return nullptr;
        const code_location& at = *call.location;
        const code_location& in = *inner->location;
        const bool has_lines = !at.frames.empty() && at.frames.back().line != 0;
        if (!has_lines || at.is_unloaded || in.module.data() != at.module.data()) return nullptr;
        const std::uint64_t callee = in.module_offset - in.symbol_offset;
        const bool is_same = call.folded == nullptr || call.folded->location->address == in.address;
        if (call.callee == callee && is_same) return call.folded;
        call.callee = callee;
        const code_location* folded = symbols_.folded_at(at.address + 1, in, call.home);
        call.folded = folded != nullptr ? &made_of(*folded, inner->home) : nullptr;
        return call.folded;
    }

    // The functions that were called here and have left by jumps, the last one to `inner` (null: to
    // a function that allocates): the innermost; each leads to the one around it. Null: there are
    // none, or it is not certain. Functions of the standard library are left out: linkers and
    // compilers keep one of several with equal code, and the name may be that of another. The
    // frames count as inlined, because the stack has no return addresses for them.
    const met_address* jumped_from(met_address& call, const met_address* inner) {
        const code_location& at = *call.location;
        const code_location* const to = inner != nullptr ? inner->location : nullptr;
        const bool has_lines = !at.frames.empty() && at.frames.back().line != 0;
        if (!has_lines || at.is_unloaded) return nullptr;
        if (call.is_asked_for_jump && call.jumps_to == to) return call.jumped;
        call.is_asked_for_jump = true;
        call.jumps_to = to;
        call.jumped = nullptr;
        list<symbolize::symbolizer::jump_place> places{scratch_};
        const bool is_by_pointer = symbols_.find_jumps(at.address + 1, to, call.home, places);
        if (is_by_pointer && to != nullptr && !to->frames.empty() &&
            symbolize::is_member_of_container(names_.of(to->frames.back().function).call)) {
            const std::uint64_t behind = symbols_.only_jump_to(at.address + 1, *to, call.home);
            if (behind != 0) places.push_back({behind, call.home});
        }
        for (const symbolize::symbolizer::jump_place& each : places) {
            const code_location& location = symbols_.resolve(each.behind - 1, each.home);
            if (!has_own_line(location.frames)) continue;
            met_address& jumped = made_of(location, each.home);
            jumped.frames[jumped.frame_count - 1].is_inlined = true;
            jumped.jumped = call.jumped;
            call.jumped = &jumped;
        }
        return call.jumped;
    }

    // This many outer addresses, main() and its callers, are the same in nearly all stacks.
    static constexpr std::uint32_t outermost = 4;

    met_address& met(std::uintptr_t address, const met_module* home, bool is_passing) {
        using lifetime = symbolize::symbolizer::lifetime;
        const auto known =
            addresses_.insert(address | (home != nullptr ? home->number * first_key : 0));
        if (!known.is_new) return *known.value;
        const code_location& location = symbols_.resolve(
            address, home, is_passing ? lifetime::until_release : lifetime::lasting);
        known.value = &made_of(location, home);
        return *known.value;
    }

    met_address& made_of(const code_location& location, const met_module* home) {
        auto* made = meanwhile_.make<met_address>();
        made->location = &location;
        made->home = home;
        made->owner = owner_of(location);
        symbolize::nameless_function nameless;
        const auto find_nameless = symbolize::readers_of_rare_forms.find_nameless;
        if (find_nameless != nullptr && location.frames.empty()) {
            nameless = find_nameless(symbols_, location, home);
            made->owner.hands_on = nameless.hands_on;
            made->owner.is_library = nameless.is_library;
        }
        made->callee = not_asked;
        made->folded = nullptr;
        made->is_asked_for_jump = false;
        made->jumped = nullptr;
        made->frame_count = location.frames.empty() ? 1 : location.frames.size();
        made->frames = static_cast<snapshot::frame*>(
            meanwhile_.allocate(made->frame_count * sizeof(snapshot::frame)));
        const code_frame none;
        for (std::size_t i = 0; i < made->frame_count; ++i) {
            const bool has_name = !location.frames.empty();
            const code_frame& frame = has_name ? location.frames[i] : none;
            made->frames[i] = {
                has_name ? texts_.pretty_function(frame.function) : texts_.keep(nameless.name),
                frame.file.data(),
                frame.line,
                frame.column,
                frame.is_inlined,
                location.address,
                location.module.data(),
                location.module_offset};
        }
        return *made;
    }

    symbolize::frame_owner owner_of(const code_location& location) {
        const auto known = owners_.insert(location.module.data());
        if (known.is_new) {
            known.value = symbolize::owner_of(location.module, location.is_unloaded,
                                              symbols_.is_program(location.module));
        }
        return known.value;
    }

    // Most stacks go through the same modules, so they share one list.
    void keep_homes(named_stack& stack, const known_stack& asked, const stack_modules& modules) {
        list<const met_module*> homes{scratch_};
        for (std::uint32_t i = 0; i < asked.count; ++i) {
            const met_module* const home = modules[i];
            if (home != nullptr && (homes.empty() || homes.back() != home)) homes.push_back(home);
        }
        if (homes.empty()) return;
        const std::size_t bytes = homes.size() * sizeof *homes.data();
        if (last_homes_ == nullptr || last_homes_->size() != homes.size() ||
            std::memcmp(last_homes_->data(), homes.data(), bytes) != 0) {
            last_homes_ = kept_.make<list<const met_module*>>(kept_);
            last_homes_->append(homes);
        }
        stack.homes = last_homes_;
    }

    snapshot::frame* keep_frames(named_stack& stack, const list<code_frame>& frames,
                                 const list<const met_address*>& owners) {
        auto* kept =
            static_cast<snapshot::frame*>(kept_.allocate(frames.size() * sizeof(snapshot::frame)));
        for (std::size_t i = 0; i < frames.size(); i += owners[i]->frame_count) {
            std::memcpy(kept + i, owners[i]->frames,
                        owners[i]->frame_count * sizeof(snapshot::frame));
        }
        stack.frames = kept;
        stack.frame_count = static_cast<std::uint16_t>(frames.size());
        return kept;
    }

    // --- place ---

    void leave_closing_brace(list<code_frame>& frames, const list<const met_address*>& owners,
                             std::size_t at) {
        if (!symbolize::is_at_closing_brace(scratch_, frames, at, sources_)) return;
        const met_address& owner = *owners[at];
        std::size_t outer = 0;
        while (at + outer + 1 < owners.size() && owners[at + outer + 1] == &owner) ++outer;
        outer %= owner.frame_count;  // a recursion has the address several times
        std::uint64_t address = owner.location->address;
        symbolize::debug_object* const object = symbols_.object_at(address, owner.home);
        if (object == nullptr) return;
        symbolize::leave_closing_brace(scratch_, frames[at],
                                       object->lines_near(address, frames[at], outer), sources_);
    }

    // See places/module_rule.hpp.
    void find_place(named_stack& stack, const list<code_frame>& frames,
                    const list<const met_address*>& owners, const symbolize::frame_rule& rule) {
        list<symbolize::frame_owner> modules{scratch_};
        modules.reserve(owners.size());
        for (const met_address* owner : owners) modules.push_back(owner->owner);
        const symbolize::asked_stack asked{scratch_,      frames,   modules,           rule,
                                           known_frames_, sources_, stack.asking_frame};
        const std::size_t maker = symbolize::maker_frame(asked);
        stack.maker_frame = static_cast<std::uint16_t>(maker);
        stack.user_frame = static_cast<std::uint16_t>(
            symbolize::user_frame_by_module(asked, {&stack_namer::own_folder, this}, maker));
    }

    // Found when a row might be placed in a library, and then kept.
    static text own_folder(void* names) {
        auto& self = *static_cast<stack_namer*>(names);
        if (self.own_folder_ == nullptr) {
            const text file = self.symbols_.file_of_main();
            self.own_folder_ = symbolize::own_folder_of(self.kept_, file).data();
        }
        return self.own_folder_;
    }

    void place(named_stack& stack, const code_frame& frame, const code_location& location) {
        if (frame.line != 0 && !frame.file.empty()) stack.path = texts_.tidy_path(frame.file);
        if (stack.path[0] != '\0') {
            stack.number = static_cast<std::uint64_t>(frame.line);
        } else if (!location.symbol.empty()) {
            const text symbol = texts_.pretty_function(location.symbol);
            stack.place = texts_.keep(
                symbols_.is_program(location.module)
                    ? symbol
                    : joined(scratch_, symbolize::file_name_of(location.module), "!", symbol));
            stack.number = location.symbol_offset;
        } else {
            stack.place = texts_.keep(symbolize::file_name_of(location.module));
            stack.number = location.module_offset;
        }
    }

    // --- type ---

    // What the module of a folded function calls is named after the function that was kept.
    bool is_named_after_other(const list<const met_address*>& owners, std::size_t asking) const {
        return folded_at_ != no_frame && asking < folded_at_ &&
               owners[asking]->location->module.data() ==
                   owners[folded_at_]->location->module.data();
    }

    static bool is_for_exceptions(const list<code_frame>& frames,
                                  const list<const met_address*>& owners) noexcept {
        return frames.size() > 1 &&
               symbolize::is_exception_pool(frames[0].function, owners[0]->location->module,
                                            owners[1]->location->module);
    }

    // `name` is a text of the book.
    const char* printed_type(const named_stack& stack, const char* name) {
        const char* const whole = texts_.printed_type(name);
        if (!symbolize::may_be_shorter(whole)) return whole;
        const symbolize::type_names* known =
            described_types_at(symbols_, stack, stack.asking_address());
        if (known == nullptr) return whole;
        const char*& type = short_types_[{{known, whole}}];
        if (type == nullptr) {
            type = texts_.keep(symbolize::short_type(scratch_, whole, *known));
        }
        return type;
    }

    void find_type(named_stack& stack, list<code_frame>& frames,
                   const list<const met_address*>& owners,
                   const symbolize::wrapped_request& request, const text& coroutine) {
        asked_place asked{symbols_, 0, nullptr};
        if (stack.asking_frame < frames.size()) {
            asked.address = owners[stack.asking_frame]->location->address;
            asked.function = frames[stack.asking_frame].function;
            asked.file = frames[stack.asking_frame].file;
            asked.is_folded = stack.asking_frame == folded_at_;
            if (stack.homes != nullptr) {
                for (const met_module* home : *stack.homes) {
                    if (home->holds(asked.address)) asked.home = home;
                }
            }
        }
        symbolize::type_answer type =
            symbolize::type_from_tag(scratch_, process.tags.type_of(stack.tag));
        if (!type.is_known() && !is_named_after_other(owners, stack.asking_frame)) {
            type = symbolize::name_type(names_, frames, request, sources_, asked.knowledge());
        }
        if (!type.is_known() && !coroutine.empty()) {
            type = {coroutine, symbolize::type_evidence::source_text, true};
        }
        if (!type.is_known() && is_for_exceptions(frames, owners)) {
            type = {symbolize::exception_pool, symbolize::type_evidence::make_frame, true};
        }
        set_type(stack, type);
        // A type from the source may lack its namespaces; a vtable has them.
        if (!type.is_open()) stack.told_by_objects = named_stack::told::all;
    }

    arena& kept_;
    arena& scratch_;
    symbolize::symbolizer& symbols_;
    book_texts& texts_;
    arena meanwhile_;  // until rest()
    symbolize::source_cache sources_;
    symbolize::read_names names_{meanwhile_};
    table<std::uint64_t, met_address*> addresses_{meanwhile_};
    list<met_address*> last_{meanwhile_};  // of the last stack that was named
    table<by_bytes<type_in_unit>, const char*> short_types_{meanwhile_};  // as rows print them
    std::size_t folded_at_ = no_frame;  // its frame that stands for another function
    list<const met_module*>* last_homes_ = nullptr;
    symbolize::known_frames known_frames_{kept_};
    table<const void*, symbolize::frame_owner> owners_{kept_};  // by the module's path, a kept text
    const char* own_folder_ = nullptr;                          // "": there is none
};

}  // namespace detail

ALLOCSCOPE_COOL_END

#endif  // ALLOCSCOPE_NAMING_STACK_NAMER_HPP

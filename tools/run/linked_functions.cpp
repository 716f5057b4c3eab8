// A call of a function of another module, or in code that was compiled with -fPIC, goes through a
// word that the loader fills:
//
//     call  make_item@plt  ->  .plt: jmp *word  ->  word: relocation with the symbol "make_item"
//     call *word(%rip)                              the same without a stub (-fno-plt)
//
// The process is gone, and what was in the word with it. But the loader takes the first module that
// defines the symbol. So it is certain which one that was if only one does. All modules with which
// the program began are known, but of those that were loaded later only those on some stack. The
// loader looks into the former first, and then, for a call in one of the latter, into that itself.
// So only these are believed.
#include "linked_functions.hpp"

#include <allocscope/binary/byte_cursor.hpp>
#include <allocscope/binary/elf_image.hpp>
#include <allocscope/binary/elf_symbols.hpp>
#include <allocscope/binary/late_bytes.hpp>
#include <allocscope/plain/arena.hpp>
#include <allocscope/plain/text.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/symbols/demangle.hpp>
#include <allocscope/symbols/module_functions.hpp>
#include <allocscope/symbols/object_bytes.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/symbolizer.hpp>
#include <allocscope/symbols/written_link.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

namespace allocscope_tools {

namespace {

using namespace allocscope::symbolize;
using allocscope::detail::arena;
using allocscope::detail::byte_cursor;
using allocscope::detail::byte_view;
using allocscope::detail::elf_section;
using allocscope::detail::late_bytes;
using allocscope::detail::met_module;
using allocscope::detail::text;

constexpr std::uint64_t unknown_address = ~std::uint64_t{0};

// What a module defines for others, and what it takes from them.
class dynamic_symbols {
public:
    explicit dynamic_symbols(const object_bytes& object) {
        const elf_section* const section = object.find(".dynsym");
        const elf_section* const hash = object.find(".gnu.hash");
        if (section == nullptr || hash == nullptr || section->link >= object.sections().size()) {
            return;
        }
        symbols_ = read(object, section, late_symbols_);
        names_ = read(object, &object.sections()[section->link].section, late_names_);
        hash_ = object.read(memory_, hash);
        read_words(object);
        for (const named_section& each : object.sections()) {
            const text name = each.name;
            if (name.starts_with(".plt")) {
                stubs_[each.section.address] = object.read(memory_, &each.section);
            }
        }
    }
    dynamic_symbols(const dynamic_symbols&) = delete;
    dynamic_symbols& operator=(const dynamic_symbols&) = delete;

    // The symbol whose address the loader writes into a word; "": it is not known.
    text symbol_of_word(std::uint64_t address) const {
        const auto found = words_.find(address);
        return found != words_.end() ? name_of(found->second) : text{};
    }

    // The word that a stub takes its target from; 0: there is no stub that is known.
    std::uint64_t word_of_stub(std::uint64_t address) const {
        const auto behind = stubs_.upper_bound(address);
        if (behind == stubs_.begin()) return 0;
        const auto section = std::prev(behind);
        const byte_view code = section->second.from(address - section->first);
        unsigned char stub[longest_stub] = {};
        if (!code.empty()) std::memcpy(stub, code.data, std::min(code.size, sizeof stub));
        return allocscope::symbolize::word_of_stub(stub, address);
    }

    // The linked address of a function; 0: the module does not define it; unknown_address: it may
    // be one of several, or none.
    std::uint64_t address_of(text name) const {
        std::uint64_t found = hash_.empty() ? unknown_address : 0;
        each_of_name(name, [&](const allocscope::detail::elf_symbol& symbol) {
            using kind = allocscope::detail::elf_symbol_kind;
            const bool is_certain = symbol.kind == kind::function || symbol.kind == kind::none;
            if (!is_certain || (found != 0 && found != symbol.address)) {
                found = unknown_address;
            } else {
                found = symbol.address;
            }
        });
        return found;
    }

private:
    static constexpr std::uint64_t symbol_bytes = allocscope::detail::elf_symbol_bytes;

    byte_view read(const object_bytes& object, const elf_section* section, late_bytes*& late) {
        return object.read(memory_, section, object_bytes::largest_read, &late);
    }

    // A word may have an addend, which is zero where a function is called.
    void read_words(const object_bytes& object) {
        constexpr std::uint32_t word_of_data = 6;   // R_X86_64_GLOB_DAT
        constexpr std::uint32_t word_of_calls = 7;  // R_X86_64_JUMP_SLOT
        constexpr std::uint64_t entry_bytes = 24;
        for (const char* name : {".rela.plt", ".rela.dyn"}) {
            arena meanwhile;
            byte_cursor in{object.read(meanwhile, object.find(name))};
            while (in.remaining() >= entry_bytes) {
                const std::uint64_t word = in.u64();
                const std::uint32_t kind = in.u32();
                const std::uint32_t symbol = in.u32();
                in.skip(8);
                if (kind == word_of_data || kind == word_of_calls) words_[word] = symbol;
            }
        }
    }

    text name_of(std::uint64_t symbol) const {
        allocscope::detail::want(late_symbols_, symbol * symbol_bytes, symbol_bytes);
        byte_cursor in{symbols_.part(symbol * symbol_bytes, symbol_bytes)};
        return text_of(in.u32());
    }

    text text_of(std::uint32_t at) const {
        allocscope::detail::want_text(late_names_, names_, at, allocscope::detail::longest_text);
        return allocscope::detail::text_at(names_, at);
    }

    // Visits the symbols that are defined here and have this name, as the loader finds them.
    template <class Visit>
    void each_of_name(text name, const Visit& visit) const {
        std::uint32_t wanted = 5381;
        for (const char each : name) wanted = wanted * 33 + static_cast<unsigned char>(each);
        byte_cursor head{hash_};
        const std::uint32_t bucket_count = head.u32();
        const std::uint32_t first = head.u32();
        const std::uint64_t buckets = 16 + 8 * std::uint64_t{head.u32()};
        if (!head.ok() || bucket_count == 0) return;
        std::uint64_t index = word_of_hash(buckets + 4 * std::uint64_t{wanted % bucket_count});
        if (index < first) return;
        const std::uint64_t hashes = buckets + 4 * std::uint64_t{bucket_count};
        for (;; ++index) {
            byte_cursor at{hash_, hashes + 4 * (index - first)};
            const std::uint32_t hash = at.u32();
            if (!at.ok()) return;
            if (((hash ^ wanted) >> 1U) == 0) visit_if_named(index, name, visit);
            if ((hash & 1U) != 0) return;
        }
    }

    std::uint32_t word_of_hash(std::uint64_t offset) const {
        byte_cursor in{hash_, offset};
        return in.u32();
    }

    template <class Visit>
    void visit_if_named(std::uint64_t index, text name, const Visit& visit) const {
        allocscope::detail::want(late_symbols_, index * symbol_bytes, symbol_bytes);
        allocscope::detail::visit_elf_symbols(symbols_.part(index * symbol_bytes, symbol_bytes),
                                              [&](const allocscope::detail::elf_symbol& symbol) {
                                                  if (text_of(symbol.name) == name) visit(symbol);
                                              });
    }

    arena memory_;
    byte_view symbols_;
    late_bytes* late_symbols_ = nullptr;
    byte_view names_;
    late_bytes* late_names_ = nullptr;
    byte_view hash_;
    std::unordered_map<std::uint64_t, std::uint32_t> words_;  // the number of each one's symbol
    std::map<std::uint64_t, byte_view> stubs_;                // by the address of their section
};

// The only function of that name.
struct definition {
    const met_module* home = nullptr;  // null: there is none, or it is not certain
    std::uint64_t address = 0;         // linked
};

// Of one process.
class known_links {
public:
    link_end follow(symbolizer& names, const code_location* sought, const met_module*& home,
                    code_target& target) {
        if (home == nullptr) return link_end::unknown;
        const dynamic_symbols* from = symbols_of(names, *home);
        if (from == nullptr) return link_end::unknown;
        const std::uint64_t word =
            target.is_word ? target.address : from->word_of_stub(target.address);
        const text symbol = word != 0 ? from->symbol_of_word(word) : text{};
        if (symbol.empty()) return link_end::unknown;
        if (sought == nullptr ? allocates(symbol) : is_name_of(*sought, symbol)) {
            return link_end::sought;
        }
        const definition found = definition_of(names, symbol);
        const bool is_first_choice =
            found.home == home ||
            (found.home != nullptr && found.home->number >= allocscope::detail::number_at_start);
        if (!is_first_choice) return link_end::unknown;
        home = found.home;
        target = {found.address, false};
        return link_end::function;
    }

private:
    static bool allocates(text symbol) {
        arena memory;
        return is_allocating(demangled(memory, symbol.data()));
    }

    static bool is_name_of(const code_location& location, text symbol) {
        if (location.symbol == symbol) return true;
        return !location.frames.empty() && location.frames.back().linkage_name == symbol;
    }

    const dynamic_symbols* symbols_of(symbolizer& names, const met_module& module) {
        std::unique_ptr<dynamic_symbols>& known = symbols_[&module];
        if (known == nullptr) {
            debug_object* const object = names.object_of(module);
            const object_bytes* const file = object != nullptr ? object->file() : nullptr;
            if (file == nullptr) return nullptr;
            known = std::make_unique<dynamic_symbols>(*file);
        }
        return known.get();
    }

    const definition& definition_of(symbolizer& names, text symbol) {
        const auto known = definitions_.try_emplace({symbol.data(), symbol.size()});
        definition& found = known.first->second;
        if (!known.second) return found;
        bool is_certain = true;
        for (const auto* modules :
             {&allocscope::detail::modules_at_start, &allocscope::detail::modules_met}) {
            for (std::uint32_t i = 0; i < modules->count(); ++i) {
                const met_module* const each = modules->at(i);
                if (each == nullptr || text{each->path}.find('/') == text::npos) continue;
                const dynamic_symbols* const defined = symbols_of(names, *each);
                const std::uint64_t address =
                    defined != nullptr ? defined->address_of(symbol) : unknown_address;
                if (address == 0) continue;
                is_certain = is_certain && address != unknown_address && found.home == nullptr;
                found = {each, address};
            }
        }
        if (!is_certain) found = {};
        return found;
    }

    std::map<const met_module*, std::unique_ptr<dynamic_symbols>> symbols_;
    std::unordered_map<std::string, definition> definitions_;
};

link_end follow_link(symbolizer& names, const code_location* sought, const met_module*& home,
                     code_target& target) {
    static known_links known;
    return known.follow(names, sought, home, target);
}

}  // namespace

void follow_links() {
    readers_of_rare_forms.follow_link = follow_link;
}

}  // namespace allocscope_tools

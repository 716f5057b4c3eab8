// A stripped module has no names for most of its functions. But it says where they begin and end,
// and reports call them by that:
//
//     splint+0x1a40        the function that begins at 0x1a40, as objdump prints it
//     splint+0x1a52:?      a call in it
//
// Both numbers are linked addresses, so they are the same in each run, and on each machine that has
// this build.
#include "nameless_functions.hpp"

#include "../verbs.hpp"
#include "function_bounds.hpp"
#include "nameless_wrappers.hpp"

#include <allocscope/plain/text.hpp>
#include <allocscope/platform/met_modules.hpp>
#include <allocscope/symbols/code_location.hpp>
#include <allocscope/symbols/debug_object.hpp>
#include <allocscope/symbols/rare_forms.hpp>
#include <allocscope/symbols/symbolizer.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>

namespace allocscope_tools {

namespace {

using namespace allocscope::symbolize;
using allocscope::detail::arena;
using allocscope::detail::met_module;
using allocscope::detail::text;

struct numbered_function {
    std::string module;  // its file, or the end of its path
    std::uint64_t number = 0;
    bool is_own = false;
    std::string pattern;
    bool is_module_met = false;  // a frame without a name is in that module
    bool is_met = false;         // and in that function

    bool is_in(const address_range& function) const {
        return number >= function.low && number < function.high;
    }
    bool is_of(text path) const {
        const text wanted{module.c_str()};
        if (!path.ends_with(wanted)) return false;
        const std::size_t before = path.size() - wanted.size();
        return before == 0 || wanted.starts_with("/") || path.data()[before - 1] == '/';
    }
};

numbered_pattern read(const std::string& pattern, numbered_function& into) {
    const std::size_t plus = pattern.rfind("+0x");
    if (plus == std::string::npos) return numbered_pattern::none;
    into.pattern = pattern;
    into.is_own = pattern[0] == '!';
    const std::size_t begin = into.is_own ? 1 : 0;
    const std::string digits = pattern.substr(plus + 3);
    if (plus <= begin || digits.empty() || digits.size() > 16 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
        return numbered_pattern::invalid;
    }
    into.module = pattern.substr(begin, plus - begin);
    into.number = std::strtoull(digits.c_str(), nullptr, 16);
    return numbered_pattern::valid;
}

class nameless_functions {
public:
    void declare(const std::vector<std::string>& patterns) {
        for (const std::string& each : patterns) {
            numbered_function function;
            if (read(each, function) == numbered_pattern::valid) declared_.push_back(function);
        }
    }

    nameless_function find(symbolizer& names, const code_location& call, const met_module* home) {
        if (home == nullptr) home = allocscope::detail::modules_at_start.holder_of(call.address);
        if (home == nullptr || call.is_unloaded) return {};
        debug_object* const object = names.object_of(*home);
        if (object == nullptr || !object->is_readable()) return {};
        nameless_function found;
        found.hands_on = hands_on_block(object->functions().code(), call.module_offset + 1);
        const address_range* const around =
            functions_of(*home, *object->file()).at(call.module_offset);
        if (around == nullptr) return found;
        // If a symbol has the beginning, the record is of several functions.
        const std::uint64_t begin = call.address - call.module_offset + around->low;
        arena meanwhile;
        if (!names.function_symbol_at(begin, meanwhile, home).empty()) return found;
        found.name = name_of(call.module, *around);
        for (numbered_function& each : declared_) {
            if (!each.is_of(call.module)) continue;
            each.is_module_met = true;
            if (!each.is_in(*around)) continue;
            each.is_met = true;
            found.is_library = !each.is_own;
            found.hands_on = false;
            if (each.is_own) break;
        }
        return found;
    }

    std::string remark_on_unmet() const {
        std::string remarks;
        for (const numbered_function& each : declared_) {
            if (!each.is_module_met || each.is_met) continue;
            remarks += "allocscope: --library-frames " + printable(each.pattern) +
                       " changes nothing: no frame without a name is in a function around that "
                       "number\n";
        }
        return remarks;
    }

private:
    const function_bounds& functions_of(const met_module& module, const object_bytes& object) {
        std::unique_ptr<function_bounds>& known = modules_[&module];
        if (known == nullptr) known = std::make_unique<function_bounds>(object);
        return *known;
    }

    // Valid until the next call.
    text name_of(text module, const address_range& function) {
        char number[24];
        std::snprintf(number, sizeof number, "+0x%llx",
                      static_cast<unsigned long long>(function.low));
        const text file = allocscope::detail::file_name_of(module);
        name_.assign(file.data(), file.size());
        name_ += number;
        return text{name_.c_str()};
    }

    std::vector<numbered_function> declared_;
    std::map<const met_module*, std::unique_ptr<function_bounds>> modules_;
    std::string name_;
};

nameless_functions& all_nameless() {
    static nameless_functions all;
    return all;
}

nameless_function find_nameless(symbolizer& names, const code_location& call,
                                const met_module* home) {
    return all_nameless().find(names, call, home);
}

}  // namespace

numbered_pattern read_numbered_pattern(const std::string& text) {
    numbered_function ignored;
    return read(text, ignored);
}

std::string remark_on_unmet_numbers() {
    return all_nameless().remark_on_unmet();
}

void name_nameless_functions(const std::vector<std::string>& patterns) {
    all_nameless().declare(patterns);
    readers_of_rare_forms.find_nameless = find_nameless;
}

}  // namespace allocscope_tools

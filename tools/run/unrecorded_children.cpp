#include "unrecorded_children.hpp"

#include "../counted.hpp"
#include "process_status.hpp"
#include "program_file.hpp"

#include <fstream>
#include <iterator>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <unistd.h>

namespace allocscope_tools {

namespace {

std::string proc_file(std::int32_t process_id, const char* name) {
    return "/proc/" + std::to_string(process_id) + "/" + name;
}

// Each thread may have started some.
std::vector<std::int32_t> children_of(std::int32_t process_id) {
    std::vector<std::int32_t> children;
    const std::string tasks = proc_file(process_id, "task/");
    DIR* const folder = ::opendir(tasks.c_str());
    if (folder == nullptr) return children;
    while (const dirent* const entry = ::readdir(folder)) {
        if (entry->d_name[0] == '.') continue;
        std::ifstream list{tasks + entry->d_name + "/children"};
        for (std::int32_t child = 0; list >> child;) children.push_back(child);
    }
    ::closedir(folder);
    return children;
}

// What of us is mapped into a process.
enum class part { recording, library, nothing, unknown };

part part_in(std::int32_t process_id) {
    std::ifstream file{proc_file(process_id, "maps")};
    part found = part::unknown;  // it has ended, or may not be read
    for (std::string line; std::getline(file, line);) {
        if (line.find(" /memfd:allocscope ") != std::string::npos) return part::recording;
        const bool is_library = line.find("/liballocscope_preload.so") != std::string::npos;
        if (is_library || found == part::unknown) {
            found = is_library ? part::library : part::nothing;
        }
    }
    return found;
}

const char* likely_reason(part mapped) {
    if (mapped == part::library) {
        return "has a malloc of its own, or could not open the recording (another user, another"
               " user namespace)";
    }
    return "has not loaded the library (env -i, LD_PRELOAD set anew, chroot)";
}

std::string executed_file(std::int32_t process_id) {
    char path[4096];
    const ssize_t length = ::readlink(proc_file(process_id, "exe").c_str(), path, sizeof path);
    return {path, length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

bool unrecorded_children::execution::operator<(const execution& other) const {
    return std::tie(process_id, began, name) < std::tie(other.process_id, other.began, other.name);
}

// Returns false for a zombie.
bool unrecorded_children::read_execution(std::int32_t process_id, execution& into) {
    const process_status seen = status_of(process_id);
    into = {process_id, seen.began, seen.name};
    return seen.is_alive;
}

void unrecorded_children::look(std::int32_t ancestor, double now) {
    std::set<execution> alive;
    std::vector<execution> parents(1);
    if (!read_execution(ancestor, parents[0])) return;
    while (!parents.empty()) {
        const execution parent = parents.back();
        parents.pop_back();
        for (const std::int32_t child : children_of(parent.process_id)) {
            execution seen;
            if (!read_execution(child, seen)) continue;
            look_at(seen, parent, now);
            if (settled_.count(seen) != 0) alive.insert(seen);
            parents.push_back(seen);
        }
    }
    settled_.swap(alive);
}

void unrecorded_children::look_at(const execution& seen, const execution& parent, double now) {
    if (settled_.count(seen) != 0) return;
    const part mapped = part_in(seen.process_id);
    const std::string file = proc_file(seen.process_id, "exe");
    // The library itself counts the programs of sanitizers.
    const bool is_settled = mapped == part::recording ||
                            (mapped == part::library && !why_not_preloadable(file).empty());
    if (is_settled) {
        settled_.insert(seen);
        found_.erase(seen);  // it had only begun
        return;
    }
    // A forked child executes what its parent does. One that may not be read can be recorded.
    const bool is_named_alike = seen.name == parent.name;
    if (is_named_alike && (mapped == part::unknown || found_.count(parent) != 0)) return;
    const auto known = found_.find(seen);
    if (known != found_.end()) {
        finding& what = known->second;
        what.last_seen = now;
        if (!what.is_certain && mapped != part::unknown) what.why_not = likely_reason(mapped);
        return;
    }
    const std::string certain = why_not_loadable(file);
    const std::string path = executed_file(seen.process_id);
    const std::string why_not = !certain.empty() ? certain : likely_reason(mapped);
    found_[seen] = {path.empty() ? seen.name : path, why_not, !certain.empty(), now, now};
}

void unrecorded_children::leave_out(const recorded_program& program) {
    const execution first{program.process_id, 0, ""};
    for (auto each = found_.lower_bound(first);
         each != found_.end() && each->first.process_id == program.process_id;) {
        each = each->first.name == program.kernel_name ? found_.erase(each) : std::next(each);
    }
}

std::vector<std::string> unrecorded_children::sentences() const {
    // A program that can load the library may not have come so far at its only look.
    constexpr double time_to_begin = 0.2;
    std::map<std::pair<std::string, std::string>, std::uint64_t> processes;
    for (const auto& [seen, what] : found_) {
        const bool is_sure = what.is_certain || what.last_seen - what.first_seen >= time_to_begin;
        if (is_sure) ++processes[{what.program, what.why_not}];
    }
    std::vector<std::string> sentences;
    for (const auto& [what, count] : processes) {
        const auto& [program, why_not] = what;
        sentences.push_back("not recorded" +
                            (count > 1 ? ", " + counted(count, "process", "processes") : "") +
                            ": \"" + program + "\" " + why_not);
    }
    return sentences;
}

}  // namespace allocscope_tools

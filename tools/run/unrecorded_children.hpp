// unrecorded_children.hpp - finds programs that a recorded one has started and that nobody records.
#ifndef ALLOCSCOPE_TOOLS_RUN_UNRECORDED_CHILDREN_HPP
#define ALLOCSCOPE_TOOLS_RUN_UNRECORDED_CHILDREN_HPP

#include "recording_file.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace allocscope_tools {

// A program that cannot load the library cannot say so, and the kernel does not tell the command
// what others execute. So the command looks at the running processes now and then: in one that is
// recorded, the recording is mapped. A program that ends between two looks is not found.
class unrecorded_children {
public:
    // Looks at all processes that descend from this one. `now` are seconds.
    void look(std::int32_t ancestor, double now);

    // There is a recording of it: it had not come so far when it was looked at.
    void leave_out(const recorded_program& program);

    // A sentence for each program that was not recorded.
    std::vector<std::string> sentences() const;

private:
    // What a process executes. A number is used again, and a process may execute several programs.
    struct execution {
        std::int32_t process_id;
        std::uint64_t began;
        std::string name;
        bool operator<(const execution& other) const;
    };
    struct finding {
        std::string program;  // the path of its file; its name if that cannot be read
        std::string why_not;
        bool is_certain;  // its file shows why the library cannot be loaded into it
        double first_seen;
        double last_seen;
    };

    static bool read_execution(std::int32_t process_id, execution& into);
    void look_at(const execution& seen, const execution& parent, double now);

    std::set<execution> settled_;  // of those that run: recorded, or counted by the library
    std::map<execution, finding> found_;
};

}  // namespace allocscope_tools

#endif  // ALLOCSCOPE_TOOLS_RUN_UNRECORDED_CHILDREN_HPP

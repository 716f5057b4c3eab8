// Rows are shared by all copies of a snapshot, on any thread.
// expect: read-only|const-qualified
#include <allocscope/allocscope.hpp>

void sample(const allocscope::snapshot& alive) {
    for (auto& row : alive) {
#ifdef ALLOCSCOPE_BAD
        row.objects = 0;
#endif
        static_cast<void>(row);
    }
}

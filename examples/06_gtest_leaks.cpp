// Every GoogleTest test must free what it allocates; blocks in a test keep to a budget.
//
//     c++ -std=c++17 -O2 -g -Iinclude examples/06_gtest_leaks.cpp -lgtest -o gtest_leaks
//     ./gtest_leaks
//
// Two tests fail because of the bugs that are built in: the exit code is 1. The output stands in
// docs/how_to/gtest.md.
#include <allocscope/define_once/operator_new_delete.hpp>
#include <allocscope/integrations/gtest.hpp>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

struct job {
    std::string command;
};

class job_queue {
public:
    ~job_queue() {
        for (auto& [id, waiting] : jobs_) delete waiting;
    }
    void add(int id, const char* command) { jobs_[id] = new job{command}; }
    void run(int id) {
        const auto found = jobs_.find(id);
        delete found->second;
        jobs_.erase(found);
    }
    void cancel(int id) { jobs_.erase(id); }  // the first bug: nobody deletes the job
    // The second bug: a copy of the map to answer a question.
    static bool has(std::map<int, job*> jobs, int id) { return jobs.count(id) != 0; }
    bool has(int id) const { return has(jobs_, id); }

private:
    std::map<int, job*> jobs_;
};

std::string* start_logging() {
    static std::string* log = new std::string(100, ' ');  // lives as long as the program
    return log;
}

}  // namespace

TEST(job_queue, runs_jobs) {
    job_queue queue;
    queue.add(1, "make");
    queue.run(1);
}

TEST(job_queue, cancels_jobs) {
    job_queue queue;
    queue.add(1, "make");
    queue.cancel(1);
}

TEST(job_queue, finds_jobs_without_allocating) {
    job_queue queue;
    queue.add(1, "make");
    ALLOCSCOPE_EXPECT_NO_ALLOCATIONS {
        EXPECT_TRUE(queue.has(1));
    }
}

TEST(job_queue, logs) {
    allocscope::expect_leaks("leak:start_logging");
    EXPECT_FALSE(start_logging()->empty());
}

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    listeners.Append(new allocscope::gtest_leak_listener);
    return RUN_ALL_TESTS();
}

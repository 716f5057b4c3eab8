// reported_resource.hpp - a std::pmr resource that reports what goes through it.
//
// Room:     measure (floor 8), not malloc-safe
// Called:   by containers with polymorphic allocators
// Threads:  the same as for the resource behind it
// Memory:   the memory of the resource behind it
//
//     std::pmr::unsynchronized_pool_resource pool;
//     allocscope::reported_resource reported{&pool, "orders"};
//     std::pmr::vector<order> orders{&reported};                    // rows show order
//
// Placed between containers and a pool, it reports objects. Placed between a pool and the source of
// the pool's memory, it reports chunks. Without <memory_resource> in the standard library there is
// no reported_resource.

#ifndef ALLOCSCOPE_MEASURE_REPORTED_RESOURCE_HPP
#define ALLOCSCOPE_MEASURE_REPORTED_RESOURCE_HPP

#include <allocscope/measure/pool_reports.hpp>

#include <cstddef>  // size_t

#if defined(__has_include)
    #if __has_include(<memory_resource>)
        #include <memory_resource>  // memory_resource, get_default_resource
    #endif
#endif

#if defined(__cpp_lib_memory_resource) || defined(_GLIBCXX_MEMORY_RESOURCE)

ALLOCSCOPE_NAMESPACE_BEGIN

class reported_resource : public std::pmr::memory_resource {
public:
    // `upstream` and `name` must live as long as the resource. `name` is the name of the family in
    // the head of a report.
    explicit reported_resource(std::pmr::memory_resource* upstream, const char* name) noexcept
        : upstream_(upstream), name_(name) {}
    reported_resource(const reported_resource&) = delete;
    reported_resource& operator=(const reported_resource&) = delete;

    std::pmr::memory_resource* upstream_resource() const noexcept { return upstream_; }
    const char* name() const noexcept { return name_; }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* const block = upstream_->allocate(bytes, alignment);
        report_allocation(block, bytes, name_);
        return block;
    }
    void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
        report_free(block, name_);  // before another thread can be given the block
        upstream_->deallocate(block, bytes, alignment);
    }
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    std::pmr::memory_resource* upstream_;
    const char* name_;
};

ALLOCSCOPE_NAMESPACE_END

#endif

#endif  // ALLOCSCOPE_MEASURE_REPORTED_RESOURCE_HPP

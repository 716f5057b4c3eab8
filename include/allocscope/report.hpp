// report.hpp - the door to the writers: a snapshot as text, as JSON, and in a file of its own.
//
// Room:     root, a door (floor 10)
// Called:   by the translation units that write reports
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/report.hpp>
//
//     allocscope::write_text(window.stats(), "heap.txt");

#ifndef ALLOCSCOPE_REPORT_HPP
#define ALLOCSCOPE_REPORT_HPP

#include <allocscope/grouping/filter_stacks.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/report/json_report.hpp>
#include <allocscope/report/text_groups.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_report.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/save_snapshot.hpp>

#endif  // ALLOCSCOPE_REPORT_HPP

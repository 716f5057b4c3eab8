// report.hpp - the door to the writers: a snapshot as text, JSON or a page.
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

#include <allocscope/page/html_report.hpp>
#include <allocscope/report/json_report.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_report.hpp>

#endif  // ALLOCSCOPE_REPORT_HPP

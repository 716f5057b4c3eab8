// report.hpp - the door to the writers: a snapshot as text, as JSON, and for the tools of others.
//
// Room:     root, a door (floor 10)
// Called:   by the translation units that write reports
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/report.hpp>
//
//     allocscope::write_text(window.stats(), "heap.txt");
//     allocscope::write_pprof(window.stats(), "heap.pb.gz");
//     allocscope::write(window.stats(), "heap.csv");           // by the ending
//
// Which format is for which viewer: docs/formats.md.

#ifndef ALLOCSCOPE_REPORT_HPP
#define ALLOCSCOPE_REPORT_HPP

#include <allocscope/formats/callgrind_format.hpp>
#include <allocscope/formats/csv_format.hpp>
#include <allocscope/formats/dhat_format.hpp>
#include <allocscope/formats/folded_format.hpp>
#include <allocscope/formats/format_list.hpp>
#include <allocscope/formats/heaptrack_format.hpp>
#include <allocscope/formats/html_format.hpp>
#include <allocscope/formats/json_format.hpp>
#include <allocscope/formats/massif_format.hpp>
#include <allocscope/formats/pprof_format.hpp>
#include <allocscope/formats/speedscope_format.hpp>
#include <allocscope/report/json_report.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_report.hpp>

#endif  // ALLOCSCOPE_REPORT_HPP

// report.hpp - the door to the writers: text, JSON, files for other tools, saved snapshots.
//
// Room:     root, a door (above all floors)
// Called:   by the translation units that write reports
// Threads:  see the headers behind it
// Memory:   see the headers behind it
//
//     #include <allocscope/report.hpp>
//
//     allocscope::write_text(window.stats(), "heap.txt");
//     allocscope::write_pprof(window.stats(), "heap.pb.gz");
//     allocscope::write(window.stats(), "heap.csv");           // the ending selects the format
//     window.stats().save("heap.allocscope");                  // for load_snapshot()
//
// docs/formats.md says which viewer reads which format.

#ifndef ALLOCSCOPE_REPORT_HPP
#define ALLOCSCOPE_REPORT_HPP

#include <allocscope/formats/callgrind_format.hpp>
#include <allocscope/formats/convert_snapshot.hpp>
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
#include <allocscope/grouping/filter_stacks.hpp>
#include <allocscope/grouping/group_by.hpp>
#include <allocscope/measure/scope.hpp>
#include <allocscope/report/explain_memory.hpp>
#include <allocscope/report/json_report.hpp>
#include <allocscope/report/merge_snapshots.hpp>
#include <allocscope/report/text_groups.hpp>
#include <allocscope/report/text_options.hpp>
#include <allocscope/report/text_report.hpp>
#include <allocscope/report/text_tree.hpp>
#include <allocscope/report/whole_difference.hpp>
#include <allocscope/saved/load_snapshot.hpp>
#include <allocscope/saved/save_snapshot.hpp>

#endif  // ALLOCSCOPE_REPORT_HPP

// time_series.hpp - the door to windows that record over time what is alive, with marks.
//
// Room:     root, a door (above all floors)
// Called:   by the translation units that open such windows
// Threads:  see the header behind it
// Memory:   see the header behind it
//
//     #include <allocscope/time_series.hpp>
//
//     allocscope::timed_scope window{"load", std::chrono::milliseconds{10}};
//     load();
//     window.mark("loaded");
//     allocscope::write_html(window.stop(), "load.html");       // <allocscope/report.hpp>

#ifndef ALLOCSCOPE_TIME_SERIES_HPP
#define ALLOCSCOPE_TIME_SERIES_HPP

#include <allocscope/measure/timed_scope.hpp>

#endif  // ALLOCSCOPE_TIME_SERIES_HPP

// frame_of_page_text.hpp - the page but for its script and its data.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  a constant
// Memory:   none
//
// Generated from tools/page/ by cmake/scripts/page_template.py: edit there, not here.

#ifndef ALLOCSCOPE_PAGE_FRAME_OF_PAGE_TEXT_HPP
#define ALLOCSCOPE_PAGE_FRAME_OF_PAGE_TEXT_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr char page_begin[] = R"page(<!doctype html>
<html lang="en"> <head> <meta charset="utf-8"> <meta
http-equiv="Content-Security-Policy"
content="default-src 'none';
script-src 'sha256-jUyFRb46BBdqE8MwESQMic/QyNmSyPl5qR+bcqSH9w8=';
style-src 'sha256-hA7O9UUgUZRLmHCbPq5u9zuZrVqXE3nQQvn7ibNHBQM=';
base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1"> <meta name="referrer"
content="no-referrer">
<title>)page";

constexpr char page_after_title[] = R"page(</title>
<style>)page";

constexpr char page_style[] = R"page(
:root { color-scheme: light dark; --back: light-dark(#f5f6f8, #14171c); --card: light-dark(#ffffff,
#1b1f26); --line: light-dark(#e1e4e9, #2c323c); --text: light-dark(#1b2430, #e3e7ee); --quiet:
light-dark(#5a6675, #9aa5b5); --accent: light-dark(#0b5cad, #7db7ff); --accent_back:
light-dark(#e3effb, #21344a); --warn_back: light-dark(#fff5dc, #3a2f15); --warn_line:
light-dark(#e8c468, #7d6529); --bar: light-dark(#b9d6f2, #2b4a6b); --up: light-dark(#b3261e,
#ff9a90); --down: light-dark(#0b5cad, #8fc1ff); } :root[data-theme="light"] { color-scheme: light;
} :root[data-theme="dark"] { color-scheme: dark; } * { box-sizing: border-box; } html { background:
var(--back); } body { margin: 0 auto; padding: 20px 24px 40px; max-width: 2560px; color:
var(--text); background: var(--back); font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto,
Cantarell, "Noto Sans", sans-serif; font-variant-numeric: tabular-nums; } [hidden] { display: none
!important; } h1 { margin: 0; flex: 1 1 14ch; font-size: 21px; font-weight: 600; letter-spacing:
-0.01em; overflow-wrap: anywhere; } h2 { margin: 0; font-size: 14px; font-weight: 600; } .brand {
color: var(--quiet); font-weight: 400; white-space: nowrap; } .quiet { color: var(--quiet);
font-size: 13px; } .bar { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 6px 16px; }
.buttons { display: flex; gap: 8px; flex: none; } button, select, input { font: inherit; color:
inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 4px
10px; min-height: 30px; } button { cursor: pointer; } button:hover:enabled { border-color:
var(--quiet); } button:disabled { opacity: 0.5; cursor: default; } button[aria-pressed="true"],
[role="radio"][aria-checked="true"] { background: var(--accent_back); border-color: var(--accent);
color: var(--accent); } :focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
#how { margin: 4px 0 14px; color: var(--quiet); max-width: 110ch; overflow-wrap: anywhere; }
#totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(160px, 1fr)); gap: 12px; }
.total { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 11px
15px 12px; } .total .name { color: var(--quiet); font-size: 12.5px; } .total .large { font-size:
25px; font-weight: 600; letter-spacing: -0.02em; line-height: 1.3; } .total .small { color:
var(--quiet); font-size: 13px; } .note { margin: 10px 0 0; padding: 7px 12px; border-radius: 8px;
overflow-wrap: anywhere; background: var(--warn_back); border: 1px solid var(--warn_line); }
details { margin: 12px 0 0; } summary { cursor: pointer; color: var(--quiet); width: fit-content;
font-size: 13px; } #facts { display: grid; grid-template-columns: max-content 1fr; gap: 3px 18px;
margin: 10px 0; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; } .card {
background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin-top: 12px;
padding: 12px 14px 14px; min-width: 0; } .card_head { display: flex; align-items: baseline; gap:
12px; margin-bottom: 9px; min-height: 21px; flex-wrap: wrap; } canvas { display: block; width:
100%; border-radius: 4px; } #timeline { height: 150px; } #tools { position: sticky; top: 0;
z-index: 5; display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: center; margin-top: 12px;
padding: 8px 0; background: var(--back); } #tools + .card { margin-top: 4px; } .group { display:
flex; flex-wrap: wrap; } .group button { border-radius: 0; margin-left: -1px; position: relative; }
.group button:first-child { border-radius: 6px 0 0 6px; margin-left: 0; } .group button:last-child
{ border-radius: 0 6px 6px 0; } .group button:focus-visible, .group [aria-checked="true"], .group
[aria-pressed="true"] { z-index: 1; } .pick { color: var(--quiet); font-size: 13px; } .pick select
{ color: var(--text); margin-left: 4px; } .search { display: flex; align-items: center; flex: 1 1
200px; flex-direction: row-reverse; } #search { width: min(360px, 100%); } #matched { color:
var(--quiet); font-size: 13px; white-space: nowrap; } #matched:not(:empty) { margin-right: 10px; }
#path { display: flex; flex-wrap: wrap; gap: 2px; align-items: baseline; font-size: 13px;
min-width: 0; } #path button { border: 0; padding: 0 5px; min-height: 22px; background: none;
color: var(--accent); max-width: 34ch; overflow: hidden; text-overflow: ellipsis; white-space:
nowrap; } #path .step { color: var(--quiet); } #path .here { padding: 0 5px; max-width: 60ch;
overflow: hidden; text-overflow: ellipsis; white-space: nowrap; } #path .chip { background:
var(--accent_back); border-radius: 6px; } #chart_scroll { max-height: 62vh; overflow-x: hidden;
overflow-y: auto; } #chart { position: sticky; top: 0; cursor: pointer; } #columns > .card {
margin-top: 12px; } #columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(280px,
27%); gap: 0 12px; align-items: start; } #types_card { position: sticky; top: 50px; } #types {
height: 460px; cursor: pointer; } .wide { overflow-x: auto; } table { border-collapse: collapse;
width: 100%; font-size: 13px; } th, td { text-align: left; padding: 4px 8px; white-space: nowrap;
border-bottom: 1px solid var(--line); } th { font-weight: 500; color: var(--quiet); padding: 2px
4px; } th button { border: 0; background: none; padding: 2px 6px; min-height: 26px; width: 100%;
text-align: inherit; font-weight: 500; color: inherit; white-space: nowrap; }
th[aria-sort="ascending"] button, th[aria-sort="descending"] button { color: var(--text);
font-weight: 600; } th[aria-sort="ascending"] button::after { content: " \2191"; }
th[aria-sort="descending"] button::after { content: " \2193"; } .number { text-align: right; }
#places { table-layout: auto; } #places tbody tr { cursor: pointer; } #places tbody tr:hover {
background: light-dark(#f1f5fa, #232934); } #places tbody tr[aria-selected="true"] { background:
var(--accent_back); } #places tbody tr:last-child td { border-bottom: 0; } td.text { max-width: 0;
min-width: 20ch; width: 26%; overflow: hidden; text-overflow: ellipsis; } td.place, td.function,
td.scoped { direction: rtl; color: var(--quiet); } td bdi { color: var(--text); } td.type bdi,
.outer { color: var(--quiet); } td.type { color: var(--quiet); width: 20%; } td.share { min-width:
84px; } #memory td.share { width: 34%; } #memory td.meaning { color: var(--quiet); width: 40%; }
#memory tr:last-child td { border-bottom: 0; } .share_bar { display: block; text-align: right;
padding: 0 5px; border-radius: 3px; background-repeat: no-repeat; background-image:
linear-gradient(var(--bar), var(--bar)); } .up { color: var(--up); } .down { color: var(--down); }
.pager { display: flex; gap: 12px; align-items: center; justify-content: flex-end; margin-top:
10px; } #tip { position: fixed; z-index: 20; max-width: min(620px, 90vw); padding: 9px 12px;
pointer-events: none; background: light-dark(#ffffff, #262c36); border: 1px solid
light-dark(#c5ccd6, #3f4855); border-radius: 8px; box-shadow: 0 6px 24px light-dark(#1b243026,
#00000080); font-size: 13px; } #tip .main { font-weight: 600; overflow-wrap: anywhere; } #tip
.place { color: var(--quiet); overflow-wrap: anywhere; } #tip table { width: auto; margin-top: 6px;
} #tip td { border: 0; padding: 0 14px 0 0; } #tip td.number { padding-right: 12px; } #tip
tr.chosen td { font-weight: 600; } .spoken { position: absolute; width: 1px; height: 1px; margin:
0; overflow: hidden; clip-path: inset(50%); } dialog { color: var(--text); background: var(--card);
border: 1px solid var(--line); border-radius: 12px; max-width: 660px; padding: 20px 24px; }
dialog::backdrop { background: #0008; } #keys { display: grid; grid-template-columns: max-content
1fr; gap: 4px 18px; } kbd { font: 12px ui-monospace, monospace; border: 1px solid var(--line);
border-bottom-width: 2px; border-radius: 4px; padding: 0 5px; background: var(--back); } code {
font: 12.5px ui-monospace, monospace; } #foot { margin-top: 22px; } @media (max-width: 1380px) {
#columns { grid-template-columns: minmax(0, 1fr); } #types_card { position: static; } #types {
height: 320px; } } @media (max-width: 900px) { body { padding: 14px; } td.text { max-width: 34ch;
min-width: 0; width: auto; } } @media screen and (max-width: 600px) { #places td.function, #places
th.function { display: none; } #places td.text { max-width: 16ch; } #places td.share, #places
th:last-child { position: sticky; right: 0; background: var(--card); } #places td.share {
min-width: 76px; } } @media print { :root { color-scheme: light !important; --back: #ffffff; } body
{ padding: 0; max-width: none; font-size: 11px; } .buttons, .pager button, #tools, #tip,
details:not([open]) { display: none; } #totals { grid-template-columns: repeat(4, 1fr); gap: 8px; }
.total .large { font-size: 19px; } #chart_scroll { max-height: none; overflow: visible; }
#chart_space { height: auto !important; } canvas { position: static !important; height: auto
!important; } #columns { display: block; } #types_card { position: static; } .card, .total {
break-inside: avoid; } #places_card { break-inside: auto; } .wide { overflow: visible; } th, td {
padding: 2px 4px; font-size: 9px; } th button { padding: 0; min-height: 0; font-size: 9px;
white-space: normal; } td.text { max-width: 0; min-width: 0; width: 24%; } td.share { min-width:
60px; } tr { break-inside: avoid; } * { print-color-adjust: exact; -webkit-print-color-adjust:
exact; } }
)page";

constexpr char page_after_style[] = R"page(</style>
</head> <body>
<noscript>)page";

constexpr char page_after_noscript[] = R"page(</noscript>
<div id="page" hidden> <header id="head"> <div class="bar"> <h1><span
class="brand">allocscope</span> <span id="title"></span></h1> <div class="buttons"> <button
type="button" id="theme" aria-keyshortcuts="t">Theme</button> <button type="button"
id="help_button" aria-keyshortcuts="?" aria-haspopup="dialog">Help</button> </div> </div> <p
id="how"></p> <div id="totals"></div> <div id="notes"></div> <details id="more"><summary>About this
window</summary><dl id="facts"></dl><div id="families"></div></details> </header> <section
id="timeline_card" class="card" aria-labelledby="timeline_title" hidden> <div class="card_head"><h2
id="timeline_title">Over time</h2><span id="timeline_text" class="quiet"></span></div> <canvas
id="timeline" tabindex="0" role="img"></canvas> </section> <section id="memory_card" class="card"
aria-labelledby="memory_title" hidden> <div class="card_head"><h2 id="memory_title">Resident
memory</h2><span id="memory_text" class="quiet"></span></div> <div class="wide"><table><tbody
id="memory"></tbody></table></div> </section> <div id="tools" role="toolbar"
aria-label="What is shown"> <div id="metrics" class="group" role="radiogroup"
aria-label="Number shown"></div> <div class="group" role="group" aria-label="Chart"> <button
type="button" id="invert" aria-pressed="false" aria-keyshortcuts="i"
title="Begin with the code that allocates (i)">Invert</button> <button type="button" id="library"
aria-pressed="false" aria-keyshortcuts="l"
title="Show frames of the standard library and of modules without lines (l)">Library
frames</button> </div> <label class="pick">Colours <select id="colors"><option value="file">by
file</option><option value="module">by module</option></select></label> <label class="pick"
id="thread_pick" hidden>Thread <select id="threads"><option
value="-1">all</option></select></label> <div class="search"><input type="search" id="search"
placeholder="Search names, files, types" aria-label="Search names, files, types"
aria-keyshortcuts="/" autocomplete="off" spellcheck="false"><output id="matched"
for="search"></output></div> </div> <section id="chart_card" class="card"
aria-labelledby="chart_title"> <div class="card_head"><h2 id="chart_title">Stacks</h2><nav
id="path" aria-label="Zoomed into"></nav></div> <div id="chart_scroll"><div
id="chart_space"><canvas id="chart" tabindex="0" role="application"
aria-roledescription="flame chart"
aria-label="Stacks: arrow keys move, Enter zooms, Escape goes back"
aria-describedby="spoken"></canvas></div></div> <p id="spoken" class="spoken"
aria-live="polite"></p> <p id="chart_note" class="note" hidden></p> </section> <div id="columns">
<section id="places_card" class="card" aria-labelledby="places_title"> <div class="card_head"><h2
id="places_title">Places</h2><span id="places_text" class="quiet"></span></div> <div
class="wide"><table id="places"><thead><tr id="places_head"></tr></thead><tbody
id="places_body"></tbody></table></div> <div class="pager"><button type="button"
id="earlier">Previous</button><span id="pages" class="quiet" aria-live="polite"></span><button
type="button" id="later">Next</button></div> </section> <section id="types_card" class="card"
aria-labelledby="types_title"> <div class="card_head"><h2 id="types_title">Types</h2><span
id="types_text" class="quiet"></span></div> <canvas id="types" tabindex="0" role="application"
aria-roledescription="treemap" aria-label="Types: arrow keys move, Enter searches for the type"
aria-describedby="spoken"></canvas> </section> </div> <footer id="foot" class="quiet"></footer>
</div> <div id="tip" role="tooltip" hidden></div> <dialog id="help" aria-labelledby="help_title">
<h2 id="help_title">How to read this page</h2> <p>Each box of the chart is a call, and the last box
of a stack is the type. The width of a box shows how much was allocated in the call and in
everything that it called; the boxes below it are those calls. Click a box to zoom in: the table
and the types then show only what is under it. Click a place in the table to see only its
stacks.</p> <dl id="keys"></dl> <p>A search may be <code>/a pattern/</code>, a place such as
<code>parser.cpp:12</code>, or begin with <code>type:</code>, <code>file:</code>,
<code>function:</code> or <code>module:</code>.</p> <form method="dialog"><button
id="help_close">Close</button></form> </dialog> <script type="application/json"
id="data">)page";

constexpr char page_after_data[] = R"page(</script>
<script>'use strict'; {)page";

constexpr char page_end[] = R"page(}
</script>
</body> </html>
)page";

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_FRAME_OF_PAGE_TEXT_HPP

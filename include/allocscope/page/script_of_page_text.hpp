// script_of_page_text.hpp - the script of the page: head, controls and keys.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  a constant
// Memory:   none
//
// Generated from tools/page/ by cmake/scripts/page_template.py: edit there, not here.

#ifndef ALLOCSCOPE_PAGE_SCRIPT_OF_PAGE_TEXT_HPP
#define ALLOCSCOPE_PAGE_SCRIPT_OF_PAGE_TEXT_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr char page_script_of_page[] = R"page(
function how_it_was_recorded() { const words = [];
if (data.record === 'counters') words.push('Counters only: totals without stacks');
else if (!is_sampled) words.push('Every allocation was recorded with its stack'); else {
words.push('Sampled: one sample in ' + plain_bytes(data.sample_bytes) +
' of allocations on average, ' + grouped.format(data.samples) +
(data.samples === 1 ? ' sample' : ' samples')); } if (data.record !== 'counters') {
words.push('up to ' + data.stack_frames + (data.stack_frames === 1 ? ' frame' : ' frames') +
' of each stack'); } words.push(data.threads === 'all' ? 'all threads' : 'one thread');
if (!data.is_of_two_windows) { const time = duration(data.duration_ns);
words.push(!is_difference ? 'open for ' + time
: time + (data.is_backwards ? ' back in time' : ' apart')); } let text = words.join(', ') + '.';
if (is_sampled) {
text += ' Numbers with ~ are estimates; the true ones lie in the 95% intervals in 95 of 100' +
' cases.'; } if (is_difference) { text += ' All numbers are changes from ' +
(data.is_backwards ? 'the later snapshot to the earlier one.'
: 'the earlier snapshot to the later one.') +
' Widths and shares are of the sum of all changes without their signs: red is more,' +
' blue is less.'; } return text; } function interval(total, is_bytes) { if (!is_sampled) return '';
const number = is_bytes ? signed_bytes : signed;
return '95%: ' + number(total[1]) + ' to ' + number(total[2]); }
function total_card(name, large, large_title, small, further) {
const card = element('div', undefined, 'total'); card.append(element('div', name, 'name'));
const number = element('div', large, 'large'); number.title = large_title; card.append(number);
for (const line of [small, ...further]) {
if (line !== '') card.append(element('div', line, 'small')); } return card; }
function card_of(name, byte_total, object_total) { const further = [interval(byte_total, true)];
const objects = interval(object_total, false);
if (objects !== '') further.push(objects + ' objects');
return total_card(name, bytes(byte_total[0]), several(byte_total[0], 'byte', 'bytes'),
several(object_total[0], 'object', 'objects'), further); } function note(text) {
by_id('notes').append(element('p', text, 'note')); } function fact(name, text) {
if (text === '') return; by_id('facts').append(element('dt', name), element('dd', text)); }
function note_missing_rows() { const totals = data.totals; if (data.is_filtered) {
note('Filtered: the places below are a part, ' +
several(data.rows_alive[0], 'object', 'objects') + ' with ' + bytes(data.rows_alive[1]) +
'; the totals are those of the whole window.'); return; }
const is_complete = data.rows_alive[0] === totals.live_objects[0] &&
data.rows_alive[1] === totals.live_bytes[0]; if (data.record !== 'exact' || is_complete) return;
note('In the places below: ' + several(data.rows_alive[0], 'object', 'objects') + ' with ' +
bytes(data.rows_alive[1]) + '; it is not known where the rest was allocated.'); }
function table_of(columns, rows) { const table = element('table'); const head = element('tr');
for (const name of columns) {
const cell = element('th', name, name === columns[0] ? '' : 'number'); cell.scope = 'col';
head.append(cell); } table.append(head); for (const [name, ...numbers] of rows) {
const row = element('tr'); row.append(element('td', name));
for (const number of numbers) row.append(element('td', exact(number), 'number'));
table.append(row); } return table; } function write_families() {
if (data.families.length === 0) return; by_id('families').append(table_of(
['Family', 'Allocations', 'Freed', 'Allocated bytes', 'Live objects', 'Live bytes'],
data.families.map(([name, allocations, frees, allocated, freed]) =>
[name, allocations, frees, allocated, allocations - frees, allocated - freed]))); }
function write_ages() { if (!data.ages) return; by_id('families').append(table_of(
['Allocated how long ago', 'Live objects', 'Live bytes', 'Allocations', 'Allocated bytes'],
data.ages.map(([least, most, ...numbers]) =>
[duration(least) + ' to ' + duration(most), ...numbers]))); } function write_head() {
const name = data.window === '' ? 'an unnamed window' : data.window;
by_id('title').textContent = (is_difference ? 'difference of ' : '') + name;
document.title = name + ' \u2013 allocscope'; const has_totals = data.has_totals;
by_id('how').textContent = has_totals ? how_it_was_recorded() : '';
if (data.not_recording !== '') note('Attention: ' + data.not_recording + '.');
if (data.is_of_two_windows) note('Attention: the two snapshots are of different windows.');
if (data.is_backwards) {
note('Attention: the later snapshot was subtracted from the earlier one: + is what has gone,' +
' \u2212 what is new.'); } const totals = data.totals; if (has_totals) { by_id('totals').append(
card_of('Alive', totals.live_bytes, totals.live_objects),
card_of('Allocated', totals.bytes_allocated, totals.allocations),
card_of('Freed', totals.bytes_freed, totals.frees),
total_card('Peak', bytes(totals.peak_bytes), several(totals.peak_bytes, 'byte', 'bytes'),
is_difference ? 'change of the most alive at one time' : 'the most alive at one time', []));
note_missing_rows(); } if (data.uncertain[0] !== 0) {
note('In doubt: ' + grouped.format(data.uncertain[0]) +
(data.uncertain[0] === 1 ? ' object' : ' objects') + ' with ' + plain_bytes(data.uncertain[1]) +
' may have been freed by other threads while this was read.'); }
for (const [reason, count] of data.lost) {
note('Not recorded: ' + grouped.format(count) + ' ' + reason); } fact('Command', data.command);
fact('Process', data.process_id === 0 ? '' : String(data.process_id));
fact('Taken', data.taken_unix_ms === 0 ? '' : new Date(data.taken_unix_ms).toLocaleString() +
' (' + new Date(data.taken_unix_ms).toISOString() + ')');
fact('Stacks', data.has_stacks ? grouped.format(stack_count) + ' with ' +
grouped.format(frame_count) + (frame_count === 1 ? ' different frame' : ' different frames') : '');
fact('allocscope', data.allocscope + ', used ' + plain_bytes(data.own_memory_bytes) +
' of memory itself; none of it is in the numbers'); write_families(); write_ages();
by_id('foot').textContent = 'Sizes are those that the program asked for. 1 KiB is 1024 bytes.'; }
function chart_words() {
if (data.not_recording !== '' && stack_count === 0) return 'There is nothing to show.';
if (data.record === 'counters') {
return 'This window only counted: it is not known which code allocated.'; }
if (stack_count !== 0) { if (whole[state.metric] !== 0) return '';
const word = metrics[state.metric].word;
return is_difference ? 'No place has changed its ' + word + '.' : 'There are no ' + word + '.'; }
if (data.is_filtered) return 'No place matches the request.';
if (is_sampled) return 'No sample is alive.'; if (is_difference) return 'No place has changed.';
return data.totals.live_objects[0] === 0 ? 'Nothing is alive.'
: 'It was not recorded where the live objects were allocated.'; }

const state = { metric: 0, is_inverted: false, with_library: false, color_by: 'file', tree: null,
zoom: 0, history: [], place: -1, of_thread: null, wanted: null, search: new finder(''),
found: null, found_weight: null }; const timings = {first_paint: 0, last_change: 0};
function stacks_under(box) { const tree = state.tree; const inside = new Uint8Array(tree.count);
inside[box] = 1; for (let n = box + 1; n < tree.count; ++n) inside[n] = inside[tree.parent[n]];
return Uint8Array.from(tree.end, (end) => inside[end]); } function sums_of(is_in) {
return stack_values.map((values) => { let sum = 0;
for (let s = 0; s < stack_count; ++s) if (is_in(s)) sum += values[s]; return sum; }); }
function both(a, b) { if (a === null || b === null) return a === null ? b : a;
return a.map((one, s) => one & b[s]); } function weigh() {
state.wanted = both(state.of_thread, state.place < 0 ? null
: Uint8Array.from(stack_place, (place) => place === state.place ? 1 : 0));
state.tree.weigh(stack_values[state.metric], state.wanted); chart.scroll.scrollTop = 0; }
function find() { const tree = state.tree;
state.found = state.search.is_empty ? null : state.search.stacks_in(tree);
state.found_weight = null; if (state.found === null) return;
const sums = state.found_weight = new Float64Array(tree.count);
const values = stack_values[state.metric]; for (let s = 0; s < stack_count; ++s) {
if (state.found[s] && (state.wanted === null || state.wanted[s])) {
sums[tree.end[s]] += Math.abs(values[s]); } }
for (let n = tree.count - 1; n > 0; --n) sums[tree.parent[n]] += sums[n]; } function count() {
const under = state.zoom === 0 ? null : stacks_under(state.zoom);
const seen = both(under, state.found); count_places(both(seen, state.of_thread));
count_types(both(seen, state.wanted)); } function write_matched() { const out = by_id('matched');
if (state.found === null) { out.textContent = ''; return; }
const values = stack_values[state.metric]; let value = 0; let weight = 0;
for (let s = 0; s < stack_count; ++s) {
if (!state.found[s] || state.of_thread !== null && !state.of_thread[s]) continue;
value += values[s]; weight += Math.abs(values[s]); }
out.textContent = (state.search.problem ? state.search.problem + '; ' : '') +
percent(weight, whole[state.metric]) + ' \u00b7 ' + shown(state.metric, value);
out.title = exactly(state.metric, value); } function write_path() { const nav = by_id('path');
const steps = [];
for (let box = state.zoom; box >= 0; box = state.tree.parent[box]) steps.unshift(box);
nav.replaceChildren(); const add_button = (text, kind, label, action) => {
const button = element('button', text, kind); button.type = 'button'; button.title = label;
button.addEventListener('click', action); nav.append(button); }; if (state.place >= 0) {
const text = place_name(state.place) + ' \u00b7 ' + type_name(place_type(state.place));
add_button(text + ' \u00d7', 'chip', 'Only this place is shown: show all', () => show_place(-1)); }
if (state.zoom === 0) return;
const shown_steps = steps.length > 8 ? [0, ...steps.slice(-6)] : steps;
shown_steps.forEach((box, number) => { const is_gap = steps.length > 8 && number === 1;
const arrow = is_gap ? '\u203a \u2026 \u203a' : '\u203a';
if (number !== 0) nav.append(element('span', arrow, 'step'));
if (box === state.zoom) nav.append(element('span', box_name(box), 'here'));
else add_button(box_name(box), '', 'Zoom to ' + box_name(box), () => zoom_to(box)); }); }
function draw_all() { make_colors(); draw_chart(); draw_types(); draw_timeline(); draw_places(); }
function show(work) { const began = performance.now(); work(); count(); hide_tip();
chart.hovered = -1; by_id('chart_note').textContent = chart_words();
by_id('chart_note').hidden = by_id('chart_note').textContent === '';
chart.scroll.hidden = !by_id('chart_note').hidden;
by_id('chart_title').textContent = 'Stacks by ' + metrics[state.metric].word;
by_id('types_title').textContent = 'Types by ' + metrics[state.metric].word; write_path();
write_matched(); draw_all(); timings.last_change = performance.now() - began; }
function zoom_to(box) { if (box === state.zoom) return; show(() => {
state.history.push(state.zoom); state.zoom = box; chart.selected = box; }); say_box(box); }
function go_back() { if (state.history.length !== 0) { show(() => {
state.zoom = chart.selected = state.history.pop(); }); } else if (state.place >= 0) {
show_place(-1); } else if (state.found !== null) { set_search(''); } } function new_tree() {
state.tree = tree_for(state.is_inverted, state.with_library); state.zoom = chart.selected = 0;
state.history = []; weigh(); find(); } function show_place(place) { show(() => {
state.place = state.place === place ? -1 : place; new_tree(); }); }
function choose_thread(thread) { show(() => { state.of_thread = thread < 0 ? null
: Uint8Array.from(stack_thread, (of) => of === thread ? 1 : 0); new_tree(); }); }
function choose_metric(metric) {
if (metrics[metric] === undefined || !is_known(metrics[metric])) return; show(() => {
state.metric = metric; weigh(); find(); if (state.tree.weight[state.zoom] === 0) {
state.zoom = chart.selected = 0; state.history = []; } });
[...by_id('metrics').children].forEach((button, m) => {
button.setAttribute('aria-checked', m === metric); button.tabIndex = m === metric ? 0 : -1; }); }
function invert() { state.is_inverted = !state.is_inverted;
by_id('invert').setAttribute('aria-pressed', state.is_inverted); show(new_tree); }
function switch_library() { state.with_library = !state.with_library;
by_id('library').setAttribute('aria-pressed', state.with_library); show(new_tree); }
function set_search(wanted) { if (by_id('search').value !== wanted) by_id('search').value = wanted;
state.search = new finder(wanted); show(find); } function show_theme() {
const chosen = document.documentElement.dataset.theme;
by_id('theme').textContent = 'Theme: ' + (chosen === undefined ? 'auto' : chosen); }
function next_theme() { const root = document.documentElement;
const other = dark_scheme.matches ? 'light' : 'dark';
if (root.dataset.theme === undefined) root.dataset.theme = other;
else if (root.dataset.theme === other) root.dataset.theme = other === 'dark' ? 'light' : 'dark';
else delete root.dataset.theme; show_theme(); draw_all(); } const keys = [
['/', 'search', () => by_id('search').select()],
['Escape', 'go back: zoom, place, search', go_back], ['1', 'live bytes', () => choose_metric(0)],
['2', 'live objects', () => choose_metric(1)], ['3', 'allocated bytes', () => choose_metric(2)],
['4', 'allocations', () => choose_metric(3)], ...metrics.slice(common_metrics).map((metric, m) => [
String(common_metrics + m + 1), metric.word, () => choose_metric(common_metrics + m)]),
['i', 'invert: begin with the code that allocates', invert],
['l', 'library frames', switch_library], ['c', 'to the chart', () => chart.canvas.focus()],
['p', 'to the table of places', () => {
if (by_id('places_body').firstChild) by_id('places_body').firstChild.focus(); }],
['t', 'theme: as the system, the other one, and back', next_theme],
['?', 'this help', () => by_id('help').showModal()] ]; const keys_in_parts = [
['\u2190 \u2191 \u2192 \u2193', 'in the chart and the types: move'],
['Enter', 'there: zoom in, search for the type; in the table: only this place'] ];
function on_key(event) {
if (event.ctrlKey || event.metaKey || event.altKey || by_id('help').open) return;
const field = event.target.closest('input, select'); if (field !== null) {
if (event.key !== 'Escape') return; field.blur(); if (field.id === 'search') set_search('');
event.preventDefault(); return; } const known = keys.find((key) => key[0] === event.key);
if (known === undefined) return; event.preventDefault(); known[2](); } function start_tools() {
metrics.forEach((metric, m) => { const button = element('button', metric.name);
button.type = 'button'; button.setAttribute('role', 'radio');
button.setAttribute('aria-keyshortcuts', String(m + 1)); button.disabled = !is_known(metric);
button.title = !button.disabled ? metric.name + ' (' + (m + 1) + ')'
: metric.is_unknown ? 'Not known: the peak was that of another window'
: 'Not known: these stacks are of live objects only';
button.addEventListener('click', () => choose_metric(m));
button.addEventListener('keydown', (event) => {
const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
const next = by_id('metrics').children[m + step];
if (step === undefined || !next || next.disabled) return; choose_metric(m + step); next.focus();
}); by_id('metrics').append(button); }); by_id('invert').addEventListener('click', invert);
by_id('library').addEventListener('click', switch_library);
by_id('theme').addEventListener('click', next_theme);
by_id('help_button').addEventListener('click', () => by_id('help').showModal());
by_id('colors').addEventListener('change', (event) => { state.color_by = event.target.value;
draw_chart(); }); by_id('thread_pick').hidden = !has_threads;
data.thread_names.forEach((name, t) => { const option = element('option', name); option.value = t;
by_id('threads').append(option); });
by_id('threads').addEventListener('change', (event) => choose_thread(Number(event.target.value)));
let waiting = 0; by_id('search').addEventListener('input', (event) => { clearTimeout(waiting);
waiting = setTimeout(() => set_search(event.target.value), stack_count > 20000 ? 150 : 0); });
for (const [key, meaning] of keys.concat(keys_in_parts)) { const name = element('dt');
name.append(element('kbd', key)); by_id('keys').append(name, element('dd', meaning)); }
document.addEventListener('keydown', on_key); } function begins_with_library() { let named = 0;
for (let s = 0; s < stack_count; ++s) {
const frame = last_resort(s) > 0 ? path_frame[last_resort(s)] : -1;
if (frame >= 0 && frame_is_library[frame] === 0) ++named; } return named * 2 < stack_count; }
function start() { by_id('page').hidden = false;
by_id('tools').hidden = by_id('columns').hidden = stack_count === 0; make_colors(); write_head();
start_tools(); start_chart(); start_places(); start_types(); start_timeline(); write_memory();
show_theme(); if (begins_with_library()) { state.with_library = true;
by_id('library').setAttribute('aria-pressed', true); }
state.tree = tree_for(state.is_inverted, state.with_library);
const first = [0, 2].find((m) => whole[m] !== 0 && (m < 2 || data.has_stacks));
choose_metric(first === undefined ? 0 : first); timings.first_paint = performance.now();
const redraw = () => requestAnimationFrame(draw_all); window.addEventListener('resize', redraw);
dark_scheme.addEventListener('change', redraw); window.addEventListener('beforeprint', () => {
is_printing = true; draw_all(); }); window.addEventListener('afterprint', () => {
is_printing = false; draw_all(); }); } window.allocscope_page = {
shorter_types: (name) => shorter_names(name, end_of_scopes(name)),
boxes: () => chart.boxes.map((drawn) => ({
name: box_name(drawn.box), left: drawn.left, top: drawn.top, width: drawn.width,
value: state.tree.value[drawn.box], depth: state.tree.depth[drawn.box],
numbers: numbers_of_box(drawn.box) })), cells: () => treemap.cells.map((cell) => ({
name: cell_name(cell), left: cell.left, top: cell.top, width: cell.width,
height: cell.height, value: cell.value })), timings: () => ({...timings}), unpacked }; start();

function memory_row(name, meaning, bytes_of_part, resident) { const row = element('tr');
row.append(element('td', name), element('td', plain_bytes(bytes_of_part), 'number'));
const share = element('td', undefined, 'share');
const bar = element('span', percent(bytes_of_part, resident), 'share_bar');
bar.style.backgroundSize = (100 * bytes_of_part / resident) + '% 100%'; share.append(bar);
row.append(share, element('td', meaning, 'meaning'));
row.children[1].title = grouped.format(bytes_of_part) + ' bytes'; return row; }
function write_memory() { const memory = data.memory; if (!memory) return;
by_id('memory_card').hidden = false; if (memory.resident === 0) {
by_id('memory_text').textContent = 'not known: /proc/self/smaps could not be read'; return; }
let words = plain_bytes(memory.resident); if (memory.at_ns !== data.duration_ns) {
words += ', ' + duration(memory.at_ns) + ' after the window began'; } if (memory.swapped !== 0) {
words += '; swapped out, and in no part: ' + plain_bytes(memory.swapped); }
by_id('memory_text').textContent = words;
for (const [name, meaning, bytes_of_part] of memory.parts) {
by_id('memory').append(memory_row(name, meaning, bytes_of_part, memory.resident)); } }
)page";

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_SCRIPT_OF_PAGE_TEXT_HPP

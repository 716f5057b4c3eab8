// script_of_views_text.hpp - the script of the page: table, treemap and timeline.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  a constant
// Memory:   none
//
// Generated from tools/page/ by cmake/scripts/page_template.py: edit there, not here.

#ifndef ALLOCSCOPE_PAGE_SCRIPT_OF_VIEWS_TEXT_HPP
#define ALLOCSCOPE_PAGE_SCRIPT_OF_VIEWS_TEXT_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr char page_script_of_views[] = R"page(
const rows_of_page = 25; const places = { sums: metrics.map(() => new Float64Array(place_count)),
lifetimes: new Float64Array(has_details ? place_count : 0), order: [], column: -1,
is_upwards: false, page: 0 }; const place_name = (p) =>
place_text(strings[place_field(p, 0)], place_field(p, 1), place_field(p, 4));
const place_function = (p) => strings[place_field(p, 3)]; function title_of_type(p) {
const source = type_sources[place_type_source(p)];
return type_name(place_type(p)) + (source === undefined ? '' : '\n' + source); }
const place_columns = [ {name: 'Place', text: place_name, between: '/'},
{name: 'Function', text: (p) => short_function(place_function(p)), title: place_function,
between: '::'}, {name: 'Type', text: (p) => type_name(place_type(p)), title: title_of_type},
...metrics.map((metric, m) => ({name: metric.name, metric: m})),
...(has_details ? [{name: is_difference ? 'Lived' : 'Mean life', is_life: true}] : []),
{name: 'Share', metric: -1}
].filter((column) => !(column.metric >= 0) || is_known(metrics[column.metric]));
const life_of = (p) => places.lifetimes[p] / (is_difference ? 1 : Math.max(1, places.sums[3][p]));
function metric_of(column) { return column.metric < 0 ? state.metric : column.metric; }
function sort_places() { const column = place_columns[places.column] || {metric: -1};
const upwards = places.is_upwards ? 1 : -1; if (column.text !== undefined) {
const texts = new Map(places.order.map((p) => [p, column.text(p)]));
const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
places.order.sort((a, b) => -upwards * compare(texts.get(a), texts.get(b)) || a - b); return; }
const values = column.is_life ? places.order.reduce((lives, p) => { lives[p] = life_of(p);
return lives; }, new Float64Array(place_count)) : places.sums[metric_of(column)];
places.order.sort((a, b) => upwards * (Math.abs(values[a]) - Math.abs(values[b])) || a - b); }
function count_places(is_in) { const seen = new Uint8Array(place_count);
places.sums.forEach((values) => values.fill(0)); places.lifetimes.fill(0);
for (let s = 0; s < stack_count; ++s) { if (is_in !== null && is_in[s] === 0) continue;
const p = stack_place[s]; if (has_details) places.lifetimes[p] += stack_lifetime[s];
for (let m = 0; m < metrics.length; ++m) { places.sums[m][p] += stack_values[m][s];
if (stack_values[m][s] !== 0) seen[p] = 1; } } places.order = [];
for (let p = 0; p < place_count; ++p) if (seen[p]) places.order.push(p); sort_places();
places.page = 0; } function interval_of(p, metric) { if (!is_sampled || metric > 1) return '';
const low = place_field(p, metric === 0 ? 9 : 7);
const high = place_field(p, metric === 0 ? 10 : 8); if (low === 0 && high === 0) return '';
const samples = place_field(p, 6);
return '95%: ' + signed(low) + ' to ' + signed(high) + (metric === 0 ? ' bytes' : '') +
' in the whole window, from ' + grouped.format(samples) + (samples === 1 ? ' sample' : ' samples');
} function number_cell(p, column) { if (column.is_life) { const life = Math.round(life_of(p));
const size = duration(Math.round(Math.abs(life_of(p)) * 1000));
const cell = element('td', (is_difference ? sign_of(life) : '') + size, 'number');
cell.title = exact(life) + ' \u00b5s, ' +
(is_difference ? 'of all objects together' : 'a live object counts until now'); return cell; }
const m = metric_of(column); const value = places.sums[m][p];
const cell = element('td', undefined, 'number'); const full = interval_of(p, m);
cell.title = exactly(m, value) + (full === '' ? '' : '\n' + full);
if (is_difference && value !== 0) cell.classList.add(value > 0 ? 'up' : 'down');
if (column.metric >= 0) { cell.textContent = shown(m, value); return cell; }
cell.classList.add('share');
const bar = element('span', percent(Math.abs(value), whole[m]), 'share_bar');
const part = whole[m] === 0 ? 0 : Math.abs(value) / whole[m];
bar.style.backgroundSize = Math.min(100, part * 100).toFixed(1) + '% 100%'; cell.append(bar);
return cell; } function begin_of_own(text, between) {
const at = between === undefined ? -1 : text.lastIndexOf(between);
return at < 0 ? 0 : at + between.length; } function row_of_place(p) { const row = element('tr');
row.dataset.place = p; row.tabIndex = 0; row.setAttribute('aria-selected', state.place === p);
for (const column of place_columns) { if (column.text === undefined) {
row.append(number_cell(p, column)); continue; } const text = column.text(p);
const cell = element('td', undefined, 'text ' + column.name.toLowerCase());
cell.title = column.title === undefined ? text : column.title(p);
if (text.includes('::') && end_of_scopes(text) === text.length) cell.classList.add('scoped');
const inner = element('bdi'); inner.dir = 'ltr'; const begin = begin_of_own(text, column.between);
inner.append(element('span', text.slice(0, begin), 'outer'), text.slice(begin));
cell.append(inner); row.append(cell); } return row; } function draw_places() {
const count = places.order.length; const pages = Math.max(1, Math.ceil(count / rows_of_page));
places.page = Math.min(places.page, pages - 1); const from = places.page * rows_of_page;
const shown_rows = places.order.slice(from, from + rows_of_page);
const is_part = state.zoom !== 0 || state.found !== null || state.of_thread !== null;
by_id('places_body').replaceChildren(...shown_rows.map(row_of_place));
by_id('places_text').textContent = count === 0 ? 'none'
: grouped.format(count) + (count === 1 ? ' place' : ' places') +
(is_part ? ' of ' + grouped.format(place_count) : '');
by_id('pages').textContent = pages === 1 ? '' :
grouped.format(from + 1) + '\u2013' + grouped.format(from + shown_rows.length) + ' of ' +
grouped.format(count); by_id('earlier').hidden = by_id('later').hidden = pages === 1;
by_id('earlier').disabled = places.page === 0; by_id('later').disabled = places.page === pages - 1;
[...by_id('places_head').children].forEach((head, number) => {
const column = place_columns[number];
const is_chosen = places.column < 0 ? column.metric === -1 : places.column === number;
if (!is_chosen) head.removeAttribute('aria-sort');
else head.setAttribute('aria-sort', places.is_upwards ? 'ascending' : 'descending'); }); }
function turn_page(step) { places.page += step; draw_places(); } function start_places() {
place_columns.forEach((column, number) => { const head = element('th', undefined,
column.text === undefined ? 'number' : column.name.toLowerCase()); head.scope = 'col';
const button = element('button', column.name); button.type = 'button';
button.addEventListener('click', () => { const is_same = places.column === number;
places.is_upwards = is_same ? !places.is_upwards : false; places.column = number; sort_places();
places.page = 0; draw_places(); }); head.append(button); by_id('places_head').append(head); });
const body = by_id('places_body'); const choose = (row) => {
if (row !== null) show_place(Number(row.dataset.place)); };
body.addEventListener('click', (event) => choose(event.target.closest('tr')));
body.addEventListener('keydown', (event) => { const row = event.target.closest('tr');
const next = event.key === 'ArrowDown' ? row.nextElementSibling
: event.key === 'ArrowUp' ? row.previousElementSibling : null;
if (event.key === 'Enter' || event.key === ' ') { event.preventDefault();
const at = [...body.children].indexOf(row); choose(row);
if (body.children[at]) body.children[at].focus(); } else if (next !== null) {
event.preventDefault(); next.focus(); } });
by_id('earlier').addEventListener('click', () => turn_page(-1));
by_id('later').addEventListener('click', () => turn_page(1)); }

const treemap = {canvas: by_id('types'), cells: [], selected: 0, hovered: -1};
const most_cells = 300; function sums_of_types(is_in) { const values = stack_values[state.metric];
const sums = new Map(); for (let s = 0; s < stack_count; ++s) {
if (is_in !== null && is_in[s] === 0 || values[s] === 0) continue;
const type = place_type(stack_place[s]); const sum = sums.get(type) || {type, value: 0, weight: 0};
sum.value += values[s]; sum.weight += Math.abs(values[s]); sums.set(type, sum); }
return [...sums.values()].sort((a, b) => b.weight - a.weight || a.type - b.type); }
function worst_shape(least, most, sum, side) {
return Math.max(side * side * most / (sum * sum), sum * sum / (side * side * least)); }
function squarified(cells, width, height) {
const total = cells.reduce((sum, cell) => sum + cell.weight, 0); if (total === 0) return;
const scale = width * height / total; let left = 0; let top = 0;
for (let from = 0; from < cells.length;) { const is_wide = width - left >= height - top;
const side = is_wide ? height - top : width - left; const largest = cells[from].weight * scale;
let sum = 0; let to = from; for (let best = Infinity; to < cells.length; ++to) {
const area = cells[to].weight * scale; const shape = worst_shape(area, largest, sum + area, side);
if (shape > best) break; best = shape; sum += area; } const thick = side === 0 ? 0 : sum / side;
let along = is_wide ? top : left; for (; from < to; ++from) { const cell = cells[from];
const length = thick === 0 ? 0 : cell.weight * scale / thick;
if (is_wide) Object.assign(cell, {left, top: along, width: thick, height: length});
else Object.assign(cell, {left: along, top, width: length, height: thick}); along += length; }
if (is_wide) left += thick; else top += thick; } } function count_types(is_in) {
let cells = sums_of_types(is_in); by_id('types_text').textContent = cells.length === 0 ? 'none'
: grouped.format(cells.length) + (cells.length === 1 ? ' type' : ' types');
if (cells.length > most_cells) { const rest = {type: -1, value: 0, weight: 0};
for (const cell of cells.slice(most_cells)) { rest.value += cell.value; rest.weight += cell.weight;
} cells = cells.slice(0, most_cells).concat(rest).sort((a, b) => b.weight - a.weight); }
treemap.cells = cells; treemap.canvas.hidden = cells.length === 0; treemap.selected = 0;
treemap.hovered = -1; }
const cell_name = (cell) => cell.type < 0 ? 'other types' : type_name(cell.type);
function draw_cell(paint, cell, number) { const wide = Math.max(cell.width - 1.5, 0.5);
const high = Math.max(cell.height - 1.5, 0.5); paint.fillStyle = cell.type < 0 ? colors.tiny
: is_difference ? color_of_change(cell.value, cell.weight)
: color_by_name('type ' + strings[cell.type]); paint.fillRect(cell.left, cell.top, wide, high);
if (wide > 34 && high > 18) { paint.fillStyle = colors.text;
const name = fitting_name(paint, cell_name(cell), wide - 12, true);
paint.fillText(name.text, cell.left + 6, cell.top + 12);
const amount = shown(state.metric, cell.value);
if (high > 36 && width_of(paint, amount) <= wide - 12) { paint.globalAlpha = 0.7;
paint.fillText(amount, cell.left + 6, cell.top + 28); paint.globalAlpha = 1; } }
const is_marked = number === treemap.hovered ||
number === treemap.selected && document.activeElement === treemap.canvas; if (!is_marked) return;
paint.strokeStyle = number === treemap.hovered ? colors.text : colors.accent; paint.lineWidth = 2;
paint.strokeRect(cell.left + 1, cell.top + 1, Math.max(wide - 2, 1), Math.max(high - 2, 1)); }
function draw_types() { const width = width_for(treemap.canvas);
const height = is_printing ? 260 : treemap.canvas.clientHeight;
const paint = fresh_canvas(treemap.canvas, width, height);
squarified(treemap.cells, width, height);
treemap.cells.forEach((cell, number) => draw_cell(paint, cell, number)); }
function cell_at(event) { const frame = treemap.canvas.getBoundingClientRect();
const x = event.clientX - frame.left; const y = event.clientY - frame.top;
return treemap.cells.findIndex((cell) => x >= cell.left && x < cell.left + cell.width &&
y >= cell.top && y < cell.top + cell.height); } function search_for_cell(cell) {
if (cell === undefined || cell.type < 0) return; const wanted = 'type:=' + strings[cell.type];
set_search(state.search.wanted === wanted ? '' : wanted); } function start_types() {
const canvas = treemap.canvas; canvas.addEventListener('mousemove', (event) => {
const hit = cell_at(event); if (hit !== treemap.hovered) { treemap.hovered = hit; draw_types(); }
if (hit < 0) { hide_tip(); return; } const cell = treemap.cells[hit];
const lines = [[cell_name(cell), 'main'], [exactly(state.metric, cell.value), 'place']];
const share = percent(cell.weight, whole[state.metric]);
show_tip(event.clientX, event.clientY, lines.concat([[share + ' of all', 'place']]), []); });
canvas.addEventListener('mouseleave', () => { treemap.hovered = -1; hide_tip(); draw_types(); });
canvas.addEventListener('click', (event) => search_for_cell(treemap.cells[cell_at(event)]));
canvas.addEventListener('keydown', (event) => {
const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
if (step !== undefined) { event.preventDefault(); const last = treemap.cells.length - 1;
treemap.selected = Math.max(0, Math.min(last, treemap.selected + step)); draw_types();
const cell = treemap.cells[treemap.selected]; if (cell) {
by_id('spoken').textContent = cell_name(cell) + ', ' + exactly(state.metric, cell.value); }
} else if (event.key === 'Enter') { search_for_cell(treemap.cells[treemap.selected]); } });
canvas.addEventListener('focus', draw_types); canvas.addEventListener('blur', draw_types); }

const timeline = {canvas: by_id('timeline'), hovered: -1}; const moments = data.moments;
function highest(values) { return values.reduce((most, value) => Math.max(most, value), 0); }
function draw_series(paint, field, top, x_of, y_of) { paint.beginPath();
moments.forEach((moment, number) => { const x = x_of(moment[0]);
const y = y_of(moment[field] / top); if (number === 0) paint.moveTo(x, y); else paint.lineTo(x, y);
}); } function draw_timeline() { const canvas = timeline.canvas; if (moments.length === 0) return;
const width = width_for(canvas); const height = is_printing ? 150 : canvas.clientHeight;
const paint = fresh_canvas(canvas, width, height); const first = 0;
const last = moments[moments.length - 1][0];
const most_bytes = Math.max(1, highest(moments.map((moment) => moment[2])));
const most_objects = Math.max(1, highest(moments.map((moment) => moment[1])));
const margin = is_sampled ? 74 : 64; const left = margin; const right = width - margin;
const bottom = height - 20;
const x_of = (time) => last === first ? left : left + (time - first) / (last - first) *
(right - left); const y_of = (share) => bottom - share * (bottom - 24); timeline.x_of = x_of;
paint.strokeStyle = colors.line; paint.lineWidth = 1; for (const share of [0, 0.5, 1]) {
const y = Math.round(y_of(share)) + 0.5; paint.beginPath(); paint.moveTo(left, y);
paint.lineTo(right, y); paint.stroke(); paint.fillStyle = colors.accent; paint.textAlign = 'right';
paint.fillText(approximately(plain_bytes(Math.round(most_bytes * share))), left - 8, y);
paint.fillStyle = colors.objects; paint.textAlign = 'left';
paint.fillText(approximately(grouped.format(most_objects * share)), right + 8, y); }
draw_series(paint, 2, most_bytes, x_of, y_of); paint.lineTo(x_of(last), bottom);
paint.lineTo(x_of(moments[0][0]), bottom); paint.fillStyle = colors.area; paint.fill();
draw_series(paint, 2, most_bytes, x_of, y_of); paint.strokeStyle = colors.accent;
paint.lineWidth = 1.5; paint.stroke(); draw_series(paint, 1, most_objects, x_of, y_of);
paint.strokeStyle = colors.objects; paint.stroke(); draw_marks(paint, x_of, bottom, right);
paint.fillStyle = colors.quiet; paint.textAlign = 'left';
paint.fillText(duration(first), left, height - 7); paint.textAlign = 'right';
paint.fillText(duration(last), right, height - 7); paint.textAlign = 'left';
if (timeline.hovered < 0) return; const x = x_of(moments[timeline.hovered][0]);
paint.strokeStyle = colors.text; paint.lineWidth = 1; paint.beginPath(); paint.moveTo(x, 14);
paint.lineTo(x, bottom); paint.stroke(); } function draw_marks(paint, x_of, bottom, right) {
let free_from = 0; paint.strokeStyle = colors.quiet; paint.fillStyle = colors.text;
paint.lineWidth = 1; for (const moment of moments) { if (moment[5] === '') continue;
const x = x_of(moment[0]); paint.setLineDash([3, 3]); paint.beginPath(); paint.moveTo(x, 14);
paint.lineTo(x, bottom); paint.stroke(); paint.setLineDash([]);
const name = fitting(paint, moment[5], Math.min(180, right - x - 4));
if (x >= free_from && name.width > 0) { paint.fillText(name.text, x + 3, 8);
free_from = x + name.width + 12; } } } function show_moment(number, x, y) {
timeline.hovered = number; draw_timeline(); const moment = moments[number];
show_tip(x, y, [['after ' + duration(moment[0]), 'main'], [moment[5], 'place']], [
['Live bytes', approximately(grouped.format(moment[2])), plain_bytes(moment[2])],
['Live objects', approximately(grouped.format(moment[1])), ''],
['Allocated bytes', approximately(grouped.format(moment[4])), plain_bytes(moment[4])],
['Allocations', approximately(grouped.format(moment[3])), ''] ]); } function nearest_moment(x) {
let best = 0; moments.forEach((moment, number) => {
const distance = (at) => Math.abs(timeline.x_of(moments[at][0]) - x);
if (distance(number) < distance(best)) best = number; }); return best; }
function start_timeline() { if (moments.length === 0) return;
by_id('timeline_card').hidden = false; const most = highest(moments.map((moment) => moment[2]));
const most_objects = highest(moments.map((moment) => moment[1]));
const words = grouped.format(moments.length) +
(moments.length === 1 ? ' moment' : ' moments') + '; at most ' +
approximately(plain_bytes(most)) + ' (area) and ' + approximately(grouped.format(most_objects)) +
(most_objects === 1 ? ' object' : ' objects') + ' (line) alive';
by_id('timeline_text').textContent = words; const canvas = timeline.canvas;
canvas.setAttribute('aria-label', 'Live bytes and live objects over time: ' + words);
canvas.addEventListener('mousemove', (event) => {
const x = event.clientX - canvas.getBoundingClientRect().left;
show_moment(nearest_moment(x), event.clientX, event.clientY); }); const leave = () => {
timeline.hovered = -1; hide_tip(); draw_timeline(); };
canvas.addEventListener('mouseleave', leave); canvas.addEventListener('blur', leave);
canvas.addEventListener('keydown', (event) => {
const step = {ArrowRight: 1, ArrowLeft: -1}[event.key]; if (step === undefined) return;
event.preventDefault();
const number = Math.max(0, Math.min(moments.length - 1, timeline.hovered + step));
const frame = canvas.getBoundingClientRect();
show_moment(number, frame.left + timeline.x_of(moments[number][0]), frame.top + 30);
by_id('spoken').textContent = tip.textContent; }); }
)page";

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_SCRIPT_OF_VIEWS_TEXT_HPP

// script_of_chart_text.hpp - the script of the page: colours and the chart.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  a constant
// Memory:   none
//
// Generated from tools/page/ by cmake/scripts/page_template.py: edit there, not here.

#ifndef ALLOCSCOPE_PAGE_SCRIPT_OF_CHART_TEXT_HPP
#define ALLOCSCOPE_PAGE_SCRIPT_OF_CHART_TEXT_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr char page_script_of_chart[] = R"page(
const dark_scheme = matchMedia('(prefers-color-scheme: dark)'); let is_printing = false;
function is_dark() { const chosen = document.documentElement.dataset.theme;
return !is_printing && (chosen === 'dark' || chosen !== 'light' && dark_scheme.matches); }
function color_of(lightness, chroma, degrees) {
const a = chroma * Math.cos(degrees * Math.PI / 180);
const b = chroma * Math.sin(degrees * Math.PI / 180);
const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3; const linear = [
4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s ]; const shares = linear.map((x) => {
const light = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
return Math.round(255 * Math.min(1, Math.max(0, light))); });
return 'rgb(' + shares.join(',') + ')'; } function hash_of(text) { let hash = 0x811c9dc5;
for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
return (hash ^ hash >>> 15) >>> 0; } let colors = null; function make_colors() {
const dark = is_dark(); const hue = (lightness, chroma) => Array.from({length: 30}, (_, i) =>
color_of(lightness + (i % 2 === 0 ? 0.012 : -0.012), chroma, i * 12));
const change = (degrees) => Array.from({length: 8}, (_, i) =>
dark ? color_of(0.34 + 0.012 * i, 0.025 + 0.014 * i, degrees)
: color_of(0.93 - 0.018 * i, 0.022 + 0.012 * i, degrees)); colors = {
by_name: dark ? hue(0.43, 0.062) : hue(0.875, 0.062), more: change(25), less: change(255),
root: dark ? '#323a46' : '#dde2e9', none: dark ? '#2c323c' : '#e6e9ee',
tiny: dark ? '#343b46' : '#d8dde4', found: dark ? '#a8791a' : '#ffd24a',
edge: dark ? '#1b1f26' : '#ffffff', text: dark ? '#eef1f6' : '#1b2430',
quiet: dark ? '#9aa5b5' : '#5a6675', line: dark ? '#2c323c' : '#e1e4e9',
accent: dark ? '#7db7ff' : '#0b5cad', area: dark ? '#2b4a6b' : '#cfe2f6',
objects: dark ? '#f0b866' : '#a85f00' }; } const name_colors = new Map();
function color_by_name(name) { let at = name_colors.get(name); if (at === undefined) {
at = hash_of(name) % 30; name_colors.set(name, at); } return colors.by_name[at]; }
function color_of_change(value, weight) { if (value === 0 || weight === 0) return colors.none;
const strength = Math.min(7, Math.floor(Math.abs(value) / weight * 8));
return value > 0 ? colors.more[strength] : colors.less[strength]; }
const page_font = '12px system-ui, -apple-system, "Segoe UI", Roboto, Cantarell, sans-serif';
function width_for(element) { return is_printing ? 720 : element.clientWidth; }
function fresh_canvas(canvas, width, height) {
const ratio = is_printing ? 2 : Math.min(window.devicePixelRatio || 1, 3);
const pixels_wide = Math.max(1, Math.round(width * ratio));
const pixels_high = Math.max(1, Math.round(height * ratio));
if (canvas.width !== pixels_wide) canvas.width = pixels_wide;
if (canvas.height !== pixels_high) canvas.height = pixels_high;
const paint = canvas.getContext('2d'); paint.setTransform(ratio, 0, 0, ratio, 0, 0);
paint.clearRect(0, 0, width, height); paint.font = page_font; paint.textBaseline = 'middle';
return paint; } const text_widths = new Map(); function width_of(paint, text) {
let width = text_widths.get(text); if (width === undefined) {
if (text_widths.size > 20000) text_widths.clear(); width = paint.measureText(text).width;
text_widths.set(text, width); } return width; } function fitting(paint, text, room) {
const width = width_of(paint, text); if (width <= room) return {text, width};
let length = Math.floor(text.length * room / width); while (length > 1) {
const cut = text.slice(0, length).trimEnd() + '\u2026';
const cut_width = paint.measureText(cut).width;
if (cut_width <= room) return {text: cut, width: cut_width}; --length; }
return {text: '', width: 0}; } function fitting_name(paint, name, room, is_type) {
if (width_of(paint, name) <= room) return {text: name, width: width_of(paint, name)};
const names = shorter_names(name, is_type ? end_of_scopes(name) : name.length);
const fits = names.find((each) => width_of(paint, each) <= room);
return fitting(paint, fits === undefined ? names[names.length - 1] : fits, room); }
const tip = by_id('tip'); function element(name, text, kind) {
const made = document.createElement(name); if (text !== undefined) made.textContent = text;
if (kind) made.className = kind; return made; } function hide_tip() { tip.hidden = true; }
function show_tip(x, y, lines, rows, chosen) {
tip.replaceChildren(...lines.filter((line) => line[0] !== '')
.map((line) => element('div', line[0], line[1]))); if (rows.length !== 0) {
const table = element('table'); rows.forEach((row, number) => {
const line = element('tr', undefined, number === chosen ? 'chosen' : '');
row.forEach((cell, column) => line.append(element('td', cell, column ? 'number' : '')));
table.append(line); }); tip.append(table); } tip.hidden = false;
const box = tip.getBoundingClientRect();
const left = x + 16 + box.width < innerWidth ? x + 16 : Math.max(4, x - 12 - box.width);
const top = y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - 12 - box.height);
tip.style.left = left + 'px'; tip.style.top = top + 'px'; }

const row_height = 21; const chart = { canvas: by_id('chart'), scroll: by_id('chart_scroll'),
space: by_id('chart_space'), selected: 0, hovered: -1, boxes: [] }; function box_name(box) {
if (box === 0) return state.place < 0 ? 'all' : 'this place'; const key = state.tree.key[box];
return key >= 0 ? frame_name(key) : type_name(-1 - key); } function box_color(box) {
const tree = state.tree; if (box === 0) return colors.root; const key = tree.key[box];
if (state.found !== null && state.search.fits_key(key)) return colors.found;
if (is_difference) return color_of_change(tree.value[box], tree.weight[box]);
if (key < 0) return color_by_name('type ' + strings[-1 - key]);
const name = state.color_by === 'file' ? frame_file(key) || frame_module(key) : frame_module(key);
return color_by_name(name); } function draw_further(paint, box, left, right, middle) {
const number = shown(state.metric, state.tree.value[box]);
const number_width = width_of(paint, number); if (left + number_width > right) return;
paint.globalAlpha *= 0.66; const key = state.tree.key[box];
if (box !== 0 && key >= 0 && frame_line(key) !== 0) {
const line = base_name(frame_file(key)) + ':' + frame_line(key);
const line_width = width_of(paint, line); if (left + line_width + 12 + number_width <= right) {
paint.fillText(line, left, middle); left += line_width + 12; } }
paint.fillText(number, left, middle); } function draw_box(paint, box, left, top, width, is_above) {
const is_lost = state.found !== null && !(state.found_weight[box] > 0);
paint.globalAlpha = is_lost ? 0.28 : is_above ? 0.62 : 1; paint.fillStyle = box_color(box);
paint.fillRect(left, top, Math.max(width - (width > 3 ? 1 : 0), 0.5), row_height - 1);
if (width > 32) { paint.fillStyle = colors.text;
const is_type = box !== 0 && state.tree.key[box] < 0;
const name = fitting_name(paint, box_name(box), width - 10, is_type);
paint.fillText(name.text, left + 5, top + row_height / 2);
draw_further(paint, box, left + name.width + 14, left + width - 8, top + row_height / 2); }
if (width >= 2) chart.boxes.push({box, left, top, width}); }
function outline(paint, drawn, color) { paint.globalAlpha = 1; paint.strokeStyle = color;
paint.lineWidth = 2;
paint.strokeRect(drawn.left + 1, drawn.top + 1, Math.max(drawn.width - 3, 1), row_height - 3); }
function draw_rest(paint, from, to, left, top, width) { paint.globalAlpha = 1;
paint.fillStyle = colors.tiny; paint.fillRect(left, top, width, row_height - 1);
if (width < 70) return; const tree = state.tree; let count = 0; let value = 0;
for (let i = from; i < to; ++i) { count += tree.weight[tree.children[i]] > 0 ? 1 : 0;
value += tree.value[tree.children[i]]; }
const words = grouped.format(count) + ' more, ' + shown(state.metric, value);
paint.fillStyle = colors.quiet;
paint.fillText(fitting(paint, words, width - 10).text, left + 5, top + row_height / 2); }
function draw_beneath(paint, top_of, width, height) { const tree = state.tree;
const zoom = state.zoom; const scale = width / tree.weight[zoom]; const waiting = [zoom];
while (waiting.length !== 0) { const box = waiting.pop(); const top = top_of(tree.depth[box] + 1);
if (top > height) continue; for (let i = tree.first[box]; i < tree.first[box + 1]; ++i) {
const child = tree.children[i]; const left = (tree.begin[child] - tree.begin[zoom]) * scale;
const wide = tree.weight[child] * scale; if (wide < 0.5) {
const end = (tree.begin[box] + tree.weight[box] - tree.begin[zoom]) * scale;
if (tree.weight[child] > 0 && end - left >= 0.5 && top > -row_height) {
draw_rest(paint, i, tree.first[box + 1], left, top, end - left); } break; }
if (top > -row_height) draw_box(paint, child, left, top, wide, false); waiting.push(child); } } }
function deepest_row(top, width) { const tree = state.tree;
const least = tree.weight[top] / width / 2; const waiting = [top]; let deepest = tree.depth[top];
while (waiting.length !== 0) { const box = waiting.pop();
deepest = Math.max(deepest, tree.depth[box]);
for (let i = tree.first[box]; i < tree.first[box + 1]; ++i) { const child = tree.children[i];
if (!(tree.weight[child] > 0)) break; deepest = Math.max(deepest, tree.depth[child]);
if (tree.weight[child] < least) break; waiting.push(child); } } return deepest; }
function draw_chart() { const tree = state.tree; const width = width_for(chart.scroll);
const rows = Math.max(deepest_row(0, width), deepest_row(state.zoom, width));
const full_height = (rows + 1) * row_height; chart.space.style.height = full_height + 'px';
const most = is_printing ? full_height : Math.max(160, Math.floor(innerHeight * 0.62));
const height = Math.min(full_height, most); chart.canvas.style.height = height + 'px';
const paint = fresh_canvas(chart.canvas, width, height); chart.boxes = [];
const scrolled = is_printing ? 0 : chart.scroll.scrollTop;
const top_of = (depth) => depth * row_height - scrolled;
for (let box = state.zoom; box >= 0; box = tree.parent[box]) { const top = top_of(tree.depth[box]);
if (top > -row_height && top < height) { draw_box(paint, box, 0, top, width, box !== state.zoom); }
} if (tree.weight[state.zoom] > 0) draw_beneath(paint, top_of, width, height);
for (const drawn of chart.boxes) {
if (drawn.box === chart.hovered) outline(paint, drawn, colors.text);
if (drawn.box === chart.selected && document.activeElement === chart.canvas) {
outline(paint, drawn, colors.accent); } } } function box_at(event) {
const frame = chart.canvas.getBoundingClientRect(); const x = event.clientX - frame.left;
const y = event.clientY - frame.top;
const hit = chart.boxes.find((drawn) => x >= drawn.left && x < drawn.left + drawn.width &&
y >= drawn.top && y < drawn.top + row_height); return hit === undefined ? -1 : hit.box; }
function numbers_of_box(box) { const under = stacks_under(box);
return sums_of((s) => under[s] !== 0 && (state.wanted === null || state.wanted[s] !== 0)); }
function rows_of_numbers(sums) { return metrics.map((metric, m) => [ metric.name,
is_known(metric) ? exact(sums[m]) : '\u2013',
metric.is_bytes && is_known(metric) ? bytes(sums[m]) : '',
is_known(metric) && !is_difference ? percent(sums[m], whole[m]) : '' ]); }
function lines_of_box(box) { const key = state.tree.key[box];
if (box === 0) return [[box_name(box), 'main']];
if (key < 0) return [[type_name(-1 - key), 'main'], ['type', 'place']]; return [
[frame_function(key) || frame_name(key), 'main'],
[frame_place(key) + (frame_is_inlined(key) ? ' (inlined)' : ''), 'place'],
[frame_module(key), 'place'] ]; }
const said_of_box = {box: -1, tree: null, wanted: null, sums: null};
function tip_for_box(event, box) { const said = said_of_box;
if (said.box !== box || said.tree !== state.tree || said.wanted !== state.wanted) {
Object.assign(said, {box, tree: state.tree, wanted: state.wanted, sums: numbers_of_box(box)}); }
show_tip(event.clientX, event.clientY, lines_of_box(box), rows_of_numbers(said.sums),
state.metric); } function say_box(box) { const value = state.tree.value[box];
const parts = lines_of_box(box).map((line) => line[0]).filter((line) => line !== '');
parts.push(exactly(state.metric, value));
if (!is_difference) parts.push(percent(value, whole[state.metric]));
by_id('spoken').textContent = parts.join(', '); } function sibling(box, step) {
const tree = state.tree; const above = tree.parent[box];
if (above < 0 || box === state.zoom) return box;
for (let i = tree.first[above]; i < tree.first[above + 1]; ++i) {
if (tree.children[i] !== box) continue; const next = i + step;
const is_there = next >= tree.first[above] && next < tree.first[above + 1] &&
tree.weight[tree.children[next]] > 0; return is_there ? tree.children[next] : box; } return box; }
function moved(box, key) { const tree = state.tree;
if (key === 'ArrowUp') return Math.max(0, tree.parent[box]);
if (key === 'ArrowLeft') return sibling(box, -1); if (key === 'ArrowRight') return sibling(box, 1);
const child = tree.children[tree.first[box]];
return tree.first[box] < tree.first[box + 1] && tree.weight[child] > 0 ? child : box; }
function select_box(box) { chart.selected = box; const top = state.tree.depth[box] * row_height;
const seen = chart.scroll.clientHeight;
if (top < chart.scroll.scrollTop) chart.scroll.scrollTop = top;
if (top + row_height > chart.scroll.scrollTop + seen) {
chart.scroll.scrollTop = top + row_height - seen; } draw_chart(); say_box(box); }
function start_chart() { chart.canvas.addEventListener('mousemove', (event) => {
const box = box_at(event); if (box !== chart.hovered) { chart.hovered = box; draw_chart(); }
if (box < 0) hide_tip(); else tip_for_box(event, box); });
chart.canvas.addEventListener('mouseleave', () => { chart.hovered = -1; hide_tip(); draw_chart();
}); chart.canvas.addEventListener('click', (event) => { const box = box_at(event);
if (box >= 0) zoom_to(box); }); chart.canvas.addEventListener('keydown', (event) => {
if (event.key.startsWith('Arrow')) { event.preventDefault();
select_box(moved(chart.selected, event.key));
} else if (event.key === 'Enter' || event.key === ' ') { event.preventDefault();
zoom_to(chart.selected); } }); chart.canvas.addEventListener('focus', () => {
if (chart.canvas.matches(':focus-visible')) select_box(chart.selected); });
chart.canvas.addEventListener('blur', draw_chart);
chart.scroll.addEventListener('scroll', () => requestAnimationFrame(draw_chart)); }
)page";

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_SCRIPT_OF_CHART_TEXT_HPP

// script_of_data_text.hpp - the script of the page: what it knows, the tree, the search.
//
// Room:     page (floor 10), not malloc-safe
// Called:   by page/page_writer.hpp
// Threads:  a constant
// Memory:   none
//
// Generated from tools/page/ by cmake/scripts/page_template.py: edit there, not here.

#ifndef ALLOCSCOPE_PAGE_SCRIPT_OF_DATA_TEXT_HPP
#define ALLOCSCOPE_PAGE_SCRIPT_OF_DATA_TEXT_HPP

#include <allocscope/config.hpp>

ALLOCSCOPE_NAMESPACE_BEGIN

namespace detail {

constexpr char page_script_of_data[] = R"page(
const by_id = (id) => document.getElementById(id);
const data = JSON.parse(by_id('data').textContent); const strings = data.strings;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const minus = '-'.charCodeAt(0); const digit_of = new Uint8Array(128);
for (let i = 0; i < alphabet.length; ++i) digit_of[alphabet.charCodeAt(i)] = i;
digit_of[minus] = 32; function unpacked(list) { let count = 0;
for (let i = 0; i < list.length; ++i) count += digit_of[list.charCodeAt(i)] < 32 ? 1 : 0;
const numbers = new Float64Array(count); for (let n = 0, at = 0; n < count; ++n) {
const is_negative = list.charCodeAt(at) === minus; if (is_negative) ++at; let number = 0;
let digit = 32; for (let weight = 1; digit >= 32; weight *= 32) {
digit = digit_of[list.charCodeAt(at++)]; number += (digit & 31) * weight; }
numbers[n] = is_negative ? -number : number; } return numbers; }
for (const name of ['stacks', 'nodes', 'frames', 'places']) data[name] = unpacked(data[name]);
const is_difference = data.is_difference; const is_sampled = data.record === 'sampled';
const metrics = [ {name: 'Live bytes', word: 'live bytes', is_bytes: true, needs_stacks: false},
{name: 'Live objects', word: 'live objects', is_bytes: false, needs_stacks: false},
{name: 'Allocated bytes', word: 'allocated bytes', is_bytes: true, needs_stacks: true},
{name: 'Allocations', word: 'allocations', is_bytes: false, needs_stacks: true} ];
const common_metrics = metrics.length; const has_details = data.has_details && data.has_stacks;
if (has_details) { metrics.push(
{name: 'Bytes at the peak', word: 'bytes alive at the peak', is_bytes: true,
needs_stacks: true, is_unknown: !data.has_peak_details},
{name: 'Temporary', word: 'temporary allocations', is_bytes: false, needs_stacks: true}); }
const is_known = (metric) => !metric.is_unknown && (!metric.needs_stacks || data.has_stacks);
const frame_width = 6; const frame_count = data.frames.length / frame_width;
const frames = data.frames; const frame_function = (f) => strings[frames[f * frame_width]];
const frame_file = (f) => strings[frames[f * frame_width + 1]];
const frame_line = (f) => frames[f * frame_width + 2];
const frame_module = (f) => strings[frames[f * frame_width + 3]];
const frame_is_inlined = (f) => frames[f * frame_width + 4] !== 0;
const frame_offset = (f) => frames[f * frame_width + 5];
const path_count = data.nodes.length / 2 + 1; const path_parent = new Int32Array(path_count);
const path_frame = new Int32Array(path_count); path_parent[0] = path_frame[0] = -1;
for (let n = 1; n < path_count; ++n) { path_parent[n] = n - data.nodes[n * 2 - 2];
path_frame[n] = data.nodes[n * 2 - 1]; } const place_width = is_sampled ? 11 : 6;
const place_count = data.places.length / place_width;
const place_field = (p, field) => data.places[p * place_width + field];
const place_type = (p) => place_field(p, 2);
const place_type_source = (p) => strings[place_field(p, 5)];
const has_threads = data.thread_names.length > 1;
const stack_width = 7 + (has_threads ? 1 : 0) + (has_details ? 3 : 0);
const stack_count = data.stacks.length / stack_width;
const stack_path = new Int32Array(stack_count); const stack_place = new Int32Array(stack_count);
const stack_inner = new Int32Array(stack_count);
const stack_thread = new Int32Array(has_threads ? stack_count : 0);
const stack_lifetime = new Float64Array(has_details ? stack_count : 0);
const stack_values = metrics.map(() => new Float64Array(stack_count));
for (let s = 0, at = 0; s < stack_count; ++s) { stack_path[s] = data.stacks[at++];
stack_place[s] = data.stacks[at++]; stack_inner[s] = data.stacks[at++];
for (let m = 0; m < common_metrics; ++m) stack_values[m][s] = data.stacks[at++];
if (has_threads) stack_thread[s] = data.stacks[at++]; if (!has_details) continue;
for (let m = common_metrics; m < metrics.length; ++m) stack_values[m][s] = data.stacks[at++];
stack_lifetime[s] = data.stacks[at++]; } data.nodes = data.stacks = data.frames = null;
const whole = stack_values.map((values) => { let sum = 0;
for (let s = 0; s < stack_count; ++s) sum += Math.abs(values[s]); return sum; });
const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});
function sign_of(value) { return value < 0 ? '\u2212' : is_difference && value > 0 ? '+' : ''; }
function approximately(number) { return (is_sampled ? '~' : '') + number; }
function signed(value) { return sign_of(value) + grouped.format(Math.abs(value)); }
function exact(value) { return approximately(signed(value)); } function plain_bytes(size) {
if (size < 1024) return size + ' B'; let unit = 0; size /= 1024;
while (size >= 1023.5 && unit < 5) { size /= 1024; ++unit; }
return size.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0) + ' ' + 'KMGTPE'[unit] + 'iB'; }
function signed_bytes(value) { return sign_of(value) + plain_bytes(Math.abs(value)); }
function bytes(value) { return approximately(signed_bytes(value)); }
function shown(metric, value) { return metrics[metric].is_bytes ? bytes(value) : exact(value); }
function exactly(metric, value) {
return metrics[metric].is_bytes ? several(value, 'byte', 'bytes') : exact(value); }
function percent(part, all) { if (all === 0) return '\u2013'; const share = part * 100 / all;
return part !== 0 && share < 0.05 ? '<0.1%' : share.toFixed(1) + '%'; }
function duration(nanoseconds) { if (nanoseconds === 0) return '0';
if (nanoseconds < 1e3) return nanoseconds + ' ns';
if (nanoseconds < 999950) return (nanoseconds / 1e3).toFixed(1) + ' \u00b5s';
if (nanoseconds < 999950000) return (nanoseconds / 1e6).toFixed(1) + ' ms';
if (nanoseconds < 120e9) return (nanoseconds / 1e9).toFixed(1) + ' s';
const seconds = Math.round(nanoseconds / 1e9);
if (seconds < 7200) return Math.floor(seconds / 60) + ' min ' + seconds % 60 + ' s';
return Math.floor(seconds / 3600) + ' h ' + Math.floor(seconds % 3600 / 60) + ' min'; }
function several(count, one, many) {
return exact(count) + ' ' + (Math.abs(count) === 1 ? one : many); }
const anonymous = '(anonymous namespace)'; function after_brackets(name, at) { const open = [];
for (let i = at; i < name.length; ++i) { const c = name[i]; if ('<({['.includes(c)) { open.push(c);
} else if (c === '>') { if (open[open.length - 1] === '<' && name[i - 1] !== '-') open.pop();
} else if (')}]'.includes(c)) {
while (open.length > 1 && open[open.length - 1] === '<') open.pop(); open.pop(); }
if (open.length === 0) return i + 1; } return name.length; }
const operator_sign = /^operator ?(\(\)|\[\]|<=>|<<=?|>>=?|->\*?|<=?|>=?)/;
function short_function(name) {
if (name.startsWith('operator ') || name.startsWith('_')) return name; let made = '';
let i = name.startsWith('decltype') ? after_brackets(name, name.indexOf('(')) : 0;
while (i < name.length) { const c = name[i];
const is_operator = name.startsWith('operator', i) && !/\w/.test(name[i - 1] || ' ');
const special = name.startsWith(anonymous, i) ? [anonymous]
: is_operator ? operator_sign.exec(name.slice(i, i + 12)) ||
/^operator [^(]+/.exec(name.slice(i)) : null; if (special !== null) { made += special[0];
i += special[0].length; } else if (c === '<') { made = made.trimEnd() + '<\u2026>';
i = after_brackets(name, i); } else if (c === '(') { const end = after_brackets(name, i);
const inside = /^( const)?( &&?)?::/.exec(name.slice(end, end + 12)); if (inside === null) break;
i = end + inside[0].length - 2; } else if (c === '{' || c === '[') {
const end = after_brackets(name, i); made += name.slice(i, end); i = end;
} else if (c === ' ' && name[i + 1] === '[') { break; } else {
made = c !== ' ' ? made + c : name[i + 1] === '<' ? made : ''; ++i; } }
return made === '' ? name : made; } const end_of_scopes = (type) => (type + ' ').search(/[<( ]/);
function shorter_names(name, end) { const names = [name];
for (let at = name.indexOf('::'); at >= 0 && at < end; at = name.indexOf('::', at + 2)) {
if (at + 2 < name.length) names.push(name.slice(at + 2)); } return names; }
const base_name = (path) => path.slice(path.lastIndexOf('/') + 1);
function place_text(file, line, offset) { if (line !== 0) return file + ':' + line;
return file === '' ? '?' : file + '+0x' + offset.toString(16); } function of_each_text(look) {
const known = new Array(strings.length); return (text) => {
if (known[text] === undefined) known[text] = look(strings[text]); return known[text]; }; }
const short_name = of_each_text(short_function); function frame_name(f) {
return frame_function(f) !== '' ? short_name(frames[f * frame_width])
: place_text(base_name(frame_module(f)), 0, frame_offset(f)); } function frame_place(f) {
if (frame_line(f) !== 0) return frame_file(f) + ':' + frame_line(f);
return frame_file(f) !== '' ? frame_file(f) : ''; }
const type_name = (type) => strings[type] === '?' ? 'unknown type' : strings[type];
const type_sources = { report: 'reported by the program',
allocator: 'from the allocator that was called', make_function: 'from the function that makes it',
vtable: 'from the vtable of a live object',
source: 'read in the source file, which may have changed since',
constructor: 'from the constructor that is called for the block',
unsized_vtable: 'from the vtable of a live object of unknown size' };
const library_names = /^(std|__gnu_cxx|__cxxabiv1|allocscope|__gnu_debug|operator (new|delete))\b/;
const library_files =
/\/(include\/c\+\+|libstdc\+\+-v3|libcxx|sysdeps)\/|^\/usr\/.*\/(bits|ext)\//;
const is_library_file = of_each_text((file) => file === '' || library_files.test(file));
const is_library_function = of_each_text((name) => library_names.test(short_function(name)));
const frame_is_library = new Uint8Array(frame_count); for (let f = 0; f < frame_count; ++f) {
frame_is_library[f] = is_library_file(frames[f * frame_width + 1]) ||
is_library_function(frames[f * frame_width]) ? 1 : 0; }

class box_tree { constructor(room) { this.count = 1; this.parent = new Int32Array(room);
this.key = new Int32Array(room); this.depth = new Int32Array(room); this.parent[0] = -1;
this.slots = new Int32Array(this.slot_count(room)); this.end = new Int32Array(stack_count); }
slot_count(room) { let count = 1024; while (count < room * 2) count *= 2; return count; }
hash(parent, key) {
let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key + 0x7f4a7c15, 0x85ebca6b);
hash ^= hash >>> 15; hash = Math.imul(hash, 0x2c1b3c6d);
return (hash ^ hash >>> 13) & this.slots.length - 1; } child(parent, key) {
const mask = this.slots.length - 1; let at = this.hash(parent, key);
for (let n = this.slots[at]; n !== 0; n = this.slots[at]) {
if (this.parent[n] === parent && this.key[n] === key) return n; at = at + 1 & mask; }
if (this.count === this.parent.length) { this.grow(); return this.child(parent, key); }
const made = this.count++; this.parent[made] = parent; this.key[made] = key;
this.depth[made] = this.depth[parent] + 1; this.slots[at] = made; return made; } grow() {
for (const name of ['parent', 'key', 'depth']) { const larger = new Int32Array(this.count * 2);
larger.set(this[name]); this[name] = larger; }
this.slots = new Int32Array(this.slot_count(this.count * 2));
for (let n = 1; n < this.count; ++n) { let at = this.hash(this.parent[n], this.key[n]);
while (this.slots[at] !== 0) at = at + 1 & this.slots.length - 1; this.slots[at] = n; } }
weigh(values, is_wanted) { const count = this.count;
const value = this.value = new Float64Array(count);
const weight = this.weight = new Float64Array(count); for (let s = 0; s < stack_count; ++s) {
if (is_wanted !== null && is_wanted[s] === 0) continue; value[this.end[s]] += values[s];
weight[this.end[s]] += Math.abs(values[s]); } for (let n = count - 1; n > 0; --n) {
value[this.parent[n]] += value[n]; weight[this.parent[n]] += weight[n]; } this.lay_out(); }
lay_out() { const count = this.count; const first = this.first = new Int32Array(count + 1);
for (let n = 1; n < count; ++n) ++first[this.parent[n] + 1];
for (let n = 0; n < count; ++n) first[n + 1] += first[n];
const children = this.children = new Int32Array(count); const next = first.slice(0, count);
for (let n = 1; n < count; ++n) children[next[this.parent[n]]++] = n; const weight = this.weight;
const begin = this.begin = new Float64Array(count); for (let n = 0; n < count; ++n) {
const own = children.subarray(first[n], first[n + 1]);
if (own.length > 1) own.sort((a, b) => weight[b] - weight[a] || a - b); let at = begin[n];
for (let i = 0; i < own.length; ++i) { begin[own[i]] = at; at += weight[own[i]]; } } }
is_under(box, above) { while (this.depth[box] > this.depth[above]) box = this.parent[box];
return box === above; } } function last_resort(s) { let at = stack_path[s];
for (let i = stack_inner[s]; i > 0 && path_parent[at] > 0; --i) at = path_parent[at]; return at; }
function tree_from_outermost(with_library) {
const made = new box_tree(path_count + stack_count + 1); const box_of = new Int32Array(path_count);
for (let n = 1; n < path_count; ++n) {
const is_hidden = !with_library && frame_is_library[path_frame[n]] !== 0;
const above = box_of[path_parent[n]];
box_of[n] = is_hidden ? above : made.child(above, path_frame[n]); }
for (let s = 0; s < stack_count; ++s) {
let box = box_of[with_library ? stack_path[s] : last_resort(s)];
if (box === 0 && last_resort(s) > 0) box = made.child(0, path_frame[last_resort(s)]);
made.end[s] = made.child(box, -1 - place_type(stack_place[s])); } return made; }
function tree_from_innermost(with_library) { const made = new box_tree(path_count + 1024);
for (let s = 0; s < stack_count; ++s) { let box = 0;
for (let n = with_library ? stack_path[s] : last_resort(s); n > 0; n = path_parent[n]) {
if (with_library || frame_is_library[path_frame[n]] === 0) { box = made.child(box, path_frame[n]);
} } if (box === 0 && last_resort(s) > 0) box = made.child(0, path_frame[last_resort(s)]);
if (box === 0) box = made.child(0, -1 - place_type(stack_place[s])); made.end[s] = box; }
return made; } const trees = {}; function tree_for(is_inverted, with_library) {
const name = (is_inverted ? 'i' : 'o') + (with_library ? 'l' : 'u');
if (trees[name] === undefined) { trees[name] = is_inverted ? tree_from_innermost(with_library)
: tree_from_outermost(with_library); } return trees[name]; }

class finder { constructor(wanted) { this.wanted = wanted.trim();
this.is_empty = this.wanted === ''; if (this.is_empty) return; let rest = this.wanted;
const kind = /^(type|file|function|module):/.exec(rest); this.kind = kind ? kind[1] : '';
rest = rest.slice(kind ? kind[0].length : 0); const line = /^(.*[^:]):(\d+)$/.exec(rest);
this.line = line && this.kind !== 'type' && this.kind !== 'function' ? Number(line[2]) : 0;
this.text_fits = this.rule(rest);
this.file_fits = this.line !== 0 ? this.rule(line[1]) : this.text_fits; this.find(); } rule(text) {
const pattern = /^\/(.+)\/$/.exec(text); if (pattern) { try {
const made = new RegExp(pattern[1], 'i'); return (name) => made.test(name); } catch (problem) {
this.problem = 'not a pattern'; } }
if (text.startsWith('=')) return (name) => name === text.slice(1);
const lower = text.toLowerCase(); return (name) => name.toLowerCase().includes(lower); } find() {
const fits = Uint8Array.from(strings, (name) => this.text_fits(name) ? 1 : 0);
const file_fits = this.line === 0 ? fits
: Uint8Array.from(strings, (name) => this.file_fits(name) ? 1 : 0);
const any = (kind) => this.kind === '' || this.kind === kind;
this.frame = new Uint8Array(frame_count); for (let f = 0; f < frame_count; ++f) {
const at = f * frame_width; const line_fits = this.line === 0 || frames[at + 2] === this.line;
this.frame[f] = any('function') && fits[frames[at]] ||
any('file') && line_fits && file_fits[frames[at + 1]] ||
any('module') && fits[frames[at + 3]] ? 1 : 0; }
this.type = any('type') ? fits : new Uint8Array(strings.length);
this.place = new Uint8Array(place_count); for (let p = 0; p < place_count; ++p) {
const line_fits = this.line === 0 || place_field(p, 1) === this.line;
this.place[p] = any('type') && fits[place_type(p)] ||
any('file') && line_fits && file_fits[place_field(p, 0)] ||
any('function') && fits[place_field(p, 3)] ? 1 : 0; } } fits_key(key) {
return key >= 0 ? this.frame[key] : this.type[-1 - key]; } stacks_in(tree) {
const on_path = new Uint8Array(tree.count); for (let n = 1; n < tree.count; ++n) {
on_path[n] = on_path[tree.parent[n]] || this.fits_key(tree.key[n]) ? 1 : 0; }
const found = new Uint8Array(stack_count); for (let s = 0; s < stack_count; ++s) {
found[s] = on_path[tree.end[s]] || this.place[stack_place[s]] ? 1 : 0; } return found; } }
)page";

}  // namespace detail

ALLOCSCOPE_NAMESPACE_END

#endif  // ALLOCSCOPE_PAGE_SCRIPT_OF_DATA_TEXT_HPP

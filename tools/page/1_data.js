// What the writer left in the page, as typed arrays; and how numbers and names are shown.
const by_id = (id) => document.getElementById(id);
const data = JSON.parse(by_id('data').textContent);
const strings = data.strings;

// Lists of numbers are strings: each character has five bits, the lowest first. A number ends with
// one of the first 32 characters of the alphabet; one below 0 begins with '-'.
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const minus = '-'.charCodeAt(0);
const digit_of = new Uint8Array(128);
for (let i = 0; i < alphabet.length; ++i) digit_of[alphabet.charCodeAt(i)] = i;
digit_of[minus] = 32;  // ends no number

function unpacked(list) {
  let count = 0;
  for (let i = 0; i < list.length; ++i) count += digit_of[list.charCodeAt(i)] < 32 ? 1 : 0;
  const numbers = new Float64Array(count);
  for (let n = 0, at = 0; n < count; ++n) {
    const is_negative = list.charCodeAt(at) === minus;
    if (is_negative) ++at;
    let number = 0;
    let digit = 32;
    for (let weight = 1; digit >= 32; weight *= 32) {
      digit = digit_of[list.charCodeAt(at++)];
      number += (digit & 31) * weight;
    }
    numbers[n] = is_negative ? -number : number;
  }
  return numbers;
}
for (const name of ['stacks', 'nodes', 'frames', 'places']) data[name] = unpacked(data[name]);

const is_difference = data.is_difference;
const is_sampled = data.record === 'sampled';

const metrics = [
  {name: 'Live bytes', word: 'live bytes', is_bytes: true, needs_stacks: false},
  {name: 'Live objects', word: 'live objects', is_bytes: false, needs_stacks: false},
  {name: 'Allocated bytes', word: 'allocated bytes', is_bytes: true, needs_stacks: true},
  {name: 'Allocations', word: 'allocations', is_bytes: false, needs_stacks: true}
];
const common_metrics = metrics.length;
const has_details = data.has_details && data.has_stacks;
if (has_details) {
  metrics.push(
    {name: 'Bytes at the peak', word: 'bytes alive at the peak', is_bytes: true,
     needs_stacks: true, is_unknown: !data.has_peak_details},
    {name: 'Temporary', word: 'temporary allocations', is_bytes: false, needs_stacks: true});
}
const is_known = (metric) => !metric.is_unknown && (!metric.needs_stacks || data.has_stacks);

// Frames: function, file, line, module, whether it is inlined, offset if no function is known.
const frame_width = 6;
const frame_count = data.frames.length / frame_width;
const frames = data.frames;
const frame_function = (f) => strings[frames[f * frame_width]];
const frame_file = (f) => strings[frames[f * frame_width + 1]];
const frame_line = (f) => frames[f * frame_width + 2];
const frame_module = (f) => strings[frames[f * frame_width + 3]];
const frame_is_inlined = (f) => frames[f * frame_width + 4] !== 0;
const frame_offset = (f) => frames[f * frame_width + 5];

// Paths: all stacks begin at node 0; each other node is one frame below its parent. The data say
// how far before a node its parent is.
const path_count = data.nodes.length / 2 + 1;
const path_parent = new Int32Array(path_count);
const path_frame = new Int32Array(path_count);
path_parent[0] = path_frame[0] = -1;
for (let n = 1; n < path_count; ++n) {
  path_parent[n] = n - data.nodes[n * 2 - 2];
  path_frame[n] = data.nodes[n * 2 - 1];
}

// Places: file, line, type, function, offset, how the type was found; in a sampled window also
// samples and intervals.
const place_width = is_sampled ? 11 : 6;
const place_count = data.places.length / place_width;
const place_field = (p, field) => data.places[p * place_width + field];
const place_type = (p) => place_field(p, 2);
const place_type_source = (p) => strings[place_field(p, 5)];

// Stacks: node, place, number of frames before the user's, live bytes, live objects, allocated
// bytes, allocations; if there are several threads, which one; with details: bytes at the peak,
// temporary allocations, and how long the objects lived, added up.
const has_threads = data.thread_names.length > 1;
const stack_width = 7 + (has_threads ? 1 : 0) + (has_details ? 3 : 0);
const stack_count = data.stacks.length / stack_width;
const stack_path = new Int32Array(stack_count);
const stack_place = new Int32Array(stack_count);
const stack_inner = new Int32Array(stack_count);
const stack_thread = new Int32Array(has_threads ? stack_count : 0);
const stack_lifetime = new Float64Array(has_details ? stack_count : 0);
const stack_values = metrics.map(() => new Float64Array(stack_count));
for (let s = 0, at = 0; s < stack_count; ++s) {
  stack_path[s] = data.stacks[at++];
  stack_place[s] = data.stacks[at++];
  stack_inner[s] = data.stacks[at++];
  for (let m = 0; m < common_metrics; ++m) stack_values[m][s] = data.stacks[at++];
  if (has_threads) stack_thread[s] = data.stacks[at++];
  if (!has_details) continue;
  for (let m = common_metrics; m < metrics.length; ++m) stack_values[m][s] = data.stacks[at++];
  stack_lifetime[s] = data.stacks[at++];
}
data.nodes = data.stacks = data.frames = null;

// In a difference, the sizes of the changes are added up without their signs: so no share is
// greater than the whole.
const whole = stack_values.map((values) => {
  let sum = 0;
  for (let s = 0; s < stack_count; ++s) sum += Math.abs(values[s]);
  return sum;
});

// --- numbers ---

const grouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

function sign_of(value) {
  return value < 0 ? '\u2212' : is_difference && value > 0 ? '+' : '';
}

// Sampled numbers are estimates.
function approximately(number) {
  return (is_sampled ? '~' : '') + number;
}

function signed(value) {
  return sign_of(value) + grouped.format(Math.abs(value));
}

function exact(value) {
  return approximately(signed(value));
}

function plain_bytes(size) {
  if (size < 1024) return size + ' B';
  let unit = 0;
  size /= 1024;
  while (size >= 1023.5 && unit < 5) {
    size /= 1024;
    ++unit;
  }
  return size.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0) + ' ' + 'KMGTPE'[unit] + 'iB';
}

function signed_bytes(value) {
  return sign_of(value) + plain_bytes(Math.abs(value));
}

function bytes(value) {
  return approximately(signed_bytes(value));
}

function shown(metric, value) {
  return metrics[metric].is_bytes ? bytes(value) : exact(value);
}

function exactly(metric, value) {
  return metrics[metric].is_bytes ? several(value, 'byte', 'bytes') : exact(value);
}

function percent(part, all) {
  if (all === 0) return '\u2013';
  const share = part * 100 / all;
  return part !== 0 && share < 0.05 ? '<0.1%' : share.toFixed(1) + '%';
}

function duration(nanoseconds) {
  if (nanoseconds === 0) return '0';
  if (nanoseconds < 1e3) return nanoseconds + ' ns';
  if (nanoseconds < 999950) return (nanoseconds / 1e3).toFixed(1) + ' \u00b5s';
  if (nanoseconds < 999950000) return (nanoseconds / 1e6).toFixed(1) + ' ms';
  if (nanoseconds < 120e9) return (nanoseconds / 1e9).toFixed(1) + ' s';
  const seconds = Math.round(nanoseconds / 1e9);
  if (seconds < 7200) return Math.floor(seconds / 60) + ' min ' + seconds % 60 + ' s';
  return Math.floor(seconds / 3600) + ' h ' + Math.floor(seconds % 3600 / 60) + ' min';
}

function several(count, one, many) {
  return exact(count) + ' ' + (Math.abs(count) === 1 ? one : many);
}

// --- names ---

const anonymous = '(anonymous namespace)';

// The index after the bracket that closes the one at `at`.
function after_brackets(name, at) {
  const open = [];
  for (let i = at; i < name.length; ++i) {
    const c = name[i];
    if ('<({['.includes(c)) {
      open.push(c);
    } else if (c === '>') {
      if (open[open.length - 1] === '<' && name[i - 1] !== '-') open.pop();
    } else if (')}]'.includes(c)) {
      while (open.length > 1 && open[open.length - 1] === '<') open.pop();
      open.pop();
    }
    if (open.length === 0) return i + 1;
  }
  return name.length;
}

const operator_sign = /^operator ?(\(\)|\[\]|<=>|<<=?|>>=?|->\*?|<=?|>=?)/;

// ns::class<...>::function: without the return type, the parameters, and the text between < and >.
function short_function(name) {
  if (name.startsWith('operator ') || name.startsWith('_')) return name;
  let made = '';
  let i = name.startsWith('decltype') ? after_brackets(name, name.indexOf('(')) : 0;
  while (i < name.length) {
    const c = name[i];
    const is_operator = name.startsWith('operator', i) && !/\w/.test(name[i - 1] || ' ');
    const special = name.startsWith(anonymous, i) ? [anonymous]
        : is_operator ? operator_sign.exec(name.slice(i, i + 12)) ||
                        /^operator [^(]+/.exec(name.slice(i)) : null;
    if (special !== null) {
      made += special[0];
      i += special[0].length;
    } else if (c === '<') {
      made = made.trimEnd() + '<\u2026>';
      i = after_brackets(name, i);
    } else if (c === '(') {
      // The parameters of a function with something inside it, such as a lambda, or the end.
      const end = after_brackets(name, i);
      const inside = /^( const)?( &&?)?::/.exec(name.slice(end, end + 12));
      if (inside === null) break;
      i = end + inside[0].length - 2;
    } else if (c === '{' || c === '[') {
      const end = after_brackets(name, i);
      made += name.slice(i, end);
      i = end;
    } else if (c === ' ' && name[i + 1] === '[') {
      break;
    } else {
      // The text before a blank was the return type.
      made = c !== ' ' ? made + c : name[i + 1] === '<' ? made : '';
      ++i;
    }
  }
  return made === '' ? name : made;
}

// Where the scopes around a type end: those of its template arguments say nothing about it, and
// what follows a blank is another name, as in "begins with app::widget".
const end_of_scopes = (type) => (type + ' ').search(/[<( ]/);

// The name, then the name without its outermost scope, and so on; only scopes before `end` count.
function shorter_names(name, end) {
  const names = [name];
  for (let at = name.indexOf('::'); at >= 0 && at < end; at = name.indexOf('::', at + 2)) {
    if (at + 2 < name.length) names.push(name.slice(at + 2));
  }
  return names;
}

const base_name = (path) => path.slice(path.lastIndexOf('/') + 1);

function place_text(file, line, offset) {
  if (line !== 0) return file + ':' + line;
  return file === '' ? '?' : file + '+0x' + offset.toString(16);
}

// Many frames share a text, so what `look` says of a text is kept. The answer takes its number.
function of_each_text(look) {
  const known = new Array(strings.length);
  return (text) => {
    if (known[text] === undefined) known[text] = look(strings[text]);
    return known[text];
  };
}

const short_name = of_each_text(short_function);
function frame_name(f) {
  return frame_function(f) !== '' ? short_name(frames[f * frame_width])
                                  : place_text(base_name(frame_module(f)), 0, frame_offset(f));
}

function frame_place(f) {
  if (frame_line(f) !== 0) return frame_file(f) + ':' + frame_line(f);
  return frame_file(f) !== '' ? frame_file(f) : '';
}

const type_name = (type) => strings[type] === '?' ? 'unknown type' : strings[type];

const type_sources = {
  report: 'reported by the program',
  allocator: 'from the allocator that was called',
  make_function: 'from the function that makes it',
  vtable: 'from the vtable of a live object',
  source: 'read in the source file, which may have changed since',
  constructor: 'from the constructor that is called for the block',
  unsized_vtable: 'from the vtable of a live object of unknown size'
};

// --- whose code a frame belongs to ---

const library_names = /^(std|__gnu_cxx|__cxxabiv1|allocscope|__gnu_debug|operator (new|delete))\b/;
// A user's folder may be called bits or ext, too: only those below /usr belong to a library.
const library_files =
    /\/(include\/c\+\+|libstdc\+\+-v3|libcxx|sysdeps)\/|^\/usr\/.*\/(bits|ext)\//;
const is_library_file = of_each_text((file) => file === '' || library_files.test(file));
const is_library_function = of_each_text((name) => library_names.test(short_function(name)));
const frame_is_library = new Uint8Array(frame_count);
for (let f = 0; f < frame_count; ++f) {
  frame_is_library[f] = is_library_file(frames[f * frame_width + 1]) ||
      is_library_function(frames[f * frame_width]) ? 1 : 0;
}

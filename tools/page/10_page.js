// The page as a whole: what the user has chosen, and what must be redrawn when that changes.

const state = {
  metric: 0,
  is_inverted: false,
  with_library: false,
  color_by: 'file',
  tree: null,
  zoom: 0,
  history: [],
  place: -1,
  of_thread: null,     // stacks of the chosen thread; null: all
  wanted: null,        // of those, the stacks of the chosen place; null: all
  search: new finder(''),
  found: null,         // stacks that fit the search; null: there is no search
  found_weight: null   // of each box
};
const timings = {first_paint: 0, last_change: 0};

function stacks_under(box) {
  const tree = state.tree;
  const inside = new Uint8Array(tree.count);
  inside[box] = 1;
  for (let n = box + 1; n < tree.count; ++n) inside[n] = inside[tree.parent[n]];
  return Uint8Array.from(tree.end, (end) => inside[end]);
}

function sums_of(is_in) {
  return stack_values.map((values) => {
    let sum = 0;
    for (let s = 0; s < stack_count; ++s) if (is_in(s)) sum += values[s];
    return sum;
  });
}

function both(a, b) {
  if (a === null || b === null) return a === null ? b : a;
  return a.map((one, s) => one & b[s]);
}

// --- what follows from what ---

function weigh() {
  state.wanted = both(state.of_thread, state.place < 0 ? null
    : Uint8Array.from(stack_place, (place) => place === state.place ? 1 : 0));
  state.tree.weigh(stack_values[state.metric], state.wanted);
  chart.scroll.scrollTop = 0;
}

function find() {
  const tree = state.tree;
  state.found = state.search.is_empty ? null : state.search.stacks_in(tree);
  state.found_weight = null;
  if (state.found === null) return;
  const sums = state.found_weight = new Float64Array(tree.count);
  const values = stack_values[state.metric];
  for (let s = 0; s < stack_count; ++s) {
    if (state.found[s] && (state.wanted === null || state.wanted[s])) {
      sums[tree.end[s]] += Math.abs(values[s]);
    }
  }
  for (let n = tree.count - 1; n > 0; --n) sums[tree.parent[n]] += sums[n];
}

function count() {
  const under = state.zoom === 0 ? null : stacks_under(state.zoom);
  const seen = both(under, state.found);
  count_places(both(seen, state.of_thread));
  count_types(both(seen, state.wanted));
}

function write_matched() {
  const out = by_id('matched');
  if (state.found === null) {
    out.textContent = '';
    return;
  }
  const values = stack_values[state.metric];
  let value = 0;
  let weight = 0;
  for (let s = 0; s < stack_count; ++s) {
    if (!state.found[s] || state.of_thread !== null && !state.of_thread[s]) continue;
    value += values[s];
    weight += Math.abs(values[s]);
  }
  out.textContent = (state.search.problem ? state.search.problem + '; ' : '') +
      percent(weight, whole[state.metric]) + ' \u00b7 ' + shown(state.metric, value);
  out.title = exactly(state.metric, value);
}

function write_path() {
  const nav = by_id('path');
  const steps = [];
  for (let box = state.zoom; box >= 0; box = state.tree.parent[box]) steps.unshift(box);
  nav.replaceChildren();
  const add_button = (text, kind, label, action) => {
    const button = element('button', text, kind);
    button.type = 'button';
    button.title = label;
    button.addEventListener('click', action);
    nav.append(button);
  };
  if (state.place >= 0) {
    const text = place_name(state.place) + ' \u00b7 ' + type_name(place_type(state.place));
    add_button(text + ' \u00d7', 'chip', 'Only this place is shown: show all',
               () => show_place(-1));
  }
  if (state.zoom === 0) return;
  const shown_steps = steps.length > 8 ? [0, ...steps.slice(-6)] : steps;
  shown_steps.forEach((box, number) => {
    const is_gap = steps.length > 8 && number === 1;
    const arrow = is_gap ? '\u203a \u2026 \u203a' : '\u203a';
    if (number !== 0) nav.append(element('span', arrow, 'step'));
    if (box === state.zoom) nav.append(element('span', box_name(box), 'here'));
    else add_button(box_name(box), '', 'Zoom to ' + box_name(box), () => zoom_to(box));
  });
}

function draw_all() {
  make_colors();
  draw_chart();
  draw_types();
  draw_timeline();
  draw_places();
}

function show(work) {
  const began = performance.now();
  work();
  count();
  hide_tip();
  chart.hovered = -1;
  by_id('chart_note').textContent = chart_words();
  by_id('chart_note').hidden = by_id('chart_note').textContent === '';
  chart.scroll.hidden = !by_id('chart_note').hidden;
  by_id('chart_title').textContent = 'Stacks by ' + metrics[state.metric].word;
  by_id('types_title').textContent = 'Types by ' + metrics[state.metric].word;
  write_path();
  write_matched();
  draw_all();
  timings.last_change = performance.now() - began;
}

// --- what the user can do ---

function zoom_to(box) {
  if (box === state.zoom) return;
  show(() => {
    state.history.push(state.zoom);
    state.zoom = box;
    chart.selected = box;
  });
  say_box(box);
}

function go_back() {
  if (state.history.length !== 0) {
    show(() => {
      state.zoom = chart.selected = state.history.pop();
    });
  } else if (state.place >= 0) {
    show_place(-1);
  } else if (state.found !== null) {
    set_search('');
  }
}

function new_tree() {
  state.tree = tree_for(state.is_inverted, state.with_library);
  state.zoom = chart.selected = 0;
  state.history = [];
  weigh();
  find();
}

function show_place(place) {
  show(() => {
    state.place = state.place === place ? -1 : place;
    new_tree();
  });
}

function choose_thread(thread) {
  show(() => {
    state.of_thread = thread < 0 ? null
      : Uint8Array.from(stack_thread, (of) => of === thread ? 1 : 0);
    new_tree();
  });
}

function choose_metric(metric) {
  if (metrics[metric] === undefined || !is_known(metrics[metric])) return;
  show(() => {
    state.metric = metric;
    weigh();
    find();
    if (state.tree.weight[state.zoom] === 0) {
      state.zoom = chart.selected = 0;
      state.history = [];
    }
  });
  [...by_id('metrics').children].forEach((button, m) => {
    button.setAttribute('aria-checked', m === metric);
    button.tabIndex = m === metric ? 0 : -1;
  });
}

function invert() {
  state.is_inverted = !state.is_inverted;
  by_id('invert').setAttribute('aria-pressed', state.is_inverted);
  show(new_tree);
}

function switch_library() {
  state.with_library = !state.with_library;
  by_id('library').setAttribute('aria-pressed', state.with_library);
  show(new_tree);
}

function set_search(wanted) {
  if (by_id('search').value !== wanted) by_id('search').value = wanted;
  state.search = new finder(wanted);
  show(find);
}

function show_theme() {
  const chosen = document.documentElement.dataset.theme;
  by_id('theme').textContent = 'Theme: ' + (chosen === undefined ? 'auto' : chosen);
}

function next_theme() {
  const root = document.documentElement;
  const other = dark_scheme.matches ? 'light' : 'dark';
  if (root.dataset.theme === undefined) root.dataset.theme = other;
  else if (root.dataset.theme === other) root.dataset.theme = other === 'dark' ? 'light' : 'dark';
  else delete root.dataset.theme;
  show_theme();
  draw_all();
}

const keys = [
  ['/', 'search', () => by_id('search').select()],
  ['Escape', 'go back: zoom, place, search', go_back],
  ['1', 'live bytes', () => choose_metric(0)],
  ['2', 'live objects', () => choose_metric(1)],
  ['3', 'allocated bytes', () => choose_metric(2)],
  ['4', 'allocations', () => choose_metric(3)],
  ...metrics.slice(common_metrics).map((metric, m) => [
    String(common_metrics + m + 1), metric.word, () => choose_metric(common_metrics + m)]),
  ['i', 'invert: begin with the code that allocates', invert],
  ['l', 'library frames', switch_library],
  ['c', 'to the chart', () => chart.canvas.focus()],
  ['p', 'to the table of places', () => {
    if (by_id('places_body').firstChild) by_id('places_body').firstChild.focus();
  }],
  ['t', 'theme: as the system, the other one, and back', next_theme],
  ['?', 'this help', () => by_id('help').showModal()]
];
const keys_in_parts = [
  ['\u2190 \u2191 \u2192 \u2193', 'in the chart and the types: move'],
  ['Enter', 'there: zoom in, search for the type; in the table: only this place']
];

function on_key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || by_id('help').open) return;
  const field = event.target.closest('input, select');
  if (field !== null) {
    if (event.key !== 'Escape') return;
    field.blur();
    if (field.id === 'search') set_search('');
    event.preventDefault();
    return;
  }
  const known = keys.find((key) => key[0] === event.key);
  if (known === undefined) return;
  event.preventDefault();
  known[2]();
}

function start_tools() {
  metrics.forEach((metric, m) => {
    const button = element('button', metric.name);
    button.type = 'button';
    button.setAttribute('role', 'radio');
    button.setAttribute('aria-keyshortcuts', String(m + 1));
    button.disabled = !is_known(metric);
    button.title = !button.disabled ? metric.name + ' (' + (m + 1) + ')'
      : metric.is_unknown ? 'Not known: the peak was that of another window'
                          : 'Not known: these stacks are of live objects only';
    button.addEventListener('click', () => choose_metric(m));
    button.addEventListener('keydown', (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      const next = by_id('metrics').children[m + step];
      if (step === undefined || !next || next.disabled) return;
      choose_metric(m + step);
      next.focus();
    });
    by_id('metrics').append(button);
  });
  by_id('invert').addEventListener('click', invert);
  by_id('library').addEventListener('click', switch_library);
  by_id('theme').addEventListener('click', next_theme);
  by_id('help_button').addEventListener('click', () => by_id('help').showModal());
  by_id('colors').addEventListener('change', (event) => {
    state.color_by = event.target.value;
    draw_chart();
  });
  by_id('thread_pick').hidden = !has_threads;
  data.thread_names.forEach((name, t) => {
    const option = element('option', name);
    option.value = t;
    by_id('threads').append(option);
  });
  by_id('threads').addEventListener('change', (event) => choose_thread(Number(event.target.value)));
  let waiting = 0;
  by_id('search').addEventListener('input', (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => set_search(event.target.value), stack_count > 20000 ? 150 : 0);
  });
  for (const [key, meaning] of keys.concat(keys_in_parts)) {
    const name = element('dt');
    name.append(element('kbd', key));
    by_id('keys').append(name, element('dd', meaning));
  }
  document.addEventListener('keydown', on_key);
}

// Library frames are hidden at first, unless most numbers would be hidden with them, as in a
// program without lines.
function begins_with_library() {
  let named = 0;
  for (let s = 0; s < stack_count; ++s) {
    const frame = last_resort(s) > 0 ? path_frame[last_resort(s)] : -1;
    if (frame >= 0 && frame_is_library[frame] === 0) ++named;
  }
  return named * 2 < stack_count;
}

function start() {
  by_id('page').hidden = false;
  by_id('tools').hidden = by_id('columns').hidden = stack_count === 0;
  make_colors();
  write_head();
  start_tools();
  start_chart();
  start_places();
  start_types();
  start_timeline();
  write_memory();
  show_theme();
  if (begins_with_library()) {
    state.with_library = true;
    by_id('library').setAttribute('aria-pressed', true);
  }
  state.tree = tree_for(state.is_inverted, state.with_library);
  const first = [0, 2].find((m) => whole[m] !== 0 && (m < 2 || data.has_stacks));
  choose_metric(first === undefined ? 0 : first);
  timings.first_paint = performance.now();
  const redraw = () => requestAnimationFrame(draw_all);
  window.addEventListener('resize', redraw);
  dark_scheme.addEventListener('change', redraw);
  window.addEventListener('beforeprint', () => {
    is_printing = true;
    draw_all();
  });
  window.addEventListener('afterprint', () => {
    is_printing = false;
    draw_all();
  });
}

// For scripts that inspect the page: what is drawn where, with its numbers.
window.allocscope_page = {
  shorter_types: (name) => shorter_names(name, end_of_scopes(name)),
  boxes: () => chart.boxes.map((drawn) => ({
    name: box_name(drawn.box), left: drawn.left, top: drawn.top, width: drawn.width,
    value: state.tree.value[drawn.box], depth: state.tree.depth[drawn.box],
    numbers: numbers_of_box(drawn.box)
  })),
  cells: () => treemap.cells.map((cell) => ({
    name: cell_name(cell), left: cell.left, top: cell.top, width: cell.width,
    height: cell.height, value: cell.value
  })),
  timings: () => ({...timings}),
  unpacked
};
start();

// The table of places: only those under the zoomed box that match the search.

const rows_of_page = 25;
const places = {
  sums: metrics.map(() => new Float64Array(place_count)),
  lifetimes: new Float64Array(has_details ? place_count : 0),
  order: [],
  column: -1,  // -1: the number that the chart shows
  is_upwards: false,
  page: 0
};

const place_name = (p) =>
  place_text(strings[place_field(p, 0)], place_field(p, 1), place_field(p, 4));
const place_function = (p) => strings[place_field(p, 3)];

function title_of_type(p) {
  const source = type_sources[place_type_source(p)];
  return type_name(place_type(p)) + (source === undefined ? '' : '\n' + source);
}

const place_columns = [
  {name: 'Place', text: place_name, between: '/'},
  {name: 'Function', text: (p) => short_function(place_function(p)), title: place_function,
   between: '::'},
  {name: 'Type', text: (p) => type_name(place_type(p)), title: title_of_type},
  ...metrics.map((metric, m) => ({name: metric.name, metric: m})),
  ...(has_details ? [{name: is_difference ? 'Lived' : 'Mean life', is_life: true}] : []),
  {name: 'Share', metric: -1}
].filter((column) => !(column.metric >= 0) || is_known(metrics[column.metric]));
// In microseconds: how long an object lived on average; in a difference, the change of the sum.
const life_of = (p) => places.lifetimes[p] / (is_difference ? 1 : Math.max(1, places.sums[3][p]));

function metric_of(column) {
  return column.metric < 0 ? state.metric : column.metric;
}

function sort_places() {
  const column = place_columns[places.column] || {metric: -1};
  const upwards = places.is_upwards ? 1 : -1;
  if (column.text !== undefined) {
    const texts = new Map(places.order.map((p) => [p, column.text(p)]));
    const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
    places.order.sort((a, b) => -upwards * compare(texts.get(a), texts.get(b)) || a - b);
    return;
  }
  const values = column.is_life ? places.order.reduce((lives, p) => {
    lives[p] = life_of(p);
    return lives;
  }, new Float64Array(place_count)) : places.sums[metric_of(column)];
  places.order.sort((a, b) => upwards * (Math.abs(values[a]) - Math.abs(values[b])) || a - b);
}

// Sums of the stacks in `is_in` (null: all) for each place.
function count_places(is_in) {
  const seen = new Uint8Array(place_count);
  places.sums.forEach((values) => values.fill(0));
  places.lifetimes.fill(0);
  for (let s = 0; s < stack_count; ++s) {
    if (is_in !== null && is_in[s] === 0) continue;
    const p = stack_place[s];
    if (has_details) places.lifetimes[p] += stack_lifetime[s];
    for (let m = 0; m < metrics.length; ++m) {
      places.sums[m][p] += stack_values[m][s];
      if (stack_values[m][s] !== 0) seen[p] = 1;
    }
  }
  places.order = [];
  for (let p = 0; p < place_count; ++p) if (seen[p]) places.order.push(p);
  sort_places();
  places.page = 0;
}

// The 95% interval of a place. It is known for the whole window, not for a part of it.
function interval_of(p, metric) {
  if (!is_sampled || metric > 1) return '';
  const low = place_field(p, metric === 0 ? 9 : 7);
  const high = place_field(p, metric === 0 ? 10 : 8);
  if (low === 0 && high === 0) return '';
  const samples = place_field(p, 6);
  return '95%: ' + signed(low) + ' to ' + signed(high) + (metric === 0 ? ' bytes' : '') +
      ' in the whole window, from ' + grouped.format(samples) +
      (samples === 1 ? ' sample' : ' samples');
}

function number_cell(p, column) {
  if (column.is_life) {
    const life = Math.round(life_of(p));
    const size = duration(Math.round(Math.abs(life_of(p)) * 1000));
    const cell = element('td', (is_difference ? sign_of(life) : '') + size, 'number');
    cell.title = exact(life) + ' \u00b5s, ' +
        (is_difference ? 'of all objects together' : 'a live object counts until now');
    return cell;
  }
  const m = metric_of(column);
  const value = places.sums[m][p];
  const cell = element('td', undefined, 'number');
  const full = interval_of(p, m);
  cell.title = exactly(m, value) + (full === '' ? '' : '\n' + full);
  if (is_difference && value !== 0) cell.classList.add(value > 0 ? 'up' : 'down');
  if (column.metric >= 0) {
    cell.textContent = shown(m, value);
    return cell;
  }
  cell.classList.add('share');
  const bar = element('span', percent(Math.abs(value), whole[m]), 'share_bar');
  const part = whole[m] === 0 ? 0 : Math.abs(value) / whole[m];
  bar.style.backgroundSize = Math.min(100, part * 100).toFixed(1) + '% 100%';
  cell.append(bar);
  return cell;
}

// Where the last part of a path or scope begins. The parts before it are less important.
function begin_of_own(text, between) {
  const at = between === undefined ? -1 : text.lastIndexOf(between);
  return at < 0 ? 0 : at + between.length;
}

function row_of_place(p) {
  const row = element('tr');
  row.dataset.place = p;
  row.tabIndex = 0;
  row.setAttribute('aria-selected', state.place === p);
  for (const column of place_columns) {
    if (column.text === undefined) {
      row.append(number_cell(p, column));
      continue;
    }
    const text = column.text(p);
    const cell = element('td', undefined, 'text ' + column.name.toLowerCase());
    cell.title = column.title === undefined ? text : column.title(p);
    // If a place, a function or a type without template arguments is too long, its beginning is
    // cut: such a cell is written from the right.
    if (text.includes('::') && end_of_scopes(text) === text.length) cell.classList.add('scoped');
    const inner = element('bdi');
    inner.dir = 'ltr';
    const begin = begin_of_own(text, column.between);
    inner.append(element('span', text.slice(0, begin), 'outer'), text.slice(begin));
    cell.append(inner);
    row.append(cell);
  }
  return row;
}

function draw_places() {
  const count = places.order.length;
  const pages = Math.max(1, Math.ceil(count / rows_of_page));
  places.page = Math.min(places.page, pages - 1);
  const from = places.page * rows_of_page;
  const shown_rows = places.order.slice(from, from + rows_of_page);
  const is_part = state.zoom !== 0 || state.found !== null || state.of_thread !== null;
  by_id('places_body').replaceChildren(...shown_rows.map(row_of_place));
  by_id('places_text').textContent = count === 0 ? 'none'
    : grouped.format(count) + (count === 1 ? ' place' : ' places') +
      (is_part ? ' of ' + grouped.format(place_count) : '');
  by_id('pages').textContent = pages === 1 ? '' :
    grouped.format(from + 1) + '\u2013' + grouped.format(from + shown_rows.length) + ' of ' +
    grouped.format(count);
  by_id('earlier').hidden = by_id('later').hidden = pages === 1;
  by_id('earlier').disabled = places.page === 0;
  by_id('later').disabled = places.page === pages - 1;
  [...by_id('places_head').children].forEach((head, number) => {
    const column = place_columns[number];
    const is_chosen = places.column < 0 ? column.metric === -1 : places.column === number;
    if (!is_chosen) head.removeAttribute('aria-sort');
    else head.setAttribute('aria-sort', places.is_upwards ? 'ascending' : 'descending');
  });
}

function turn_page(step) {
  places.page += step;
  draw_places();
}

function start_places() {
  place_columns.forEach((column, number) => {
    const head = element('th', undefined, 
                         column.text === undefined ? 'number' : column.name.toLowerCase());
    head.scope = 'col';
    const button = element('button', column.name);
    button.type = 'button';
    button.addEventListener('click', () => {
      const is_same = places.column === number;
      places.is_upwards = is_same ? !places.is_upwards : false;
      places.column = number;
      sort_places();
      places.page = 0;
      draw_places();
    });
    head.append(button);
    by_id('places_head').append(head);
  });
  const body = by_id('places_body');
  const choose = (row) => {
    if (row !== null) show_place(Number(row.dataset.place));
  };
  body.addEventListener('click', (event) => choose(event.target.closest('tr')));
  body.addEventListener('keydown', (event) => {
    const row = event.target.closest('tr');
    const next = event.key === 'ArrowDown' ? row.nextElementSibling
        : event.key === 'ArrowUp' ? row.previousElementSibling : null;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      const at = [...body.children].indexOf(row);
      choose(row);
      if (body.children[at]) body.children[at].focus();
    } else if (next !== null) {
      event.preventDefault();
      next.focus();
    }
  });
  by_id('earlier').addEventListener('click', () => turn_page(-1));
  by_id('later').addEventListener('click', () => turn_page(1));
}

// The treemap: a rectangle for each type, with an area in proportion to its share.

const treemap = {canvas: by_id('types'), cells: [], selected: 0, hovered: -1};
const most_cells = 300;

function sums_of_types(is_in) {
  const values = stack_values[state.metric];
  const sums = new Map();
  for (let s = 0; s < stack_count; ++s) {
    if (is_in !== null && is_in[s] === 0 || values[s] === 0) continue;
    const type = place_type(stack_place[s]);
    const sum = sums.get(type) || {type, value: 0, weight: 0};
    sum.value += values[s];
    sum.weight += Math.abs(values[s]);
    sums.set(type, sum);
  }
  return [...sums.values()].sort((a, b) => b.weight - a.weight || a.type - b.type);
}

// How far the worst of these cells is from a square, if they stand in one row.
function worst_shape(least, most, sum, side) {
  return Math.max(side * side * most / (sum * sum), sum * sum / (side * side * least));
}

// Fills rows along the shorter side. A row takes another cell as long as its cells become squarer.
function squarified(cells, width, height) {
  const total = cells.reduce((sum, cell) => sum + cell.weight, 0);
  if (total === 0) return;
  const scale = width * height / total;
  let left = 0;
  let top = 0;
  for (let from = 0; from < cells.length;) {
    const is_wide = width - left >= height - top;
    const side = is_wide ? height - top : width - left;
    const largest = cells[from].weight * scale;
    let sum = 0;
    let to = from;
    for (let best = Infinity; to < cells.length; ++to) {
      const area = cells[to].weight * scale;
      const shape = worst_shape(area, largest, sum + area, side);
      if (shape > best) break;
      best = shape;
      sum += area;
    }
    const thick = side === 0 ? 0 : sum / side;
    let along = is_wide ? top : left;
    for (; from < to; ++from) {
      const cell = cells[from];
      const length = thick === 0 ? 0 : cell.weight * scale / thick;
      if (is_wide) Object.assign(cell, {left, top: along, width: thick, height: length});
      else Object.assign(cell, {left: along, top, width: length, height: thick});
      along += length;
    }
    if (is_wide) left += thick;
    else top += thick;
  }
}

function count_types(is_in) {
  let cells = sums_of_types(is_in);
  by_id('types_text').textContent = cells.length === 0 ? 'none'
    : grouped.format(cells.length) + (cells.length === 1 ? ' type' : ' types');
  if (cells.length > most_cells) {
    const rest = {type: -1, value: 0, weight: 0};
    for (const cell of cells.slice(most_cells)) {
      rest.value += cell.value;
      rest.weight += cell.weight;
    }
    cells = cells.slice(0, most_cells).concat(rest).sort((a, b) => b.weight - a.weight);
  }
  treemap.cells = cells;
  treemap.canvas.hidden = cells.length === 0;
  treemap.selected = 0;
  treemap.hovered = -1;
}

const cell_name = (cell) => cell.type < 0 ? 'other types' : type_name(cell.type);

function draw_cell(paint, cell, number) {
  const wide = Math.max(cell.width - 1.5, 0.5);
  const high = Math.max(cell.height - 1.5, 0.5);
  paint.fillStyle = cell.type < 0 ? colors.tiny
    : is_difference ? color_of_change(cell.value, cell.weight)
    : color_by_name('type ' + strings[cell.type]);
  paint.fillRect(cell.left, cell.top, wide, high);
  if (wide > 34 && high > 18) {
    paint.fillStyle = colors.text;
    const name = fitting_name(paint, cell_name(cell), wide - 12, true);
    paint.fillText(name.text, cell.left + 6, cell.top + 12);
    const amount = shown(state.metric, cell.value);
    if (high > 36 && width_of(paint, amount) <= wide - 12) {
      paint.globalAlpha = 0.7;
      paint.fillText(amount, cell.left + 6, cell.top + 28);
      paint.globalAlpha = 1;
    }
  }
  const is_marked = number === treemap.hovered ||
      number === treemap.selected && document.activeElement === treemap.canvas;
  if (!is_marked) return;
  paint.strokeStyle = number === treemap.hovered ? colors.text : colors.accent;
  paint.lineWidth = 2;
  paint.strokeRect(cell.left + 1, cell.top + 1, Math.max(wide - 2, 1), Math.max(high - 2, 1));
}

function draw_types() {
  const width = width_for(treemap.canvas);
  const height = is_printing ? 260 : treemap.canvas.clientHeight;
  const paint = fresh_canvas(treemap.canvas, width, height);
  squarified(treemap.cells, width, height);
  treemap.cells.forEach((cell, number) => draw_cell(paint, cell, number));
}

function cell_at(event) {
  const frame = treemap.canvas.getBoundingClientRect();
  const x = event.clientX - frame.left;
  const y = event.clientY - frame.top;
  return treemap.cells.findIndex((cell) => x >= cell.left && x < cell.left + cell.width &&
                                           y >= cell.top && y < cell.top + cell.height);
}

function search_for_cell(cell) {
  if (cell === undefined || cell.type < 0) return;
  const wanted = 'type:=' + strings[cell.type];
  set_search(state.search.wanted === wanted ? '' : wanted);
}

function start_types() {
  const canvas = treemap.canvas;
  canvas.addEventListener('mousemove', (event) => {
    const hit = cell_at(event);
    if (hit !== treemap.hovered) {
      treemap.hovered = hit;
      draw_types();
    }
    if (hit < 0) {
      hide_tip();
      return;
    }
    const cell = treemap.cells[hit];
    const lines = [[cell_name(cell), 'main'], [exactly(state.metric, cell.value), 'place']];
    const share = percent(cell.weight, whole[state.metric]);
    show_tip(event.clientX, event.clientY, lines.concat([[share + ' of all', 'place']]), []);
  });
  canvas.addEventListener('mouseleave', () => {
    treemap.hovered = -1;
    hide_tip();
    draw_types();
  });
  canvas.addEventListener('click', (event) => search_for_cell(treemap.cells[cell_at(event)]));
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const last = treemap.cells.length - 1;
      treemap.selected = Math.max(0, Math.min(last, treemap.selected + step));
      draw_types();
      const cell = treemap.cells[treemap.selected];
      if (cell) {
        by_id('spoken').textContent = cell_name(cell) + ', ' + exactly(state.metric, cell.value);
      }
    } else if (event.key === 'Enter') {
      search_for_cell(treemap.cells[treemap.selected]);
    }
  });
  canvas.addEventListener('focus', draw_types);
  canvas.addEventListener('blur', draw_types);
}

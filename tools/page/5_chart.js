// The chart: those boxes of the tree that can be seen.

const row_height = 21;
const chart = {
  canvas: by_id('chart'),
  scroll: by_id('chart_scroll'),
  space: by_id('chart_space'),
  selected: 0,
  hovered: -1,
  boxes: []  // what was drawn last: box, left, top, width
};

function box_name(box) {
  if (box === 0) return state.place < 0 ? 'all' : 'this place';
  const key = state.tree.key[box];
  return key >= 0 ? frame_name(key) : type_name(-1 - key);
}

function box_color(box) {
  const tree = state.tree;
  if (box === 0) return colors.root;
  const key = tree.key[box];
  if (state.found !== null && state.search.fits_key(key)) return colors.found;
  if (is_difference) return color_of_change(tree.value[box], tree.weight[box]);
  if (key < 0) return color_by_name('type ' + strings[-1 - key]);
  const name = state.color_by === 'file' ? frame_file(key) || frame_module(key)
                                         : frame_module(key);
  return color_by_name(name);
}

// Writes after the name, if there is room: the number, and before it the line.
function draw_further(paint, box, left, right, middle) {
  const number = shown(state.metric, state.tree.value[box]);
  const number_width = width_of(paint, number);
  if (left + number_width > right) return;
  paint.globalAlpha *= 0.66;
  const key = state.tree.key[box];
  if (box !== 0 && key >= 0 && frame_line(key) !== 0) {
    const line = base_name(frame_file(key)) + ':' + frame_line(key);
    const line_width = width_of(paint, line);
    if (left + line_width + 12 + number_width <= right) {
      paint.fillText(line, left, middle);
      left += line_width + 12;
    }
  }
  paint.fillText(number, left, middle);
}

function draw_box(paint, box, left, top, width, is_above) {
  const is_lost = state.found !== null && !(state.found_weight[box] > 0);
  paint.globalAlpha = is_lost ? 0.28 : is_above ? 0.62 : 1;
  paint.fillStyle = box_color(box);
  paint.fillRect(left, top, Math.max(width - (width > 3 ? 1 : 0), 0.5), row_height - 1);
  if (width > 32) {
    paint.fillStyle = colors.text;
    const is_type = box !== 0 && state.tree.key[box] < 0;
    const name = fitting_name(paint, box_name(box), width - 10, is_type);
    paint.fillText(name.text, left + 5, top + row_height / 2);
    draw_further(paint, box, left + name.width + 14, left + width - 8, top + row_height / 2);
  }
  if (width >= 2) chart.boxes.push({box, left, top, width});
}

function outline(paint, drawn, color) {
  paint.globalAlpha = 1;
  paint.strokeStyle = color;
  paint.lineWidth = 2;
  paint.strokeRect(drawn.left + 1, drawn.top + 1, Math.max(drawn.width - 3, 1), row_height - 3);
}

// Boxes narrower than half a pixel are drawn as one grey box. They come last, because siblings are
// in the order of their widths.
function draw_rest(paint, from, to, left, top, width) {
  paint.globalAlpha = 1;
  paint.fillStyle = colors.tiny;
  paint.fillRect(left, top, width, row_height - 1);
  if (width < 70) return;
  const tree = state.tree;
  let count = 0;
  let value = 0;
  for (let i = from; i < to; ++i) {
    count += tree.weight[tree.children[i]] > 0 ? 1 : 0;
    value += tree.value[tree.children[i]];
  }
  const words = grouped.format(count) + ' more, ' + shown(state.metric, value);
  paint.fillStyle = colors.quiet;
  paint.fillText(fitting(paint, words, width - 10).text, left + 5, top + row_height / 2);
}

function draw_beneath(paint, top_of, width, height) {
  const tree = state.tree;
  const zoom = state.zoom;
  const scale = width / tree.weight[zoom];
  const waiting = [zoom];
  while (waiting.length !== 0) {
    const box = waiting.pop();
    const top = top_of(tree.depth[box] + 1);
    if (top > height) continue;
    for (let i = tree.first[box]; i < tree.first[box + 1]; ++i) {
      const child = tree.children[i];
      const left = (tree.begin[child] - tree.begin[zoom]) * scale;
      const wide = tree.weight[child] * scale;
      if (wide < 0.5) {
        const end = (tree.begin[box] + tree.weight[box] - tree.begin[zoom]) * scale;
        if (tree.weight[child] > 0 && end - left >= 0.5 && top > -row_height) {
          draw_rest(paint, i, tree.first[box + 1], left, top, end - left);
        }
        break;
      }
      if (top > -row_height) draw_box(paint, child, left, top, wide, false);
      waiting.push(child);
    }
  }
}

// The deepest row that has a box when `top` has the whole width.
function deepest_row(top, width) {
  const tree = state.tree;
  const least = tree.weight[top] / width / 2;
  const waiting = [top];
  let deepest = tree.depth[top];
  while (waiting.length !== 0) {
    const box = waiting.pop();
    deepest = Math.max(deepest, tree.depth[box]);
    for (let i = tree.first[box]; i < tree.first[box + 1]; ++i) {
      const child = tree.children[i];
      if (!(tree.weight[child] > 0)) break;
      deepest = Math.max(deepest, tree.depth[child]);
      if (tree.weight[child] < least) break;
      waiting.push(child);
    }
  }
  return deepest;
}

// The chart is as high as its boxes, but not lower than without a zoom, so that the table stays
// where it is.
function draw_chart() {
  const tree = state.tree;
  const width = width_for(chart.scroll);
  const rows = Math.max(deepest_row(0, width), deepest_row(state.zoom, width));
  const full_height = (rows + 1) * row_height;
  chart.space.style.height = full_height + 'px';
  const most = is_printing ? full_height : Math.max(160, Math.floor(innerHeight * 0.62));
  const height = Math.min(full_height, most);
  chart.canvas.style.height = height + 'px';
  const paint = fresh_canvas(chart.canvas, width, height);
  chart.boxes = [];
  const scrolled = is_printing ? 0 : chart.scroll.scrollTop;
  const top_of = (depth) => depth * row_height - scrolled;
  for (let box = state.zoom; box >= 0; box = tree.parent[box]) {
    const top = top_of(tree.depth[box]);
    if (top > -row_height && top < height) {
      draw_box(paint, box, 0, top, width, box !== state.zoom);
    }
  }
  if (tree.weight[state.zoom] > 0) draw_beneath(paint, top_of, width, height);
  for (const drawn of chart.boxes) {
    if (drawn.box === chart.hovered) outline(paint, drawn, colors.text);
    if (drawn.box === chart.selected && document.activeElement === chart.canvas) {
      outline(paint, drawn, colors.accent);
    }
  }
}

function box_at(event) {
  const frame = chart.canvas.getBoundingClientRect();
  const x = event.clientX - frame.left;
  const y = event.clientY - frame.top;
  const hit = chart.boxes.find((drawn) => x >= drawn.left && x < drawn.left + drawn.width &&
                                          y >= drawn.top && y < drawn.top + row_height);
  return hit === undefined ? -1 : hit.box;
}

// All numbers of a box, also those that are not drawn.
function numbers_of_box(box) {
  const under = stacks_under(box);
  return sums_of((s) => under[s] !== 0 && (state.wanted === null || state.wanted[s] !== 0));
}

function rows_of_numbers(sums) {
  return metrics.map((metric, m) => [
    metric.name,
    is_known(metric) ? exact(sums[m]) : '\u2013',
    metric.is_bytes && is_known(metric) ? bytes(sums[m]) : '',
    is_known(metric) && !is_difference ? percent(sums[m], whole[m]) : ''
  ]);
}

function lines_of_box(box) {
  const key = state.tree.key[box];
  if (box === 0) return [[box_name(box), 'main']];
  if (key < 0) return [[type_name(-1 - key), 'main'], ['type', 'place']];
  return [
    [frame_function(key) || frame_name(key), 'main'],
    [frame_place(key) + (frame_is_inlined(key) ? ' (inlined)' : ''), 'place'],
    [frame_module(key), 'place']
  ];
}

const said_of_box = {box: -1, tree: null, wanted: null, sums: null};
function tip_for_box(event, box) {
  const said = said_of_box;
  if (said.box !== box || said.tree !== state.tree || said.wanted !== state.wanted) {
    Object.assign(said, {box, tree: state.tree, wanted: state.wanted, sums: numbers_of_box(box)});
  }
  show_tip(event.clientX, event.clientY, lines_of_box(box), rows_of_numbers(said.sums),
           state.metric);
}

function say_box(box) {
  const value = state.tree.value[box];
  const parts = lines_of_box(box).map((line) => line[0]).filter((line) => line !== '');
  parts.push(exactly(state.metric, value));
  if (!is_difference) parts.push(percent(value, whole[state.metric]));
  by_id('spoken').textContent = parts.join(', ');
}

// --- keys ---

function sibling(box, step) {
  const tree = state.tree;
  const above = tree.parent[box];
  if (above < 0 || box === state.zoom) return box;
  for (let i = tree.first[above]; i < tree.first[above + 1]; ++i) {
    if (tree.children[i] !== box) continue;
    const next = i + step;
    const is_there = next >= tree.first[above] && next < tree.first[above + 1] &&
                     tree.weight[tree.children[next]] > 0;
    return is_there ? tree.children[next] : box;
  }
  return box;
}

function moved(box, key) {
  const tree = state.tree;
  if (key === 'ArrowUp') return Math.max(0, tree.parent[box]);
  if (key === 'ArrowLeft') return sibling(box, -1);
  if (key === 'ArrowRight') return sibling(box, 1);
  const child = tree.children[tree.first[box]];
  return tree.first[box] < tree.first[box + 1] && tree.weight[child] > 0 ? child : box;
}

function select_box(box) {
  chart.selected = box;
  const top = state.tree.depth[box] * row_height;
  const seen = chart.scroll.clientHeight;
  if (top < chart.scroll.scrollTop) chart.scroll.scrollTop = top;
  if (top + row_height > chart.scroll.scrollTop + seen) {
    chart.scroll.scrollTop = top + row_height - seen;
  }
  draw_chart();
  say_box(box);
}

function start_chart() {
  chart.canvas.addEventListener('mousemove', (event) => {
    const box = box_at(event);
    if (box !== chart.hovered) {
      chart.hovered = box;
      draw_chart();
    }
    if (box < 0) hide_tip();
    else tip_for_box(event, box);
  });
  chart.canvas.addEventListener('mouseleave', () => {
    chart.hovered = -1;
    hide_tip();
    draw_chart();
  });
  chart.canvas.addEventListener('click', (event) => {
    const box = box_at(event);
    if (box >= 0) zoom_to(box);
  });
  chart.canvas.addEventListener('keydown', (event) => {
    if (event.key.startsWith('Arrow')) {
      event.preventDefault();
      select_box(moved(chart.selected, event.key));
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      zoom_to(chart.selected);
    }
  });
  // A click also gives the chart the focus. That must not scroll away what was clicked.
  chart.canvas.addEventListener('focus', () => {
    if (chart.canvas.matches(':focus-visible')) select_box(chart.selected);
  });
  chart.canvas.addEventListener('blur', draw_chart);
  chart.scroll.addEventListener('scroll', () => requestAnimationFrame(draw_chart));
}

// Live bytes and objects over time, with the marks that were set.

const timeline = {canvas: by_id('timeline'), hovered: -1};
const moments = data.moments;  // time in ns, live objects, live bytes, allocations, bytes, mark

function highest(values) {
  return values.reduce((most, value) => Math.max(most, value), 0);
}

function draw_series(paint, field, top, x_of, y_of) {
  paint.beginPath();
  moments.forEach((moment, number) => {
    const x = x_of(moment[0]);
    const y = y_of(moment[field] / top);
    if (number === 0) paint.moveTo(x, y);
    else paint.lineTo(x, y);
  });
}

function draw_timeline() {
  const canvas = timeline.canvas;
  if (moments.length === 0) return;
  const width = width_for(canvas);
  const height = is_printing ? 150 : canvas.clientHeight;
  const paint = fresh_canvas(canvas, width, height);
  const first = 0;  // when the window began
  const last = moments[moments.length - 1][0];
  const most_bytes = Math.max(1, highest(moments.map((moment) => moment[2])));
  const most_objects = Math.max(1, highest(moments.map((moment) => moment[1])));
  const margin = is_sampled ? 74 : 64;
  const left = margin;
  const right = width - margin;
  const bottom = height - 20;
  const x_of = (time) => last === first ? left : left + (time - first) / (last - first) *
      (right - left);
  const y_of = (share) => bottom - share * (bottom - 24);
  timeline.x_of = x_of;
  paint.strokeStyle = colors.line;
  paint.lineWidth = 1;
  for (const share of [0, 0.5, 1]) {
    const y = Math.round(y_of(share)) + 0.5;
    paint.beginPath();
    paint.moveTo(left, y);
    paint.lineTo(right, y);
    paint.stroke();
    paint.fillStyle = colors.accent;
    paint.textAlign = 'right';
    paint.fillText(approximately(plain_bytes(Math.round(most_bytes * share))), left - 8, y);
    paint.fillStyle = colors.objects;
    paint.textAlign = 'left';
    paint.fillText(approximately(grouped.format(most_objects * share)), right + 8, y);
  }
  draw_series(paint, 2, most_bytes, x_of, y_of);
  paint.lineTo(x_of(last), bottom);
  paint.lineTo(x_of(moments[0][0]), bottom);
  paint.fillStyle = colors.area;
  paint.fill();
  draw_series(paint, 2, most_bytes, x_of, y_of);
  paint.strokeStyle = colors.accent;
  paint.lineWidth = 1.5;
  paint.stroke();
  draw_series(paint, 1, most_objects, x_of, y_of);
  paint.strokeStyle = colors.objects;
  paint.stroke();
  draw_marks(paint, x_of, bottom, right);
  paint.fillStyle = colors.quiet;
  paint.textAlign = 'left';
  paint.fillText(duration(first), left, height - 7);
  paint.textAlign = 'right';
  paint.fillText(duration(last), right, height - 7);
  paint.textAlign = 'left';
  if (timeline.hovered < 0) return;
  const x = x_of(moments[timeline.hovered][0]);
  paint.strokeStyle = colors.text;
  paint.lineWidth = 1;
  paint.beginPath();
  paint.moveTo(x, 14);
  paint.lineTo(x, bottom);
  paint.stroke();
}

// A name is left out if it would overlap the one before it.
function draw_marks(paint, x_of, bottom, right) {
  let free_from = 0;
  paint.strokeStyle = colors.quiet;
  paint.fillStyle = colors.text;
  paint.lineWidth = 1;
  for (const moment of moments) {
    if (moment[5] === '') continue;
    const x = x_of(moment[0]);
    paint.setLineDash([3, 3]);
    paint.beginPath();
    paint.moveTo(x, 14);
    paint.lineTo(x, bottom);
    paint.stroke();
    paint.setLineDash([]);
    const name = fitting(paint, moment[5], Math.min(180, right - x - 4));
    if (x >= free_from && name.width > 0) {
      paint.fillText(name.text, x + 3, 8);
      free_from = x + name.width + 12;
    }
  }
}

function show_moment(number, x, y) {
  timeline.hovered = number;
  draw_timeline();
  const moment = moments[number];
  show_tip(x, y, [['after ' + duration(moment[0]), 'main'], [moment[5], 'place']], [
    ['Live bytes', approximately(grouped.format(moment[2])), plain_bytes(moment[2])],
    ['Live objects', approximately(grouped.format(moment[1])), ''],
    ['Allocated bytes', approximately(grouped.format(moment[4])), plain_bytes(moment[4])],
    ['Allocations', approximately(grouped.format(moment[3])), '']
  ]);
}

function nearest_moment(x) {
  let best = 0;
  moments.forEach((moment, number) => {
    const distance = (at) => Math.abs(timeline.x_of(moments[at][0]) - x);
    if (distance(number) < distance(best)) best = number;
  });
  return best;
}

function start_timeline() {
  if (moments.length === 0) return;
  by_id('timeline_card').hidden = false;
  const most = highest(moments.map((moment) => moment[2]));
  const most_objects = highest(moments.map((moment) => moment[1]));
  const words = grouped.format(moments.length) +
      (moments.length === 1 ? ' moment' : ' moments') + '; at most ' +
      approximately(plain_bytes(most)) + ' (area) and ' +
      approximately(grouped.format(most_objects)) +
      (most_objects === 1 ? ' object' : ' objects') + ' (line) alive';
  by_id('timeline_text').textContent = words;
  const canvas = timeline.canvas;
  canvas.setAttribute('aria-label', 'Live bytes and live objects over time: ' + words);
  canvas.addEventListener('mousemove', (event) => {
    const x = event.clientX - canvas.getBoundingClientRect().left;
    show_moment(nearest_moment(x), event.clientX, event.clientY);
  });
  const leave = () => {
    timeline.hovered = -1;
    hide_tip();
    draw_timeline();
  };
  canvas.addEventListener('mouseleave', leave);
  canvas.addEventListener('blur', leave);
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const number = Math.max(0, Math.min(moments.length - 1, timeline.hovered + step));
    const frame = canvas.getBoundingClientRect();
    show_moment(number, frame.left + timeline.x_of(moments[number][0]), frame.top + 30);
    by_id('spoken').textContent = tip.textContent;
  });
}

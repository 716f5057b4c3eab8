// Colours and canvases: what the chart, the treemap and the timeline share.

const dark_scheme = matchMedia('(prefers-color-scheme: dark)');
let is_printing = false;

function is_dark() {
  const chosen = document.documentElement.dataset.theme;
  return !is_printing && (chosen === 'dark' || chosen !== 'light' && dark_scheme.matches);
}

// A colour of the OKLCH space (lightness, colourfulness, angle) as sRGB: equal lightness looks
// equally light whatever the angle, so that text can be read on all of them.
function color_of(lightness, chroma, degrees) {
  const a = chroma * Math.cos(degrees * Math.PI / 180);
  const b = chroma * Math.sin(degrees * Math.PI / 180);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s
  ];
  const shares = linear.map((x) => {
    const light = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(255 * Math.min(1, Math.max(0, light)));
  });
  return 'rgb(' + shares.join(',') + ')';
}

function hash_of(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash ^ hash >>> 15) >>> 0;
}

let colors = null;

function make_colors() {
  const dark = is_dark();
  const hue = (lightness, chroma) => Array.from({length: 30}, (_, i) =>
    color_of(lightness + (i % 2 === 0 ? 0.012 : -0.012), chroma, i * 12));
  const change = (degrees) => Array.from({length: 8}, (_, i) =>
    dark ? color_of(0.34 + 0.012 * i, 0.025 + 0.014 * i, degrees)
         : color_of(0.93 - 0.018 * i, 0.022 + 0.012 * i, degrees));
  colors = {
    by_name: dark ? hue(0.43, 0.062) : hue(0.875, 0.062),
    more: change(25),
    less: change(255),
    root: dark ? '#323a46' : '#dde2e9',
    none: dark ? '#2c323c' : '#e6e9ee',
    tiny: dark ? '#343b46' : '#d8dde4',
    found: dark ? '#a8791a' : '#ffd24a',
    edge: dark ? '#1b1f26' : '#ffffff',
    text: dark ? '#eef1f6' : '#1b2430',
    quiet: dark ? '#9aa5b5' : '#5a6675',
    line: dark ? '#2c323c' : '#e1e4e9',
    accent: dark ? '#7db7ff' : '#0b5cad',
    area: dark ? '#2b4a6b' : '#cfe2f6',
    objects: dark ? '#f0b866' : '#a85f00'
  };
}

const name_colors = new Map();
function color_by_name(name) {
  let at = name_colors.get(name);
  if (at === undefined) {
    at = hash_of(name) % 30;
    name_colors.set(name, at);
  }
  return colors.by_name[at];
}

// Red: more than before; blue: less. The less of a change is cancelled by opposite changes beneath,
// the stronger the colour.
function color_of_change(value, weight) {
  if (value === 0 || weight === 0) return colors.none;
  const strength = Math.min(7, Math.floor(Math.abs(value) / weight * 8));
  return value > 0 ? colors.more[strength] : colors.less[strength];
}

const page_font = '12px system-ui, -apple-system, "Segoe UI", Roboto, Cantarell, sans-serif';

// How wide to draw: when printing as wide as the paper, however wide the window was.
function width_for(element) {
  return is_printing ? 720 : element.clientWidth;
}

// Empties the canvas and gives it the pixels of the screen; coordinates are those of the page.
function fresh_canvas(canvas, width, height) {
  const ratio = is_printing ? 2 : Math.min(window.devicePixelRatio || 1, 3);
  const pixels_wide = Math.max(1, Math.round(width * ratio));
  const pixels_high = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== pixels_wide) canvas.width = pixels_wide;
  if (canvas.height !== pixels_high) canvas.height = pixels_high;
  const paint = canvas.getContext('2d');
  paint.setTransform(ratio, 0, 0, ratio, 0, 0);
  paint.clearRect(0, 0, width, height);
  paint.font = page_font;
  paint.textBaseline = 'middle';
  return paint;
}

// As much of the text as fits, with its width.
const text_widths = new Map();
function width_of(paint, text) {
  let width = text_widths.get(text);
  if (width === undefined) {
    if (text_widths.size > 20000) text_widths.clear();
    width = paint.measureText(text).width;
    text_widths.set(text, width);
  }
  return width;
}

function fitting(paint, text, room) {
  const width = width_of(paint, text);
  if (width <= room) return {text, width};
  let length = Math.floor(text.length * room / width);
  while (length > 1) {
    const cut = text.slice(0, length).trimEnd() + '\u2026';
    const cut_width = paint.measureText(cut).width;
    if (cut_width <= room) return {text: cut, width: cut_width};
    --length;
  }
  return {text: '', width: 0};
}

// If a name is too long, its outer scopes are removed first, and then its end is cut.
function fitting_name(paint, name, room, is_type) {
  if (width_of(paint, name) <= room) return {text: name, width: width_of(paint, name)};
  const names = shorter_names(name, is_type ? end_of_scopes(name) : name.length);
  const fits = names.find((each) => width_of(paint, each) <= room);
  return fitting(paint, fits === undefined ? names[names.length - 1] : fits, room);
}

// --- the box that follows the mouse ---

const tip = by_id('tip');

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function hide_tip() {
  tip.hidden = true;
}

// A line has a text and a class; a row has a name, a number and further texts.
function show_tip(x, y, lines, rows, chosen) {
  tip.replaceChildren(...lines.filter((line) => line[0] !== '')
    .map((line) => element('div', line[0], line[1])));
  if (rows.length !== 0) {
    const table = element('table');
    rows.forEach((row, number) => {
      const line = element('tr', undefined, number === chosen ? 'chosen' : '');
      row.forEach((cell, column) => line.append(element('td', cell, column ? 'number' : '')));
      table.append(line);
    });
    tip.append(table);
  }
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = x + 16 + box.width < innerWidth ? x + 16 : Math.max(4, x - 12 - box.width);
  const top = y + 18 + box.height < innerHeight ? y + 18 : Math.max(4, y - 12 - box.height);
  tip.style.left = left + 'px';
  tip.style.top = top + 'px';
}

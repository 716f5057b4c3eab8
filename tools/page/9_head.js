// The head: what was recorded, the totals, and what is not known, in plain words.

function how_it_was_recorded() {
  const words = [];
  if (data.record === 'counters') words.push('Counters only: totals without stacks');
  else if (!is_sampled) words.push('Every allocation was recorded with its stack');
  else {
    words.push('Sampled: one sample in ' + plain_bytes(data.sample_bytes) +
               ' of allocations on average, ' + grouped.format(data.samples) +
               (data.samples === 1 ? ' sample' : ' samples'));
  }
  if (data.record !== 'counters') {
    words.push('up to ' + data.stack_frames + (data.stack_frames === 1 ? ' frame' : ' frames') +
               ' of each stack');
  }
  words.push(data.threads === 'all' ? 'all threads' : 'one thread');
  if (!data.is_of_two_windows) {
    const time = duration(data.duration_ns);
    words.push(!is_difference ? 'open for ' + time
                              : time + (data.is_backwards ? ' back in time' : ' apart'));
  }
  let text = words.join(', ') + '.';
  if (is_sampled) {
    text += ' Numbers with ~ are estimates; the true ones lie in the 95% intervals in 95 of 100' +
        ' cases.';
  }
  if (is_difference) {
    text += ' All numbers are changes from ' +
        (data.is_backwards ? 'the later snapshot to the earlier one.'
                           : 'the earlier snapshot to the later one.') +
        ' Widths and shares are of the sum of all changes without their signs: red is more,' +
        ' blue is less.';
  }
  return text;
}

function interval(total, is_bytes) {
  if (!is_sampled) return '';
  const number = is_bytes ? signed_bytes : signed;
  return '95%: ' + number(total[1]) + ' to ' + number(total[2]);
}

function total_card(name, large, large_title, small, further) {
  const card = element('div', undefined, 'total');
  card.append(element('div', name, 'name'));
  const number = element('div', large, 'large');
  number.title = large_title;
  card.append(number);
  for (const line of [small, ...further]) {
    if (line !== '') card.append(element('div', line, 'small'));
  }
  return card;
}

function card_of(name, byte_total, object_total) {
  const further = [interval(byte_total, true)];
  const objects = interval(object_total, false);
  if (objects !== '') further.push(objects + ' objects');
  return total_card(name, bytes(byte_total[0]), several(byte_total[0], 'byte', 'bytes'),
                    several(object_total[0], 'object', 'objects'), further);
}

function note(text) {
  by_id('notes').append(element('p', text, 'note'));
}

function fact(name, text) {
  if (text === '') return;
  by_id('facts').append(element('dt', name), element('dd', text));
}

// Says what the places add up to, if that is not all that is alive: some places were left out on
// request, or objects were recorded without a stack.
function note_missing_rows() {
  const totals = data.totals;
  if (data.is_filtered) {
    note('Filtered: the places below are a part, ' +
         several(data.rows_alive[0], 'object', 'objects') + ' with ' + bytes(data.rows_alive[1]) +
         '; the totals are those of the whole window.');
    return;
  }
  const is_complete = data.rows_alive[0] === totals.live_objects[0] &&
                      data.rows_alive[1] === totals.live_bytes[0];
  if (data.record !== 'exact' || is_complete) return;
  note('In the places below: ' + several(data.rows_alive[0], 'object', 'objects') + ' with ' +
       bytes(data.rows_alive[1]) + '; it is not known where the rest was allocated.');
}

// A table whose first column has names, and all others numbers.
function table_of(columns, rows) {
  const table = element('table');
  const head = element('tr');
  for (const name of columns) {
    const cell = element('th', name, name === columns[0] ? '' : 'number');
    cell.scope = 'col';
    head.append(cell);
  }
  table.append(head);
  for (const [name, ...numbers] of rows) {
    const row = element('tr');
    row.append(element('td', name));
    for (const number of numbers) row.append(element('td', exact(number), 'number'));
    table.append(row);
  }
  return table;
}

function write_families() {
  if (data.families.length === 0) return;
  by_id('families').append(table_of(
    ['Family', 'Allocations', 'Freed', 'Allocated bytes', 'Live objects', 'Live bytes'],
    data.families.map(([name, allocations, frees, allocated, freed]) =>
      [name, allocations, frees, allocated, allocations - frees, allocated - freed])));
}

function write_ages() {
  if (!data.ages) return;
  by_id('families').append(table_of(
    ['Allocated how long ago', 'Live objects', 'Live bytes', 'Allocations', 'Allocated bytes'],
    data.ages.map(([least, most, ...numbers]) =>
      [duration(least) + ' to ' + duration(most), ...numbers])));
}

function write_head() {
  const name = data.window === '' ? 'an unnamed window' : data.window;
  by_id('title').textContent = (is_difference ? 'difference of ' : '') + name;
  document.title = name + ' \u2013 allocscope';
  const has_totals = data.has_totals;
  by_id('how').textContent = has_totals ? how_it_was_recorded() : '';
  if (data.not_recording !== '') note('Attention: ' + data.not_recording + '.');
  if (data.is_of_two_windows) note('Attention: the two snapshots are of different windows.');
  if (data.is_backwards) {
    note('Attention: the later snapshot was subtracted from the earlier one: + is what has gone,' +
         ' \u2212 what is new.');
  }
  const totals = data.totals;
  if (has_totals) {
    by_id('totals').append(
      card_of('Alive', totals.live_bytes, totals.live_objects),
      card_of('Allocated', totals.bytes_allocated, totals.allocations),
      card_of('Freed', totals.bytes_freed, totals.frees),
      total_card('Peak', bytes(totals.peak_bytes), several(totals.peak_bytes, 'byte', 'bytes'),
                 is_difference ? 'change of the most alive at one time'
                               : 'the most alive at one time', []));
    note_missing_rows();
  }
  if (data.uncertain[0] !== 0) {
    note('In doubt: ' + grouped.format(data.uncertain[0]) +
         (data.uncertain[0] === 1 ? ' object' : ' objects') + ' with ' +
         plain_bytes(data.uncertain[1]) +
         ' may have been freed by other threads while this was read.');
  }
  for (const [reason, count] of data.lost) {
    note('Not recorded: ' + grouped.format(count) + ' ' + reason);
  }
  fact('Command', data.command);
  fact('Process', data.process_id === 0 ? '' : String(data.process_id));
  fact('Taken', data.taken_unix_ms === 0 ? '' : new Date(data.taken_unix_ms).toLocaleString() +
       ' (' + new Date(data.taken_unix_ms).toISOString() + ')');
  fact('Stacks', data.has_stacks ? grouped.format(stack_count) + ' with ' +
       grouped.format(frame_count) +
       (frame_count === 1 ? ' different frame' : ' different frames') : '');
  fact('allocscope', data.allocscope + ', used ' + plain_bytes(data.own_memory_bytes) +
       ' of memory itself; none of it is in the numbers');
  write_families();
  write_ages();
  by_id('foot').textContent = 'Sizes are those that the program asked for. 1 KiB is 1024 bytes.';
}

// The text in place of a chart that would be empty.
function chart_words() {
  if (data.not_recording !== '' && stack_count === 0) return 'There is nothing to show.';
  if (data.record === 'counters') {
    return 'This window only counted: it is not known which code allocated.';
  }
  if (stack_count !== 0) {
    if (whole[state.metric] !== 0) return '';
    const word = metrics[state.metric].word;
    return is_difference ? 'No place has changed its ' + word + '.' : 'There are no ' + word + '.';
  }
  if (data.is_filtered) return 'No place matches the request.';
  if (is_sampled) return 'No sample is alive.';
  if (is_difference) return 'No place has changed.';
  return data.totals.live_objects[0] === 0 ? 'Nothing is alive.'
    : 'It was not recorded where the live objects were allocated.';
}

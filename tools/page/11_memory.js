// Where the resident memory of the process was. This file has only functions, which the files
// before it call.
function memory_row(name, meaning, bytes_of_part, resident) {
  const row = element('tr');
  row.append(element('td', name), element('td', plain_bytes(bytes_of_part), 'number'));
  const share = element('td', undefined, 'share');
  const bar = element('span', percent(bytes_of_part, resident), 'share_bar');
  bar.style.backgroundSize = (100 * bytes_of_part / resident) + '% 100%';
  share.append(bar);
  row.append(share, element('td', meaning, 'meaning'));
  row.children[1].title = grouped.format(bytes_of_part) + ' bytes';
  return row;
}

function write_memory() {
  const memory = data.memory;
  if (!memory) return;
  by_id('memory_card').hidden = false;
  if (memory.resident === 0) {
    by_id('memory_text').textContent = 'not known: /proc/self/smaps could not be read';
    return;
  }
  let words = plain_bytes(memory.resident);
  if (memory.at_ns !== data.duration_ns) {
    words += ', ' + duration(memory.at_ns) + ' after the window began';
  }
  if (memory.swapped !== 0) {
    words += '; swapped out, and in no part: ' + plain_bytes(memory.swapped);
  }
  by_id('memory_text').textContent = words;
  for (const [name, meaning, bytes_of_part] of memory.parts) {
    by_id('memory').append(memory_row(name, meaning, bytes_of_part, memory.resident));
  }
}

// Which names, frames, places and stacks match the search.

class finder {
  constructor(wanted) {
    this.wanted = wanted.trim();
    this.is_empty = this.wanted === '';
    if (this.is_empty) return;
    let rest = this.wanted;
    const kind = /^(type|file|function|module):/.exec(rest);
    this.kind = kind ? kind[1] : '';
    rest = rest.slice(kind ? kind[0].length : 0);
    const line = /^(.*[^:]):(\d+)$/.exec(rest);
    this.line = line && this.kind !== 'type' && this.kind !== 'function' ? Number(line[2]) : 0;
    this.text_fits = this.rule(rest);
    this.file_fits = this.line !== 0 ? this.rule(line[1]) : this.text_fits;
    this.find();
  }

  // `=name`: that name and no other.
  rule(text) {
    const pattern = /^\/(.+)\/$/.exec(text);
    if (pattern) {
      try {
        const made = new RegExp(pattern[1], 'i');
        return (name) => made.test(name);
      } catch (problem) {
        this.problem = 'not a pattern';
      }
    }
    if (text.startsWith('=')) return (name) => name === text.slice(1);
    const lower = text.toLowerCase();
    return (name) => name.toLowerCase().includes(lower);
  }

  find() {
    const fits = Uint8Array.from(strings, (name) => this.text_fits(name) ? 1 : 0);
    const file_fits = this.line === 0 ? fits
        : Uint8Array.from(strings, (name) => this.file_fits(name) ? 1 : 0);
    const any = (kind) => this.kind === '' || this.kind === kind;
    this.frame = new Uint8Array(frame_count);
    for (let f = 0; f < frame_count; ++f) {
      const at = f * frame_width;
      const line_fits = this.line === 0 || frames[at + 2] === this.line;
      this.frame[f] = any('function') && fits[frames[at]] ||
          any('file') && line_fits && file_fits[frames[at + 1]] ||
          any('module') && fits[frames[at + 3]] ? 1 : 0;
    }
    this.type = any('type') ? fits : new Uint8Array(strings.length);
    this.place = new Uint8Array(place_count);
    for (let p = 0; p < place_count; ++p) {
      const line_fits = this.line === 0 || place_field(p, 1) === this.line;
      this.place[p] = any('type') && fits[place_type(p)] ||
          any('file') && line_fits && file_fits[place_field(p, 0)] ||
          any('function') && fits[place_field(p, 3)] ? 1 : 0;
    }
  }

  fits_key(key) {
    return key >= 0 ? this.frame[key] : this.type[-1 - key];
  }

  // A stack matches if one of its visible boxes does, or its place.
  stacks_in(tree) {
    const on_path = new Uint8Array(tree.count);
    for (let n = 1; n < tree.count; ++n) {
      on_path[n] = on_path[tree.parent[n]] || this.fits_key(tree.key[n]) ? 1 : 0;
    }
    const found = new Uint8Array(stack_count);
    for (let s = 0; s < stack_count; ++s) {
      found[s] = on_path[tree.end[s]] || this.place[stack_place[s]] ? 1 : 0;
    }
    return found;
  }
}

// The boxes of the chart: all stacks merged into a tree, from either end.
//
// A box is identified by its parent and its key: a frame (from 0), or a type (string -1 - key). A
// parent always has a smaller number than its boxes, so one loop from the last box to the first
// sums them up.

class box_tree {
  constructor(room) {
    this.count = 1;
    this.parent = new Int32Array(room);
    this.key = new Int32Array(room);
    this.depth = new Int32Array(room);
    this.parent[0] = -1;
    this.slots = new Int32Array(this.slot_count(room));
    this.end = new Int32Array(stack_count);
  }

  slot_count(room) {
    let count = 1024;
    while (count < room * 2) count *= 2;
    return count;
  }

  hash(parent, key) {
    let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(key + 0x7f4a7c15, 0x85ebca6b);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    return (hash ^ hash >>> 13) & this.slots.length - 1;
  }

  child(parent, key) {
    const mask = this.slots.length - 1;
    let at = this.hash(parent, key);
    for (let n = this.slots[at]; n !== 0; n = this.slots[at]) {
      if (this.parent[n] === parent && this.key[n] === key) return n;
      at = at + 1 & mask;
    }
    if (this.count === this.parent.length) {
      this.grow();
      return this.child(parent, key);
    }
    const made = this.count++;
    this.parent[made] = parent;
    this.key[made] = key;
    this.depth[made] = this.depth[parent] + 1;
    this.slots[at] = made;
    return made;
  }

  grow() {
    for (const name of ['parent', 'key', 'depth']) {
      const larger = new Int32Array(this.count * 2);
      larger.set(this[name]);
      this[name] = larger;
    }
    this.slots = new Int32Array(this.slot_count(this.count * 2));
    for (let n = 1; n < this.count; ++n) {
      let at = this.hash(this.parent[n], this.key[n]);
      while (this.slots[at] !== 0) at = at + 1 & this.slots.length - 1;
      this.slots[at] = n;
    }
  }

  // Adds up `values` of the stacks that `is_wanted` lets through, and lays the boxes out.
  weigh(values, is_wanted) {
    const count = this.count;
    const value = this.value = new Float64Array(count);
    const weight = this.weight = new Float64Array(count);
    for (let s = 0; s < stack_count; ++s) {
      if (is_wanted !== null && is_wanted[s] === 0) continue;
      value[this.end[s]] += values[s];
      weight[this.end[s]] += Math.abs(values[s]);
    }
    for (let n = count - 1; n > 0; --n) {
      value[this.parent[n]] += value[n];
      weight[this.parent[n]] += weight[n];
    }
    this.lay_out();
  }

  // children[first[n]] to children[first[n + 1] - 1]: the boxes of n, widest first.
  lay_out() {
    const count = this.count;
    const first = this.first = new Int32Array(count + 1);
    for (let n = 1; n < count; ++n) ++first[this.parent[n] + 1];
    for (let n = 0; n < count; ++n) first[n + 1] += first[n];
    const children = this.children = new Int32Array(count);
    const next = first.slice(0, count);
    for (let n = 1; n < count; ++n) children[next[this.parent[n]]++] = n;
    const weight = this.weight;
    const begin = this.begin = new Float64Array(count);
    for (let n = 0; n < count; ++n) {
      const own = children.subarray(first[n], first[n + 1]);
      if (own.length > 1) own.sort((a, b) => weight[b] - weight[a] || a - b);
      let at = begin[n];
      for (let i = 0; i < own.length; ++i) {
        begin[own[i]] = at;
        at += weight[own[i]];
      }
    }
  }

  is_under(box, above) {
    while (this.depth[box] > this.depth[above]) box = this.parent[box];
    return box === above;
  }
}

// Where a stack ends without its library frames: at the user's frame, or else at the innermost one.
function last_resort(s) {
  let at = stack_path[s];
  for (let i = stack_inner[s]; i > 0 && path_parent[at] > 0; --i) at = path_parent[at];
  return at;
}

// The box of a path depends only on its frames, so each path is looked up once.
function tree_from_outermost(with_library) {
  const made = new box_tree(path_count + stack_count + 1);
  const box_of = new Int32Array(path_count);
  for (let n = 1; n < path_count; ++n) {
    const is_hidden = !with_library && frame_is_library[path_frame[n]] !== 0;
    const above = box_of[path_parent[n]];
    box_of[n] = is_hidden ? above : made.child(above, path_frame[n]);
  }
  for (let s = 0; s < stack_count; ++s) {
    let box = box_of[with_library ? stack_path[s] : last_resort(s)];
    if (box === 0 && last_resort(s) > 0) box = made.child(0, path_frame[last_resort(s)]);
    made.end[s] = made.child(box, -1 - place_type(stack_place[s]));
  }
  return made;
}

function tree_from_innermost(with_library) {
  const made = new box_tree(path_count + 1024);
  for (let s = 0; s < stack_count; ++s) {
    let box = 0;
    for (let n = with_library ? stack_path[s] : last_resort(s); n > 0; n = path_parent[n]) {
      if (with_library || frame_is_library[path_frame[n]] === 0) {
        box = made.child(box, path_frame[n]);
      }
    }
    if (box === 0 && last_resort(s) > 0) box = made.child(0, path_frame[last_resort(s)]);
    if (box === 0) box = made.child(0, -1 - place_type(stack_place[s]));
    made.end[s] = box;
  }
  return made;
}

const trees = {};
function tree_for(is_inverted, with_library) {
  const name = (is_inverted ? 'i' : 'o') + (with_library ? 'l' : 'u');
  if (trees[name] === undefined) {
    trees[name] = is_inverted ? tree_from_innermost(with_library)
                              : tree_from_outermost(with_library);
  }
  return trees[name];
}

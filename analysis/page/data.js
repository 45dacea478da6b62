// What the page carries. Columns are unpacked when first asked for: docs/reference/report-json.md describes them.

function block(id) {
  return JSON.parse(document.getElementById(id).textContent);
}

const report = block('stab-report');
const figures = block('stab-figures');
const samples = block('stab-samples');
const evidence = block('stab-evidence');
const responses = report.responses;
const primary = responses[0];
const workloadWord = samples.workload_word;
const varying = samples.factors.map((factor, i) => i).filter(i => samples.factors[i].levels.length > 1);

function responseOf(name) {
  return responses.find(response => response.name === name) || primary;
}

// In the unit of its differences; 0 where it is none, or a share of what each baseline is.
function marginOf(response) {
  return response.scale !== 'log' && samples.responses[responses.indexOf(response)].margin_is_share ? 0 : response.margin;
}

const widths = {u8: 1, u16: 2, u32: 4, u64: 8, f32: 4, f64: 8};

class Trials {
  constructor(bytes) {
    this.bytes = bytes;
    this.rows = samples.rows;
    this.places = new Map();
    this.unpacked = new Map();
    let at = 0;
    for (const column of samples.columns) {
      this.places.set(column.name, {at, type: column.type});
      at += widths[column.type] * this.rows;
    }
  }

  static async read() {
    const text = atob(document.getElementById('stab-trials').textContent);
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Trials(new Uint8Array(await new Response(stream).arrayBuffer()));
  }

  has(name) { return this.places.has(name); }

  // The planes of a column put together again, as a typed array of its type. u64 as BigUint64Array.
  column(name) {
    if (this.unpacked.has(name)) return this.unpacked.get(name);
    const {at, type} = this.places.get(name), width = widths[type], rows = this.rows;
    const bytes = new Uint8Array(rows * width);
    for (let plane = 0; plane < width; ++plane)
      for (let row = 0, from = at + plane * rows; row < rows; ++row) bytes[row * width + plane] = this.bytes[from + row];
    const kinds = {u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array, f32: Float32Array, f64: Float64Array};
    const values = new kinds[type](bytes.buffer);
    this.unpacked.set(name, values);
    return values;
  }

  // As plain numbers; NaN where the trial has none.
  numbers(name) {
    const values = this.column(name);
    return values instanceof BigUint64Array ? Float64Array.from(values, Number) : values;
  }

  // cellKey() of every trial.
  cellKeys() {
    if (!this.unpacked.has('cell')) {
      const keys = new Uint32Array(this.rows);
      for (const f of varying) {
        const levels = this.column('level/' + f), n = samples.factors[f].levels.length;
        for (let row = 0; row < this.rows; ++row) keys[row] = keys[row] * n + levels[row];
      }
      this.unpacked.set('cell', keys);
    }
    return this.unpacked.get('cell');
  }

  // Rows with a deviation in the response, of one workload or (-1) of all, with the range worth an axis.
  shown(response, workload) {
    const key = `shown/${responses.indexOf(response)}/${workload}`;
    if (!this.unpacked.has(key)) {
      const deviation = this.deviations(response), of = this.column('workload'), excluded = this.column('excluded');
      const rows = new Uint32Array(this.rows), included = new Float32Array(this.rows);
      let n = 0, m = 0;
      for (let row = 0; row < this.rows; ++row) {
        if (!Number.isFinite(deviation[row]) || (workload >= 0 && of[row] !== workload)) continue;
        rows[n++] = row;
        if (excluded[row] === 0) included[m++] = deviation[row];
      }
      const values = included.subarray(0, m);
      this.unpacked.set(key, {rows: rows.subarray(0, n), most: valueRange(values, false) || [-1, 1], whole: valueRange(values, true) || [-1, 1],
        typical: values.map(Math.abs).sort()[Math.floor(0.98 * (m - 1))] || 1e-12});
    }
    return this.unpacked.get(key);
  }

  values(response) { return this.column('value/' + responses.indexOf(response)); }
  deviations(response) { return this.column('deviation/' + responses.indexOf(response)); }
  level(factor, row) { return this.column('level/' + factor)[row]; }
}

// "-O2, off": the levels of the factors that vary.
function cellName(levels) {
  return varying.map(f => samples.factors[f].levels[levels[f]]).join(', ') || 'all';
}

function cellOf(trials, row) {
  return samples.factors.map((factor, f) => trials.level(f, row));
}

// A number for each cell, the same in every workload: what gives it its colour.
function cellKey(levels) {
  return varying.reduce((key, f) => key * samples.factors[f].levels.length + levels[f], 0);
}

function isExcluded(trials, row) { return trials.column('excluded')[row] > 0; }

function questionOf(contrast) {
  return `${contrast.factor} ${contrast.level} against ${contrast.baseline}`;
}

// What a contrast is about, in words.
function subjectOf(contrast) {
  if (contrast.workload) return contrast.workload;
  if (report.workloads.length === 1) return report.workloads[0];
  return contrast.population === 'programs like these' ? `${samples.program_word}s like these` : `these ${workloadWord}s`;
}

// The verdict in a word that says the direction.
function verdictWord(contrast) {
  if (contrast.refused) return 'refused';
  if (contrast.verdict !== 'changed') return contrast.verdict;
  const response = responseOf(contrast.response), up = contrast.interval.estimate > (response.scale === 'log' ? 1 : 0);
  const time = ['s', 'ms', 'ns'].includes(response.unit);
  return time ? (up ? 'slower' : 'faster') : (up ? 'higher' : 'lower');
}

function verdictClass(contrast) {
  if (contrast.refused) return 'refused';
  if (contrast.verdict !== 'changed') return contrast.verdict;
  const response = responseOf(contrast.response), up = onScale(response, contrast.interval.estimate) > 0;
  return up !== Boolean(response.higher_is_better) ? 'worse' : 'better';
}

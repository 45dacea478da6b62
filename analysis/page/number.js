// Numbers as people read them, by the rules of the terminal report (analysis/text/text_table.cc, report_pen.cc).

function significant(x, digits = 3) {
  if (x === 0) return '0';
  if (!Number.isFinite(x)) return '–';
  const size = Math.abs(Number(x.toPrecision(digits)));  // 9.999 is 10.0, not 10.00
  if (size >= 1e6 || size < 1e-4) return x.toExponential(digits - 1).replace('e+', 'e').replace('-', '−');
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return x.toFixed(decimals).replace('-', '−');
}

// Zeros behind a point that say nothing go, those before one stay: "30.00 ms" is "30 ms", and "100" stays.
function withoutZeros(text) {
  return text.replace(/(\.\d*?)0+(?=e| |$)/, '$1').replace(/\.(?=e| |$)/, '');
}

// At most four digits, no trailing zeros.
function plain(x) {
  return x === 0 ? '0' : withoutZeros(significant(x, 4));
}

// As many digits as a round number has: what an axis says must be where it stands, however near its marks are to each other.
function exact(x) {
  return withoutZeros(significant(x, 12));
}

// How long a machine is needed, rounded up.
function machineTime(seconds) {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  if (seconds < 7200) return `${Math.ceil(seconds / 60)} min`;
  return seconds < 48 * 3600 ? `${(seconds / 3600).toFixed(1)} h` : `${significant(seconds / 86400, 3)} days`;
}

function grouped(n) {
  return Math.round(n).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
}

function count(n, word) {
  return `${grouped(n)} ${word}${n === 1 ? '' : 's'}`;
}

function signed(text) {
  return text.startsWith('−') || text === '0' ? text : '+' + text;
}

function pText(p) {
  if (p === null || p === undefined) return '–';
  if (p < 1e-300) return '<1e−300';
  return p < 1e-3 ? p.toExponential(1).replace('-', '−') : significant(p, 2);
}

// A value in the response's unit; times get a readable one.
function valueText(response, value, digits = 4) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (response.unit === 's' || response.unit === 'ns') {
    const seconds = response.unit === 'ns' ? value * 1e-9 : value;
    const size = Math.abs(seconds);
    if (size >= 1 || size === 0) return significant(seconds, digits) + ' s';
    if (size >= 1e-3) return significant(seconds * 1e3, digits) + ' ms';
    if (size >= 1e-6) return significant(seconds * 1e6, digits) + ' µs';
    return significant(seconds * 1e9, digits) + ' ns';
  }
  const text = Math.abs(value) >= 1e4 && Math.abs(value) < 1e9 ? grouped(value).replace('-', '−') : significant(value, digits);
  return text + (response.unit ? ' ' + response.unit : '');
}

function percent(share, digits = 3) {
  return significant(100 * share, digits) + ' %';
}

// A difference: a ratio on the log scale ("+1.23 %", "× 3.50"), else in the response's unit.
function plainPercent(share) {
  return plain(100 * share) + ' %';
}

function differenceText(response, value, digits = 3) {
  if (response.scale !== 'log') return signed(valueText(response, value, digits));
  if (value >= 2 || value <= 0.5) return '× ' + significant(value, 3);
  return signed(percent(value - 1, digits));
}

// "[−1.20, +3.40] %": a unit that both ends share is said once. What stands behind a blank need not be one: "× 2.97", "12 345".
function intervalText(response, interval) {
  const low = differenceText(response, interval.conf_low), high = differenceText(response, interval.conf_high);
  const units = [response.unit && ' ' + response.unit, ' %', ' s', ' ms', ' µs', ' ns'].filter(Boolean);
  const unit = units.find(one => low.endsWith(one) && high.endsWith(one));
  return unit ? `[${low.slice(0, -unit.length)}, ${high.slice(0, -unit.length)}]${unit}` : `[${low}, ${high}]`;
}

// On the scale on which things are placed: logarithms of ratios, or differences.
function onScale(response, value) {
  return response.scale === 'log' ? Math.log(value) : value;
}

function responseLabel(response) {
  const time = response.unit === 's' || response.unit === 'ns';  // its values carry their own unit
  return response.name.replace(/_/g, ' ') + (response.unit && !time ? ` (${response.unit})` : '');
}

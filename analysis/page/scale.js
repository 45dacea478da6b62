// Scales and ticks.

function linear(from, to, low, high) {
  const factor = to === from ? 0 : (high - low) / (to - from);
  const scale = x => low + (x - from) * factor;
  scale.from = from;
  scale.to = to;
  scale.invert = y => factor === 0 ? from : from + (y - low) / factor;
  return scale;
}

// 1, 2 or 5 times a power of ten, about `wanted` of them; never so few that nobody could read the scale off them.
function ticks(from, to, wanted = 6) {
  if (!(to > from)) return [from];
  const rough = (to - from) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999);
  const out = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + 1e-9 * step; ++i) out.push(i * step);
  return out.length < 3 && wanted < 12 ? ticks(from, to, 1.6 * wanted) : out;
}

// Of a logarithmic axis: 1, 2 and 5 times the powers of ten, of many powers these alone; within one as on any axis.
function logTicks(from, to, wanted = 5) {
  if (to < 10 * from) return ticks(from, to, wanted).filter(x => x > 0);
  const out = [], steps = to > 2000 * from ? [1] : [1, 2, 5];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); ++power)
    for (const step of steps) if (step * 10 ** power >= from * 0.999 && step * 10 ** power <= to * 1.001) out.push(step * 10 ** power);
  return out;
}

// Ticks of differences: round percentages placed by their logarithm, or round differences. Each {at, text}.
function differenceTicks(response, from, to, wanted = 6) {
  if (response.scale !== 'log')
    return ticks(from, to, wanted).map(x => ({at: x, text: x === 0 ? '0' : signed(roundText(response, x))}));
  if (to - from > 1.6) {
    const out = [];
    const factors = to - from > 8 ? [1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1e3, 1e4] : [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32];
    for (const factor of factors)
      if (Math.log(factor) >= from && Math.log(factor) <= to)
        out.push({at: Math.log(factor), text: factor === 1 ? '0' : '× ' + (factor < 1 && factor > 0.01 ? '1/' + Math.round(1 / factor) : factor)});
    return out;
  }
  return ticks(100 * Math.expm1(from), 100 * Math.expm1(to), wanted).map(p => ({at: Math.log1p(p / 100), text: Math.abs(p) < 1e-12 ? '0' : signed(exact(p)) + ' %'}));
}

// A round value, without zeros behind it that say nothing: "30 ms".
function roundText(response, value) {
  const time = response.unit === 's' || response.unit === 'ns', whole = Number.isInteger(Number(value.toPrecision(12)));
  return time || whole ? withoutZeros(valueText(response, value, 12)) : exact(value) + (response.unit ? ' ' + response.unit : '');
}

function valueTicks(response, from, to, wanted = 6) {
  return ticks(from, to, wanted).map(x => ({at: x, text: roundText(response, x)}));
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

function padded([low, high], share = 0.05) {
  const pad = high > low ? (high - low) * share : Math.abs(low) * share || 1;
  return [low - pad, high + pad];
}

// Of marks whose words would touch each other on a narrow screen those that have room; where there is no difference comes first.
function withRoom(scale, marks) {
  const taken = [], wide = mark => 7 * Array.from(mark.text).length + 6;
  return new Set([...marks].sort((a, b) => (b.text === '0') - (a.text === '0')).filter(mark => {
    const from = scale(mark.at) - wide(mark) / 2, to = from + wide(mark);
    if (taken.some(other => from < other.to && to > other.from)) return false;
    taken.push({from, to});
    return true;
  }));
}

// Below this width names stand above what they name, or below the plot: beside it they would be cut until one looks like another.
const isNarrow = width => width < 560;

// The room that names to the left of a plot have: `usual`, or on a narrow screen what they need.
function roomForNames(width, names, usual) {
  return isNarrow(width) ? Math.min(width * 0.56, 7 * Math.max(...names.map(name => Array.from(short(name, 60)).length)) + 10) : usual;
}

// What lines are called: {text, paint, dashes?} each below the other, with a piece of its line.
function lineNames(names, x, y, longest) {
  const texts = shortApart(names.map(one => one.text), longest);
  return names.map((one, i) => [s('line', {x1: x, x2: x + 16, y1: y + 17 * i - 4, y2: y + 17 * i - 4, class: 'curve', stroke: `var(--${one.paint})`, 'stroke-dasharray': one.dashes || null}), label(x + 21, y + 17 * i, texts[i])]);
}

// What an axis says of a place, and, for whoever looks, where that is on its scale.
function markLabel(mark, x, y, anchor) {
  const text = label(x, y, mark.text, anchor);
  text.setAttribute('data-at', mark.at);
  return text;
}

// An axis at the bottom or the left, with grid lines through the plot.
function bottomAxis(scale, marks, y, top, title) {
  const middle = (scale(scale.from) + scale(scale.to)) / 2, said = withRoom(scale, marks);
  return s('g', {class: 'axis'},
    marks.map(mark => [s('line', {x1: scale(mark.at), x2: scale(mark.at), y1: top, y2: y, class: 'grid'}), said.has(mark) && markLabel(mark, scale(mark.at), y + 15, 'middle')]),
    title && label(middle, y + 33, title, 'middle', 'axis-title'));
}

function leftAxis(scale, marks, x, right, title) {
  return s('g', {class: 'axis'},
    marks.map(mark => [s('line', {x1: x, x2: right, y1: scale(mark.at), y2: scale(mark.at), class: 'grid'}), markLabel(mark, x - 6, scale(mark.at) + 4, 'end')]),
    title && label(x - 50, Math.min(scale(scale.from), scale(scale.to)) - 9, title, 'start', 'axis-title'));
}

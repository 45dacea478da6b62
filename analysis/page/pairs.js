// A against B: blocks of one workload, and all workloads.

function scatter(width, {points, response, across, up, margin, finding, columns, rows}) {
  if (points.length === 0) return nothing(finding);
  const size = Math.min(width - 90, 460), left = 70, top = 26, bottom = top + size, right = left + size;
  const log = response.scale === 'log', values = points.flatMap(point => [point.x, point.y]).filter(Number.isFinite);
  const place = value => log ? Math.log(value) : value, [from, to] = padded(extent(values.map(place)), 0.06);
  const wide = log && to - from > Math.log(8), xs = linear(from, to, left, right), ys = linear(from, to, bottom, top);
  const marksAt = wide ? ticks(from / Math.LN10, to / Math.LN10, 5).map(x => Math.pow(10, x)) : ticks(log ? Math.exp(from) : from, log ? Math.exp(to) : to, 7);
  const axisMarks = marksAt.map(value => ({at: place(value), text: roundText(response, value)}));
  const svg = s('svg', {}, bottomAxis(xs, axisMarks, bottom, top, across), leftAxis(ys, axisMarks, left, right, up));
  svg.append(s('line', {x1: xs(from), y1: ys(from), x2: xs(to), y2: ys(to), class: 'zero'}));
  if (margin > 0 && log && margin < to - from) svg.append(
    s('line', {x1: xs(from), y1: ys(from + margin), x2: xs(to - margin), y2: ys(to), class: 'dashed'}), s('line', {x1: xs(from + margin), y1: ys(from), x2: xs(to), y2: ys(to - margin), class: 'dashed'}));
  const named = [];
  const marks = points.map(point => {
    const x = xs(place(point.x)), y = ys(place(point.y));
    svg.append(point.verdict ? verdictMark(x, y, point.verdict, 5) : s('circle', {cx: x, cy: y, r: points.length > 200 ? 2 : 3.5, class: 'dot', fill: 'var(--blue)'}));
    // Names that would lie on others are left to the pointer and the keys.
    const name = point.name && short(point.name, 20), end = name && x + 8 + 6.6 * name.length;
    if (name && end < width && !named.some(one => Math.abs(one.y - y) < 13 && x + 8 < one.end && end > one.x)) {
      named.push({x: x + 8, y, end});
      svg.append(label(x + 8, y + 4, name, 'start', 'faint'));
    }
    return {x, y, text: point.text, open: point.open};
  });
  return {svg, height: bottom + 46, marks, finding, columns, rows};
}

function drawBlockPairs(width) {
  const response = shownResponse(), w = shownWorkload(), pairs = figuresOf(response, w).pairs || [];
  const pair = pairs[Math.min(pairs.length - 1, Number(state.pair) || 0)];
  if (!pair) return nothing(response.declared ? 'Fewer than two blocks hold both levels.' : 'Pairs are kept for declared responses.');
  const factor = samples.factors[pair.factor], base = factor.levels[factor.baseline], other = factor.levels[pair.level];
  const points = pair.block.map((block, i) => ({x: pair.baseline[i], y: pair.other[i], text: `block ${block}: ${base} ${valueText(response, pair.baseline[i])}, ${other} ${valueText(response, pair.other[i])}`}));
  const below = points.filter(point => point.y < point.x).length;
  return scatter(width, {points, response, margin: response.scale === 'log' ? Math.log1p(response.margin) : 0, across: `${factor.name} ${base}`, up: `${factor.name} ${other}`,
    finding: `${report.workloads[w]}, ${factor.name}: in ${below} of ${points.length} blocks ${other} is below ${base}.`,
    columns: [{title: 'block', number: true}, {title: base, number: true}, {title: other, number: true}], rows: points.map((point, i) => [pair.block[i], point.x, point.y])});
}

function drawWorkloadPairs(width) {
  const response = shownResponse(), asked = questions(response), question = asked[Math.min(asked.length - 1, Number(state.sort) || 0)];
  if (!question || report.workloads.length < 2) return {...nothing('One workload: see the blocks.'), hidden: true};
  const points = [];
  report.workloads.forEach(workload => {
    const contrast = question.of.get(workload), means = meansOfLevels(response, workload, question);
    if (!contrast || contrast.refused || !means) return;
    points.push({x: means[0], y: means[1], name: workload, verdict: verdictClass(contrast), text: contrastText(contrast), open: () => setState({workload})});
  });
  const below = points.filter(point => point.y < point.x).length;
  return scatter(width, {points, response, margin: response.scale === 'log' ? Math.log1p(response.margin) : 0, across: `${question.factor} ${question.baseline}`, up: `${question.factor} ${question.level}`,
    finding: `In ${below} of ${points.length} ${workloadWord}s ${question.factor} ${question.level} is below ${question.baseline}.`,
    columns: [{title: workloadWord}, {title: question.baseline, number: true}, {title: question.level, number: true}], rows: points.map(point => [point.name, point.x, point.y])});
}

// Cells' means where one cell stands for each level; the levels' blocks else.
function meansOfLevels(response, workload, question) {
  const of = level => report.cells.filter(cell => cell.response === response.name && cell.workload === workload && cell.levels[question.factor] === level);
  const centre = cells => {
    const values = cells.map(cell => response.scale === 'log' ? cell.geometric_mean : cell.mean).filter(Number.isFinite);
    return values.length === 0 ? null : response.scale === 'log' ? Math.exp(values.reduce((sum, x) => sum + Math.log(x), 0) / values.length) : values.reduce((sum, x) => sum + x, 0) / values.length;
  };
  const baseline = centre(of(question.baseline)), other = centre(of(question.level));
  return baseline === null || other === null ? null : [baseline, other];
}

function pairFigures() {
  const pairs = figuresOf(primary, 0).pairs || [];
  return [new Figure('pairs', {title: 'One level against the other, block by block', how: howToRead.pairs, depends: ['response', 'workload', 'pair'],
    controls: [workloadChoice(), choice('pair', 'compare', pairs.map((pair, i) => [String(i), `${samples.factors[pair.factor].name}: ${samples.factors[pair.factor].levels[pair.level]} / ${samples.factors[pair.factor].levels[samples.factors[pair.factor].baseline]}`]))], draw: drawBlockPairs}),
    new Figure('workload-pairs', {title: `One level against the other, by ${workloadWord}`, how: howToRead.pairs, depends: ['response', 'sort'],
      controls: [choice('sort', 'compare', questions(primary).map((question, i) => [String(i), `${question.factor}: ${question.level} / ${question.baseline}`]))], draw: drawWorkloadPairs})];
}

// Residuals against the normal distribution, and every other check of assumptions.

function drawNormal(width) {
  const response = shownResponse(), w = shownWorkload(), normal = figuresOf(response, w).normal;
  if (!normal) return nothing('Fewer than three residuals.');
  const side = Math.min(width - 100, 400), left = 60, top = 26, bottom = top + Math.min(side, 340), right = left + side;
  const x = padded(extent(normal.quantile)), y = padded(extent([...normal.residual, x[0], x[1]])), xs = linear(...x, left, right), ys = linear(...y, bottom, top);
  const round = (from, to) => ticks(from, to, 6).map(at => ({at, text: plain(at)}));
  const svg = s('svg', {}, bottomAxis(xs, round(...x), bottom, top, 'normal quantile'), leftAxis(ys, round(...y), left, right, 'standardized residual'), s('line', {x1: xs(x[0]), y1: ys(x[0]), x2: xs(x[1]), y2: ys(x[1]), class: 'zero'}));
  const marks = normal.quantile.map((q, i) => {
    svg.append(s('circle', {cx: xs(q), cy: ys(normal.residual[i]), r: 2.5, fill: 'var(--blue)', class: 'dot'}));
    return {x: xs(q), y: ys(normal.residual[i]), text: `normal ${significant(q, 3)}, residual ${significant(normal.residual[i], 3)}`};
  });
  const test = report.diagnostics.find(one => one.response === response.name && one.workload === report.workloads[w] && /shapiro|anderson|normal/.test(one.name));
  return {svg, height: bottom + 44, marks, columns: [{title: 'normal quantile', number: true}, {title: 'residual', number: true}], rows: normal.quantile.map((q, i) => [q, normal.residual[i]]),
    finding: `${report.workloads[w]}: ${count(normal.n, 'residual')}. ` + (test ? test.refused ? `${test.name}: ${test.refused}.` : `${test.name}: ${test.statistic_name} = ${significant(test.statistic, 4)}, p ${pText(test.p_value)}.` : '')};
}

function normalFigure() {
  return new Figure('normal', {title: 'Residuals against the normal distribution', how: howToRead.normal, depends: ['response', 'workload'], controls: [workloadChoice(), responseChoice()], draw: drawNormal});
}

function diagnosticsTable() {
  const rows = report.diagnostics.map(one => [one.name, one.response, one.workload, one.n, one.refused ? null : `${one.statistic_name} = ${significant(one.statistic, 4)}`, one.refused ? null : one.p_value, one.refused || '']);
  if (rows.length === 0) return null;
  return [h('h3', {}, 'All checks of assumptions'), h('p', {class: 'note'}, 'They are shown and never choose the method.'),
    table('All checks of assumptions', [{title: 'check'}, {title: 'response'}, {title: workloadWord}, {title: 'n', number: true}, {title: 'statistic'}, {title: 'p', number: true, text: pText}, {title: 'refused'}], rows, {filter: rows.length > 12})];
}

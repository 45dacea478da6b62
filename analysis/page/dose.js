// Doses: the layouts that trials really ran in.

function drawDose(width) {
  const response = shownResponse(), w = shownWorkload(), points = figuresOf(response, w).spread_by_dose || [];
  if (points.length === 0) return {...nothing('No cell’s code was laid out anew while it ran.'), hidden: true};
  const left = 74, right = Math.min(width - 170, left + 460), top = 28, bottom = 300;
  const log = Math.log, rangeX = padded(extent(points.map(point => log(point.layouts))), 0.15), rangeY = padded(extent(points.map(point => log(point.sd))), 0.25);
  if (rangeX[1] - rangeX[0] < 0.4) { rangeX[0] -= 0.4; rangeX[1] += 0.4; }
  if (rangeY[1] - rangeY[0] < 0.4) { rangeY[0] -= 0.4; rangeY[1] += 0.4; }
  const xs = linear(...rangeX, left, right), ys = linear(...rangeY, bottom, top);
  const around = (range, text) => logTicks(Math.exp(range[0]), Math.exp(range[1])).map(x => ({at: log(x), text: text(x)}));
  const spread = x => response.scale === 'log' ? plainPercent(x) : valueText(response, x, 2);
  const svg = s('svg', {}, bottomAxis(xs, around(rangeX, plain), bottom, top, 'layouts that a trial ran in (median)'), leftAxis(ys, around(rangeY, spread), left, right, 'sd of the cell'));
  const meanX = points.reduce((sum, point) => sum + log(point.layouts), 0) / points.length, meanY = points.reduce((sum, point) => sum + log(point.sd), 0) / points.length;
  const line = x => meanY - (x - meanX) / 2, inside = [rangeX[0], rangeX[1]].map(x => [xs(x), clampTo(ys, line(x))]);
  svg.append(s('line', {x1: inside[0][0], y1: inside[0][1], x2: inside[1][0], y2: inside[1][1], class: 'dashed'}), label(inside[1][0] + 6, inside[1][1] + 4, 'slope −1/2', 'start', 'faint'));
  const named = [];
  const narrowest = Math.min(...points.map(point => width - xs(log(point.layouts)) - 12));
  const names = shortApart(points.map(point => cellName(point.levels)), Math.max(8, Math.floor(narrowest / 6.6)));
  const marks = points.map((point, i) => {
    const x = xs(log(point.layouts)), y = ys(log(point.sd));
    svg.append(s('circle', {cx: x, cy: y, r: 5, fill: `var(--${levelColour(cellKey(point.levels))})`, class: 'dot'}));
    if (points.length <= 10) {
      // Names of points that lie beside each other stand below each other.
      const text = names[i], end = x + 9 + 6.6 * text.length;
      let at = y + 4;
      for (let hit; (hit = named.find(one => Math.abs(one.at - at) < 12 && x + 9 < one.end && end > one.x));) at = hit.at + 12;
      named.push({at, x: x + 9, end});
      svg.append(label(x + 9, at, text, 'start', 'faint over'));
    }
    return {x, y, text: `${cellName(point.levels)}: sd ${spread(point.sd)} in ${plain(point.layouts)} layouts, ${point.units} units`};
  });
  return {svg, height: bottom + 44, marks, columns: [{title: 'cell'}, {title: 'layouts', number: true}, {title: 'sd', number: true}, {title: 'units', number: true}], rows: points.map(point => [cellName(point.levels), point.layouts, point.sd, point.units]),
    finding: `${report.workloads[w]}: from ${plain(Math.min(...points.map(point => point.layouts)))} to ${plain(Math.max(...points.map(point => point.layouts)))} layouts a trial.`};
}

function drawDoseTrials(trials, width) {
  if (!trials.has('dose/code_layouts_executed')) return {...nothing('Layouts of each run were not recorded.'), hidden: true};
  const response = shownResponse(), w = shownWorkload(), dose = trials.numbers('dose/code_layouts_executed'), values = trials.values(response);
  const rows = rowsOfWorkload(trials, w).filter(row => dose[row] > 0 && Number.isFinite(values[row]) && !isExcluded(trials, row));
  if (rows.length === 0) return {...nothing('No trial’s code was laid out anew while it ran.'), hidden: true};
  const left = 74, right = width - 20, top = 28, bottom = 260, rangeX = padded(extent(rows.map(row => dose[row]))), range = valueRange(rows.map(row => values[row]), state.whole === 'all');
  const xs = linear(...rangeX, left, right), ys = linear(range[0], range[1], bottom, top), {canvas, context} = pointCanvas(width, bottom + 44);
  const svg = s('svg', {}, bottomAxis(xs, ticks(...rangeX, 7).map(at => ({at, text: plain(at)})), bottom, top, 'layouts that the trial ran in'), leftAxis(ys, valueTicks(response, range[0], range[1], 5), left, right, responseLabel(response)));
  const px = new Float32Array(rows.length), py = new Float32Array(rows.length);
  const size = rows.length > 600 ? 3 : 6;
  context.globalAlpha = rows.length > 2000 ? 0.3 : 0.8;
  rows.forEach((row, i) => {
    px[i] = xs(dose[row]);
    py[i] = clampTo(ys, values[row]);
    context.fillStyle = colour(levelColour(cellKey(cellOf(trials, row))));
    if (size > 3) { context.beginPath(); context.arc(px[i], py[i], size / 2, 0, 7); context.fill(); } else context.fillRect(px[i] - size / 2, py[i] - size / 2, size, size);
  });
  const mine = report.doses.filter(one => one.workload === report.workloads[w]);
  return {svg, canvas, height: bottom + 44, marks: {length: rows.length, x: px, y: py, text: i => trialLine(trials, rows[i]), open: i => openTrial(trials, rows[i])},
    columns: [{title: 'factor'}, {title: 'level'}, {title: 'trials', number: true}, {title: 'least', number: true}, {title: 'median', number: true}, {title: 'most', number: true}, {title: 'moved, padded or served', number: true, text: percent}],
    rows: mine.map(one => [one.factor, one.level, one.trials, one.layouts_min, one.layouts_median, one.layouts_max, one.share]),
    finding: mine.map(one => `${one.factor} ${one.level}: ` + (one.layouts_median === null ? '' : `${plain(one.layouts_median)} layouts a trial (${plain(one.layouts_min)} to ${plain(one.layouts_max)}), `) + `${percent(one.share)} ${one.factor === 'code' ? 'of functions moved' : one.factor === 'stack' ? 'of functions padded' : 'of requests served'}`).join('; ') + '.'};
}

function doseFigures(trials) {
  return [new Figure('dose', {title: 'Layouts per run and spread', how: howToRead.dose, depends: ['response', 'workload'], controls: [workloadChoice()], draw: drawDose}),
    new Figure('dose-trials', {title: 'Layouts of each trial', how: howToRead.doseTrials, depends: ['response', 'workload', 'whole'], controls: [workloadChoice(), responseChoice()], draw: width => drawDoseTrials(trials, width)})];
}

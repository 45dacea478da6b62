// Raw points with densities; the empirical distribution, which a choice turns into the quantile plot.

// The range of values worth an axis: all of them, or what lies within the densities where a few are far away.
function valueRange(values, whole) {
  const all = extent(values);  // values: finite
  if (!all || whole) return all && padded(all, 0.03);
  const sorted = Float32Array.from(values).sort(), at = p => sorted[Math.round(p * (sorted.length - 1))];
  const middle = at(0.9) - at(0.1) || all[1] - all[0] || 1;
  return padded([Math.max(all[0], at(0.01) - 1.2 * middle), Math.min(all[1], at(0.99) + 1.2 * middle)], 0.03);
}

function rowsOfWorkload(trials, workload) {
  const of = trials.column('workload'), rows = [];
  for (let row = 0; row < trials.rows; ++row) if (of[row] === workload) rows.push(row);
  return rows;
}

// Golden-ratio jitter: even, and the same every time.
function jitter(i) { return (i * 0.6180339887) % 1; }

function groupsText(cell, response) {
  return cell.modes.map(mode => `${grouped(mode.n)} around ${valueText(response, mode.median)}`).join(', ');
}

// What the dip test says of these cells, in words.
function modesSentence(cells, response) {
  const several = cells.filter(cell => cell.modes.length > 1), tested = cells.filter(cell => cell.dip !== null).length;
  if (several.length === 0) return tested > 0 ? ` No cell has more than one hump that the dip test would vouch for.` : '';
  const worst = several.reduce((a, b) => b.dip > a.dip ? b : a), name = varying.map(f => worst.levels[samples.factors[f].name]).join(', ') || 'the cell';
  return ` ${several.length === 1 ? 'One cell falls' : `${several.length} cells fall`} into groups: ${name}, ${groupsText(worst, response)} (dip ${significant(worst.dip, 3)}, p ${pText(worst.dip_p_holm)}); a mean between them describes neither.`;
}

function drawCloud(trials, width) {
  const response = shownResponse(), w = shownWorkload(), shown = figuresOf(response, w), cells = shown.cells;
  const values = trials.values(response), all = rowsOfWorkload(trials, w).filter(row => Number.isFinite(values[row]));
  if (cells.length === 0 || all.length === 0) return nothing(`No trial of ${report.workloads[w]} has a value of ${response.name.replace(/_/g, ' ')}.`);
  const keys = trials.cellKeys(), index = new Map(cells.map((cell, i) => [cellKey(cell.levels), i])), perCell = cells.map(() => []);
  let left_out = 0;
  for (const row of all) {
    if (isExcluded(trials, row)) { ++left_out; continue; }
    perCell[index.get(keys[row])]?.push(row);
  }
  const log = response.scale === 'log', toPeople = log ? Math.exp : x => x;
  const range = valueRange(all.filter(row => !isExcluded(trials, row)).map(row => values[row]), state.whole === 'all');
  const hasGroups = report.cells.some(cell => cell.response === response.name && cell.workload === report.workloads[w] && cell.modes.length > 1);
  const narrow = isNarrow(width), above = !narrow ? 0 : hasGroups ? 38 : 26, bare = cells.length > 16 ? 44 : 72, high = bare + above, left = narrow ? 8 : Math.min(190, width * 0.26), right = width - 12, top = hasGroups ? 22 : 10, bottom = top + cells.length * high;
  const scale = linear(range[0], range[1], left, right), {canvas, context} = pointCanvas(width, bottom + 44);
  const svg = s('svg', {}, bottomAxis(scale, valueTicks(response, range[0], range[1], (right - left) / 100), bottom, top, responseLabel(response)));
  const names = shortApart(cells.map(cell => cellName(cell.levels)), Math.floor(narrow ? width / 10 : left / 7));
  const xs = [], ys = [], rows = [];
  let beyond = 0;
  const tallest = Math.max(...cells.map(cell => cell.density ? Math.max(...cell.density.height) : 0));
  cells.forEach((cell, i) => {
    const base = top + i * high + above + bare * 0.56, cloud = bare * 0.48, paint = levelColour(cellKey(cell.levels));
    if (narrow) svg.append(label(left, top + i * high + 14, names[i], 'start', 'strong'), label(right, top + i * high + 14, count(cell.units, 'unit'), 'end', 'faint'));
    else svg.append(label(left - 10, base + 2, names[i], 'end', 'strong'), label(left - 10, base + 17, count(cell.units, 'unit'), 'end', 'faint'));
    const {density} = cell;
    if (density) {
      const step = (density.to - density.from) / (density.height.length - 1), points = [];
      density.height.forEach((height, j) => {
        const x = toPeople(density.from + j * step);
        if (x >= range[0] && x <= range[1]) points.push(`${scale(x).toFixed(1)} ${(base - cloud * height / tallest).toFixed(1)}`);
      });
      if (points.length > 1) svg.append(s('path', {d: `M${points[0].split(' ')[0]} ${base}L${points.join('L')}L${points[points.length - 1].split(' ')[0]} ${base}Z`, class: 'cloud', fill: `var(--${paint})`, stroke: `var(--${paint})`}));
    }
    const mine = perCell[i], size = mine.length > 2000 ? 1.2 : mine.length > 200 ? 2 : 3;
    context.fillStyle = colour(paint);
    context.globalAlpha = Math.min(0.8, Math.max(0.08, 60 / Math.sqrt(mine.length) / 10));
    mine.forEach((row, j) => {
      const value = values[row];
      if (value < range[0] || value > range[1]) { ++beyond; return; }
      const x = scale(value), y = base + 4 + jitter(j) * bare * 0.3;
      if (size > 2.5) { context.beginPath(); context.arc(x, y, size / 1.6, 0, 7); context.fill(); } else context.fillRect(x - size / 2, y - size / 2, size, size);
      xs.push(x); ys.push(y); rows.push(row);
    });
    if (cell.five) {
      const [, low, median, high4] = cell.five.map(value => clampTo(scale, value));
      svg.append(s('rect', {x: low, y: base + 3, width: Math.max(0.5, high4 - low), height: bare * 0.32, class: 'box'}), s('line', {x1: median, x2: median, y1: base + 3, y2: base + 3 + bare * 0.32, class: 'median'}));
    }
    const described = report.cells.find(other => other.response === response.name && other.workload === report.workloads[w] && varying.every(f => other.levels[samples.factors[f].name] === samples.factors[f].levels[cell.levels[f]]));
    // Groups that a test found: a bracket over each, its median marked.
    if (described?.modes?.length > 1) for (const mode of described.modes) {
      const y = base - cloud - 3, [from, to, middle] = [mode.low, mode.high, mode.median].map(value => clampTo(scale, value));
      svg.append(s('path', {d: `M${from.toFixed(1)} ${y + 5}V${y}H${to.toFixed(1)}V${y + 5}M${middle.toFixed(1)} ${y}V${y - 5}`, class: 'bracket'}), label(middle, y - 7, grouped(mode.n), 'middle', 'faint'));
    }
    if (described?.interval) svg.append(s('line', {x1: clampTo(scale, described.interval.conf_low), x2: clampTo(scale, described.interval.conf_high), y1: base, y2: base, class: 'mean-interval'}), s('circle', {cx: clampTo(scale, described.interval.estimate), cy: base, r: 3, class: 'mean'}));
  });
  const described = report.cells.filter(cell => cell.response === response.name && cell.workload === report.workloads[w]), centre = cell => log ? cell.geometric_mean ?? cell.mean : cell.mean;
  const sorted = [...described].sort((a, b) => centre(a) - centre(b)), nameOf = cell => varying.map(f => cell.levels[samples.factors[f].name]).join(', ') || 'the cell';
  const finding = `${report.workloads[w]}, ${response.name.replace(/_/g, ' ')}: ${count(rows.length + beyond, 'trial')} in ${count(cells.length, 'cell')}. ` + (sorted.length > 1 ? `Lowest on average: ${nameOf(sorted[0])}, ${valueText(response, centre(sorted[0]))}; highest: ${nameOf(sorted[sorted.length - 1])}, ${valueText(response, centre(sorted[sorted.length - 1]))}.` : sorted.length === 1 ? `On average ${valueText(response, centre(sorted[0]))}.` : '') +
    modesSentence(described, response) +
    (beyond > 0 ? ` ${count(beyond, 'trial')} beyond the axis: choose “all values” to see ${beyond === 1 ? 'it' : 'them'}.` : '') + (left_out > 0 ? ` ${left_out} left out by declared rules.` : '');
  return {svg, canvas, height: bottom + 44, finding, marks: {length: rows.length, x: xs, y: ys, text: i => trialLine(trials, rows[i]), open: i => openTrial(trials, rows[i])},
    columns: [{title: 'cell'}, {title: 'n', number: true}, {title: 'mean', number: true}, {title: 'median', number: true}, {title: 'sd', number: true}, {title: 'geometric mean', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'Shapiro-Wilk W', number: true}, {title: 'p', number: true, text: pText}, {title: 'one layout'}, {title: 'dip', number: true}, {title: 'p of one mode (Holm)', number: true, text: pText}, {title: 'groups'}],
    rows: described.map(cell => [nameOf(cell), cell.n, cell.mean, cell.median, cell.sd, cell.geometric_mean, cell.interval?.conf_low ?? null, cell.interval?.conf_high ?? null, cell.shapiro_w, cell.shapiro_p, cell.one_layout ? 'yes' : 'no', cell.dip, cell.dip_p_holm, groupsText(cell, response)])};
}

// Lines of all cells of a workload; turned: probabilities across.
function drawQuantiles(width, turned) {
  const response = shownResponse(), w = shownWorkload(), cells = figuresOf(response, w).cells.filter(cell => cell.quantiles.value.length > 0);
  if (cells.length === 0) return nothing('No cell has values.');
  const values = cells.flatMap(cell => cell.quantiles.value), range = valueRange(values, state.whole === 'all');
  // Names beside the lines have the room that the longest one wants, up to a third of the plot.
  const narrow = isNarrow(width), named = narrow ? Math.floor((width - 90) / 7) : Math.min(Math.floor(width / 21), Math.max(12, ...cells.map(cell => cellName(cell.levels).length)));
  const left = 64, right = narrow ? width - 12 : width - 40 - 7 * named, top = 26, bottom = 330;
  const valueScale = turned ? linear(range[0], range[1], bottom, top) : linear(range[0], range[1], left, right);
  const shareScale = turned ? linear(0, 1, left, right) : linear(0, 1, bottom, top);
  const shares = [0, 0.25, 0.5, 0.75, 1].map(at => ({at, text: 100 * at + ' %'}));
  const svg = s('svg', {}, turned ? [bottomAxis(shareScale, shares, bottom, top, 'share of units'), leftAxis(valueScale, valueTicks(response, range[0], range[1], 6), left, right, responseLabel(response))]
    : [bottomAxis(valueScale, valueTicks(response, range[0], range[1], (right - left) / 110), bottom, top, responseLabel(response)), leftAxis(shareScale, shares, left, right, 'share of units')]);
  const marks = [], rows = [], ends = [];
  cells.forEach(cell => {
    const {value, exact} = cell.quantiles, points = [], probability = value.map((_, j) => exact ? (j + 1) / value.length : j / (value.length - 1));
    value.forEach((x, j) => {
      const at = clampTo(valueScale, x), up = shareScale(probability[j]), before = exact ? shareScale(j === 0 ? 0 : probability[j - 1]) : up;
      if (turned) points.push(`${before.toFixed(1)} ${at.toFixed(1)}`, `${up.toFixed(1)} ${at.toFixed(1)}`);
      else points.push(`${at.toFixed(1)} ${before.toFixed(1)}`, `${at.toFixed(1)} ${up.toFixed(1)}`);
      rows.push([cellName(cell.levels), probability[j], x]);
    });
    const paint = levelColour(cellKey(cell.levels)), dashes = ['', '7 3', '2 3', '9 3 2 3'][Math.floor(cellKey(cell.levels) / levelColours.length) % 4];
    svg.append(s('path', {d: 'M' + points.join('L'), class: 'curve', stroke: `var(--${paint})`, 'stroke-dasharray': dashes || null}));
    const median = cell.five[2];
    ends.push({text: cellName(cell.levels), paint, dashes});
    marks.push({x: turned ? shareScale(0.5) : clampTo(valueScale, median), y: turned ? clampTo(valueScale, median) : shareScale(0.5), text: `${cellName(cell.levels)}: quartiles ${cell.five.slice(1, 4).map(x => valueText(response, x)).join(', ')}, from ${valueText(response, cell.five[0])} to ${valueText(response, cell.five[4])}`});
  });
  const namesAt = narrow ? bottom + 56 : top + 10;
  svg.append(s('g', {}, lineNames(ends, narrow ? left : right + 10, namesAt, named)));
  const medians = [...cells].sort((a, b) => a.five[2] - b.five[2]);
  return {svg, height: Math.max(bottom + 44, namesAt + 10 + ends.length * 17), marks, columns: [{title: 'cell'}, {title: 'share', number: true}, {title: response.name, number: true}], rows,
    finding: medians.length === 1 ? `${report.workloads[w]}: the median is ${valueText(response, medians[0].five[2])}.` : `${report.workloads[w]}: medians from ${valueText(response, medians[0].five[2])} (${cellName(medians[0].levels)}) to ${valueText(response, medians[medians.length - 1].five[2])} (${cellName(medians[medians.length - 1].levels)}).`};
}

function distributionFigures(trials) {
  const whole = () => choice('whole', 'axis', [['', 'most values'], ['all', 'all values']]), depends = ['response', 'workload', 'whole'];
  return [new Figure('distribution', {title: 'Every trial, and the shape they make', how: howToRead.distribution, depends, controls: [workloadChoice(), responseChoice(), whole()], draw: width => drawCloud(trials, width)}),
    new Figure('ecdf', {title: 'Cumulative distribution', how: howToRead.ecdf, depends: [...depends, 'turned'], draw: width => drawQuantiles(width, state.turned === 'yes'),
      controls: [workloadChoice(), responseChoice(), choice('turned', 'across', [['', 'values'], ['yes', 'shares of units: quantiles']])]})];
}

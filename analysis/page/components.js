// Where the spread comes from: layouts and runs, and the terms of the analysis of variance.

function spreadText(response, variance) {
  if (!(variance > 0)) return 'none';
  return response.scale === 'log' ? percent(Math.sqrt(variance)) : valueText(response, Math.sqrt(variance), 3);
}

function drawComponents(width) {
  const response = shownResponse(), parts = report.components.filter(part => part.response === response.name);
  if (parts.length === 0) return nothing('Layouts did not vary, or this is not the lab’s own data: nothing to separate.');
  const sd = variance => Math.sqrt(Math.max(0, variance || 0)), high = 26, left = roomForNames(width, parts.map(part => part.workload), Math.min(190, width * 0.27)), right = width - 130, top = 26, bottom = top + parts.length * high;
  const longest = Math.max(...parts.flatMap(part => [sd(part.layout), sd(part.run)])) || 1, scale = linear(0, longest * 1.05, left, right);
  const marksAt = ticks(0, longest * 1.05, 6).map(at => ({at, text: response.scale === 'log' ? plainPercent(at) : valueText(response, at, 3)}));
  const svg = s('svg', {}, bottomAxis(scale, marksAt, bottom, top - 4, response.scale === 'log' ? 'standard deviation of log times, about a share' : 'standard deviation'), s('rect', {x: left, y: 3, width: 10, height: 10, fill: 'var(--blue)', class: 'bar'}), label(left + 15, 12, parts.some(part => part.run !== null) ? 'layouts' : 'layouts and runs together: each layout ran once', 'start', 'faint'),
    parts.some(part => part.run !== null) && [s('rect', {x: left + 90, y: 3, width: 10, height: 10, fill: 'var(--orange)', class: 'bar'}), label(left + 105, 12, 'runs of one layout', 'start', 'faint')]);
  const marks = [];
  parts.forEach((part, i) => {
    const y = top + i * high;
    svg.append(label(left - 8, y + 15, short(part.workload, Math.floor(left / 6.6)), 'end'), s('rect', {x: left, y: y + 2, width: Math.max(0.5, scale(sd(part.layout)) - left), height: part.run === null ? 16 : 9, fill: 'var(--blue)', class: 'bar'}));
    if (part.run !== null) svg.append(s('rect', {x: left, y: y + 12, width: Math.max(0.5, scale(sd(part.run)) - left), height: 9, fill: 'var(--orange)', class: 'bar'}));
    svg.append(label(right + 8, y + 15, part.run === null ? spreadText(response, part.layout) : `${spreadText(response, part.layout)}, ${spreadText(response, part.run)}`, 'start', 'faint'));
    marks.push({x: scale(sd(part.layout)), y: y + 10, text: `${part.workload}: sd of ${part.run === null ? 'layout and run' : 'layouts'} ${spreadText(response, part.layout)}` + (part.run === null ? '' : `, of runs ${spreadText(response, part.run)}`) + `, from ${grouped(part.layouts)} layouts of ${significant(part.runs_per_layout, 3)} ${part.runs_per_layout === 1 ? 'run' : 'runs'}`});
  });
  const known = parts.filter(part => part.run !== null), more = known.filter(part => part.layout > part.run).length;
  return {svg, height: bottom + 44, marks, columns: [{title: workloadWord}, {title: 'layouts', number: true}, {title: 'runs a layout', number: true}, {title: 'variance of layouts', number: true}, {title: 'variance of runs', number: true}],
    rows: parts.map(part => [part.workload, part.layouts, part.runs_per_layout, part.layout, part.run]),
    finding: known.length > 0 ? `In ${more} of ${count(known.length, workloadWord)} layouts differ more than runs of one layout do.` : `Each layout ran once, so layout and run are one: ${[...new Set([Math.min, Math.max].map(end => spreadText(response, end(...parts.map(part => part.layout)))))].join(' to ')}. Several runs of each layout (code = "once" and runs_per_seed = 2 in the plan) would tell them apart.`};
}

function drawShares(width) {
  const response = shownResponse(), tables = report.anova.filter(one => one.response === response.name && one.workload && !one.refused && one.rows.length > 0);
  if (tables.length === 0) return {...nothing('No analysis of variance within a workload.'), hidden: true};
  const terms = [...new Set(tables.flatMap(one => one.rows.map(row => row.term)))], plain = terms.filter(term => term !== 'residuals' && term !== 'block');
  const paintOf = term => term === 'residuals' ? 'soft' : term === 'block' ? 'grey' : levelColour(plain.indexOf(term));
  const high = 24, left = roomForNames(width, tables.map(one => one.workload), Math.min(190, width * 0.27)), right = width - 12, legend = 20 * Math.ceil(terms.length / Math.max(1, Math.floor((right - left) / 150))), top = legend + 10, bottom = top + tables.length * high;
  const scale = linear(0, 1, left, right), svg = s('svg', {}, bottomAxis(scale, [0, 0.25, 0.5, 0.75, 1].map(at => ({at, text: 100 * at + ' %'})), bottom, top - 4, 'share of the sums of squares'));
  const perLine = Math.max(1, Math.floor((right - left) / 150));
  terms.forEach((term, i) => {
    const x = left + (i % perLine) * 150, y = 12 + 20 * Math.floor(i / perLine);
    svg.append(s('rect', {x, y: y - 9, width: 10, height: 10, fill: `var(--${paintOf(term)})`, class: 'bar'}), label(x + 15, y, short(term, 18), 'start', 'faint'));
  });
  const marks = [], rows = [];
  tables.forEach((one, i) => {
    const y = top + i * high, total = one.rows.reduce((sum, row) => sum + row.sum_squares, 0) || 1;
    let from = 0;
    svg.append(label(left - 8, y + 14, short(one.workload, Math.floor(left / 6.6)), 'end'));
    for (const row of one.rows) {
      const share = row.sum_squares / total;
      svg.append(s('rect', {x: scale(from), y: y + 3, width: Math.max(0, scale(from + share) - scale(from)), height: 15, fill: `var(--${paintOf(row.term)})`, class: 'bar'}));
      marks.push({x: scale(from + share / 2), y: y + 10, text: `${one.workload}, ${row.term}: ${percent(share)} of the sums of squares, df ${significant(row.df, 4)}` + (row.f ? `, F ${significant(row.f, 3)}, p ${pText(row.p_robust ?? row.p_value)}` : '')});
      rows.push([one.workload, row.term, row.df, row.sum_squares, row.f, row.p_value, row.p_robust ?? null, row.partial_omega_squared]);
      from += share;
    }
  });
  return {svg, height: bottom + 44, marks, rows, columns: [{title: workloadWord}, {title: 'term'}, {title: 'df', number: true}, {title: 'sum of squares', number: true}, {title: 'F', number: true}, {title: 'p', number: true, text: pText}, {title: 'p (robust)', number: true, text: pText}, {title: 'partial omega²', number: true}],
    finding: `Analysis of variance of ${response.name.replace(/_/g, ' ')}, type II, by ${workloadWord}.`};
}

function drawLayouts(width) {
  const response = shownResponse(), lines = figures.layouts_and_runs.filter(line => line.response === response.name && line.workload === report.workloads[shownWorkload()]);
  if (lines.length === 0) return {...nothing('Needs several runs of each layout.'), hidden: true};
  return halfWidths(width, response, lines.map((line, i) => ({name: `${line.runs} ${line.runs === 1 ? 'run' : 'runs'} a layout`, n: line.layouts, half: line.half_width, paint: levelColour(i)})), 'layouts of each cell', marginOf(response), report.workloads[shownWorkload()] + ': ');
}

// Half widths against n, both on logarithmic axes.
function halfWidths(width, response, lines, across, margin, prefix) {
  const ns = lines.flatMap(line => line.n), halves = lines.flatMap(line => line.half).filter(x => x > 0);
  if (halves.length === 0) return nothing('No interval has a width.');
  const [fromN, toN] = extent(ns), [low, high] = extent(margin > 0 ? [...halves, margin] : halves);
  const narrow = isNarrow(width), left = 74, right = narrow ? width - 14 : width - 190, top = 28, bottom = 320, xs = linear(Math.log(fromN), Math.log(toN), left, right), ys = linear(Math.log(low) - 0.1, Math.log(high) + 0.1, bottom, top);
  const halfText = x => response.scale === 'log' ? '± ' + significant(100 * x, 2) + ' %' : '± ' + valueText(response, x, 2);
  const svg = s('svg', {}, bottomAxis(xs, logTicks(fromN, toN).map(n => ({at: Math.log(n), text: grouped(n)})), bottom, top, across),
    leftAxis(ys, logTicks(low * 0.9, high * 1.1).map(x => ({at: Math.log(x), text: halfText(x)})), left, right, 'half width of the interval'));
  if (margin > 0) svg.append(s('line', {x1: left, x2: right, y1: ys(Math.log(margin)), y2: ys(Math.log(margin)), class: 'dashed'}), label(left + 6, ys(Math.log(margin)) + (ys(Math.log(margin)) < top + 12 ? 14 : -5), 'margin', 'start', 'faint'));
  const marks = [], rows = [], ends = [];
  for (const line of lines) {
    const points = line.n.map((n, i) => [xs(Math.log(n)), ys(Math.log(line.half[i]))]).filter(point => point.every(Number.isFinite));
    if (points.length === 0) continue;
    svg.append(s('path', {d: 'M' + points.map(point => point.map(x => x.toFixed(1)).join(' ')).join('L'), class: 'curve', stroke: `var(--${line.paint})`}));
    line.n.forEach((n, i) => { if (line.half[i] > 0) { marks.push({x: xs(Math.log(n)), y: ys(Math.log(line.half[i])), text: `${line.name}: ${halfText(line.half[i])} at ${significant(n, 3)} ${across}`}); rows.push([line.name, n, line.half[i]]); } });
    if (line.now) svg.append(s('circle', {cx: xs(Math.log(line.now[0])), cy: ys(Math.log(line.now[1])), r: 5, class: 'ring', stroke: `var(--${line.paint})`}));
    ends.push({y: points[points.length - 1][1], text: line.name, paint: line.paint});
  }
  let beside = -Infinity;
  ends.sort((a, b) => a.y - b.y);
  if (narrow && ends.length <= 16) {
    svg.append(s('g', {}, lineNames(ends, left, bottom + 56, Math.floor((width - left - 30) / 7))));
    beside = bottom + 40 + 17 * ends.length;
  } else if (ends.length <= 16) for (const end of ends) {
    beside = Math.max(end.y + 4, beside + 14);
    svg.append(s('line', {x1: right + 5, x2: right + 15, y1: beside - 4, y2: beside - 4, class: 'curve', stroke: `var(--${end.paint})`}), label(right + 20, beside, short(end.text, 25), 'start', 'faint'));
  }
  const reach = lines.filter(line => line.now && line.now[1] <= margin).length, known = lines.filter(line => line.now).length;
  return {svg, height: Math.max(bottom + 46, beside + 10), marks, rows, columns: [{title: 'line'}, {title: across, number: true}, {title: 'half width', number: true}],
    finding: prefix + (known > 0 ? `${prefix ? 'with' : 'With'} this experiment’s replicates ${reach} of ${count(known, 'interval')} ${known === 1 ? 'is' : 'are'} narrower than the margin, which sameness needs.` : 'half width of the interval of a difference.')};
}

function componentFigures() {
  return [new Figure('components', {title: 'Where the spread comes from', how: howToRead.components, depends: ['response'], controls: [responseChoice()], draw: drawComponents}),
    new Figure('shares', {title: 'What accounts for the variation', how: howToRead.shares, depends: ['response'], controls: [responseChoice()], draw: drawShares}),
    new Figure('layouts', {title: 'What more layouts, or more runs, would buy', how: howToRead.layouts, depends: ['response', 'workload'], controls: [workloadChoice()], draw: drawLayouts})];
}

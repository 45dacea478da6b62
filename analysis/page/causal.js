// Causal profiles: what each line is worth, as small curves on one scale, and how the program goes with load.

const causal = block('stab-causal').programs;
const lineVerdicts = {'worth it': 'better', harmful: 'worse', 'no use': 'equivalent', unsure: 'unsure', withheld: 'withheld'};
const lineSigns = {better: '✓', worse: '✗', equivalent: '=', unsure: '?', withheld: '…'};
const mostCurves = 24;

// Whose curves are shown: a program, one of its points and one of its cells.
function causalViews() {
  return causal.flatMap((program, p) => program.points.flatMap(point => program.cells.map((cell, c) => ({program, p, point: point.name, kind: point.kind, cell: c,
    curves: program.curves.filter(curve => curve.point === point.name && curve.cell === c)})))).filter(view => view.curves.length > 0);
}

function causalViewName(view) {
  const cell = view.curves[0].cell_name, program = causal.length > 1 ? view.program.program + ': ' : '';
  return `${program}${view.kind === 'latency' ? 'latency of' : 'throughput at'} ${view.point}${cell ? ', ' + cell : ''}`;
}

const shownCausal = views => views[Math.min(views.length - 1, Number(state.causal) || 0)];
const worth = curve => Math.max(...curve.arms.filter(arm => !arm.refused).map(arm => arm.speedup_interval.estimate), -Infinity);
const sharePercent = share => signed(significant(100 * share, 3)) + ' %';

function armText(curve, arm) {
  const start = `${curve.line} ${plainPercent(arm.speedup)} faster: `;
  if (arm.refused) return start + 'no number, ' + arm.refused;
  const {estimate, conf_low, conf_high} = arm.speedup_interval;
  return `${start}${sharePercent(estimate)}, interval ${sharePercent(conf_low)} to ${sharePercent(conf_high)}; ${arm.windows} windows; ${curve.verdict}`;
}

function drawCausal(width) {
  const views = causalViews();
  if (views.length === 0) return {...nothing('No line was tried.'), hidden: true};
  const view = shownCausal(views), {program} = view;
  const curves = [...view.curves].sort((a, b) => a.exploratory - b.exploratory || worth(b) - worth(a)), shown = curves.slice(0, mostCurves);
  const arms = shown.flatMap(curve => curve.arms.filter(arm => !arm.refused).map(arm => arm.speedup_interval));
  const [from, to] = padded(extent([0, program.margin, -program.margin, ...arms.flatMap(arm => [arm.conf_low, arm.conf_high])]), 0.06);
  const across = Math.max(1, Math.min(4, shown.length, Math.floor(width / 240))), high = 238, wide = width / across, most = Math.max(...program.speedups);
  const svg = s('svg', {}), marks = [], rows = [];
  shown.forEach((curve, i) => {
    const left = (i % across) * wide + 52, right = (i % across + 1) * wide - 14, top = Math.floor(i / across) * high + 62, bottom = top + high - 118;
    const xs = linear(0, most * 1.06, left, right), ys = linear(from, to, bottom, top), kind = lineVerdicts[curve.verdict] || 'withheld';
    const line = program.lines.find(one => one.name === curve.line);
    svg.append(s('rect', {x: left, width: right - left, y: ys(program.margin), height: ys(-program.margin) - ys(program.margin), class: 'band'}),
      leftAxis(ys, ticks(from, to, 4).map(at => ({at, text: plain(100 * at)})), left, right),
      bottomAxis(xs, [0, ...program.speedups].map(at => ({at, text: plain(100 * at)})), bottom, top, 'line faster by, %'),
      label(left - 44, top - 8, view.kind === 'latency' ? 'latency saved, %' : 'program saves, %', 'start', 'axis-title'),
      s('line', {x1: left, x2: right, y1: ys(0), y2: ys(0), class: 'zero'}),
      label(left - 44, top - 42, short(curve.line, Math.floor((right - left) / 7)), 'start', 'strong'),
      label(left - 44, top - 26, `${lineSigns[kind]} ${curve.verdict}${curve.exploratory ? ', explored' : ''}${curve.phase_corrected ? `, in ${plainPercent(Number(curve.phase_share.toFixed(3)))} of the run` : ''}`, 'start', 'word-' + kind));
    const paint = `var(--${{better: 'blue', worse: 'vermillion', equivalent: 'green'}[kind] || 'grey'})`, usable = curve.arms.filter(arm => !arm.refused);
    if (curve.slowdown_slope) {
      const slope = curve.slowdown_slope.interval.estimate, end = slope > 0 ? Math.min(most, to / slope) : slope < 0 ? Math.min(most, from / slope) : most;
      svg.append(s('line', {x1: xs(0), y1: ys(0), x2: xs(end), y2: ys(slope * end), class: 'dashed'}));
    }
    svg.append(s('path', {d: 'M' + [[xs(0), ys(0)], ...usable.map(arm => [xs(arm.speedup), ys(arm.speedup_interval.estimate)])].map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join('L'), class: 'curve', stroke: paint}));
    for (const arm of curve.arms) {
      const found = arm.speedup_interval;
      if (found) {
        svg.append(s('line', {x1: xs(arm.speedup), x2: xs(arm.speedup), y1: ys(found.conf_low), y2: ys(found.conf_high), class: 'curve', stroke: paint}),
          s('circle', {cx: xs(arm.speedup), cy: ys(found.estimate), r: 4, fill: paint, class: 'dot'}));
        marks.push({x: xs(arm.speedup), y: ys(found.estimate), text: `${armText(curve, arm)}${line && line.function ? `, in ${line.function}` : ''}`});
      }
    }
  });
  for (const curve of curves)
    for (const arm of curve.arms) rows.push([curve.line, arm.speedup, arm.speedup_interval?.estimate ?? null, arm.speedup_interval?.conf_low ?? null, arm.speedup_interval?.conf_high ?? null, arm.p_holm ?? null, arm.windows ?? null, arm.verdict, curve.verdict]);
  const worthy = curves.filter(curve => curve.verdict === 'worth it'), withheld = program.cells[view.cell].withheld;
  const best = worthy.length > 0 && worthy.reduce((a, b) => worth(b) > worth(a) ? b : a);
  return {svg, height: Math.ceil(shown.length / across) * high, marks, rows,
    columns: [{title: 'line'}, {title: 'line faster by (share)', number: true}, {title: 'program saves (share)', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'p (Holm)', number: true}, {title: 'windows', number: true}, {title: 'this speedup'}, {title: 'verdict'}],
    finding: (withheld ? `Not judged yet: ${withheld}. ` : '') + (best ? `${count(worthy.length, 'line')} of ${curves.length} ${worthy.length === 1 ? 'is' : 'are'} worth it; the most, up to ${sharePercent(worth(best))}, ${best.line}.` : `None of ${count(curves.length, 'line')} is shown to be worth it.`) + (curves.length > mostCurves ? ` The first ${mostCurves} are drawn, all are in the table.` : '')};
}

// Throughput against load on logarithmic axes, where keeping up is a line of slope 1.
function drawLoad(width) {
  const views = causal.flatMap(program => program.saturations.filter(one => one.loads.length > 0).map(saturation => ({program, saturation})));
  if (views.length === 0) return {...nothing('Load is no factor.'), hidden: true};
  const {saturation} = views[Math.min(views.length - 1, Number(state.load) || 0)], {loads, knee} = saturation;
  const left = 76, right = Math.min(width - 20, 660), top = 30, bottom = 330;
  const values = loads.flatMap(load => [load.throughput, load.throughput_interval?.conf_low, load.throughput_interval?.conf_high]).filter(Number.isFinite);
  const [fromX, toX] = padded(extent(loads.map(load => Math.log(load.load))), 0.06), [fromY, toY] = padded(extent(values.map(Math.log)), 0.1);
  const xs = linear(fromX, toX, left, right), ys = linear(fromY, toY, bottom, top);
  const svg = s('svg', {}, leftAxis(ys, logTicks(Math.exp(fromY), Math.exp(toY)).map(at => ({at: Math.log(at), text: plain(at)})), left, right, `${saturation.point}, per second`),
    bottomAxis(xs, loads.map(load => ({at: Math.log(load.load), text: '× ' + plain(load.load)})), bottom, top, 'load'));
  if (knee) {
    const low = Math.max(fromX, Math.log(knee.conf_low)), end = Math.min(toX, Math.log(knee.conf_high)), at = Math.log(knee.load), value = Math.log(knee.throughput);
    svg.append(s('rect', {x: xs(low), width: Math.max(1, xs(end) - xs(low)), y: top, height: bottom - top, class: 'band'}),
      s('path', {d: `M${xs(fromX)} ${ys(Math.max(fromY, value + fromX - at))}L${xs(at)} ${ys(value)}L${xs(toX)} ${ys(Math.max(fromY, value + knee.slope_after * (toX - at)))}`, class: 'dashed', fill: 'none'}));
  }
  const marks = [], rows = [], slow = loads.filter(load => !load.grows && Number.isFinite(load.latency_s) && load.latency_s > 0);
  // Latency below it, over the same loads.
  const lowTop = bottom + 82, lowBottom = lowTop + 180, latencies = slow.flatMap(load => [load.latency_s, load.latency_interval?.conf_low, load.latency_interval?.conf_high]).filter(Number.isFinite).map(Math.log);
  const [fromL, toL] = padded(extent(latencies) || [0, 1], 0.12), ls = linear(fromL, toL, lowBottom, lowTop);
  if (slow.length > 1) {
    svg.append(leftAxis(ls, logTicks(1e3 * Math.exp(fromL), 1e3 * Math.exp(toL), 4).map(at => ({at: Math.log(at / 1e3), text: plain(at)})), left, right, `latency of ${saturation.latency_point}, ms`),
      bottomAxis(xs, loads.map(load => ({at: Math.log(load.load), text: '× ' + plain(load.load)})), lowBottom, lowTop, 'load'));
    for (const load of slow) {
      const x = xs(Math.log(load.load)), found = load.latency_interval;
      if (found) svg.append(s('line', {x1: x, x2: x, y1: ls(Math.log(found.conf_low)), y2: ls(Math.log(found.conf_high)), class: 'curve', stroke: 'var(--orange)'}));
      svg.append(s('circle', {cx: x, cy: ls(Math.log(load.latency_s)), r: 4, fill: 'var(--orange)', class: 'dot'}));
    }
  }
  for (const load of loads) {
    const x = xs(Math.log(load.load)), y = ys(Math.log(load.throughput)), found = load.throughput_interval;
    if (found) svg.append(s('line', {x1: x, x2: x, y1: ys(Math.log(found.conf_low)), y2: ys(Math.log(found.conf_high)), class: 'curve', stroke: 'var(--blue)'}));
    svg.append(s('circle', {cx: x, cy: y, r: 4, fill: 'var(--blue)', class: 'dot'}));
    marks.push({x, y, text: `load × ${plain(load.load)}: ${significant(load.throughput, 4)} a second` + (found ? `, interval ${significant(found.conf_low, 4)} to ${significant(found.conf_high, 4)}` : '') + (Number.isFinite(load.latency_s) ? `; latency ${valueText({unit: 's'}, load.latency_s)}` : '') + (Number.isFinite(load.busy) ? `; CPUs ${plainPercent(Number(load.busy.toFixed(3)))} busy` : '')});
    rows.push([load.load, load.trials, load.throughput, found?.conf_low ?? null, found?.conf_high ?? null, load.latency_s, load.latency_interval?.conf_low ?? null, load.latency_interval?.conf_high ?? null, load.busy]);
  }
  for (const load of slow.length > 1 ? slow : [])
    marks.push({x: xs(Math.log(load.load)), y: ls(Math.log(load.latency_s)), text: `load × ${plain(load.load)}: latency ${valueText({unit: 's'}, load.latency_s)}` + (load.latency_interval ? `, interval ${valueText({unit: 's'}, load.latency_interval.conf_low)} to ${valueText({unit: 's'}, load.latency_interval.conf_high)}` : '')});
  return {svg, height: (slow.length > 1 ? lowBottom : bottom) + 46, marks, rows, finding: saturation.text,
    columns: ['load', 'trials', 'per second', 'low', 'high', 'latency (s)', 'latency low', 'latency high', 'busy'].map(title => ({title, number: true}))};
}

function causalFigures() {
  const views = causalViews(), loads = causal.flatMap(program => program.saturations.filter(one => one.loads.length > 0).map(one => `${causal.length > 1 ? program.program + ': ' : ''}${one.point}${one.cell_name ? ', ' + one.cell_name : ''}`));
  return [new Figure('causal-curves', {title: 'What each line is worth', how: howToRead.causal, depends: ['causal'], draw: drawCausal, controls: [choice('causal', 'shown', views.map((view, i) => [String(i), causalViewName(view)]))]}),
    new Figure('causal-load', {title: 'How far it scales', how: howToRead.load, depends: ['load'], draw: drawLoad, controls: [choice('load', 'shown', loads.map((name, i) => [String(i), name]))]})];
}

// Controls and caveats, in words; null where the experiment has no profile.
function causalSection(curves, load) {
  if (causal.length === 0) return null;
  const nulls = causal.flatMap(program => program.nulls.map(one => [causal.length > 1 ? `${program.program}: ${one.point}` : one.point, one.cell_name, one.speedup_interval?.estimate ?? null, one.speedup_interval?.conf_low ?? null, one.speedup_interval?.conf_high ?? null, one.refused ? one.refused : one.holds ? 'holds' : one.biased ? 'biased' : 'too wide']));
  const caveats = causal.flatMap(program => program.caveats), named = (program, one) => causal.length > 1 ? `${program.program}: ${one.line}` : one.line;
  const cells = causal.flatMap(program => program.interactions.map(one => [named(program, one), one.point, one.speedup, one.cell_name, one.difference.estimate, one.difference.conf_low, one.difference.conf_high, one.withheld ? 'withheld' : one.p_holm]));
  const layouts = causal.flatMap(program => program.layout_interactions.map(one => [named(program, one), one.point, one.speedup, one.cell_name, one.layouts, one.against, one.f, one.p_holm]));
  const asked = [{title: 'line'}, {title: 'point'}, {title: 'line faster by (share)', number: true}, {title: 'cell'}];
  return section('causal', causal.some(program => program.lines.length > 0) ? 'Which line is worth it' : 'Under more load', curves.element, load.element,
    nulls.length > 0 && [h('h3', {}, 'Where nothing should change'), h('p', {class: 'note'}, 'Windows in which everybody pauses, the sampled thread too: the true effect is 0. Verdicts need an interval inside the margin.'),
      table('Where nothing should change', [{title: 'point'}, {title: 'cell'}, {title: 'effect (share)', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'control'}], nulls)],
    cells.length > 0 && [h('h3', {}, 'Is a line worth as much elsewhere?'), h('p', {class: 'note'}, 'What a line is worth in a cell, less what it is worth in the first one. Withheld where no verdict is given in one of the two.'),
      table('Is a line worth as much elsewhere?', [...asked, {title: 'differs by (share)', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'p (Holm)', number: true}], cells)],
    layouts.length > 0 && [h('h3', {}, 'Is it worth as much in each layout?'), h('p', {class: 'note'}, 'Layouts are held against trials that had the same one. Where each is of one trial they are held against windows, and whatever else differs between trials counts as the layout.'),
      table('Is it worth as much in each layout?', [...asked, {title: 'layouts', number: true}, {title: 'held against'}, {title: 'F', number: true}, {title: 'p (Holm)', number: true}], layouts)],
    caveats.length > 0 && [h('h3', {}, 'What to worry about here'), h('ul', {class: 'worries'}, caveats.map(caveat => h('li', {}, short(caveat.message, 400), h('span', {class: 'hint'}, ' ' + short(caveat.hint, 300)))))]);
}

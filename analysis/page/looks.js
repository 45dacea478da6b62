// What looking costs: how much of alpha is spent at each look, and the level at which one test is judged there.

function drawLooks(width) {
  const looks = figures.looks;
  if (!looks) return {...nothing('The plan declares no looks: it was judged once, at the full alpha.'), hidden: true};
  const sequence = looks.rule === 'sequence', left = 66, right = width - 22, top = 26, bottom = 290, last = Math.max(looks.now, ...looks.replicates);
  const xs = linear(0, last * 1.04, left, right), ys = linear(0, looks.alpha * 1.12, bottom, top);
  const level = x => plainPercent(x), line = (at, of) => 'M' + at.map((x, i) => `${xs(x).toFixed(1)} ${ys(of[i]).toFixed(1)}`).join('L');
  const svg = s('svg', {}, bottomAxis(xs, ticks(0, last, (right - left) / 80).filter(Number.isInteger).map(at => ({at, text: grouped(at)})), bottom, top, 'replicates of a cell'),
    leftAxis(ys, ticks(0, looks.alpha * 1.12, 6).map(at => ({at, text: level(at)})), left, right, 'share of wrong alarms allowed'),
    s('line', {x1: left, x2: right, y1: ys(looks.alpha), y2: ys(looks.alpha), class: 'zero', 'stroke-dasharray': '6 4'}), label(left + 5, ys(looks.alpha) - 5, `all of α: ${level(looks.alpha)}`, 'start', 'faint'));
  if (looks.curve_at.length > 1) svg.append(s('path', {d: line(looks.curve_at, looks.curve_spent), class: 'curve', stroke: 'var(--blue)'}));
  if (sequence) svg.append(s('path', {d: line(looks.replicates, looks.nominal), class: 'curve', stroke: 'var(--orange)'}));
  svg.append(s('line', {x1: xs(looks.now), x2: xs(looks.now), y1: top, y2: bottom, class: 'run-change'}), label(xs(looks.now) + (looks.now > last * 0.8 ? -5 : 5), top + 10, 'now', looks.now > last * 0.8 ? 'end' : 'start', 'strong'));
  const marks = [], size = 5;
  looks.replicates.forEach((at, i) => {
    const done = at <= looks.now, x = xs(at);
    if (!sequence) {
      svg.append(s('circle', {cx: x, cy: ys(looks.spent[i]), r: size + 3, fill: done ? 'var(--blue)' : 'var(--paper)', stroke: 'var(--blue)', 'stroke-width': 2}));
      marks.push({x, y: ys(looks.spent[i]), text: `look ${i + 1}, after ${at} replicates${done ? '' : ', still to come'}: ${level(looks.spent[i])} of alarms spent up to here`});
      svg.append(s('rect', {x: x - size, y: ys(looks.nominal[i]) - size, width: 2 * size, height: 2 * size, fill: done ? 'var(--orange)' : 'var(--paper)', stroke: 'var(--orange)', 'stroke-width': 2}));
    }
    marks.push({x, y: ys(looks.nominal[i]), text: `${sequence ? '' : `look ${i + 1}, `}after ${at} replicates: one test is judged at ${level(looks.nominal[i])}`});
  });
  const key = sequence ? [['orange', 'level of one test at this moment']] : [['blue', 'spent up to this look'], ['orange', 'level of one test at this look']];
  key.forEach(([paint, text], i) => svg.append(s('line', {x1: left + 8, x2: left + 28, y1: top + 46 + 17 * i, y2: top + 46 + 17 * i, class: 'curve', stroke: `var(--${paint})`}), label(left + 33, top + 50 + 17 * i, text)));
  const passed = looks.replicates.filter(at => at <= looks.now).length, here = passed > 0 ? passed - 1 : 0;
  const finding = sequence ? `A confidence sequence: anybody may look at any time, and all looks together raise a false alarm in ${level(looks.alpha)} of experiments at most. After ${looks.now} replicates one test is judged at ${level(looks.nominal[here])}, as if it were the only one.`
    : `${passed} of ${looks.replicates.length} declared looks have come (${looks.spending}): ${passed > 0 ? `${level(looks.spent[here])} of ${level(looks.alpha)} are spent, and a test is judged at ${level(looks.nominal[here])} there` : 'nothing is spent yet'}. A plan without looks would judge at ${level(looks.alpha)}, once.`;
  return {svg, height: bottom + 44, marks, finding, columns: [{title: sequence ? 'replicates' : 'look after', number: true}, ...(sequence ? [] : [{title: 'alpha spent up to it', number: true}]), {title: 'level of one test', number: true}, {title: 'has come'}],
    rows: looks.replicates.map((at, i) => [at, ...(sequence ? [] : [looks.spent[i]]), looks.nominal[i], at <= looks.now ? 'yes' : 'no'])};
}

// A plan that is judged once has no such figure.
function looksFigure() {
  return figures.looks ? new Figure('looks', {title: 'What looking costs', how: howToRead.looks, draw: drawLooks}) : null;
}

// A suite: many benchmarks that one program measures of itself, each a response. All of them in one plot, and a table that is
// searched; whichever is picked is what the rest of the page is about.

const benchmarks = responses.filter(response => response.benchmark);

// Each question with the contrasts that answer it, one a benchmark.
function benchmarkQuestions() {
  const names = new Set(benchmarks.map(response => response.name)), seen = new Map();
  for (const contrast of report.contrasts) {
    if (!names.has(contrast.response) || contrast.layout || !contrast.workload) continue;
    const key = `${contrast.factor}: ${contrast.level} / ${contrast.baseline}`;
    if (!seen.has(key)) seen.set(key, []);
    seen.get(key).push(contrast);
  }
  return [...seen.entries()];
}

const benchmarkColumns = [{title: 'benchmark'}, {title: 'verdict'}, {title: 'estimate', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'n', number: true}, {title: 'p', number: true, text: pText},
  {title: 'p (adjusted)', number: true, text: pText}, {title: 'family'}, {title: 'refused'}];

function benchmarkRow(contrast) {
  const has = !contrast.refused;
  return [contrast.response, has ? verdictWord(contrast) : 'refused', has ? contrast.interval.estimate : null, has ? contrast.interval.conf_low : null, has ? contrast.interval.conf_high : null, has ? contrast.n : null, has ? contrast.p_value : null,
    has ? contrast.p_holm : null, responseOf(contrast.response).family || '', contrast.refused || ''];
}

// What the first screen says of them: a suite can have changed though the run as a whole took as long as before.
function benchmarkSentences() {
  return benchmarkQuestions().map(([question, all]) => {
    const response = responseOf(all[0].response), changed = all.filter(contrast => ['worse', 'better'].includes(verdictClass(contrast)));
    const most = changed.reduce((far, one) => !far || Math.abs(onScale(response, one.interval.estimate)) > Math.abs(onScale(response, far.interval.estimate)) ? one : far, null);
    return {changed: changed.length, worse: changed.some(contrast => verdictClass(contrast) === 'worse'), text: `${question}, of ${count(all.length, 'benchmark')}`, strong: tallyText(all), rest: most ? `; most: ${short(most.response, 60)}, ${differenceText(response, most.interval.estimate)} ${intervalText(response, most.interval)}` : ''};
  });
}

function benchmarkAnswers() {
  return benchmarkSentences().map(one => {
    const kind = one.changed === 0 ? 'unsure' : one.worse ? 'worse' : 'better';
    return h('li', {class: 'answer ' + kind}, h('span', {class: 'sign word-' + kind, 'aria-hidden': 'true'}, one.changed === 0 ? '·' : verdictSigns[kind]), h('span', {class: 'said'}, h('span', {class: 'question'}, short(one.text, 160)), ' ', h('strong', {}, one.strong), h('span', {class: 'rest'}, one.rest)));
  });
}

// In the order of their differences: those that got worse are at one end, those that got better at the other, whatever their names.
function drawBenchmarks(width) {
  const asked = benchmarkQuestions();
  if (asked.length === 0) return {...nothing('No program measured benchmarks of its own.'), hidden: true};
  const [question, all] = asked[Math.min(asked.length - 1, Math.max(0, Number(state.suite) || 0))], response = responseOf(all[0].response);
  const shown = all.filter(contrast => !contrast.refused).sort((a, b) => onScale(response, a.interval.estimate) - onScale(response, b.interval.estimate));
  if (shown.length === 0) return nothing(`${question}: no benchmark has an answer.`);
  const left = 74, right = width - 12, top = 28, bottom = top + 300, [from, to] = intervalExtent(shown, response);
  const up = linear(from, to, bottom, top), across = linear(-0.5, shown.length - 0.5, left, right), room = (right - left) / shown.length, wide = Math.max(0.6, Math.min(3, room * 0.5));
  const margin = Math.min(up.to, shown[0].margin), svg = s('svg', {}, leftAxis(up, differenceTicks(response, from, to, 7), left, right, `difference, ${question}`),
    s('rect', {x: left, width: right - left, y: up(margin), height: Math.max(0, up(Math.max(up.from, -shown[0].margin)) - up(margin)), class: 'band'}), s('line', {x1: left, x2: right, y1: up(0), y2: up(0), class: 'zero'}));
  const marks = [], named = [];
  shown.forEach((contrast, i) => {
    const x = across(i), at = value => clampTo(up, onScale(response, value)), verdict = verdictClass(contrast);
    const interval = s('line', {x1: x, x2: x, y1: at(contrast.interval.conf_low), y2: at(contrast.interval.conf_high), class: 'thin'});
    interval.style.strokeWidth = wide;
    svg.append(s('g', {class: 'interval ' + verdict}, interval, room > 3 || verdict === 'worse' || verdict === 'better' ? verdictMark(x, at(contrast.interval.estimate), verdict, Math.max(2.2, Math.min(5, room))) : ''));
    marks.push({x, y: at(contrast.interval.estimate), text: `${contrast.response}: ` + contrastText(contrast), open: () => setState({response: contrast.response, workload: contrast.workload})});
    if (verdict === 'worse' || verdict === 'better') named.push({contrast, x, y: at(contrast.interval.estimate)});
  });
  svg.append(label(right, bottom + 18, 'each benchmark, in the order of its difference', 'end', 'axis-title'));
  // The farthest at both ends have their names, as far as there is room above each other.
  const ends = [named.filter(one => one.x < (left + right) / 2), named.filter(one => one.x >= (left + right) / 2).reverse()];
  ends.forEach((side, right_side) => side.slice(0, 4).forEach((one, i) => {
    const y = right_side ? top + 12 + i * 15 : bottom - 10 - i * 15, x = right_side ? one.x - 14 - i * 2 : one.x + 14 + i * 2;
    svg.append(s('line', {x1: one.x, y1: one.y, x2: x, y2: y - 4, class: 'leader'}), label(right_side ? x - 3 : x + 3, y, `${short(one.contrast.response, 30)} ${differenceText(response, one.contrast.interval.estimate)}`, right_side ? 'end' : 'start'));
  }));
  return {svg, height: bottom + 30, marks, finding: `${question}, ${count(all.length, 'benchmark')}: ${tallyText(all)}.`, columns: benchmarkColumns, rows: all.map(benchmarkRow)};
}

function benchmarksFigure() {
  return benchmarks.length === 0 ? null : new Figure('benchmarks', {title: 'Benchmark by benchmark', how: howToRead.benchmarks, depends: ['suite'],
    controls: [choice('suite', 'question', benchmarkQuestions().map(([question], i) => [String(i), question]))], draw: drawBenchmarks});
}

// All of them by name, those that changed first.
function benchmarksTable() {
  const rows = benchmarkQuestions().flatMap(([question, all]) => byVerdict(all).map(contrast => ({question, contrast})));
  if (rows.length === 0) return null;
  const several = new Set(rows.map(row => row.question)).size > 1;
  return table('Every benchmark', [{title: 'benchmark'}, ...(several ? [{title: 'question'}] : []), {title: 'verdict'}, {title: 'difference', number: true, text: text => text}, {title: 'interval', text: text => text}, {title: 'n', number: true}],
    rows.map(({question, contrast}) => [contrast.response, ...(several ? [question] : []), contrast.refused ? 'no answer' : `${verdictSigns[verdictClass(contrast)]} ${verdictWord(contrast)}`,
      contrast.refused ? null : differenceText(responseOf(contrast.response), contrast.interval.estimate), contrast.refused ? short(contrast.refused, 60) : intervalText(responseOf(contrast.response), contrast.interval), contrast.refused ? null : contrast.n]),
    {filter: true, open: i => { setState({response: rows[i].contrast.response, workload: rows[i].contrast.workload}); document.getElementById('distribution').scrollIntoView(); }});
}

function benchmarksSection(figure) {
  return figure && section('suite', 'The suite', figure.element, benchmarksTable());
}

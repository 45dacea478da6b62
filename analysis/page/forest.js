// The forest: intervals on one axis, the margin as a band. And the same for each workload, as small multiples.

// Those that answer for the whole experiment; a benchmark is measured of one workload, however many there are.
function overallContrasts(response) {
  const ofOne = report.workloads.length === 1 || response.benchmark, wanted = ofOne ? '' : figures.answer.population;
  return report.contrasts.filter(contrast => contrast.response === response.name && contrast.population === wanted && (contrast.workload === '' || ofOne));
}

function byVerdict(contrasts) {
  const size = contrast => contrast.refused ? 0 : Math.abs(onScale(responseOf(contrast.response), contrast.interval.estimate));
  const rank = contrast => ({worse: 0, better: 0, equivalent: 1, unsure: 2, withheld: 3, refused: 4})[verdictClass(contrast)];
  return [...contrasts].sort((a, b) => rank(a) - rank(b) || size(b) - size(a));
}

// From the lowest to the highest end of the intervals, with zero and the margin.
function intervalExtent(contrasts, response, extra = []) {
  const ends = [0, ...extra];
  for (const contrast of contrasts)
    if (!contrast.refused) ends.push(onScale(response, contrast.interval.conf_low), onScale(response, contrast.interval.conf_high), Math.min(contrast.margin, 0.3) * 1.15, -Math.min(contrast.margin, 0.3) * 1.15);
  const [low, high] = extent(ends);
  return low === high ? [-0.05, 0.05] : padded([low, high], 0.03);
}

function clampTo(scale, x) {
  return Math.min(Math.max(scale(x), Math.min(scale(scale.from), scale(scale.to))), Math.max(scale(scale.from), scale(scale.to)));
}

function verdictMark(x, y, verdict, r = 5) {
  const shape = {worse: () => s('path', {d: `M${x - r} ${y + r * 0.8}L${x} ${y - r}L${x + r} ${y + r * 0.8}Z`}),
                 better: () => s('path', {d: `M${x - r} ${y - r * 0.8}L${x} ${y + r}L${x + r} ${y - r * 0.8}Z`}),
                 equivalent: () => s('rect', {x: x - r * 0.8, y: y - r * 0.8, width: r * 1.6, height: r * 1.6})}[verdict];
  const element = shape ? shape() : s('circle', {cx: x, cy: y, r: r * 0.85});
  element.setAttribute('class', 'verdict ' + verdict);
  return element;
}

// One contrast's row: band, thin and thick interval, mark.
function intervalRow(scale, y, height, contrast, response) {
  if (contrast.refused) return s('g', {}, label(scale(0) + 6, y + 4, '×', 'start', 'faint'));
  const verdict = verdictClass(contrast), from = x => clampTo(scale, onScale(response, x));
  return s('g', {class: 'interval ' + verdict},
    s('rect', {x: clampTo(scale, -contrast.margin), width: Math.max(0, clampTo(scale, contrast.margin) - clampTo(scale, -contrast.margin)), y: y - height / 2, height, class: 'band'}), s('line', {x1: scale(0), x2: scale(0), y1: y - height / 2, y2: y + height / 2, class: 'zero'}),
    s('line', {x1: from(contrast.interval.conf_low), x2: from(contrast.interval.conf_high), y1: y, y2: y, class: 'thin'}),
    s('line', {x1: from(contrast.equivalence_interval.conf_low), x2: from(contrast.equivalence_interval.conf_high), y1: y, y2: y, class: 'thick'}),
    verdictMark(from(contrast.interval.estimate), y, verdict));
}

function settles(contrast) {
  if (!contrast.settles_n) return '';
  return `${grouped(contrast.settles_n)} ${contrast.by_link ? 'links a side' : 'replicates a cell'} are needed to decide`;
}

function settlesAndCosts(contrast) {
  return settles(contrast) + (contrast.settles_seconds ? `, ${machineTime(contrast.settles_seconds)} more of machine time` : '');
}

function contrastText(contrast) {
  const response = responseOf(contrast.response), about = `${questionOf(contrast)}, ${subjectOf(contrast)}: `;
  if (contrast.refused) return about + 'no answer, ' + contrast.refused;
  return about + `${verdictWord(contrast)}, ${differenceText(response, contrast.interval.estimate)}, ${plainPercent(1 - report.alpha)} interval ${intervalText(response, contrast.interval)}, p after Holm ${pText(contrast.p_holm)}, n ${contrast.n}` +
    (contrast.settles_n ? '; ' + settlesAndCosts(contrast) : '') + (contrast.by_alone ? '; of the blocks alone, as slicing changes it' : '') + (contrast.one_layout_a_side ? '; at least one side ran in one layout: holds for this link only' : '');
}

const contrastColumns = [{title: 'question'}, {title: 'about'}, {title: 'response'}, {title: 'verdict'}, {title: 'estimate', number: true}, {title: 'low', number: true}, {title: 'high', number: true},
  {title: 'equivalence low', number: true}, {title: 'equivalence high', number: true}, {title: 'margin', number: true}, {title: 'n', number: true}, {title: 'df', number: true}, {title: 'p', number: true, text: pText}, {title: 'p (Holm)', number: true, text: pText},
  {title: 'p (ranks)', number: true, text: pText}, {title: 'n needed to decide', number: true}, {title: 'refused'}];

function contrastRow(contrast) {
  const has = !contrast.refused;
  return [questionOf(contrast), subjectOf(contrast), contrast.response, has ? verdictWord(contrast) : 'refused', has ? contrast.interval.estimate : null, has ? contrast.interval.conf_low : null, has ? contrast.interval.conf_high : null,
    has ? contrast.equivalence_interval.conf_low : null, has ? contrast.equivalence_interval.conf_high : null, has ? contrast.margin : null, has ? contrast.n : null, has ? contrast.df : null, has ? contrast.p_value : null, has ? contrast.p_holm : null,
    has ? contrast.p_rank : null, has ? contrast.settles_n : null, contrast.refused || ''];
}

function tally(contrasts) {
  const counts = new Map();
  for (const contrast of contrasts) counts.set(verdictClass(contrast), (counts.get(verdictClass(contrast)) || 0) + 1);
  return counts;
}

function tallyText(contrasts) {
  const counts = tally(contrasts), changed = (counts.get('worse') || 0) + (counts.get('better') || 0), parts = [];
  if (changed) parts.push(`${changed} changed`);
  for (const [verdict, word] of [['equivalent', 'the same within the margin'], ['unsure', 'unsure'], ['withheld', 'not judged yet'], ['refused', 'without an answer']])
    if (counts.get(verdict)) parts.push(`${counts.get(verdict)} ${word}`);
  return parts.join(', ') || 'nothing was compared';
}

function drawForest(width) {
  const response = shownResponse(), rows = byVerdict(overallContrasts(response));
  if (rows.length === 0) return {...nothing('No factor has two levels: there is nothing to compare.'), hidden: report.contrasts.length === 0};
  // On a narrow screen the words stand above what they are of, on a wide one beside it; each has a line of its own.
  const narrow = width < 720, told = rows.some(contrast => settles(contrast)), top = narrow ? 4 : 12, high = narrow ? 62 + (told ? 15 : 0) : told ? 54 : 40;
  const left = narrow ? 6 : Math.min(250, width * 0.25), right = narrow ? width - 14 : width - 300, letters = room => Math.floor(room / 7);
  const bottom = top + rows.length * high;
  const [from, to] = intervalExtent(rows, response), scale = linear(from, to, left, right);
  const svg = s('svg', {}, bottomAxis(scale, differenceTicks(response, from, to, (right - left) / 90), bottom, top, `difference in ${response.name.replace(/_/g, ' ')} against the baseline`),
    s('line', {x1: scale(0), x2: scale(0), y1: top, y2: bottom, class: 'zero'}));
  const marks = [];
  rows.forEach((contrast, i) => {
    const y = top + i * high + (narrow ? high - 13 : high / 2), question = short(`${contrast.factor}: ${contrast.level} against ${contrast.baseline}`, letters(narrow ? width : left - 10));
    svg.append(intervalRow(scale, y, narrow ? 18 : high - 6, contrast, response));
    svg.append(narrow ? label(left, y - 31 - (told ? 15 : 0), question, 'start', 'strong') : label(0, y + 4, question, 'start', 'strong'));
    const word = contrast.refused ? contrast.refused : `${differenceText(response, contrast.interval.estimate)} ${intervalText(response, contrast.interval)}`;
    const verdict = `${verdictSigns[verdictClass(contrast)]} ${verdictWord(contrast)}${contrast.by_alone ? ', blocks alone' : ''}${contrast.one_layout_a_side ? ', this link only' : ''}`;
    const at = narrow ? left : right + 20, room = letters(narrow ? width - left : 280), above = narrow ? y - 16 - (told ? 15 : 0) : y - (settles(contrast) ? 11 : 3);
    svg.append(label(at, above, short(verdict, room), 'start', 'strong word-' + verdictClass(contrast)));
    if (!narrow) svg.append(label(at, above + 16, short(word, room), 'start', 'faint over'));
    if (settles(contrast)) svg.append(label(at, above + (narrow ? 15 : 32), short(settles(contrast), room), 'start', 'faint over'));
    marks.push({x: contrast.refused ? scale(0) : clampTo(scale, onScale(response, contrast.interval.estimate)), y, text: contrastText(contrast)});
  });
  return {svg, height: bottom + 42, marks, finding: `${count(rows.length, 'question')} about ${subjectOf(rows[0])}: ${tallyText(rows)}.`, columns: contrastColumns, rows: rows.map(contrastRow)};
}

function forestFigure() {
  return new Figure('forest', {title: 'What differs, and by how much', how: howToRead.forest, depends: ['response'], controls: [responseChoice()], draw: drawForest});
}

// ---- one panel a question, one row a workload -------------------------------------------------------------

function questions(response) {
  const seen = new Map();
  for (const contrast of report.contrasts)
    if (contrast.response === response.name) {
      const key = JSON.stringify([contrast.factor, contrast.level]);
      if (!seen.has(key)) seen.set(key, {factor: contrast.factor, level: contrast.level, baseline: contrast.baseline, of: new Map()});
      if (contrast.workload) seen.get(key).of.set(contrast.workload, contrast);
    }
  return [...seen.values()].filter(question => question.of.size > 0);
}

function drawPrograms(width) {
  const response = shownResponse(), asked = questions(response);
  if (asked.length === 0 || report.workloads.length < 2) return {...nothing('One workload: the forest above is all.'), hidden: true};
  const names = roomForNames(width, report.workloads, Math.min(170, width * 0.24)), least = 150, across = Math.max(1, Math.min(asked.length, Math.floor((width - names) / least)));
  const sortBy = asked[Math.min(asked.length - 1, Math.max(0, Number(state.sort) || 0))];
  const size = workload => { const contrast = sortBy.of.get(workload); return !contrast || contrast.refused ? Infinity : -onScale(response, contrast.interval.estimate); };
  const order = [...report.workloads].sort((a, b) => size(a) - size(b));
  const high = 19, bandTop = 34, bandHeight = bandTop + order.length * high + 38, lines = Math.ceil(asked.length / across);
  const panel = (width - names) / across, svg = s('svg', {}), marks = [];
  asked.forEach((question, q) => {
    const line = Math.floor(q / across), left = names + (q % across) * panel + 8, right = left + panel - 24, top = line * bandHeight + bandTop, bottom = top + order.length * high;
    const contrasts = [...question.of.values()], [from, to] = intervalExtent(contrasts, response), scale = linear(from, to, left, right);
    svg.append(label(left, top - 18, short(`${question.factor}: ${question.level} / ${question.baseline}`, Math.floor(panel / 7)), 'start', 'strong'),
      bottomAxis(scale, differenceTicks(response, from, to, panel / 75), bottom, top), s('line', {x1: scale(0), x2: scale(0), y1: top, y2: bottom, class: 'zero'}));
    order.forEach((workload, i) => {
      const y = top + i * high + high / 2, contrast = question.of.get(workload);
      if (q % across === 0) svg.append(label(names - 6, y + 4, short(workload, Math.floor(names / 6.6)), 'end'));
      if (!contrast) return;
      svg.append(intervalRow(scale, y, high, contrast, response));
      marks.push({x: contrast.refused ? scale(0) : clampTo(scale, onScale(response, contrast.interval.estimate)), y, text: contrastText(contrast), open: () => setState({workload})});
    });
  });
  const all = asked.flatMap(question => [...question.of.values()]), survive = all.filter(contrast => !contrast.refused && contrast.p_holm < report.alpha).length, raw = all.filter(contrast => !contrast.refused && contrast.p_value < report.alpha).length;
  return {svg, height: lines * bandHeight, marks, columns: contrastColumns, rows: all.map(contrastRow),
    finding: `Of ${count(all.length, 'comparison')} by ${workloadWord}: ${tallyText(all)}. ${raw} have p below ${plainPercent(report.alpha)}, ${survive} still do after Holm’s correction.`};
}

function programsFigure() {
  const asked = questions(primary);
  return new Figure('programs', {title: `${workloadWord[0].toUpperCase()}${workloadWord.slice(1)} by ${workloadWord}`, how: howToRead.programs, depends: ['response', 'sort'],
    controls: [responseChoice(), choice('sort', 'ordered by', asked.map((question, i) => [String(i), `${question.factor}: ${question.level} / ${question.baseline}`]))], draw: drawPrograms});
}

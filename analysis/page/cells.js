// Any two cells against each other: a first one, and a second one or each other. C++ has computed all pairs.

const cellPairs = {
  of: response => figures.responses.find(other => other.name === response.name)?.cell_pairs,
  // The family that the state asks for: over all workloads, or of one.
  family: (all, workload) => all.families.find(family => family.workload === workload),
  key: levels => String(cellKey(levels)),
};

// The cells of all workloads of the primary response, each once, in order of their levels; the baselines' own first.
function knownCells() {
  const found = new Map();
  for (const workload of figures.responses.find(other => other.name === primary.name).workloads)
    for (const cell of workload.cells) found.set(cellPairs.key(cell.levels), cell.levels);
  const isBase = levels => levels.every((level, f) => level === samples.factors[f].baseline);
  return [...found.values()].sort((a, b) => isBase(b) - isBase(a) || cellKey(a) - cellKey(b));
}

// Second against first, whichever way round it was computed. Null: this family lacks one of them.
function pairOf(family, response, first, second) {
  const place = key => family.cells.findIndex(levels => cellPairs.key(levels) === key), f = place(first), t = place(second);
  const i = family.a.findIndex((a, at) => (a === f && family.b[at] === t) || (a === t && family.b[at] === f));
  if (f < 0 || t < 0 || i < 0) return null;
  const names = {first: cellName(family.cells[f]), second: cellName(family.cells[t]), workload: family.workload};
  if (family.reason[i] !== null) return {...names, refused: family.reasons[family.reason[i]]};
  const turn = value => family.a[i] === f ? value : response.scale === 'log' ? 1 / value : value === 0 ? 0 : -value;
  const sides = (low, high) => { const ends = [turn(low), turn(high)].sort((x, y) => x - y); return {conf_low: ends[0], conf_high: ends[1]}; };
  const all = sides(family.all_low[i], family.all_high[i]);
  return {...names, estimate: turn(family.estimate[i]), one: sides(family.conf_low[i], family.conf_high[i]), all, n: family.n[i],
    told: onScale(response, all.conf_low) > 0 || onScale(response, all.conf_high) < 0};
}

function aboutPair(pair) { return pair.workload || (report.workloads.length > 1 ? `over these ${workloadWord}s` : report.workloads[0]); }

function pairText(response, pair, families) {
  const about = `${pair.second} against ${pair.first}, ${aboutPair(pair)}: `, level = plainPercent(1 - report.alpha);
  if (pair.refused) return about + 'no answer, ' + pair.refused;
  return about + `${differenceText(response, pair.estimate)}, ${level} interval ${intervalText(response, pair.one)} for this pair alone, ${intervalText(response, pair.all)} for all ${families.get(pair.workload)} pairs at once, n ${pair.n}`;
}

function pairRow(scale, y, height, pair, response, picked) {
  if (pair.refused) return label(scale(0) + 6, y + 4, '×', 'start', 'faint');
  const from = x => clampTo(scale, onScale(response, x)), margin = response.scale === 'log' ? Math.log1p(response.margin) : marginOf(response);
  return s('g', {class: 'pair' + (picked ? ' picked' : '')},
    s('rect', {x: clampTo(scale, -margin), width: Math.max(0, clampTo(scale, margin) - clampTo(scale, -margin)), y: y - height / 2, height, class: 'band'}), s('line', {x1: scale(0), x2: scale(0), y1: y - height / 2, y2: y + height / 2, class: 'zero'}),
    s('line', {x1: from(pair.all.conf_low), x2: from(pair.all.conf_high), y1: y, y2: y, class: 'thin'}), s('line', {x1: from(pair.one.conf_low), x2: from(pair.one.conf_high), y1: y, y2: y, class: 'thick'}),
    s('circle', {cx: from(pair.estimate), cy: y, r: 4.5, class: pair.told ? 'told' : 'untold'}));
}

function drawCells(width) {
  const response = shownResponse(), all = cellPairs.of(response), cells = knownCells();
  if (cells.length < 2) return {...nothing('One cell: there is nothing to compare it with.'), hidden: true};
  if (!all) return nothing('Pairs of cells are computed for declared responses.');
  if (all.too_many) return nothing(`${grouped(all.asked)} pairs of cells are more than a page computes. Every trial is in data.csv, below under Proof; ‘stabctl stats welch’ compares two groups of it.`);
  const keys = cells.map(cellPairs.key), first = keys.includes(state.first) ? state.first : keys[0], second = keys.includes(state.second) ? state.second : '';
  if (second === first) return nothing('That is one and the same cell: choose another.');
  const overall = report.workloads.length > 1 ? '' : report.workloads[0], shown = state.span === 'one' ? report.workloads[shownWorkload()] : overall;
  // One pair: over all workloads, then each. Else the first cell against each other one, where the state looks.
  const asked = second !== '' ? [...new Set([overall, ...report.workloads])].map(workload => [workload, second]) : keys.filter(key => key !== first).map(key => [shown, key]);
  const families = new Map(all.families.map(family => [family.workload, family.a.length]));
  const pairs = asked.map(([workload, key]) => { const family = cellPairs.family(all, workload); return family && pairOf(family, response, first, key); }).filter(Boolean);
  if (pairs.length === 0) return nothing(`No ${workloadWord} has both cells.`);
  const answered = pairs.filter(pair => !pair.refused), narrow = width < 560, high = narrow ? 40 : 24, top = 8, left = narrow ? 6 : Math.min(260, width * 0.32), right = width - 16, bottom = top + pairs.length * high;
  const [from, to] = padded(extent([0, ...answered.flatMap(pair => [onScale(response, pair.all.conf_low), onScale(response, pair.all.conf_high)])]), 0.03), reach = answered.length === 0 ? [-0.05, 0.05] : [from, to], scale = linear(reach[0], reach[1], left, right);
  const firstName = cellName(cells[keys.indexOf(first)]);
  const svg = s('svg', {}, bottomAxis(scale, differenceTicks(response, reach[0], reach[1], Math.max(4, (right - left) / 90)), bottom, top, short(narrow ? 'difference' : `difference in ${response.name.replace(/_/g, ' ')} against ${firstName}`, Math.floor((right - left) / 6.5))), s('line', {x1: scale(0), x2: scale(0), y1: top, y2: bottom, class: 'zero'}));
  const marks = pairs.map((pair, i) => {
    const y = top + i * high + (narrow ? high - 11 : high / 2), isSum = second !== '' && pair.workload === overall;
    svg.append(pairRow(scale, y, narrow ? 18 : high - 4, pair, response, isSum),
      narrow ? label(left, y - 14, short(second === '' ? pair.second : aboutPair(pair), Math.floor(width / 7)), 'start', isSum ? 'strong' : '') : label(left - 8, y + 4, short(second === '' ? pair.second : aboutPair(pair), Math.floor(left / 7)), 'end', isSum ? 'strong' : ''));
    const key = asked[i][1];
    return {x: pair.refused ? scale(0) : clampTo(scale, onScale(response, pair.estimate)), y, text: pairText(response, pair, families), open: second === '' ? () => setState({second: key}) : pair.workload ? () => setState({workload: pair.workload}) : undefined};
  });
  const told = answered.filter(pair => pair.told).length, at = second === '' ? aboutPair(pairs[0]) : '', lead = pairs[0];
  return {svg, height: bottom + 44, marks,
    finding: second !== '' ? pairText(response, lead, families) + '.' : answered.length === 0 ? `${firstName} against ${count(pairs.length, 'other cell')}, ${at}: no answer, ${short(pairs[0].refused, 200)}.` : `${firstName} against ${count(pairs.length, 'other cell')}, ${at}: ${told} of ${answered.length} ${told === 1 ? 'differs' : 'differ'} from it${families.get(pairs[0].workload) > 1 ? `, all of the ${families.get(pairs[0].workload)} pairs of cells considered at once` : ''}.`,
    columns: [{title: 'first'}, {title: 'second'}, {title: 'about'}, {title: 'estimate', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'low (all pairs)', number: true}, {title: 'high (all pairs)', number: true}, {title: 'n', number: true}, {title: 'refused'}],
    rows: pairs.map(pair => pair.refused ? [pair.first, pair.second, aboutPair(pair), null, null, null, null, null, null, pair.refused] : [pair.first, pair.second, aboutPair(pair), pair.estimate, pair.one.conf_low, pair.one.conf_high, pair.all.conf_low, pair.all.conf_high, pair.n, ''])};
}

// A link from elsewhere names a cell as its plan does.
function keyOfName(cells, name) {
  const named = cells.find(levels => samples.factors.map((factor, f) => `${factor.name}=${factor.levels[levels[f]]}`).join(' ') === name);
  return named ? cellPairs.key(named) : name;
}

function cellsFigure() {
  const cells = knownCells();
  for (const side of ['first', 'second']) state[side] = keyOfName(cells, state[side]);
  const options = cells.map(levels => [cellPairs.key(levels), cellName(levels)]);
  return new Figure('cells', {title: 'Any two cells', how: howToRead.cells, depends: ['response', 'workload', 'span', 'first', 'second'], draw: drawCells,
    controls: [choice('first', 'compare', options), options.length > 1 && choice('second', 'with', [['', 'each other cell'], ...options]), report.workloads.length > 1 && choice('span', 'over', [['all', `all ${workloadWord}s`], ['one', `one ${workloadWord}`]]), workloadChoice(), responseChoice()]});
}

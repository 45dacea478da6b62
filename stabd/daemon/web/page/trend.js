// The trend of a series of experiments: each level of its treatment against an anchor. The daemon computes it, from experiments
// that are over, when somebody asks.

let trend = null;  // what is shown
let trendLine = 0;

const howToReadTrend = 'Each point is one level of the treatment, such as a revision, in the order in which they came, as its difference from the anchor; the line is its interval. No two nights are compared: each difference is a product of ratios that were measured within the blocks of one experiment, so intervals grow where the chain to the anchor is long. The shaded band is the smallest difference that matters. A mark’s shape is the verdict on the step from the level before. Where a dashed line stands, the levels from there on lie elsewhere than those before, and the heavy lines are their means: this is asked of all levels together, so it also finds shifts that no single step shows.';

const trendResponse = () => ({name: trend.response, unit: trend.unit, scale: trend.scale, higher_is_better: trend.higher_is_better});

function stepVerdict(point) {
  if (!point.step) return 'withheld';
  if (point.verdict !== 'changed') return point.verdict;
  const up = onScale(trendResponse(), point.step.estimate) > 0;
  return up !== Boolean(trend.higher_is_better) ? 'worse' : 'better';
}

function stepMark(x, y, verdict) {
  const r = 5, shape = {worse: `M${x - r} ${y + r * 0.8}L${x} ${y - r}L${x + r} ${y + r * 0.8}Z`, better: `M${x - r} ${y - r * 0.8}L${x} ${y + r}L${x + r} ${y - r * 0.8}Z`}[verdict];
  const element = shape ? s('path', {d: shape}) : verdict === 'equivalent' ? s('rect', {x: x - 4, y: y - 4, width: 8, height: 8}) : s('circle', {cx: x, cy: y, r: 4.2});
  element.setAttribute('class', 'verdict ' + verdict);
  return element;
}

function pointText(point, change) {
  const response = trendResponse(), parts = [point.level, 'since ' + point.since];
  if (point.level === trend.anchor) parts.push('the anchor');
  if (point.against_anchor) parts.push(`${differenceText(response, point.against_anchor.estimate)} ${intervalText(response, point.against_anchor)} against ${trend.anchor}`);
  if (point.refused) parts.push(point.refused);
  if (point.step) parts.push(`step from ${point.before}: ${point.verdict}, ${differenceText(response, point.step.estimate)} ${intervalText(response, point.step)}, p after Holm ${pText(point.p_holm)}`);
  if (change) parts.push(`a lasting change, ${change.direction}: ${differenceText(response, change.shift)} from the ${count(change.levels_before, 'level')} before, p ${pText(change.p_value)}`);
  return parts.join('; ');
}

function changesSentence(line) {
  const response = trendResponse(), changes = line.changes;
  if (!changes.asked) return 'Lasting changes were not asked for: ' + changes.refused + '.';
  if (changes.found.length === 0) return `No lasting change at ${plainPercent(changes.alpha)}${changes.p_of_next === null ? '' : ` (p ${pText(changes.p_of_next)})`}.`;
  return changes.found.map(change => `From ${short(change.level)} on ${differenceText(response, change.shift)}, ${change.direction} (p ${pText(change.p_value)}).`).join(' ');
}

// "2026-11-20 on vm (boot 7c9e6679)", as `stabctl trend` says it.
const sessionsText = sessions => sessions.map(one => (one.day || 'a day that was not recorded') + (one.machine && ' on ' + one.machine) + (one.boot && ` (boot ${one.boot.slice(0, 8)})`)).join(', ') || 'a session that was not recorded';

// Where each lasting change lies: its sessions, its commits, and what looks for the one that did it.
function changePlaces() {
  const items = [];
  for (const line of trend.lines) {
    if (!line.changes.asked) continue;
    for (const change of line.changes.found)
      items.push(h('li', {}, h('p', {}, `${line.workload ? line.workload + ': f' : 'F'}rom ${short(change.level)} on ${change.direction}. First measured: ${short(change.before)} in ${sessionsText(change.sessions_before)}; ${short(change.level)} in ${sessionsText(change.sessions)}.`),
        change.command ? h('p', {}, `Commits ${short(change.range, 60)}; which of them: `, h('code', {}, change.command)) : h('p', {class: 'note'}, `Its commits are not known: ${change.unknown}.`)));
  }
  return items.length > 0 && h('div', {id: 'trend-places'}, h('h3', {}, items.length > 1 ? 'Where the lasting changes lie' : 'Where the lasting change lies'), h('ul', {}, items));
}

// What lies between sessions, and whether the intervals allow for it, as `stabctl trend` says it.
function betweenSessions(line) {
  const {sd, in_interval} = line.sessions;
  if (!in_interval) return 'What changes between sessions (machine, boot, day) is not in the intervals.';
  const size = differenceText(trendResponse(), trend.scale === 'log' ? Math.exp(sd) : sd).replace(/^\+/, '');
  return `Between sessions (machine, boot, day) equal levels differ by ${size} (sd). Intervals and lasting changes allow for it.`;
}

const trendColumns = [{title: 'level'}, {title: 'since'}, {title: 'experiments', number: true}, {title: 'against the anchor', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'step', number: true}, {title: 'step low', number: true},
  {title: 'step high', number: true}, {title: 'p (Holm)', number: true, text: pText}, {title: 'verdict of the step'}, {title: 'lasting change'}, {title: 'refused'}];

// What stands at each change, above the axis's title: in rows, so that none covers another.
function shiftLabels(changes, across, middle) {
  const rows = [];
  return changes.map(change => {
    const x = across(change.point - 0.5), toLeft = x > middle, text = `${differenceText(trendResponse(), change.shift)} from here on`;
    const wide = 8 * text.length + 10, begin = toLeft ? x - wide : x, end = begin + wide;
    let row = rows.findIndex(taken => taken.every(([from, to]) => end < from || begin > to));
    if (row < 0) row = rows.push([]) - 1;
    rows[row].push([begin, end]);
    return {x, row, toLeft, text};
  });
}

function drawTrend(width) {
  const line = trend.lines[trendLine], response = trendResponse(), points = line.points;
  const changeAt = new Map(line.changes.asked ? line.changes.found.map(change => [change.point, change]) : []);
  const ends = [0, line.margin, -line.margin];
  for (const point of points) if (point.against_anchor) ends.push(onScale(response, point.against_anchor.conf_low), onScale(response, point.against_anchor.conf_high));
  const left = 74, right = width - 12, across = linear(-0.5, points.length - 0.5, left, right), room = (right - left) / points.length;
  const shifts = shiftLabels([...changeAt.values()], across, (left + right) / 2), rowsOfShifts = Math.max(0, ...shifts.map(shift => shift.row + 1));
  const [from, to] = padded(extent(ends), 0.06), top = 26 + 18 * rowsOfShifts, bottom = top + Math.min(340, Math.max(200, width * 0.4)), up = linear(from, to, bottom, top);
  // Names lean where they would touch each other, and some are left out where even that is too much.
  const longest = Math.max(...points.map(point => Array.from(short(point.level, 24)).length)), leans = longest * 7 > room, every = Math.max(1, Math.ceil((leans ? 15 : 1) / room));
  const high = leans ? Math.min(24, longest) * 4.6 + 16 : 24, marks = [];
  const svg = s('svg', {}, leftAxis(up, differenceTicks(response, from, to, 6), left, right, `${response.name.replace(/_/g, ' ')} against ${short(trend.anchor)}`),
    line.margin > 0 && s('rect', {x: left, width: right - left, y: up(Math.min(to, line.margin)), height: Math.max(0, up(Math.max(from, -line.margin)) - up(Math.min(to, line.margin))), class: 'band'}),
    s('line', {x1: left, x2: right, y1: up(0), y2: up(0), class: 'zero'}));
  if (changeAt.size > 0)
    for (const segment of line.changes.segments) svg.append(s('line', {x1: across(segment.first - 0.4), x2: across(segment.last + 0.4), y1: up(onScale(response, segment.mean)), y2: up(onScale(response, segment.mean)), class: 'level-mean'}));
  for (const {x, row, toLeft, text} of shifts)
    svg.append(s('line', {x1: x, x2: x, y1: top, y2: bottom, class: 'change'}), label(x + (toLeft ? -5 : 5), top - 26 - 18 * row, text, toLeft ? 'end' : 'start', 'strong'));
  points.forEach((point, i) => {
    const x = across(i), anchor = point.level === trend.anchor;
    if (i % every === 0) {
      const name = label(leans ? x + 4 : x, bottom + 15, short(point.level, 24), leans ? 'end' : 'middle');
      if (leans) name.setAttribute('transform', `rotate(-38 ${x + 4} ${bottom + 15})`);
      svg.append(name);
    }
    if (!point.against_anchor && !anchor) {
      svg.append(label(x, up(0) - 6, '×', 'middle', 'faint'));
      marks.push({x, y: up(0), text: pointText(point, changeAt.get(i))});
      return;
    }
    const at = anchor ? 0 : onScale(response, point.against_anchor.estimate);
    if (!anchor) svg.append(s('line', {x1: x, x2: x, y1: up(onScale(response, point.against_anchor.conf_low)), y2: up(onScale(response, point.against_anchor.conf_high)), class: 'reach'}));
    svg.append(stepMark(x, up(at), stepVerdict(point)));
    marks.push({x, y: up(at), text: pointText(point, changeAt.get(i))});
  });
  const last = points.at(-1), since = last.against_anchor ? `${short(last.level)} is at ${differenceText(response, last.against_anchor.estimate)} ${intervalText(response, last.against_anchor)} against ${short(trend.anchor)}.` : '';
  return {svg, height: bottom + high + 8, marks, finding: `${line.workload || 'All workloads, as given'}: ${count(points.length, 'level')}. ${changesSentence(line)} ${since}`, columns: trendColumns,
    rows: points.map((point, i) => [point.level, point.since, point.experiments, point.against_anchor?.estimate ?? null, point.against_anchor?.conf_low ?? null, point.against_anchor?.conf_high ?? null, point.step?.estimate ?? null, point.step?.conf_low ?? null,
      point.step?.conf_high ?? null, point.step ? point.p_holm : null, point.step ? point.verdict : '', changeAt.has(i) ? differenceText(response, changeAt.get(i).shift) : '', point.refused])};
}

async function askTrend(params) {
  const answer = await tell('trend', {...params, json: 1});
  if (answer.exit_code !== 0) throw new Error(answer.err.replace(/^\w+: /, '').trim());
  return JSON.parse(answer.out);
}

function closeTrend() {
  state.series = '';
  trend = null;
  writeFragment();
  forgetFigure('trend-plot');
  document.getElementById('trend').replaceChildren();
}

function forgetFigure(id) {
  const at = allFigures.findIndex(figure => figure.id === id);
  if (at < 0) return;
  nearby.unobserve(allFigures[at].element);
  allFigures.splice(at, 1);
}

async function openTrend(name, params = {}) {
  state.series = name;
  writeFragment();
  const place = document.getElementById('trend');
  place.replaceChildren(h('div', {class: 'panel'}, h('h2', {tabindex: -1}, `Series ${short(name)}`), h('p', {class: 'note', role: 'status'}, 'The daemon computes it…')));
  try {
    const answer = await askTrend({series: name, ...params});
    if (state.series !== name) return;
    trend = answer;
    trendLine = 0;
    paintTrend(place, params);
  } catch (error) {
    if (state.series !== name) return;
    trend = null;
    const factor = h('input', {id: 'trend-factor', size: 16, value: params.factor || ''});
    place.replaceChildren(h('div', {class: 'panel'}, h('h2', {tabindex: -1}, `Series ${short(name)}`), h('p', {class: 'warning'}, error.message),
      error.message.includes('--factor') && h('form', {class: 'controls', submit: event => { event.preventDefault(); openTrend(name, {factor: factor.value}); }}, h('label', {class: 'choice'}, 'treatment to follow ', factor), h('button', {type: 'submit'}, 'follow')),
      h('p', {}, h('button', {type: 'button', click: closeTrend}, 'close'))));
  }
  place.querySelector('h2').focus();
}

function paintTrend(place, params) {
  forgetFigure('trend-plot');
  const pick = (id, title, options, chosen, act) => options.length > 1 && h('label', {class: 'choice'}, title + ' ', h('select', {id, change: event => act(event.target.value)}, options.map(([value, text]) => h('option', {value, selected: value === chosen}, short(text, 60)))));
  const workloads = pick('trend-line', 'of', trend.lines.map((line, i) => [String(i), line.workload || 'all workloads, as given']), '0', value => { trendLine = Number(value); changed('trend'); });
  const anchors = pick('trend-anchor', 'against', trend.lines[0].points.map(point => [point.level, point.level]), trend.anchor, value => openTrend(state.series, {...params, anchor: value}));
  const figure = new Figure('trend-plot', {title: `${trend.factor} over the series ${short(trend.series)}`, how: howToReadTrend, depends: ['trend'], controls: [workloads, anchors], draw: drawTrend});
  const line = trend.lines[0], disagree = line.q_df > 0 && line.q_p < 0.01;
  place.replaceChildren(h('div', {class: 'panel'}, h('h2', {tabindex: -1}, `Series ${short(trend.series)}`), figure.element, changePlaces(),
    disagree && h('p', {class: 'warning'}, `The experiments contradict each other more than their errors explain (p ${pText(line.q_p)}): the machine, or what was built, was not the same every time${line.sessions.in_interval ? '; intervals allow for it' : ''}.`),
    h('p', {class: 'note'}, betweenSessions(line)),
    trend.left_out.length > 0 && h('details', {class: 'twin', id: 'trend-left-out'}, h('summary', {}, `${trend.left_out.length} left out`), h('ul', {}, trend.left_out.map(one => h('li', {}, short(one, 300))))),
    h('p', {}, h('button', {type: 'button', click: () => openTrend(state.series, params)}, 'look again'), ' ', h('button', {type: 'button', click: closeTrend}, 'close'))));
  nearby.observe(figure.element);
  figure.near = true;
  figure.redraw();
}

async function showSeries() {
  const place = document.getElementById('series-now');
  try {
    const answer = await ask('series'), rows = answer.series;
    if (rows.length === 0) return place.replaceChildren(h('p', {class: 'note'}, 'No plan that you may see declares one: series = "NAME" in [experiment].'));
    place.replaceChildren(table('series of experiments', [{title: 'series'}, {title: 'experiments', number: true}, {title: 'newest', number: true}, {title: 'user', number: true}], rows.map(one => [one.name, one.experiments, one.newest, one.uid]), {open: i => openTrend(rows[i].name)}),
      answer.older_left_out ? h('p', {class: 'note'}, 'Older experiments were not looked at.') : '');
  } catch (error) {
    place.replaceChildren(h('p', {class: 'warning'}, error.message));
  }
}

function seriesSection() {
  const details = h('details', {class: 'twin', id: 'series-details', toggle: () => { if (details.open) showSeries(); }},
    h('summary', {}, 'series of experiments, and where each has gone'), h('div', {id: 'series-now'}), h('p', {}, h('button', {type: 'button', click: showSeries}, 'look again')));
  return details;
}

// The run in order, and the machine's conditions beside it. Beyond 10,000 points in view they become a raster of densities;
// zooming in makes them points again.

const mostPoints = 10000;

// Which trials lie in view, with their places; positions are the order of execution.
function drawSequence(trials, width, view) {
  const response = shownResponse(), one = state.span === 'one', w = shownWorkload(), deviation = trials.deviations(response), order = trials.column('order'), of = trials.column('workload');
  const shown = trials.shown(response, one ? w : -1), all = shown.rows, excluded = trials.column('excluded');
  if (all.length === 0) return nothing('No trial to show.');
  const whole = [Infinity, -Infinity];
  for (const row of all) { whole[0] = Math.min(whole[0], order[row]); whole[1] = Math.max(whole[1], order[row]); }
  if (!view.range) view.range = [whole[0] - 0.5, whole[1] + 0.5];
  const [first, last] = view.range, left = 74, right = width - 14, top = 26, height = 240, bottom = top + height;
  const tracks = samples.columns.filter(column => column.name.startsWith('weather/')).map(column => column.name);
  const trackHeight = 44, total = bottom + 30 + tracks.length * trackHeight + 34;
  const range = state.whole === 'all' ? shown.whole : shown.most;
  const xs = linear(first, last, left, right), ys = linear(range[0], range[1], bottom, top), {canvas, context} = pointCanvas(width, total);
  const text = x => response.scale === 'log' ? signed(plain(Number((100 * x).toPrecision(3)))) + ' %' : differenceText(response, x);
  const axis = bottomAxis(xs, ticks(Math.max(whole[0], first), Math.min(whole[1], last), (right - left) / 90).filter(Number.isInteger).map(at => ({at, text: grouped(at)})), total - 34, top, 'position in the run');
  const svg = s('svg', {}, axis, leftAxis(ys, ticks(range[0], range[1], 6).map(at => ({at, text: Math.abs(at) < 1e-12 ? '0' : text(at)})), left, right, 'difference from the mean of its cell'), s('line', {x1: left, x2: right, y1: ys(0), y2: ys(0), class: 'zero'}));
  const inView = all.filter(row => order[row] >= first && order[row] <= last), px = new Float32Array(inView.length), py = new Float32Array(inView.length);
  let beyond = 0, crossed = 0;
  for (let i = 0; i < inView.length; ++i) {
    const row = inView[i], value = deviation[row];
    px[i] = xs(order[row]);
    py[i] = Math.min(bottom, Math.max(top, ys(value)));
    if (value < range[0] || value > range[1]) ++beyond;
    if (excluded[row] > 0) ++crossed;
  }
  if (inView.length > mostPoints) rasterOf(context, px, py, left, top, right, bottom);
  else inView.forEach((row, i) => {
    const outside = deviation[row] < range[0] || deviation[row] > range[1];
    if (excluded[row] > 0) { context.strokeStyle = colour('vermillion'); context.globalAlpha = 1; context.beginPath(); context.moveTo(px[i] - 3, py[i] - 3); context.lineTo(px[i] + 3, py[i] + 3); context.moveTo(px[i] + 3, py[i] - 3); context.lineTo(px[i] - 3, py[i] + 3); context.stroke(); return; }
    context.fillStyle = colour(outside ? 'vermillion' : 'blue');
    context.globalAlpha = inView.length > 4000 ? 0.35 : 0.7;
    const size = inView.length > 4000 ? 2 : 3;
    context.fillRect(px[i] - size / 2, py[i] - size / 2, size, size);
  });
  context.globalAlpha = 1;
  const run = report.run_changes.find(one2 => one2.response === response.name && !one2.machine), changes = run ? run.changes.filter(change => change.position >= first && change.position <= last) : [];
  // Levels between changes, of all workloads together, and where they change.
  if (run?.changes.length > 0) for (const segment of run.segments) {
    if (segment.level === null || segment.last < first || segment.first > last) continue;
    const y = Math.min(bottom, Math.max(top, ys(segment.level - 1)));
    svg.append(s('line', {x1: xs(Math.max(first, segment.first - 0.5)), x2: xs(Math.min(last, segment.last + 0.5)), y1: y, y2: y, class: 'run-level'}));
  }
  changes.forEach((change, i) => svg.append(s('line', {x1: xs(change.position - 0.5), x2: xs(change.position - 0.5), y1: top, y2: bottom, class: 'run-change'}), label(xs(change.position - 0.5) + 4, top + 11 + 13 * (i % 3), grouped(change.position), 'start', 'strong')));
  // Where the machine began to stand otherwise: in place of a trial's dot a diamond above the axis, with its words.
  const stood = environmentChanges().filter(change => change.position >= first && change.position <= last);
  const marksAt = {x: new Float32Array(inView.length + stood.length), y: new Float32Array(inView.length + stood.length)};
  marksAt.x.set(px);
  marksAt.y.set(py);
  stood.forEach((change, i) => {
    const x = marksAt.x[inView.length + i] = xs(change.position - 0.5), y = marksAt.y[inView.length + i] = top - 9;
    if (stood.length <= mostLines) svg.append(s('line', {x1: x, x2: x, y1: y, y2: bottom, class: 'machine-change'}));
    svg.append(s('path', {d: `M${x} ${y - 5}l5 5l-5 5l-5 -5z`, class: 'machine-diamond'}));
    if (stood.length <= mostNumbered) svg.append(label(x + 7, y + 4, String(change.number), 'start', 'strong'));
  });
  tracks.forEach((name, t) => {
    const y = bottom + 36 + t * trackHeight, values = trials.column(name), key = name.slice(8), most = [0, 0];
    for (const row of inView) if (values[row] > most[1]) most[1] = values[row];
    const scale = linear(0, most[1] > 0 ? most[1] : 1, y + trackHeight - 16, y);
    // Pale: the most of any trial on this pixel; dark: their mean.
    const highest = new Float64Array(width + 1), sums = new Float64Array(width + 1), counts = new Uint32Array(width + 1), ground = y + trackHeight - 16;
    for (let i = 0; i < inView.length; ++i) {
      const x = Math.round(px[i]), value = values[inView[i]];
      if (value > highest[x]) highest[x] = value;
      sums[x] += value;
      ++counts[x];
    }
    const paint = (name2, of2) => { context.fillStyle = colour(name2); for (let x = 0; x <= width; ++x) if (counts[x] > 0) context.fillRect(x - 0.5, scale(of2(x)), 1, ground - scale(of2(x))); };
    if (inView.length > width) paint('line', x => highest[x]);
    paint('grey', x => inView.length > width ? sums[x] / counts[x] : highest[x]);
    const entry = short(key.replace(/_/g, ' '), 40), words = ledgerWords[key];
    svg.append(label(left, y - 3, `${words && isNarrow(width) ? words : words ? `${entry}: ${words}` : entry}, at most ${ledgerText(key, most[1])}`, 'start', 'faint'));
  });
  const brush = s('rect', {y: top, height, class: 'brush', visibility: 'hidden'});
  svg.append(brush);
  const drift = report.diagnostics.filter(one2 => one2.response === response.name && !one2.refused && ['drift', 'lag-1 autocorrelation'].includes(one2.name) && one2.p_value !== null && one2.p_value < report.alpha);
  const consequence = report.contrasts.some(one => one.blocked) ? 'blocks take the slow part of it away' : 'without blocks it widens the intervals';
  const driftSentence = drift.length === 0 ? 'No drift or dependence was found in the order of the run.'
    : `Drift or dependence in ${count(new Set(drift.map(one2 => one2.workload)).size, workloadWord)}: ${consequence}.`;
  const finding = `${count(inView.length, 'trial')} in view` + (inView.length > mostPoints ? ' as a raster of densities; zoom in for points' : '') + `. ${driftSentence}` + changesSentence(response) + notSearchedSentence() + environmentSentence() +
    (beyond > 0 ? ` ${beyond} beyond the axis, at its edge.` : '') + (crossed > 0 ? ` ${crossed} left out by declared rules.` : '') + (tracks.length === 0 ? ' No disturbance was recorded.' : evidence.calm.length > 0 ? ` Never above zero, or not to be had here: ${evidence.calm.map(name => name.replace(/_/g, ' ')).join(', ')}.` : '');
  const zoom = (from, to) => { view.range = to - from < 2 ? null : [from, to]; view.figure.redraw(); };
  return {svg, canvas, height: total, finding, marks: {length: inView.length + stood.length, x: marksAt.x, y: marksAt.y, text: i => i < inView.length ? trialLine(trials, inView[i]) : environmentChangeText(stood[i - inView.length]), open: i => { if (i < inView.length) openTrial(trials, inView[i]); }},
    columns: [{title: 'position', number: true}, {title: workloadWord}, {title: 'cell'}, {title: 'block', number: true}, {title: 'difference', number: true}, ...tracks.map(name => ({title: name.slice(8), number: true}))],
    rows: {length: inView.length, row: i => [order[inView[i]], report.workloads[of[inView[i]]], cellName(cellOf(trials, inView[i])), trials.column('block')[inView[i]], deviation[inView[i]], ...tracks.map(name => trials.column(name)[inView[i]])]},
    key: event => {
      const middle = (first + last) / 2, half = (last - first) / 2;
      if (event.key === '+' || event.key === '=') zoom(middle - half / 2, middle + half / 2);
      else if (event.key === '-') zoom(Math.max(whole[0] - 0.5, middle - 2 * half), Math.min(whole[1] + 0.5, middle + 2 * half));
      else if (event.key === '0') zoom(0, 0);
      else return false;
      return true;
    },
    attach: holder => {
      if (view.attached) return;
      view.attached = true;
      let from = null;
      const at = event => event.clientX - holder.getBoundingClientRect().left;
      holder.addEventListener('pointerdown', event => { from = at(event); });
      holder.addEventListener('pointermove', event => {
        if (from === null || Math.abs(at(event) - from) < 6) return;
        const rect = holder.querySelector('.brush');
        rect.setAttribute('x', Math.min(from, at(event)));
        rect.setAttribute('width', Math.abs(at(event) - from));
        rect.setAttribute('visibility', 'visible');
      });
      holder.addEventListener('pointerup', event => {
        const start = from;
        from = null;
        if (start === null || Math.abs(at(event) - start) < 6) return;
        event.stopPropagation();
        view.suppress = true;
        const scale = view.figure.plot.invert;
        view.range = [scale(Math.min(start, at(event))), scale(Math.max(start, at(event)))];
        if (view.range[1] - view.range[0] < 2) view.range = null;
        view.figure.redraw();
      });
      holder.addEventListener('click', event => { if (view.suppress) { view.suppress = false; event.stopImmediatePropagation(); } }, true);
      holder.addEventListener('dblclick', () => { view.range = null; view.figure.redraw(); });
    },
    invert: xs.invert};
}

// Beyond so many the diamonds have no numbers, and no lines, behind which the trials would be lost.
const mostNumbered = 12, mostLines = 40;

// Numbered in the order of the run.
const environmentChanges = () => (report.environment?.changes || []).map((change, i) => ({...change, number: i + 1}));

function environmentChangeText(change) {
  return `change ${change.number} of the machine${change.machine ? ` (${short(change.machine, 40)})` : ''} before position ${grouped(change.position)}, block ${change.block}: ${short(change.text, 300)}`;
}

function environmentSentence() {
  const all = environmentChanges(), more = all.length + (report.environment?.changes_left_out || 0);
  if (all.length === 0) return '';
  return ` The machine stood otherwise from ${more === 1 ? 'one place' : grouped(more) + ' places'} of the run on: ${all.slice(0, 3).map(change => `at ${grouped(change.position)} ${short(change.text, 160)}`).join('; ')}${more > 3 ? '; and more, in the table below' : ''}.`;
}

function environmentChangesTable() {
  const all = environmentChanges(), more = report.environment?.changes_left_out || 0;
  if (all.length === 0) return null;
  return [h('h3', {}, 'Changes of the machine within the run'), table('Changes of the machine within the run', [{title: 'number', number: true}, {title: 'position', number: true}, {title: 'block', number: true}, {title: 'machine'}, {title: 'what changed'}], all.map(change => [change.number, change.position, change.block, change.machine || '', change.text])),
    more > 0 && h('p', {class: 'note'}, `${grouped(more)} more are not shown: the machine changed all the time.`)];
}

// Where the run changes, in words; of several machines each.
function changesSentence(response) {
  const runs = report.run_changes.filter(run => run.response === response.name), all = runs.flatMap(run => run.changes.map(change => (run.machine ? short(run.machine, 40) + ': ' : '') + change.text));
  if (runs.length === 0) return '';
  return all.length === 0 ? ' No change within the run was found.' : ` ${all.length === 1 ? 'One change' : `${all.length} changes`} within the run: ${all.slice(0, 4).join('; ')}${all.length > 4 ? '; and more, in the table below' : ''}.`;
}

// Where there were too many runs to search all of them.
const notSearchedSentence = () => !report.runs_not_searched ? '' : ` ${report.runs_not_searched} more run${report.runs_not_searched === 1 ? '' : 's'} of machines or responses ${report.runs_not_searched === 1 ? 'was' : 'were'} not searched, since all together would take too long.`;

function runChangesTable() {
  const rows = report.run_changes.flatMap(run => run.changes.map(change => [run.response.replace(/_/g, ' '), run.machine || '', change.position, change.block, change.statistic, change.p_value, change.text]));
  if (rows.length === 0) return null;
  return [h('h3', {}, 'Changes within the run'), h('p', {class: 'note'}, `All ${workloadWord}s together, each trial as its difference from the mean of its cell. E-divisive looks for stretches that differ from what came before in level, spread or shape; p is the share of random orders of the trials in which as strong a change is found.`),
    table('Changes within the run', [{title: 'response'}, {title: 'machine'}, {title: 'position', number: true}, {title: 'block', number: true}, {title: 'Q', number: true}, {title: 'p', number: true, text: pText}, {title: 'what'}], rows)];
}

// How many points fall on each pixel, as ink: the logarithm of the count, so that single points stay visible.
function rasterOf(context, px, py, left, top, right, bottom) {
  const width = Math.max(1, Math.round((right - left) * pointScale)), height = Math.max(1, Math.round((bottom - top) * pointScale)), counts = new Uint32Array(width * height);
  let most = 1;
  for (let i = 0; i < px.length; ++i) {
    const x = Math.min(width - 1, Math.max(0, Math.floor((px[i] - left) * pointScale))), y = Math.min(height - 1, Math.max(0, Math.floor((py[i] - top) * pointScale)));
    const n = ++counts[y * width + x];
    if (n > most) most = n;
  }
  const image = context.createImageData(width, height), ink = parseColour(colour('blue')), scale = 200 / Math.log1p(most);
  for (let i = 0; i < counts.length; ++i) {
    if (counts[i] === 0) continue;
    image.data[4 * i] = ink[0];
    image.data[4 * i + 1] = ink[1];
    image.data[4 * i + 2] = ink[2];
    image.data[4 * i + 3] = 55 + scale * Math.log1p(counts[i]);
  }
  context.putImageData(image, Math.round(left * pointScale), Math.round(top * pointScale));
}

function parseColour(hex) {
  return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
}

function sequenceFigure(trials) {
  const view = {range: null};
  watch(keys => { if (keys.includes('span') || keys.includes('workload')) view.range = null; });
  view.figure = new Figure('sequence', {title: 'The run, and what the machine did meanwhile', how: howToRead.sequence, depends: ['response', 'workload', 'whole', 'span'],
    controls: [choice('span', 'trials of', [['all', `all ${workloadWord}s`], ['one', `one ${workloadWord}`]]), workloadChoice(), responseChoice(), choice('whole', 'axis', [['', 'most values'], ['all', 'all values']])], draw: width => drawSequence(trials, width, view)});
  view.figure.element.querySelector('.controls').append(h('button', {type: 'button', class: 'small', click: () => { view.range = null; view.figure.redraw(); }}, 'whole run'));
  return view.figure;
}

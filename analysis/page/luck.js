// Link-order bias: what one link a side would have said.

function drawLuck(width) {
  const response = shownResponse(), w = shownWorkload(), all = figuresOf(response, w).luck || [], luck = all[Math.min(all.length - 1, Number(state.draw) || 0)];
  if (!luck) return nothing(figuresOf(response, w).name ? 'No cell of this workload ran its code as linked with several links, so there is no link-order bias to show. link = { seeds = 10 } in the plan records some.' : 'Nothing was recorded.');
  const same = String(luck.level) === String(luck.baseline), place = value => onScale(response, value), n = luck.differences.length;
  const left = 24, right = width - 24, top = 20, bottom = 210, margin = response.scale === 'log' ? Math.log1p(response.margin) : 0;
  const [from, to] = padded(extent([0, margin, -margin, ...luck.differences.map(place)])), xs = linear(from, to, left, right), ys = linear(0, 1, bottom, top);
  const svg = s('svg', {}, s('rect', {x: xs(-margin), width: xs(margin) - xs(-margin), y: top, height: bottom - top, class: 'band'}),
    bottomAxis(xs, differenceTicks(response, from, to, (right - left) / 90), bottom, top, 'difference that one link a side would have shown'), s('line', {x1: xs(0), x2: xs(0), y1: top, y2: bottom, class: 'zero'}));
  const points = [];
  luck.differences.forEach((value, i) => { const x = xs(place(value)).toFixed(1); points.push(`${x} ${ys(i / n).toFixed(1)}`, `${x} ${ys((i + 1) / n).toFixed(1)}`); });
  svg.append(s('path', {d: 'M' + points.join('L'), class: 'curve', stroke: 'var(--blue)'}));
  if (!same) svg.append(s('line', {x1: xs(place(luck.truth)), x2: xs(place(luck.truth)), y1: top, y2: bottom, class: 'truth'}), label(xs(place(luck.truth)) + 5, top + 10, `over all links ${differenceText(response, luck.truth)}`, 'start', 'strong'));
  const marks = luck.differences.map((value, i) => ({x: xs(place(value)), y: ys((i + 0.5) / n), text: `${percent((i + 1) / n)} of the pairs show ${differenceText(response, value)} or less`}));
  const about = same ? `Two links of the same build (${cellName(luck.level)})` : `${cellName(luck.level)} against ${cellName(luck.baseline)}, one link a side`;
  const low = luck.differences[Math.floor(0.05 * (n - 1))], high = luck.differences[Math.ceil(0.95 * (n - 1))];
  return {svg, height: bottom + 44, marks, columns: [{title: 'share of pairs', number: true}, {title: 'difference at most', number: true}], rows: luck.differences.map((value, i) => [(i + 1) / n, value]),
    finding: `${report.workloads[w]}. ${about}: nine of ten pairs would have shown between ${differenceText(response, low)} and ${differenceText(response, high)}` + (same ? luck.fewest_runs > 1 ? ', though nothing differs but the order of linking' : ', from the order of linking and the noise of one run together' : `; ${percent(luck.wrong)} point the wrong way`) +
      (luck.beyond_margin === undefined ? '' : `. ${percent(luck.beyond_margin)} are off by more than the margin`) + `. From ${grouped(luck.links)} links${same ? '' : ' a side'}, ${grouped(luck.pairs)} pairs, each link run ${luck.fewest_runs === 1 ? 'once, so that the noise of one run is in it' : `at least ${luck.fewest_runs} times`}.`};
}

function luckFigure() {
  const all = figuresOf(primary, 0).luck || [];
  return new Figure('luck', {title: 'Link-order bias', how: howToRead.luck, depends: ['response', 'workload', 'draw'], draw: drawLuck,
    controls: [workloadChoice(), choice('draw', 'draw', all.map((luck, i) => [String(i), String(luck.level) === String(luck.baseline) ? `${cellName(luck.level)}, linked twice` : `${cellName(luck.level)} / ${cellName(luck.baseline)}`]))]});
}

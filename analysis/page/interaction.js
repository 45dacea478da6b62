// Interaction of two factors: means of one over the levels of the other.

function drawInteraction(width) {
  const response = shownResponse(), w = shownWorkload(), all = figuresOf(response, w).interactions, pair = all[Math.min(all.length - 1, Number(state.crossed) || 0)];
  if (!pair) return {...nothing('Fewer than two factors vary.'), hidden: true};
  const along = samples.factors[pair.along], lines = samples.factors[pair.lines];
  const range = padded(extent(pair.means.flatMap(mean => [mean.mean, mean.low, mean.high].filter(Number.isFinite))) || [0, 1], 0.08);
  const left = 70, right = Math.min(width - 150, left + 160 * along.levels.length), top = 28, bottom = 320;
  const ys = linear(range[0], range[1], bottom, top), xAt = x => left + (x + 0.5) * (right - left) / along.levels.length;
  const svg = s('svg', {}, leftAxis(ys, valueTicks(response, range[0], range[1], 6), left, right, responseLabel(response)));
  along.levels.forEach((level, x) => svg.append(label(xAt(x), bottom + 18, short(level, 18), 'middle')));
  svg.append(label((left + right) / 2, bottom + 38, along.name, 'middle', 'axis-title'));
  const marks = [], rows = [];
  let beside = -Infinity;
  lines.levels.map((level, l) => ({level, l, means: pair.means.filter(mean => mean.line === l)})).filter(line => line.means.length > 0)
    .sort((a, b) => ys(a.means[a.means.length - 1].mean) - ys(b.means[b.means.length - 1].mean)).forEach(({level, l, means}) => {
      const shift = (l - (lines.levels.length - 1) / 2) * 7, paint = `var(--${levelColour(l)})`;
      svg.append(s('path', {d: 'M' + means.map(mean => `${(xAt(mean.x) + shift).toFixed(1)} ${ys(mean.mean).toFixed(1)}`).join('L'), class: 'curve', stroke: paint}));
      for (const mean of means) {
        const x = xAt(mean.x) + shift;
        if (Number.isFinite(mean.low)) svg.append(s('line', {x1: x, x2: x, y1: ys(mean.low), y2: ys(mean.high), class: 'curve', stroke: paint}));
        svg.append(s('circle', {cx: x, cy: ys(mean.mean), r: 4, fill: paint, class: 'dot'}));
        marks.push({x, y: ys(mean.mean), text: `${along.name} ${along.levels[mean.x]}, ${lines.name} ${level}: ${valueText(response, mean.mean)}` + (Number.isFinite(mean.low) ? `, ${plainPercent(1 - report.alpha)} interval ${valueText(response, mean.low)} to ${valueText(response, mean.high)}` : '')});
        rows.push([along.levels[mean.x], level, mean.mean, mean.low ?? null, mean.high ?? null]);
      }
      const last = means[means.length - 1];
      beside = Math.max(ys(last.mean) + 4, beside + 15);
      const x = xAt(last.x) + shift + 12;
      svg.append(s('line', {x1: x, x2: x + 12, y1: beside - 4, y2: beside - 4, class: 'curve', stroke: paint}), label(x + 17, beside, short(`${lines.name} ${level}`, 20), 'start', 'strong'));
    });
  const term = report.anova.find(tableOf => tableOf.response === response.name && tableOf.workload === report.workloads[w])?.rows.find(row => row.term.split(':').sort().join() === [along.name, lines.name].sort().join());
  const p = term?.p_robust ?? term?.p_value ?? null;  // the one that is said is the one that is judged
  return {svg, height: bottom + 50, marks, columns: [{title: along.name}, {title: lines.name}, {title: response.name, number: true}, {title: 'low', number: true}, {title: 'high', number: true}], rows,
    finding: `${report.workloads[w]}: ${along.name} by ${lines.name}. ` + (p !== null ? `Does one depend on the other? F ${significant(term.f, 3)}, p ${pText(p)}${p < report.alpha ? ': it seems so.' : ': nothing here says so.'}` : '')};
}

function interactionFigure() {
  const all = figuresOf(primary, 0).interactions;
  return new Figure('interaction', {title: 'Interaction', how: howToRead.interaction, depends: ['response', 'workload', 'crossed'], draw: drawInteraction,
    controls: [workloadChoice(), responseChoice(), choice('crossed', 'factors', all.map((pair, i) => [String(i), `${samples.factors[pair.along].name} by ${samples.factors[pair.lines].name}`]))]});
}

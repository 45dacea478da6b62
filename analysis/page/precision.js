// What more replicates would buy, and what if the margin were another.

function drawPrecision(width) {
  const response = shownResponse(), chosen = new Set(overallContrasts(response));
  const lines = figures.precision.map(line => ({line, contrast: report.contrasts[line.contrast]})).filter(({contrast}) => chosen.has(contrast) && contrast.population !== 'programs like these');
  if (lines.length === 0) return nothing('No interval to extrapolate.');
  const now = line => { const i = line.n.findIndex((n, at) => at > 0 && Math.abs(n - report.contrasts[line.contrast].n) < 0.5); return i < 0 ? null : [line.n[i], line.half_width[i]]; };
  return halfWidths(width, response, lines.map(({line, contrast}, i) => ({name: questionOf(contrast), n: line.n, half: line.half_width, now: now(line), paint: levelColour(i)})), 'replicates of a cell', lines[0].line.margin, '');
}

function whatIf() {
  const response = primary, contrasts = overallContrasts(response).filter(contrast => !contrast.refused);
  if (contrasts.length === 0 || response.scale !== 'log') return null;
  const list = h('ul', {class: 'what-if'}), shown = h('output', {for: 'margin-slider'});
  const paint = value => {
    const margin = Number(value) / 100;
    shown.textContent = withUnits(significant(100 * margin, 2) + ' %');
    list.replaceChildren(...contrasts.map(contrast => {
      const low = contrast.equivalence_interval.conf_low, high = contrast.equivalence_interval.conf_high, bound = 1 + margin;
      const inside = low > 1 / bound && high < bound, beyond = contrast.interval.conf_low > bound || contrast.interval.conf_high < 1 / bound;
      return h('li', {}, h('strong', {}, questionOf(contrast)), ': ', inside ? 'the interval for equivalence lies inside' : beyond ? 'the whole interval lies beyond' : 'the interval crosses the bound');
    }));
  };
  const slider = h('input', {id: 'margin-slider', type: 'range', min: 0.1, max: 20, step: 0.1, value: 100 * response.margin, input: event => paint(event.target.value)});
  paint(100 * response.margin);
  return h('section', {class: 'aside-box', 'aria-labelledby': 'what-if'}, h('h3', {id: 'what-if'}, 'What if the margin were another?'),
    h('p', {class: 'note'}, `Only what is shown changes: the verdicts stay those of the plan’s margin, ${plainPercent(response.margin)}, which was declared before the data.`),
    h('label', {class: 'choice'}, 'margin ', slider, ' ', shown), list);
}

function precisionFigure() {
  return new Figure('precision', {title: 'What more replicates would buy', how: howToRead.precision, depends: ['response'], controls: [responseChoice()], draw: drawPrecision});
}

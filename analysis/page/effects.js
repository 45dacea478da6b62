// All effects at once, and the two populations side by side.

function drawEffects(width) {
  const {quantile, size, contrast} = figures.half_normal;
  if (quantile.length < 3) return {...nothing('Fewer than three effects.'), hidden: true};
  const side = Math.min(width - 240, 420), left = 60, top = 26, bottom = top + Math.min(side, 360), right = left + side;
  const [, toX] = padded(extent([0, ...quantile])), [, toY] = padded(extent([0, ...size])), xs = linear(0, toX, left, right), ys = linear(0, toY, bottom, top);
  const svg = s('svg', {}, bottomAxis(xs, ticks(0, toX, 5).map(at => ({at, text: plain(at)})), bottom, top, 'half-normal quantile'), leftAxis(ys, ticks(0, toY, 6).map(at => ({at, text: plain(at)})), left, right, '|t| of the effect'));
  const end = Math.min(toX, toY);
  svg.append(s('line', {x1: xs(0), y1: ys(0), x2: xs(end), y2: ys(end), class: 'zero'}));
  const marks = [], rows = [];
  // Names stand below each other beside the plot; where they would leave it at its lower end, they move up.
  const names = [];
  for (let k = 0; k < Math.min(8, quantile.length); ++k) names.push(Math.max(ys(size[quantile.length - 1 - k]) + 4, k === 0 ? 0 : names[k - 1] + 13));
  for (let k = names.length - 1, most = bottom; k >= 0; --k, most -= 13) names[k] = Math.min(names[k], most);
  quantile.forEach((_, k) => {
    const i = quantile.length - 1 - k, of = report.contrasts[contrast[i]], x = xs(quantile[i]), y = ys(size[i]);
    svg.append(verdictMark(x, y, verdictClass(of), 4.5));
    if (k < names.length) { const named = names[k]; svg.append(label(right + 14, named, short(`${of.factor} ${of.level}${of.workload ? ', ' + of.workload : ''}`, 30), 'start', 'faint'), s('line', {x1: x + 6, y1: y, x2: right + 11, y2: named - 4, class: 'leader'})); }
    marks.push({x, y, text: contrastText(of)});
    rows.push([questionOf(of), subjectOf(of), size[i], quantile[i]]);
  });
  return {svg, height: bottom + 44, marks: marks.reverse(), columns: [{title: 'question'}, {title: 'about'}, {title: '|t|', number: true}, {title: 'half-normal quantile', number: true}], rows,
    finding: `The largest of ${count(size.length, 'effect')}: ${contrastText(report.contrasts[contrast[contrast.length - 1]]).split(':')[0]}.`};
}

function drawPopulations(width) {
  const response = shownResponse(), pairs = [];
  for (const like of report.contrasts)
    if (like.response === response.name && like.population === 'programs like these')
      pairs.push({like, these: report.contrasts.find(other => other.response === like.response && other.factor === like.factor && other.level === like.level && other.population === 'these programs'), prediction: figures.predictions.find(one => report.contrasts[one.contrast] === like)});
  if (pairs.length === 0) return {...nothing('One program stands for no others.'), hidden: true};
  const narrow = isNarrow(width), above = narrow ? 28 : 0, high = 52 + above, left = narrow ? 8 : Math.min(230, width * 0.28), right = width - 24, top = 12, bottom = top + pairs.length * high;
  const all = pairs.flatMap(pair => [pair.like, pair.these].filter(Boolean)), ends = pairs.filter(pair => pair.prediction).flatMap(pair => [onScale(response, pair.prediction.conf_low), onScale(response, pair.prediction.conf_high)]);
  const [from, to] = intervalExtent(all, response, ends), scale = linear(from, to, left, right);
  const svg = s('svg', {}, bottomAxis(scale, differenceTicks(response, from, to, (right - left) / 90), bottom, top, 'difference against the baseline'), s('line', {x1: scale(0), x2: scale(0), y1: top, y2: bottom, class: 'zero'}));
  const marks = [];
  pairs.forEach(({like, these, prediction}, i) => {
    const y = top + i * high;
    svg.append(label(0, y + (narrow ? 16 : 20), short(`${like.factor}: ${like.level} / ${like.baseline}`, Math.floor((narrow ? width : left) / 7)), 'start', 'strong'), label(0, y + (narrow ? 31 : 37), 'above: these; below: like these', 'start', 'faint'));
    if (prediction) svg.append(s('line', {x1: scale(onScale(response, prediction.conf_low)), x2: scale(onScale(response, prediction.conf_high)), y1: y + above + 35, y2: y + above + 35, class: 'prediction'}));
    for (const [contrast, at] of [[these, y + above + 16], [like, y + above + 35]]) {
      if (!contrast) continue;
      svg.append(intervalRow(scale, at, 18, contrast, response));
      marks.push({x: contrast.refused ? scale(0) : clampTo(scale, onScale(response, contrast.interval.estimate)), y: at, text: contrastText(contrast) + (contrast === like && prediction ? `; the next program’s own: ${intervalText(response, prediction)}` : '')});
    }
  });
  return {svg, height: bottom + 44, marks, columns: contrastColumns, rows: all.map(contrastRow), finding: `${pairs.filter(pair => verdictClass(pair.like) === 'unsure' && pair.these && ['worse', 'better', 'equivalent'].includes(verdictClass(pair.these))).length} of ${count(pairs.length, 'answer')} hold for these programs and are unsure for others like them.`};
}

function effectFigures() {
  return [new Figure('populations', {title: 'These programs, and programs like these', how: howToRead.populations, depends: ['response'], controls: [responseChoice()], draw: drawPopulations}),
    new Figure('effects', {title: 'All effects at once', how: howToRead.effects, draw: drawEffects})];
}

// Block by cell: each trial's difference from the mean of its cell, as a colour.

function drawBlocks(trials, width) {
  const response = shownResponse(), deviation = trials.deviations(response), of = trials.column('workload'), blockOf = trials.column('block'), excluded = trials.column('excluded'), cellKeys = trials.cellKeys();
  const one = state.span === 'one', w = shownWorkload(), shown = trials.shown(response, one ? w : -1), places = shown.rows.filter(row => excluded[row] === 0);
  if (places.length === 0) return nothing('No trial to show.');
  const cells = varying.reduce((n, f) => n * samples.factors[f].levels.length, 1), rows = new Map(), known = new Uint8Array(cells * report.workloads.length);
  let first = Infinity, last = -Infinity;
  for (const row of places) {
    first = Math.min(first, blockOf[row]);
    last = Math.max(last, blockOf[row]);
    const key = of[row] * cells + cellKeys[row];
    if (known[key]) continue;
    known[key] = 1;
    rows.set(key, {workload: of[row], levels: cellOf(trials, row), key});
  }
  const order = [...rows.values()].sort((a, b) => a.key - b.key), index = new Uint32Array(known.length);
  order.forEach((row, i) => { index[row.key] = i; });
  const nameOf = row => one || report.workloads.length === 1 ? cellName(row.levels) : `${report.workloads[row.workload]}, ${cellName(row.levels)}`;
  const high = Math.max(3, Math.min(20, Math.floor(560 / order.length))), left = roomForNames(width, order.map(nameOf), Math.min(220, width * 0.3)), right = width - 14, top = 34, bottom = top + order.length * high;
  const blocks = last - first + 1, columns = Math.max(1, Math.min(blocks, Math.round((right - left) * pointScale)));
  // Means over the trials of a block and cell, or over the blocks that share a pixel.
  const sums = new Float64Array(columns * order.length), counts = new Uint32Array(columns * order.length), perBlock = new Float64Array(blocks), ofBlock = new Uint32Array(blocks);
  const px = new Float32Array(places.length), py = new Float32Array(places.length);
  for (let i = 0; i < places.length; ++i) {
    const row = places[i], block = blockOf[row] - first, at = index[of[row] * cells + cellKeys[row]], place = at * columns + Math.floor(block * columns / blocks);
    sums[place] += deviation[row];
    ++counts[place];
    perBlock[block] += deviation[row];
    ++ofBlock[block];
    px[i] = left + (block + 0.5) * (right - left) / blocks;
    py[i] = top + (at + 0.5) * high;
  }
  const most = shown.typical, {canvas, context} = pointCanvas(width, bottom + 40);
  const low = parseColour(colour('blue')), up = parseColour(colour('vermillion')), ground = parseColour(colour('paper'));
  const small = h('canvas', {width: columns, height: order.length}), image = small.getContext('2d').createImageData(columns, order.length);
  for (let i = 0; i < sums.length; ++i) {
    if (counts[i] === 0) continue;
    const mean = sums[i] / counts[i], strength = Math.min(1, Math.abs(mean) / most), ink = mean < 0 ? low : up;
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = ground[c] + (ink[c] - ground[c]) * strength;
    image.data[4 * i + 3] = 255;
  }
  small.getContext('2d').putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, left, top, right - left, order.length * high);
  context.fillStyle = colour('paper');
  if (high > 5) for (let i = 1; i < order.length; ++i) context.fillRect(left, top + i * high - 0.5, right - left, 1);
  if ((right - left) / blocks > 6) for (let i = 1; i < blocks; ++i) context.fillRect(left + i * (right - left) / blocks - 0.5, top, 1, order.length * high);
  const text = x => response.scale === 'log' ? signed(plain(Number((100 * x).toPrecision(2)))) + ' %' : differenceText(response, x);
  const svg = s('svg', {}, bottomAxis(linear(first - 0.5, last + 0.5, left, right), ticks(first, last, (right - left) / 80).filter(Number.isInteger).map(at => ({at, text: String(at)})), bottom, bottom, 'block'));
  const key = isNarrow(width) ? 60 : left;
  for (let i = 0; i <= 20; ++i) {
    const share = i / 10 - 1, ink = share < 0 ? low : up;
    svg.append(s('rect', {x: key + i * 9, y: 6, width: 9, height: 9, fill: `rgb(${ground.map((channel, c) => Math.round(channel + (ink[c] - channel) * Math.abs(share))).join(',')})`}));
  }
  svg.append(label(key - 6, 14, text(-most), 'end', 'faint'), label(key + 195, 14, `${text(most)} and more`, 'start', 'faint'));
  let workload = -1;
  const names = shortApart(order.map(nameOf), Math.floor(left / 6.6));
  order.forEach((row, i) => {
    const y = top + i * high + high / 2 + 4;
    if (high >= 11) svg.append(label(left - 6, y, names[i], 'end'));
    else if (row.workload !== workload) svg.append(label(left - 6, y + 4, short(report.workloads[row.workload], Math.floor(left / 6.6)), 'end'));
    workload = row.workload;
  });
  let worst = 0;
  for (let i = 1; i < blocks; ++i) if (ofBlock[i] > 0 && Math.abs(perBlock[i] / ofBlock[i]) > Math.abs(perBlock[worst] / (ofBlock[worst] || 1))) worst = i;
  return {svg, canvas, height: bottom + 40, marks: {length: places.length, x: px, y: py, text: i => trialLine(trials, places[i]), open: i => openTrial(trials, places[i])},
    finding: `${count(blocks, 'block')} of ${count(order.length, 'cell')}. The block that stands out most is ${worst + first}; blocks are compared within themselves, so what they share cancels.`,
    columns: [{title: 'block', number: true}, {title: workloadWord}, {title: 'cell'}, {title: 'difference', number: true}], rows: {length: places.length, row: i => [blockOf[places[i]], report.workloads[of[places[i]]], cellName(cellOf(trials, places[i])), deviation[places[i]]]}};
}

function blocksFigure(trials) {
  return new Figure('blocks', {title: 'Block by cell', how: howToRead.blocks, depends: ['response', 'workload', 'span'], controls: [choice('span', 'trials of', [['all', `all ${workloadWord}s`], ['one', `one ${workloadWord}`]]), workloadChoice(), responseChoice()], draw: width => drawBlocks(trials, width)});
}

// The layout map: which functions' places make the time vary.

const layoutMaps = () => (evidence.layout_maps || []).map(text => JSON.parse(text));

// What is told of a map: its confirmed places, or its candidates where nothing was confirmed.
function mappedPlaces(map) {
  if (!map.confirmation) return map.screen.candidates.map(one => ({...one, share: {estimate: one.sd ** 2 / (one.sd ** 2 + map.screen.noise ** 2)}, word: 'candidate, too large a size'}));
  const words = {changed: 'matters', equivalent: 'does not matter', unsure: 'unsure', withheld: 'unsure'};
  return map.confirmation.places.map(one => ({...one, word: one.refused ? 'refused: ' + one.refused : words[one.verdict]}));
}

// Addresses are of one file: the program's own, or a library's.
const placeKey = (library, linked) => `${library || ''}!${linked}`;
const placeText = one => `${one.function}${one.other ? ' and ' + one.other : ''}: ${one.place}`;
const slowdown = ratio => (ratio >= 1 ? '+' : '−') + significant(Math.abs(100 * (ratio - 1)), 3) + ' %';
function sizeText(one) {
  if (one.refused) return one.word;
  const size = one.difference.estimate === undefined ? slowdown(one.difference) : `${slowdown(one.difference.estimate)} [${slowdown(one.difference.low)}, ${slowdown(one.difference.high)}]`;
  return `${one.slowest} against ${one.fastest}: ${size}`;
}

function drawLayoutMap(map, width) {
  const places = mappedPlaces(map), kRows = 4, rowHeight = 26, left = 12, right = width - 12, shareOf = new Map();
  for (const one of places) {
    if (one.refused) continue;
    for (const [library, linked] of [[one.library, one.linked], [one.other_library, one.other_linked]]) {
      if (linked) shareOf.set(placeKey(library, linked), Math.max(shareOf.get(placeKey(library, linked)) || 0, one.share.estimate));
    }
  }
  const most = Math.max(1e-9, ...shareOf.values()), total = map.functions.reduce((sum, one) => sum + one.bytes, 0) || 1;
  const svg = s('svg', {}), marks = [], perRow = total / kRows, xs = linear(0, perRow, left, right);
  let at = 0;
  for (const one of map.functions) {
    const share = shareOf.get(placeKey(one.library, one.linked)) || 0, from = at, to = at += one.bytes;
    // A function may go on in the next row.
    for (let row = Math.floor(from / perRow); row < kRows && row * perRow < to; ++row) {
      const x = xs(Math.max(from, row * perRow) - row * perRow), end = xs(Math.min(to, (row + 1) * perRow) - row * perRow);
      svg.append(s('rect', {x, width: Math.max(1, end - x - 0.5), y: 8 + row * rowHeight, height: rowHeight - 6, fill: share > 0 ? 'var(--blue)' : 'var(--line)', 'fill-opacity': share > 0 ? 0.25 + 0.75 * share / most : 0.5}));
    }
    if (share > 0) marks.push({x: xs(from % perRow), y: 8 + Math.floor(from / perRow) * rowHeight + 10, text: `${one.name}, ${grouped(one.bytes)} bytes${one.samples === null ? '' : `, ${percent(one.samples)} of the samples`}: its place makes ${percent(share)} of the variance`});
  }
  // Where one line has no room for all of it, sizes stand on a second one.
  const longest = Math.floor((right - left) / 7), narrow = isNarrow(width), below = narrow ? 15 : 0;
  const listTop = 8 + kRows * rowHeight + 18, lineHeight = 34 + below, bars = linear(0, Math.max(most, ...places.map(one => one.share?.high || 0)), left, right - 60);
  places.forEach((one, i) => {
    const y = listTop + i * lineHeight + below, share = one.share?.estimate || 0;
    if (narrow) svg.append(label(left, y - 7, short(placeText(one), longest - one.word.length - 3) + ` (${one.word})`, 'start'), label(left, y + 8, short(sizeText(one), longest), 'start', 'faint'));
    else svg.append(label(left, y + 8, short(placeText(one), longest - sizeText(one).length - one.word.length - 6) + ` — ${sizeText(one)} (${one.word})`, 'start'));
    if (one.refused) return;
    svg.append(s('rect', {x: left, width: Math.max(1, bars(share) - left), y: y + 14, height: 9, fill: 'var(--blue)', 'fill-opacity': one.verdict === 'changed' ? 1 : 0.4}));
    if (one.share.low !== undefined) svg.append(s('line', {x1: bars(one.share.low), x2: bars(one.share.high), y1: y + 18.5, y2: y + 18.5, class: 'zero'}));
    svg.append(label(right, y + 22, percent(share), 'end'));
    marks.push({x: bars(share), y: y + 18, text: `${placeText(one)}, ${one.word}; ${sizeText(one)}; ${percent(share)} of the variance`});
  });
  const matters = places.filter(one => one.verdict === 'changed'), all = map.confirmation;
  const finding = `${map.workload}, ${grouped(map.units)} ${map.unit}s. ` + (places.length === 0 ? 'No function’s place makes a difference that they show.'
    : !all ? `${count(places.length, 'place')} of ${grouped(map.screen.tests)} that were tried are candidates; nothing is confirmed.`
      : `${matters.length === 0 ? 'None' : grouped(matters.length)} of ${count(places.length, 'place')} that were measured again ${matters.length === 1 ? 'matters' : 'matter'}; all of them together make ${percent(all.all.estimate)} of the variance from ${map.unit} to ${map.unit}.`);
  return {svg, height: listTop + places.length * lineHeight + 8, marks, finding,
    columns: [{title: 'function'}, {title: 'place'}, {title: 'slow'}, {title: 'fast'}, {title: 'slow against fast', number: true}, {title: 'low', number: true}, {title: 'high', number: true}, {title: 'share of variance', number: true}, {title: 'verdict'}],
    rows: places.map(one => [one.function + (one.other ? ' and ' + one.other : ''), one.place, one.slowest ?? '', one.fastest ?? '', one.difference?.estimate ?? one.difference ?? '', one.difference?.low ?? '', one.difference?.high ?? '', one.share?.estimate ?? '', one.word])};
}

function layoutMapSections() {
  const maps = layoutMaps();
  if (maps.length === 0) return [];
  const figures = maps.map((map, i) => new Figure('layout-map' + (i ? '-' + (i + 1) : ''), {title: 'Places that matter' + (maps.length > 1 ? ': ' + map.workload : ''), how: howToRead.layoutMap, draw: width => drawLayoutMap(map, width)}));
  const caveats = maps.flatMap(map => map.caveats.map(one => h('li', {}, h('strong', {}, one.code), `: ${one.message}. `, h('span', {class: 'note'}, one.hint))));
  return [section('layout', 'Which places matter', figures.map(figure => figure.element), caveats.length > 0 && h('ul', {class: 'settle'}, caveats))];
}

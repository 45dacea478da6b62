// A figure: what it shows in words, the plot, how to read it, its numbers as a table, and ways out of the page. Drawn when
// it comes near the screen, again when its width, the state it depends on or the colours change.
//
// A plot's draw(width) gives {svg, height, canvas?, marks, finding, columns, rows}. marks: {x, y, text, open?} in order of
// reading, or {length, x, y, text(i), open(i)} with typed arrays where they are many. The arrow keys walk through them.

const allFigures = [];
let pointScale = Math.max(1, window.devicePixelRatio || 1);

class Figure {
  constructor(id, {title, how, depends = [], controls = [], draw}) {
    Object.assign(this, {id, title, how, depends, drawPlot: draw, current: -1, stale: true});
    this.finding = h('p', {class: 'finding'});
    this.holder = h('div', {class: 'plot', tabindex: 0, role: 'application', 'aria-roledescription': 'plot', 'aria-label': title,
      keydown: event => this.key(event), pointermove: event => this.point(event), pointerleave: () => this.leave(),
      click: () => this.openMark(), blur: () => this.leave()});
    this.tip = h('div', {class: 'tip', hidden: true});
    this.twin = h('details', {class: 'twin', toggle: () => this.paintTwin()}, h('summary', {}, 'the numbers as a table'));
    const way = (text, action) => h('button', {type: 'button', class: 'small', click: action, 'aria-label': `${text}: ${title}`}, text);
    this.element = h('figure', {id},
      h('figcaption', {}, h('h3', {}, title), this.finding),
      controls.filter(Boolean).length > 0 && h('div', {class: 'controls'}, controls),
      this.holder,
      h('p', {class: 'how'}, h('span', {class: 'how-word'}, 'How to read it. '), how),
      h('div', {class: 'below'}, h('div', {class: 'ways'}, way('copy SVG', () => copyText(this.svgText())), way('save SVG', () => save(id + '.svg', this.svgText(), 'image/svg+xml')),
        way('save PNG', async () => save(id + '.png', await pngOf(this.svgText()))), way('save CSV', () => save(id + '.csv', this.csv(), 'text/csv'))),
        this.twin));
    this.holder.append(this.tip);
    allFigures.push(this);
  }

  svgText() { this.ensure(); return standaloneSvg(this.plot.svg, this.plot.canvas); }
  csv() { this.ensure(); return csvOf(this.plot.columns, this.rowsOf()); }
  rowsOf() {
    const rows = this.plot.rows;
    return Array.isArray(rows) ? rows : Array.from({length: rows.length}, (_, i) => rows.row(i));
  }
  ensure() { if (this.stale) this.redraw(); }

  redraw() {
    const width = Math.max(280, Math.floor(this.holder.clientWidth || this.element.clientWidth || 640));
    this.width = width;
    this.stale = false;
    this.current = -1;
    const plot = this.plot = this.drawPlot(width);
    this.finding.textContent = withUnits(plot.finding);
    this.element.hidden = plot.hidden === true;
    if (!plot.svg) {
      this.holder.replaceChildren(h('p', {class: 'note'}, plot.finding), this.tip);
      this.finding.textContent = '';
      this.element.classList.add('empty');
      plot.svg = s('svg', {viewBox: '0 0 10 10'});
      plot.marks = plot.marks || [];
      return;
    }
    this.element.classList.remove('empty');
    plot.svg.setAttribute('viewBox', `0 0 ${width} ${plot.height}`);
    plot.svg.setAttribute('width', width);
    plot.svg.setAttribute('height', plot.height);
    plot.svg.setAttribute('aria-hidden', 'true');
    plot.svg.setAttribute('focusable', 'false');
    this.cursor = s('circle', {r: 6, class: 'cursor', visibility: 'hidden'});
    plot.svg.append(this.cursor);
    this.holder.replaceChildren(...[plot.canvas, plot.svg, this.tip].filter(Boolean));
    keepInside(plot.svg, width);
    this.holder.setAttribute('aria-label', `${this.title}. ${plot.finding} ${plot.marks.length > 0 ? 'Arrow keys walk through ' + count(plot.marks.length, 'mark') + '.' : ''}`);
    if (plot.attach) plot.attach(this.holder);
    this.paintTwin(true);
  }

  paintTwin(redrawn = false) {
    if (redrawn) this.twin.querySelector('.table')?.remove();
    if (this.twin.open && this.plot && !this.twin.querySelector('.table')) this.twin.append(table(this.title, this.plot.columns, this.plot.rows));
  }

  place(i) {
    const marks = this.plot.marks;
    return Array.isArray(marks) ? [marks[i].x, marks[i].y] : [marks.x[i], marks.y[i]];
  }
  textOf(i) { const marks = this.plot.marks; return Array.isArray(marks) ? marks[i].text : marks.text(i); }

  show(i, spoken) {
    this.current = i;
    const [x, y] = this.place(i), text = this.textOf(i);
    this.cursor.setAttribute('cx', x);
    this.cursor.setAttribute('cy', y);
    this.cursor.setAttribute('visibility', 'visible');
    this.tip.textContent = text;
    this.tip.hidden = false;
    const left = Math.min(Math.max(0, x + 14), Math.max(0, this.width - this.tip.offsetWidth - 4));
    this.tip.style.left = left + 'px';
    this.tip.style.top = (y + 14 + this.tip.offsetHeight > this.plot.height && y > this.tip.offsetHeight + 14 ? y - 14 - this.tip.offsetHeight : y + 14) + 'px';
    if (spoken) say(text);
  }

  leave() {
    this.current = -1;
    this.tip.hidden = true;
    this.cursor?.setAttribute('visibility', 'hidden');
  }

  point(event) {
    const marks = this.plot?.marks;
    if (!marks || marks.length === 0) return;
    const box = this.holder.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = -1, least = 28 * 28;
    for (let i = 0; i < marks.length; ++i) {
      const [mx, my] = this.place(i), distance = (mx - x) ** 2 + (my - y) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    if (best < 0) this.leave();
    else if (best !== this.current) this.show(best, false);
  }

  openMark() {
    if (this.current < 0) return;
    const marks = this.plot.marks, open = Array.isArray(marks) ? marks[this.current].open : marks.open && (() => marks.open(this.current));
    if (open) open();
  }

  key(event) {
    const length = this.plot?.marks.length || 0;
    if (this.plot?.key && this.plot.key(event)) return event.preventDefault();
    if (event.key === 'Escape') return this.leave();
    if (event.key === 'Enter') {
      event.preventDefault();  // or it would press the button that takes the focus in what opens
      return this.openMark();
    }
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 100, PageUp: -100}[event.key];
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? length - 1 : step && Math.min(length - 1, Math.max(0, this.current < 0 ? (step > 0 ? 0 : length - 1) : this.current + step));
    if (to === undefined || to === 0 && length === 0 || to === null) return;
    if (length === 0) return;
    event.preventDefault();
    this.show(to, true);
  }
}

// Words that would stand out of the plot at its sides are moved into it, and condensed where they are longer than it: how wide a
// word is depends on the reader's fonts. All are measured first, so that the browser lays them out once.
function keepInside(svg, width) {
  const texts = [...svg.querySelectorAll('text:not([transform])')], boxes = texts.map(text => text.getBBox());
  texts.forEach((text, i) => {
    const {x, width: wide} = boxes[i];
    if (wide > width) {
      text.setAttribute('textLength', width);
      text.setAttribute('lengthAdjust', 'spacingAndGlyphs');
    }
    const out = wide > width ? -x : x < 0 ? -x : Math.min(0, width - x - wide);
    if (out) text.setAttribute('x', (Number(text.getAttribute('x')) + out).toFixed(1));
  });
}

// A canvas under an SVG of this size, ready to draw in the SVG's units.
function pointCanvas(width, height) {
  const canvas = h('canvas', {width: Math.round(width * pointScale), height: Math.round(height * pointScale), 'aria-hidden': 'true'});
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const context = canvas.getContext('2d');
  context.scale(pointScale, pointScale);
  return {canvas, context};
}

function nothing(finding) {
  return {svg: null, marks: [], finding, columns: [{title: 'nothing to show'}], rows: []};
}

const nearby = new IntersectionObserver(entries => {
  for (const entry of entries) {
    const figure = allFigures.find(other => other.element === entry.target);
    if (!figure) continue;  // it has left the page since
    figure.near = entry.isIntersecting;
    if (figure.near) figure.ensure();
  }
}, {rootMargin: '400px'});

function redrawFigures(affected) {
  for (const figure of allFigures) {
    if (!affected(figure)) continue;
    figure.stale = true;
    if (!figure.near) continue;
    const box = figure.element.getBoundingClientRect();
    // What the reader sees at once; its neighbours when there is time.
    if (box.top < innerHeight && box.bottom > 0) figure.redraw();
    else setTimeout(() => figure.ensure());
  }
}

function watchFigures() {
  for (const figure of allFigures) nearby.observe(figure.element);
  watch(keys => redrawFigures(figure => keys.includes('theme') || figure.depends.some(key => keys.includes(key))));
  let waiting = 0;
  new ResizeObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => redrawFigures(figure => !figure.stale && Math.abs(figure.holder.clientWidth - figure.width) > 1));
  }).observe(document.body);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { palette.clear(); redrawFigures(() => true); });
  let closed = [];  // folds that are open on paper alone
  addEventListener('beforeprint', () => {
    closed = [...document.querySelectorAll('details.fold:not([open])')];
    for (const fold of closed) fold.open = true;
    pointScale = 3;
    palette.clear();
    for (const figure of allFigures) figure.redraw();
  });
  addEventListener('afterprint', () => {
    for (const fold of closed) fold.open = false;
    palette.clear();
    pointScale = Math.max(1, window.devicePixelRatio || 1);
    redrawFigures(() => true);
  });
}

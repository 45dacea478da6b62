// A plot or table leaves the page as SVG, PNG or CSV.

const drawn = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'stroke-linejoin', 'paint-order', 'opacity', 'font-family', 'font-size', 'font-weight', 'text-anchor'];

// The SVG with the style sheet's values written out, the points of its canvas as an image behind it.
function standaloneSvg(svg, canvas) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const property of drawn) to[i].setAttribute(property, style.getPropertyValue(property));
    to[i].removeAttribute('class');
  });
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  const [, , width, height] = svg.getAttribute('viewBox').split(' ');
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  if (canvas && canvas.width > 0) copy.prepend(s('image', {href: canvas.toDataURL(), x: 0, y: 0, width, height}));
  copy.prepend(s('rect', {width, height, fill: colour('paper')}));
  return new XMLSerializer().serializeToString(copy);
}

async function pngOf(text, scale = 2) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
  await image.decode();
  const canvas = h('canvas', {width: image.width * scale, height: image.height * scale});
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
}

function csvField(value) {
  if (value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value))) return '';
  const text = String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

function csvOf(columns, rows) {
  return [columns.map(column => column.title), ...rows].map(row => row.map(csvField).join(',')).join('\n') + '\n';
}

// Cells hold no tabs and no line ends of their own, so that each stays in its place when it is pasted; and no spreadsheet takes a name
// for a formula (OWASP, CSV injection), which numbers with a sign are not.
function tabbed(columns, rows) {
  const cell = text => String(text).replace(/[\t\r\n]+/g, ' ').replace(/^(?=[=@]|[+-]([^\d.,\s%]|.*([=@|!]|[A-Za-z]\()))/, "'");
  return [columns.map(column => column.title), ...rows].map(row => row.map(cell).join('\t')).join('\n') + '\n';
}

// By the rules of analysis/text/latex.cc.
const latexOf = {'\\': '\\textbackslash{}', '{': '\\{', '}': '\\}', '$': '\\$', '&': '\\&', '%': '\\%', '#': '\\#', '_': '\\_', '~': '\\textasciitilde{}', '^': '\\textasciicircum{}', '<': '\\textless{}', '>': '\\textgreater{}', '|': '\\textbar{}', '"': '\\char34{}', '[': '{[}', ']': '{]}', '*': '{*}',
  '−': '$-$', '×': '$\\times$', '±': '$\\pm$', 'α': '$\\alpha$', 'µ': '$\\mu$', '†': '\\textdagger{}', '≤': '$\\leq$', '≥': '$\\geq$', '…': '\\ldots{}', '–': '--', '—': '---', '’': "'"};

function asLatex(text) {
  return String(text).toWellFormed().replace(/[\n\t]+/g, ' ').replace(/[\x00-\x1f\x7f\ufffd]/g, '?').replace(/(?<=-)-|(?<=')'|(?<=`)`|(?<=,),|(?<=[?!])`/g, '\u0000$&').replace(/[\\{}$&%#_~^<>|"[\]*−×±αµ†≤≥…–—’]/g, symbol => latexOf[symbol]).replace(/\u0000/g, '{}');
}

function latexTable(title, columns, rows) {
  const line = cells => cells.map(asLatex).join(' & ') + ' \\\\\n';
  return `% needs \\usepackage{booktabs}\n\\begin{tabular}{${columns.map(column => column.number ? 'r' : 'l').join('')}}\n\\toprule\n${line(columns.map(column => column.title))}\\midrule\n${rows.map(line).join('')}\\bottomrule\n\\end{tabular}\n`;
}

function save(name, content, type) {
  const link = h('a', {download: name, href: URL.createObjectURL(content instanceof Blob ? content : new Blob([content], {type}))});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  say('saved ' + name);
}

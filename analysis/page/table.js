// Tables: sorted by a click on a heading, filtered by a word, a part at a time where they are long.

const rowsAtOnce = 200;

function cellText(column, value) {
  if (value === null || value === undefined || (typeof value === 'number' && Number.isNaN(value))) return '–';
  if (column.text) return column.text(value);
  return typeof value === 'number' ? (Number.isInteger(value) ? String(value) : significant(value, 6)) : short(String(value), 160);
}

// columns: {title, text?, number?}; rows: arrays of values, or {length, row(i)} where they are many. open?: called with i and its row.
// filtered?: what is said while a filter hides rows. keep?: called with i, says whether the row may be shown; reselect() of the element
// asks again, renew(rows) takes others in their place: what is sorted, filtered and scrolled stays. words?: those that the filter begins
// with; typed?: called with them.
function table(title, columns, rows, {filter = false, open = null, filtered = '', keep = null, words = '', typed = null} = {}) {
  const at = i => Array.isArray(rows) ? rows[i] : rows.row(i);
  let order = null, shown = rowsAtOnce, sorted = -1, descending = false, wanted = words.trim().toLowerCase();
  const body = h('tbody'), status = h('p', {class: 'note', role: 'status'});
  const more = h('button', {type: 'button', class: 'small', click: () => { shown += rowsAtOnce; paint(); }}, 'more rows');
  function select() {
    order = [];
    for (let i = 0; i < rows.length; ++i)
      if ((!keep || keep(i)) && (!wanted || at(i).some((value, c) => cellText(columns[c], value).toLowerCase().includes(wanted)))) order.push(i);
    if (sorted < 0) return;
    const keys = new Map(order.map(i => [i, at(i)[sorted]]));
    const rank = value => value === null || value === undefined || Number.isNaN(value);
    order.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (rank(x) || rank(y)) return rank(x) - rank(y);
      const by = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', {numeric: true});
      return descending ? -by : by;
    });
  }
  function paint() {
    body.replaceChildren(...order.slice(0, shown).map(i => h('tr', {}, at(i).map((value, c) => {
      const text = cellText(columns[c], value);
      const isNumber = typeof value === 'number' || columns[c].number;
      const content = c === 0 && open ? h('button', {type: 'button', class: 'link', click: () => open(i, at(i))}, text) : text;
      return c === 0 ? h('th', {scope: 'row', class: isNumber && 'number'}, content) : h('td', {class: isNumber && 'number'}, content);
    }))));
    const counted = order.length < rows.length || order.length > shown ? `${grouped(Math.min(shown, order.length))} of ${grouped(order.length)} rows` + (order.length < rows.length ? ` (of ${grouped(rows.length)})` : '') + (order.length < rows.length && filtered ? '. ' + filtered : '') : '';
    if (status.textContent !== counted) status.textContent = counted;  // or it would be spoken again
    more.hidden = order.length <= shown;
  }
  const headings = columns.map((column, c) => {
    const button = h('button', {type: 'button', click: () => {
      descending = sorted === c ? !descending : false;
      sorted = c;
      headings.forEach((heading, other) => other === c ? heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending') : heading.removeAttribute('aria-sort'));
      select();
      paint();
    }}, column.title);
    return h('th', {scope: 'col', class: column.number && 'number'}, button);
  });
  select();
  paint();
  // As they are shown, all rows that the filter leaves, in their order: into a spreadsheet, or a paper.
  const texts = () => order.map(i => at(i).map((value, c) => cellText(columns[c], value)));
  const copies = h('div', {class: 'copies'}, h('button', {type: 'button', class: 'small', 'aria-label': `copy table: ${title}`, click: () => copyText(tabbed(columns, texts()))}, 'copy table'), ' ',
    h('button', {type: 'button', class: 'small', 'aria-label': `copy as LaTeX: ${title}`, click: () => copyText(latexTable(title, columns, texts()))}, 'copy as LaTeX'));
  const again = () => { shown = rowsAtOnce; select(); paint(); };
  const element = h('div', {class: 'table'},
    filter && h('label', {class: 'choice'}, 'rows with ', h('input', {type: 'search', value: words, input: event => { wanted = event.target.value.trim().toLowerCase(); if (typed) typed(event.target.value.trim()); again(); }})),
    h('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': title}, h('table', {}, h('caption', {class: 'offstage'}, title), h('thead', {}, h('tr', {}, headings)), body)),
    status, more, copies);
  element.reselect = again;
  element.renew = fresh => { rows = fresh; select(); paint(); };
  return element;
}

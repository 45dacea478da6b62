// What runs and waits, and all that is stored.

function progressOf(row) {
  const share = row.planned ? Math.floor(100 * row.done / row.planned) : 0;  // 100 % is all of them
  return [h('progress', {max: Math.max(row.planned, 1), value: row.done, 'aria-label': `${row.name}: ${row.done} of ${row.planned} trials`}),
          h('span', {class: 'now'}, row.planned ? `${grouped(row.done)} of ${count(row.planned, 'trial')}, ${share} %` : 'not planned yet')];
}

function endOf(row) {
  if (row.state === 'paused') return 'paused';
  if (row.ends_in_ns === undefined) return 'not known before its first trials';
  const at = row.asked + row.ends_in_ns / 1e6, left = at - Date.now();
  return left > 0 ? `about ${momentText(at)}, in ${durationText(1e6 * left)}` : `was expected at ${momentText(at)}`;
}

function queueTable() {
  const place = row => [row.running ? 0 : row.state === 'paused' ? 2 : 1, -row.priority, row.id];
  const rows = [...known.rows.values()].filter(row => !isOver(row)).sort((a, b) => {
    const x = place(a), y = place(b);
    return x[0] - y[0] || x[1] - y[1] || x[2] - y[2];
  });
  if (rows.length === 0) return h('p', {class: 'note'}, 'Nothing runs and nothing waits.');
  return h('div', {class: 'scroll lab-table', tabindex: 0, role: 'region', 'aria-label': 'the table of what runs and waits'}, h('table', {class: 'queue'},
    h('caption', {class: 'offstage'}, 'experiments that run or wait, in the order of their turns'),
    h('thead', {}, h('tr', {}, ['experiment', 'state', 'progress', 'over', 'priority', 'actions'].map(title => h('th', {scope: 'col'}, title)))),
    h('tbody', {}, rows.map(row => h('tr', {'data-experiment': row.id},
      h('th', {scope: 'row', class: 'name'}, h('button', {type: 'button', class: 'link', click: () => openExperiment(row.id)}, `${row.id} ${short(row.name)}`),
        h('span', {class: 'now'}, short(row.waits_for || known.now.get(row.id) || '', 120))),
      h('td', {class: 'state-' + stateOf(row)}, stateOf(row)),
      h('td', {}, progressOf(row)), h('td', {}, endOf(row)), h('td', {class: 'number'}, row.priority),
      h('td', {}, h('span', {class: 'actions'}, quickActions(row))))))));
}

function quickActions(row) {
  const again = row.state === 'paused';
  return [change(again ? 'resume' : 'pause', row), change('cancel', row, {grave: true})];
}

// One table as long as the page is open, so that how it is sorted, filtered and scrolled stays while the lab goes on.
let allTable = null;

function allExperiments() {
  const rows = [...known.rows.values()].sort((a, b) => b.id - a.id).map(row => [row.id, row.name, stateOf(row), row.done, row.submitted_at_ns / 1e6, row.uid]);
  if (!allTable) {
    const columns = [{title: 'number', number: true}, {title: 'name'}, {title: 'state'}, {title: 'trials', number: true}, {title: 'submitted', text: momentText}, {title: 'user', number: true}];
    allTable = table('all experiments', columns, rows, {filter: true, open: (_, row) => openExperiment(row[0])});
    return allTable;
  }
  const focused = document.activeElement.closest('#all tbody button')?.textContent;
  allTable.renew(rows);
  if (focused) [...allTable.querySelectorAll('tbody button')].find(button => button.textContent === focused)?.focus({preventScroll: true});
  return allTable;
}

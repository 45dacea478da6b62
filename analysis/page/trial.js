// A trial behind each point: what it was, what it measured, what disturbed it, and the command that runs it again.

function trialNumber(trials, row) { return trials.has('trial') ? Number(trials.column('trial')[row]) : null; }

function trialLine(trials, row) {
  const response = shownResponse(), value = trials.values(response)[row], number = trialNumber(trials, row);
  return `${number === null ? `row ${row + 1}` : `trial ${number}`}: ${report.workloads[trials.column('workload')[row]]}, ${cellName(cellOf(trials, row))}, block ${trials.column('block')[row]}, ${valueText(response, value)}` +
    (Number.isFinite(trials.deviations(response)[row]) ? ` (${response.scale === 'log' ? signed(percent(trials.deviations(response)[row], 3)) : differenceText(response, trials.deviations(response)[row])} from its cell)` : '') + (isExcluded(trials, row) ? ', left out' : '');
}

function disturbancesOf(trials, row) {
  const bits = trials.column('disturbances')[row];
  return disturbanceWords.filter((_, i) => bits >> i & 1);
}

function pairsTable(title, pairs) {
  return h('table', {class: 'pairs'}, h('caption', {class: 'offstage'}, title), h('tbody', {}, pairs.map(([key, value]) => h('tr', {}, h('th', {scope: 'row'}, key), h('td', {}, value)))));
}

// What tells one from the other; where a trial can't be replayed so, why.
function runsOfThisLayout(trials, row, number) {
  if (samples.simulated) return h('p', {class: 'note'}, 'A simulated trial of one layout is always the same: there was no moment that could have been bad.');
  if (samples.replayed) return h('p', {class: 'note'}, `This experiment is the answer for trial ${samples.replayed.trial} of ${short(samples.replayed.experiment, 60)}: see the top of the page.`);
  const no = (evidence.no_replays || []).find(({cells}) => cells.length === 0 || cells.some(levels => levels.every((level, f) => level === trials.level(f, row))));
  if (no) return h('p', {class: 'note'}, no.why);
  return [command(`stabctl replay ${number} --times 20${evidence.options}`), h('p', {class: 'note'}, 'Runs this very layout 20 times, beside 20 fresh layouts of its cell, in random order on the same quiet machine, and answers whether the layout is slow or the moment was. It becomes an experiment with a report of its own.')];
}

function openTrial(trials, row) {
  const number = trialNumber(trials, row), buildIndex = trials.has('build') ? Number(trials.column('build')[row]) - 1 : -1, build = evidence.builds[buildIndex];
  const seed = trials.column('seed')[row], ledger = samples.columns.filter(column => column.name.startsWith('weather/')), doses = samples.columns.filter(column => column.name.startsWith('dose/') && column.name !== 'dose/degradations');
  const excluded = trials.column('excluded')[row], degradation = trials.has('dose/degradations') ? trials.column('dose/degradations')[row] : 0;
  const title = number === null ? `Row ${row + 1}` : `Trial ${number}`, dialog = document.getElementById('trial'), tidy = value => Number.isFinite(value) ? significant(value, 6) : '–';
  dialog.replaceChildren();
  fill(dialog, {}, [h('h2', {id: 'trial-title'}, title),
    h('p', {}, `${report.workloads[trials.column('workload')[row]]}, ${samples.factors.map((factor, f) => `${factor.name} ${factor.levels[trials.level(f, row)]}`).join(', ')}.`),
    excluded > 0 && h('p', {class: 'warning'}, 'Left out of the analysis by a declared rule: ', samples.exclusions[excluded - 1]),
    number !== null && [h('h3', {}, 'Again'), !evidence.at_daemon && ['', ` --under 'perf stat -d'`, ` --under 'gdb --args'`].map(tool => [command(`stabctl replay ${number}${tool}${evidence.options}`), ' ']),
      h('p', {class: 'note'}, 'Runs it with its binary, seed and settings. The seed gives the same sequence of layouts; when each begins is driven by time. Under perf its hardware counts are yours to choose; in gdb the script stab-gdb.py names functions that have moved. To tell a bad layout from a bad moment:'), runsOfThisLayout(trials, row, number)],
    h('h3', {}, 'What it measured'), pairsTable('What it measured', responses.map((response, r) => [response.name.replace(/_/g, ' '), valueText(response, trials.column('value/' + r)[row], 6) + (Number.isFinite(trials.deviations(response)[row]) ? `, ${response.scale === 'log' ? signed(percent(trials.deviations(response)[row])) : differenceText(response, trials.deviations(response)[row])} from its cell` : '')])),
    h('h3', {}, 'What it was'), pairsTable('What it was', [['block', String(trials.column('block')[row])], ['position in the run', String(trials.column('order')[row])], trials.has('started_s') && ['began', `${significant(trials.column('started_s')[row], 5)} s into the run`],
      ['layout seed', h('code', {}, BigInt(seed).toString(16).padStart(16, '0'))], ['link', String(trials.column('link')[row])], build && ['build', short(build.name, 80)], build && build.sha256 && ['binary', h('code', {}, build.sha256)]].filter(Boolean)),
    doses.length > 0 && trials.column('dose')[row] > 0 && [h('h3', {}, 'Its randomization'), pairsTable('Its randomization', doses.map(column => [column.name.slice(5).replace(/_/g, ' '), tidy(Number(trials.column(column.name)[row]))])), degradation > 0 && h('p', {class: 'warning'}, samples.degradations[degradation - 1].split('\u001f').join('; '))],
    ledger.length > 0 && [h('h3', {}, 'The machine meanwhile'), pairsTable('The machine meanwhile', ledger.map(column => column.name.slice(8)).map(key => [ledgerWords[key] || key.replace(/_/g, ' '), ledgerText(key, trials.column('weather/' + key)[row])]))],
    disturbancesOf(trials, row).length > 0 && h('p', {}, 'Disturbed by: ' + disturbancesOf(trials, row).join(', ') + '.'),
    h('form', {method: 'dialog'}, h('button', {}, 'close'))]);
  dialog.showModal();
}

function trialsSection(trials) {
  const columns = [{title: trials.has('trial') ? 'trial' : 'row', number: true}, {title: workloadWord}, {title: 'cell'}, {title: 'block', number: true}, {title: 'order', number: true}, {title: 'link', number: true},
    ...responses.filter(response => response.declared).map(response => ({title: responseLabel(response), number: true})), {title: 'disturbed by'}, {title: 'left out by'}];
  const declared = responses.filter(response => response.declared);
  const rows = {length: trials.rows, row: row => [trialNumber(trials, row) ?? row + 1, report.workloads[trials.column('workload')[row]], cellName(cellOf(trials, row)), trials.column('block')[row], trials.column('order')[row], Number(trials.column('link')[row]),
    ...declared.map(response => trials.values(response)[row]), disturbancesOf(trials, row).join(', '), isExcluded(trials, row) ? samples.exclusions[trials.column('excluded')[row] - 1] : '']};
  let list = null;
  const summary = h('div', {role: 'status'}), describe = () => summary.replaceChildren(...[filterSummary(state.words)].filter(Boolean));
  // Of 100,000 rows the filter is read once, not for each.
  let filter = filteredBy();
  watch(keys => {
    if (!keys.includes('rows') || !list) return;
    filter = filteredBy();
    describe();
    list.reselect();
  });
  const details = h('details', {class: 'twin', id: 'all-trials', toggle: () => {
    if (!details.open || list) return;
    list = table('The trials one by one', columns, rows, {filter: true, open: row => openTrial(trials, row), keep: row => passes(filter, trials, row), words: state.words, typed: words => { setState({words}); describe(); }, filtered: 'Verdicts, intervals and all other statistics stay those of all analysed trials: they do not follow this filter. “Any two cells” has the answers for single cells'});
    details.append(h('div', {class: 'controls'}, levelChoices()), summary, list);
    describe();
  }}, h('summary', {}, `all ${grouped(trials.rows)} trials, to sort, filter and open`));
  if (isFiltered(filter) || state.words) details.open = true;
  return details;
}

// What `report --format csv` prints, for the R script.
function trialsCsv(trials) {
  const columns = [{title: 'workload'}, ...samples.factors.map(factor => ({title: factor.name})), ...['block', 'order', 'seed', 'link', 'layout', 'excluded'].map(title => ({title})), ...responses.map(response => ({title: response.name}))];
  const codeFactor = samples.factors.findIndex(factor => factor.name === 'code' && factor.layout), fixed = new Set(['off', 'none', 'no', 'copy', 'zero', 'base', '0', 'false']);
  const layouts = new Map(), inCell = new Map(), rows = [];
  for (let row = 0; row < trials.rows; ++row) {
    const cell = [trials.column('workload')[row], ...cellOf(trials, row)].join(), codeFixed = codeFactor < 0 || fixed.has(samples.factors[codeFactor].levels[trials.level(codeFactor, row)]);
    const key = `${cell}|${trials.column('link')[row]}|${codeFixed ? '' : trials.column('seed')[row]}`;
    if (!layouts.has(key)) { inCell.set(cell, (inCell.get(cell) || 0) + 1); layouts.set(key, inCell.get(cell)); }
    rows.push([report.workloads[trials.column('workload')[row]], ...samples.factors.map((factor, f) => factor.levels[trials.level(f, row)]), trials.column('block')[row], trials.column('order')[row], trials.column('seed')[row], Number(trials.column('link')[row]),
      layouts.get(key), isExcluded(trials, row) ? samples.exclusions[trials.column('excluded')[row] - 1] : '', ...responses.map((response, r) => trials.column('value/' + r)[row])]);
  }
  return csvOf(columns, rows);
}

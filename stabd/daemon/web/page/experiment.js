// One experiment: how far it is and how well it knows what it has measured. Which cell is faster is its report's to say,
// when it is over.

let looked = null;  // the answer that is shown

async function openExperiment(id) {
  state.experiment = id;
  writeFragment();
  await showExperiment();
  const title = document.querySelector('#experiment h2');
  title?.focus();
  title?.scrollIntoView({block: 'nearest'});
}

function closeExperiment() {
  state.experiment = 0;
  looked = null;
  writeFragment();
  document.getElementById('experiment').replaceChildren();
}

async function showExperiment() {
  const place = document.getElementById('experiment'), id = state.experiment;
  if (!id) return place.replaceChildren();
  let row;
  try {
    row = await ask('experiments/' + id);
  } catch (error) {
    looked = null;
    if (state.experiment === id) place.replaceChildren(h('div', {class: 'panel'}, h('h2', {tabindex: -1}, 'Experiment ' + id), h('p', {class: 'warning'}, error.message), closeButton()));
    return;
  }
  if (state.experiment !== id) return;
  const open = new Set([...place.querySelectorAll('details[open]')].map(part => part.id));
  const same = looked?.id === id, outputs = same ? place.querySelector('#outputs')?.shown : null, log = same ? place.querySelector('#log pre')?.textContent : null;
  looked = row;
  keepWork(place, same, () => place.replaceChildren(panelOf(row, open, log, outputs)));
}

// What somebody has begun to type stays, and so does the focus, while the panel is drawn again.
function keepWork(place, same, draw) {
  const changed = field => field.tagName === 'SELECT' ? !field.selectedOptions[0]?.defaultSelected : field.value !== field.defaultValue;
  const typed = same ? [...place.querySelectorAll('input, select')].filter(changed).map(field => [field.id, field.value]) : [];
  const active = place.contains(document.activeElement) ? document.activeElement : null;
  const selector = !same || !active ? null : active.id ? '#' + CSS.escape(active.id) : active.dataset.action ? `[data-action="${active.dataset.action}"]` : active.tagName === 'H2' ? 'h2' : null;
  draw();
  for (const [id, value] of typed) {
    const field = place.querySelector('#' + CSS.escape(id));
    if (!field) continue;
    field.value = value;
    field.dispatchEvent(new Event('change'));
  }
  // What is kept while the panel is drawn again has only lost the focus.
  const focused = same && active && place.contains(active) ? active : selector && place.querySelector(selector);
  if (focused) focused.focus({preventScroll: true});
}

function closeButton() { return h('button', {type: 'button', click: closeExperiment}, 'close'); }

// Trials with a result; the others that are done have failed.
function recordedOf(row) { return row.trials?.recorded || 0; }

function factsOf(row) {
  const failed = row.done - recordedOf(row);
  const facts = [['state', stateOf(row) + (row.waits_for ? `: ${row.waits_for}` : '')], ['trials', `${grouped(row.done)} of ${grouped(row.planned)} done` + (failed > 0 ? `, ${grouped(failed)} of them did not pass` : '')], ['submitted', momentText(row.submitted_at_ns / 1e6)], ['machine time so far', durationText(row.machine_ns)], ['priority', String(row.priority)], ['user', String(row.uid)]];
  if (row.finished_at_ns) facts.push(['over', momentText(row.finished_at_ns / 1e6)]);
  if (row.left_ns !== undefined) facts.push(['left', 'about ' + durationText(row.left_ns)]);
  return h('p', {class: 'facts'}, facts.map(([name, value], i) => [i > 0 && ' · ', name + ' ', h('b', {}, value)]));
}

function precisionOf(row) {
  const withWidth = row.cells.filter(cell => cell.half_width !== undefined);
  const sentence = row.cells.length === 0 ? (isOver(row) ? 'No trial was recorded.' : 'No trial has been recorded yet.') :
    row.widest !== undefined ? `Each cell’s mean time is known to ±${percent(row.widest, 2)} or better.` :
    `Of ${count(row.cells.length, 'cell')}, ${withWidth.length} have enough layouts for an interval.`;
  const columns = [{title: 'program'}, {title: 'cell'}, {title: 'layouts', number: true}, {title: '± of the mean time', number: true, text: width => percent(width, 2)}];
  return [h('h3', {}, 'How well it is known'), h('p', {}, sentence),
    row.masked && h('p', {class: 'note'}, 'Cells go by names that say nothing until the experiment is over: whoever sees which one leads is tempted to stop there, and that makes false alarms.'),
    row.cells.length > 0 && h('details', {class: 'twin', id: 'cells'}, h('summary', {}, 'every cell'),
      table('how well each cell is known', columns, row.cells.map(cell => [cell.subject, cell.cell, cell.n + (cell.shared || []).length, cell.half_width ?? null])))];
}

// What a confidence sequence says so far: it holds at every look, so it is shown while the cells are masked.
function verdictsOf(row) {
  if (!row.verdicts) return null;
  const rows = row.verdicts.contrasts.map(one =>
    [one.workload || one.population, one.response, `${one.factor}: ${one.level} / ${one.baseline}`, differenceText(one, one.estimate), intervalText(one, one), one.verdict]);
  return [h('h3', {}, 'Verdicts so far'), h('p', {}, `After ${row.verdicts.replicates} replicates. The plan stops by a confidence sequence, whose intervals hold at every look: seeing them is no reason to trust them less.`),
    table('verdicts so far', [{title: 'about'}, {title: 'response'}, {title: 'level / baseline'}, {title: 'difference', number: true}, {title: 'interval'}, {title: 'verdict'}], rows)];
}

// Where its blocks run on machines: who has which slot, how far it is, and when it was last heard.
function machinesOf(row) {
  if (!row.machines) return null;
  const over = isOver(row), lost = row.machines.reduce((sum, slot) => sum + slot.losses, 0), done = row.machines.reduce((sum, slot) => sum + slot.done, 0), all = row.machines.reduce((sum, slot) => sum + slot.blocks, 0);
  const columns = [{title: 'slot', number: true}, {title: 'machine'}, {title: 'state'}, {title: 'preflight'}, {title: 'blocks done', number: true}, {title: 'of', number: true}, {title: 'last heard', text: age => durationText(age) + ' ago'}, {title: 'times lost', number: true}, {title: 'what happened'}];
  const rows = row.machines.map(slot => [slot.slot, slot.machine || slot.host || null, slot.state, slot.preflight ? `${slot.preflight.passed} of ${slot.preflight.passed + slot.preflight.failed} passed` : null, slot.done, slot.blocks, over || slot.done === slot.blocks ? null : slot.heard_ns ?? null, slot.losses, slot.why || null]);
  return [h('h3', {}, 'On machines'), h('p', {}, `${grouped(done)} of ${count(all, 'block')} have come from ${count(row.machines.length, 'slot')}.` + (lost > 0 ? ` ${count(lost, 'worker')} ${lost === 1 ? 'was lost' : 'were lost, each'} with the block that it ran.` : '')),
    table('slots and their machines', columns, rows)];
}

// Two cells of its report, side by side: the report computes, with the price of choosing among all pairs.
function compareForm(row) {
  const names = [...new Set(row.cells.map(cell => cell.cell))];
  if (row.masked || names.length < 2) return null;
  const pick = (id, chosen) => h('select', {id, change: show}, names.map((name, i) => h('option', {value: name, selected: i === chosen}, short(name, 60))));
  const first = pick('first-cell', 0), second = pick('second-cell', 1), link = h('a', {id: 'compare-link', target: '_blank', rel: 'noopener'}, 'compare them');
  function show() { link.href = `/experiments/${row.id}/report.html#first=${encodeURIComponent(first.value)}&second=${encodeURIComponent(second.value)}&at=cells`; }
  show();
  return h('p', {class: 'controls'}, h('label', {class: 'choice'}, 'cell ', first), h('label', {class: 'choice'}, 'against ', second), link);
}

function reportLink(row) {
  if (row.masked) return [h('p', {class: 'note'}, 'Its report can be seen when it is over. Before that, it can be unmasked.'), change('unmask', row, {grave: true})];
  if (isOver(row) && recordedOf(row) === 0) return h('p', {class: 'note'}, 'It has no report, since no trial was recorded; what its trials have printed is below.');
  return h('p', {}, h('a', {href: `/experiments/${row.id}/report.html`, target: '_blank', rel: 'noopener', id: 'report-link'}, 'Open its report'), isOver(row) ? '' : row.verdicts ? ', so far.' : ', so far: verdicts are withheld until it is over.');
}

function changesOf(row) {
  const id = String(row.id), over = isOver(row), buttons = [];
  if (!over && row.state !== 'paused') buttons.push(change('pause', row));
  if (row.state === 'paused' || row.state === 'failed') buttons.push(change('resume', row));
  if (!over) buttons.push(change('cancel', row, {grave: true}));
  if (over) buttons.push(change('delete', row, {grave: true}));
  const forms = [];
  if (row.state !== 'cancelled') forms.push(numberForm('extend-blocks', 'blocks to add', 'extend', 10, blocks => perform('extend', {experiment: id, blocks}, `experiment ${id} has ${count(blocks, 'more block')} to run`)));
  if (!over) forms.push(numberForm('new-priority', 'priority', 'set', row.priority, priority => perform('priority', {experiment: id, priority}, `experiment ${id} has priority ${priority}`)));
  forms.push(numberForm('rerun-trial', 'number of a trial that failed', 'rerun', '', trial => perform('rerun', {trial}, `trial ${trial} is planned again`)));
  if (over) forms.push(numberForm('replay-trial', 'number of a trial that was slow', 'run its layout 20 times', '', trial => perform('replay', {trial, times: 20}, `the layout of trial ${trial} runs again, beside fresh ones, as an experiment of its own`)));
  return [h('p', {class: 'actions'}, buttons), h('div', {class: 'controls'}, forms)];
}

function logOf(row, isOpen, text) {
  const body = h('pre', {tabindex: 0, role: 'region', 'aria-label': 'log'}, text || '');
  const details = h('details', {class: 'twin', id: 'log', open: isOpen, toggle: async () => {
    if (!details.open || body.textContent) return;
    try {
      body.textContent = (await ask(`experiments/${row.id}/log`)).text || 'nothing yet';
    } catch (error) {
      body.textContent = error.message;
    }
  }}, h('summary', {}, 'builds, events and trials that failed'), body);
  return details;
}

function panelOf(row, open, log, outputs) {
  const panel = h('div', {class: 'panel'}, h('h2', {tabindex: -1}, `${row.id} ${short(row.name, 120)}`), factsOf(row),
    row.failure && h('p', {class: 'warning'}, row.failure), progressOf(row), machinesOf(row), verdictsOf(row), reportLink(row), compareForm(row), precisionOf(row), changesOf(row),
    outputsOf(row, open.has('outputs'), outputs), logOf(row, open.has('log'), log), h('p', {}, closeButton()));
  for (const id of open) if (id !== 'log' && id !== 'outputs') panel.querySelector('#' + CSS.escape(id))?.setAttribute('open', '');
  return panel;
}

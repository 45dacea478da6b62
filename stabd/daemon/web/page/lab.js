// The page: what runs and waits, one experiment, all of them, the machine.

const refreshEvery = 200, paintEvery = 250;
let refreshing = 0, painting = 0;
let refusal = '';  // why the last refresh failed, as it is said

function section(id, title, ...content) {
  return h('section', {id, 'aria-labelledby': id + '-title'}, h('h2', {id: id + '-title'}, title), content);
}

function showConnection(well) {
  known.connected = well;
  const place = document.getElementById('connection');
  const text = well ? 'live' : 'the connection is lost; trying again';
  if (place.textContent === text) return;
  place.textContent = text;
  place.className = well ? 'connection' : 'connection lost';
}

// What is true no longer is not said any longer; what became of a command stays.
function forgetRefusal() {
  const place = document.getElementById('said');
  if (refusal && place.textContent === refusal) {
    place.textContent = '';
    place.className = 'said';
  }
  refusal = '';
}

async function refresh() {
  try {
    const asked = Date.now(), answer = await ask('status');
    known.rows = new Map(answer.experiments.map(row => [row.id, {...row, asked}]));
    known.leftOut = answer.left_out || 0;
    paint(true);
    if (state.experiment) await showExperiment();
    forgetRefusal();
    document.documentElement.dataset.ready = 'yes';
  } catch (error) {
    refusal = error.message;
    said(refusal, false);
  }
}

function refreshSoon() {
  if (!refreshing) refreshing = setTimeout(() => { refreshing = 0; refresh(); }, refreshEvery);
}

function paintSoon() {
  if (!painting) painting = setTimeout(() => { painting = 0; paint(false); }, paintEvery);
}

// The focus stays where it was: what has it is drawn again like everything else.
function keepFocus(place, draw) {
  const active = document.activeElement;
  const row = place.contains(active) ? active.closest('[data-experiment]')?.dataset.experiment : null;
  const at = row ? [...active.closest('tr').querySelectorAll('button')].indexOf(active) : -1;
  draw();
  if (at >= 0) place.querySelector(`[data-experiment="${row}"]`)?.querySelectorAll('button')[at]?.focus();
}

function paint(all) {
  const queue = document.getElementById('queue-now');
  keepFocus(queue, () => queue.replaceChildren(queueTable()));
  if (!all) return;
  const place = document.getElementById('all-now'), experiments = allExperiments();
  if (!place.contains(experiments)) place.append(experiments, h('p', {class: 'note'}));
  place.lastChild.textContent = known.leftOut ? `${grouped(known.leftOut)} older ones are not shown.` : '';
}

function themeChoice() {
  const select = h('select', {id: 'theme', change: () => { state.theme = select.value; applyTheme(); writeFragment(); changed('theme'); }},
                   [['auto', 'as the system'], ['light', 'light'], ['dark', 'dark']].map(([value, text]) => h('option', {value, selected: state.theme === value}, text)));
  return h('label', {class: 'choice'}, 'colours ', select);
}

function openLab() {
  readFragment();
  applyTheme();
  document.body.append(h('main', {},
    h('div', {class: 'top'}, h('h1', {}, 'Lab'), h('span', {id: 'connection', class: 'connection', role: 'status'}), themeChoice()),
    h('p', {id: 'said', class: 'said', role: 'status'}),
    section('queue', 'Running and waiting', h('div', {id: 'queue-now'})),
    h('div', {id: 'experiment'}),
    section('submit', 'Submit', h('details', {class: 'twin'}, h('summary', {}, 'a plan'), submitForm())),
    section('all', 'Experiments', h('div', {id: 'all-now'})),
    section('series', 'Trends', seriesSection(), h('div', {id: 'trend'})),
    section('machine', 'Machine', machineSection()),
    section('events', 'What happened while this page was open', h('ul', {id: 'happened', class: 'happened', tabindex: 0, 'aria-label': 'what happened'}))),
    h('footer', {}, h('p', {}, 'Times until an experiment is over are counted from its own trials so far; other users’ experiments may come between.')),
    h('dialog', {id: 'question', 'aria-labelledby': 'question-title'}), h('div', {id: 'spoken', class: 'offstage', role: 'status', 'aria-live': 'polite'}));
  watchFigures();
  window.addEventListener('hashchange', () => {
    const before = state.series;
    readFragment();
    applyTheme();
    showExperiment();
    if (state.series !== before) state.series ? openTrend(state.series) : closeTrend();
  });
  follow();
  refresh();
  if (state.series) openTrend(state.series);
}

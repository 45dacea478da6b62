// What is shown, and what is known of the lab. The experiment that is open is in the fragment, so that a link opens it.

const state = {theme: 'auto', experiment: 0, series: ''};
const watchers = [];
const known = {rows: new Map(), leftOut: 0, now: new Map(), happened: [], connected: false};

const overStates = ['done', 'failed', 'cancelled'];
const isOver = row => overStates.includes(row.state);
const stateOf = row => row.running ? 'running' : row.waits_for ? 'waits' : row.state;

function readFragment() {
  const words = new Map(location.hash.slice(1).split('&').map(pair => pair.split('=')));
  state.experiment = Number(words.get('experiment')) || 0;
  try {
    state.series = decodeURIComponent(words.get('series') || '');
  } catch { state.series = ''; }
  if (['light', 'dark'].includes(words.get('theme'))) state.theme = words.get('theme');
}

function writeFragment() {
  const words = [];
  if (state.experiment) words.push('experiment=' + state.experiment);
  if (state.series) words.push('series=' + encodeURIComponent(state.series));
  if (state.theme !== 'auto') words.push('theme=' + state.theme);
  history.replaceState(null, '', words.length ? '#' + words.join('&') : location.pathname);
}

// Figures ask to be told of what they depend on (analysis/page/figure.js).
function watch(watcher) { watchers.push(watcher); }
function changed(...keys) { for (const watcher of watchers) watcher(keys); }

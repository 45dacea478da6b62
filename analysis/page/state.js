// What is shown: in the fragment of the URL, so that a link shows the same. Verdicts never depend on it.

const state = {response: primary.name, workload: report.workloads[0] || '', theme: 'auto', distribution: 'cloud', whole: '', turned: '', sort: '0', pair: '0', crossed: '0', draw: '0', causal: '0', load: '0', span: 'all', first: '', second: '', at: '', suite: '0', rows: '', words: ''};
const watchers = [];

function readState() {
  for (const pair of location.hash.slice(1).split('&')) {
    const [key, value] = pair.split('=');
    try {
      if (key in state && value !== undefined) state[key] = decodeURIComponent(value);
    } catch { /* not ours: the default stands */ }
  }
  if (!responses.some(response => response.name === state.response)) state.response = primary.name;
  if (!report.workloads.includes(state.workload)) state.workload = report.workloads[0] || '';
}

function setState(change) {
  Object.assign(state, change);
  const text = Object.entries(state).map(([key, value]) => `${key}=${encodeURIComponent(value)}`).join('&');
  if (text.length < 4000) history.replaceState(null, '', '#' + text);
  for (const watcher of watchers) watcher(Object.keys(change));
}

// The part of the page that a link leads to, once.
function takeAt() {
  const at = state.at;
  state.at = '';
  return at;
}

// Called with the keys that changed.
function watch(watcher) { watchers.push(watcher); }

// A labelled choice that sets one key of the state.
function choice(key, title, options) {
  if (options.length < 2) return null;
  const select = h('select', {change: event => setState({[key]: event.target.value})},
                   options.map(([value, text]) => h('option', {value, selected: state[key] === value}, short(text, 60))));
  watch(keys => { if (keys.includes(key)) select.value = state[key]; });
  return h('label', {class: 'choice'}, title + ' ', select);
}

const shownResponse = () => responseOf(state.response);
const shownWorkload = () => Math.max(0, report.workloads.indexOf(state.workload));

function workloadChoice() { return choice('workload', workloadWord, report.workloads.map(name => [name, name])); }
// More of them than anybody would look through, as a suite has: a field that completes what is typed.
const mostInAList = 60;

function responseField() {
  if (!document.getElementById('all-responses')) document.body.append(h('datalist', {id: 'all-responses'}, responses.map(response => h('option', {value: response.name}))));
  const field = h('input', {list: 'all-responses', value: state.response, size: 28, autocomplete: 'off', change: event => {
    if (responses.some(response => response.name === event.target.value)) setState({response: event.target.value});
    else event.target.value = state.response;
  }});
  watch(keys => { if (keys.includes('response')) field.value = state.response; });
  return h('label', {class: 'choice'}, 'response ', field);
}

function responseChoice() { return responses.length > mostInAList ? responseField() : choice('response', 'response', responses.map(response => [response.name, response.name.replace(/_/g, ' ') + (response.declared ? '' : ' (exploratory)')])); }

function figuresOf(response, workload) {
  const found = figures.responses.find(other => other.name === response.name);
  return found ? found.workloads[workload] : {cells: [], interactions: [], name: ''};
}

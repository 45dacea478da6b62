// What happens, as the daemon tells it. A browser has six connections for one host, so its tabs share one stream: the tab that
// holds the lock has it and tells the others. Hidden tabs give it away. EventSource comes back by itself and says what it has
// seen last; the daemon then sends what was missed, or says that everything has to be looked at anew.

const againAfter = 5000;
let channel = null, giveAway = null;

function follow() {
  channel = new BroadcastChannel('stab-events');
  channel.onmessage = event => heard(event.data);
  document.addEventListener('visibilitychange', () => document.hidden ? giveAway?.() : (lead(), refresh()));
  lead();
}

function lead() {
  if (document.hidden || giveAway) return;
  const gone = new AbortController();
  let release = null;
  giveAway = () => {
    giveAway = null;
    gone.abort();
    release?.();
  };
  navigator.locks.request('stab-events', {signal: gone.signal}, () => new Promise(done => {
    let source = null, timer = 0;
    const both = message => { heard(message); channel.postMessage(message); };
    const open = () => {
      source = new EventSource('/api/events');
      source.addEventListener('stab', event => both({kind: 'event', data: event.data}));
      source.addEventListener('anew', () => both({kind: 'anew'}));
      source.onopen = () => both({kind: 'connected'});
      source.onerror = () => {
        both({kind: 'lost'});
        if (source.readyState === EventSource.CLOSED) timer = setTimeout(open, againAfter);
      };
    };
    release = () => { clearTimeout(timer); source?.close(); done(); };
    open();
  })).catch(() => {});
}

function heard(message) {
  if (message.kind === 'connected' || message.kind === 'lost') return showConnection(message.kind === 'connected');
  if (message.kind === 'anew') {
    showConnection(true);
    return refreshSoon();
  }
  showConnection(true);
  happened(JSON.parse(message.data));
}

function happened(event) {
  const at = Date.now() - (event.ago_ms || 0);  // of what was missed; by this browser's clock
  const row = known.rows.get(event.experiment);
  if (event.kind === 'trial') {
    if (!row) return refreshSoon();
    row.done = event.done;
    row.planned = event.planned;
    if (event.left_ns !== undefined) Object.assign(row, {left_ns: event.left_ns, ends_in_ns: event.left_ns, asked: at});
    known.now.set(event.experiment, `${event.subject} ${event.cell}${event.failure ? ': ' + event.state + ': ' + event.failure : ''}`);
    if (event.failure) note(at, event.experiment, `${event.subject} ${event.cell}: ${event.state}: ${event.failure}`);
    return paintSoon();
  }
  if (event.kind === 'progress') {
    const visits = event.points.map(point => `${grouped(point.visits)} ${point.name}`).join(', ');
    known.now.set(event.experiment, `${event.subject}: ${visits} so far`);
    return paintSoon();
  }
  if (event.kind === 'phase') known.now.set(event.experiment, event.text);
  if (event.kind === 'note' || event.kind === 'phase') {
    note(at, event.experiment, event.text);
    // Of an experiment on machines each block is a phase, and its slots have changed.
    return row && row.running && !row.machines ? paintSoon() : refreshSoon();
  }
  if (event.kind === 'end') {
    known.now.delete(event.experiment);
    note(at, event.experiment, event.state + (event.text ? ': ' + event.text : ''));
  }
  refreshSoon();
}

function note(at, experiment, text) {
  known.happened.unshift({at, experiment, text});
  known.happened.length = Math.min(known.happened.length, 200);
  document.getElementById('happened').replaceChildren(...known.happened.map(one => h('li', {}, h('time', {}, momentText(one.at)), `${one.experiment}: ${short(one.text, 300)}`)));
}

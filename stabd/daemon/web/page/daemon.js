// Asking the daemon. What it says when it refuses is meant for people, and is shown as it is.

async function answerOf(response) {
  let json = null;
  try {
    json = await response.json();
  } catch { /* not the daemon's: a relay that has lost it, or another program on this port */ }
  if (json?.error) throw new Error(json.error.message);
  if (!response.ok || !json) throw new Error(`the answer is ${response.status} ${response.statusText}`);
  return json.result;
}

const ask = async path => answerOf(await fetch('/api/' + path));

const tell = async (method, params) => answerOf(await fetch('/api/' + method, {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Stab': '1'}, body: JSON.stringify(params)}));

function durationText(ns) {
  const seconds = Math.round(ns / 1e9);
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ${Math.round(seconds % 3600 / 60)} min`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

function momentText(ms) {
  const moment = new Date(ms), today = new Date();
  const time = moment.toLocaleTimeString([], {hour: '2-digit', minute: '2-digit'});
  return moment.toDateString() === today.toDateString() ? time : moment.toLocaleDateString([], {year: 'numeric', month: 'short', day: 'numeric'}) + ' ' + time;
}

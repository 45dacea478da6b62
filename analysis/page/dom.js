// Elements. Texts become text nodes, never markup: names come from plans and files that others wrote.

// "95 % interval": no line ends between a number and its unit. What is to be copied stays as it is.
const verbatim = new Set(['code', 'option', 'pre', 'script', 'style', 'textarea']);
const withUnits = text => text.replace(/([0-9\])]) (?=(?:%|ns|µs|us|ms|s|min|h|KiB|MiB|GiB)(?![\p{L}\p{N}_]))/gu, '$1\u00a0');

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      element.append(typeof child === 'string' && !verbatim.has(element.localName) ? withUnits(child) : child);
  return element;
}

function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function s(tag, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

// Text in a plot. anchor: start, middle, end.
function label(x, y, text, anchor = 'start', className = '') {
  return s('text', {x: x.toFixed(1), y: y.toFixed(1), 'text-anchor': anchor, class: 'label ' + className}, text);
}

// A name from a plan may be megabytes; what is left out is in the title.
function short(text, longest = 42) {
  const symbols = Array.from(text.length > 4 * longest ? text.slice(0, 4 * longest) : text);
  return symbols.length <= longest && text.length <= 4 * longest ? text : symbols.slice(0, longest - 1).join('') + '…';
}

// These names, each cut to that length, such that different ones stay different: what all begin and end with goes first, then the
// middle of each; what is still equal gets a number.
function shortApart(texts, longest = 42) {
  if (texts.every(text => short(text, longest) === text)) return texts;
  const all = texts.map(text => Array.from(text)), shortest = Math.min(...all.map(one => one.length)), first = all[0];
  let begin = 0, end = 0;
  while (begin < shortest && all.every(one => one[begin] === first[begin])) ++begin;
  while (end < shortest - begin && all.every(one => one[one.length - 1 - end] === first[first.length - 1 - end])) ++end;
  const used = new Map(texts.map(text => [text, text]));
  return all.map((whole, i) => {
    if (whole.length <= longest) return texts[i];
    // Some of what is common stays before what differs, where there is room.
    const from = Math.min(begin, Math.max(0, whole.length - end - longest + 2)), to = Math.min(whole.length, Math.max(from + longest - 2, whole.length - end));
    let part = whole.slice(from < 2 ? 0 : from, to > whole.length - 2 ? whole.length : to);
    const room = longest - (from < 2 ? 0 : 1) - (to > whole.length - 2 ? 0 : 1), head = Math.ceil((room - 1) / 2);
    if (part.length > room) part = [...part.slice(0, head), '…', ...part.slice(part.length - (room - 1 - head))];
    const cut = [...(from < 2 ? '' : '…'), ...part, ...(to > whole.length - 2 ? '' : '…')];
    let text = cut.join('');
    for (let number = 2; (used.get(text) ?? texts[i]) !== texts[i]; ++number) text = `${cut.slice(0, longest - String(number).length - 1).join('')} ${number}`;
    used.set(text, texts[i]);
    return text;
  });
}

function say(text) {
  const live = document.getElementById('spoken');
  if (live) live.textContent = text;
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', {'aria-hidden': 'true', class: 'offstage'});
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say('copied');
}

// A command that a click copies.
function command(text) {
  return h('span', {class: 'command'}, h('code', {}, text),
           h('button', {type: 'button', class: 'small', click: () => copyText(text), 'aria-label': 'copy the command ' + short(text, 80)}, 'copy'));
}

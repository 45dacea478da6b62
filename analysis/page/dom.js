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

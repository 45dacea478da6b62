// What changes something. Each says what became of it where it was asked.

let askedFor = null;  // the question that is open

function said(text, good) {
  const place = document.getElementById('said');
  place.className = 'said ' + (good ? 'good' : 'bad');
  place.textContent = text;
  say(text);
}

async function perform(method, params, done) {
  try {
    const result = await tell(method, params);
    said(done, true);
    await refresh();
    return result;
  } catch (error) {
    said(`${method}: ${error.message}`, false);
    return null;
  }
}

const doneWords = {cancel: 'is cancelled; what it has recorded is kept', pause: 'stops after its trial', resume: 'waits for its turn again', delete: 'is deleted', unmask: 'shows its cells by name from now on; its report will say so'};
const questions = {
  cancel: row => `Cancel experiment ${row.id}? Trials that have not run will not run; what is recorded is kept.`,
  delete: row => `Delete experiment ${row.id} with all it has recorded? Nothing brings it back; a bundle would keep it.`,
  unmask: row => `Show the cells of experiment ${row.id} by name before it is over? Looking early makes false alarms, so its report will say that you did.`,
};

// A button for a change that needs nothing but the experiment's number; the grave ones ask first.
function change(method, row, {grave = false} = {}) {
  const act = () => perform(method, {experiment: String(row.id)}, `experiment ${row.id} ${doneWords[method]}`);
  return h('button', {type: 'button', class: grave && 'grave', 'data-action': method, 'aria-label': `${method} experiment ${row.id}`,
                      click: () => questions[method] ? question(questions[method](row), method, act) : act()}, method);
}

function question(text, word, act) {
  const dialog = document.getElementById('question');
  askedFor = act;
  dialog.replaceChildren(h('h2', {id: 'question-title'}, word), h('p', {}, text), h('p', {class: 'actions'},
    h('button', {type: 'button', class: 'grave', id: 'question-yes', click: () => { const go = askedFor; dialog.close(); go?.(); }}, 'yes, ' + word),
    h('button', {type: 'button', click: () => dialog.close()}, 'no')));
  dialog.showModal();
}

// A number and a button.
function numberForm(id, title, word, value, act) {
  const input = h('input', {id, type: 'number', value, size: 6, step: 1, required: true});
  return h('form', {submit: event => { event.preventDefault(); act(Number(input.value)); }},
           h('label', {class: 'choice', for: id}, title + ' '), input, ' ', h('button', {type: 'submit', 'data-action': word}, word));
}

function submitForm() {
  const plan = h('textarea', {id: 'plan', required: true, spellcheck: 'false', placeholder: '[experiment]\nname = "…"'});
  const directory = h('input', {id: 'directory', value: '/', required: true, size: 50});
  const priority = h('input', {id: 'priority', type: 'number', value: 0, step: 1});
  const file = h('input', {id: 'plan-file', type: 'file', accept: '.toml', change: async () => { if (file.files[0]) plan.value = await file.files[0].text(); }});
  return h('form', {class: 'fields', submit: async event => {
    event.preventDefault();
    const result = await perform('submit', {plan: plan.value, path: file.files[0]?.name || 'plan.toml', directory: directory.value, priority: Number(priority.value)}, 'submitted');
    if (!result) return;
    said(`submitted as experiment ${result.experiment}${result.warnings ? '\n' + result.warnings : ''}`, true);
    plan.value = '';
  }},
    h('label', {for: 'plan-file'}, 'take a file'), file,
    h('label', {for: 'plan'}, 'the plan (TOML)'), plan,
    h('label', {for: 'directory'}, 'its directory on the lab’s machine'), h('span', {}, directory, h('span', {class: 'now note'}, ' Relative paths of the plan start here.')),
    h('label', {for: 'priority'}, 'priority'), priority,
    h('span'), h('span', {}, h('button', {type: 'submit', 'data-action': 'submit'}, 'submit')));
}

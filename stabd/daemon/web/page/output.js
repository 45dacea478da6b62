// What single trials have printed: those of an experiment that did not pass in a table, each with what is kept of its output.

function streamText(name, stream) {
  if (stream.bytes === null) return h('p', {class: 'note'}, `${name}: not known`);
  if (stream.bytes === 0) return h('p', {class: 'note'}, `${name}: nothing`);
  if (stream.kept === 0) return h('p', {class: 'note'}, `${name}: ${count(stream.bytes, 'byte')}, SHA-256 ${stream.sha256}; the trial passed, so they are not kept`);
  const said = stream.kept < stream.bytes ? `the first ${grouped(stream.kept)} of ${count(stream.bytes, 'byte')}` : count(stream.bytes, 'byte');
  return [h('p', {class: 'note'}, `${name}: ${said}`), h('pre', {tabindex: 0, role: 'region', 'aria-label': name}, stream.head)];
}

async function showOutput(trial, place) {
  let output;
  try {
    output = await ask(`trials/${trial}/output`);
  } catch (error) {
    place.replaceChildren(h('p', {class: 'warning', tabindex: -1}, error.message));
    return;
  }
  place.replaceChildren(h('div', {}, h('h3', {tabindex: -1}, `Trial ${output.trial}: ${short(output.subject, 60)}, ${short(output.cell, 80)}, ${output.state}`), output.failure && h('p', {class: 'warning'}, short(output.failure, 1000)), streamText('stdout', output.stdout), streamText('stderr', output.stderr)));
  place.querySelector('h3').focus();
}

// The table is asked for when it is opened; what is shown of it stays while the panel is drawn again.
function outputsOf(row, isOpen, shown) {
  const place = shown?.place || h('div', {}), list = shown?.list || h('div', {});
  const details = h('details', {class: 'twin', id: 'outputs', open: isOpen, toggle: async () => {
    if (!details.open || list.hasChildNodes()) return;
    try {
      const trials = (await ask(`experiments/${row.id}/not-passed`)).trials;
      const columns = [{title: 'trial', number: true}, {title: 'program'}, {title: 'cell'}, {title: 'attempt', number: true}, {title: 'state'}, {title: 'why'}];
      list.replaceChildren(trials.length === 0 ? h('p', {class: 'note'}, 'Every trial has passed so far.') :
        table('trials that did not pass', columns, trials.map(one => [one.trial, one.subject, one.cell, one.attempt, one.state, one.failure]), {filter: trials.length > 20, open: i => showOutput(trials[i].trial, place)}));
    } catch (error) {
      list.replaceChildren(h('p', {class: 'warning'}, error.message));
    }
  }}, h('summary', {}, 'what trials that did not pass have printed'), list,
    numberForm('output-trial', 'number of a trial', 'show', '', trial => showOutput(trial, place)), place);
  details.shown = {place, list};
  return details;
}

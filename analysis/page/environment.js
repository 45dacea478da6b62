// What differed in the machine between trials, of what was recorded of it; one line where nothing did.

function environmentBlocks(value) {
  return value.blocks === 1 ? String(value.first_block) : `${value.first_block} to ${value.last_block} (${value.blocks})`;
}

function environmentSection() {
  const of = report.environment;
  if (!of) return null;
  const unrecorded = of.unrecorded_trials > 0 && h('p', {class: 'note'}, `Of ${count(of.unrecorded_trials, 'trial')} only boot and CPU were recorded: they are of an older version of Stab.`);
  const title = h('h3', {}, 'The environment of the trials');
  if (of.differences.length === 0) return h('div', {id: 'environment'}, title, h('p', {class: 'note'}, `No difference: ${count(of.facts, 'recorded fact')} of the machine, the same for all of ${count(of.trials, 'trial')}.`), unrecorded);
  const several = of.differences.some(one => one.values.some(value => value.machines));
  const along = {machines: 'Each machine has a value of its own.', blocks: 'Within each block it is the same.', trials: 'It changed within a block.'};
  const rows = of.differences.flatMap(one => one.values.map(value => [one.fact, value.shown, value.trials, environmentBlocks(value), ...(several ? [(value.machines || []).join(', ')] : []), along[one.along]]));
  const splits = of.differences.flatMap(one => one.splits);
  return h('div', {id: 'environment'}, title,
    h('p', {class: 'note'}, `Of ${count(of.facts, 'recorded fact')} of the machine these differed between trials. What is the same within each block is taken out of comparisons with the block; what the levels of a factor had in different shares is not.`),
    splits.length > 0 && h('ul', {class: 'worries'}, splits.map(split => h('li', {}, short(split.text, 400)))),
    table('The environment of the trials', [{title: 'fact'}, {title: 'value'}, {title: 'trials', number: true}, {title: 'blocks'}, ...(several ? [{title: 'machines'}] : []), {title: 'how it differs'}], rows, {filter: rows.length > 20}), unrecorded);
}

// Of a sliced experiment: what its blocks in slices and its blocks alone say of each question, and by how much they differ.

function slicingTable() {
  const slicing = report.slicing;
  if (!slicing) return null;
  const title = 'What slicing does to the differences', where = one => one.workload || one.population;
  const intro = h('p', {class: 'note'}, sentenceOf(slicing.text) + ' The trials of a sliced block ran at the same time on one CPU, so their difference is sharp; those of a block alone ran one after the other. The answer is that of the sliced blocks, unless both kinds differ by more than chance and more than the margin.');
  if (slicing.refused) return h('div', {id: 'slicing'}, h('h3', {}, title), intro);
  const rows = slicing.biases.map(one => {
    const response = responseOf(one.response), question = `${one.factor}: ${one.level} / ${one.baseline}`;
    if (one.refused) return [where(one), one.response, question, null, null, null, null, null, one.refused];
    return [where(one), one.response, question, `${differenceText(response, one.sliced.estimate)} (${one.sliced_n})`, `${differenceText(response, one.alone.estimate)} (${one.alone_n})`, differenceText(response, one.bias.estimate), intervalText(response, one.bias), one.p_holm, one.moves ? 'blocks alone' : 'sliced blocks'];
  });
  return h('div', {id: 'slicing'}, h('h3', {}, title), intro, table(title, [{title: 'about'}, {title: 'response'}, {title: 'question'}, {title: 'sliced (n)', number: true}, {title: 'alone (n)', number: true}, {title: 'difference of the kinds', number: true}, {title: 'interval'}, {title: 'p (Holm)', number: true, text: pText}, {title: 'answered by'}], rows, {filter: rows.length > 12}));
}

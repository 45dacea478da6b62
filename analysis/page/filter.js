// The filter of trials by workload and levels, and what was computed for it beforehand: for each level and each pair of levels of two
// factors. Nothing is computed here: a filter that is finer has no numbers, and that is said.

// In the state as "w0,1:2": the first workload, the second factor's third level. What is not of this report is left out.
function filteredBy() {
  const filter = {workload: -1, levels: new Map()};
  for (const part of state.rows.split(',')) {
    const workload = /^w(\d+)$/.exec(part), level = /^(\d+):(\d+)$/.exec(part);
    if (workload && Number(workload[1]) < report.workloads.length) filter.workload = Number(workload[1]);
    if (level && varying.includes(Number(level[1])) && Number(level[2]) < samples.factors[Number(level[1])].levels.length) filter.levels.set(Number(level[1]), Number(level[2]));
  }
  return filter;
}

const filterText = ({workload, levels}) => [...(workload < 0 ? [] : ['w' + workload]), ...varying.filter(f => levels.has(f)).map(f => `${f}:${levels.get(f)}`)].join(',');
const isFiltered = filter => filter.workload >= 0 || filter.levels.size > 0;

function passes(filter, trials, row) {
  if (filter.workload >= 0 && trials.column('workload')[row] !== filter.workload) return false;
  for (const [f, level] of filter.levels) if (trials.level(f, row) !== level) return false;
  return true;
}

function levelChoice(title, current, options, change) {
  const select = h('select', {change: event => { const filter = filteredBy(); change(filter, Number(event.target.value)); setState({rows: filterText(filter)}); }},
    [['-1', 'any'], ...options.map((name, i) => [String(i), name])].map(([value, text]) => h('option', {value, selected: value === String(current(filteredBy()))}, short(text, 60))));
  watch(keys => { if (keys.includes('rows')) select.value = String(current(filteredBy())); });
  return h('label', {class: 'choice'}, short(title, 40) + ' ', select);
}

function levelChoices() {
  return [report.workloads.length > 1 && levelChoice(workloadWord, filter => filter.workload, report.workloads, (filter, i) => { filter.workload = i; }),
    ...varying.map(f => levelChoice(samples.factors[f].name, filter => filter.levels.get(f) ?? -1, samples.factors[f].levels, (filter, i) => { if (i < 0) filter.levels.delete(f); else filter.levels.set(f, i); })),
    h('button', {type: 'button', class: 'small', click: () => setState({rows: ''})}, 'all trials')].filter(Boolean);
}

function summariesFor(filter) {
  const wanted = new Map([...filter.levels].map(([f, level]) => [samples.factors[f].name, samples.factors[f].levels[level]]));
  return (report.level_summaries || []).filter(one => (filter.workload < 0 || one.workload === report.workloads[filter.workload]) && Object.keys(one.levels).length === wanted.size && [...wanted].every(([factor, level]) => one.levels[factor] === level));
}

// Why there are no numbers for it, in words; empty: there are.
function whyNoSummary(filter, found) {
  if (filter.levels.size > 2) return `For ${filter.levels.size} factors at once nothing was computed: there are numbers for each level, and for each pair of levels of two factors. “Any two cells” compares single cells.`;
  if (found.length > 0) return '';
  const all = report.level_summaries || [];
  if (all.length === 0 && !report.level_summaries_left_out) return 'For this filter nothing was computed: every response is a benchmark of one ' + workloadWord + '.';
  // Levels and pairs are each computed for all of the report, or left out for all of it.
  if (!all.some(one => Object.keys(one.levels).length === filter.levels.size)) return `For this filter nothing was computed: ${grouped(report.level_summaries_left_out)} levels or pairs of levels are more than a page should hold.`;
  return 'No analysed trial is left.';
}

const summaryColumns = [{title: workloadWord}, {title: 'response'}, {title: 'trials', number: true}, {title: samples.unit === 'row' ? 'units' : 'layouts', number: true}, {title: 'cells', number: true}, {title: 'median', number: true}, {title: 'quartiles'}, {title: 'least and most'}, {title: 'sd', number: true}, {title: 'mean', number: true}, {title: `${plainPercent(1 - report.alpha)} interval`}];

function summaryRow(one) {
  const response = responseOf(one.response), text = x => valueText(response, x, 5), mean = one.mean;
  return [one.workload, responseLabel(response), one.n, one.units, one.cells, text(one.median), `${text(one.lower_quartile)} to ${text(one.upper_quartile)}`, `${text(one.least)} to ${text(one.most)}`, one.sd === null ? '–' : text(one.sd), text(mean.estimate), mean.refused ? 'none: ' + mean.refused : `${text(mean.conf_low)} to ${text(mean.conf_high)}`];
}

// What the trials that the filter leaves are like. `words`: the rows are narrowed by words, too.
function filterSummary(words) {
  const filter = filteredBy();
  if (!isFiltered(filter)) return null;
  const found = filter.levels.size > 2 ? [] : summariesFor(filter), why = whyNoSummary(filter, found);
  const names = [filter.workload >= 0 && report.workloads[filter.workload], ...[...filter.levels].map(([f, level]) => `${samples.factors[f].name}=${samples.factors[f].levels[level]}`)].filter(Boolean).map(name => short(name, 60)).join(', ');
  const one = found.some(summary => summary.one_layout), log = found.some(summary => responseOf(summary.response).scale === 'log');
  return h('div', {class: 'summary'}, h('h4', {}, `The analysed trials with ${names}`), why && h('p', {class: 'note'}, why),
    found.length > 0 && [table(`The analysed trials with ${names}`, summaryColumns, found.map(summaryRow)),
      h('p', {class: 'note'}, `The mean is over cells, each counted once${log ? ', of geometric means on a log scale' : ''}; trials that declared rules left out are in no number.${one ? ' Some cell repeats one layout: its interval is about that layout.' : ''}${words ? ' The words narrow the rows further: these numbers are for all of the levels.' : ''}`)],
    h('p', {class: 'note'}, 'Verdicts, and all other numbers of the page, stay those of the plan, of all analysed trials: they do not follow this filter.'));
}

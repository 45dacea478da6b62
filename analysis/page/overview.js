// The first screen: what changed, by how much, how sure, what to worry about.

// "question: answer, and the rest": the part that a hurried reader takes away is strong.
function answerLine({text, verdict, response, factor, level, before, after}) {
  const contrast = overallContrasts(responseOf(response)).find(one => one.factor === factor && one.level === level);
  const kind = contrast ? verdictClass(contrast) : verdict, at = text.indexOf(': '), question = at < 0 ? '' : text.slice(0, at), rest = at < 0 ? text : text.slice(at + 2), end = rest.search(/[,;]/);
  return h('li', {class: 'answer ' + kind}, h('span', {class: 'sign word-' + kind, 'aria-hidden': 'true'}, verdictSigns[kind] || '?'),
    h('span', {class: 'said'}, h('span', {class: 'question'}, short(question, 160) + (at < 0 ? '' : ':')), ' ', before && after && h('span', {class: 'absolute'}, `${before} → ${after}, `), h('strong', {}, short(end < 0 ? rest : rest.slice(0, end), 200)), h('span', {class: 'rest'}, end < 0 ? '' : short(rest.slice(end), 400))));
}

// With the terminal's headings, but for the one that stands above all of them.
function answersBySection(sentences, above) {
  return [...new Set(sentences.map(one => one.section))].map(title => [title !== above && h('h3', {class: 'kind'}, title), h('ul', {class: 'answers'}, sentences.filter(one => one.section === title).map(answerLine))]);
}

// What decides the nearest question.
function nextCommand() {
  const {extend_blocks: blocks, extend_note: note} = figures.answer;
  return blocks && evidence.number > 0 && h('p', {class: 'note next'}, note, ' ', command(`stabctl extend ${evidence.number} +${blocks}${evidence.options}`));
}

function answers() {
  const sentences = figures.answer.sentences;
  const ofSuite = benchmarkAnswers(), suiteChanged = benchmarkSentences().reduce((sum, one) => sum + one.changed, 0);
  if (sentences.length + ofSuite.length === 0) return [h('h2', {}, 'What was measured'), h('ul', {class: 'measured'}, figures.answer.measured.map(one => h('li', {}, short(one, 300)))), h('p', {class: 'note'}, 'Nothing was compared: no factor has two levels with an answer.')];
  const most = 5, about = primary.benchmark ? `${primary.name} of ${primary.workload}` : figures.answer.population === 'programs like these' ? `${samples.program_word}s like these` : report.workloads.length > 1 ? `these ${count(report.workloads.length, workloadWord)} together` : report.workloads[0];
  const changed = sentences.filter(one => one.verdict === 'changed').length + suiteChanged;
  const above = changed > 0 ? 'What changed' : sentences.every(one => one.verdict === 'refused') ? 'What has no answer, and why' : sentences.every(one => one.verdict === 'withheld') ? sentences[0].section : sentences.every(one => one.verdict === 'equivalent') ? 'Nothing changed' : 'Nothing was shown to change';
  return [h('h2', {}, above, h('span', {class: 'about'}, `, for ${short(about, 60)}`)), ofSuite.length > 0 && h('ul', {class: 'answers'}, ofSuite), answersBySection(sentences.slice(0, most), above),
    sentences.length > most && h('details', {class: 'twin'}, h('summary', {}, `${sentences.length - most} more`), answersBySection(sentences.slice(most), above)), nextCommand()];
}

// One square for each comparison by workload: how sure, at a glance.
function tallySquares() {
  const all = report.contrasts.filter(contrast => contrast.response === primary.name && contrast.workload);
  if (all.length < 2) return null;
  const counts = tally(all), gains = primary.higher_is_better, words = {worse: gains ? 'lower' : 'slower or more', better: gains ? 'higher' : 'faster or less', equivalent: 'the same within the margin', unsure: 'unsure', withheld: 'not judged yet', refused: 'no answer'};
  const squares = all.length <= 400 && h('div', {class: 'squares', 'aria-hidden': 'true'}, verdictOrder.flatMap(verdict => Array.from({length: counts.get(verdict) || 0}, () => h('i', {class: verdict}))));
  return [h('h2', {}, 'How sure'), squares, h('p', {class: 'tally'}, `Of ${count(all.length, 'comparison')} by ${workloadWord}: `, verdictOrder.filter(verdict => counts.get(verdict)).map((verdict, i) => [i > 0 && ', ', h('span', {class: 'word-' + verdict}, `${verdictSigns[verdict]} ${counts.get(verdict)} ${words[verdict]}`)]), '.')];
}

// Caveats come with the gravest first.
function worries() {
  const line = caveat => h('li', {}, short(caveat.message, 600), h('span', {class: 'hint'}, ' ' + short(caveat.hint, 600)));
  return [h('h2', {}, 'What to worry about'), report.caveats.length === 0 ? h('p', {}, 'No check raised a caveat.') : h('ul', {class: 'worries'}, report.caveats.slice(0, 3).map(line)),
    report.caveats.length > 3 && h('details', {class: 'twin'}, h('summary', {}, `${report.caveats.length - 3} more`), h('ul', {class: 'worries'}, report.caveats.slice(3).map(line)))];
}

function badge() {
  const test = evidence.selftest;
  if (!test) return h('div', {class: 'badge'}, h('strong', {}, 'This lab’s false alarms: not measured. '), evidence.plan ? ['Equal builds were never compared in this database. ', command('stabctl selftest')] : 'These are no trials of a lab.');
  return h('div', {class: 'badge ' + (test.too_many ? 'bad' : 'good')}, h('strong', {}, test.too_many ? '✗ This lab raises too many false alarms. ' : '✓ This lab keeps its promise. '),
    `${count(test.false_alarms, 'false alarm')} in ${count(test.comparisons, 'comparison')} of equal builds: ${percent(test.rate)}, exact 95 % interval ${percent(test.conf_low)} to ${percent(test.conf_high)}; promised ${plainPercent(test.alpha)}. ${test.experiment}, ${test.at}.`);
}

function heading() {
  const cells = Math.max(...figures.responses[0].workloads.map(workload => workload.cells.length)), margin = primary.margin === 0 ? 'none' : primary.scale === 'log' || samples.responses[0].margin_is_share ? plainPercent(primary.margin) : valueText(primary, primary.margin, 3);
  const facts = [count(report.workloads.length, workloadWord), count(cells, 'cell'), `${count(report.trials.analysed, samples.unit === 'row' ? 'row' : 'trial')} analysed`, report.trials.excluded > 0 && `${grouped(report.trials.excluded)} left out by declared rules`, report.trials.failed > 0 && `${grouped(report.trials.failed)} failed`,
    `response: ${responseLabel(primary)}, ${primary.higher_is_better ? 'higher' : 'lower'} is better`, `smallest difference that matters: ${margin}`, evidence.finished || evidence.submitted].filter(Boolean);
  return h('header', {}, h('div', {class: 'top'}, h('h1', {title: report.experiment}, short(report.experiment || 'report', 90)),
      h('label', {class: 'choice'}, 'colours ', h('select', {id: 'theme', change: event => { state.theme = event.target.value; applyTheme(); setState({theme: state.theme}); }}, [['auto', 'as the system'], ['light', 'light'], ['dark', 'dark']].map(([value, text]) => h('option', {value, selected: state.theme === value}, text))))),
    h('p', {class: 'facts'}, facts.join(' · ')));
}

// How it was measured: what a reader needs who doubts the answer.
function design() {
  return h('details', {class: 'twin design'}, h('summary', {}, 'how it was measured'), report.slicing && h('p', {class: 'facts'}, short(report.slicing.text, 400)), report.stopping && h('p', {class: 'facts'}, short(report.stopping, 400)),
    h('p', {class: 'facts'}, samples.factors.map((factor, i) => [i > 0 && ' × ', h('b', {}, short(factor.name, 40)), ' {' + short(factor.levels.map(level => short(level, 30)).join(', '), 120) + '}'])));
}

// Of an experiment that replays a trial: what it was made to answer, before anything else.
function replayed() {
  const answer = report.replay;
  if (!answer) return null;
  const [first, ...more] = answer.sentences, at = first.indexOf(': ');
  return h('section', {class: 'replayed', 'aria-label': 'The replayed trial'}, h('h2', {}, `Trial ${answer.trial}: a bad layout or a bad moment?`),
    h('p', {class: 'cause'}, h('strong', {}, first.slice(0, at) + '. '), sentenceOf(first.slice(at + 2))), more.map(text => h('p', {}, text + '.')));
}

function sentenceOf(text) { return text.charAt(0).toUpperCase() + text.slice(1) + '.'; }

function overview(forest) {
  return h('section', {class: 'overview', 'aria-label': 'In short'}, replayed(), h('div', {class: 'columns'}, h('div', {}, answers(), design(), forest.element, tallySquares()), h('div', {class: 'side'}, worries(), badge())));
}

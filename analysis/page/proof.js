// The proof drawer: plan, hashes, machine, declared exclusions, data and script, and how to check the page itself.

function longText(title, text, file) {
  if (!text) return null;
  const shown = text.length > 20000 ? text.slice(0, 20000) + '\n… (the saved file has all of it)' : text;
  return h('details', {class: 'twin'}, h('summary', {}, title), h('pre', {tabindex: 0, 'aria-label': title, role: 'region'}, shown), h('button', {type: 'button', class: 'small', click: () => save(file, text, 'text/plain')}, 'save ' + file));
}

function proofSection(trials) {
  const plan = evidence.plan !== '';
  return [
    h('p', {}, 'Everything above can be computed again from what this page carries.'),
    h('div', {class: 'commands'}, command('stabctl verify report.html'), trials && h('button', {type: 'button', class: 'small', click: () => save('data.csv', trialsCsv(trials), 'text/csv')}, 'save data.csv'),
      h('button', {type: 'button', class: 'small', click: () => save('analysis.R', evidence.r_script, 'text/plain')}, 'save analysis.R'),
      h('button', {type: 'button', class: 'small', click: () => save('report.json', JSON.stringify(report, null, 2), 'application/json')}, 'save report.json')),
    h('p', {class: 'note'}, 'verify computes every number again in C++ from the trials in the page. analysis.R repeats the analysis in base R: Rscript analysis.R data.csv. The plan, the hashes and the machine are the page’s own word.'),
    plan && pairsTable('Where it comes from', [['experiment', `${evidence.name} (${evidence.number}), ${evidence.state}`], ['submitted', evidence.submitted], evidence.finished && ['finished', evidence.finished], ['seed', evidence.seed], ['schedule', h('code', {}, evidence.schedule)],
      ['exclusions declared in the plan', evidence.exclusion_rules.length > 0 ? evidence.exclusion_rules.join('; ') : 'none']].filter(Boolean)),
    longText('the plan, as it was submitted', evidence.plan, 'plan.toml'),
    evidence.builds.length > 0 && h('details', {class: 'twin'}, h('summary', {}, `${count(evidence.builds.length, 'build')} and their hashes`), table('Builds', [{title: 'build'}, {title: 'state'}, {title: 'SHA-256 of the binary'}, {title: 'hash of its inputs'}, {title: 'command'}], evidence.builds.map(build => [build.name, build.state, build.sha256 || '–', build.input_hash || '–', build.command]), {filter: evidence.builds.length > 20})),
    Object.keys(evidence.host).length > 0 && h('details', {class: 'twin'}, h('summary', {}, 'the machine, as it stood'), pairsTable('The machine', Object.entries(evidence.host).map(([key, value]) => [key, short(value, 200)]))),
    evidence.events.length > 0 && h('details', {class: 'twin'}, h('summary', {}, `what happened: ${count(evidence.events.length, 'entry').replace('entrys', 'entries')} of the log`), table('Log', [{title: 'when'}, {title: 'what'}, {title: 'text'}], evidence.events.map(event => [event.at, event.kind, event.text]))),
    longText('the analysis as an R script', evidence.r_script, 'analysis.R'),
    h('details', {class: 'twin'}, h('summary', {}, 'the report as text'), h('pre', {tabindex: 0, role: 'region', 'aria-label': 'the report as text'}, plainReport())),
  ];
}

function plainReport() {
  const holder = document.querySelector('noscript');
  const parsed = new DOMParser().parseFromString(holder ? holder.textContent : '', 'text/html');
  return parsed.querySelector('pre')?.textContent || '';
}

// The page itself: its sections in the order of a reader's questions.

function section(id, title, ...content) {
  return h('section', {id, 'aria-labelledby': id + '-title'}, h('h2', {id: id + '-title'}, title), content);
}

// What explains the answer, and doesn't give it: closed until a reader wants it. Its figures are drawn when it opens.
function folded(what, ...content) {
  return h('details', {class: 'fold'}, h('summary', {}, what), content);
}

function openFolds(place) {
  for (const fold of [place.closest('details.fold'), ...place.querySelectorAll('details.fold')]) if (fold) fold.open = true;
}

function contents(sections) {
  return h('nav', {'aria-label': 'contents'}, h('ol', {}, sections.map(part => h('li', {}, h('a', {href: '#' + part.id, click: event => { event.preventDefault(); scrollToPart(part); part.querySelector('h2').setAttribute('tabindex', '-1'); part.querySelector('h2').focus({preventScroll: true}); }}, part.querySelector('h2').textContent)))));
}

// Figures are drawn when they come near, and grow then: those above the place are drawn first, so that it stays where it is.
function scrollToPart(place) {
  if (!place) return;
  openFolds(place);
  for (const figure of allFigures) if (!figure.element.closest('details.fold:not([open])') && figure.element.compareDocumentPosition(place) & Node.DOCUMENT_POSITION_FOLLOWING) figure.ensure();
  place.scrollIntoView();
}

async function openReport() {
  readState();
  applyTheme();
  document.querySelector('noscript')?.removeAttribute('hidden');
  const forest = forestFigure(), programs = programsFigure(), effects = effectFigures(), interaction = interactionFigure(), components = componentFigures(), precision = precisionFigure(), pairs = pairFigures(), cells = cellsFigure(), normal = normalFigure(), suite = benchmarksFigure(), luck = luckFigure(), looks = looksFigure(), [curves, load] = causalFigures();
  const main = h('main', {}, heading(), overview(forest));
  document.body.append(main, h('dialog', {id: 'trial', 'aria-labelledby': 'trial-title'}), h('div', {id: 'spoken', class: 'offstage', role: 'status', 'aria-live': 'polite'}));
  forest.redraw();
  forest.near = true;
  await new Promise(requestAnimationFrame);
  let trials;
  try {
    trials = await Trials.read();
  } catch (error) {
    // An old browser, or a page that was cut off: the verdicts above stand, and the text has the rest.
    main.append(h('section', {class: 'aside-box'}, h('h2', {}, 'The trials can’t be unpacked'), h('p', {class: 'warning'}, `This browser can’t read them, or the file is damaged: ${error.message || error}. The report as text follows; stabctl verify says whether the file is whole.`), h('pre', {tabindex: 0, role: 'region', 'aria-label': 'the report as text'}, plainReport())));
    watchFigures();
    document.documentElement.dataset.ready = 'damaged';
    return;
  }
  const shapes = distributionFigures(trials), run = sequenceFigure(trials), blocks = blocksFigure(trials), doses = doseFigures(trials);
  const compares = report.contrasts.length > 0;  // else there is one cell, and what it measured is the answer
  const sections = [
    causalSection(curves, load),
    benchmarksSection(suite),
    compares && section('differences', 'Where it differs', programs.element, effects[0].element, pairs[1].element, slicingTable(), estimatorTables(), folded('Any two cells, as you pick them', cells.element)),
    section('shapes', 'Every trial', shapes.map(figure => figure.element), pairs[0].element, trialsSection(trials)),
    compares && section('causes', 'What depends on what', folded('How factors act together, and how much of all variation each explains', interaction.element, components[1].element, effects[1].element)),
    section('spread', 'Where the spread comes from', folded('Layouts against runs, link-order bias, and the layouts of each run', components[0].element, luck.element, doses.map(figure => figure.element))),
    ...layoutMapSections(),
    compares && section('more', 'What would decide it', extendCommands(), whatIf(), folded('How narrow intervals get with more replicates, layouts and runs', precision.element, components[2].element, looks?.element)),
    section('weather', 'The run and the machine', runChangesTable(), environmentChangesTable(), validityTable(), folded('The run trial by trial, its blocks, and how the machine stood', run.element, blocks.element, environmentSection())),
    section('assumptions', 'Assumptions', folded('Whether values are normal, and what other checks say', normal.element, diagnosticsTable())),
    section('proof', 'Proof', proofSection(trials)),
  ].filter(Boolean);
  main.append(contents(sections), ...sections);
  document.body.append(h('footer', {}, h('p', {}, `A report of stabctl. It needs no network and sends nothing. ${count(trials.rows, 'trial')} are inside.`)));
  watchFigures();
  scrollToPart(document.getElementById(takeAt()));
  document.documentElement.dataset.opened = Math.round(performance.now());  // for whoever measures: ms since the page was asked for
  document.documentElement.dataset.ready = 'yes';
}

function extendCommands() {
  const open = overallContrasts(primary).filter(contrast => contrast.settles_n);
  if (open.length === 0) return h('p', {}, 'No open question has a known number of replicates that would decide it.');
  return h('ul', {class: 'settle'}, open.map(contrast => {
    return h('li', {}, h('strong', {}, questionOf(contrast)), `: unsure at ${contrast.n}; ${settlesAndCosts(contrast)}, if the estimate is right. `, evidence.number > 0 && contrast.settles_blocks && command(`stabctl extend ${evidence.number} +${contrast.settles_blocks}${evidence.options}`));
  }), h('li', {class: 'note'}, 'Blocks that are added after a look at the result make false alarms likelier than the plan promised; the report says so then. A plan with declared looks, or with a precision to reach, does not have that price.'));
}

function validityTable() {
  if (report.validity.length === 0) return h('p', {class: 'note'}, 'No trial was disturbed, as far as the machine’s conditions were recorded.');
  return [h('h3', {}, 'What disturbed trials'), table('What disturbed trials', [{title: 'what'}, {title: 'trials', number: true}], report.validity.map(one => [one.what, one.trials]))];
}

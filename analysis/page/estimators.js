// What the plan declared besides the mean: other estimators, and differences of quantiles with their band.

function estimatorTables() {
  const parts = [], contrasts = report.estimator_contrasts || [], shifts = report.shift_functions || [];
  const question = one => `${one.factor}: ${one.level} / ${one.baseline}`;
  if (contrasts.length > 0) {
    const rows = contrasts.map(one => {
      const response = responseOf(one.response), about = one.workload || one.population;
      if (one.refused) return [one.estimator, about, one.response, question(one), null, null, null, null, null, one.refused];
      return [one.estimator, about, one.response, question(one), one.n, differenceText(response, one.interval.estimate), intervalText(response, one.interval), one.p_value, one.p_holm, one.verdict];
    });
    parts.push(h('h3', {}, 'Declared estimators besides the mean'), table('Declared estimators besides the mean', [{title: 'estimator'}, {title: 'about'}, {title: 'response'}, {title: 'question'}, {title: 'n', number: true}, {title: 'difference', number: true}, {title: 'interval'}, {title: 'p', number: true, text: pText}, {title: 'p (Holm)', number: true, text: pText}, {title: 'verdict'}], rows, {filter: rows.length > 12}));
  }
  const models = contrasts.filter((one, i) => one.components && contrasts.findIndex(other => other.components && other.response === one.response) === i);
  if (models.length > 0) {
    const rows = models.flatMap(one => one.components.map((part, i) => [one.response, part.term, part.levels, part.variance, part.variance / one.components.reduce((sum, other) => sum + other.variance, 0)]));
    parts.push(h('h3', {}, 'Variances of the mixed model'), h('p', {class: 'note'}, 'What one value differs by for each of these; the residual’s count is that of trials. Degrees of freedom are Kenward and Roger’s.'), table('Variances of the mixed model', [{title: 'response'}, {title: 'of'}, {title: 'levels', number: true}, {title: 'variance', number: true, text: x => String(Number(x.toPrecision(4)))}, {title: 'share', number: true, text: plainPercent}], rows, {}));
  }
  if (shifts.length > 0) {
    const rows = shifts.flatMap(one => one.refused ? [[one.workload, one.response, question(one), null, null, one.refused, null]] : one.points.map(point => {
      const response = responseOf(one.response);
      return [one.workload, one.response, question(one), point.probability, differenceText(response, point.interval.estimate), intervalText(response, point.interval), intervalText(response, point.band)];
    }));
    parts.push(h('h3', {}, 'Differences of quantiles'), h('p', {class: 'note'}, 'The last column’s intervals hold for all quantiles of one question at once.'), table('Differences of quantiles', [{title: workloadWord}, {title: 'response'}, {title: 'question'}, {title: 'quantile', number: true}, {title: 'difference', number: true}, {title: 'alone'}, {title: 'band'}], rows, {filter: rows.length > 12}));
  }
  return parts.length > 0 && h('div', {id: 'estimators'}, parts);
}

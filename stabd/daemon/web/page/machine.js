// The machine as it stands: asked for when somebody wants to know, since asking is work beside the trials.

const weatherWords = {load_1min: ['load average', value => significant(value, 3)], frequency_khz: ['the trials’ CPU runs at', value => `${significant(value / 1e6, 3)} GHz`],
                      throttle_count: ['times it was too hot, since boot', value => grouped(value)], steal_ns: ['taken by the hypervisor, since boot', durationText]};

async function showMachine() {
  const place = document.getElementById('machine-now');
  try {
    const machine = await ask('machine');
    place.replaceChildren(h('p', {}, machine.cpus),
      h('p', {class: 'facts'}, Object.entries(machine.weather).map(([key, value], i) => [i > 0 && ' · ', weatherWords[key][0] + ' ', h('b', {}, weatherWords[key][1](value))])),
      table('knobs of the machine', [{title: 'knob'}, {title: 'now'}, {title: 'quiet'}, {title: 'why'}], machine.knobs.map(one => [one.knob, one.value, one.recommended, one.why])));
  } catch (error) {
    place.replaceChildren(h('p', {class: 'warning'}, error.message));
  }
}

function machineSection() {
  const details = h('details', {class: 'twin', id: 'machine-details', toggle: () => { if (details.open) showMachine(); }},
    h('summary', {}, 'knobs and weather, as they are now'), h('div', {id: 'machine-now'}), h('p', {}, h('button', {type: 'button', click: showMachine}, 'look again')));
  return details;
}

// What is said beside the plots, in one place: how to read each, and what the ledger's entries are.

const howToRead = {
  forest: 'Each row is one question. The point is the estimate; the thick bar is the interval for equivalence (1 − 2α), the thin line the interval at 1 − α. The shaded band is the smallest difference that matters. A thin line that clears zero and does not lie inside the band shows a change; a thick bar that lies inside the band shows sameness; both only as far as Holm’s correction for all questions of the plan agrees, which the verdict says. Anything else needs more trials, and the number says how many of a cell would settle it.',
  programs: 'One column for each question, one row for each workload, ordered by the first column that you sort by. Same marks as above; each column has its own axis and its own band. Look for rows that disagree with the others: an average over them would hide it.',
  benchmarks: 'Each line is one benchmark of the program’s own output, with its interval, in the order of the differences: what got worse is at one end, what got better at the other. The shaded band is the smallest difference that matters. Marks are verdicts; where there are hundreds, what is unsure is a line alone. A click shows that benchmark’s trials below; the table finds one by its name.',
  distribution: 'Each row is one cell. The cloud is a kernel density of its independent units, the dots below are all its trials, each one clickable; the box spans the quartiles, the line in it is the median, and the heavy bar is the interval of the mean. Several humps are several speeds: usually layouts. Where a test (Hartigan’s dip) vouches for them, brackets show each group with its number of units.',
  ecdf: 'The height of a line at a time is the share of units that took no longer. A line further left is faster; lines that cross mean that one is better in the middle and worse in the tail. Turned, it shows for each share of units the time within which they end; there a line further down is faster.',
  pairs: 'Each point compares a baseline (across) with the other level (up). On the solid line both are equal; the dashed lines are the margin. Below the line the other level is smaller. Points are blocks of one workload, or all workloads.',
  cells: 'Any two cells, as you pick them: the difference of the second against the first. The thick bar is the interval as if this pair were the only one that anybody looked at. The thin line is wider: all of a family’s thin lines hold at once, so it also holds for a pair that was picked because it looked interesting. A filled mark’s thin line clears zero, a hollow one’s does not. The plan did not declare these questions, so they get no verdict.',
  interaction: 'Each line is one level of the second factor over the levels of the first, with its interval. Parallel lines: the factors act alone. Lines that part or cross: what one does depends on the other.',
  components: 'How far two layouts of the same program differ, and two runs of one layout. Long layout bars mean that more runs of the same binary teach nothing: only more layouts do.',
  shares: 'How much of all variation each term of the analysis of variance accounts for. What is left is the error that the terms are judged by.',
  layouts: 'The half width of the interval that a new experiment would have, by the number of layouts of each cell and of runs of each layout. Where the lines lie on each other, runs are wasted.',
  precision: 'How the half width of each interval would shrink with more replicates, were the spread to stay. The ring is this experiment; where a line falls below the margin’s line, sameness can be shown.',
  looks: 'Each look at the data is a chance to be misled, so the plan gave each a share of α beforehand. Round marks are what is spent up to a look, squares the level at which a single test is judged there: the smaller, the more it takes to call something changed. Hollow marks are looks that did not come.',
  effects: 'Effects of noise alone lie near the line; what stands off to the upper right is real, or a broken assumption.',
  populations: 'The upper mark speaks about these programs, as they are; the lower one about programs like these, of which these are a sample. The pale line is where the next program’s own difference would lie.',
  sequence: 'Every trial in the order in which it ran, as its difference from the mean of its cell, so that only the machine is left. A slope is drift, a step is an event, a band that widens is company. Dashed lines are where a test finds the run to change, with the position; the heavy lines between them are the mean levels. Dotted lines with a diamond are where the machine itself began to stand otherwise, by what was recorded of it: the finding and the table have its words. The tracks below show what the machine did during the same trials; where several share a pixel, pale is the most of one of them and dark their mean. Drag to zoom, double-click for all of it; crosses are trials that a declared rule left out.',
  blocks: 'Each column is a block, each row a cell; the colour is the difference from the cell’s mean. A whole column of one colour is a disturbance that blocks take away. A patch in one row is one that they don’t.',
  normal: 'Standardized residuals against what a normal distribution would give. On the line: normal. Ends that leave it: tails, skew, or modes. The method does not depend on it where cells are large.',
  dose: 'The spread of each cell against the layouts that its trials ran in. If layouts within a trial are independent, the spread falls along the line of slope −1/2.',
  doseTrials: 'Each trial: the layouts it really ran in, and its value. Trials to the far left had little of the randomization that they were meant to have.',
  causal: 'One panel a line of the program, the most valuable first, all on one scale. Across: by how many percent of its own time the line would be faster. Up: how many percent of the program’s time that would save, with its interval. A steep curve is worth your work; a flat one inside the shaded band, the smallest difference that matters, is no use; one that flattens meets somebody else who takes as long; one below zero does harm. The dashed line, where there is one, is the slope seen by really slowing the line down: a curve that starts off it has a kink at zero, or is biased. Judge by the verdict, which counts all lines, speedups and points that were asked about.',
  load: 'Both axes are logarithmic, so a program that keeps up rises along the dashed line of slope 1. Where the points leave it the program stops keeping up: that load is the knee, and the shaded band is its interval. Beyond it more load only makes queues longer.',
  layoutMap: 'Above, the code of the functions that were looked at, in the order of the program: the wider, the longer, the darker, the more of the time’s variation its place makes. Below, each place that the map names: the bar is its share of the variance from epoch to epoch, the line its interval. Confirmed places were measured in fresh trials after they had been named; candidates are the winners of many tests, and their sizes are too large.',
  luck: 'What others would have found who link each side once. Every pair of recorded links is one such experiment; the curve is the distribution of what they would have reported, the vertical line is the answer over all links.',
};

const ledgerWords = {
  voluntary_switches: 'the program gave up its CPU', involuntary_switches: 'somebody else took its CPU', migrations: 'moves to another CPU',
  interrupts: 'interrupts on its CPU', steal_ns: 'CPU time that the hypervisor took', throttle_count: 'thermal throttling',
  frequency_min_khz: 'lowest frequency', frequency_max_khz: 'highest frequency', psi_cpu_us: 'somebody waited for CPU',
  psi_memory_us: 'somebody waited for memory', psi_io_us: 'somebody waited for a disk', kernel_log_lines: 'lines that the kernel logged',
  minor_faults: 'page faults', major_faults: 'page faults that read a disk', swap_in_pages: 'pages swapped in', swap_out_pages: 'pages swapped out',
  overlap: 'share of its CPU time during which all of its block ran', foreign_switches: 'somebody else than its block took its CPU',
  loop_latency_ns: 'delay of the lab’s own loop', load_1min: 'load average', submits: 'requests to the daemon', web_requests: 'requests of browsers',
};

// A value of the ledger in a unit that people read; its name says in which one it was kept.
function ledgerText(key, value) {
  if (!Number.isFinite(value)) return '–';
  if (key === 'overlap') return plainPercent(value);
  if (key.endsWith('_ns')) return valueText({unit: 'ns'}, value, 3);
  if (key.endsWith('_us')) return valueText({unit: 's'}, 1e-6 * value, 3);
  if (key.endsWith('_khz')) return significant(1e-6 * value, 3) + ' GHz';
  return Number.isInteger(value) ? grouped(value) : significant(value, 3);
}

const disturbanceWords = ['moved to another CPU', 'preempted', 'interrupts', 'steal', 'throttled', 'frequency changed', 'pressure', 'read from disk', 'swapped', 'kernel log', 'laboratory busy', 'machine slept'];

const verdictSigns = {worse: '▲', better: '▼', equivalent: '=', unsure: '?', withheld: '…', refused: '×'};
const verdictOrder = ['worse', 'better', 'equivalent', 'unsure', 'withheld', 'refused'];
